//! What travels, record by record: accesses, inputs of the unit, and what is seen of it.

use super::{Input, ProgrammingState, Register, Sink};

/// One record of a log (see [`wire`](super::wire)), in the order in which things happened.
///
/// What software and the surroundings of the unit do comes from outside ([`Input`], writes). What the unit answers are
/// values and outcomes of accesses, the outcome of polls, `Output`, `State` and `Signal`. Which of them a log can show
/// at all is [`Shown`](super::Shown).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case", deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Packet {
    /// A register is read or written.
    Access(Access),
    /// TRCSTATR is read until a bit has a value, or until the reader gives up.
    Poll(Poll),
    /// Something comes from outside of the unit.
    Input(Input),
    /// Bytes of trace leave the unit to a sink.
    Output {
        /// Where they arrive.
        sink: Sink,
        /// How many, at least 1.
        bytes: u64,
    },
    /// The state that an RTL simulation shows: the unit is in it from this record on.
    State(ProgrammingState),
    /// A signal that an RTL simulation shows: it has this value from this record on.
    Signal(Signal),
}

/// A register is read or written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Access {
    /// By what.
    pub agent: Agent,
    /// Of an external or memory-mapped access: its physical address space, which decides whether it is allowed.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub space: Option<Space>,
    /// Read or write.
    pub operation: Operation,
    /// Which register.
    pub register: Register,
    /// Whether the access has 64 bits, not 32. Of a System instruction it means nothing and is `false`.
    #[cfg_attr(feature = "serde", serde(default))]
    pub double: bool,
    /// What is written, or what the read returns; `None` where the log does not say it or the value is UNKNOWN.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    #[cfg_attr(feature = "serde", serde(with = "crate::notation::hex_option"))]
    #[cfg_attr(feature = "schema", schemars(with = "Option<crate::notation::Hex>"))]
    pub value: Option<u64>,
    /// How it ended.
    #[cfg_attr(feature = "serde", serde(default))]
    pub outcome: Outcome,
}

impl Access {
    /// How many bits its value may have: 64 of an access of 64 bits, and of a direct one to a register of 64 bits or of
    /// the processor, otherwise 32.
    #[must_use]
    pub fn value_bits(&self) -> u32 {
        let direct = self.agent.is_direct() && (self.register.is_wide() || self.register.is_of_processor());
        if self.double || direct { 64 } else { 32 }
    }
}

/// What accesses a register. The number is the one that travels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[repr(u8)]
pub enum Agent {
    /// A System instruction, MRS or MSR: a direct access.
    System = 0,
    /// The external debug interface, by a debug port or by its map on chip.
    External = 1,
    /// The memory-mapped interface of ETMv4. ETE has none: there it is taken as [`External`](Self::External).
    Memory = 2,
}

impl Agent {
    /// Every agent, in the order of their codes.
    pub const ALL: [Self; 3] = [Self::System, Self::External, Self::Memory];

    /// Whether the rules of direct accesses hold: it needs synchronisation, no error response.
    #[must_use]
    pub const fn is_direct(self) -> bool {
        matches!(self, Self::System)
    }
}

/// A physical address space, or the security state of the processor. The number is the one that travels, plus 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[allow(missing_docs, reason = "their names say it")]
#[repr(u8)]
pub enum Space {
    NonSecure = 0,
    Secure = 1,
    Root = 2,
    Realm = 3,
}

impl Space {
    /// Every space, in the order of their codes.
    pub const ALL: [Self; 4] = [Self::NonSecure, Self::Secure, Self::Root, Self::Realm];
}

/// Read or write. The number is the one that travels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[repr(u8)]
pub enum Operation {
    /// The register is read.
    Read = 0,
    /// The register is written.
    Write = 1,
}

impl Operation {
    /// Both, in the order of their codes.
    pub const ALL: [Self; 2] = [Self::Read, Self::Write];
}

/// How an access ended. The number is the one that travels.
///
/// An access *reaches the unit* if its outcome is `Ok` or `Unknown`: the log's author is taken to know of errors,
/// exceptions and traps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[repr(u8)]
pub enum Outcome {
    /// It completed.
    #[default]
    Ok = 0,
    /// The external interface gave an error response.
    Error = 1,
    /// The System instruction was UNDEFINED.
    Undefined = 2,
    /// The System instruction was trapped, or the processor entered Debug state instead.
    Trapped = 3,
    /// The log does not say it. The access counts as completed, and proves nothing about errors.
    Unknown = 4,
}

impl Outcome {
    /// Every outcome, in the order of their codes.
    pub const ALL: [Self; 5] = [Self::Ok, Self::Error, Self::Undefined, Self::Trapped, Self::Unknown];

    /// Whether the access reached the unit.
    #[must_use]
    pub const fn reaches(self) -> bool {
        matches!(self, Self::Ok | Self::Unknown)
    }
}

/// Reads of TRCSTATR until a bit has a value. Of a System instruction there is a context synchronisation event between
/// the reads, none before the first one (nor after the last).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Poll {
    /// By what.
    pub agent: Agent,
    /// Which bit.
    pub bit: StatusBit,
    /// Which value it waits for.
    pub value: bool,
    /// The reader gave up: no read showed the value. Otherwise the last read showed it, and no other.
    #[cfg_attr(feature = "serde", serde(default))]
    pub timed_out: bool,
}

/// A bit of TRCSTATR. The number is its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[repr(u8)]
pub enum StatusBit {
    /// IDLE.
    Idle = 0,
    /// PMSTABLE.
    Pmstable = 1,
}

impl StatusBit {
    /// Both, in the order of their places.
    pub const ALL: [Self; 2] = [Self::Idle, Self::Pmstable];
}

/// A signal inside the unit that an RTL simulation shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Signal {
    /// The unit is enabled.
    Enabled(bool),
    /// Trace generation is operative.
    Operative(bool),
    /// ViewInst is active.
    ViewInst(bool),
    /// A trace unit buffer overflow begins (`true`); its Overflow element leaves the buffers (`false`).
    Overflow(bool),
    /// The processor is stalled by the unit.
    Stall(bool),
    /// A flush is acknowledged.
    FlushAcknowledge,
    /// What the resources do.
    Resources(Resources),
}

/// What the resources do. The number is the one that travels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[allow(missing_docs, reason = "their names are the specification's")]
#[repr(u8)]
pub enum Resources {
    Running = 0,
    Pausing = 1,
    Paused = 2,
}

impl Resources {
    /// Every one, in the order of their codes.
    pub const ALL: [Self; 3] = [Self::Running, Self::Pausing, Self::Paused];
}
