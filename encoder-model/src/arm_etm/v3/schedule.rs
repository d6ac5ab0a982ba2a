//! When synchronisation is due (ETMSYNCFR).

/// Which parts of a synchronisation are still to come. D-sync and T-sync wait in their own places.
///
/// Spec: ETM3-SYN-008 to 010 (7.10).
#[derive(Clone, Copy, Debug)]
pub(super) struct Schedule {
    period: u32,
    left: u32,
    /// An A-sync is due.
    pub(super) alignment: bool,
    /// A periodic I-sync is due.
    pub(super) instruction: bool,
    /// A part found no room in the FIFO.
    pub(super) denied: bool,
}

/// What the end of a period brings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Expiry {
    /// The period has not ended.
    None,
    /// Synchronise.
    Request,
    /// The synchronisation of the period before found no room in all its time.
    Starved,
}

impl Schedule {
    /// `period` in cycles; 0 = never. Programming ends here: an A-sync is due.
    pub(super) const fn new(period: u32) -> Self {
        Self { period, left: period, alignment: true, instruction: false, denied: false }
    }

    /// One cycle passes.
    pub(super) const fn tick(&mut self) -> Expiry {
        if self.period == 0 {
            return Expiry::None;
        }
        self.left -= 1;
        if self.left > 0 {
            return Expiry::None;
        }
        let starved = self.denied && (self.alignment || self.instruction);
        *self = Self { left: self.period, alignment: true, instruction: true, denied: false, ..*self };
        if starved { Expiry::Starved } else { Expiry::Request }
    }
}
