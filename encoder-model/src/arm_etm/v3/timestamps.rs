//! When a timestamp goes out, and in how many bytes.

use traceproof_vectors::arm_etm::v3::VariableField;
use traceproof_vectors::arm_etm::{Packet, Parameters};

/// Timestamps between two cycles (7.7).
#[derive(Clone, Copy, Debug)]
pub(super) struct Timestamps {
    enabled: bool,
    bits: u8,
    gray: bool,
    /// What travelled last.
    latest: u64,
    /// A clock frequency changed since.
    clock_changed: bool,
    wanted: bool,
    /// The next one has all bytes: T-sync.
    full: bool,
}

impl Timestamps {
    pub(super) const fn new(parameters: &Parameters) -> Self {
        Self {
            enabled: parameters.timestamps,
            bits: parameters.timestamp_bits,
            gray: parameters.timestamp_gray,
            latest: 0,
            clock_changed: false,
            wanted: false,
            full: true,
        }
    }

    pub(super) const fn note_clock_change(&mut self) {
        self.clock_changed = true;
    }

    pub(super) const fn want(&mut self) {
        self.wanted = true;
    }

    /// Spec: ETM3-TS-004 (7.7).
    pub(super) const fn want_full(&mut self) {
        (self.wanted, self.full) = (true, true);
    }

    pub(super) const fn is_full(&self) -> bool {
        self.full
    }

    /// The timestamp of this cycle, if one is wanted.
    ///
    /// Spec: ETM3-TS-002, 003, 005, 006 (7.7).
    pub(super) fn take(&mut self, counter: u64) -> Option<Packet> {
        if !(self.enabled && self.wanted) {
            return None;
        }
        let binary = counter & u64::MAX >> (64 - self.bits);
        let bits = if self.gray { binary ^ binary >> 1 } else { binary };
        let width = u64::BITS - (bits ^ self.latest).leading_zeros();
        // The last byte of a whole timestamp has 6 or 8 bits.
        let longest = if self.bits == 48 { 7 } else { 9 };
        let needed = width.div_ceil(7).clamp(1, longest);
        let bytes = if self.full { longest } else { needed };
        let travelling = if bytes == longest { bits } else { bits & ((1 << (7 * bytes)) - 1) };
        let clock_change = self.clock_changed;
        *self = Self { latest: bits, clock_changed: false, wanted: false, full: false, ..*self };
        Some(Packet::Timestamp {
            clock_change,
            value: VariableField { bits: travelling, bytes: bytes as u8 },
        })
    }
}
