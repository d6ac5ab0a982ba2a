//! Lines of `stimulus`, which drive a model.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::line::{self, Item};
use super::words::NotationError;
use crate::arm_ete_unit::{Access, Operation, Outcome, Packet, Poll, Stimulus};
use crate::case::Problem;

/// The most steps that one line may stand for with `x`.
const MOST_STEPS: usize = 1 << 16;

/// One line of `stimulus`, in the notation of `wire`: `"sw TRCPRGCTLR=1; isb"`, `"sr TRCSTATR"`, `"gen 16"`. What a
/// model answers cannot appear here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(with = "String"))]
pub struct StimulusEntry {
    text: String,
    steps: Vec<Stimulus>,
}

impl StimulusEntry {
    /// The steps of the line, in their order.
    #[must_use]
    pub fn steps(&self) -> &[Stimulus] {
        &self.steps
    }
}

impl FromStr for StimulusEntry {
    type Err = Problem;

    fn from_str(text: &str) -> Result<Self, Problem> {
        let wrong =
            |error: NotationError| Problem::new("", format!("column {}: {}", error.column, error.message));
        let mut steps = Vec::new();
        for (column, item, times) in line::read(text).map_err(wrong)? {
            let step = step(item).map_err(|message| wrong(NotationError { column, message }))?;
            if steps.len() + times as usize > MOST_STEPS {
                return Err(wrong(NotationError { column, message: format!("{times} times is too often") }));
            }
            steps.extend(std::iter::repeat_n(step, times as usize));
        }
        Ok(Self { text: text.to_owned(), steps })
    }
}

/// What an item asks of a model.
fn step(item: Item) -> Result<Stimulus, String> {
    let packet = match item {
        Item::Step(step) => return Ok(step),
        Item::Hex(_) => return Err("`hex` is for `wire`".to_owned()),
        Item::Packet(packet) => packet,
    };
    match packet {
        Packet::Access(Access { operation: Operation::Read, register, value: Some(_), .. }) => {
            Err(format!("a model itself says what is read; write {register} without a value"))
        }
        Packet::Access(Access {
            outcome: Outcome::Error | Outcome::Undefined | Outcome::Unknown, ..
        }) => Err("a model itself says how an access ends; only TRAP can be given".to_owned()),
        Packet::Access(Access { operation: Operation::Write, value: None, .. }) => {
            Err("a model must know what is written".to_owned())
        }
        Packet::Access(access) => Ok(Stimulus::Access(access)),
        Packet::Poll(Poll { timed_out: true, .. }) => Err("a model itself says how a poll ends".to_owned()),
        Packet::Poll(Poll { agent, bit, value, .. }) => Ok(Stimulus::Poll { agent, bit, value }),
        Packet::Input(input) => Ok(Stimulus::Input(input)),
        Packet::Output { .. } | Packet::State(_) | Packet::Signal(_) => {
            Err("a model itself says what the unit does; write `gen`, `go` or `drain`".to_owned())
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arm_ete_unit::{Agent, Barrier, Input, Register, StatusBit};

    fn entry(text: &str) -> Result<StimulusEntry, String> {
        text.parse().map_err(|problem: Problem| problem.to_string())
    }

    #[test]
    fn a_line_has_several_steps() {
        let found =
            entry("sw TRCPRGCTLR=1 TRAP; isb x 2; poll s IDLE=0; gen 16; drain # all").expect("a line");
        let write = Access {
            agent: Agent::System,
            space: None,
            operation: Operation::Write,
            register: Register::PRGCTLR,
            double: false,
            value: Some(1),
            outcome: Outcome::Trapped,
        };
        let isb = Stimulus::Input(Input::Barrier(Barrier::Isb));
        let poll = Stimulus::Poll { agent: Agent::System, bit: StatusBit::Idle, value: false };
        assert_eq!(
            found.steps(),
            [
                Stimulus::Access(write),
                isb,
                isb,
                poll,
                Stimulus::Generate { bytes: 16 },
                Stimulus::Drain { bytes: None },
            ]
        );
        assert_eq!(entry("# nothing").expect("a comment").steps(), []);
    }

    #[test]
    fn what_a_model_answers_is_refused() {
        for (text, message) in [
            (
                "isb; sr TRCSTATR->3",
                "column 6: a model itself says what is read; write TRCSTATR without a value",
            ),
            ("xr TRCSTATR ERR", "column 1: a model itself says how an access ends; only TRAP can be given"),
            ("sw TRCCONFIGR", "column 1: a model must know what is written"),
            ("poll s IDLE=1 timeout", "column 1: a model itself says how a poll ends"),
            ("out if0 3", "column 1: a model itself says what the unit does; write `gen`, `go` or `drain`"),
            ("st Idle", "column 1: a model itself says what the unit does; write `gen`, `go` or `drain`"),
            ("hex 00", "column 1: `hex` is for `wire`"),
            ("isb; isb x 65536", "column 6: 65536 times is too often"),
        ] {
            assert_eq!(entry(text).map(String::from), Err(message.to_owned()), "{text}");
        }
    }
}
