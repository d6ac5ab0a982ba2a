//! When a timestamp goes out, and in how many bytes.

use traceproof_vectors::arm::TimestampEncoding;
use traceproof_vectors::arm_etm::v3::VariableField;
use traceproof_vectors::arm_etm::{Packet, Parameters};

use crate::arm::TimestampWriter;

/// Timestamps between two cycles (7.7).
#[derive(Clone, Copy, Debug)]
pub(super) struct Timestamps {
    enabled: bool,
    values: TimestampWriter,
    /// A clock frequency changed since.
    clock_changed: bool,
    wanted: bool,
    /// The next one has all bytes: T-sync.
    full: bool,
}

impl Timestamps {
    pub(super) fn new(parameters: &Parameters) -> Self {
        let encoding =
            if parameters.timestamp_gray { TimestampEncoding::Gray } else { TimestampEncoding::Binary };
        Self {
            enabled: parameters.timestamps,
            values: TimestampWriter::new(parameters.timestamp_bits.into(), encoding),
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
        let sent = self.values.take(counter, self.full);
        let clock_change = self.clock_changed;
        *self = Self { clock_changed: false, wanted: false, full: false, ..*self };
        Some(Packet::Timestamp {
            clock_change,
            value: VariableField { bits: sent.bits, bytes: sent.bytes as u8 },
        })
    }
}
