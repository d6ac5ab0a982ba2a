//! What a trace unit sees of its processing element.

use super::Packet;
use crate::Address;
use crate::arm::{Context, ExceptionLevel, InstructionSet};

/// One step at the interface: a signal, and the time that passed since the step before.
///
/// Execution comes in program order, speculative execution included. Instructions that are no P0 instructions are not
/// signalled: a P0 instruction or exception stands for all that were executed since the one before. With
/// [`maxspec`](super::Parameters::maxspec) 0 each P0 element is committed with its step, and [`Signal::Commit`],
/// [`Signal::Cancel`] do not occur. Nothing is traced before [`Signal::Enable`] or after [`Signal::Disable`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Stimulus {
    /// Processor cycles since the step before.
    #[cfg_attr(feature = "serde", serde(default))]
    pub cycles: u32,
    /// The timestamp counter at this step; 0 = UNKNOWN.
    #[cfg_attr(feature = "serde", serde(default, with = "crate::notation::hex"))]
    #[cfg_attr(feature = "schema", schemars(with = "crate::notation::Hex"))]
    pub timestamp: u64,
    /// What happens.
    pub signal: Signal,
}

/// What happens in one step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case", deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
#[allow(clippy::large_enum_variant, reason = "steps are made one at a time")]
pub enum Signal {
    /// Nothing; time passes.
    Idle,
    /// The trace unit is enabled with ViewInst active: non-periodic synchronization (sheet 7.1). The next instruction.
    Enable(State),
    /// The trace unit is disabled: what is held is sent, then Transaction Failure and Discard where they are due (sheet
    /// 4.5).
    Disable,
    /// ViewInst becomes active or inactive, from the next block on (sheet 4.8). Trace On precedes the next P0 element
    /// or exception after it became active. While inactive, P0 instructions and exceptions are signalled and not
    /// traced.
    ViewInst(bool),
    /// A P0 instruction.
    P0(P0),
    /// An exception, PE Reset included.
    Exception(Exception),
    /// The context changed other than by a P0 instruction or exception: by a system instruction and the context
    /// synchronization event after it (R_HXNXF). Traced before the next P0 element.
    Context(Context),
    /// So many of the oldest uncommitted P0 elements are resolved, 1 or more. P0 instructions that are not traced do
    /// not count; elements that were implicitly committed do not either.
    Commit(u32),
    /// The youngest P0 elements were speculated wrongly.
    Cancel {
        /// How many, 1 or more; counted as in [`Commit`](Self::Commit).
        count: u32,
        /// Where execution goes on.
        next: State,
    },
    /// The youngest atom, committed or not, has the other outcome (R_YJCNT). Where execution goes on.
    Mispredict(State),
    /// The youngest taken P0 element is an indirect one that went elsewhere (R_YMRGB). Where execution goes on.
    Redirect(State),
    /// An outer transaction was entered, after the P0 instruction TSTART (R_CYHKB).
    TransactionStart,
    /// The outer transaction took effect, after the P0 instruction before TCOMMIT (R_PCKKS).
    TransactionCommit,
    /// The transaction failed (R_MHBCG). Where execution goes on.
    TransactionFailure(State),
    /// A timestamp is requested by something that is not signalled otherwise (TRCTSCTLR).
    TimestampRequest,
    /// A trace unit event, 0 to 3, with its INSTEN bit set (R_KKLYB).
    Event(u8),
    /// TRCIT at an exception level that allows it (R_BWHCS).
    Instrumentation {
        /// The exception level.
        exception_level: ExceptionLevel,
        /// The value.
        #[cfg_attr(feature = "serde", serde(with = "crate::notation::hex"))]
        #[cfg_attr(feature = "schema", schemars(with = "crate::notation::Hex"))]
        value: u64,
    },
    /// `true`: the instructions from here on may be traced by Q elements; `false`: no longer (R_FPHFM).
    QRegion(bool),
    /// A periodic synchronization is wanted, whatever the period is (R_QHHSY).
    SyncRequest,
    /// The trace bus asks for all that is held (sheet 4.5); requests a timestamp.
    Flush,
    /// A region in which tracing is prohibited begins (sheet 4.7).
    ProhibitedEntry,
    /// It ends. The next instruction.
    ProhibitedExit(State),
    /// Debug state is left; it is entered with a Debug halt exception (sheet 4.7). The next instruction.
    DebugExit(State),
    /// `true`: the buffer is full, what follows is lost; `false`: there is space again (sheet 4.6).
    Overflow(bool),
    /// ETMv4: a packet of conditional trace, a data synchronization marker, a function return or a branch future flush,
    /// sent as it is in this place, after the atoms that are held.
    Insert(Packet),
}

/// The state in which an instruction executes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct State {
    /// Where it is; of T32, bit 0 is 0.
    pub address: Address,
    /// Its instruction set: A64, A32 or T32. A64 if and only if the context is 64-bit.
    pub isa: InstructionSet,
    /// Exception level, security state, Context ID, VMID: as the registers are, whether they are traced or not.
    pub context: Context,
}

/// A P0 instruction at the interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct P0 {
    /// Where it is; of T32, bit 0 is 0.
    pub address: Address,
    /// Its instruction set.
    pub isa: InstructionSet,
    /// Its bytes, 2 or 4: the return address follows from them.
    pub size: u8,
    /// What it is.
    pub kind: P0Kind,
    /// It is a branch with link.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "core::ops::Not::not"))]
    pub link: bool,
    /// It was taken, as far as the trace unit sees now: see [`Signal::Mispredict`].
    pub taken: bool,
    /// The state of the next instruction: the target, or the instruction after it.
    pub next: State,
    /// Instructions since the P0 instruction or exception before it, itself included; Q elements count them.
    #[cfg_attr(feature = "serde", serde(default = "one", skip_serializing_if = "is_one"))]
    pub instructions: u32,
    /// It lies in a region of branch broadcasting (R_MHYFV).
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "core::ops::Not::not"))]
    pub broadcast: bool,
}

/// What a P0 instruction is (sheet 6.4 to 6.6).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum P0Kind {
    /// A branch whose target follows from its opcode; also ISB, TSTART, and WFI and WFE where they are P0.
    #[default]
    Direct,
    /// ISB: as direct, and a context synchronization event if it is taken.
    Isb,
    /// A branch whose target does not.
    Indirect,
    /// An exception return: indirect, and a context synchronization event. ETMv4 adds a packet of its own.
    ExceptionReturn,
    /// A load or store, where it is P0 (ETMv4): always taken, to the next instruction.
    LoadStore,
}

/// An exception at the interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Exception {
    /// TYPE; see [`exception_name`](super::exception_name).
    pub number: u16,
    /// The preferred return address, with the context in which the exception was taken; ignored for PE Reset.
    pub returns_to: State,
    /// The state of the first instruction of the handler; for Debug halt it is not traced.
    pub handler: State,
    /// Instructions that were executed since the P0 instruction or exception before it; Q elements count them.
    #[cfg_attr(feature = "serde", serde(default))]
    pub instructions: u32,
    /// ETMv4: a fault is pending.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "core::ops::Not::not"))]
    pub fault_pending: bool,
}

#[cfg(feature = "serde")]
const fn one() -> u32 {
    1
}

#[cfg(feature = "serde")]
#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_one(instructions: &u32) -> bool {
    *instructions == 1
}
