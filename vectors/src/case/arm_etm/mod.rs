//! How ARM ETM cases are written.

mod atoms;
mod cycles;
mod located;
mod resolve;
mod wire;

use serde::{Deserialize, Serialize};

use super::arm::Arm;
use super::assembly::assemble;
use super::{Assembly, CaseProtocol, Expected, ExpectedFault, Location, Problem};
use crate::arm_etm::v3::ExceptionInformation;
use crate::arm_etm::{
    ArmEtm, DataAddress, Exception, ExceptionKind, Isa, MissReturn, MissingReason, Parameters, Reason,
    Stimulus, Transfer, Value,
};

pub use atoms::Atoms;
pub use cycles::InstructionCycles;
pub use located::LocatedInstructions;

/// One line of `stimulus`: one cycle, or `repeat` equal ones.
///
/// `trace_enable` (false at first), `view_data` (true at first), `debug`, `non_secure` and `hyp` (false at first),
/// `timestamp` (0 at first) and `isa` (ARM at first) stay in force until a later line changes them; the other fields
/// are for this line only. An empty line is a cycle in which the processor waits.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StimulusEntry {
    /// Level of TraceEnable from this cycle on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace_enable: Option<bool>,
    /// Level of ViewData from this cycle on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub view_data: Option<bool>,
    /// Debug state from this cycle on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub debug: Option<bool>,
    /// Instruction set state from this cycle on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub isa: Option<Isa>,
    /// The instruction here is executed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub execute: Option<Location>,
    /// The instruction here is not executed: its condition fails.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skip: Option<Location>,
    /// A folded branch completes before that instruction.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phantom: Option<PhantomEntry>,
    /// That instruction branches, or an exception is taken after it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branch: Option<BranchEntry>,
    /// Data transfers, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub transfers: Vec<Transfer>,
    /// Data of earlier load misses that arrive.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub returns: Vec<MissReturn>,
    /// The Context ID register is written.
    #[serde(skip_serializing_if = "Option::is_none", with = "crate::notation::hex32_option")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<crate::notation::Hex>"))]
    pub context_id: Option<u32>,
    /// The trigger occurs.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub trigger: bool,
    /// Non-secure state from this cycle on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub non_secure: Option<bool>,
    /// Hyp mode from this cycle on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hyp: Option<bool>,
    /// The timestamp counter from this cycle on.
    #[serde(skip_serializing_if = "Option::is_none", with = "crate::notation::hex_option")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<crate::notation::Hex>"))]
    pub timestamp: Option<u64>,
    /// A timestamp is wanted.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub timestamp_event: bool,
    /// A clock frequency changed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub clock_change: bool,
    /// The VMID register is written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vmid: Option<u8>,
    /// ARMv7-M: automatic stacking begins.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub exception_entry: bool,
    /// That instruction is an exception return.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub exception_return: bool,
    /// That instruction is a Thumb instruction of 32 bits.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub thumb32: bool,
    /// The processor is reset.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub reset: bool,
    /// So many cycles; 1 if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repeat: Option<u32>,
}

/// A folded direct branch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PhantomEntry {
    /// Where it is.
    pub at: Location,
    /// Whether it is taken.
    pub taken: bool,
}

/// Where an instruction branches to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BranchEntry {
    /// The target.
    pub to: Location,
    /// The state there, which is that of the lines that follow; the state in force if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub isa: Option<Isa>,
    /// A direct branch.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub direct: bool,
    /// It is an exception: see [`Exception`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exception: Option<Exception>,
}

