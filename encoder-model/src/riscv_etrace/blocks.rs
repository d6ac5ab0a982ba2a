//! Memory in blocks, each of which starts with a packet (ET 7, the second of two ways to find boundaries).

use traceproof_vectors::riscv_etrace::Encapsulation;

/// What stands between the last packet of a block and the border: null packets without `flow`.
pub(super) const PADDING: u8 = 0;

/// How far it is to the next border between blocks.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Blocks {
    /// Bytes of a block; 0 = no blocks.
    block: u32,
    /// Bytes up to the next border, at least one.
    room: u32,
}

impl Blocks {
    pub(super) fn new(encapsulation: &Encapsulation) -> Self {
        let (block, first) = match encapsulation {
            Encapsulation::Normal(normal) => (normal.block_bytes, normal.first_block),
            _ => (0, 0),
        };
        let room = first.checked_rem(block).filter(|&room| room > 0).unwrap_or(block);
        Self { block, room }
    }

    /// How many bytes of padding a packet of `length` bytes needs before it.
    pub(super) const fn padding(&self, length: usize) -> usize {
        if self.block > 0 && length > self.room as usize { self.room as usize } else { 0 }
    }

    /// Counts bytes that were sent.
    pub(super) const fn pass(&mut self, bytes: usize) {
        if self.block > 0 {
            let at = (self.block - self.room) as usize + bytes;
            self.room = self.block - (at % self.block as usize) as u32;
        }
    }
}
