//! Contexts as text: `"el1 non-secure vmid=0x3 context=0x20"`.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::arm::{Context, ExceptionLevel, SecurityState};
use crate::case::Problem;
use crate::notation::parse_u64;

/// The state of the processor, in any order: an exception level (`el0` to `el3`), a security state (`secure`,
/// `non-secure`, `root`, `realm`), `aarch32` where it is in `AArch32` state, `vmid=3` and `context=0x20`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ContextText {
    text: String,
    level: Option<ExceptionLevel>,
    security: Option<SecurityState>,
    is_32_bit: bool,
    vmid: Option<u32>,
    context_id: Option<u32>,
}

impl ContextText {
    /// The whole context: exception level and security state must be there; VMID and Context ID that are not there are
    /// not traced.
    pub(super) fn whole(&self) -> Result<Context, Problem> {
        let (Some(level), Some(security)) = (self.level, self.security) else {
            return Err(Problem::new(
                "",
                format!("`{}` lacks the exception level or security state", self.text),
            ));
        };
        let mut context = Context::default()
            .with_exception_level(Some(level))
            .with_security(security)
            .with_64_bit(!self.is_32_bit);
        (context.vmid, context.context_id) = (self.vmid, self.context_id);
        Ok(context)
    }

    /// `before` with the parts that are there. The instruction set says whether the state is `AArch32`.
    pub(super) fn changed(&self, before: Context) -> Result<Context, Problem> {
        if self.is_32_bit {
            return Err(Problem::new("", "the instruction set says that the state is AArch32"));
        }
        let mut context = before
            .with_exception_level(self.level.or(before.exception_level))
            .with_security(self.security.unwrap_or(before.security));
        context.vmid = self.vmid.or(before.vmid);
        context.context_id = self.context_id.or(before.context_id);
        Ok(context)
    }

    /// Takes one word; `None` if it is not known or repeated.
    fn take(&mut self, word: &str) -> Option<()> {
        let level = ExceptionLevel::ALL.into_iter().find(|level| level.to_string() == word);
        let security = SecurityState::ALL.into_iter().find(|state| state.name() == word);
        let number = |text| parse_u64(text).and_then(|value| u32::try_from(value).ok());
        if let Some(level) = level {
            return self.level.replace(level).is_none().then_some(());
        }
        if let Some(security) = security {
            return self.security.replace(security).is_none().then_some(());
        }
        if let Some(vmid) = word.strip_prefix("vmid=") {
            return self.vmid.replace(number(vmid)?).is_none().then_some(());
        }
        if let Some(context_id) = word.strip_prefix("context=") {
            return self.context_id.replace(number(context_id)?).is_none().then_some(());
        }
        (word == "aarch32" && !std::mem::replace(&mut self.is_32_bit, true)).then_some(())
    }
}

impl FromStr for ContextText {
    type Err = Problem;

    fn from_str(text: &str) -> Result<Self, Problem> {
        let mut read = Self {
            text: text.to_owned(),
            level: None,
            security: None,
            is_32_bit: false,
            vmid: None,
            context_id: None,
        };
        for word in text.split_ascii_whitespace() {
            read.take(word).ok_or_else(|| {
                Problem::new("", format!("`{word}` is no part of a context, or it is there twice"))
            })?;
        }
        if text.trim().is_empty() {
            return Err(Problem::new(
                "",
                "no context; write for instance `el1 non-secure vmid=3 context=0x20`",
            ));
        }
        Ok(read)
    }
}

impl fmt::Display for ContextText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl TryFrom<String> for ContextText {
    type Error = Problem;

    fn try_from(text: String) -> Result<Self, Problem> {
        text.parse()
    }
}

impl From<ContextText> for String {
    fn from(context: ContextText) -> Self {
        context.text
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for ContextText {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "ContextText".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let word = r"(el[0-3]|secure|non-secure|root|realm|aarch32|(vmid|context)=(0x[0-9a-fA-F]+|[0-9]+))";
        schemars::json_schema!({
            "description": "A state of the processor, e.g. `el1 non-secure vmid=3 context=0x20`",
            "type": "string",
            "pattern": format!(r"^\s*{word}(\s+{word})*\s*$"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> ContextText {
        text.parse().unwrap_or_else(|problem| panic!("{text}: {problem}"))
    }

    #[test]
    fn words_are_parts_of_a_context() {
        let context = Context::default()
            .with_exception_level(Some(ExceptionLevel::El2))
            .with_security(SecurityState::Realm)
            .with_64_bit(true);
        assert_eq!(read("realm el2").whole().expect("whole"), context);
        let ids = context.with_64_bit(false).with_vmid(Some(3)).with_context_id(Some(0x20));
        assert_eq!(read("el2 aarch32 context=0x20 realm vmid=3").whole().expect("whole"), ids);
        assert_eq!(String::from(read("el2  realm")), "el2  realm");
        for wrong in ["el2", "secure vmid=1"] {
            assert!(read(wrong).whole().is_err(), "{wrong}");
        }
        for wrong in
            ["", "el4", "el0 el1", "vmid=", "vmid=0x100000000", "ns", "secure secure", "aarch32 aarch32"]
        {
            assert!(wrong.parse::<ContextText>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn parts_that_are_absent_stay() {
        let before = read("el1 non-secure vmid=1 context=2").whole().expect("whole");
        let expected = before.with_exception_level(Some(ExceptionLevel::El0)).with_context_id(Some(9));
        assert_eq!(read("el0 context=9").changed(before).expect("changes"), expected);
        assert_eq!(
            read("root vmid=0").changed(before).expect("changes"),
            before.with_security(SecurityState::Root).with_vmid(Some(0))
        );
        assert!(read("aarch32").changed(before).is_err());
    }
}
