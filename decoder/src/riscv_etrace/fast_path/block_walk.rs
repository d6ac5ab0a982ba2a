//! Walking block by block as long as only explicit outcomes and inferable jumps decide where the flow goes.

use alloc::vec::Vec;

use traceproof_vectors::riscv_etrace::{Modes, RiscvEtrace};
use traceproof_vectors::{Place, Sink};

use super::blocks::{Block, End, blocks};
use super::known_walks::{KnownWalks, Passage, Task};
use crate::riscv_etrace::effort::{Effort, StepBudget};
use crate::riscv_etrace::goal::{Arrival, Goal, Until};
use crate::riscv_etrace::program_map::{ProgramMap, Region};
use crate::riscv_etrace::report::{Report, retired};
use crate::riscv_etrace::trouble::Trouble;
use crate::riscv_etrace::walk::Progress;
use crate::riscv_etrace::walker::Walker;

/// Walks as [`Walker::walk`] does: by blocks where the modes allow it, elsewhere from one control-flow instruction to
/// the next.
#[derive(Clone, Debug)]
pub(in crate::riscv_etrace) struct BlockWalk {
    /// By the index of the half-word where they begin.
    blocks: Vec<Block>,
    rules: BlockRules,
    /// Where the latest walk began; most code has the pc in it.
    region: Region,
    /// For the only rules under which a walk by blocks can land.
    known: KnownWalks,
}

/// Where a walk by blocks has ended.
enum Stop {
    /// At the goal.
    Arrived,
    /// At the goal, by an uninferable discontinuity.
    Landed,
    /// At the pc, which is reported and has this index; its instruction needs individual handling.
    At(usize),
    /// At the pc, which is not reported and may have no code; nothing uninferable led there.
    Unreported,
}

/// What the modes mean for walking by blocks.
#[derive(Clone, Copy, Debug)]
struct BlockRules {
    /// Blocks have all that must be known of the way. Other modes must know more of what is passed.
    blockwise: bool,
    /// The ends of blocks up to this one need no individual handling.
    inferable: End,
    /// What looks like an uninferable discontinuity is one, and its target need not be remembered.
    lands: bool,
}

impl BlockRules {
    const fn new(modes: Modes) -> Self {
        Self {
            blockwise: !modes.sijump && !modes.branch_prediction,
            inferable: if modes.implicit_return { End::Jump } else { End::Call },
            lands: !modes.implicit_return && !modes.jump_target_cache,
        }
    }
}

/// No half-word has this index.
const NONE: usize = usize::MAX;

/// What a goal means for a walk by blocks; indices are of half-words, or [`NONE`].
struct Target {
    /// Where an uninferable discontinuity leads, which ends the walk.
    landing: usize,
    /// Where the walk ends however it gets there.
    wanted: usize,
    /// Outcomes that are left at the end of the walk (0 or 1).
    kept: u32,
}

impl BlockWalk {
    /// For a program, with these modes in force.
    pub(in crate::riscv_etrace) fn new(map: &ProgramMap, modes: Modes) -> Self {
        Self {
            blocks: blocks(map),
            rules: BlockRules::new(modes),
            region: Region::default(),
            known: KnownWalks::new(),
        }
    }

    /// These modes are in force from here on.
    pub(in crate::riscv_etrace) const fn enter(&mut self, modes: Modes) {
        self.rules = BlockRules::new(modes);
    }

    /// [`Walker::walk`]. `map` is that of the program that the blocks are of.
    #[inline]
    pub(in crate::riscv_etrace) fn walk<S>(
        &mut self,
        walker: &mut Walker,
        map: &ProgramMap,
        goal: &Goal,
        place: Place,
        sink: &mut S,
    ) -> Result<Arrival, Trouble>
    where
        S: Sink<RiscvEtrace> + ?Sized,
    {
        let mut latest = None;
        if self.rules.blockwise {
            let task = self.task(walker, goal);
            if let Some(passage) = task.and_then(|task| self.known.get(&task)) {
                let (left, outcomes) = passage.left;
                passage.stretches().for_each(|(first, end, count)| {
                    sink.event(place, &retired(first, end, count));
                });
                walker.pc = goal.address;
                walker.outcomes.set_explicit(outcomes, left);
                return Ok(Arrival::Discontinuity);
            }
            let mut passage = Passage::new(self.region.base());
            let pass = |first, end, count| {
                passage.add(first, end, count);
                sink.event(place, &retired(first, end, count));
            };
            let (stop, budget) = self.by_blocks(walker, map, goal, 0, pass);
            match stop {
                Stop::Arrived => return Ok(Arrival::Direct),
                Stop::Landed => {
                    if let Some(task) = task {
                        let (outcomes, left) = walker.outcomes.explicit();
                        passage.left = (left, outcomes);
                        self.known.insert(task, &passage);
                    }
                    return Ok(Arrival::Discontinuity);
                }
                _ => latest = Some((stop, budget)),
            }
        }
        self.walk_on(walker, map, goal, latest, Report::new(place, sink))
    }

