//! From the port's signals to one item, where a cycle is one instruction.

use traceproof_vectors::riscv_etrace::{Block, Cycle, Itype, SyncMode};

use crate::riscv_etrace::items::{Ingress, Item, Kind, size};

impl Ingress {
    /// Whether a block without a trap is just one item.
    #[inline]
    pub(super) fn is_alone(&self, block: &Block) -> bool {
        self.halfwords(block) == size(block)
    }

    /// Whether only the last instruction of a block takes part in what the resynchronisation timer counts.
    #[inline]
    pub(super) const fn counts_no_cycles(&self) -> bool {
        !matches!(self.counts, SyncMode::Cycles)
    }

    /// Whether every block is one instruction, of which nothing is counted.
    #[inline]
    pub(super) const fn counts_nothing(&self) -> bool {
        !self.block_retirement && matches!(self.counts, SyncMode::Off | SyncMode::Packets)
    }

    /// Between trace-on and trace-off, according to the cycles up to now.
    #[inline]
    pub(super) const fn is_tracing(&self) -> bool {
        self.tracing
    }

    /// Makes the last instruction of the only block of a cycle, an ordinary one, out of one at the same level.
    #[inline]
    pub(super) fn replace(&mut self, item: &mut Item, context: u64, time: u64, block: &Block) {
        self.cycles += 1;
        item.context = context & self.context_mask;
        item.time = time & self.time_mask;
        item.timestamp = time;
        let halfwords = self.halfwords(block);
        item.ticks = self.ticks(halfwords);
        if let Kind::Retire(retired) = &mut item.kind {
            *retired = self.last(block, halfwords, 0);
        }
    }

    /// Whether a cycle has one block of one instruction, no trap and no trigger pulse, in a hart that runs.
    #[inline]
    pub(in crate::riscv_etrace) fn is_plain(&self, cycle: &Cycle) -> bool {
        let [block] = cycle.blocks.as_slice() else { return false };
        let pulses = cycle.trace_on | cycle.trace_off | cycle.halted | cycle.reset;
        let trap = matches!(block.itype, Itype::Exception | Itype::Interrupt);
        !pulses && !trap && block.iretire > 0 && self.is_alone(block)
    }

    /// The item of a [plain](Self::is_plain) cycle where nothing is filtered, as [`cycle`](Self::cycle) makes it.
    #[inline]
    pub(in crate::riscv_etrace) fn plain(&mut self, cycle: &Cycle, block: &Block, enabled: bool) -> Item {
        self.cycles += 1;
        let halfwords = self.halfwords(block);
        Item {
            kind: Kind::Retire(self.last(block, halfwords, cycle.ctype)),
            qualified: enabled && self.tracing,
            privilege: self.privilege(cycle),
            context: cycle.context & self.context_mask,
            time: cycle.time & self.time_mask,
            timestamp: cycle.time,
            ticks: self.ticks(halfwords),
        }
    }
}
