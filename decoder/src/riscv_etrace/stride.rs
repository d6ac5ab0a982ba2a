//! Walking block by block as long as only explicit outcomes and inferable jumps decide where the flow goes.

use traceproof_vectors::Sink;
use traceproof_vectors::riscv_etrace::RiscvEtrace;

use super::blocks::{Block, End};
use super::effort::Effort;
use super::instruction::Class;
use super::program_map::ProgramMap;
use super::walk::{Goal, Report, Until, Walker};

/// Legs that are collected before they are reported.
const LEGS: usize = 32;

/// Consecutive half-words that were walked over, by their indices.
#[derive(Clone, Copy, Debug, Default)]
struct Leg {
    first: u32,
    /// Behind the last one.
    end: u32,
    /// Instructions.
    count: u32,
}

/// Where a stride has ended.
pub(super) enum Stride {
    /// At the goal.
    Arrived,
    /// At the pc, which is reported and has this index; its instruction takes a closer look.
    At(usize),
    /// In front of the pc, which is not reported and may have no code; nothing uninferable led there.
    Before,
}

/// The way of a stride so far.
///
/// Which way a branch goes is what trace is about, so a processor cannot guess it. Therefore nothing in here jumps
/// depending on an outcome, and a leg is written whether or not it is complete.
struct Way {
    legs: [Leg; LEGS],
    complete: usize,
    open: Leg,
}

impl Way {
    /// Appends `count` instructions up to the half-word `end`; if `left`, the way goes on at `next`.
    #[inline]
    fn append(&mut self, count: u32, end: u32, left: bool, next: u32) {
        self.open.count += count;
        self.open.end = end;
        if let Some(place) = self.legs.get_mut(self.complete % LEGS) {
            *place = self.open;
        }
        self.complete += usize::from(left);
        self.open.first = if left { next } else { self.open.first };
        self.open.count = if left { 0 } else { self.open.count };
    }

    /// Reports the legs that are complete. The half-word with index 0 is at `base`.
    #[inline]
    fn deliver<S>(&mut self, base: u64, mask: u64, report: &mut Report<'_, S>)
    where
        S: Sink<RiscvEtrace> + ?Sized,
    {
        for leg in self.legs.iter().take(core::mem::take(&mut self.complete)) {
            leg.report(base, mask, report);
        }
    }
}

impl Leg {
    #[inline]
    fn report<S>(&self, base: u64, mask: u64, report: &mut Report<'_, S>)
    where
        S: Sink<RiscvEtrace> + ?Sized,
    {
        let address = |index: u32| base.wrapping_add(2 * u64::from(index)) & mask;
        report.add(address(self.first), address(self.end), self.count.into());
    }
}

impl Walker {
    /// Walks on from the pc, which is reported and has the index `here`, as far as blocks lead.
    #[inline]
    pub(super) fn stride<S>(
        &mut self,
        map: &ProgramMap,
        goal: &Goal,
        here: usize,
        effort: &mut Effort,
        report: &mut Report<'_, S>,
    ) -> Stride
    where
        S: Sink<RiscvEtrace> + ?Sized,
    {
        let (mask, limit) = (map.mask(), self.limits.steps);
        let base = self.pc.wrapping_sub(2 * here as u64);
        let followed = if self.modes.implicit_return { End::Jump } else { End::Call };
        // A branch with so few outcomes left is none to walk over.
        let kept = u32::from(goal.until == Until::LastBranch);
        let (wanted, own) = self.wanted(map, goal, base);
        let (mut outcomes, mut left) = self.outcomes.explicit();
        let mut steps = effort.steps();
        let mut branched = false;

        let start = map.block(here);
        let mut way = Way { legs: [Leg::default(); LEGS], complete: 0, open: Leg::default() };
        let mut at = here as u32;
        if start.run > 0 {
            at += map.length(here);
            steps += 1;
        } else {
            let is_branch = start.end == End::Branch;
            if start.end > followed || is_branch && left == 0 || !is_branch && steps > limit {
                return Stride::At(here);
            }
            at = if is_branch && outcomes & 1 != 0 { at + u32::from(start.last) } else { start.target };
            outcomes >>= u32::from(is_branch);
            left -= u32::from(is_branch);
            steps = if is_branch { 1 } else { steps + 1 };
            branched = is_branch;
        }
        way.open.first = at;

        let stride = loop {
            let block: &Block = map.block(at as usize);
            let last = at + u32::from(block.run);
            if left == own && wanted.wrapping_sub(at) <= u32::from(block.run) {
                let ahead = wanted - at;
                if block.end != End::Nowhere && map.passes(at as usize, ahead as usize) {
                    let there = map.block(wanted as usize);
                    let passed = u32::from(block.count - there.count) + u32::from(!goal.synchronisation);
                    let length = if goal.synchronisation { 0 } else { map.length(wanted as usize) };
                    way.append(passed, wanted + length, false, 0);
                    at = wanted;
                    break Stride::Arrived;
                }
            }
            let is_branch = block.end == End::Branch;
            let passed = steps + u64::from(block.count) - 1;
            let blocked = if is_branch { left <= kept } else { block.end > followed || passed > limit };
            if blocked {
                if block.end == End::Nowhere {
                    break Stride::Before;
                }
                way.append(block.count.into(), last + u32::from(block.last), false, 0);
                steps = passed;
                at = last;
                break if is_branch && left > 0 { Stride::Arrived } else { Stride::At(last as usize) };
            }
            let taken = !is_branch | (outcomes & 1 == 0);
            let end = last + u32::from(block.last);
            way.append(block.count.into(), end, taken, block.target);
            at = if taken { block.target } else { end };
            outcomes >>= u32::from(is_branch);
            left -= u32::from(is_branch);
            steps = if is_branch { 1 } else { passed + 1 };
            branched |= is_branch;
            if way.complete == LEGS {
                way.deliver(base, mask, report);
            }
        };
        way.deliver(base, mask, report);
        way.open.report(base, mask, report);
        self.pc = base.wrapping_add(2 * u64::from(at)) & mask;
        self.outcomes.set_explicit(outcomes, left);
        effort.stride(steps, branched);
        stride
    }

    /// Index of the goal if the walk may end at it in a straight run, and how many outcomes must be left there.
    #[inline]
    fn wanted(&self, map: &ProgramMap, goal: &Goal, base: u64) -> (u32, u32) {
        const NONE: u32 = u32::MAX;
        let distance = goal.address.wrapping_sub(base);
        if goal.until != Until::Arrival || distance & 1 != 0 || !self.is_depth(goal.depth) {
            return (NONE, 0);
        }
        // Of another region's half-word nothing is read but its class, for the way does not lead there.
        let index = u32::try_from(distance / 2).unwrap_or(NONE);
        (index, (map.slot(index as usize).class == Class::Branch).into())
    }
}
