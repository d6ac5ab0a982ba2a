//! One frame: which of its bytes are data, and their source.

use traceproof_vectors::arm::{FRAME_BYTES, FULL_SYNC};

/// Bit 0 of every even byte.
const FLAGS: u128 = 0x0001_0001_0001_0001_0001_0001_0001_0001;

/// A whole frame, 16 bytes as they travelled.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame([u8; FRAME_BYTES]);

impl Frame {
    /// What marks the cut of a circular buffer.
    pub(super) const BARRIER: [u8; FRAME_BYTES] = {
        let mut bytes = [0; FRAME_BYTES];
        let mut at = 0;
        while at < FRAME_BYTES {
            bytes[at] = FULL_SYNC[at % FULL_SYNC.len()];
            at += 1;
        }
        bytes
    };

    pub(super) const fn new(bytes: [u8; FRAME_BYTES]) -> Self {
        Self(bytes)
    }

    /// Whether the frame holds no ID.
    ///
    /// Spec: ARM-FMT-001 (DDI 0314 8.12.1).
    #[inline]
    pub(super) const fn is_plain(&self) -> bool {
        u128::from_le_bytes(self.0) & FLAGS == 0
    }

    /// Whether an even byte is 0xFF: the ID that is never used, or part of a synchronisation packet.
    #[inline]
    pub(super) const fn looks_like_sync(&self) -> bool {
        // Each even byte by itself, inverted: whether one of them is zero.
        let inverted = !u128::from_le_bytes(self.0) & (FLAGS * 0xff);
        inverted.wrapping_sub(FLAGS) & !inverted & (FLAGS << 15) != 0
    }

    pub(super) const fn is_barrier(&self) -> bool {
        u128::from_le_bytes(self.0) == u128::from_le_bytes(Self::BARRIER)
    }

    /// Bit k: byte 2k is an ID.
    pub(super) fn ids(&self) -> u8 {
        let pairs = self.0.iter().step_by(2).enumerate();
        pairs.fold(0, |ids, (k, byte)| ids | (byte & 1) << k)
    }

    /// The auxiliary bits (ARM-FMT-002).
    pub(super) const fn auxiliary(&self) -> u8 {
        self.0[FRAME_BYTES - 1]
    }

    /// The byte at `position`, as it travelled.
    pub(super) fn raw(&self, position: usize) -> u8 {
        self.0.get(position).copied().unwrap_or_default()
    }

    /// All bytes with bit 0 of the even ones put back from the auxiliary bits; where an ID stands the value has no
    /// meaning, and the last byte has none either.
    #[inline]
    pub(super) const fn data(&self) -> [u8; FRAME_BYTES] {
        let auxiliary = self.auxiliary() as u64;
        let low = spread(auxiliary & 0xf) as u128 | (spread(auxiliary >> 4) as u128) << 64;
        ((u128::from_le_bytes(self.0) & !FLAGS) | low).to_le_bytes()
    }
}

/// Moves bit i of a 4-bit value to bit 16 i.
const fn spread(bits: u64) -> u64 {
    // Four copies, each 15 places further; of copy i, bit i lands on 16 i.
    bits.wrapping_mul(1 | 1 << 15 | 1 << 30 | 1 << 45) & 0x0001_0001_0001_0001
}
