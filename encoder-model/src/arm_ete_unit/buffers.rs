//! Bytes that the unit holds, overflow and its recovery, and what a stalled processor keeps back.

/// Bytes of an Overflow element.
const OVERFLOW_ELEMENT: u64 = 2;

/// The buffers, first in first out.
#[derive(Debug)]
pub(super) struct Buffers {
    capacity: u64,
    /// Bytes that they hold.
    pub(super) held: u64,
    overflow: Overflow,
    /// Bytes of code that a stall keeps the processor from executing.
    pub(super) waiting: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Overflow {
    None,
    /// It has happened; its element has no room yet.
    Pending,
    /// Its element is the last of the bytes that are held.
    Held,
}

impl Buffers {
    pub(super) const fn new(capacity: u32) -> Self {
        Self { capacity: capacity as u64, held: 0, overflow: Overflow::None, waiting: 0 }
    }

    /// An overflow has happened, and its element has not left yet. Spec: ETE-PQGXB-001.
    pub(super) fn is_recovering(&self) -> bool {
        self.overflow != Overflow::None
    }

    /// Nothing is left to output. Spec: ETE-TNYDD-001, ETE-RPSPH-001.
    pub(super) fn is_drained(&self) -> bool {
        self.held == 0 && !self.is_recovering()
    }

    /// Bytes that are held, and the Overflow element that follows them.
    pub(super) fn to_leave(&self) -> u64 {
        self.held + if self.overflow == Overflow::Pending { OVERFLOW_ELEMENT } else { 0 }
    }

    const fn room(&self) -> u64 {
        self.capacity.saturating_sub(self.held)
    }

    /// So many bytes enter as far as there is room; how many have found none.
    pub(super) fn enter(&mut self, bytes: u64) -> u64 {
        let entering = bytes.min(self.room());
        self.held += entering;
        bytes - entering
    }

    /// Spec: ETE-LDDLP-001.
    pub(super) fn overflow(&mut self) {
        if !self.is_recovering() {
            self.overflow = Overflow::Pending;
        }
        self.admit();
    }

    /// The Overflow element enters if there is room. It always has room in empty buffers, however small they are.
    ///
    /// Spec: ETE-HRYKY-001.
    fn admit(&mut self) {
        let has_room = self.held == 0 || self.room() >= OVERFLOW_ELEMENT;
        if self.overflow == Overflow::Pending && has_room {
            self.held += OVERFLOW_ELEMENT;
            self.overflow = Overflow::Held;
        }
    }

    /// At most so many bytes leave; how many did. The Overflow element may enter meanwhile and leave too.
    pub(super) fn leave(&mut self, most: u64) -> u64 {
        let mut left = 0;
        // The second turn is for an Overflow element that entered after the first.
        for _ in 0..2 {
            let leaving = self.held.min(most - left);
            self.held -= leaving;
            left += leaving;
            if self.held == 0 && self.overflow == Overflow::Held {
                self.overflow = Overflow::None;
            }
            self.admit();
        }
        left
    }

    /// The processor executes what a stall kept back, as far as there is room. Spec: ETE-NVKXX-001.
    pub(super) fn resume(&mut self) {
        if !self.is_recovering() {
            self.waiting = self.enter(self.waiting);
        }
    }

    /// Everything is lost: a reset.
    pub(super) fn clear(&mut self) {
        (self.held, self.waiting, self.overflow) = (0, 0, Overflow::None);
    }
}
