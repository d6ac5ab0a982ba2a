//! The values of timestamps that carry only the bits that changed.

use traceproof_vectors::arm::TimestampEncoding;

use super::FieldLayout;
use super::byte_field::replace;

/// The timestamps of one trace: knows which bits of the value have travelled.
///
/// Source: IHI 0035B 4.5.9; ARM DDI 0487 D5.3 (timestamp packets).
#[derive(Clone, Copy, Debug)]
pub struct TimestampReader {
    layout: FieldLayout,
    encoding: TimestampEncoding,
    /// The value as it travels.
    coded: u64,
    /// How many of its low bits are known.
    known: u32,
}

impl TimestampReader {
    /// Timestamps of 48 or, if that is not asked for, 64 bits. Nothing is known of the value.
    #[must_use]
    pub const fn new(bits: u8, encoding: TimestampEncoding) -> Self {
        let layout = if bits == 48 { FieldLayout::TIMESTAMP_48 } else { FieldLayout::TIMESTAMP_64 };
        Self { layout, encoding, coded: 0, known: 0 }
    }

    /// The layout of the field.
    #[must_use]
    pub const fn layout(&self) -> FieldLayout {
        self.layout
    }

    /// Takes a field of so many bytes. Returns the time, if all of its bits have travelled since
    /// [`forget`](Self::forget) or [`reset`](Self::reset).
    pub fn take(&mut self, value: u64, bytes: u8) -> Option<u64> {
        let bits = self.layout.bits_in(bytes.into());
        self.coded = replace(self.coded, value, bits);
        self.known = self.known.max(bits);
        self.time()
    }

    /// The time of the latest timestamp.
    #[must_use]
    pub const fn time(&self) -> Option<u64> {
        let most = if self.layout.most_bytes() == 7 { 48 } else { 64 };
        match self.encoding {
            _ if self.known < most => None,
            TimestampEncoding::Binary => Some(self.coded),
            TimestampEncoding::Gray => Some(binary(self.coded)),
        }
    }

    /// Trace may be missing: the value is not known until all of its bits have travelled.
    pub const fn forget(&mut self) {
        (self.coded, self.known) = (0, 0);
    }

    /// The trace says that the value before the next timestamp is 0.
    pub const fn reset(&mut self) {
        (self.coded, self.known) = (0, 64);
    }
}

/// Each bit of the binary code is the sum of the Gray code's bits from there on.
const fn binary(gray: u64) -> u64 {
    let mut value = gray;
    let mut distance = 1;
    while distance < 64 {
        value ^= value >> distance;
        distance *= 2;
    }
    value
}

#[cfg(test)]
mod tests {
    use super::super::FieldReader;
    use super::*;

    fn take(reader: &mut TimestampReader, bytes: &[u8]) -> Option<u64> {
        let mut field = FieldReader::new(reader.layout());
        let complete: alloc::vec::Vec<bool> = bytes.iter().map(|&byte| field.push(byte)).collect();
        assert_eq!(complete.iter().position(|&complete| complete), bytes.len().checked_sub(1));
        reader.take(field.value(), field.bytes())
    }

    #[test]
    fn a_time_is_known_when_all_of_its_bits_are() {
        let mut reader = TimestampReader::new(48, TimestampEncoding::Binary);
        assert_eq!(take(&mut reader, &[0x05]), None);
        assert_eq!(take(&mut reader, &[0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01]), Some(1 << 42));
        assert_eq!(take(&mut reader, &[0x05]), Some(1 << 42 | 5));
        reader.forget();
        assert_eq!((reader.time(), take(&mut reader, &[0x05])), (None, None));
        reader.reset();
        assert_eq!(take(&mut reader, &[0x85, 0x01]), Some(0x85));
    }

    /// Worked example D-16 of the PFT sheet.
    #[test]
    fn gray_codes_become_binary() {
        let mut reader = TimestampReader::new(48, TimestampEncoding::Gray);
        reader.reset();
        assert_eq!(take(&mut reader, &[0x40]), Some(127));
        assert_eq!(take(&mut reader, &[0xc0, 0x01]), Some(128));
        reader.reset();
        // 2^41 - 1 is coded as 1 in bit 40.
        assert_eq!(take(&mut reader, &[0x80, 0x80, 0x80, 0x80, 0x80, 0x20]), Some((1 << 41) - 1));
        assert_eq!(take(&mut reader, &[0x80, 0x80, 0x80, 0x80, 0x80, 0x60]), Some(1 << 41));
    }

    #[test]
    fn gray_codes_are_undone() {
        for value in (0..3000_u64).chain([u64::MAX, 0x0123_4567_89ab_cdef]) {
            assert_eq!(binary(value ^ value >> 1), value);
        }
    }
}
