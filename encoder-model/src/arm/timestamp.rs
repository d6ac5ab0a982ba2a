//! The value of a timestamp on the wire: coded, and only the part that changed.

use traceproof_vectors::arm::TimestampEncoding;

use super::ByteField;

/// What a trace unit sends of one timestamp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SentTimestamp {
    /// The coded value; bits that do not travel are 0.
    pub bits: u64,
    /// Number of bytes.
    pub bytes: u32,
}

/// The timestamps of one trace: knows what travelled last.
#[derive(Clone, Copy, Debug)]
pub struct TimestampWriter {
    field: ByteField,
    encoding: TimestampEncoding,
    /// The coded value that travelled last.
    latest: u64,
}

impl TimestampWriter {
    /// Nothing has travelled yet: the value before the first is 0.
    #[must_use]
    pub const fn new(bits: u32, encoding: TimestampEncoding) -> Self {
        Self { field: ByteField::timestamp(bits), encoding, latest: 0 }
    }

    /// How timestamps are spread over bytes.
    #[must_use]
    pub const fn field(&self) -> ByteField {
        self.field
    }

    /// The next value of the counter in as few bytes as it needs, or with all bytes (T-sync).
    pub const fn take(&mut self, counter: u64, all_bytes: bool) -> SentTimestamp {
        let binary = self.field.low_bits(counter, self.field.most_bytes());
        let coded = match self.encoding {
            TimestampEncoding::Binary => binary,
            TimestampEncoding::Gray => gray(binary),
        };
        let bytes =
            if all_bytes { self.field.most_bytes() } else { self.field.fewest_bytes(coded, self.latest) };
        self.latest = coded;
        SentTimestamp { bits: self.field.low_bits(coded, bytes), bytes }
    }

    /// The value before the next one is 0 again.
    pub const fn restart(&mut self) {
        self.latest = 0;
    }
}

/// Each bit of a Gray code is the sum of its neighbours in the binary code; the top bit is the same.
const fn gray(binary: u64) -> u64 {
    binary ^ binary >> 1
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::vec::Vec;

    fn after(bits: u32, encoding: TimestampEncoding, before: u64, value: u64) -> Vec<u8> {
        let mut writer = TimestampWriter::new(bits, encoding);
        writer.take(before, true);
        let sent = writer.take(value, false);
        writer.field().write(sent.bits, sent.bytes).collect()
    }

    /// Worked example D-16 of the PFT sheet.
    #[test]
    fn gray_changes_are_short() {
        for (before, value, bytes) in [
            (127, 128, &[0xc0, 0x01][..]),
            ((1 << 41) - 1, 1 << 41, &[0x80, 0x80, 0x80, 0x80, 0x80, 0x60]),
            ((1 << 47) - 1, 1 << 47, &[0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x30]),
        ] {
            assert_eq!(after(48, TimestampEncoding::Gray, before, value), bytes, "{value:#x}");
        }
    }

    #[test]
    fn all_bytes_travel_when_asked_for() {
        let mut writer = TimestampWriter::new(64, TimestampEncoding::Binary);
        assert_eq!(writer.take(0x1234, true), SentTimestamp { bits: 0x1234, bytes: 9 });
        assert_eq!(writer.take(0x1235, false), SentTimestamp { bits: 0x35, bytes: 1 });
        assert_eq!(writer.take(0x1235, false), SentTimestamp { bits: 0x35, bytes: 1 });
        writer.restart();
        assert_eq!(writer.take(0x1235, false), SentTimestamp { bits: 0x1235, bytes: 2 });
        let mut writer = TimestampWriter::new(48, TimestampEncoding::Binary);
        assert_eq!(writer.take(u64::MAX, true), SentTimestamp { bits: (1 << 48) - 1, bytes: 7 });
    }

    #[test]
    fn neighbouring_gray_codes_differ_in_one_bit() {
        for value in (0..2000).chain([u64::MAX >> 1, u64::from(u32::MAX)]) {
            assert_eq!((gray(value) ^ gray(value + 1)).count_ones(), 1, "{value:#x}");
        }
    }
}
