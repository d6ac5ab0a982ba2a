//! What the timestamp packets of a PTM say (4.5.9, 4.14).

use traceproof_vectors::arm::TimestampEncoding;
use traceproof_vectors::arm_pft::{Parameters, Policy, VariableField};

use crate::arm::TimestampWriter;

/// The timestamps of one trace.
#[derive(Clone, Copy, Debug)]
pub(super) struct Timestamps {
    writer: TimestampWriter,
    minimal: bool,
    /// No timestamp was sent yet: the first one is full.
    first: bool,
    clock_change: bool,
}

impl Timestamps {
    pub(super) const fn new(parameters: &Parameters, policy: &Policy) -> Self {
        let encoding =
            if parameters.timestamp_binary { TimestampEncoding::Binary } else { TimestampEncoding::Gray };
        Self {
            writer: TimestampWriter::new(parameters.timestamp_bits as u32, encoding),
            minimal: policy.minimal_timestamps,
            first: true,
            clock_change: false,
        }
    }

    /// The next one is full. Spec: PFT-ENC-052 (4.14).
    pub(super) const fn restart(&mut self) {
        self.first = true;
    }

    pub(super) const fn note_clock_change(&mut self) {
        self.clock_change = true;
    }

    /// R and the value of the next timestamp. Spec: PFT-ENC-052 to 054 (4.5.9, 4.14).
    pub(super) const fn take(&mut self, counter: u64, full: bool) -> (bool, VariableField) {
        let sent = self.writer.take(counter, full || self.first || !self.minimal);
        let clock_change = self.clock_change;
        self.first = false;
        self.clock_change = false;
        (clock_change, VariableField { bits: sent.bits, bytes: sent.bytes as u8 })
    }
}
