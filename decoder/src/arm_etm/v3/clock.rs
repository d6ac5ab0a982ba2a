//! Cycles of atoms and gaps, and timestamps.

use traceproof_vectors::arm::TimestampEncoding;
use traceproof_vectors::arm_etm::v3::VariableField;
use traceproof_vectors::arm_etm::{Parameters, Reason};

use crate::arm::TimestampReader;

/// W atoms, and who waits for a cycle count.
///
/// Spec: ETM3-PH-013, ETM3-CC-003 to 005, ETM3-CC-008 (7.3.1, 7.3.4, 7.10.5).
#[derive(Clone, Copy, Debug)]
pub(super) struct Cycles {
    /// W atoms since the latest E or N.
    pub(super) waits: u64,
    /// The gap before a non-periodic I-sync that had no cycle count.
    aside: Option<Aside>,
    minor: u8,
}

/// What is known of a gap before its cycle count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Aside {
    /// W atoms before it.
    Waits(u64),
    /// its cycle count means nothing.
    Unknown,
}

/// The number of cycles of a gap; `None` if unknown.
pub(super) type Gap = Option<u64>;

impl Cycles {
    pub(super) const fn new(parameters: &Parameters) -> Self {
        Self { waits: 0, aside: None, minor: parameters.minor }
    }

    /// Resets to the start of a stream.
    pub(super) const fn forget(&mut self) {
        self.waits = 0;
        self.aside = None;
    }

    pub(super) fn synchronise(&mut self, reason: Reason, count: Option<VariableField>) -> Option<Gap> {
        if reason == Reason::Periodic {
            return count.map(|count| self.count(count));
        }
        let waits = core::mem::take(&mut self.waits);
        let aside = if self.counts_through(reason) { Aside::Waits(waits) } else { Aside::Unknown };
        self.aside = if count.is_none() { Some(aside) } else { None };
        count.map(|count| gap(aside, count))
    }

    pub(super) fn count(&mut self, count: VariableField) -> Gap {
        gap(self.aside.take().unwrap_or(Aside::Waits(0)), count)
    }

    /// Whether the counter goes on from the latest cycle traced to an I-sync with this reason.
    ///
    /// Spec: ETM3-CC-009 (7.3.4).
    const fn counts_through(&self, reason: Reason) -> bool {
        let stops = matches!(
            (self.minor, reason),
            (0, Reason::Overflow | Reason::DebugExit) | (5.., Reason::Overflow)
        );
        !stops
    }
}

/// Spec: ETM3-CC-007 (7.3.4).
const fn gap(aside: Aside, count: VariableField) -> Gap {
    match aside {
        Aside::Waits(waits) if count.bits != 0 => Some(waits.saturating_add(count.bits)),
        Aside::Waits(_) | Aside::Unknown => None,
    }
}

/// The latest timestamp. Spec: ETM3-TS-002, ETM3-TS-003, ETM3-TS-006 (7.7).
#[derive(Clone, Copy, Debug)]
pub(super) struct Timestamps {
    values: TimestampReader,
}

impl Timestamps {
    /// The value of the latest timestamp, if all of it is known.
    pub(super) const fn time(&self) -> Option<u64> {
        self.values.time()
    }

    pub(super) const fn new(parameters: &Parameters) -> Self {
        let Parameters { timestamp_bits, timestamp_gray, .. } = *parameters;
        let encoding = if timestamp_gray { TimestampEncoding::Gray } else { TimestampEncoding::Binary };
        Self { values: TimestampReader::new(timestamp_bits, encoding) }
    }

    pub(super) const fn forget(&mut self) {
        self.values.forget();
    }

    /// The natural binary value; `None` if it is not known. Spec: ETM3-TS-007 (7.7.4).
    pub(super) fn received(&mut self, packet: VariableField) -> Option<u64> {
        self.values.take(packet.bits, packet.bytes).filter(|&value| value != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seven_bytes_are_all_of_48_bits_and_nine_of_64() {
        for (timestamp_bits, all) in [(48, 7), (64, 9)] {
            let mut stamps = Timestamps::new(&Parameters { timestamp_bits, ..Parameters::default() });
            assert_eq!(stamps.received(VariableField { bits: 5, bytes: all - 1 }), None);
            assert_eq!(stamps.received(VariableField { bits: 0x1234, bytes: all }), Some(0x1234));
            assert_eq!(stamps.received(VariableField { bits: 0x7f, bytes: 1 }), Some(0x127f));
            stamps.forget();
            assert_eq!(stamps.received(VariableField { bits: 0x7f, bytes: 1 }), None);
        }
    }
}