    /// What the walk depends on, if that is all and it may be known.
    ///
    /// Walks land under one rule only, so rules are no part of it; neither are limits, which never change.
    #[inline(always)]
    fn task(&self, walker: &Walker, goal: &Goal) -> Option<Task> {
        let &Goal { until, address, depth, synchronisation } = goal;
        if !self.rules.lands || until == Until::LastBranch || depth.is_some() || synchronisation {
            return None;
        }
        let (outcomes, left) = walker.outcomes.explicit();
        Some(Task { pc: walker.pc, address, outcomes: outcomes | 1 << left, until })
    }

    /// The rest of a [`walk`](Self::walk) that was not over after `latest`, the first walk by blocks, if there was one.
    #[inline(never)]
    fn walk_on<S>(
        &mut self,
        walker: &mut Walker,
        map: &ProgramMap,
        goal: &Goal,
        latest: Option<(Stop, StepBudget)>,
        mut report: Report<'_, S>,
    ) -> Result<Arrival, Trouble>
    where
        S: Sink<RiscvEtrace> + ?Sized,
    {
        let result = match latest {
            Some((stop, budget)) => self.follow(walker, map, goal, stop, budget, &mut report),
            None => walker.here(map).and_then(|here| {
                self.follow(walker, map, goal, Stop::At(here), StepBudget::default(), &mut report)
            }),
        };
        report.flush();
        walker.outcomes.settle(&walker.predictor, walker.pc);
        result
    }

    /// Continues where a walk by blocks has ended: over straight code or one control-flow instruction, and by blocks
    /// again.
    fn follow<S>(
        &mut self,
        walker: &mut Walker,
        map: &ProgramMap,
        goal: &Goal,
        mut stop: Stop,
        mut budget: StepBudget,
        report: &mut Report<'_, S>,
    ) -> Result<Arrival, Trouble>
    where
        S: Sink<RiscvEtrace> + ?Sized,
    {
        let mut effort = Effort::default();
        loop {
            effort.resume(budget);
            let reached = match stop {
                Stop::Arrived => return Ok(Arrival::Direct),
                Stop::Landed => return Ok(Arrival::Discontinuity),
                Stop::At(here) => Progress::At(here),
                Stop::Unreported => walker.land(map, goal, walker.here(map)?, Arrival::Direct, report)?,
            };
            let reached = match reached {
                Progress::At(here) if map.slot(here).run > 0 => {
                    walker.pass_run(map, goal, here, &mut effort, report)?
                }
                Progress::At(here) => walker.advance(map, goal, here, &mut effort, report)?,
                over @ Progress::Over(_) => over,
            };
            stop = match reached {
                Progress::At(here) => Stop::At(here),
                Progress::Over(arrival) => return Ok(arrival),
            };
            budget = StepBudget { steps: effort.steps(), outcome: false };
            if self.rules.blockwise {
                report.flush();
                let Report { sink, place, .. } = report;
                let pass = |first, end, count| sink.event(*place, &retired(first, end, count));
                (stop, budget) = self.by_blocks(walker, map, goal, effort.steps(), pass);
            }
        }
    }

