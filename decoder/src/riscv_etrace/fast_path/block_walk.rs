//! Walking block by block as long as only explicit outcomes and inferable jumps decide where the flow goes.

use traceproof_vectors::riscv_etrace::Modes;

use super::blocks::{Block, End};
use crate::riscv_etrace::effort::Pace;
use crate::riscv_etrace::program_map::ProgramMap;
use crate::riscv_etrace::walk::{Goal, Until, Walker};

/// Where a stride has ended.
pub(in crate::riscv_etrace) enum Stride {
    /// At the goal.
    Arrived,
    /// At the goal, by an uninferable discontinuity.
    Landed,
    /// At the pc, which is reported; an uninferable discontinuity.
    Discontinuity,
    /// At the pc, which is reported and has this index; its instruction takes a closer look.
    At(usize),
    /// In front of the pc, which is not reported and may have no code; nothing uninferable led there.
    Before,
}

/// What the modes mean for strides.
#[derive(Clone, Copy, Debug)]
pub(in crate::riscv_etrace) struct Gait {
    /// Blocks say all that has to be known of the way. Other modes need to know more of what is passed.
    blockwise: bool,
    /// What ends a block up to this one needs no closer look.
    inferable: End,
    /// What looks like an uninferable discontinuity is one. Returns may be more than that.
    discontinuous: bool,
    /// Nobody learns the targets of uninferable discontinuities.
    lands: bool,
}

impl Gait {
    pub(in crate::riscv_etrace) const fn new(modes: Modes) -> Self {
        Self {
            blockwise: !modes.sijump && !modes.branch_prediction,
            inferable: if modes.implicit_return { End::Jump } else { End::Call },
            discontinuous: !modes.implicit_return,
            lands: !modes.implicit_return && !modes.jump_target_cache,
        }
    }

    /// Never block by block.
    #[cfg(test)]
    pub(in crate::riscv_etrace) const fn closely(self) -> Self {
        Self { blockwise: false, ..self }
    }
}

impl Default for Gait {
    fn default() -> Self {
        Self::new(Modes::default())
    }
}

/// No half-word has this index.
const NONE: usize = usize::MAX;

/// What a goal means for a stride; indices are of half-words, or [`NONE`].
struct Target {
    /// Where an uninferable discontinuity leads, which ends the walk.
    landing: usize,
    /// Where the walk ends however it gets there.
    wanted: usize,
    /// Outcomes that are left at the end of the walk (0 or 1).
    kept: u32,
}

impl Walker {
    /// Whether blocks say all that has to be known of the way.
    #[inline]
    pub(in crate::riscv_etrace) const fn strides(&self) -> bool {
        self.gait.blockwise
    }

