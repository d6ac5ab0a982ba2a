//! How instruction and data addresses are shortened.

use traceproof_vectors::arm_etm::{CompressedAddress, Isa};

use super::conventions::{address_shift, state_marker};

const LONGEST: u8 = 5;

/// Base of branch addresses: the instruction address that was output last.
///
/// Spec: ETM2-BR-003, ETM2-TFO-020 (6.7).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct InstructionBase {
    address: u32,
    isa: Isa,
}

impl InstructionBase {
    pub(super) const fn new(address: u32, isa: Isa) -> Self {
        Self { address, isa }
    }

    /// The address as it travels; it becomes the base.
    ///
    /// Spec: ETM2-BR-002, 004, 007 (6.7).
    pub(super) fn compress(&mut self, address: u32, isa: Isa, minimal: bool) -> CompressedAddress {
        let shift = address_shift(isa);
        let full = u64::from(address >> shift);
        let changed = (self.address ^ address) >> shift;
        // The first byte has six address bits, the others seven.
        let bytes = if !minimal || isa != self.isa { LONGEST } else { groups(changed, 6) };
        *self = Self { address, isa };
        let bits = match bytes {
            LONGEST => full | state_marker(isa),
            fewer => full & low_mask(u32::from(fewer) * 7 - 1),
        };
        CompressedAddress { bits, bytes }
    }
}

/// Base of data addresses: the one that was output last.
///
/// Spec: ETM2-DA-002 (6.8).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct DataBase {
    address: Option<u32>,
    /// The next address must be full although there is a base.
    full_due: bool,
}

impl DataBase {
    /// Tracing was interrupted. Spec: ETM2-DA-003, ETM2-TFO-023 (6.8).
    pub(super) const fn forget(&mut self) {
        self.address = None;
    }

    /// A synchronisation period ended. Spec: ETM2-DA-004 (6.5.6).
    pub(super) const fn require_full(&mut self) {
        self.full_due = true;
    }

    /// The address as it travels; it becomes the base.
    ///
    /// Spec: ETM2-DA-001, 005 (6.4.2, 6.5.6).
    pub(super) fn compress(&mut self, address: u32, minimal: bool) -> CompressedAddress {
        let bytes = match self.address {
            Some(base) if minimal && !self.full_due => groups(base ^ address, 7),
            _ => LONGEST,
        };
        self.address = Some(address);
        self.full_due &= bytes != LONGEST;
        CompressedAddress { bits: u64::from(address) & low_mask(u32::from(bytes) * 7), bytes }
    }
}

/// How many bytes hold all changed bits, if the first one holds `first` and the others seven each.
const fn groups(changed: u32, first: u32) -> u8 {
    let width = u32::BITS - changed.leading_zeros();
    1 + width.saturating_sub(first).div_ceil(7) as u8
}

const fn low_mask(width: u32) -> u64 {
    (1 << width) - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_bytes_as_change() {
        for (changed, first, bytes) in
            [(0, 7, 1), (0x7f, 7, 1), (0x80, 7, 2), (1 << 27, 7, 4), (1 << 28, 7, 5), (1 << 31, 7, 5)]
        {
            assert_eq!(groups(changed, first), bytes, "{changed:#x}");
        }
        for (changed, bytes) in [(0x3f, 1), (0x40, 2), (1 << 26, 4), (1 << 27, 5), (1 << 31, 5)] {
            assert_eq!(groups(changed, 6), bytes, "{changed:#x}");
        }
    }

    #[test]
    fn a_short_address_leaves_the_full_one_due() {
        let mut base = DataBase::default();
        assert_eq!(base.compress(0x8000_1234, true).bytes, 5);
        assert_eq!(base.compress(0x8000_1238, true), CompressedAddress { bits: 0x38, bytes: 1 });
        base.require_full();
        assert_eq!(base.compress(0x8000_1238, true).bytes, 5);
        assert_eq!(base.compress(0x8000_1238, true).bytes, 1);
        base.forget();
        assert_eq!(base.compress(0x8000_1238, true).bytes, 5);
    }
}
