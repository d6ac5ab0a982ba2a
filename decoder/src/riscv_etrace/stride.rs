//! Walking block by block as long as only explicit outcomes and inferable jumps decide where the flow goes.

use super::blocks::{Block, End};
use super::effort::Pace;
use super::instruction::Class;
use super::program_map::ProgramMap;
use super::walk::{Goal, Until, Walker};

/// Where a stride has ended.
pub(super) enum Stride {
    /// At the goal.
    Arrived,
    /// At the pc, which is reported; an uninferable discontinuity.
    Discontinuity,
    /// At the pc, which is reported and has this index; its instruction takes a closer look.
    At(usize),
    /// In front of the pc, which is not reported and may have no code; nothing uninferable led there.
    Before,
}

/// Where a stride is, and what it has spent and kept.
#[derive(Clone, Copy)]
struct State {
    /// Index of the half-word, which is not reported.
    at: usize,
    /// Index of the first half-word that is passed but not reported.
    first: usize,
    /// Instructions from there on.
    count: u64,
    /// Oldest in bit 0; 0 = taken.
    outcomes: u64,
    left: u32,
    /// Instructions since the latest outcome.
    steps: u64,
}

/// The code that is passed, and who is told.
struct Way<'a, F> {
    blocks: &'a [Block],
    /// Jumps up to this one need no closer look.
    inferable: End,
    /// See [`Limits::steps`](super::Limits::steps).
    limit: u64,
    /// Address of the half-word with index 0.
    base: u64,
    mask: u64,
    pass: F,
}

impl<F: FnMut(u64, u64, u64)> Way<'_, F> {
    /// Goes on as long as more than one outcome is left, so that no block has the goal or the last branch in it, and blocks
    /// lead on.
    ///
    /// A function of its own, so that all it needs is in registers.
    #[inline(never)]
    fn over_branches(&mut self, state: &mut State) {
        let Self { blocks, inferable, limit, .. } = *self;
        let State { mut at, mut first, mut count, mut outcomes, mut left, mut steps } = *state;
        while let Some(block) = blocks.get(at) {
            let instructions = u64::from(block.count);
            let end = at + block.halfwords();
            if block.end == End::Branch {
                count += instructions;
                let taken = outcomes & 1 == 0;
                outcomes >>= 1;
                left -= 1;
                steps = 1;
                if taken {
                    self.pass(first, end, count);
                    (at, first, count) = (block.target as usize, block.target as usize, 0);
                } else {
                    at = end;
                }
                if left <= 1 {
                    break;
                }
            } else if block.end <= inferable && steps + instructions <= limit + 1 {
                steps += instructions;
                self.pass(first, end, count + instructions);
                (at, first, count) = (block.target as usize, block.target as usize, 0);
            } else {
                break;
            }
        }
        *state = State { at, first, count, outcomes, left, steps };
    }

    /// Tells of `count` instructions from the half-word `first` to the half-word `end`.
    #[inline(always)]
    fn pass(&mut self, first: usize, end: usize, count: u64) {
        let address = |index: usize| self.base.wrapping_add(2 * index as u64) & self.mask;
        (self.pass)(address(first), address(end), count);
    }
}

impl Walker {
    /// Whether blocks say all that has to be known of the way. Other modes need to know more of what is passed.
    #[inline]
    pub(super) const fn strides(&self) -> bool {
        #[cfg(test)]
        if self.closely {
            return false;
        }
        !self.modes.sijump && !self.modes.branch_prediction && self.outcomes.is_explicit()
    }

