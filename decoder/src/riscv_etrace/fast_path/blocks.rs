//! The program cut into blocks: straight code and the instruction that ends it.

use alloc::vec::Vec;

use crate::riscv_etrace::instruction::Class;
use crate::riscv_etrace::program_map::{ProgramMap, Region};
use crate::riscv_etrace::slot::Slot;

/// Straight code from a half-word on, with the instruction after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::riscv_etrace) struct Block {
    /// Index of the half-word where a taken branch or an inferable jump at the end leads; 0 for other ends.
    pub(in crate::riscv_etrace) target: u32,
    /// Half-words, those of the last instruction included.
    halfwords: u16,
    /// Instructions, the last one included.
    pub(in crate::riscv_etrace) count: u16,
    pub(in crate::riscv_etrace) end: End,
    /// Half-words of the last instruction.
    last: u8,
    /// Half-words of the first instruction.
    pub(in crate::riscv_etrace) step: u8,
    /// The first instruction is a branch.
    pub(in crate::riscv_etrace) is_branch: bool,
}

/// What ends a block.
///
/// The order matters: what can be followed without looking at the instruction comes first, the calls among them last,
/// because implicit return mode asks for return addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(in crate::riscv_etrace) enum End {
    /// A branch within contiguous code.
    Branch,
    /// An inferable jump within contiguous code that leads into no infinite loop.
    Jump,
    /// The same, leaving a return address.
    Call,
    /// Uninferable, but for what modes make of it: a trap return, or a jump whose target is no constant.
    Discontinuity,
    /// A branch that leads elsewhere.
    BranchAway,
    /// An inferable jump that leads elsewhere, or into an infinite loop.
    JumpAway,
    /// No instruction, or one too far away: the block is empty.
    Nowhere,
}

impl Block {
    pub(in crate::riscv_etrace) const NOWHERE: Self =
        Self { target: 0, halfwords: 0, count: 0, end: End::Nowhere, last: 0, step: 0, is_branch: false };

    /// The block that begins with the control-flow instruction `slot`; `target` is the half-word where it leads, if
    /// that is in the same contiguous code.
    fn of_last(slot: &Slot, target: Option<u32>) -> Self {
        let (end, target) = match (slot.class, target) {
            (Class::Branch, Some(target)) => (End::Branch, target),
            (Class::InferableCall, Some(target)) if slot.laps() == 0 => (End::Call, target),
            (class, Some(target)) if class.is_inferable_jump() && slot.laps() == 0 => (End::Jump, target),
            (Class::Branch, None) => (End::BranchAway, 0),
            (class, _) if class.is_inferable_jump() => (End::JumpAway, 0),
            _ => (End::Discontinuity, 0),
        };
        let last = slot.length / 2;
        let is_branch = slot.class == Class::Branch;
        Self { target, halfwords: last.into(), count: 1, end, last, step: last, is_branch }
    }

    /// Half-words of the whole block.
    #[inline(always)]
    pub(in crate::riscv_etrace) const fn halfwords(&self) -> usize {
        self.halfwords as usize
    }

    /// Half-words from here to the last instruction.
    #[inline(always)]
    pub(in crate::riscv_etrace) const fn run(&self) -> usize {
        self.halfwords as usize - self.last as usize
    }

    /// This block with a straight instruction of `first` half-words before it.
    fn with_first(self, first: u8) -> Self {
        match (self.halfwords.checked_add(first.into()), self.count.checked_add(1)) {
            (Some(halfwords), Some(count)) if self.end != End::Nowhere => {
                Self { halfwords, count, step: first, is_branch: false, ..self }
            }
            _ => Self::NOWHERE,
        }
    }
}

/// Half-words that blocks are found for: indices and distances of 32 bits must never meet.
const BLOCKED: usize = 1 << 31;

/// The blocks of a program, by the index of the half-word where they begin. None leaves its region.
pub(in crate::riscv_etrace) fn blocks(map: &ProgramMap) -> Vec<Block> {
    let mut blocks = alloc::vec![Block::NOWHERE; map.len()];
    for region in map.regions() {
        find(map, region, &mut blocks);
    }
    blocks
}

/// Finds the blocks of one region, last one first.
fn find(map: &ProgramMap, region: &Region, blocks: &mut [Block]) {
    let &Region { first, halfwords, slot: start, .. } = region;
    let end = start + halfwords as usize;
    // Where addresses are cut, an index does not lead to its address, or not to the one after.
    let cut = first.checked_add(2 * halfwords).is_none_or(|after| after & map.mask() != after);
    if cut || end >= BLOCKED {
        return;
    }
    for at in (start..end).rev() {
        let slot = map.slot(at);
        let block = if slot.class == Class::Missing {
            Block::NOWHERE
        } else if slot.class.is_straight() {
            let halfwords = slot.length / 2;
            let next = at + usize::from(halfwords);
            blocks.get(next).map_or(Block::NOWHERE, |next| next.with_first(halfwords))
        } else {
            let address = first.wrapping_add(2 * (at - start) as u64);
            let target = region.halfword(slot.target(address) & map.mask());
            let target = target.filter(|&to| map.slot(to).class != Class::Missing);
            Block::of_last(slot, target.and_then(|to| u32::try_from(to).ok()))
        };
        if let Some(place) = blocks.get_mut(at) {
            *place = block;
        }
    }
}
