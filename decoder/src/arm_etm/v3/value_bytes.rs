//! Numbers byte by byte.

use traceproof_vectors::arm_etm::v3::VariableField;

/// A number in as many whole bytes as its header says, lowest first.
#[derive(Clone, Copy, Debug)]
pub(super) struct LittleEndian {
    value: u32,
    taken: u8,
    bytes: u8,
}

impl LittleEndian {
    pub(super) const fn of_bytes(bytes: u8) -> Self {
        Self { value: 0, taken: 0, bytes }
    }

    /// Spec: ETM3-DAT-002 (7.4.2).
    pub(super) const fn of_ss(ss: u8) -> Self {
        Self::of_bytes(match ss {
            3 => 4,
            bytes => bytes,
        })
    }

    pub(super) const fn is_whole(self) -> bool {
        self.taken == self.bytes
    }

    /// The whole number; an error is what more bytes are to be added to.
    pub(super) const fn take(mut self, byte: u8) -> Result<u32, Self> {
        self.value |= (byte as u32) << (8 * (self.taken & 3));
        self.taken += 1;
        if self.is_whole() { Ok(self.value) } else { Err(self) }
    }
}

/// A number of 7 bits in each byte, lowest first; bit 7 says that another byte follows.
#[derive(Clone, Copy, Debug)]
pub(super) struct SevenBits {
    bits: u64,
    bytes: u8,
}

impl SevenBits {
    pub(super) const EMPTY: Self = Self { bits: 0, bytes: 0 };

    pub(super) const fn bytes(self) -> u8 {
        self.bytes
    }

    pub(super) const fn field(self) -> VariableField {
        VariableField { bits: self.bits, bytes: self.bytes }
    }

    /// Whether this byte is the last one.
    pub(super) const fn take(&mut self, byte: u8) -> bool {
        self.take_last(byte, 7);
        byte & 0x80 == 0
    }

    /// A byte with so many bits, whatever the meaning of bit 7 elsewhere.
    pub(super) const fn take_last(&mut self, byte: u8, width: u32) {
        let payload = (byte as u64) & ((1 << width) - 1);
        self.bits |= payload << ((7 * self.bytes as u32) & 63);
        self.bytes += 1;
    }
}
