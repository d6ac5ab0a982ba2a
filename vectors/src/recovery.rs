//! Loss after a fault: one consequence for each protocol and class of faults.

use core::fmt;

/// What a decoder does after a fault. [`Protocol::recovery`](crate::Protocol::recovery) states it for each class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Recovery {
    /// Nothing that needs synchronisation is reported before the next synchronisation point.
    SynchronisationLost,
    /// The next instruction, or its data, are not known before another address in the trace. Packets, outcomes, context
    /// and timestamps go on.
    FlowLost,
    /// The content at fault is dropped or used, according to the table of the protocol; everything after it is
    /// reported.
    GoesOn,
}

impl Recovery {
    /// Every consequence, the worst first.
    pub const ALL: [Self; 3] = [Self::SynchronisationLost, Self::FlowLost, Self::GoesOn];

    /// The name in documents and reports, e.g. `flow lost`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::SynchronisationLost => "synchronisation lost",
            Self::FlowLost => "flow lost",
            Self::GoesOn => "goes on",
        }
    }
}

impl fmt::Display for Recovery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
