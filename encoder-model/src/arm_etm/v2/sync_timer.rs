//! When synchronisation is due (ETMSYNCFR).

/// Counts cycles down from the period, repeatedly. Spec: ETM2-TFO-016, ETM2-SYN-001 (6.5.1, 6.5.6, 7.10.1).
#[derive(Clone, Copy, Debug)]
pub(super) struct SyncTimer {
    period: u32,
    left: u32,
    /// A periodic TFO waits for its opportunity.
    due: bool,
}

impl SyncTimer {
    /// `period` in cycles; 0 = never.
    pub(super) const fn new(period: u32) -> Self {
        Self { period, left: period, due: false }
    }

    /// One cycle passes. Whether the count reached 0.
    pub(super) const fn tick(&mut self) -> bool {
        if self.period == 0 {
            return false;
        }
        self.left -= 1;
        if self.left > 0 {
            return false;
        }
        self.left = self.period;
        true
    }

    /// A TFO is due from now on. Whether one was already: it found no opportunity for a whole period.
    pub(super) const fn request(&mut self) -> bool {
        core::mem::replace(&mut self.due, true)
    }

    pub(super) const fn is_due(&self) -> bool {
        self.due
    }

    /// A TFO went out, for whatever reason: the period starts again. Spec: ETM2-TFO-025 (3.5.39).
    pub(super) const fn restart(&mut self) {
        *self = Self::new(self.period);
    }
}
