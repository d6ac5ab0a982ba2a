//! What is still in the FIFO.

use alloc::collections::VecDeque;

/// Something whose bytes are in the FIFO, or just leaving it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Expectation {
    /// The packets of one cycle.
    Group {
        /// The cycle.
        cycle: u64,
        /// The cycle of the latest instruction up to then.
        instruction: Option<u64>,
    },
    /// A TFO packet.
    TraceFifoOffset {
        /// The TFO cycle.
        cycle: u64,
        /// FIFO position of its first byte, as soon as the TFO value is known.
        start: Option<u64>,
        /// The first one since synchronisation was lost: of the bytes before it nothing is known.
        joining: bool,
    },
}

impl Expectation {
    pub(super) const fn cycle(self) -> u64 {
        match self {
            Self::Group { cycle, .. } | Self::TraceFifoOffset { cycle, .. } => cycle,
        }
    }

    /// The cycle of the latest instruction before what is to come, if that is packets of a cycle.
    pub(super) const fn instruction(self) -> Option<u64> {
        match self {
            Self::Group { instruction, .. } => instruction,
            Self::TraceFifoOffset { .. } => None,
        }
    }

    const fn start(self) -> Option<u64> {
        match self {
            Self::Group { .. } => None,
            Self::TraceFifoOffset { start, .. } => start,
        }
    }
}

/// Expectations in the order in which they were created, at most [`LIMIT`](Self::LIMIT) of each kind.
#[derive(Clone, Debug)]
pub(super) struct Pending {
    queue: VecDeque<Expectation>,
    /// How many of them are groups.
    groups: usize,
    /// The lowest start of a TFO packet that has not begun.
    next_start: Option<u64>,
}

impl Pending {
    /// How many cycles have packets here.
    pub(super) const fn groups(&self) -> usize {
        self.groups
    }

    /// No TFO value could count the bytes of more.
    pub(super) const LIMIT: usize = 127;

    pub(super) fn new() -> Self {
        Self { queue: VecDeque::with_capacity(2 * Self::LIMIT), groups: 0, next_start: None }
    }

    pub(super) fn clear(&mut self) {
        self.queue.clear();
        self.groups = 0;
        self.next_start = None;
    }

    pub(super) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    pub(super) fn front(&self) -> Option<Expectation> {
        self.queue.front().copied()
    }

    pub(super) fn pop(&mut self) {
        if let Some(Expectation::Group { .. }) = self.queue.pop_front() {
            self.groups -= 1;
        }
    }

    /// Adds one, unless there are too many of its kind already; returns whether it did.
    #[must_use]
    pub(super) fn push(&mut self, expectation: Expectation) -> bool {
        let is_group = matches!(expectation, Expectation::Group { .. });
        let of_its_kind = if is_group { self.groups } else { self.queue.len() - self.groups };
        if of_its_kind >= Self::LIMIT {
            return false;
        }
        self.groups += usize::from(is_group);
        self.queue.push_back(expectation);
        true
    }

    /// The TFO packet whose start is not known yet starts at this position.
    pub(super) fn announce(&mut self, position: u64) {
        for expectation in self.queue.iter_mut().rev() {
            if let Expectation::TraceFifoOffset { start: start @ None, .. } = expectation {
                *start = Some(position);
                self.next_start = Some(self.next_start.map_or(position, |next| next.min(position)));
                return;
            }
        }
    }

    /// Whether a TFO packet should begin at this position.
    pub(super) fn starts_at(&self, position: u64) -> bool {
        self.next_start == Some(position)
    }

    /// Drops whatever is before the TFO packet that begins at this position; returns how much that was. Of several such
    /// TFO packets the latest counts.
    pub(super) fn advance_to(&mut self, position: u64) -> usize {
        let index = self.queue.iter().rposition(|expectation| expectation.start() == Some(position));
        let dropped = index.unwrap_or(0);
        for _ in 0..dropped {
            self.pop();
        }
        self.next_start = self.queue.iter().skip(1).filter_map(|expectation| expectation.start()).min();
        dropped
    }
}
