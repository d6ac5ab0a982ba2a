//! Address compression of ETMv1 and ETMv2: as many groups of seven bits as the change needs.

use alloc::vec::Vec;

use traceproof_vectors::arm_etm::CompressedAddress;

/// Bytes of an address that is not shortened.
pub(in crate::arm_etm) const LONGEST: u8 = 5;

/// Continue bit of address bytes.
const CONTINUE: u8 = 1 << 7;

/// Base of data addresses: the one that was output last.
///
/// Spec: ETM1-DAT-004 (5.4), ETM2-DA-002 (6.8).
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::arm_etm) struct DataBase {
    address: Option<u32>,
    /// The next address must be full although there is a base.
    full_due: bool,
}

impl DataBase {
    /// Tracing was interrupted. Spec: ETM2-DA-003, ETM2-TFO-023 (6.8).
    pub(in crate::arm_etm) const fn forget(&mut self) {
        self.address = None;
    }

    /// A synchronisation period ended. Spec: ETM2-DA-004 (6.5.6).
    pub(in crate::arm_etm) const fn require_full(&mut self) {
        self.full_due = true;
    }

    /// The address as it travels; it becomes the base.
    ///
    /// Spec: ETM2-DA-001, 005 (6.4.2, 6.5.6).
    pub(in crate::arm_etm) fn compress(&mut self, address: u32, minimal: bool) -> CompressedAddress {
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
pub(in crate::arm_etm) const fn groups(changed: u32, first: u32) -> u8 {
    let width = u32::BITS - changed.leading_zeros();
    1 + width.saturating_sub(first).div_ceil(7) as u8
}

/// As many low bits as `width` says.
pub(in crate::arm_etm) const fn low_mask(width: u32) -> u64 {
    (1 << width) - 1
}

/// Appends `count` bytes: `first`, then seven bits of `rest` in each. Bit 7 of all but the last one is set.
pub(in crate::arm_etm) fn append_sevens(first: u8, mut rest: u64, count: u8, bytes: &mut Vec<u8>) {
    let mut byte = first;
    for following in (0..count).rev() {
        bytes.push(byte | if following > 0 { CONTINUE } else { 0 });
        byte = rest as u8 & 0x7f;
        rest >>= 7;
    }
}

/// Appends the `count` low bytes, lowest first. Spec: PC-14, ETM1-DAT-005 (5.4).
pub(in crate::arm_etm) fn append_low(value: u32, count: usize, bytes: &mut Vec<u8>) {
    bytes.extend(value.to_le_bytes().into_iter().take(count));
}

/// Whether `bits` fit in the bytes, the first of which has `first` bits, and in `widest` bits altogether.
pub(in crate::arm_etm) const fn fits(address: CompressedAddress, first: u32, widest: u32) -> bool {
    let CompressedAddress { bits, bytes } = address;
    if bytes == 0 || bytes > LONGEST {
        return false;
    }
    let width = first + 7 * (bytes as u32 - 1);
    bits >> (if width < widest { width } else { widest }) == 0
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
