//! The states of the processor in which a piece of memory is visible.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::str::FromStr;

use crate::arm::{Context, ExceptionLevel, SecurityState};

/// The states of the processor in which an address means one piece of memory.
///
/// Each part narrows the space; a part that is not stated means "any". The same type says where a
/// [`Section`](crate::Section) is seen and in which state a look-up is made; of a look-up, a part that is not stated is
/// not known.
///
/// As text, in any order: `secure el0 el1 vmid=0x3 context=0x20`, or `any`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct MemorySpace {
    /// Security state.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub security: Option<SecurityState>,
    /// Exception levels: several where they share a translation regime, as EL0 and EL1 do.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "ExceptionLevels::is_any"))]
    pub exception_levels: ExceptionLevels,
    /// Virtual machine identifier.
    #[cfg_attr(
        feature = "serde",
        serde(skip_serializing_if = "Option::is_none", with = "crate::notation::hex32_option")
    )]
    #[cfg_attr(feature = "schema", schemars(with = "Option<crate::notation::Hex>"))]
    pub vmid: Option<u32>,
    /// Context ID register.
    #[cfg_attr(
        feature = "serde",
        serde(skip_serializing_if = "Option::is_none", with = "crate::notation::hex32_option")
    )]
    #[cfg_attr(feature = "schema", schemars(with = "Option<crate::notation::Hex>"))]
    pub context_id: Option<u32>,
}

impl MemorySpace {
    /// Whatever the processor does.
    pub const ANY: Self =
        Self { security: None, exception_levels: ExceptionLevels::ANY, vmid: None, context_id: None };

    /// In this security state.
    #[must_use]
    pub const fn with_security(mut self, security: SecurityState) -> Self {
        self.security = Some(security);
        self
    }

    /// At one of these exception levels.
    #[must_use]
    pub const fn with_exception_levels(mut self, levels: ExceptionLevels) -> Self {
        self.exception_levels = levels;
        self
    }

    /// In this virtual machine.
    #[must_use]
    pub const fn with_vmid(mut self, vmid: u32) -> Self {
        self.vmid = Some(vmid);
        self
    }

    /// With this Context ID.
    #[must_use]
    pub const fn with_context_id(mut self, context_id: u32) -> Self {
        self.context_id = Some(context_id);
        self
    }

    /// Whether no part is stated.
    #[must_use]
    pub fn is_any(&self) -> bool {
        *self == Self::ANY
    }

    /// Whether every state of `other` is one of this space.
    #[must_use]
    pub fn contains(&self, other: &Self) -> bool {
        holds(self.security, other.security)
            && self.exception_levels.contains(other.exception_levels)
            && holds(self.vmid, other.vmid)
            && holds(self.context_id, other.context_id)
    }

    /// Whether a state is in both spaces.
    #[must_use]
    pub fn overlaps(&self, other: &Self) -> bool {
        meets(self.security, other.security)
            && self.exception_levels.overlaps(other.exception_levels)
            && meets(self.vmid, other.vmid)
            && meets(self.context_id, other.context_id)
    }
}

fn holds<T: PartialEq>(part: Option<T>, other: Option<T>) -> bool {
    part.is_none() || part == other
}

fn meets<T: PartialEq>(part: Option<T>, other: Option<T>) -> bool {
    part.is_none() || other.is_none() || part == other
}

/// The space of the state that a trace reports.
impl From<Context> for MemorySpace {
    fn from(context: Context) -> Self {
        Self {
            security: Some(context.security),
            exception_levels: context.exception_level.map_or(ExceptionLevels::ANY, ExceptionLevels::only),
            vmid: context.vmid,
            context_id: context.context_id,
        }
    }
}

/// A set of exception levels that is not empty. In files a list: `["el0", "el1"]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "Vec<ExceptionLevel>", into = "Vec<ExceptionLevel>"))]
pub struct ExceptionLevels(u8);

impl ExceptionLevels {
    /// All of them.
    pub const ANY: Self = Self(0b1111);

    /// One.
    #[must_use]
    pub const fn only(level: ExceptionLevel) -> Self {
        Self(1 << level.number())
    }

    /// These and another one.
    #[must_use]
    pub const fn and(self, level: ExceptionLevel) -> Self {
        Self(self.0 | 1 << level.number())
    }

    /// Whether it is all of them.
    #[must_use]
    #[allow(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde asks for")]
    pub const fn is_any(&self) -> bool {
        self.0 == Self::ANY.0
    }

