//! When a timestamp is sent, and with which value (sheet 5.3, 7.9).

use traceproof_vectors::arm_ete::{Packet, Parameters, Policy, VariableField};

use super::field::{longest, padded};
use crate::arm::ByteField;

/// Timestamps of a trace unit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Timestamps {
    enabled: bool,
    /// Bits that a timestamp has.
    mask: u64,
    minimal: bool,
    /// The base of the next value. Spec: ETE-GPGQQ-001.
    latest: u64,
    /// No timestamp was sent since Trace Info.
    first: bool,
    requested: bool,
    /// Time of the latest P0, Event or Instrumentation element since Trace Info, and cycles from the latest count to
    /// it.
    element: Option<(u64, Option<u32>)>,
}

impl Timestamps {
    pub(super) fn new(parameters: &Parameters, policy: &Policy) -> Self {
        let mask = match parameters.timestamp_bits {
            64 => u64::MAX,
            bits => (1 << bits) - 1,
        };
        Self {
            enabled: parameters.timestamps && parameters.timestamp_bits > 0,
            mask,
            minimal: policy.minimal_timestamps,
            latest: 0,
            first: true,
            requested: false,
            element: None,
        }
    }

    /// Trace Info asks for a timestamp, which waits for an element. Spec: ETE-YYWTR-001, ETE-CWHHW-001, ETE-ENC-TS-001.
    pub(super) const fn restart(&mut self) {
        self.latest = 0;
        self.first = true;
        self.element = None;
        self.requested = true;
    }

    /// One that is requested before absorbs it. Spec: ETE-YYWTR-001, ETE-SZNMB-001.
    pub(super) const fn request(&mut self) {
        self.requested = true;
    }

    pub(super) const fn note_element(&mut self, time: u64, cycles: Option<u32>) {
        self.element = Some((time, cycles));
    }

    /// A cycle count was sent after the latest element.
    pub(super) fn note_count(&mut self) {
        if let Some((_, cycles)) = &mut self.element {
            *cycles = Some(0);
        }
    }

    pub(super) fn is_due(&self) -> bool {
        self.enabled && self.requested && self.element.is_some()
    }

    /// The packet of a timestamp that is due.
    ///
    /// Spec: ETE-MCSGX-001, ETE-ZMQLT-001, ETE-JNSWW-001, ETE-PKT-TS-001, ETE-PKT-TS-002, ETE-PKT-ENC-001.
    pub(super) fn take(&mut self, policy: &Policy) -> Option<Packet> {
        let (time, cycles) = self.element.filter(|_| self.is_due())?;
        self.requested = false;
        let (value, field) = (time & self.mask, ByteField::timestamp(64));
        let first = core::mem::replace(&mut self.first, false);
        let bytes = match field.fewest_bytes(value, self.latest) as u8 {
            _ if !self.minimal => longest::TIMESTAMP,
            bytes if first => bytes.saturating_add(policy.padded_groups).min(longest::TIMESTAMP),
            bytes => bytes,
        };
        self.latest = value;
        Some(Packet::Timestamp {
            value: VariableField { bits: field.low_bits(value, bytes.into()), bytes },
            count: cycles.map(|cycles| padded(cycles.into(), longest::CYCLES, policy)),
        })
    }
}
