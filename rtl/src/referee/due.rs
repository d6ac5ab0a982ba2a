//! What an encoder owes, and why.

use serde::{Deserialize, Serialize};

/// Why a packet is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// Tracing is switched on.
    Enabled,
    /// The first traced instruction.
    First,
    /// The first instruction of a trap handler.
    Handler,
    /// The first instruction of the handler of a trap that was reported before.
    HandlerAfterReport,
    /// A trap before the handler of the one before it began.
    Chained,
    /// An exception at the target of an uninferable discontinuity, or as first item.
    ExceptionAtTarget,
    /// An interrupt there, where the device reports it by itself.
    InterruptAtTarget,
    /// The privilege changed.
    Privilege,
    /// The context changed precisely.
    Context,
    /// The target of an uninferable discontinuity.
    Updiscon,
    /// A trigger asks for it.
    Notify,
    /// A trap follows.
    BeforeTrap,
    /// A change of privilege follows, and outcomes are pending.
    BeforePrivilege,
    /// A change of context follows.
    BeforeContext,
    /// The final instruction.
    Final,
    /// 31 outcomes are pending.
    FullMap,
    /// A branch was not predicted, after 31 and more that were.
    FailedPrediction,
    /// Tracing ended.
    Ended,
    /// The context changed imprecisely.
    Imprecise,
    /// The resynchronisation timer.
    Resync,
}

impl Reason {
    /// Its name in bins and reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Enabled => "enabled",
            Self::First => "first",
            Self::Handler => "handler",
            Self::HandlerAfterReport => "handler_after_report",
            Self::Chained => "chained",
            Self::ExceptionAtTarget => "exception_at_target",
            Self::InterruptAtTarget => "interrupt_at_target",
            Self::Privilege => "privilege",
            Self::Context => "context",
            Self::Updiscon => "updiscon",
            Self::Notify => "notify",
            Self::BeforeTrap => "before_trap",
            Self::BeforePrivilege => "before_privilege",
            Self::BeforeContext => "before_context",
            Self::Final => "final",
            Self::FullMap => "full_map",
            Self::FailedPrediction => "failed_prediction",
            Self::Ended => "ended",
            Self::Imprecise => "imprecise",
            Self::Resync => "resync",
        }
    }

    /// The clause that asks for the packet.
    #[must_use]
    pub const fn clause(self) -> &'static str {
        match self {
            Self::Enabled => "RVET-ENC-008",
            Self::First => "RVET-ENC-001",
            Self::Handler => "RVET-ENC-021",
            Self::HandlerAfterReport => "RVET-ENC-003",
            Self::Chained => "RVET-ENC-024",
            Self::ExceptionAtTarget => "RVET-ENC-022",
            Self::InterruptAtTarget => "RVET-ENC-081",
            Self::Privilege => "RVET-ENC-004",
            Self::Context => "RVET-ENC-042",
            Self::Updiscon => "RVET-ENC-015",
            Self::Notify => "RVET-ENC-036",
            Self::BeforeTrap => "RVET-ENC-018",
            Self::BeforePrivilege => "RVET-ENC-019",
            Self::BeforeContext => "RVET-ENC-043",
            Self::Final => "RVET-ENC-006",
            Self::FullMap => "RVET-ENC-029",
            Self::FailedPrediction => "RVET-ENC-064",
            Self::Ended => "RVET-ENC-007",
            Self::Imprecise => "RVET-ENC-041",
            Self::Resync => "RVET-ENC-005",
        }
    }

    /// Whether the packet reports the end of tracing.
    #[must_use]
    pub const fn is_tail(self) -> bool {
        matches!(self, Self::Final | Self::Ended)
    }
}

/// A packet that was due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Due {
    /// The row of the item.
    pub row: u32,
    /// Why.
    pub reason: Reason,
    /// Outcomes that were pending.
    pub pending: u32,
}

/// A packet that differs from what is due.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// The row of the item.
    pub row: u32,
    /// Index of the packet; of a missing one, where it should be.
    pub packet: usize,
    /// Why a packet was due here; absent where none was.
    pub reason: Option<Reason>,
    /// The first field that differs; `packet` if there is one too many or too few.
    pub field: String,
    /// The clause that it breaks.
    pub clause: String,
    /// What is due.
    pub expected: String,
    /// What came.
    pub got: String,
    /// It is about the end of tracing, not about the body of the trace.
    pub tail: bool,
}

impl Finding {
    /// Whether nothing that comes after it can be its consequence: filling and length of a packet whose fields can be
    /// read, and fields that say nothing about the execution.
    #[must_use]
    pub fn is_harmless(&self) -> bool {
        let known = [
            ("RVET-PKT-002", "length"),
            ("RVET-PKT-003", "padding"),
            ("RVET-PKT-004", "length"),
            ("RVET-PKT-017", "tval"),
            ("RVET-PKT-023", "encoder_mode"),
            ("RVET-ENC-008", "ienable"),
        ];
        known.contains(&(&*self.clause, &*self.field))
    }
}