    /// Whether all of `other` are in this set.
    #[must_use]
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether one is in both sets.
    #[must_use]
    pub const fn overlaps(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// The levels, lowest first.
    pub fn iter(self) -> impl Iterator<Item = ExceptionLevel> {
        ExceptionLevel::ALL.into_iter().filter(move |level| self.contains(Self::only(*level)))
    }
}

impl Default for ExceptionLevels {
    fn default() -> Self {
        Self::ANY
    }
}

impl From<ExceptionLevels> for Vec<ExceptionLevel> {
    fn from(levels: ExceptionLevels) -> Self {
        levels.iter().collect()
    }
}

impl TryFrom<Vec<ExceptionLevel>> for ExceptionLevels {
    type Error = NoExceptionLevel;

    fn try_from(levels: Vec<ExceptionLevel>) -> Result<Self, NoExceptionLevel> {
        let (first, others) = levels.split_first().ok_or(NoExceptionLevel)?;
        Ok(others.iter().fold(Self::only(*first), |levels, level| levels.and(*level)))
    }
}

/// A list of exception levels is empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoExceptionLevel;

impl fmt::Display for NoExceptionLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no exception level: leave the list out for any")
    }
}

impl core::error::Error for NoExceptionLevel {}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for ExceptionLevels {
    fn schema_name() -> alloc::borrow::Cow<'static, str> {
        "ExceptionLevels".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let mut schema = <Vec<ExceptionLevel>>::json_schema(generator);
        schema.insert(String::from("minItems"), 1.into());
        schema
    }
}

impl fmt::Display for MemorySpace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_any() {
            return f.write_str("any");
        }
        let mut gap = "";
        let mut word = |f: &mut fmt::Formatter<'_>, word: fmt::Arguments<'_>| {
            write!(f, "{gap}{word}")?;
            gap = " ";
            Ok(())
        };
        if let Some(security) = self.security {
            word(f, format_args!("{security}"))?;
        }
        if !self.exception_levels.is_any() {
            for level in self.exception_levels.iter() {
                word(f, format_args!("{level}"))?;
            }
        }
        if let Some(vmid) = self.vmid {
            word(f, format_args!("vmid={vmid:#x}"))?;
        }
        if let Some(context_id) = self.context_id {
            word(f, format_args!("context={context_id:#x}"))?;
        }
        Ok(())
    }
}

/// A text names no space.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseMemorySpaceError {
    word: String,
}

impl fmt::Display for ParseMemorySpaceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.word.is_empty() {
            return f.write_str(
                "no memory space; write `any`, or for instance `secure el0 el1 vmid=0x3 context=0x20`",
            );
        }
        write!(f, "`{}` is no part of a memory space, or it is there twice", self.word)
    }
}

impl core::error::Error for ParseMemorySpaceError {}

impl FromStr for MemorySpace {
    type Err = ParseMemorySpaceError;

    fn from_str(text: &str) -> Result<Self, ParseMemorySpaceError> {
        let mut words = text.split_whitespace().peekable();
        let wrong = |word: &str| ParseMemorySpaceError { word: word.into() };
        words.peek().ok_or_else(|| wrong(""))?;
        if text.trim() == "any" {
            return Ok(Self::ANY);
        }
        let mut space = Self::ANY;
        let mut levels: Option<ExceptionLevels> = None;
        for word in words {
            let once = |part: Option<u32>, text| part.is_none().then(|| number(text)).flatten().map(Some);
            let security = SecurityState::ALL.into_iter().find(|state| state.name() == word);
            let level = ExceptionLevel::ALL.into_iter().find(|level| is_level(word, *level));
            if let Some(security) = security.filter(|_| space.security.is_none()) {
                space.security = Some(security);
            } else if let Some(level) = level
                .filter(|level| !levels.is_some_and(|known| known.contains(ExceptionLevels::only(*level))))
            {
                levels = Some(levels.map_or(ExceptionLevels::only(level), |known| known.and(level)));
            } else if let Some(vmid) = word.strip_prefix("vmid=") {
                space.vmid = once(space.vmid, vmid).ok_or_else(|| wrong(word))?;
            } else if let Some(context) = word.strip_prefix("context=") {
                space.context_id = once(space.context_id, context).ok_or_else(|| wrong(word))?;
            } else {
                return Err(wrong(word));
            }
        }
        space.exception_levels = levels.unwrap_or_default();
        Ok(space)
    }
}

fn is_level(word: &str, level: ExceptionLevel) -> bool {
    word.strip_prefix("el").is_some_and(|digits| digits.len() == 1 && digits.parse() == Ok(level.number()))
}

/// `0x3` or `3`.
fn number(text: &str) -> Option<u32> {
    let (digits, radix) = text.strip_prefix("0x").map_or((text, 10), |digits| (digits, 16));
    if digits.starts_with(['+', '-']) {
        return None;
    }
    u32::from_str_radix(digits, radix).ok()
}

#[cfg(test)]
mod tests {
    use alloc::format;
    use alloc::string::ToString;
    use alloc::vec;

    use super::*;

    const EL01: ExceptionLevels = ExceptionLevels::only(ExceptionLevel::El0).and(ExceptionLevel::El1);