    /// Walks on from the pc, which is reported, as far as blocks lead. `steps` are the instructions since the latest
    /// outcome. `pass` gets what is passed: first address, address behind, number of instructions.
    ///
    /// Outcomes are shifted out of a word with a 1 above them, so that one comparison tells how many are left.
    #[inline(always)]
    pub(in crate::riscv_etrace) fn stride(
        &mut self,
        map: &ProgramMap,
        goal: &Goal,
        steps: u64,
        mut pass: impl FnMut(u64, u64, u64),
    ) -> (Stride, Pace) {
        debug_assert!(self.outcomes.is_explicit(), "nothing is predicted");
        let Some(here) = self.region.halfword(self.pc).or_else(|| self.enter_region(map)) else {
            return (Stride::Before, Pace { steps, outcome: false });
        };
        let blocks = map.blocks();
        let block_at = |index: usize| blocks.get(index).unwrap_or(&Block::NOWHERE);
        let base = self.region.base();
        let address = |index: usize| base.wrapping_add(2 * index as u64);
        let (outcomes, left) = self.outcomes.explicit();
        let Target { landing, wanted, kept } = self.target(blocks, goal, left);
        let mut outcomes = outcomes | 1 << left;
        // With fewer outcomes only those that are kept are left.
        let more = 2 << kept;

        let (inferable, limit) = (self.gait.inferable, self.limits.steps);
        // Instructions that may be passed up to and with the next jump.
        let mut budget = limit.saturating_sub(steps);
        let mut at = here;
        let stride = 'way: {
            let start = block_at(at);
            if start.run > 0 {
                at += usize::from(start.step);
            } else if start.end == End::Branch && outcomes >= more {
                at = if outcomes & 1 == 0 { start.target as usize } else { at + usize::from(start.step) };
                outcomes >>= 1;
                budget = limit;
            } else if start.end > End::Branch && start.end <= inferable && steps <= limit {
                at = start.target as usize;
            } else {
                return (self.closer_look(start.end, here), Pace { steps, outcome: false });
            }
            let (mut first, mut count) = (at, 0);
            let last = loop {
                let Some(block) = blocks.get(at) else { break &Block::NOWHERE };
                let (end, instructions) = (at + block.halfwords(), u64::from(block.count));
                if outcomes >= more {
                    if block.end == End::Branch {
                        let taken = outcomes & 1 == 0;
                        outcomes >>= 1;
                        budget = limit;
                        count += instructions;
                        if taken {
                            pass(address(first), address(end), count);
                            (at, first, count) = (block.target as usize, block.target as usize, 0);
                        } else {
                            at = end;
                        }
                        continue;
                    }
                } else if wanted.wrapping_sub(at) <= usize::from(block.run) && meets(map, at, wanted) {
                    let there = block_at(wanted);
                    count += u64::from(block.count - there.count) + u64::from(!goal.synchronisation);
                    let own = if goal.synchronisation { 0 } else { usize::from(there.step) };
                    if count > 0 {
                        pass(address(first), address(wanted + own), count);
                    }
                    at = wanted;
                    break 'way Stride::Arrived;
                }
                if block.end > End::Branch && block.end <= inferable && instructions <= budget {
                    budget -= instructions;
                    pass(address(first), address(end), count + instructions);
                    (at, first, count) = (block.target as usize, block.target as usize, 0);
                } else {
                    break block;
                }
            };
            count += u64::from(last.count);
            if count > 0 {
                pass(address(first), address(at + last.halfwords()), count);
            }
            if last.end == End::Discontinuity && self.gait.lands && landing != NONE && outcomes < more {
                let there = block_at(landing);
                pass(goal.address, address(landing + usize::from(there.step)), 1);
                self.pc = goal.address;
                self.outcomes.set_explicit(outcomes & !(1 << kept), kept);
                return (Stride::Landed, Pace::default());
            }
            if last.end == End::Nowhere {
                break 'way Stride::Before;
            }
            at += usize::from(last.run);
            budget = budget.saturating_sub(u64::from(last.count) - 1);
            // The last branch may be one that leads elsewhere.
            let branch = matches!(last.end, End::Branch | End::BranchAway);
            if branch && goal.until == Until::LastBranch && outcomes >> 1 == 1 {
                break 'way Stride::Arrived;
            }
            self.closer_look(last.end, at)
        };
        let left_over = outcomes.ilog2();
        self.pc = address(at);
        self.outcomes.set_explicit(outcomes ^ 1 << left_over, left_over);
        (stride, Pace { steps: limit.saturating_add(1) - budget, outcome: left_over < left })
    }

    /// What the goal means for a stride that begins with `left` outcomes.
    #[inline(always)]
    fn target(&self, blocks: &[Block], goal: &Goal, left: u32) -> Target {
        if goal.until == Until::LastBranch {
            return Target { landing: NONE, wanted: NONE, kept: 1 };
        }
        let index = self.region.halfword(goal.address).unwrap_or(NONE);
        let Some(there) = blocks.get(index).filter(|there| there.end != End::Nowhere) else {
            return Target { landing: NONE, wanted: NONE, kept: 0 };
        };
        let kept = u32::from(there.is_branch);
        if left < kept {
            return Target { landing: NONE, wanted: NONE, kept };
        }
        let wanted = if goal.until == Until::Arrival && self.is_depth(goal.depth) { index } else { NONE };
        Target { landing: if goal.synchronisation { NONE } else { index }, wanted, kept }
    }

    /// The pc is in another region than before; its index.
    #[cold]
    fn enter_region(&mut self, map: &ProgramMap) -> Option<usize> {
        self.region = *map.region(self.pc)?;
        self.region.halfword(self.pc)
    }

    /// The stride ends at the control-flow instruction with the index `at`.
    #[inline(always)]
    fn closer_look(&self, end: End, at: usize) -> Stride {
        if end == End::Discontinuity && self.gait.discontinuous {
            Stride::Discontinuity
        } else {
            Stride::At(at)
        }
    }
}

/// Whether straight code from the half-word `at` meets the half-word `wanted` as the start of an instruction, given that it
/// comes at least that far.
#[inline(never)]
fn meets(map: &ProgramMap, at: usize, wanted: usize) -> bool {
    map.passes(at, wanted - at)
}
