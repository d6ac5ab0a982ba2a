//! Instructions by place and outcome: `"A..CN t32 0x8100? 0x8102E"`.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::instruction_set;
use crate::Address;
use crate::arm::InstructionSet;
use crate::arm_ete::{Event, Outcome};
use crate::case::{Labels, Location, Problem};

/// Instructions in the order in which they are reported: a location (a label or an address) and `E` if the P0
/// instruction there was taken, `N` if not, `?` for an instruction for which no element stands. `A..DE` is every
/// instruction from A to D, of which D was taken. `A/4E` is an instruction of 4 bytes that the program writes as data.
///
/// `a64` (at first), `a32` and `t32` are the instruction set of what follows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct InstructionRuns {
    text: String,
    words: Vec<Word>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Word {
    InstructionSet(InstructionSet),
    Run {
        first: Location,
        last: Location,
        outcome: Outcome,
    },
    /// An instruction of so many bytes that is no line of the program.
    Data {
        place: Location,
        size: u64,
        outcome: Outcome,
    },
}

impl InstructionRuns {
    /// One event for each run.
    ///
    /// # Errors
    ///
    /// When a location cannot be resolved, is no instruction of the program, or a range is not in one piece.
    pub fn resolve(&self, labels: &Labels) -> Result<Vec<Event>, Problem> {
        let mut isa = InstructionSet::A64;
        let mut events = Vec::new();
        for word in &self.words {
            let ((first, end, count), outcome) = match word {
                Word::InstructionSet(set) => {
                    isa = *set;
                    continue;
                }
                Word::Run { first, last, outcome } => (extent(first, last, isa, labels)?, outcome),
                Word::Data { place, size, outcome } => {
                    let first = place.resolve(labels)?;
                    ((first, next(first, *size, isa, labels), 1), outcome)
                }
            };
            let (first, end) = (Address(first), Address(end));
            events.push(Event::Instructions { first, end, count, isa, last: *outcome });
        }
        Ok(events)
    }
}

/// The address after an instruction of `size` bytes.
fn next(address: u64, size: u64, isa: InstructionSet, labels: &Labels) -> u64 {
    labels.wrap(address.wrapping_add(size)) & isa.address_mask()
}

/// First address, address after the last instruction, number of instructions.
fn extent(
    first: &Location,
    last: &Location,
    isa: InstructionSet,
    labels: &Labels,
) -> Result<(u64, u64, u64), Problem> {
    let (from, to) = (first.resolve(labels)?, last.resolve(labels)?);
    let (mut at, mut count) = (from, 0);
    loop {
        let size = labels.size_at(at).ok_or_else(|| {
            Problem::new("", format!("no instruction of the program starts at {at:#x}, from `{first}` on"))
        })?;
        let after = next(at, size, isa, labels);
        count += 1;
        if at == to {
            return Ok((from, after, count));
        }
        // Addresses rise, except at the end of the address space.
        if after > to && to >= from || after == from {
            return Err(Problem::new("", format!("`{last}` is no instruction after `{first}`")));
        }
        at = after;
    }
}

impl FromStr for InstructionRuns {
    type Err = Problem;

    fn from_str(text: &str) -> Result<Self, Problem> {
        let words: Vec<_> = text.split_ascii_whitespace().map(word).collect::<Result<_, _>>()?;
        if words.iter().all(|word| matches!(word, Word::InstructionSet(_))) {
            return Err(Problem::new("", "no instruction; write 0x8000?, A..CE or A+4N"));
        }
        Ok(Self { text: text.to_owned(), words })
    }
}

fn word(text: &str) -> Result<Word, Problem> {
    let wrong = || Problem::new("", format!("`{text}` is no instruction; write 0x8000?, A..CE or A+4N"));
    if let Some(set) = instruction_set(text) {
        return Ok(Word::InstructionSet(set));
    }
    // Names and hexadecimal digits end in E too: the last letter is the outcome.
    let at = text.len().checked_sub(1).ok_or_else(wrong)?;
    let (place, outcome) = text.split_at_checked(at).ok_or_else(wrong)?;
    let outcome = match outcome {
        "E" => Outcome::Taken,
        "N" => Outcome::NotTaken,
        "?" => Outcome::Passed,
        _ => return Err(wrong()),
    };
    let location = |text: &str| text.parse::<Location>().map_err(|_| wrong());
    for (suffix, size) in [("/2", 2), ("/4", 4)] {
        if let Some(place) = place.strip_suffix(suffix) {
            return Ok(Word::Data { place: location(place)?, size, outcome });
        }
    }
    let (first, last) = place.split_once("..").unwrap_or((place, place));
    Ok(Word::Run { first: location(first)?, last: location(last)?, outcome })
}

