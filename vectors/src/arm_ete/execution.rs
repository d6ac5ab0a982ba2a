//! An execution as a person or a simulator writes it down: instruction by instruction, before it is turned into
//! signals.

use super::{Signal, State};
use crate::Address;

/// One step of an execution, and the time that passed since the step before.
///
/// An execution does not say which instructions are P0 instructions; together with the program it determines them. The
/// processor is where the latest [`Signal`] with a [`State`] put it, and from there on where the steps lead.
///
/// # Speculation
///
/// With [`maxspec`](super::Parameters::maxspec) 0 every step has happened when it is written, and
/// [`Resolve`](Action::Resolve), [`Squash`](Action::Squash) and [`Correct`](Action::Correct) do not occur. Otherwise
/// [`Execute`](Action::Execute) and [`Exception`](Action::Exception) are speculated: they come in the order of
/// speculative execution, the oldest of them are resolved by `Resolve`, the youngest ones removed by `Squash`. So a
/// branch that was predicted wrongly is its `Execute` with the outcome as predicted, the steps of the wrong path, a
/// `Squash` of these, and a `Correct`:
///
/// ```text
/// execute 0x1000, not taken     resolve 1         squash 2, next 0x1004        correct: taken, next 0x2000
/// execute 0x1004                                  (the steps at 0x1004, 0x1008 never happened)
/// execute 0x1008
/// ```
///
/// Steps are counted, whether the trace has an element for them or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Step {
    /// Processor cycles since the step before.
    #[cfg_attr(feature = "serde", serde(default))]
    pub cycles: u32,
    /// The timestamp counter at this step; 0 = UNKNOWN.
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
#[allow(clippy::large_enum_variant, reason = "steps are made one at a time")]
pub enum Action {
    /// Execution comes to an instruction.
    Execute(Execute),
    /// An exception is taken, PE Reset and Debug halt included.
    Exception(TakenException),
    /// So many of the oldest unresolved steps are executed architecturally, 1 or more.
    Resolve(u32),
    /// So many of the youngest unresolved steps never happened, 1 or more.
    Squash {
        /// How many, 1 or more.
        steps: u32,
        /// Where execution goes on.
        next: State,
    },
    /// The youngest step that is not removed, a P0 instruction, has another outcome or another target.
    Correct {
        /// It was taken.
        taken: bool,
        /// Where execution goes on.
        next: State,
    },
    /// A signal that is no instruction, exception or resolution, passed on as it is.
    Signal(Signal),
}

/// Execution comes to an instruction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Execute {
    /// Where it is; of T32, bit 0 is 0.
    pub address: Address,
    /// A P0 instruction that is not taken: its condition failed, or a compare and branch goes on.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "core::ops::Not::not"))]
    pub not_taken: bool,
    /// The state of the next instruction, of an indirect branch or exception return that is taken.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub to: Option<State>,
    /// M profile: the branch returns from an exception, because its target is a special value. On the other profiles
    /// the opcode says it.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "core::ops::Not::not"))]
    pub exception_return: bool,
    /// It lies in a region of branch broadcasting (R_MHYFV).
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "core::ops::Not::not"))]
    pub broadcast: bool,
}

/// An exception is taken. SVC, HVC and SMC are a step of their own before it; an instruction that does not execute
/// because of the exception (trap, fault) is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TakenException {
    /// TYPE; see [`exception_name`](super::exception_name).
    pub number: u16,
    /// The preferred return address (R_SFYMW); ignored for PE Reset. The context is that of the instructions before it.
    pub returns_to: Address,
    /// The state of the first instruction of the handler; for Debug halt it is not traced.
    pub handler: State,
    /// ETMv4: a fault is pending.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "core::ops::Not::not"))]
    pub fault_pending: bool,
}

#[cfg(all(test, feature = "cases"))]
mod tests {
    use super::*;
    use crate::arm::{Context, ExceptionLevel, InstructionSet};

    #[test]
    fn steps_are_objects_in_json() {
        let context = Context::default().with_64_bit(true).with_exception_level(Some(ExceptionLevel::El1));
        let next = State { address: Address(0x2000), isa: InstructionSet::A64, context };
        let execute = Execute { address: Address(0x1000), to: Some(next), ..Execute::default() };
        let not_taken = Execute { not_taken: true, to: None, broadcast: true, ..execute };
        let taken =
            TakenException { number: 14, returns_to: Address(0x1004), handler: next, fault_pending: false };
        for action in [
            Action::Execute(execute),
            Action::Execute(not_taken),
            Action::Exception(taken),
            Action::Resolve(3),
            Action::Squash { steps: 2, next },
            Action::Correct { taken: true, next },
            Action::Signal(Signal::Enable(next)),
        ] {
            let step = Step { cycles: 3, timestamp: 1000, action };
            let text = serde_json::to_string(&step).expect("writes");
            assert_eq!(serde_json::from_str::<Step>(&text).expect(&text), step);
        }
        let short = r#"{"action":{"execute":{"address":"0x1000","not_taken":true,"broadcast":true}}}"#;
        let step = Step { cycles: 0, timestamp: 0, action: Action::Execute(not_taken) };
        assert_eq!(serde_json::from_str::<Step>(short).expect("reads"), step);
    }
}
