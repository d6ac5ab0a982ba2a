//! Reads fields of variable length, byte by byte.

/// What one byte of a field carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Byte {
    /// The payload's first bit.
    first: u8,
    /// The payload's width.
    width: u8,
    /// Mask of the continuation bit; 0 in the last possible byte.
    more: u8,
}

/// Seven bits below the continuation bit.
const SEVEN: Byte = Byte { first: 0, width: 7, more: 0x80 };

const fn last(width: u8) -> Byte {
    Byte { first: 0, width, more: 0 }
}

/// Which bits of which bytes make a field, least significant bits first.
///
/// A field ends after the first byte whose continuation bit is 0, and after the last byte that it can have, whatever
/// that byte's bit 7 is. Bits of the last byte above the field are ignored; [`FieldReader::spill`] keeps them.
///
/// Source: IHI 0035B 4.5.9 and its packet table; DDI 0487 D5.3.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FieldLayout {
    bytes: &'static [Byte],
}

impl FieldLayout {
    /// PFT: a cycle count, 32 bits; bits 7, 1 and 0 of its first byte are the packet's.
    pub const CYCLE_COUNT: Self =
        Self { bytes: &[Byte { first: 2, width: 4, more: 0x40 }, SEVEN, SEVEN, SEVEN, last(7)] };
    /// PFT, ETMv3.5: a timestamp of 48 bits.
    pub const TIMESTAMP_48: Self = Self { bytes: &[SEVEN, SEVEN, SEVEN, SEVEN, SEVEN, SEVEN, last(6)] };
    /// PFT, ETMv3.5, ETE: a timestamp of 64 bits.
    pub const TIMESTAMP_64: Self =
        Self { bytes: &[SEVEN, SEVEN, SEVEN, SEVEN, SEVEN, SEVEN, SEVEN, SEVEN, last(8)] };
    /// ETE: the low bits of an address, 15 bits.
    pub const SHORT_ADDRESS: Self = Self { bytes: &[SEVEN, last(8)] };
    /// ETE: a cycle count threshold, 12 bits.
    pub const THRESHOLD: Self = Self { bytes: &[SEVEN, last(5)] };
    /// ETE: a cycle count, 20 bits.
    pub const COUNT_20: Self = Self { bytes: &[SEVEN, SEVEN, last(6)] };
    /// ETE: numbers of elements and keys, 32 bits.
    pub const COUNT_32: Self = Self { bytes: &[SEVEN, SEVEN, SEVEN, SEVEN, last(4)] };

    /// How many bits the first `bytes` bytes carry.
    #[must_use]
    pub fn bits_in(self, bytes: usize) -> u32 {
        self.bytes.iter().take(bytes).map(|byte| u32::from(byte.width)).sum()
    }

    /// The most bytes that the field can have.
    #[must_use]
    pub const fn most_bytes(self) -> usize {
        self.bytes.len()
    }
}

/// A field of which some bytes are read.
#[derive(Clone, Copy, Debug)]
pub struct FieldReader {
    layout: FieldLayout,
    bytes: u8,
    bits: u8,
    value: u64,
    spill: u8,
}

impl FieldReader {
    /// Nothing is read.
    #[must_use]
    pub const fn new(layout: FieldLayout) -> Self {
        Self { layout, bytes: 0, bits: 0, value: 0, spill: 0 }
    }

    /// Takes the next byte. Returns whether the field is complete; further bytes are ignored then.
    pub fn push(&mut self, byte: u8) -> bool {
        let Some(part) = self.layout.bytes.get(usize::from(self.bytes)) else { return true };
        let mask = u8::MAX >> (8 - part.width);
        self.value |= u64::from(byte >> part.first & mask) << self.bits;
        self.bits += part.width;
        self.bytes += 1;
        if part.more == 0 {
            self.spill = byte & !mask;
        }
        byte & part.more == 0
    }

    /// The value so far; bits that are not read are 0.
    #[must_use]
    pub const fn value(&self) -> u64 {
        self.value
    }

    /// How many bytes are read.
    #[must_use]
    pub const fn bytes(&self) -> u8 {
        self.bytes
    }

    /// How many bits are read.
    #[must_use]
    pub const fn bits(&self) -> u8 {
        self.bits
    }

