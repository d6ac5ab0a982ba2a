//! Statuses whose addresses or data are still to come out of the FIFO.

use alloc::collections::VecDeque;

/// Capacity for statuses that is reserved in advance.
const PREALLOCATED: usize = 1025;

/// What a status says about its instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// IE, IN.
    Plain {
        /// Its condition passed.
        executed: bool,
    },
    /// ID.
    Data,
    /// BE.
    Branch(Target),
    /// BD.
    DataBranch(Target),
}

impl Kind {
    /// Which branch the address of the status is for.
    pub(super) const fn target(self) -> Option<Target> {
        match self {
            Self::Branch(target) | Self::DataBranch(target) => Some(target),
            Self::Plain { .. } | Self::Data => None,
        }
    }
}

/// What the APO records state about the address of BE or BD.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// It is the next instruction.
    Next,
    /// Another BE or BD followed at once (ETM1-APO-005).
    Abandoned,
    /// The APO was too large to express (ETM1-APO-004).
    Unlocated,
}

/// A status with an instruction, or a restart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Status {
    /// Index of its record.
    pub(super) cycle: u64,
    pub(super) kind: Kind,
}

/// Statuses in program order, at most as many as may wait and one that is too many. The first one needs bytes of the
/// FIFO.
#[derive(Clone, Debug)]
pub(super) struct Waiting {
    queue: VecDeque<Status>,
    /// How many of them have an address.
    addresses: usize,
    /// How many may wait.
    limit: usize,
}

impl Waiting {
    pub(super) fn new(limit: usize) -> Self {
        // A large limit is no reason to take the memory before it is needed.
        let capacity = limit.saturating_add(1).min(PREALLOCATED);
        Self { queue: VecDeque::with_capacity(capacity), addresses: 0, limit }
    }

    pub(super) fn clear(&mut self) {
        self.queue.clear();
        self.addresses = 0;
    }

    pub(super) fn len(&self) -> usize {
        self.queue.len()
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    #[inline]
    pub(super) fn first(&self) -> Option<Status> {
        self.queue.front().copied()
    }

    /// How many addresses are not complete.
    pub(super) const fn addresses(&self) -> usize {
        self.addresses
    }

    pub(super) fn pop(&mut self) -> Option<Status> {
        let status = self.queue.pop_front()?;
        self.addresses -= usize::from(status.kind.target().is_some());
        Some(status)
    }

    /// Adds one; false if that is one too many, and then nothing may be added before they are reported.
    #[must_use]
    pub(super) fn push(&mut self, status: Status) -> bool {
        self.addresses += usize::from(status.kind.target().is_some());
        self.queue.push_back(status);
        self.queue.len() <= self.limit
    }
}