    /// Walks on from the pc, which is reported and has the index `here`, as far as blocks lead. `pass` gets what is
    /// passed: first address, address behind, number of instructions.
    #[inline(always)]
    pub(super) fn stride(
        &mut self,
        map: &ProgramMap,
        goal: &Goal,
        here: usize,
        pace: &mut Pace,
        pass: impl FnMut(u64, u64, u64),
    ) -> Stride {
        let blocks = map.blocks();
        let Some(start) = blocks.get(here) else { return Stride::At(here) };
        let base = self.pc.wrapping_sub(2 * here as u64);
        let inferable = if self.modes.implicit_return { End::Jump } else { End::Call };
        let mut way = Way { blocks, inferable, limit: self.limits.steps, base, mask: map.mask(), pass };
        let (outcomes, left) = self.outcomes.explicit();
        let Pace { steps, outcome } = *pace;
        let mut state = State { at: here, first: 0, count: 0, outcomes, left, steps };

        if start.run > 0 {
            state.at += usize::from(start.step);
            state.steps += 1;
        } else if start.end == End::Branch && left > 0 {
            let taken = outcomes & 1 == 0;
            state.at = if taken { start.target as usize } else { here + usize::from(start.step) };
            (state.outcomes, state.left, state.steps) = (outcomes >> 1, left - 1, 1);
        } else if start.end > End::Branch && start.end <= inferable && steps <= way.limit {
            state.at = start.target as usize;
            state.steps += 1;
        } else {
            return self.closer_look(start.end, here);
        }
        state.first = state.at;
        if state.left > 1 {
            way.over_branches(&mut state);
        }
        let stride = self.to_goal(map, goal, &mut state, &mut way);
        self.pc = base.wrapping_add(2 * state.at as u64) & map.mask();
        self.outcomes.set_explicit(state.outcomes, state.left);
        *pace = Pace { steps: state.steps, outcome: outcome || state.left < left };
        stride
    }

    /// The rest of a stride, which may be over anywhere.
    #[inline(always)]
    fn to_goal(
        &self,
        map: &ProgramMap,
        goal: &Goal,
        state: &mut State,
        way: &mut Way<'_, impl FnMut(u64, u64, u64)>,
    ) -> Stride {
        let State { mut at, mut first, mut count, mut outcomes, mut left, mut steps } = *state;
        let (blocks, inferable, limit) = (way.blocks, way.inferable, way.limit);
        // A branch with so few outcomes left is none to walk over.
        let kept = u32::from(goal.until == Until::LastBranch);
        let (wanted, own) = self.wanted(map, goal, way.base);
        let stride = loop {
            // Contiguous code ends with a half-word that has an entry but no instruction; so there always is one.
            let Some(block) = blocks.get(at) else { break Stride::Before };
            if left == own
                && wanted.wrapping_sub(at) <= usize::from(block.run)
                && block.end != End::Nowhere
                && map.passes(at, wanted - at)
                && let Some(there) = blocks.get(wanted)
            {
                count += u64::from(block.count - there.count) + u64::from(!goal.synchronisation);
                let own = if goal.synchronisation { 0 } else { usize::from(there.step) };
                if count > 0 {
                    way.pass(first, wanted + own, count);
                }
                at = wanted;
                break Stride::Arrived;
            }
            let instructions = u64::from(block.count);
            let end = at + block.halfwords();
            count += instructions;
            let jumps = if block.end == End::Branch && left > kept {
                let taken = outcomes & 1 == 0;
                outcomes >>= 1;
                left -= 1;
                steps = 1;
                taken
            } else if block.end > End::Branch && block.end <= inferable && steps + instructions <= limit + 1 {
                steps += instructions;
                true
            } else {
                if count > 0 {
                    way.pass(first, end, count);
                }
                if block.end == End::Nowhere {
                    break Stride::Before;
                }
                steps += instructions - 1;
                at += usize::from(block.run);
                // The last branch may be one that leads elsewhere.
                let last_branch = kept == 1 && left == 1 && map.slot(at).class == Class::Branch;
                break if last_branch { Stride::Arrived } else { self.closer_look(block.end, at) };
            };
            at = end;
            if jumps {
                way.pass(first, end, count);
                (at, first, count) = (block.target as usize, block.target as usize, 0);
            }
        };
        *state = State { at, first, count, outcomes, left, steps };
        stride
    }

    /// The stride ends at the control-flow instruction with the index `at`.
    #[inline]
    const fn closer_look(&self, end: End, at: usize) -> Stride {
        // Returns and calls may be more than that.
        let plain = matches!(end, End::Discontinuity) && !self.modes.implicit_return;
        if plain { Stride::Discontinuity } else { Stride::At(at) }
    }

    /// Index of the goal if the walk may end at it in a straight run, and how many outcomes must be left there.
    #[inline]
    fn wanted(&self, map: &ProgramMap, goal: &Goal, base: u64) -> (usize, u32) {
        const NONE: usize = usize::MAX;
        let distance = goal.address.wrapping_sub(base);
        if goal.until != Until::Arrival || distance & 1 != 0 || !self.is_depth(goal.depth) {
            return (NONE, 0);
        }
        // Of another region's half-word nothing is read but its class, for the way does not lead there.
        let index = usize::try_from(distance / 2).unwrap_or(NONE);
        (index, (map.slot(index).class == Class::Branch).into())
    }
}
