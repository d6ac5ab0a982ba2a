//! What is still to come out of the FIFO.

use alloc::collections::VecDeque;

/// Something whose bytes are in the FIFO, or just leaving it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Expectation {
    /// The packets of one cycle.
    Group {
        /// The cycle.
        cycle: u64,
    },
    /// A TFO packet.
    TraceFifoOffset {
        /// The TFO cycle.
        cycle: u64,
        /// FIFO position of its first byte, as soon as the TFO value is here.
        start: Option<u64>,
        /// The first one since synchronisation was lost: of the bytes in front of it nothing is known.
        joining: bool,
    },
}

impl Expectation {
    pub(super) const fn cycle(self) -> u64 {
        match self {
            Self::Group { cycle } | Self::TraceFifoOffset { cycle, .. } => cycle,
        }
    }

    const fn start(self) -> Option<u64> {
        match self {
            Self::Group { .. } => None,
            Self::TraceFifoOffset { start, .. } => start,
        }
    }
}

/// Expectations in the order in which they were created, at most [`LIMIT`](Self::LIMIT).
#[derive(Clone, Debug)]
pub(super) struct Pending {
    queue: VecDeque<Expectation>,
    /// The lowest start of a TFO packet that has not begun.
    next_start: Option<u64>,
}

impl Pending {
    /// No TFO value could count the bytes of more.
    pub(super) const LIMIT: usize = 127;

    pub(super) fn new() -> Self {
        Self { queue: VecDeque::with_capacity(Self::LIMIT), next_start: None }
    }

    pub(super) fn clear(&mut self) {
        self.queue.clear();
        self.next_start = None;
    }

    pub(super) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    pub(super) fn front(&self) -> Option<Expectation> {
        self.queue.front().copied()
    }

    pub(super) fn pop(&mut self) {
        self.queue.pop_front();
    }

    /// Adds one, unless there are too many already; tells whether it did.
    #[must_use]
    pub(super) fn push(&mut self, expectation: Expectation) -> bool {
        let fits = self.queue.len() < Self::LIMIT;
        if fits {
            self.queue.push_back(expectation);
        }
        fits
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

    /// Drops whatever is in front of the TFO packet that begins at this position; tells how much that was. Of
    /// several such TFO packets the latest counts.
    pub(super) fn advance_to(&mut self, position: u64) -> usize {
        let index = self.queue.iter().rposition(|expectation| expectation.start() == Some(position));
        let dropped = index.unwrap_or(0);
        self.queue.drain(..dropped);
        self.next_start = self.queue.iter().skip(1).filter_map(|expectation| expectation.start()).min();
        dropped
    }
}
