//! When to resynchronise (ET 9.2).

use traceproof_vectors::riscv_etrace::{Policy, SyncMode};

/// The state machine of the resynchronisation timer. Spec: RVET-ENC-038, RVET-ENC-040 (ET 9.2, TCI).
#[derive(Clone, Copy, Debug)]
pub(super) struct Resync {
    pub(super) counts: SyncMode,
    pub(super) limit: u64,
    pub(super) count: u64,
    pub(super) state: State,
    /// A synchronisation packet may come directly after the item at hand.
    may_precede: bool,
}

/// States 1, 2 and 3 of ET 9.2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// The limit is not reached.
    Counting,
    /// The limit is reached; pending branches must be reported before a synchronisation packet can be sent.
    Due,
    /// The next instruction gets a format 3 subformat 0 packet.
    Now,
}

impl Resync {
    /// Largest exponent of a limit that fits the counter.
    pub(super) const LARGEST_SYNC_MAX: u8 = 59;

    pub(super) const fn new(policy: &Policy) -> Self {
        let exponent = if policy.sync_max > Self::LARGEST_SYNC_MAX { 63 } else { policy.sync_max as u32 + 4 };
        Self {
            counts: policy.sync_mode,
            limit: 1 << exponent,
            count: 0,
            state: State::Counting,
            may_precede: true,
        }
    }

    /// The state as the item at hand must see it.
    ///
    /// What is reported to clear the way must be the instruction directly before the synchronisation packet's, and
    /// a decoder must know the way between the two.
    pub(super) fn state(&self) -> State {
        if self.state == State::Due && !self.may_precede { State::Counting } else { self.state }
    }

    /// An item arrives, `ticks` cycles or half-words after the item before. `may_precede`: a synchronisation packet may
    /// come directly after it.
    pub(super) fn arrive(&mut self, ticks: u64, may_precede: bool) {
        self.may_precede = may_precede;
        self.count = self.count.saturating_add(ticks);
        if self.state == State::Counting && self.counts != SyncMode::Off && self.count >= self.limit {
            self.state = State::Due;
        }
    }

    /// A packet that is no synchronisation packet was made.
    pub(super) fn packet(&mut self) {
        if self.counts == SyncMode::Packets {
            self.count = self.count.saturating_add(1);
        }
    }

    /// A synchronisation packet was made. Spec: RVET-ENC-039 (ET 9).
    pub(super) const fn synchronised(&mut self) {
        self.count = 0;
        self.state = State::Counting;
    }

    /// An instruction is dealt with. `reported`: no branch is pending and the way from here to the next
    /// instruction is known to a decoder (RVET-ENC-080).
    pub(super) fn settle(&mut self, reported: bool) {
        if self.state() == State::Due && reported {
            self.state = State::Now;
        }
    }
}
