//! Walking block by block as long as only explicit outcomes and inferable jumps decide where the flow goes.

use super::blocks::End;
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

impl Walker {
    /// Whether blocks say all that has to be known of the way. Other modes need to know more of what is passed.
    #[inline]
    pub(super) const fn strides(&self) -> bool {
        !self.modes.sijump && !self.modes.branch_prediction && self.outcomes.is_explicit()
    }

    /// Walks on from the pc, which is reported and has the index `here`, as far as blocks lead. `pass` gets what is
    /// passed: first address, address behind, number of instructions.
    #[inline]
    pub(super) fn stride(
        &mut self,
        map: &ProgramMap,
        goal: &Goal,
        here: usize,
        pace: &mut Pace,
        mut pass: impl FnMut(u64, u64, u64),
    ) -> Stride {
        let (mask, limit) = (map.mask(), self.limits.steps);
        let base = self.pc.wrapping_sub(2 * here as u64);
        let address = |index: usize| base.wrapping_add(2 * index as u64) & mask;
        // Jumps up to this one need no closer look.
        let inferable = if self.modes.implicit_return { End::Jump } else { End::Call };
        // A branch with so few outcomes left is none to walk over.
        let kept = u32::from(goal.until == Until::LastBranch);
        let (wanted, own) = self.wanted(map, goal, base);
        let (mut outcomes, mut left) = self.outcomes.explicit();
        let Pace { mut steps, mut outcome } = *pace;

        let blocks = map.blocks();
        let Some(start) = blocks.get(here) else { return Stride::At(here) };
        let mut at = here;
        if start.run > 0 {
            at += map.length(here);
            steps += 1;
        } else if start.end == End::Branch && left > 0 {
            at = if outcomes & 1 == 0 { start.target as usize } else { at + usize::from(start.last) };
            outcomes >>= 1;
            left -= 1;
            steps = 1;
            outcome = true;
        } else if start.end > End::Branch && start.end <= inferable && steps <= limit {
            at = start.target as usize;
            steps += 1;
        } else {
            return self.closer_look(start.end, here);
        }
        let (mut first, mut count) = (at, 0);

        let stride = loop {
            // Contiguous code ends with a half-word that has an entry but no instruction; so there always is one.
            let Some(block) = blocks.get(at) else { break Stride::Before };
            let run = usize::from(block.run);
            let end = at + run + usize::from(block.last);
            if block.end == End::Branch && left > 1 {
                // Enough outcomes are left for this to be neither the goal nor the last branch.
                count += u64::from(block.count);
                let taken = outcomes & 1 == 0;
                outcomes >>= 1;
                left -= 1;
                steps = 1;
                outcome = true;
                at = end;
                if taken {
                    pass(address(first), address(end), count);
                    (at, first, count) = (block.target as usize, block.target as usize, 0);
                }
                continue;
            }
            if left == own && wanted.wrapping_sub(at) <= run && block.end != End::Nowhere {
                let ahead = wanted - at;
                if let Some(there) = blocks.get(wanted).filter(|_| map.passes(at, ahead)) {
                    count += u64::from(block.count - there.count) + u64::from(!goal.synchronisation);
                    let length = if goal.synchronisation { 0 } else { map.length(wanted) };
                    if count > 0 {
                        pass(address(first), address(wanted + length), count);
                    }
                    at = wanted;
                    break Stride::Arrived;
                }
            }
            let passed = steps + u64::from(block.count);
            count += u64::from(block.count);
            if block.end == End::Branch && left > kept {
                let taken = outcomes & 1 == 0;
                outcomes >>= 1;
                left -= 1;
                steps = 1;
                outcome = true;
                at = end;
                if taken {
                    pass(address(first), address(end), count);
                    (at, first, count) = (block.target as usize, block.target as usize, 0);
                }
            } else if block.end > End::Branch && block.end <= inferable && passed <= limit + 1 {
                pass(address(first), address(end), count);
                (at, first, count) = (block.target as usize, block.target as usize, 0);
                steps = passed;
            } else {
                if count > 0 {
                    pass(address(first), address(end), count);
                }
                if block.end == End::Nowhere {
                    break Stride::Before;
                }
                steps = passed - 1;
                at += run;
                // The last branch may be one that leads elsewhere.
                let last_branch = kept == 1 && left == 1 && map.slot(at).class == Class::Branch;
                break if last_branch { Stride::Arrived } else { self.closer_look(block.end, at) };
            }
        };
        self.pc = address(at);
        self.outcomes.set_explicit(outcomes, left);
        *pace = Pace { steps, outcome };
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
