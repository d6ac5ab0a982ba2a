//! How ARM PFT cases are written.

mod entry;
mod resolve;
mod runs;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

use super::arm::{Arm, stream};
use super::assembly::assemble;
use super::{Assembly, CaseProtocol, Expected, ExpectedFault, Location, Problem};
use crate::arm::InstructionSet;
use crate::arm_pft::{ArmPft, Parameters, Reason, Stimulus};

pub use entry::{DebugEntry, ExceptionEntry, StimulusEntry};
pub use runs::InstructionRuns;

/// One line of `events`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum EventEntry {
    /// An I-sync packet.
    TraceOn {
        /// Why.
        reason: Reason,
        /// The next instruction.
        address: Location,
        /// Its instruction set; A32 if absent.
        #[serde(default)]
        isa: InstructionSet,
        /// Non-secure state.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        non_secure: bool,
        /// Hyp mode.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        hyp: bool,
        /// Where Context IDs are traced.
        #[serde(default, skip_serializing_if = "Option::is_none", with = "crate::notation::hex32_option")]
        #[cfg_attr(feature = "schema", schemars(with = "Option<crate::notation::Hex>"))]
        context_id: Option<u32>,
    },
    /// Instructions, e.g. `"A..CN t32 ns 0x8100? 0x8102E"`.
    Instructions(InstructionRuns),
    /// A branch address packet after the flow was lost.
    BranchTo {
        /// The next instruction.
        address: Location,
        /// Its instruction set; A32 if absent.
        #[serde(default)]
        isa: InstructionSet,
        /// Non-secure state.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        non_secure: bool,
        /// Hyp mode.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        hyp: bool,
    },
    /// An exception.
    Exception {
        /// Its number.
        number: u16,
        /// The first instruction that was not executed; absent while the flow is undefined.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        returns_to: Option<Location>,
        /// The handler.
        address: Location,
        /// Its instruction set; A32 if absent.
        #[serde(default)]
        isa: InstructionSet,
        /// Non-secure state.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        non_secure: bool,
        /// Hyp mode.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        hyp: bool,
    },
    /// An exception return: `{}`.
    ExceptionReturn {},
    /// The trigger: `{}`.
    Trigger {},
    /// The Context ID.
    ContextId(
        #[serde(with = "crate::notation::hex32")]
        #[cfg_attr(feature = "schema", schemars(with = "crate::notation::Hex"))]
        u32,
    ),
    /// The VMID.
    Vmid(
        #[serde(with = "crate::notation::hex8")]
        #[cfg_attr(feature = "schema", schemars(with = "crate::notation::Hex"))]
        u8,
    ),
    /// A timestamp.
    Timestamp {
        /// Absent until a complete one was seen.
        #[serde(default, skip_serializing_if = "Option::is_none", with = "crate::notation::hex_option")]
        #[cfg_attr(feature = "schema", schemars(with = "Option<crate::notation::Hex>"))]
        value: Option<u64>,
        /// A clock frequency changed.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        clock_change: bool,
    },
    /// A cycle count.
    Cycles {
        /// Since the one before.
        count: u32,
        /// Since decoding began.
        total: u64,
    },
    /// A fault.
    Fault(ExpectedFault),
}

impl CaseProtocol for ArmPft {
    type StimulusEntry = StimulusEntry;
    type EventEntry = EventEntry;
    type Execution = Vec<Stimulus>;

    fn assemble(text: &str, _: &Parameters) -> Result<Assembly, Problem> {
        assemble(text, &Arm::AARCH32)
    }

    fn execution(entries: &[StimulusEntry], assembly: &Assembly) -> Result<Vec<Stimulus>, Problem> {
        entry::execution(entries, assembly)
    }

    fn expected(entries: &[EventEntry], assembly: &Assembly) -> Result<Vec<Expected<Self>>, Problem> {
        resolve::expected(entries, assembly)
    }

    fn wire(lines: &[String], _: &Parameters) -> Result<Vec<u8>, Problem> {
        let mut bytes = Vec::new();
        for (index, line) in lines.iter().enumerate() {
            let read = stream::read_line(line);
            bytes.extend(read.map_err(|message| Problem::new(format!("wire[{index}]"), message))?);
        }
        Ok(bytes)
    }

    fn show_wire(bytes: &[u8], _: &Parameters) -> Vec<String> {
        stream::show(bytes)
    }

    fn required_features(parameters: &Parameters, _: &[u8]) -> Vec<&'static str> {
        resolve::required_features(parameters)
    }
}

/// The names of instruction sets in the text of lines.
fn instruction_set(word: &str) -> Option<InstructionSet> {
    InstructionSet::ALL.into_iter().find(|set| set.name() == word && !set.is_64_bit())
}
