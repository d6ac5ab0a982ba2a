//! The Address Packet Offset after BE and BD.

use traceproof_vectors::arm_etm::v1::Pipestat;

/// The records that show it. Spec: ETM1-APO-001 (5.6.1).
const RECORDS: u32 = 2;

/// Bits of the offset in one record.
const BITS: u32 = 2;

/// The largest offset that can be output, and the value that indicates a larger one. Spec: ETM1-APO-003 (5.6.1).
const LARGEST: usize = 14;
const TOO_LARGE: u8 = 15;

/// What is still to be output of the latest offset.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct OffsetRecords {
    offset: u8,
    left: u32,
}

impl OffsetRecords {
    /// BE or BD is shown, after so many branch addresses that have not begun to leave.
    pub(super) fn begin(&mut self, addresses: usize) {
        let offset = if addresses > LARGEST { TOO_LARGE } else { addresses as u8 };
        *self = Self { offset, left: RECORDS };
    }

    /// Whether the next record has a part of it.
    pub(super) const fn is_next(&self) -> bool {
        self.left > 0
    }

    /// PIPESTAT of the next record: two bits, the lower ones first.
    pub(super) fn show(&mut self) -> Pipestat {
        let part = self.offset & ((1 << BITS) - 1);
        self.offset >>= BITS;
        self.left = self.left.saturating_sub(1);
        Pipestat::from_code(part).unwrap_or(Pipestat::Wt)
    }
}
