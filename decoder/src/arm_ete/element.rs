//! The elements that packets stand for (sheet 6.1).

use traceproof_vectors::Place;
use traceproof_vectors::arm;
use traceproof_vectors::arm_ete::{Atoms, Event, SubIsa};

/// An address and what it says of the instruction set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct CodePoint {
    pub(super) address: u64,
    pub(super) sub_isa: SubIsa,
}

/// Some atoms, 24 at most. Each is a P0 element.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct AtomRun {
    /// 1 = E; the oldest one is bit 0.
    pub(super) taken: u32,
    /// The same without Mispredicts.
    pub(super) initial: u32,
    pub(super) count: u32,
}

impl AtomRun {
    /// Takes the oldest ones off, so many at most.
    #[inline]
    pub(super) fn take(&mut self, most: u64) -> Self {
        let count = self.count.min(u32::try_from(most).unwrap_or(u32::MAX));
        let first = Self { count, ..*self };
        let rest = |bits: u32| bits.checked_shr(count).unwrap_or_default();
        *self = Self { taken: rest(self.taken), initial: rest(self.initial), count: self.count - count };
        first
    }

    /// The status of the youngest one changes.
    pub(super) const fn flip(&mut self) {
        self.taken ^= 1 << (self.count.saturating_sub(1) & 31);
    }
}

impl From<Atoms> for AtomRun {
    #[inline]
    fn from(atoms: Atoms) -> Self {
        Self { taken: atoms.bits(), initial: atoms.bits(), count: atoms.len() as u32 }
    }
}

/// An element, or several atoms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Element {
    Atoms(AtomRun),
    Exception {
        number: u16,
        returns_to: Option<CodePoint>,
        fault_pending: bool,
    },
    SourceAddress(u64),
    /// How many instructions.
    Q(Option<u32>),
    FunctionReturn,
    ExceptionReturn {
        is_p0: bool,
    },
    TransactionStart {
        is_p0: bool,
    },
    TransactionCommit,
    TransactionFailure,
    TraceOn,
    TargetAddress(CodePoint),
    /// A Target Address that is UNKNOWN.
    UnknownTarget,
    Context(arm::Context),
    Cycles(Option<u32>),
    /// Trace Info, and what is only reported: Timestamp, marker, Event, Instrumentation, data synchronization marker.
    Report(Event),
}

impl Element {
    /// How many P0 elements it is.
    ///
    /// Spec: ETE-RVVFW-001, ETE-WTRBB-001, ETE-CTLXL-001, ETE-V4-RET-001; reading `ete-function-return-is-p0`.
    pub(super) const fn p0_elements(&self) -> u32 {
        match self {
            Self::Atoms(run) => run.count,
            Self::Exception { .. }
            | Self::SourceAddress(_)
            | Self::Q(_)
            | Self::FunctionReturn
            | Self::ExceptionReturn { is_p0: true }
            | Self::TransactionStart { is_p0: true } => 1,
            _ => 0,
        }
    }

    /// How many elements it is.
    pub(super) const fn elements(&self) -> u32 {
        match self {
            Self::Atoms(run) => run.count,
            _ => 1,
        }
    }

    /// Whether it is a Target Address, known or not.
    pub(super) const fn is_target(&self) -> bool {
        matches!(self, Self::TargetAddress(_) | Self::UnknownTarget)
    }

    /// Whether it stays where a Cancel removes what is around it.
    ///
    /// Spec: ETE-DEC-CAN-001, ETE-DEC-CAN-002, ETE-DCRVK-001, ETE-CJRNL-001, ETE-YZPCB-001; reading
    /// `ete-cancelled-transaction-commit`.
    pub(super) const fn survives_cancel(&self) -> bool {
        matches!(
            self,
            Self::Report(
                Event::Event { .. }
                    | Event::Timestamp { .. }
                    | Event::TimestampMarker
                    | Event::Instrumentation { .. }
                    | Event::TraceInfo { .. }
            )
        )
    }

    /// Whether Discard and Overflow keep it.
    ///
    /// Spec: ETE-DEC-DIS-001, ETE-JNWJY-001; reading `ete-kept-on-discard`.
    pub(super) const fn survives_discard(&self) -> bool {
        self.survives_cancel() && !matches!(self, Self::Report(Event::TimestampMarker))
    }

    /// Whether the failure of a transaction keeps it.
    ///
    /// Spec: ETE-DEC-TRX-001; reading `ete-context-of-a-failed-transaction`.
    pub(super) const fn survives_failure(&self) -> bool {
        self.survives_cancel() || matches!(self, Self::Context(_) | Self::Cycles(_))
    }
}

/// An element and the packet that carried it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) place: Place,
    pub(super) element: Element,
}
