//! ETMv1 instructions by record and address: `"3:0x8000E 4:0x8004N"`.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::Address32;
use crate::arm_etm::{Event, Isa};
use crate::case::Problem;
use crate::notation::parse_u64;

/// Instructions in the order in which they are reported: the record with their status, `:`, the address (`?` where it
/// is not known), `E` if the instruction was executed, `N` if not. Example: `"3:0x8000E 4:0x8004N 9:?E"`.
/// `"5..8:0x8010E"` is one in each record from 5 to 8, one after the other in memory, and `"5..8:?E"` four of which no
/// address is known. The state is ARM unless the text begins with `thumb` or `jazelle`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct LocatedInstructions {
    text: String,
    events: Vec<Event>,
}

impl LocatedInstructions {
    /// No range is longer: a typing error in a case must not exhaust the memory.
    pub const LONGEST_RANGE: u64 = 1 << 16;

    /// The events, in order.
    #[must_use]
    pub fn events(&self) -> &[Event] {
        &self.events
    }
}

impl FromStr for LocatedInstructions {
    type Err = Problem;

    fn from_str(text: &str) -> Result<Self, Problem> {
        let mut words = text.split_ascii_whitespace().peekable();
        let isa = match words.peek() {
            Some(&"thumb") => Isa::Thumb,
            Some(&"jazelle") => Isa::Jazelle,
            _ => Isa::Arm,
        };
        if isa != Isa::Arm {
            words.next();
        }
        let mut events = Vec::new();
        for word in words {
            events.extend(parse(word, isa).ok_or_else(|| {
                Problem::new(
                    "",
                    format!("`{word}` is no instruction; write 3:0x8000E, 4:0x8004N, 5..8:0x8010E or 9:?E"),
                )
            })?);
        }
        if events.is_empty() {
            return Err(Problem::new("", "no instruction; write 3:0x8000E, 4:0x8004N, 5..8:0x8010E or 9:?E"));
        }
        Ok(Self { text: text.to_owned(), events })
    }
}

fn parse(word: &str, isa: Isa) -> Option<Vec<Event>> {
    let (cycles, place) = word.split_once(':')?;
    // Hexadecimal digits end in E too: the last one gives whether it was executed.
    let (place, executed) = place.split_at_checked(place.len().checked_sub(1)?)?;
    let executed = match executed {
        "E" => true,
        "N" => false,
        _ => return None,
    };
    let first_address = match place {
        "?" => None,
        _ => Some(u32::try_from(parse_u64(place.starts_with("0x").then_some(place)?)?).ok()?),
    };
    let number = |text: &str| text.bytes().all(|b| b.is_ascii_digit()).then(|| text.parse().ok()).flatten();
    let (first, last): (u64, u64) = match cycles.split_once("..") {
        Some((first, last)) => (number(first)?, number(last)?),
        None => (number(cycles)?, number(cycles)?),
    };
    if first > last || last - first >= LocatedInstructions::LONGEST_RANGE {
        return None;
    }
    let length = match isa {
        Isa::Arm => 4_u32,
        Isa::Thumb | Isa::ThumbEe => 2,
        Isa::Jazelle => 1,
    };
    let at = |cycle: u64| {
        let offset = length.wrapping_mul((cycle - first) as u32);
        let address = first_address.map(|address| address.wrapping_add(offset));
        Event::InstructionAt { cycle, address: address.map(Address32), isa, executed }
    };
    Some((first..=last).map(at).collect())
}

impl fmt::Display for LocatedInstructions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl TryFrom<String> for LocatedInstructions {
    type Error = Problem;

    fn try_from(text: String) -> Result<Self, Problem> {
        text.parse()
    }
}

impl From<LocatedInstructions> for String {
    fn from(instructions: LocatedInstructions) -> Self {
        instructions.text
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for LocatedInstructions {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "LocatedInstructions".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": "ETMv1 instructions by record and address, e.g. \"3:0x8000E 4:0x8004N 5..8:0x8008E 9:?E\"",
            "type": "string",
            "pattern": r"^\s*((thumb|jazelle)\s+)?[0-9]+(\.\.[0-9]+)?:(0x[0-9a-fA-F]{1,8}|\?)[EN](\s+[0-9]+(\.\.[0-9]+)?:(0x[0-9a-fA-F]{1,8}|\?)[EN])*\s*$",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_instructions() {
        let text = "thumb 3:0x800eE  4:?N 6..8:0xfffffffcE 9..10:?E";
        let instructions: LocatedInstructions = text.parse().expect("reads");
        let expected = [
            (3, Some(0x800e), true),
            (4, None, false),
            (6, Some(0xffff_fffc), true),
            (7, Some(0xffff_fffe), true),
            (8, Some(0), true),
            (9, None, true),
            (10, None, true),
        ]
        .map(|(cycle, address, executed)| Event::InstructionAt {
            cycle,
            address: address.map(Address32),
            isa: Isa::Thumb,
            executed,
        });
        assert_eq!(instructions.events(), expected);
        assert_eq!(instructions.to_string(), text);
        let arm: LocatedInstructions = "1..2:0x8000E".parse().expect("reads");
        assert!(matches!(
            arm.events(),
            [_, Event::InstructionAt { address: Some(Address32(0x8004)), isa: Isa::Arm, .. }]
        ));
    }

    #[test]
    fn other_words_are_not() {
        for wrong in [
            "",
            "thumb",
            "3",
            "3:E",
            "3:0x8000",
            "3:8000E",
            ":0x8000E",
            "8..6:?E",
            "3:0x100000000E",
            "0..65536:?E",
            "3:?EE",
            "+3:?E",
        ] {
            assert!(wrong.parse::<LocatedInstructions>().is_err(), "{wrong}");
        }
    }
}
