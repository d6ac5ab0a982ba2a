//! Fields of variable length: a bit of every byte indicates whether another one follows.

/// How the bits of a field are spread over bytes, least significant bits first.
///
/// All bytes but the first and the last possible one carry seven bits below the continuation bit.
///
/// | field | first byte | most bytes | last possible byte |
/// |---|---|---|---|
/// | ETE `ULEB(n)`: counts, keys | \[6:0\], continued by \[7\] | n/7, rounded up | the rest; others are 0 |
/// | ETE timestamp; 64-bit timestamp of ETMv3.5 and PFT | \[6:0\], \[7\] | 9 | \[7:0\] |
/// | 48-bit timestamp of ETMv3.5 and PFT | \[6:0\], \[7\] | 7 | \[5:0\] |
/// | short address of ETE, 15 bits | \[6:0\], \[7\] | 2 | \[7:0\] |
/// | cycle count of PFT | \[5:2\], \[6\] | 5 | \[6:0\] |
///
/// Source: IHI 0035B 4.5.9 and its packet table; DDI 0487, D5.3.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ByteField {
    bits: u32,
    most_bytes: u32,
    first_shift: u32,
    first_width: u32,
}

impl ByteField {
    /// The cycle count of PFT. The first byte's other bits belong to the packet.
    pub const PFT_CYCLE_COUNT: Self = Self { bits: 32, most_bytes: 5, first_shift: 2, first_width: 4 };

    /// A short address of ETE: bits \[16:2\] or \[15:1\].
    pub const SHORT_ADDRESS: Self = Self { bits: 15, most_bytes: 2, first_shift: 0, first_width: 7 };

    /// A number of `bits` bits, 1 to 64, seven in each byte.
    #[must_use]
    pub const fn number(bits: u32) -> Self {
        let bits = if bits == 0 {
            1
        } else if bits > 64 {
            64
        } else {
            bits
        };
        Self { bits, most_bytes: bits.div_ceil(7), first_shift: 0, first_width: 7 }
    }

    /// A timestamp of 48 or, if that is not asked for, 64 bits.
    #[must_use]
    pub const fn timestamp(bits: u32) -> Self {
        match bits {
            48 => Self::number(48),
            _ => Self { bits: 64, most_bytes: 9, first_shift: 0, first_width: 7 },
        }
    }

    /// Number of bits of the whole field.
    #[must_use]
    pub const fn bits(self) -> u32 {
        self.bits
    }

    /// Number of bytes of the whole field.
    #[must_use]
    pub const fn most_bytes(self) -> u32 {
        self.most_bytes
    }

    /// How many of the field's bits are in the first `bytes` bytes.
    #[must_use]
    pub const fn bits_in(self, bytes: u32) -> u32 {
        match bytes {
            0 => 0,
            _ if bytes >= self.most_bytes => self.bits,
            _ => self.first_width + 7 * (bytes - 1),
        }
    }

    /// `value` without the bits that the first `bytes` bytes do not have.
    #[must_use]
    pub const fn low_bits(self, value: u64, bytes: u32) -> u64 {
        match self.bits_in(bytes) {
            0 => 0,
            width => value & (u64::MAX >> (64 - width)),
        }
    }

    /// The fewest bytes for a value whose missing bits are taken from `before`; at least one. A field whose missing
    /// bits are 0 has `before` = 0.
    #[must_use]
    pub const fn fewest_bytes(self, value: u64, before: u64) -> u32 {
        let differing = value ^ before;
        let mut bytes = 1;
        while bytes < self.most_bytes
            && self.low_bits(differing, bytes) != self.low_bits(differing, self.most_bytes)
        {
            bytes += 1;
        }
        bytes
    }

    /// The field in that many bytes, 1 to [`most_bytes`](Self::most_bytes). Bits of `value` beyond them do not travel.
    pub fn write(self, value: u64, bytes: u32) -> impl Iterator<Item = u8> {
        let bytes = bytes.clamp(1, self.most_bytes);
        let mut rest = self.low_bits(value, bytes);
        (1..=bytes).map(move |number| {
            let (width, shift) = match number {
                _ if number == self.most_bytes && number > 1 => (8, 0),
                1 => (self.first_width, self.first_shift),
                _ => (7, 0),
            };
            let payload = (rest & ((1 << width) - 1)) << shift;
            rest >>= width;
            let continued = if number < bytes { 1_u64 << (self.continuation_of(number)) } else { 0 };
            (payload | continued) as u8
        })
    }