impl fmt::Display for InstructionRuns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl TryFrom<String> for InstructionRuns {
    type Error = Problem;

    fn try_from(text: String) -> Result<Self, Problem> {
        text.parse()
    }
}

impl From<InstructionRuns> for String {
    fn from(runs: InstructionRuns) -> Self {
        runs.text
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for InstructionRuns {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "InstructionRuns".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let place = r"(0x[0-9a-fA-F]+|[0-9]+|[A-Za-z_][A-Za-z0-9_]*([+-](0x[0-9a-fA-F]+|[0-9]+))?)";
        let word = format!(r"(a64|a32|t32|{place}(\.\.{place}|/[24])?[EN?])");
        schemars::json_schema!({
            "description": "Instructions with their outcomes, e.g. `A..CN t32 0x8100? 0x8102E`",
            "type": "string",
            "pattern": format!(r"^\s*{word}(\s+{word})*\s*$"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arm_ete::{ArmEte, Parameters};
    use crate::case::CaseProtocol;

    #[test]
    fn words_are_runs() {
        let program = ".org 0x8000\nA: nop\nBE: b.eq A\n.thumb\nT: nop\nbl T\nbx lr\n\
            .a64\n.org 0xfffffffffffffffc\nL: nop\n.org 0xfffffffc\n.arm\nW: nop\n";
        let assembly = ArmEte::assemble(program, &Parameters::default()).expect("assembles");
        let text = "A? BEE A..BEN t32 T..0x800eE 0x9000/2N a32 W? a64 LN 0xfffffffffffffffc/4?";
        let runs: InstructionRuns = text.parse().expect("reads");
        let run = |first, end, count, isa, last| Event::Instructions {
            first: Address(first),
            end: Address(end),
            count,
            isa,
            last,
        };
        let last = u64::MAX - 3;
        let expected = [
            run(0x8000, 0x8004, 1, InstructionSet::A64, Outcome::Passed),
            run(0x8004, 0x8008, 1, InstructionSet::A64, Outcome::Taken),
            run(0x8000, 0x8008, 2, InstructionSet::A64, Outcome::NotTaken),
            run(0x8008, 0x8010, 3, InstructionSet::T32, Outcome::Taken),
            run(0x9000, 0x9002, 1, InstructionSet::T32, Outcome::NotTaken),
            run(0xffff_fffc, 0, 1, InstructionSet::A32, Outcome::Passed),
            run(last, 0, 1, InstructionSet::A64, Outcome::NotTaken),
            run(last, 0, 1, InstructionSet::A64, Outcome::Passed),
        ];
        assert_eq!(runs.resolve(&assembly.labels).expect("resolves"), expected);
        assert_eq!(String::from(runs), text);
        for wrong in ["T..AE", "T..0x800cE", "0x9000E", "Z?", "A..LE", "A..A+2E"] {
            let runs: InstructionRuns = wrong.parse().expect("reads");
            assert!(runs.resolve(&assembly.labels).is_err(), "{wrong}");
        }
        for wrong in ["", "t32", "E", "0x8000", "A..E", "t32ee AE", "A,B?", "A/3E", "A..B/4E"] {
            assert!(wrong.parse::<InstructionRuns>().is_err(), "{wrong}");
        }
    }

    /// A program that fills the end and the beginning of the address space is one run.
    #[test]
    fn runs_go_on_after_the_last_address() {
        let program = ".org 0xfffffffffffffffc\nL: nop\n.org 0\nF: nop\nG: b G\n";
        let assembly = ArmEte::assemble(program, &Parameters::default()).expect("assembles");
        let events = |text: &str| {
            text.parse::<InstructionRuns>().expect("reads").resolve(&assembly.labels).expect("resolves")
        };
        let expected = Event::Instructions {
            first: Address(u64::MAX - 3),
            end: Address(8),
            count: 3,
            isa: InstructionSet::A64,
            last: Outcome::Taken,
        };
        assert_eq!(events("L..GE"), [expected]);
    }
}