    fn space(text: &str) -> MemorySpace {
        text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    #[test]
    fn spaces_are_text() {
        let secure = MemorySpace::ANY
            .with_security(SecurityState::Secure)
            .with_exception_levels(EL01)
            .with_vmid(3)
            .with_context_id(0x20);
        for (text, expected) in [
            ("any", MemorySpace::ANY),
            ("secure el0 el1 vmid=0x3 context=0x20", secure),
            ("non-secure", MemorySpace::ANY.with_security(SecurityState::NonSecure)),
            ("el2", MemorySpace::ANY.with_exception_levels(ExceptionLevels::only(ExceptionLevel::El2))),
            ("root", MemorySpace::ANY.with_security(SecurityState::Root)),
            ("realm context=0x0", MemorySpace::ANY.with_security(SecurityState::Realm).with_context_id(0)),
        ] {
            assert_eq!(space(text), expected);
            assert_eq!(expected.to_string(), text);
        }
        assert_eq!(space("context=32  el1\tvmid=3 el0 secure"), secure, "in any order");
        for (wrong, word) in [
            ("secure secure", "secure"),
            ("secure realm", "realm"),
            ("el1 el1", "el1"),
            ("el4", "el4"),
            ("el01", "el01"),
            ("vmid=", "vmid="),
            ("vmid=1 vmid=1", "vmid=1"),
            ("context=+1", "context=+1"),
            ("context=0x100000000", "context=0x100000000"),
            ("any el1", "any"),
            ("Secure", "Secure"),
        ] {
            let error = wrong.parse::<MemorySpace>().expect_err(wrong).to_string();
            assert!(error.starts_with(&format!("`{word}` ")), "{wrong}: {error}");
        }
        assert!(" ".parse::<MemorySpace>().is_err());
    }

    #[test]
    fn a_space_contains_what_says_more() {
        for (outer, inner) in [
            ("any", "secure"),
            ("any", "any"),
            ("secure", "secure el1"),
            ("el0 el1", "el1 vmid=0x1"),
            ("vmid=0x1", "secure vmid=0x1 context=0x2"),
        ] {
            assert!(space(outer).contains(&space(inner)), "{outer}, {inner}");
            assert!(space(outer).overlaps(&space(inner)) && space(inner).overlaps(&space(outer)));
            assert!(outer == inner || !space(inner).contains(&space(outer)), "{outer}, {inner}");
        }
        // They meet, and neither is inside of the other.
        for (one, other) in [("secure", "el1"), ("el0 el1", "el1 el2"), ("vmid=0x1", "context=0x1")] {
            let (one, other) = (space(one), space(other));
            assert!(one.overlaps(&other) && !one.contains(&other) && !other.contains(&one));
        }
        for (one, other) in [
            ("secure", "root"),
            ("el0 el1", "el2"),
            ("secure vmid=0x1", "vmid=0x2"),
            ("context=1", "context=2"),
        ] {
            let (one, other) = (space(one), space(other));
            assert!(!one.overlaps(&other) && !other.overlaps(&one) && !one.contains(&other));
        }
    }

    #[test]
    fn the_state_of_a_trace_is_a_space() {
        let context = Context::default()
            .with_security(SecurityState::Realm)
            .with_exception_level(Some(ExceptionLevel::El1))
            .with_vmid(Some(7));
        assert_eq!(MemorySpace::from(context), space("realm el1 vmid=0x7"));
        assert_eq!(MemorySpace::from(Context::default()), space("secure"));
    }

    #[test]
    fn levels_are_a_list() {
        assert_eq!(Vec::from(EL01), [ExceptionLevel::El0, ExceptionLevel::El1]);
        assert_eq!(ExceptionLevels::try_from(vec![ExceptionLevel::El1, ExceptionLevel::El0]), Ok(EL01));
        assert_eq!(ExceptionLevels::try_from(vec![]), Err(NoExceptionLevel));
    }

    #[cfg(feature = "cases")]
    #[test]
    fn spaces_are_objects_in_json() {
        for (text, json) in [
            ("any", "{}"),
            ("secure el0 el1", r#"{"security":"secure","exception_levels":["el0","el1"]}"#),
            ("vmid=0x3 context=0x20", r#"{"vmid":"0x3","context_id":"0x20"}"#),
        ] {
            assert_eq!(serde_json::to_string(&space(text)).expect("writes"), json);
            assert_eq!(serde_json::from_str::<MemorySpace>(json).expect("reads"), space(text));
        }
        for wrong in [r#"{"exception_levels":[]}"#, r#"{"level":"el1"}"#, r#"{"vmid":"0x100000000"}"#] {
            assert!(serde_json::from_str::<MemorySpace>(wrong).is_err(), "{wrong}");
        }
    }
}
