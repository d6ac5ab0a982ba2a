//! How cases of ARM ETE and ETMv4 are written.

mod context;
mod entry;
mod resolve;
mod runs;
mod steps;
#[cfg(test)]
mod tests;
mod wire;

use serde::{Deserialize, Serialize};

use super::arm::Arm;
use super::assembly::assemble;
use super::{Assembly, CaseProtocol, Expected, ExpectedFault, Location, Problem};
use crate::arm::{ExceptionLevel, InstructionSet, Profile};
use crate::arm_ete::{ArmEte, Parameters, Stimulus, TimestampOf};

pub use context::ContextText;
pub use entry::{ExceptionEntry, InstrumentationEntry, StimulusEntry};
pub use runs::InstructionRuns;

/// One line of `events`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum EventEntry {
    /// A Trace Info element.
    TraceInfo {
        /// Cycle counting is enabled.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        cycle_counting: bool,
        /// The threshold of cycle counts.
        #[serde(default, skip_serializing_if = "is_zero")]
        cycle_threshold: u16,
        /// Uncommitted P0 elements.
        #[serde(default, skip_serializing_if = "is_zero")]
        speculation: u32,
        /// Within a transaction.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        transactional: bool,
    },
    /// Instructions before it were not traced.
    TraceOn,
    /// The context of the instructions after it, e.g. `"el1 non-secure vmid=0 context=0"`.
    Context(ContextText),
    /// Instructions, e.g. `"A..CN t32 0x8100? 0x8102E"`.
    Instructions(InstructionRuns),
    /// Instructions whose path is not traced: `{ count = 3 }`, or `{}`.
    UnknownPath {
        /// How many.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        count: Option<u32>,
    },
    /// The latest outcome is the other one.
    Mispredict,
    /// An exception.
    Exception {
        /// Its type.
        number: u16,
        /// The preferred return address; absent = UNKNOWN.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        returns_to: Option<Location>,
        /// A fault is pending (ETMv4).
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        fault_pending: bool,
    },
    /// An exception return packet (ETMv4).
    ExceptionReturn,
    /// A function return packet (ETMv4).
    FunctionReturn,
    /// A transaction begins.
    TransactionStart,
    /// It took effect.
    TransactionCommit,
    /// It did not.
    TransactionFailure,
    /// A cycle count.
    Cycles {
        /// Absent = UNKNOWN.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        count: Option<u32>,
        /// Sum of the counts since the latest UNKNOWN one.
        #[serde(default, skip_serializing_if = "is_zero")]
        total: u64,
    },
    /// A timestamp.
    Timestamp {
        /// Absent = UNKNOWN.
        #[serde(default, skip_serializing_if = "Option::is_none", with = "crate::notation::hex_option")]
        #[cfg_attr(feature = "schema", schemars(with = "Option<crate::notation::Hex>"))]
        value: Option<u64>,
        /// Absent = none travelled.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cycles: Option<u32>,
        /// Which element it belongs to; the latest one if absent.
        #[serde(default)]
        of: TimestampOf,
    },
    /// A timestamp marker.
    TimestampMarker,
    /// A trace unit event, 0 to 3.
    Event(u8),
    /// A value that software wrote.
    Instrumentation {
        /// The exception level.
        exception_level: ExceptionLevel,
        /// The value.
        #[serde(with = "crate::notation::hex")]
        #[cfg_attr(feature = "schema", schemars(with = "crate::notation::Hex"))]
        value: u64,
    },
    /// A data synchronization marker (ETMv4): `{ number = 3 }`, or `{}` for an unnumbered one.
    DataSyncMarker {
        /// 0 to 7.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        number: Option<u8>,
    },
    /// Trace is lost.
    Overflow,
    /// Uncommitted elements are dropped.
    Discard,
    /// A fault.
    Fault(ExpectedFault),
}

fn is_zero<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl CaseProtocol for ArmEte {
    type StimulusEntry = StimulusEntry;
    type EventEntry = EventEntry;
    type Execution = Vec<Stimulus>;

    fn assemble(text: &str, parameters: &Parameters) -> Result<Assembly, Problem> {
        let address_mask = if parameters.address_bytes < 8 { u32::MAX.into() } else { u64::MAX };
        let first = match parameters.profile {
            Profile::Microcontroller => InstructionSet::T32,
            _ if parameters.address_bytes < 8 => InstructionSet::A32,
            _ => InstructionSet::A64,
        };
        assemble(text, &Arm { first, address_mask })
    }

    fn execution(entries: &[StimulusEntry], assembly: &Assembly) -> Result<Vec<Stimulus>, Problem> {
        steps::execution(entries, assembly)
    }

    fn expected(entries: &[EventEntry], assembly: &Assembly) -> Result<Vec<Expected<Self>>, Problem> {
        resolve::expected(entries, assembly)
    }

    fn wire(lines: &[String], _: &Parameters) -> Result<Vec<u8>, Problem> {
        wire::read(lines)
    }

    fn show_wire(bytes: &[u8], _: &Parameters) -> Vec<String> {
        super::arm::stream::show(bytes)
    }

    fn required_features(parameters: &Parameters, _: &[u8]) -> Vec<&'static str> {
        resolve::required_features(parameters)
    }
}

/// The names of instruction sets in the text of lines.
fn instruction_set(word: &str) -> Option<InstructionSet> {
    [InstructionSet::A64, InstructionSet::A32, InstructionSet::T32].into_iter().find(|set| set.name() == word)
}
