//! ETMv3 instructions by address: `"0x8000E 0x8004N"`.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::Address32;
use crate::arm_etm::{Event, Isa};
use crate::case::Problem;
use crate::notation::parse_u64;

/// Atoms in the order in which they are reported: the address (`?` where it is not known), `E` if the instruction was
/// executed, `N` if not, and in cycle-accurate mode `/` and its cycles. Example: `"0x8000E 0x8004N ?E"`. A range is
/// one atom for every instruction of the state's smallest size: `"0x8000..0x8010E"`. The state is ARM unless the text
/// begins with `thumb`, `thumbee` or `jazelle`: `"thumb 0x8100E/3 0x8102E/1"`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Atoms {
    text: String,
    events: Vec<Event>,
}

impl Atoms {
    /// No range has more: a typing error in a case must not exhaust the memory.
    pub const LONGEST_RANGE: u32 = 1 << 16;

    /// The events, in order.
    #[must_use]
    pub fn events(&self) -> &[Event] {
        &self.events
    }
}

impl FromStr for Atoms {
    type Err = Problem;

    fn from_str(text: &str) -> Result<Self, Problem> {
        let mut words = text.split_ascii_whitespace().peekable();
        let isa = match words.peek() {
            Some(&"thumb") => Isa::Thumb,
            Some(&"thumbee") => Isa::ThumbEe,
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
                    format!("`{word}` is no atom; write 0x8000E, 0x8000..0x8010E, 0x8004N/3 or ?E"),
                )
            })?);
        }
        if events.is_empty() {
            return Err(Problem::new("", "no atom; write 0x8000E, 0x8000..0x8010E, 0x8004N/3 or ?E"));
        }
        Ok(Self { text: text.to_owned(), events })
    }
}

fn parse(word: &str, isa: Isa) -> Option<Vec<Event>> {
    let (word, cycles) = match word.split_once('/') {
        Some((word, cycles)) if cycles.bytes().all(|b| b.is_ascii_digit()) => {
            (word, Some(cycles.parse().ok()?))
        }
        Some(_) => return None,
        None => (word, None),
    };
    // Hexadecimal digits end in E too: the last one is the atom.
    let (place, atom) = word.split_at_checked(word.len().checked_sub(1)?)?;
    let executed = match atom {
        "E" => true,
        "N" => false,
        _ => return None,
    };
    let event = |address| Event::Atom { address, isa, executed, cycles };
    if place == "?" {
        return Some(vec![event(None)]);
    }
    let number = |text: &str| {
        text.starts_with("0x").then(|| parse_u64(text)).flatten().and_then(|value| u32::try_from(value).ok())
    };
    let (first, last) = match place.split_once("..") {
        Some((first, last)) => (number(first)?, number(last)?),
        None => (number(place)?, number(place)?),
    };
    let step = match isa {
        Isa::Arm => 4,
        Isa::Thumb | Isa::ThumbEe => 2,
        Isa::Jazelle => 1,
    };
    let count = last.checked_sub(first)? / step;
    (count < Atoms::LONGEST_RANGE && (last - first) % step == 0)
        .then(|| (0..=count).map(|index| event(Some(Address32(first + index * step)))).collect())
}

impl fmt::Display for Atoms {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl TryFrom<String> for Atoms {
    type Error = Problem;

    fn try_from(text: String) -> Result<Self, Problem> {
        text.parse()
    }
}

impl From<Atoms> for String {
    fn from(atoms: Atoms) -> Self {
        atoms.text
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Atoms {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Atoms".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let atom = r"(\?|0x[0-9a-fA-F]+(\.\.0x[0-9a-fA-F]+)?)[EN](/[0-9]+)?";
        schemars::json_schema!({
            "description": "Atoms, e.g. \"0x8000E 0x8004N ?E\" or \"thumb 0x8100E/3 0x8102..0x8106E/1\"",
            "type": "string",
            "pattern": format!(r"^\s*((thumb|thumbee|jazelle)\s+)?{atom}(\s+{atom})*\s*$"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_atoms() {
        let atoms: Atoms = "thumb 0x810eE/3 0x8110..0x8114N ?E".parse().expect("reads");
        let expected = [
            (Some(0x810e), true, Some(3)),
            (Some(0x8110), false, None),
            (Some(0x8112), false, None),
            (Some(0x8114), false, None),
            (None, true, None),
        ]
        .map(|(address, executed, cycles)| Event::Atom {
            address: address.map(Address32),
            isa: Isa::Thumb,
            executed,
            cycles,
        });
        assert_eq!(atoms.events(), expected);
        let arm: Atoms = "0xEE".parse().expect("reads");
        assert_eq!(
            arm.events(),
            [Event::Atom { address: Some(Address32(0xe)), isa: Isa::Arm, executed: true, cycles: None }]
        );
    }

    #[test]
    fn other_words_are_not() {
        for wrong in [
            "",
            "thumb",
            "E",
            "8000E",
            "0x8000",
            "0x8000X",
            "0x8000E/",
            "0x8000E/x",
            "0x8004..0x8000E",
            "0x0..0xffffffE",
            "0x8000..0x8001E",
        ] {
            assert!(wrong.parse::<Atoms>().is_err(), "{wrong}");
        }
    }
}
