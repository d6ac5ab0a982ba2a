//! What comes from outside of the trace unit besides register accesses.

use super::{Agent, Space};

/// Something that comes from outside of the unit. The same in logs and in the stimulus of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case", deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Input {
    /// The processor executes a barrier, enters an exception or returns from one.
    Barrier(Barrier),
    /// The OS Lock is locked or unlocked: a write of OSLAR_EL1 by MSR (`System`), which takes effect as a direct write
    /// does, or by the debug component of the processor (`External`, `Memory`), which takes effect at once.
    OsLock {
        /// By what.
        agent: Agent,
        /// Locked from now on.
        locked: bool,
    },
    /// A write of TRFCR_ELx makes the code that runs a prohibited region, or ends that. In effect from the next context
    /// synchronisation event on.
    TraceFilter {
        /// Tracing is prohibited.
        prohibited: bool,
    },
    /// A direct write of TRBLIMITR_EL1.E (of XE where self-hosted trace is disabled). In effect from the next context
    /// synchronisation event on, and possibly before.
    TraceBuffer {
        /// The new value.
        enabled: bool,
    },
    /// Something happens in the processor.
    Processor(ProcessorEvent),
    /// A reset.
    Reset(Reset),
    /// The Core power domain changes.
    Power(Power),
    /// A sink changes.
    Sink {
        /// Which.
        sink: Sink,
        /// What it does with bytes from now on. Every sink accepts at first.
        state: SinkState,
    },
    /// The IMPLEMENTATION DEFINED mechanism disables (`false`) or enables all interfaces. Enabled at first.
    Interfaces {
        /// From now on.
        enabled: bool,
    },
    /// A write of MDCR_EL3.{ETADE, ETAD}: ETADE is bit 1, ETAD bit 0. In effect at once; 0 at first.
    ExternalAccess {
        /// The two bits, 0 to 3.
        etad: u8,
    },
    /// ETEEvent n occurs in the unit.
    Event(u8),
    /// The infrastructure requests a flush.
    FlushRequest,
    /// So much time passes between the records around it, in the unit of [`Parameters::bound`](super::Parameters).
    Wait(u64),
    /// From here on the log shows something or does not: it replaces a value of [`Shown`](super::Shown).
    Visibility {
        /// What.
        what: Visible,
        /// Whether it is shown.
        shown: bool,
    },
    /// Records are missing here: everything that was known is not.
    Gap,
    /// The end of a log. What follows is another log about the same unit, of which nothing is known.
    End,
}

/// A barrier, or what orders as one. The number is the one that travels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[repr(u8)]
pub enum Barrier {
    /// ISB: a context synchronisation event.
    Isb = 0,
    /// DSB.
    Dsb = 1,
    /// TSB CSYNC; it has completed.
    Tsb = 2,
    /// An exception return: a context synchronisation event.
    ExceptionReturn = 3,
    /// An exception entry: a context synchronisation event.
    ExceptionEntry = 4,
}

impl Barrier {
    /// Every barrier, in the order of their codes.
    pub const ALL: [Self; 5] = [Self::Isb, Self::Dsb, Self::Tsb, Self::ExceptionReturn, Self::ExceptionEntry];

    /// Whether it is a context synchronisation event (CSE).
    #[must_use]
    pub const fn is_context_synchronisation(self) -> bool {
        matches!(self, Self::Isb | Self::ExceptionReturn | Self::ExceptionEntry)
    }
}

/// Something happens in the processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case", deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum ProcessorEvent {
    /// It enters Debug state: a context synchronisation event.
    DebugEntry,
    /// It leaves Debug state: a context synchronisation event.
    DebugExit,
    /// It changes to an exception level and a security state. No barrier: the exception or return that caused it is a
    /// record of its own.
    Level {
        /// 0 to 3.
        level: u8,
        /// The security state.
        space: Space,
    },
    /// It enters a prohibited region for another reason than a write of TRFCR_ELx.
    ProhibitedEntry,
    /// It leaves that region.
    ProhibitedExit,
    /// The unit enters the low-power state.
    LowPowerEntry,
    /// The unit leaves the low-power state.
    LowPowerExit,
}

/// A reset. The number is the one that travels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[repr(u8)]
pub enum Reset {
    /// A trace unit reset. The OS Lock stays as it is.
    TraceUnit = 0,
    /// A Cold reset of the processor: Core power-up, a trace unit reset, and the OS Lock is locked.
    Cold = 1,
    /// A Warm reset of the processor: no trace unit reset.
    Warm = 2,
}

impl Reset {
    /// Every reset, in the order of their codes.
    pub const ALL: [Self; 3] = [Self::TraceUnit, Self::Cold, Self::Warm];
}

/// The Core power domain. The number is the one that travels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[repr(u8)]
pub enum Power {
    /// Off: registers are lost.
    Off = 0,
    /// On. After `Off` it is a trace unit reset, after `Retention` it is none.
    On = 1,
    /// Retention: registers are kept and cannot be accessed.
    Retention = 2,
}

impl Power {
    /// Every one, in the order of their codes.
    pub const ALL: [Self; 3] = [Self::Off, Self::On, Self::Retention];
}

/// Where trace goes. The number that travels is 0 for the trace buffer unit, n + 1 for interface n.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Sink {
    /// The trace buffer unit (TRBU).
    TraceBuffer,
    /// IMPLEMENTATION DEFINED interface n, such as an ATB; 0 to 14.
    Interface(u8),
}

impl Sink {
    /// The most interfaces.
    pub const INTERFACES: u8 = 15;
}

/// What a sink does with bytes. The number is the one that travels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[repr(u8)]
pub enum SinkState {
    /// It takes none: the unit keeps them.
    Blocked = 0,
    /// It takes them.
    #[default]
    Accepting = 1,
    /// It takes and discards them: TRBSR_EL1.S is 1. Of the trace buffer unit only.
    Stopped = 2,
}

impl SinkState {
    /// Every one, in the order of their codes.
    pub const ALL: [Self; 3] = [Self::Blocked, Self::Accepting, Self::Stopped];
}

/// What a log may show or hide. The number is the one that travels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[repr(u8)]
pub enum Visible {
    /// Barriers, exceptions and returns.
    Barriers = 0,
    /// Accesses by System instructions, the OS Lock, TRFCR_ELx and TRBLIMITR_EL1.
    System = 1,
    /// Accesses by the external debug interface and by memory.
    External = 2,
    /// Every change of the state.
    States = 3,
    /// Every occurrence of an ETEEvent.
    Events = 4,
}

impl Visible {
    /// Every one, in the order of their codes.
    pub const ALL: [Self; 5] = [Self::Barriers, Self::System, Self::External, Self::States, Self::Events];
}
