//! Instructions by place and outcome: `"A..CN t32 0x8100? 0x8102E"`.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::instruction_set;
use crate::Address32;
use crate::arm::InstructionSet;
use crate::arm_pft::{Event, Outcome};
use crate::case::{Labels, Location, Problem};

/// Instructions in the order in which they are reported: a location (a label or an address) and `E` if the waypoint
/// there was executed, `N` if not, `?` for an instruction of which the trace says nothing. `A..DE` is every instruction
/// from A to D, of which D was executed. `A/4E` is an instruction of 4 bytes that the program writes as data, because
/// the assembler does not know it.
///
/// Words set the state of what follows: `a32` (at first), `t32`, `t32ee`; `ns` and `s` (at first); `hyp` and `nohyp`
/// (at first).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct InstructionRuns {
    text: String,
    words: Vec<Word>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Word {
    InstructionSet(InstructionSet),
    NonSecure(bool),
    Hyp(bool),
    Run {
        first: Location,
        last: Location,
        outcome: Outcome,
    },
    /// An instruction of so many bytes that is no line of the program.
    Data {
        place: Location,
        size: u32,
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
        let (mut isa, mut non_secure, mut hyp) = (InstructionSet::A32, false, false);
        let mut events = Vec::new();
        for word in &self.words {
            match word {
                Word::InstructionSet(set) => isa = *set,
                Word::NonSecure(value) => non_secure = *value,
                Word::Hyp(value) => hyp = *value,
                Word::Run { first, last, outcome } => {
                    let (first, end, count) = extent(first, last, labels)?;
                    events.push(Event::Instructions {
                        first,
                        end,
                        count,
                        isa,
                        non_secure,
                        hyp,
                        last: *outcome,
                    });
                }
                Word::Data { place, size, outcome } => {
                    let first = Address32(place.resolve(labels)? as u32);
                    let (end, last) = (first.wrapping_add(*size), *outcome);
                    events.push(Event::Instructions { first, end, count: 1, isa, non_secure, hyp, last });
                }
            }
        }
        Ok(events)
    }
}

/// First address, address after the last instruction, number of instructions.
fn extent(
    first: &Location,
    last: &Location,
    labels: &Labels,
) -> Result<(Address32, Address32, u64), Problem> {
    let (from, to) = (first.resolve(labels)?, last.resolve(labels)?);
    let (mut end, mut count) = (from, 0);
    while count == 0 || end <= to && end != 0 {
        let size = labels.size_at(end).ok_or_else(|| {
            Problem::new("", format!("no instruction of the program starts at {end:#x}, from `{first}` on"))
        })?;
        count += 1;
        if end == to {
            let address = |address: u64| Address32(labels.wrap(address) as u32);
            return Ok((address(from), address(end + size), count));
        }
        end = labels.wrap(end + size);
    }
    Err(Problem::new("", format!("`{last}` is no instruction after `{first}`")))
}

impl FromStr for InstructionRuns {
    type Err = Problem;

    fn from_str(text: &str) -> Result<Self, Problem> {
        let words: Vec<_> = text.split_ascii_whitespace().map(word).collect::<Result<_, _>>()?;
        if !words.iter().any(|word| matches!(word, Word::Run { .. } | Word::Data { .. })) {
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
    match text {
        "s" | "ns" => return Ok(Word::NonSecure(text == "ns")),
        "hyp" | "nohyp" => return Ok(Word::Hyp(text == "hyp")),
        _ => {}
    }
    // Names and hexadecimal digits end in E too: the last letter is the outcome.
    let at = text.len().checked_sub(1).ok_or_else(wrong)?;
    let (place, outcome) = text.split_at_checked(at).ok_or_else(wrong)?;
    let outcome = match outcome {
        "E" => Outcome::Executed,
        "N" => Outcome::NotExecuted,
        "?" => Outcome::Unknown,
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
        let word = format!(r"(a32|t32|t32ee|jazelle|n?s|(no)?hyp|{place}(\.\.{place}|/[24])?[EN?])");
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
    use crate::arm_pft::{ArmPft, Parameters};
    use crate::case::CaseProtocol;

    #[test]
    fn words_are_runs() {
        let program = ".org 0x8000\nA: nop\nBE: beq A\n.thumb\nT: nop\nbl T\nbx lr\n";
        let assembly = ArmPft::assemble(program, &Parameters::default()).expect("assembles");
        let text = "A? BEE A..BEN t32 ns T..0x800eE s hyp T? 0x9000/2N";
        let runs: InstructionRuns = text.parse().expect("reads");
        let run = |first, end, count, isa, non_secure, hyp, last| Event::Instructions {
            first: Address32(first),
            end: Address32(end),
            count,
            isa,
            non_secure,
            hyp,
            last,
        };
        let expected = [
            run(0x8000, 0x8004, 1, InstructionSet::A32, false, false, Outcome::Unknown),
            run(0x8004, 0x8008, 1, InstructionSet::A32, false, false, Outcome::Executed),
            run(0x8000, 0x8008, 2, InstructionSet::A32, false, false, Outcome::NotExecuted),
            run(0x8008, 0x8010, 3, InstructionSet::T32, true, false, Outcome::Executed),
            run(0x8008, 0x800a, 1, InstructionSet::T32, false, true, Outcome::Unknown),
            run(0x9000, 0x9002, 1, InstructionSet::T32, false, true, Outcome::NotExecuted),
        ];
        assert_eq!(runs.resolve(&assembly.labels).expect("resolves"), expected);
        assert_eq!(String::from(runs), text);
        for wrong in ["T..AE", "T..0x800cE", "0x9000E", "Z?"] {
            let runs: InstructionRuns = wrong.parse().expect("reads");
            assert!(runs.resolve(&assembly.labels).is_err(), "{wrong}");
        }
        let data: InstructionRuns = "t32 0x9000/4?".parse().expect("reads");
        let end = run(0x9000, 0x9004, 1, InstructionSet::T32, false, false, Outcome::Unknown);
        assert_eq!(data.resolve(&assembly.labels).expect("resolves"), [end]);
        for wrong in ["", "t32", "E", "0x8000", "A..E", "a64 AE", "A,B?", "A/3E", "A..B/4E"] {
            assert!(wrong.parse::<InstructionRuns>().is_err(), "{wrong}");
        }
    }
}
