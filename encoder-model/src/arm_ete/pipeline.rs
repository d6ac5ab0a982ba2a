//! What the processing element has not resolved yet (sheet 7.7).

use alloc::collections::VecDeque;

use traceproof_vectors::Address;
use traceproof_vectors::arm::InstructionSet;
use traceproof_vectors::arm_ete::{P0, State};

use super::returns::StackUse;

/// How a P0 signal was traced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Traced {
    /// Not at all, or by something else than an atom.
    #[default]
    Other,
    /// By an atom.
    Atom(P0),
    /// Not taken and left out: a later Source Address or exception implies it.
    LeftOut(P0),
    /// Taken, by a Source Address.
    Source(P0),
}

/// A P0 instruction, exception or transaction start.
#[derive(Clone, Copy, Debug)]
pub(super) struct Block {
    /// P0 elements that stand for it and are not committed.
    pub(super) elements: u32,
    pub(super) traced: Traced,
    /// Where a decoder is before it.
    pub(super) before: State,
    /// Where a decoder is after it.
    pub(super) after: State,
    pub(super) stack: StackUse,
    /// A P0 instruction before the end of it was left out.
    pub(super) left_out: bool,
}

impl Block {
    /// Nothing was executed; the next instruction.
    pub(super) fn start(state: State) -> Self {
        Self {
            elements: 0,
            traced: Traced::Other,
            before: state,
            after: state,
            stack: StackUse::default(),
            left_out: false,
        }
    }
}

/// Anywhere.
pub(super) fn nowhere() -> State {
    State { address: Address(0), isa: InstructionSet::A64, ..State::default() }
}

/// P0 signals in order, the unresolved ones and the latest resolved one.
#[derive(Debug)]
pub(super) struct Pipeline {
    unresolved: VecDeque<Block>,
    resolved: Block,
    /// All signals that were not cancelled.
    signals: u64,
    /// The most that are unresolved: MAXSPEC, but no more than [`MOST`](Self::MOST).
    limit: usize,
}

impl Pipeline {
    /// No processing element that is modelled speculates deeper.
    const MOST: u32 = 1 << 16;

    pub(super) fn new(maxspec: u32) -> Self {
        Self {
            unresolved: VecDeque::new(),
            resolved: Block::start(nowhere()),
            signals: 0,
            limit: maxspec.min(Self::MOST) as usize,
        }
    }

    /// Adds a signal and gives back how many P0 elements it resolves: the oldest, where there are too many.
    ///
    /// Spec: ETE-R_GLQPL-1, ETE-R_YKLRM-1.
    pub(super) fn admit(&mut self, block: Block) -> u32 {
        self.signals += 1;
        self.unresolved.push_back(block);
        let surplus = self.unresolved.len().saturating_sub(self.limit);
        self.resolve(surplus)
    }

    /// The oldest are resolved; how many P0 elements stand for them.
    pub(super) fn resolve(&mut self, count: usize) -> u32 {
        let count = count.min(self.unresolved.len());
        self.unresolved.drain(..count).fold(0, |elements, block| {
            self.resolved = block;
            elements + block.elements
        })
    }

    /// One P0 element was committed without its signal.
    pub(super) fn commit_one(&mut self) {
        if let Some(block) = self.unresolved.iter_mut().find(|block| block.elements > 0) {
            block.elements -= 1;
        }
    }

    /// The youngest never happened: gives back the next one of them, youngest first.
    pub(super) fn cancel(&mut self) -> Option<Block> {
        let block = self.unresolved.pop_back()?;
        self.signals -= 1;
        Some(block)
    }

    /// How many signals there were that were not cancelled.
    pub(super) const fn signals(&self) -> u64 {
        self.signals
    }

    /// The youngest signal, resolved or not.
    pub(super) fn youngest(&mut self) -> &mut Block {
        self.unresolved.back_mut().unwrap_or(&mut self.resolved)
    }

    pub(super) fn is_unresolved(&self) -> bool {
        !self.unresolved.is_empty()
    }

    /// Their elements are lost or discarded.
    pub(super) fn forget_elements(&mut self) {
        for block in self.unresolved.iter_mut().chain([&mut self.resolved]) {
            block.elements = 0;
            block.traced = Traced::Other;
        }
    }
}
