//! Instructions by the cycle in which their status is: `"1E 2N 4pE 4E"`.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::arm_etm::Event;
use crate::case::Problem;

/// Instructions in the order in which they are reported: the cycle, `p` for a phantom, `E` if it was executed, `N`
/// if not. Example: `"1E 2N 4pE 4E"`; `"5..8E"` is one executed instruction in every cycle from 5 to 8.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct InstructionCycles {
    text: String,
    events: Vec<Event>,
}

impl InstructionCycles {
    /// No range is longer: a typing error in a case must not exhaust the memory.
    pub const LONGEST_RANGE: u64 = 1 << 16;

    /// The events, in order.
    #[must_use]
    pub fn events(&self) -> &[Event] {
        &self.events
    }
}

impl FromStr for InstructionCycles {
    type Err = Problem;

    fn from_str(text: &str) -> Result<Self, Problem> {
        let mut events = Vec::new();
        for word in text.split_ascii_whitespace() {
            let (cycles, phantom, executed) = parse(word).ok_or_else(|| {
                Problem::new("", format!("`{word}` is no instruction; write 1E, 2N, 4pE or 5..8E"))
            })?;
            events.extend(cycles.map(|cycle| Event::Instruction { cycle, executed, phantom }));
        }
        if events.is_empty() {
            return Err(Problem::new("", "no instruction; write 1E, 2N, 4pE or 5..8E"));
        }
        Ok(Self { text: text.to_owned(), events })
    }
}

fn parse(word: &str) -> Option<(std::ops::RangeInclusive<u64>, bool, bool)> {
    let (word, executed) = match word.strip_suffix('E') {
        Some(rest) => (rest, true),
        None => (word.strip_suffix('N')?, false),
    };
    let (word, phantom) = word.strip_suffix('p').map_or((word, false), |rest| (rest, true));
    let number = |text: &str| text.bytes().all(|b| b.is_ascii_digit()).then(|| text.parse().ok()).flatten();
    let (first, last): (u64, u64) = match word.split_once("..") {
        Some((first, last)) => (number(first)?, number(last)?),
        None => (number(word)?, number(word)?),
    };
    (first <= last && last - first < InstructionCycles::LONGEST_RANGE).then_some((
        first..=last,
        phantom,
        executed,
    ))
}

impl fmt::Display for InstructionCycles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl TryFrom<String> for InstructionCycles {
    type Error = Problem;

    fn try_from(text: String) -> Result<Self, Problem> {
        text.parse()
    }
}

impl From<InstructionCycles> for String {
    fn from(cycles: InstructionCycles) -> Self {
        cycles.text
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for InstructionCycles {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "InstructionCycles".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": "Instructions by cycle, e.g. \"1E 2N 4pE 4E 5..8E\"",
            "type": "string",
            "pattern": r"^\s*[0-9]+(\.\.[0-9]+)?p?[EN](\s+[0-9]+(\.\.[0-9]+)?p?[EN])*\s*$",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_instructions() {
        let cycles: InstructionCycles = "1E 2N  4pN 4E 6..8E".parse().expect("reads");
        let expected = [
            (1, true, false),
            (2, false, false),
            (4, false, true),
            (4, true, false),
            (6, true, false),
            (7, true, false),
            (8, true, false),
        ]
        .map(|(cycle, executed, phantom)| Event::Instruction { cycle, executed, phantom });
        assert_eq!(cycles.events(), expected);
        assert_eq!(cycles.to_string(), "1E 2N  4pN 4E 6..8E");
    }

    #[test]
    fn other_words_are_not() {
        for wrong in ["", "E", "1", "1EE", "p1E", "1Ep", "8..6E", "+1E", "0..65536E", "18446744073709551616E"]
        {
            assert!(wrong.parse::<InstructionCycles>().is_err(), "{wrong}");
        }
    }
}