    /// The value where bits that do not travel are those of `before`.
    #[must_use]
    pub const fn replace_in(&self, before: u64) -> u64 {
        replace(before, self.value, self.bits as u32)
    }

    /// Bits of the last possible byte that belong to no field; 0 in what an encoder sends.
    #[must_use]
    pub const fn spill(&self) -> u8 {
        self.spill
    }
}

/// `before` with its low `bits` bits from `value`.
pub(super) const fn replace(before: u64, value: u64, bits: u32) -> u64 {
    let above = match u64::MAX.checked_shl(bits) {
        Some(above) => above,
        None => 0,
    };
    before & above | value & !above
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The reader after the last byte of the field, and how many bytes are left over.
    fn read(layout: FieldLayout, bytes: &[u8]) -> (FieldReader, usize) {
        let mut reader = FieldReader::new(layout);
        for (at, &byte) in bytes.iter().enumerate() {
            if reader.push(byte) {
                return (reader, bytes.len() - at - 1);
            }
        }
        (reader, usize::MAX)
    }

    /// Worked examples D-10 of the PFT sheet, D-06, D-09, D-20 of the ETE sheet.
    #[test]
    fn numbers_end_where_nothing_continues() {
        for (layout, bytes, value, left) in [
            (FieldLayout::CYCLE_COUNT, &[0x3c, 0xff][..], 15, 1),
            (FieldLayout::CYCLE_COUNT, &[0xbc], 15, 0),
            (FieldLayout::CYCLE_COUNT, &[0x40, 0x01], 16, 0),
            (FieldLayout::CYCLE_COUNT, &[0xfc, 0x7f], 2047, 0),
            (FieldLayout::CYCLE_COUNT, &[0x40, 0x80, 0x80, 0x01], 262_144, 0),
            (FieldLayout::CYCLE_COUNT, &[0xfc, 0xff, 0xff, 0xff, 0x7f, 0x00], 0xffff_ffff, 1),
            (FieldLayout::COUNT_32, &[0xac, 0x02], 0x12c, 0),
            (FieldLayout::COUNT_32, &[0x85, 0x00], 5, 0),
            (FieldLayout::COUNT_32, &[0xff, 0xff, 0xff, 0xff, 0xff, 0x01], 0xffff_ffff, 1),
            (FieldLayout::THRESHOLD, &[0x81, 0x1f], 0xf81, 0),
            (FieldLayout::COUNT_20, &[0xff, 0xff, 0x7f, 0x04], 0xf_ffff, 1),
            (FieldLayout::SHORT_ADDRESS, &[0x95, 0x84, 0x01], 0x4215, 1),
        ] {
            let (reader, rest) = read(layout, bytes);
            assert_eq!((reader.value(), rest), (value, left), "{bytes:02x?}");
        }
    }

    #[test]
    fn a_field_that_is_cut_is_not_complete() {
        for layout in [FieldLayout::TIMESTAMP_48, FieldLayout::TIMESTAMP_64, FieldLayout::COUNT_32] {
            let bytes = [0xff; 8].get(..layout.most_bytes() - 1).unwrap_or_default();
            assert_eq!(read(layout, bytes).1, usize::MAX);
        }
    }

    #[test]
    fn the_last_byte_ends_the_field_whatever_its_top_bit_is() {
        let (reader, left) = read(FieldLayout::TIMESTAMP_64, &[0xff; 10]);
        assert_eq!((reader.value(), reader.bytes(), reader.spill(), left), (u64::MAX, 9, 0, 1));
        let (reader, left) = read(FieldLayout::TIMESTAMP_48, &[0xff; 10]);
        assert_eq!((reader.value(), reader.bytes(), reader.spill(), left), (0xffff_ffff_ffff, 7, 0xc0, 3));
    }

    #[test]
    fn what_does_not_travel_stays() {
        let (reader, _) = read(FieldLayout::TIMESTAMP_64, &[0x85, 0x01]);
        assert_eq!(reader.replace_in(0xffff_ffff_f000_6592), 0xffff_ffff_f000_4085);
        assert_eq!(reader.bits(), 14);
        assert_eq!(read(FieldLayout::TIMESTAMP_64, &[0xff; 9]).0.replace_in(0), u64::MAX);
    }
}
