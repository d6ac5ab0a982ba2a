//! What a PTM sees at its waypoint interface (2.1, chapter 5).

use crate::Address32;
use crate::arm::InstructionSet;

/// One step at the interface: a signal, and the time that passed since the step before.
///
/// Instructions that are no waypoints are not signalled: the next waypoint stands for all that were executed since the
/// target of the one before. Nothing is traced before [`Signal::Enable`] or after [`Signal::Disable`], which ends an
/// execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Stimulus {
    /// Processor cycles since the step before (4.4).
    #[cfg_attr(feature = "serde", serde(default))]
    pub cycles: u32,
    /// The timestamp counter at this step, natural binary (4.14).
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
pub enum Signal {
    /// Nothing; time passes.
    Idle,
    /// The PTM is enabled: A-sync comes first (4.5.1, PFT-ENC-001). The next instruction.
    Enable(State),
    /// The Programming bit or the OS lock is set: held packets are sent, then nothing (4.15.2, PFT-ENC-009).
    Disable,
    /// TraceEnable: tracing starts at the destination of the latest waypoint, or stops there (3.3.2, PFT-ENC-003).
    TraceEnable(bool),
    /// A waypoint instruction (2.1.1).
    Waypoint(Waypoint),
    /// An exception that is no entry to Debug state (5.2, 5.3).
    Exception(Exception),
    /// Debug state is entered (5.3.8, PFT-ENC-019). The latest instruction that was executed, if it is no waypoint.
    DebugEntry(Option<Address32>),
    /// Debug state is left (5.3.8, PFT-ENC-020). The next instruction.
    DebugExit(State),
    /// A region in which tracing is prohibited begins (4.7, PFT-ENC-047).
    ProhibitedEntry,
    /// It ends (4.7, PFT-ENC-048). The next instruction.
    ProhibitedExit(State),
    /// Jazelle state is left (4.17, PFT-ENC-048, PFT-ENC-065); it is entered by a waypoint. The next instruction.
    JazelleExit(State),
    /// The Context ID register is written: traced after the next waypoint (4.5.7, PFT-ENC-037).
    ContextId(
        #[cfg_attr(feature = "serde", serde(with = "crate::notation::hex32"))]
        #[cfg_attr(feature = "schema", schemars(with = "crate::notation::Hex"))]
        u32,
    ),
    /// The VMID register is written (PFTv1.1).
    Vmid(u8),
    /// Secure state is left without a waypoint, by a write to SCR: traced with the next branch (4.12.2, PFT-ENC-039).
    /// Whether the state is Non-secure now.
    NonSecure(bool),
    /// WFI or WFE: no waypoint (4.9, PFT-ENC-049).
    Wait,
    /// The trigger occurs.
    Trigger,
    /// The timestamp event (4.14).
    TimestampEvent,
    /// A clock frequency changed (4.5.9, PFT-ENC-054).
    ClockChange,
    /// A periodic synchronisation is wanted, whatever the period is (4.11, PFT-ENC-043).
    SyncRequest,
    /// The trace port asks for all that is held (4.15.1, PFT-ENC-009).
    Flush,
    /// `true`: the FIFO is full, what follows is lost; `false`: it is empty again (4.8).
    Overflow(bool),
}

/// The state in which an instruction executes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct State {
    /// Where it is, without Thumb bit.
    pub address: Address32,
    /// Its instruction set; not A64.
    #[cfg_attr(feature = "serde", serde(default))]
    pub isa: InstructionSet,
    /// Non-secure state.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "core::ops::Not::not"))]
    pub non_secure: bool,
    /// Hyp mode.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "core::ops::Not::not"))]
    pub hyp: bool,
}

/// A waypoint instruction at the interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Waypoint {
    /// Where it is, without Thumb bit.
    pub address: Address32,
    /// Its instruction set.
    #[cfg_attr(feature = "serde", serde(default))]
    pub isa: InstructionSet,
    /// Its bytes, 2 or 4: the return address follows from them (PFT-WPT-028).
    pub size: u8,
    /// What it is.
    pub kind: WaypointKind,
    /// It is a branch with link (4.13, table 4.12).
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "core::ops::Not::not"))]
    pub link: bool,
    /// It is an exception return (4.5.10, table 4.11).
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "core::ops::Not::not"))]
    pub exception_return: bool,
    /// Its condition passed; of an ISB in PFTv1.1, it really executed (4.2).
    pub executed: bool,
    /// The state of the next instruction: the target, or the instruction after it.
    pub next: State,
    /// The instruction before it in memory, if there is one; a waypoint update of a long block names it (PFT-ENC-022).
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub previous: Option<Address32>,
}

/// What a waypoint instruction is (2.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum WaypointKind {
    /// A branch whose target follows from its opcode; also ENTERX and LEAVEX.
    #[default]
    Direct,
    /// A branch whose target does not.
    Indirect,
    /// ISB.
    Isb,
    /// DMB or DSB; a waypoint only with [`barrier_waypoints`](super::Parameters::barrier_waypoints).
    Barrier,
}

/// An exception at the interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Exception {
    /// Exception\[8:0\], 2 to 511; see [`exception_name`](super::exception_name).
    pub number: u16,
    /// The latest instruction that was executed since the latest waypoint; of SVC, SMC, HVC and undefined instructions,
    /// that instruction. `None` directly after a waypoint, and for reset (5.2, 5.3, PFT-ENC-010 to PFT-ENC-018).
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub last: Option<Address32>,
    /// The state of the first instruction of the handler.
    pub handler: State,
}
