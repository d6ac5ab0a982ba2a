//! Bit strings in the order in which they travel, and the sign based compression.

/// 64-bit words of the longest bit string. The longest packets that [`Parameters::check`] allows are the requests of
/// split atomics: 361 bits.
///
/// [`Parameters::check`]: traceproof_vectors::riscv_etrace::Parameters::check
const WORDS: usize = 6;

/// Fields one after the other, the first in the lowest bits, each least significant bit first.
///
/// Spec: RVET-PKT-001 (ET 7).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Bits {
    words: [u64; WORDS],
    length: u32,
}

/// A payload: a whole number of bytes. Spec: RVET-PKT-002 (ET 7).
#[derive(Clone, Copy, Debug)]
pub(super) struct Payload {
    bytes: [u8; WORDS * 8],
    bits: u32,
}

impl Bits {
    /// Appends the low `width` bits of `value` (`width` 0 to 64). What exceeds the capacity is dropped.
    #[inline]
    pub(super) fn push(&mut self, value: u64, width: u32) {
        if width == 0 {
            return;
        }
        let value = if width >= 64 { value } else { value & ((1 << width) - 1) };
        let (word, shift) = ((self.length / 64) as usize, self.length % 64);
        if let Some(low) = self.words.get_mut(word) {
            *low |= value << shift;
        }
        if shift + width > 64
            && let Some(high) = self.words.get_mut(word + 1)
        {
            *high |= value >> (64 - shift);
        }
        self.length += width;
    }

    /// Appends one bit.
    #[inline]
    pub(super) fn push_bit(&mut self, bit: bool) {
        self.push(u64::from(bit), 1);
    }

    /// The latest bit; `false` while empty.
    #[inline]
    pub(super) fn last(&self) -> bool {
        self.length.checked_sub(1).is_some_and(|index| {
            self.words.get((index / 64) as usize).is_some_and(|word| word >> (index % 64) & 1 == 1)
        })
    }

    /// The payload: filled to whole bytes with copies of the last bit and, if `compressed`, without the
    /// bytes that this filling restores.
    ///
    /// Spec: RVET-PKT-003, RVET-PKT-006 (ET 7).
    pub(super) fn payload(&self, compressed: bool) -> Payload {
        let filling = if self.last() { u64::MAX } else { 0 };
        let mut bytes = [0; WORDS * 8];
        let mut significant = 1;
        // What lies after the last used word would be filling only.
        let used = self.length.div_ceil(64).max(1) as usize;
        for (index, (chunk, &word)) in bytes.chunks_exact_mut(8).zip(&self.words).take(used).enumerate() {
            let start = index as u32 * 64;
            let used = self.length.saturating_sub(start).min(64);
            let unused = if used == 64 { 0 } else { u64::MAX << used };
            let word = (word & !unused) | (filling & unused);
            chunk.copy_from_slice(&word.to_le_bytes());
            let different = word ^ filling;
            if different != 0 {
                // Up to the highest bit that is no copy of the last one, and one copy as sign.
                significant = start + 64 - different.leading_zeros() + 1;
            }
        }
        let kept = if compressed { significant } else { self.length.max(1) };
        Payload { bytes, bits: kept }
    }
}

impl Payload {
    /// The bytes, first transmitted first.
    pub(super) fn bytes(&self) -> &[u8] {
        self.bytes.get(..self.bits.div_ceil(8) as usize).unwrap_or(&self.bytes)
    }

    /// How many of its bits matter; those above are copies of the highest of them.
    pub(super) const fn bits(&self) -> u32 {
        self.bits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bits(fields: &[(u64, u32)]) -> Bits {
        let mut bits = Bits::default();
        for &(value, width) in fields {
            bits.push(value, width);
        }
        bits
    }

    #[test]
    fn fields_cross_word_borders() {
        // 60 zeros, then 1010_0101 (0xa5) over the border, then a zero as sign.
        let string = bits(&[(0, 60), (0xa5, 8), (0, 1)]);
        assert_eq!(string.length, 69);
        assert_eq!(string.payload(true).bytes(), [0, 0, 0, 0, 0, 0, 0, 0x50, 0x0a]);
    }

    #[test]
    fn compression_keeps_one_sign_bit() {
        // 0111_1111 1: the sign is 1 and bit 7 is the highest that differs, so nine bits stay.
        assert_eq!(bits(&[(0x7f, 8), (1, 1), (0xff, 8)]).payload(true).bytes(), [0x7f, 0xff]);
        // 1111_1111 with sign 1 is one byte, with sign 0 two.
        assert_eq!(bits(&[(0xff, 8), (0x1ff, 9)]).payload(true).bytes(), [0xff]);
        assert_eq!(bits(&[(0xff, 8), (0, 9)]).payload(true).bytes(), [0xff, 0x00]);
        assert_eq!(bits(&[(0, 37)]).payload(true).bytes(), [0]);
    }

    #[test]
    fn without_compression_only_the_last_byte_is_filled() {
        assert_eq!(bits(&[(0b11, 2), (0, 7), (1, 1)]).payload(false).bytes(), [0x03, 0xfe]);
        assert_eq!(bits(&[(0b11, 2), (0, 8)]).payload(false).bytes(), [0x03, 0x00]);
    }
}
