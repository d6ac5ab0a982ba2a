//! Lines of `stimulus`, which drive a model.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::bundles;
use super::line::{self, Line};
use crate::Address;
use crate::case::{Assembly, Location, Problem};
use crate::itanium_pmu::{Instruction, Stimulus};

/// The most steps that one line may stand for with `x`.
const MOST_STEPS: u32 = 1 << 16;

/// One line of `stimulus`, in the notation of `wire`: `"PMC4 <- 0x1228"`, `"read PMD4"`, `"cycle x 3"`; `"execute A/1"`
/// is an instruction of the program. Outputs of a model cannot appear here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(with = "String"))]
pub struct StimulusEntry {
    text: String,
    step: Option<(Step, u32)>,
}

/// What a line asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    Plain(Stimulus),
    Execute { place: Location, slot: u8, retired: bool, squashed: bool },
}

impl FromStr for StimulusEntry {
    type Err = Problem;

    fn from_str(text: &str) -> Result<Self, Problem> {
        let wrong = |message: String| Problem::new("", message);
        let step = match line::read(text).map_err(wrong)? {
            None => None,
            Some((_, times)) if times > MOST_STEPS => {
                return Err(wrong(format!("{times} times is too often")));
            }
            Some((Line::Input(stimulus), times)) => Some((Step::Plain(stimulus), times)),
            Some((Line::Execute { place, slot, retired, squashed }, times)) => {
                Some((Step::Execute { place: place.parse()?, slot, retired, squashed }, times))
            }
            Some((Line::Read { register, .. } | Line::ReadUndefined(register), _)) => {
                return Err(wrong(format!("a model says itself what is read; write `read {register}`")));
            }
            Some((Line::Tags(_) | Line::DataTag(_) | Line::Interrupt, _)) => {
                return Err(wrong("a model says itself which tags and interrupts there are".to_owned()));
            }
            Some((Line::Hex(_), _)) => return Err(wrong("`hex` is for `wire`".to_owned())),
        };
        Ok(Self { text: text.to_owned(), step })
    }
}

impl TryFrom<String> for StimulusEntry {
    type Error = Problem;

    fn try_from(text: String) -> Result<Self, Problem> {
        text.parse()
    }
}

impl From<StimulusEntry> for String {
    fn from(entry: StimulusEntry) -> Self {
        entry.text
    }
}

impl fmt::Display for StimulusEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.text)
    }
}

/// Resolves the lines of `stimulus`.
///
/// # Errors
///
/// Names the line: no bundle there, an unknown label.
pub(super) fn execution(entries: &[StimulusEntry], assembly: &Assembly) -> Result<Vec<Stimulus>, Problem> {
    let mut steps = Vec::new();
    for (index, entry) in entries.iter().enumerate() {
        let Some((step, times)) = &entry.step else { continue };
        let stimulus = match step {
            Step::Plain(stimulus) => *stimulus,
            Step::Execute { place, slot, retired, squashed } => {
                let found = place.resolve(&assembly.labels).and_then(|ip| {
                    let (itype, enco) = bundles::syllable(&assembly.program, ip, *slot)
                        .map_err(|message| Problem::new("", message))?;
                    Ok(Instruction {
                        ip: Address(ip),
                        slot: *slot,
                        itype,
                        enco,
                        retired: *retired,
                        squashed: *squashed,
                    })
                });
                Stimulus::Instruction(found.map_err(|problem| problem.under(&format!("stimulus[{index}]")))?)
            }
        };
        steps.extend(std::iter::repeat_n(stimulus, *times as usize));
    }
    Ok(steps)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::CaseProtocol;
    use crate::itanium_pmu::{ItaniumPmu, Parameters, Register, SyllableType};

    fn entry(text: &str) -> Result<StimulusEntry, String> {
        text.parse().map_err(|problem: Problem| problem.to_string())
    }

    fn resolve(lines: &[&str]) -> Result<Vec<Stimulus>, String> {
        let program = ".org 0x3010\nA: MIB| 0x080c0f00380, 0x8000000, 0x091ffffe140\n";
        let assembly = ItaniumPmu::assemble(program, &Parameters::default()).expect("assembles");
        let entries: Vec<_> = lines.iter().map(|text| entry(text).expect("a line")).collect();
        execution(&entries, &assembly).map_err(|problem| problem.to_string())
    }

    #[test]
    fn instructions_come_from_the_program() {
        let expected = Instruction {
            ip: Address(0x3010),
            slot: 2,
            itype: SyllableType::B,
            enco: 0x091_ffff_e140,
            retired: false,
            squashed: false,
        };
        let read = Stimulus::Read(Register::pmd(4));
        assert_eq!(
            resolve(&["execute A/2 wrong-path", "# nothing", "read PMD4 x 2"]),
            Ok(vec![Stimulus::Instruction(expected), read, read])
        );
        let found = Err("stimulus[1]: no bundle lies at 0x3020".to_owned());
        assert_eq!(resolve(&["cycle", "execute A+16/0"]), found);
        assert_eq!(resolve(&["execute B"]), Err("stimulus[0]: unknown label `B`".to_owned()));
    }

    #[test]
    fn what_a_model_answers_is_refused() {
        for (text, message) in [
            ("PMD4 = 5", "a model says itself what is read; write `read PMD4`"),
            ("PMD0 = X", "a model says itself what is read; write `read PMD0`"),
            ("tags none", "a model says itself which tags and interrupts there are"),
            ("interrupt", "a model says itself which tags and interrupts there are"),
            ("hex 00", "`hex` is for `wire`"),
            ("cycle x 65537", "65537 times is too often"),
            ("execute 1x/0", "`1x` is no location; write A, A+4, A-2 or 0x1000"),
        ] {
            assert_eq!(entry(text).map(String::from), Err(message.to_owned()), "{text}");
        }
    }
}
