//! P0 elements that are not committed (sheet 7.7).

use alloc::collections::VecDeque;

use traceproof_vectors::Address;
use traceproof_vectors::arm::InstructionSet;
use traceproof_vectors::arm_ete::{P0, State};

use super::returns::StackUse;

/// How a P0 instruction was traced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Traced {
    /// It is an exception or something else.
    #[default]
    Other,
    /// By an atom.
    Atom(P0),
    /// Taken, by a Source Address.
    Source(P0),
}

/// A P0 instruction or exception, with the instructions since the one before.
#[derive(Clone, Copy, Debug)]
pub(super) struct Block {
    /// P0 elements that stand for it and are not committed.
    pub(super) elements: u32,
    pub(super) traced: Traced,
    /// Where a decoder is before it.
    pub(super) before: State,
    /// The P0 instruction, or the return address.
    pub(super) end: Address,
    pub(super) stack: StackUse,
    /// A P0 instruction of it that was left out.
    pub(super) left_out: Option<P0>,
}

impl Block {
    /// Something that executes no instructions.
    pub(super) const fn empty(elements: u32, at: State, stack: StackUse) -> Self {
        Self { elements, traced: Traced::Other, before: at, end: at.address, stack, left_out: None }
    }

    /// Whether execution that goes on here is still in the block: a decoder needs no address.
    pub(super) fn reaches(&self, state: &State) -> bool {
        let range = self.before.address..=self.end;
        self.before.isa == state.isa && range.contains(&state.address)
    }
}

/// Anywhere.
pub(super) fn nowhere() -> State {
    State { isa: InstructionSet::A64, ..State::default() }
}

/// Uncommitted P0 elements, and the latest committed one.
#[derive(Debug)]
pub(super) struct Pipeline {
    blocks: VecDeque<Block>,
    /// Elements before these of which nothing else is known.
    older: u32,
    committed: Block,
}

impl Pipeline {
    /// The most blocks that are remembered one by one.
    const MOST: usize = 1 << 16;

    pub(super) fn new() -> Self {
        let committed = Block::empty(0, nowhere(), StackUse::default());
        Self { blocks: VecDeque::new(), older: 0, committed }
    }

    pub(super) fn push(&mut self, block: Block) {
        if self.blocks.len() >= Self::MOST
            && let Some(oldest) = self.blocks.pop_front()
        {
            self.older = self.older.saturating_add(oldest.elements);
        }
        self.blocks.push_back(block);
    }

    /// The oldest elements are committed; how many there were.
    pub(super) fn commit(&mut self, count: u32) -> u32 {
        let mut left = count - count.min(self.older);
        self.older -= count - left;
        while left > 0
            && let Some(block) = self.blocks.front_mut()
        {
            let elements = left.min(block.elements);
            block.elements -= elements;
            left -= elements;
            if block.elements == 0 {
                self.committed = *block;
                self.blocks.pop_front();
            }
        }
        count - left
    }

    /// The youngest block never happened, or no more of its elements than `most`.
    pub(super) fn cancel(&mut self, most: u32) -> Option<Block> {
        let block = self.blocks.back_mut()?;
        if block.elements <= most {
            return self.blocks.pop_back();
        }
        // A Transaction Start remains.
        let cancelled = Block { elements: most, ..*block };
        *block = Block::empty(block.elements - most, block.before, StackUse::default());
        Some(cancelled)
    }

    /// So many older elements never happened, of which nothing else is known.
    pub(super) fn cancel_older(&mut self, most: u32) -> u32 {
        let count = most.min(self.older);
        self.older -= count;
        count
    }

    /// The youngest block, committed or not.
    pub(super) fn youngest(&mut self) -> &mut Block {
        self.blocks.back_mut().unwrap_or(&mut self.committed)
    }

    /// Whether the youngest block can be cancelled.
    pub(super) fn is_open(&self) -> bool {
        !self.blocks.is_empty()
    }

    /// All of it is lost or discarded.
    pub(super) fn clear(&mut self) {
        *self = Self::new();
    }
}