    /// Walks on from the pc, which is reported, as far as blocks lead. `steps` are the instructions since the latest
    /// outcome. `pass` gets what is passed: first address, address after the last, number of instructions.
    #[inline(always)]
    fn by_blocks(
        &mut self,
        walker: &mut Walker,
        map: &ProgramMap,
        goal: &Goal,
        steps: u64,
        mut pass: impl FnMut(u64, u64, u64),
    ) -> (Stop, StepBudget) {
        debug_assert!(walker.outcomes.is_explicit(), "nothing is predicted");
        let Some(here) = self.region.halfword(walker.pc).or_else(|| self.enter_region(walker.pc, map)) else {
            return (Stop::Unreported, StepBudget { steps, outcome: false });
        };
        let (outcomes, left) = walker.outcomes.explicit();
        let target = self.target(walker, goal, left);
        let limit = walker.limits.steps;
        let mut way = Way {
            blocks: &self.blocks,
            base: self.region.base(),
            at: here,
            outcomes: outcomes | 1 << left,
            more: 2 << target.kept,
            inferable: self.rules.inferable,
            limit,
            budget: limit.saturating_sub(steps),
        };
        if !way.leave(steps) {
            return (Stop::At(here), StepBudget { steps, outcome: false });
        }
        let stop = match way.pass_blocks(map, target.wanted, goal.synchronisation, &mut pass) {
            Passed::Wanted => Stop::Arrived,
            Passed::Last(last, open) => {
                let lands = self.rules.lands && target.landing != NONE && way.outcomes < way.more;
                if last.end == End::Discontinuity && lands {
                    // Both in a row: then what the sink counts need not be in memory in between.
                    way.pass_last(last, &open, &mut pass);
                    let there = way.block(target.landing);
                    pass(goal.address, way.address(target.landing + usize::from(there.step)), 1);
                    walker.pc = goal.address;
                    walker.outcomes.set_explicit(way.outcomes & !(1 << target.kept), target.kept);
                    return (Stop::Landed, StepBudget::default());
                }
                if open.count > 0 {
                    way.pass_last(last, &open, &mut pass);
                }
                way.stop_at_end(last, goal)
            }
        };
        let left_over = way.outcomes.ilog2();
        if left_over < left {
            walker.leave_branches();
        }
        walker.pc = way.address(way.at);
        walker.outcomes.set_explicit(way.outcomes ^ 1 << left_over, left_over);
        let steps = limit.saturating_add(1) - way.budget;
        (stop, StepBudget { steps, outcome: left_over < left })
    }

    /// What the goal means for a walk that begins with `left` outcomes.
    #[inline(always)]
    fn target(&self, walker: &Walker, goal: &Goal, left: u32) -> Target {
        if goal.until == Until::LastBranch {
            return Target { landing: NONE, wanted: NONE, kept: 1 };
        }
        let index = self.region.halfword(goal.address).unwrap_or(NONE);
        let Some(there) = self.blocks.get(index).filter(|there| there.end != End::Nowhere) else {
            return Target { landing: NONE, wanted: NONE, kept: 0 };
        };
        let kept = u32::from(there.is_branch);
        if left < kept {
            return Target { landing: NONE, wanted: NONE, kept };
        }
        // All outcomes but these are consumed before the goal.
        let returns = if left > kept { walker.returns_after_branches() } else { walker.returns_so_far() };
        let is_depth = goal.depth.is_none_or(|depth| depth == returns);
        let wanted = if goal.until == Until::Arrival && is_depth { index } else { NONE };
        Target { landing: if goal.synchronisation { NONE } else { index }, wanted, kept }
    }

    /// The pc is in another region than before; its index.
    #[cold]
    fn enter_region(&mut self, pc: u64, map: &ProgramMap) -> Option<usize> {
        self.region = *map.region(pc)?;
        self.region.halfword(pc)
    }
}

/// Where one walk by blocks is. Everything about it is inlined, so that it is in registers.
struct Way<'a> {
    blocks: &'a [Block],
    /// The address that the index 0 would have.
    base: u64,
    /// Index of the half-word that comes next.
    at: usize,
    /// Outcomes that are left, oldest in bit 0, below a 1: so one comparison gives how many there are.
    outcomes: u64,
    /// With less than this in `outcomes` only those are left that are kept for the goal.
    more: u64,
    /// The ends of blocks up to this one need no individual handling.
    inferable: End,
    /// Instructions that may be passed after an outcome.
    limit: u64,
    /// Instructions that may be passed up to and with the next jump.
    budget: u64,
}

/// What was walked over and is not yet passed.
struct Open {
    /// Index of the first half-word.
    first: usize,
    /// Instructions.
    count: u64,
}

/// Why blocks are not passed any further.
enum Passed<'a> {
    /// The wanted half-word comes next, and all before it is passed.
    Wanted,
    /// The end of this block, which comes next, cannot be followed. It is counted in what is open.
    Last(&'a Block, Open),
}

