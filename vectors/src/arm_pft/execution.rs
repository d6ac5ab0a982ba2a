//! An execution as a person or a simulator writes it down: instruction by instruction, before it is turned
//! into signals.

use super::{Signal, State};
use crate::Address32;

/// One step of an execution, and the time that passed since the step before.
///
/// An execution does not say which instructions are waypoints; together with the program it determines them.
/// The processor is where the latest [`Signal::Enable`], [`Signal::DebugExit`], [`Signal::ProhibitedExit`] or
/// [`Signal::JazelleExit`] put it, and from there on where the steps lead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Step {
    /// Processor cycles since the step before.
    #[cfg_attr(feature = "serde", serde(default))]
    pub cycles: u32,
    /// The timestamp counter at this step, natural binary.
    #[cfg_attr(feature = "serde", serde(default, with = "crate::notation::hex"))]
    #[cfg_attr(feature = "schema", schemars(with = "crate::notation::Hex"))]
    pub timestamp: u64,
    /// What happens.
    pub action: Action,
}

/// What happens in one step of an execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case", deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub enum Action {
    /// Execution comes to an instruction.
    Execute(Execute),
    /// An exception is taken that is no entry to Debug state.
    Exception(TakenException),
    /// Debug state is entered; the next instruction is not executed.
    DebugEntry,
    /// A signal that is no instruction, passed on as it is.
    Signal(Signal),
}

/// Execution comes to an instruction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Execute {
    /// Where it is, without Thumb bit.
    pub address: Address32,
    /// Its condition failed; of CBZ and CBNZ, it is not taken; of an ISB in PFTv1.1, it did not really
    /// execute.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "core::ops::Not::not"))]
    pub skipped: bool,
    /// The state of the next instruction, of an indirect branch that is not skipped.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub to: Option<State>,
    /// M profile: the branch returns from an exception, because its target is a special value (4.5.10). On
    /// the other profiles the opcode says it.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "core::ops::Not::not"))]
    pub exception_return: bool,
}

/// An exception is taken. SVC, SMC, HVC and undefined instructions are a step of their own before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TakenException {
    /// Exception\[8:0\], 2 to 511; see [`exception_name`](super::exception_name).
    pub number: u16,
    /// The preferred return address: the first instruction that was not executed.
    pub returns_to: Address32,
    /// The state of the first instruction of the handler.
    pub handler: State,
}

#[cfg(all(test, feature = "cases"))]
mod tests {
    use super::*;

    #[test]
    fn steps_are_objects_in_json() {
        let to = State { address: Address32(0x8010), non_secure: true, ..State::default() };
        let execute = Execute { address: Address32(0x8000), to: Some(to), ..Execute::default() };
        let skipped = Execute { skipped: true, to: None, ..execute };
        let taken = TakenException { number: 14, returns_to: Address32(0x8004), handler: State::default() };
        for action in [
            Action::Execute(execute),
            Action::Execute(skipped),
            Action::Exception(taken),
            Action::DebugEntry,
            Action::Signal(Signal::Enable(to)),
        ] {
            let step = Step { cycles: 3, timestamp: 1000, action };
            let text = serde_json::to_string(&step).expect("writes");
            assert_eq!(serde_json::from_str::<Step>(&text).expect(&text), step);
        }
        let short = r#"{"action":{"execute":{"address":"0x8000","skipped":true}}}"#;
        let step = Step { cycles: 0, timestamp: 0, action: Action::Execute(skipped) };
        assert_eq!(serde_json::from_str::<Step>(short).expect("reads"), step);
    }
}
