//! When synchronisation is due (ETMSYNCFR).

use traceproof_vectors::arm_etm::Parameters;

/// Counts from the first byte of the latest A-sync on: up to ETMv3.0 cycles, later bytes of generated trace. D-sync and
/// T-sync wait in their own places.
///
/// Spec: ETM2-SYN-001, ETM3-SYN-008 to 010, 015 (7.10.1).
#[derive(Clone, Copy, Debug)]
pub(super) struct Schedule {
    /// 0 = never.
    period: u32,
    counts_bytes: bool,
    passed: u32,
    /// The end of this period was reported.
    reported: bool,
    /// Synchronisation was due at an instruction before which it was not possible.
    denied: bool,
}

/// What the end of a period brings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Expiry {
    /// The period has not ended, or ended before.
    None,
    /// Synchronise.
    Request,
    /// A whole period late, for want of an opportunity. Spec: ETM3-SYN-017 (7.10.1).
    Starved,
}

impl Schedule {
    pub(super) const fn new(parameters: &Parameters, period: u32) -> Self {
        Self { period, counts_bytes: parameters.minor >= 1, passed: 0, reported: false, denied: false }
    }

    /// A cycle begins.
    pub(super) const fn tick(&mut self) -> Expiry {
        if !self.counts_bytes {
            self.passed = self.passed.saturating_add(1);
        }
        if self.denied && self.passed >= self.period.saturating_mul(2) {
            self.denied = false;
            return Expiry::Starved;
        }
        if !self.is_due() || self.reported {
            return Expiry::None;
        }
        self.reported = true;
        Expiry::Request
    }

    /// Whether A-sync and I-sync precede the next traced instruction.
    pub(super) const fn is_due(&self) -> bool {
        self.period > 0 && self.passed >= self.period
    }

    /// They were due and could not come.
    pub(super) const fn deny(&mut self) {
        self.denied = true;
    }

    /// An A-sync begins, and with it the next period.
    pub(super) const fn restart(&mut self) {
        (self.passed, self.reported, self.denied) = (0, false, false);
    }

    /// So many bytes entered the FIFO since the latest A-sync began, or since the latest call.
    pub(super) fn generated(&mut self, bytes: usize) {
        if self.counts_bytes {
            self.passed = self.passed.saturating_add(u32::try_from(bytes).unwrap_or(u32::MAX));
        }
    }
}