impl<'a> Way<'a> {
    #[inline(always)]
    fn block(&self, index: usize) -> &'a Block {
        self.blocks.get(index).unwrap_or(&Block::NOWHERE)
    }

    #[inline(always)]
    const fn address(&self, index: usize) -> u64 {
        self.base.wrapping_add(2 * index as u64)
    }

    /// The oldest outcome, that of the branch that ends `block`: whether it is taken.
    #[inline(always)]
    const fn outcome(&mut self) -> bool {
        let taken = self.outcomes & 1 == 0;
        self.outcomes >>= 1;
        self.budget = self.limit;
        taken
    }

    /// Leaves the first instruction, which is reported, `steps` instructions after the latest outcome; whether it can
    /// be left without individual handling.
    #[inline(always)]
    fn leave(&mut self, steps: u64) -> bool {
        let start = self.block(self.at);
        if start.run() > 0 {
            self.at += usize::from(start.step);
        } else if start.end == End::Branch && self.outcomes >= self.more {
            self.at = if self.outcome() { start.target as usize } else { self.at + usize::from(start.step) };
        } else if start.end > End::Branch && start.end <= self.inferable && steps <= self.limit {
            self.at = start.target as usize;
        } else {
            return false;
        }
        true
    }

    /// Passes blocks whose ends can be followed, up to one whose end cannot, or up to the half-word `wanted`. With
    /// `short_of_it` the instruction there is not passed.
    #[inline(always)]
    fn pass_blocks(
        &mut self,
        map: &ProgramMap,
        wanted: usize,
        short_of_it: bool,
        pass: &mut impl FnMut(u64, u64, u64),
    ) -> Passed<'a> {
        let mut open = Open { first: self.at, count: 0 };
        loop {
            let block = self.pass_branches(&mut open, pass);
            let ahead = wanted.wrapping_sub(self.at);
            if self.outcomes < self.more && ahead <= block.run() && meets(map, self.at, wanted) {
                let there = self.block(wanted);
                open.count += u64::from(block.count - there.count) + u64::from(!short_of_it);
                let own = if short_of_it { 0 } else { usize::from(there.step) };
                if open.count > 0 {
                    pass(self.address(open.first), self.address(wanted + own), open.count);
                }
                self.at = wanted;
                return Passed::Wanted;
            }
            let instructions = u64::from(block.count);
            open.count += instructions;
            let inferable = block.end > End::Branch && block.end <= self.inferable;
            if !inferable || instructions > self.budget {
                return Passed::Last(block, open);
            }
            self.budget -= instructions;
            pass(self.address(open.first), self.address(self.at + block.halfwords()), open.count);
            self.at = block.target as usize;
            open = Open { first: self.at, count: 0 };
        }
    }

    /// Passes the block `last`, which comes next, and what is `open` before it.
    #[inline(always)]
    fn pass_last(&self, last: &Block, open: &Open, pass: &mut impl FnMut(u64, u64, u64)) {
        pass(self.address(open.first), self.address(self.at + last.halfwords()), open.count);
    }

    /// Passes blocks that end in branches as long as there are outcomes for them, and gives the block after them.
    ///
    /// Most of the time is spent here. It is a loop of its own, so that what it needs is in registers.
    #[inline(always)]
    fn pass_branches(&mut self, open: &mut Open, pass: &mut impl FnMut(u64, u64, u64)) -> &'a Block {
        let (mut at, mut outcomes) = (self.at, self.outcomes);
        let Open { mut first, mut count } = *open;
        let block = loop {
            let Some(block) = self.blocks.get(at) else { break &Block::NOWHERE };
            if block.end != End::Branch || outcomes < self.more {
                break block;
            }
            let end = at + block.halfwords();
            let taken = outcomes & 1 == 0;
            count += u64::from(block.count);
            outcomes >>= 1;
            at = end;
            if taken {
                pass(self.address(first), self.address(end), count);
                at = block.target as usize;
                (first, count) = (at, 0);
            }
        };
        if outcomes != self.outcomes {
            self.budget = self.limit;
        }
        (self.at, self.outcomes) = (at, outcomes);
        *open = Open { first, count };
        block
    }

    /// The block `last`, which comes next, is passed: goes to its last instruction. Where the walk has ended then.
    #[inline(always)]
    fn stop_at_end(&mut self, last: &Block, goal: &Goal) -> Stop {
        if last.end == End::Nowhere {
            return Stop::Unreported;
        }
        self.at += last.run();
        self.budget = self.budget.saturating_sub(u64::from(last.count) - 1);
        // The last branch may be one that leads elsewhere.
        let branch = matches!(last.end, End::Branch | End::BranchAway);
        if branch && goal.until == Until::LastBranch && self.outcomes >> 1 == 1 {
            return Stop::Arrived;
        }
        Stop::At(self.at)
    }
}

/// Whether straight code from the half-word `at` meets the half-word `wanted` as the start of an instruction, given
/// that it comes at least that far.
#[inline(never)]
fn meets(map: &ProgramMap, at: usize, wanted: usize) -> bool {
    map.passes(at, wanted - at)
}