/// One line of `events`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum EventEntry {
    /// Instructions, e.g. `"1E 2N 4pE 4E"`.
    Instructions(InstructionCycles),
    /// The trigger, with its cycle.
    Trigger(u64),
    /// A TFO packet.
    Synchronisation {
        /// The TFO cycle.
        cycle: u64,
        /// Why.
        reason: Reason,
        /// The instruction that is implied, or the first one after it.
        address: Location,
        /// Its state; ARM if absent.
        #[serde(default)]
        isa: Isa,
        /// Where Context IDs are traced.
        #[serde(default, skip_serializing_if = "Option::is_none", with = "crate::notation::hex32_option")]
        #[cfg_attr(feature = "schema", schemars(with = "Option<crate::notation::Hex>"))]
        context_id: Option<u32>,
        /// The LSM instruction that is in progress.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        lsm: Option<Location>,
    },
    /// A branch.
    Branch {
        /// When.
        cycle: u64,
        /// Where to.
        address: Location,
        /// The state there; ARM if absent.
        #[serde(default)]
        isa: Isa,
    },
    /// ETMv1, ETMv2: the branch that follows is an exception.
    Exception {
        /// When.
        cycle: u64,
        /// Which.
        kind: ExceptionKind,
        /// The address of the branch.
        vector: Location,
        /// ETMv1: the instruction that was interrupted; absent if unknown.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        at: Option<Location>,
        /// ETMv2: the cycle of the instruction that is taken back; absent if none is.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cancelled: Option<u64>,
    },
    /// ETMv1, ETMv2: the branch that follows may be an exception.
    PossibleException {
        /// When.
        cycle: u64,
        /// The address of the branch.
        vector: Location,
    },
    /// ETMv1, ETMv2: transfers of an instruction that was aborted or taken back.
    IgnoredTransfers {
        /// The first one.
        first: u64,
        /// The last one.
        last: u64,
    },
    /// A Context ID change.
    ContextId {
        /// When.
        when: u64,
        /// The new one.
        #[serde(with = "crate::notation::hex32")]
        #[cfg_attr(feature = "schema", schemars(with = "crate::notation::Hex"))]
        value: u32,
    },
    /// A data transfer.
    Transfer {
        /// Its number.
        transfer: u64,
        /// When.
        when: u64,
        /// Where; absent if the trace does not carry it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        address: Option<DataAddress>,
        /// What.
        value: Value,
        /// Data are big-endian (ETMv3).
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        big_endian: bool,
    },
    /// The value of an outstanding transfer.
    MissData {
        /// The transfer.
        transfer: u64,
        /// When it returned.
        when: u64,
        /// The value.
        #[serde(with = "crate::notation::hex32")]
        #[cfg_attr(feature = "schema", schemars(with = "crate::notation::Hex"))]
        value: u32,
    },
    /// The value of an outstanding transfer will not be output.
    Missing {
        /// The transfer.
        transfer: u64,
        /// Why.
        reason: MissingReason,
    },
    /// Miss data that belong to nothing.
    IgnoredData {
        /// When they were placed in the FIFO.
        when: u64,
        /// Their tag.
        tag: u8,
    },
    /// The capture ends before this cycle's packets do.
    Incomplete(u64),
    /// ETMv1: instructions, e.g. `"3:0x8000E 4:0x8004N 9:?E"`.
    InstructionsAt(LocatedInstructions),
    /// ETMv3: instructions, e.g. `"0x8000E 0x8004N ?E"` or `"thumb 0x8100E/3 0x8102E/1"`.
    Atoms(Atoms),
    /// ETMv3: an I-sync packet.
    InstructionSync {
        /// Why.
        reason: Reason,
        /// The next instruction; absent in data-only mode.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        address: Option<Location>,
        /// The state there; ARM if absent.
        #[serde(default)]
        isa: Isa,
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
        /// The data instruction that is in progress.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        in_progress: Option<Location>,
    },
    /// ETMv3: so many cycles in which nothing was traced.
    Gap {
        /// Absent if unknown.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cycles: Option<u64>,
    },
    /// ETMv3: a branch packet.
    BranchTo {
        /// Where to.
        address: Location,
        /// The state there; ARM if absent.
        #[serde(default)]
        isa: Isa,
        /// Exception information bytes.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        exception: Option<ExceptionInformation>,
    },
    /// ETMv3: end of an exception return.
    ExceptionReturn(u64),
    /// ETMv3, ARMv7-M: automatic stacking begins.
    ExceptionEntry(u64),
    /// ETMv3: the VMID.
    Vmid {
        /// When.
        when: u64,
        /// The new one.
        value: u8,
    },
    /// ETMv3: a timestamp.
    Timestamp {
        /// Absent if unknown.
        #[serde(default, skip_serializing_if = "Option::is_none", with = "crate::notation::hex_option")]
        #[cfg_attr(feature = "schema", schemars(with = "Option<crate::notation::Hex>"))]
        value: Option<u64>,
        /// A clock frequency changed.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        clock_change: bool,
    },
    /// ETMv3: the store of this number did not happen.
    StoreFailed(u64),
    /// ETMv3: data are suppressed from here on.
    DataSuppressed(u64),
    /// A fault.
    Fault(ExpectedFault),
}

impl CaseProtocol for ArmEtm {
    type StimulusEntry = StimulusEntry;
    type EventEntry = EventEntry;
    type Execution = Vec<Stimulus>;

    fn assemble(text: &str, _: &Parameters) -> Result<Assembly, Problem> {
        assemble(text, &Arm::AARCH32)
    }

    fn execution(entries: &[StimulusEntry], assembly: &Assembly) -> Result<Vec<Stimulus>, Problem> {
        resolve::execution(entries, assembly)
    }

    fn expected(entries: &[EventEntry], assembly: &Assembly) -> Result<Vec<Expected<Self>>, Problem> {
        resolve::expected(entries, assembly)
    }

    fn wire(lines: &[String], parameters: &Parameters) -> Result<Vec<u8>, Problem> {
        wire::read(lines, parameters)
    }

    fn show_wire(bytes: &[u8], parameters: &Parameters) -> Vec<String> {
        wire::show(bytes, parameters)
    }

    fn required_features(parameters: &Parameters, _: &[u8]) -> Vec<&'static str> {
        resolve::required_features(parameters)
    }
}