    /// The field in as few bytes as it needs.
    pub fn write_shortest(self, value: u64, before: u64) -> impl Iterator<Item = u8> {
        self.write(value, self.fewest_bytes(value, before))
    }

    /// Index of the continuation bit: directly above the payload.
    const fn continuation_of(self, number: u32) -> u32 {
        if number == 1 { self.first_shift + self.first_width } else { 7 }
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::vec::Vec;

    fn shortest(field: ByteField, value: u64, before: u64) -> Vec<u8> {
        field.write_shortest(value, before).collect()
    }

    /// Worked examples: ETE 5.0 (ULEB), additions D-09 and D-20.
    #[test]
    fn numbers_have_seven_bits_a_byte() {
        let number = ByteField::number(32);
        for (value, bytes) in [
            (0, &[0x00][..]),
            (0x7f, &[0x7f]),
            (0x80, &[0x80, 0x01]),
            (0x12c, &[0xac, 0x02]),
            (0xffff_ffff, &[0xff, 0xff, 0xff, 0xff, 0x0f]),
        ] {
            assert_eq!(shortest(number, value, 0), bytes, "{value:#x}");
        }
        assert_eq!(shortest(ByteField::number(12), 0xf81, 0), [0x81, 0x1f]);
        assert_eq!(shortest(ByteField::number(20), 0xf_ffff, 0), [0xff, 0xff, 0x3f]);
        assert_eq!(number.write(5, 2).collect::<Vec<_>>(), [0x85, 0x00]);
        assert_eq!(shortest(ByteField::number(64), u64::MAX, 0).len(), 10);
    }

    /// Worked example D-10 of the PFT sheet: the first byte as in a branch packet.
    #[test]
    fn cycle_counts_begin_with_four_bits() {
        for (count, bytes) in [
            (0, &[0x00][..]),
            (15, &[0x3c]),
            (16, &[0x40, 0x01]),
            (2047, &[0x7c, 0x7f]),
            (2048, &[0x40, 0x80, 0x01]),
            (262_143, &[0x7c, 0xff, 0x7f]),
            (262_144, &[0x40, 0x80, 0x80, 0x01]),
            (33_554_432, &[0x40, 0x80, 0x80, 0x80, 0x01]),
            (0xffff_ffff, &[0x7c, 0xff, 0xff, 0xff, 0x7f]),
        ] {
            assert_eq!(shortest(ByteField::PFT_CYCLE_COUNT, count, 0), bytes, "{count}");
        }
    }

    /// Worked examples D-16 of the PFT sheet, D-19 of the ETE sheet.
    #[test]
    fn timestamps_replace_low_bits() {
        let (long, short) = (ByteField::timestamp(64), ByteField::timestamp(48));
        for (before, value, bytes) in [
            (0x7f, 0x80, &[0x80, 0x01][..]),
            ((1 << 49) - 1, 1 << 49, &[0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01]),
            ((1 << 56) - 1, 1 << 56, &[0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01]),
            (u64::MAX, 0, &[0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00]),
            (0xffff_ffff_f000_6592, 0xffff_ffff_f000_6585, &[0x05]),
            (5, 5, &[0x05]),
        ] {
            assert_eq!(shortest(long, value, before), bytes, "{value:#x}");
        }
        assert_eq!(shortest(short, 1 << 42, (1 << 42) - 1), [0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01]);
        assert_eq!(long.write(u64::MAX, 9).collect::<Vec<_>>(), [0xff; 9]);
        assert_eq!(short.write(u64::MAX, 7).last(), Some(0x3f));
    }

    #[test]
    fn the_last_byte_of_a_short_address_is_whole() {
        assert_eq!(ByteField::SHORT_ADDRESS.write(0x7fff, 2).collect::<Vec<_>>(), [0xff, 0xff]);
        assert_eq!(shortest(ByteField::SHORT_ADDRESS, 0x0105, 0x0100), [0x05]);
        assert_eq!(shortest(ByteField::SHORT_ADDRESS, 0x0405, 0x0105), [0x85, 0x08]);
    }
}
