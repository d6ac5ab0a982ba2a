//! Walking over the program from the latest reported instruction to the next (ET 11).

use traceproof_vectors::riscv_etrace::{Event, Modes, Parameters, RiscvEtrace};
use traceproof_vectors::{Address, Fault, FaultClass, Place, Sink};

use super::bits::at_bit;
use super::effort::{Effort, Jump, Limits, Pace};
use super::fast_path::block_walk::{Gait, Stride};
use super::instruction::Class;
use super::jump_target_cache::JumpTargetCache;
use super::outcomes::Outcomes;
use super::predictor::Predictor;
use super::program_map::{ProgramMap, Region, Slot};
use super::return_stack::ReturnStack;

/// Where the walker stands in the program, and all that decides where it goes next.
#[derive(Clone, Debug, Default)]
pub(super) struct Walker {
    /// The latest reported instruction.
    pub(super) pc: u64,
    /// Where the latest stride began; most code has the pc in it.
    pub(super) region: Region,
    /// The instruction before it; equal to `pc` where none is known. Kept up in `sijump` mode only.
    last_pc: u64,
    pub(super) outcomes: Outcomes,
    modes: Modes,
    /// What the modes mean for strides.
    pub(super) gait: Gait,
    pub(super) predictor: Predictor,
    pub(super) cache: JumpTargetCache,
    pub(super) returns: ReturnStack,
    pub(super) limits: Limits,
    mask: u64,
    /// Returns may be sequentially inferable, because a 3-bit `itype` does not tell them from other jumps.
    infers_returns: bool,
    /// Never in strides, so that a test can compare.
    #[cfg(test)]
    closely: bool,
}

/// When a walk is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Until {
    /// At the branch that the last outcome is for, not past it (RVET-DEC-011).
    LastBranch,
    /// As soon as the address is met with all outcomes consumed, however it is reached.
    Arrival,
    /// When an uninferable discontinuity leads to the address.
    Discontinuity,
}

/// What a walk is to reach.
#[derive(Clone, Copy, Debug)]
pub(super) struct Goal {
    pub(super) until: Until,
    /// The reported address; means nothing for [`Until::LastBranch`].
    pub(super) address: u64,
    /// `irdepth`, if the packet reports one.
    pub(super) depth: Option<u32>,
    /// The address comes from a synchronisation packet: the caller reports the instruction there, and the
    /// jump target cache does not learn it.
    pub(super) synchronisation: bool,
}

/// How a walk ended well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arrival {
    /// Without an uninferable discontinuity right before.
    Direct,
    /// By an uninferable discontinuity.
    Discontinuity,
}

/// What went wrong, to be reported at bit `bit` of the payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Trouble {
    pub(super) class: FaultClass,
    pub(super) address: Option<Address>,
    pub(super) bit: u32,
}

impl Trouble {
    pub(super) const fn new(class: FaultClass) -> Self {
        Self { class, address: None, bit: 0 }
    }

    pub(super) const fn at(class: FaultClass, address: u64) -> Self {
        Self { class, address: Some(Address(address)), bit: 0 }
    }

    pub(super) const fn fault(self, place: Place) -> Fault {
        Fault { class: self.class, place: at_bit(place, self.bit), address: self.address }
    }
}

/// Where the flow goes from an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// To this address, by the instruction alone.
    To(u64),
    /// To this address, which the instruction before it loaded.
    Sequential(u64),
    /// To this address, where the latest call came from.
    ImplicitReturn(u64),
    /// To the first address if the branch is taken, else to the second.
    Branch(u64, u64),
    /// To an address that only a packet can tell.
    Discontinuity,
}

impl Walker {
    pub(super) fn new(parameters: &Parameters, limits: Limits) -> Self {
        let mut walker = Self {
            predictor: Predictor::new(parameters),
            cache: JumpTargetCache::new(parameters),
            returns: ReturnStack::new(parameters),
            limits,
            mask: parameters.address_mask(),
            infers_returns: parameters.itype_width_p < 4,
            ..Self::default()
        };
        walker.enter(parameters.modes);
        walker
    }

    /// The modes in force.
    pub(super) const fn modes(&self) -> Modes {
        self.modes
    }

    /// These modes are in force from here on.
    pub(super) fn enter(&mut self, modes: Modes) {
        // Nobody kept up with the instruction before while that did not matter.
        if modes.sijump && !self.modes.sijump {
            self.forget_last();
        }
        self.modes = modes;
        self.gait = Gait::new(modes);
        #[cfg(test)]
        if self.closely {
            self.gait = self.gait.closely();
        }
    }

    /// From here on block by block no more.
    #[cfg(test)]
    pub(super) fn walk_closely(&mut self) {
        self.closely = true;
        self.enter(self.modes);
    }

    /// Forgets everything that a synchronisation makes void; `outcome` is that of a branch at the pc.
    pub(super) fn synchronise(&mut self, outcome: Option<bool>) {
        self.outcomes.clear();
        if let Some(taken) = outcome {
            self.outcomes.push(taken);
        }
        self.predictor.reset();
        self.cache.invalidate();
        self.returns.clear();
        self.forget_last();
    }

    /// No inference crosses this point. Spec: RVET-DEC-033 (ET 11).
    pub(super) const fn forget_last(&mut self) {
        self.last_pc = self.pc;
    }

    /// The address `distance` bytes behind `address`.
    #[inline]
    const fn offset(&self, address: u64, distance: u64) -> u64 {
        address.wrapping_add(distance) & self.mask
    }

    /// Reports the single instruction at the pc.
    pub(super) fn report_here<S>(&self, slot: &Slot, place: Place, sink: &mut S)
    where
        S: Sink<RiscvEtrace> + ?Sized,
    {
        let end = self.offset(self.pc, u64::from(slot.length));
        sink.event(place, &retired(self.pc, end, 1));
    }

    /// Where the flow goes from the pc, whose instruction is `slot`. `depth` is the `irdepth` that the packet
    /// reports: a return at this depth may not be implicit. Tests in the order of ET 11.
    #[inline]
    pub(super) fn step(&self, map: &ProgramMap, slot: &Slot, depth: Option<u32>) -> Step {
        let behind = self.offset(self.pc, u64::from(slot.length));
        match slot.class {
            class if class.is_inferable_jump() => Step::To(slot.target(self.pc) & self.mask),
            Class::Branch => Step::Branch(slot.target(self.pc) & self.mask, behind),
            Class::TrapReturn => Step::Discontinuity,
            class if class.is_uninferable_jump() => self.uninferable(map, slot, depth),
            _ => Step::To(behind),
        }
    }

    /// Spec: RVET-DEC-032, RVET-DEC-036 (ET 11).
    #[inline]
    fn uninferable(&self, map: &ProgramMap, slot: &Slot, depth: Option<u32>) -> Step {
        let is_return = slot.class == Class::Return;
        if self.modes.sijump
            && (self.infers_returns || !is_return)
            && let Some(target) = self.sequential_target(map, slot)
        {
            return Step::Sequential(target);
        }
        if self.modes.implicit_return
            && is_return
            && !(self.returns.is_checked() && depth == Some(self.returns.depth()))
            && let Some(link) = self.returns.top()
        {
            return Step::ImplicitReturn(link);
        }
        Step::Discontinuity
    }

    /// The target of a jump through the register that the instruction before it loaded. Spec: RVET-DEC-034 (ET 11).
    fn sequential_target(&self, map: &ProgramMap, jump: &Slot) -> Option<u64> {
        if self.last_pc == self.pc || jump.register == 0 {
            return None;
        }
        let last = map.slot(map.locate(self.last_pc)?);
        let base = match last.class {
            Class::LoadUpper => 0,
            Class::LoadUpperPc => self.last_pc,
            _ => return None,
        };
        let target = |slot: &Slot, base: u64| base.wrapping_add_signed(i64::from(slot.immediate));
        (last.register == jump.register).then(|| target(jump, target(last, base)) & !1 & self.mask)
    }

    /// Walks from the pc to the goal and reports every instruction that it comes to (RVET-DEC-003).
    ///
    /// Afterwards the pc is the instruction reached, and what is left of the outcomes is its own.
    #[inline]
    pub(super) fn walk<S>(
        &mut self,
        map: &ProgramMap,
        goal: &Goal,
        place: Place,
        sink: &mut S,
    ) -> Result<Arrival, Trouble>
    where
        S: Sink<RiscvEtrace> + ?Sized,
    {
        let mut way = None;
        if self.strides() {
            let pass = |first, end, count| sink.event(place, &retired(first, end, count));
            let (stride, pace) = self.stride(map, goal, 0, pass);
            match stride {
                Stride::Arrived => return Ok(Arrival::Direct),
                Stride::Landed => return Ok(Arrival::Discontinuity),
                _ => way = Some((stride, pace)),
            }
        }
        self.walk_on(map, goal, way, place, sink)
    }

    /// The rest of a [`walk`](Self::walk) that was not over after one stride, if it began with one.
    #[inline(never)]
    fn walk_on<S>(
        &mut self,
        map: &ProgramMap,
        goal: &Goal,
        way: Option<(Stride, Pace)>,
        place: Place,
        sink: &mut S,
    ) -> Result<Arrival, Trouble>
    where
        S: Sink<RiscvEtrace> + ?Sized,
    {
        let (stride, pace) = match way {
            Some(way) => way,
            None => {
                let here = map.locate(self.pc).ok_or(Trouble::at(FaultClass::NoCode, self.pc))?;
                (Stride::At(here), Pace::default())
            }
        };
        let mut report = Report { sink, place, first: 0, end: 0, count: 0 };
        let result = self.follow(map, goal, stride, pace, &mut report);
        report.flush();
        self.outcomes.settle(&self.predictor, self.pc);
        result
    }

    /// Goes on where the first stride of a walk has ended: leap by leap, over a straight run or over the control-flow
    /// instruction behind it, and in strides again where they lead on.
    fn follow<S>(
        &mut self,
        map: &ProgramMap,
        goal: &Goal,
        mut stride: Stride,
        mut pace: Pace,
        report: &mut Report<'_, S>,
    ) -> Result<Arrival, Trouble>
    where
        S: Sink<RiscvEtrace> + ?Sized,
    {
        let mut effort = Effort::default();
        loop {
            effort.stride(pace);
            let mut arrival = Arrival::Direct;
            let mut here = match stride {
                Stride::Arrived => return Ok(arrival),
                Stride::Landed => return Ok(Arrival::Discontinuity),
                Stride::Discontinuity => return self.discontinue(map, goal, report.place, report.sink),
                Stride::At(reached) => reached,
                Stride::Before => {
                    let here = map.locate(self.pc).ok_or(Trouble::at(FaultClass::NoCode, self.pc))?;
                    if self.land(map, goal, here, arrival, report)? {
                        return Ok(arrival);
                    }
                    here
                }
            };
            let slot = *map.slot(here);
            if slot.run > 0 {
                if let Some(reached) = self.stop_within(map, goal, here, &slot) {
                    let stop = map.slot(reached);
                    let first = self.offset(self.pc, u64::from(slot.length));
                    self.leap(map, here, reached);
                    let mut count = u64::from(slot.count() - stop.count());
                    let mut end = self.offset(self.pc, u64::from(stop.length));
                    if goal.synchronisation {
                        (count, end) = (count - 1, self.pc);
                    }
                    report.add(first, end, count);
                    return Ok(arrival);
                }
                let first = self.offset(self.pc, u64::from(slot.length));
                let behind = here + slot.run as usize;
                self.leap(map, here, behind);
                report.add(first, self.pc, u64::from(slot.count()) - 1);
                effort.pass(slot.count());
                here = if map.slot(behind).class == Class::Missing {
                    // Code may go on at the other end of the address space.
                    map.locate(self.pc).ok_or(Trouble::at(FaultClass::NoCode, self.pc))?
                } else {
                    behind
                };
            } else {
                let step = self.step(map, &slot, self.reported_depth(map, goal));
                let to = self.take(step, &slot, goal, &mut effort)?;
                if slot.class.is_call() && self.modes.implicit_return {
                    let lost = self.returns.push(self.offset(self.pc, u64::from(slot.length)));
                    if lost.is_some() {
                        effort.forget_bottom();
                    }
                }
                self.last_pc = core::mem::replace(&mut self.pc, to);
                effort.pass(1);
                if step == Step::Discontinuity {
                    arrival = Arrival::Discontinuity;
                }
                here = match map.locate(to) {
                    Some(here) => here,
                    None if goal.synchronisation && arrival == Arrival::Discontinuity => return Ok(arrival),
                    None => return Err(Trouble::at(FaultClass::NoCode, to)),
                };
            }
            if self.land(map, goal, here, arrival, report)? {
                return Ok(arrival);
            }
            stride = Stride::At(here);
            pace = Pace { steps: effort.steps(), outcome: false };
            if self.strides() {
                report.flush();
                let Report { sink, place, .. } = report;
                let pass = |first, end, count| sink.event(*place, &retired(first, end, count));
                (stride, pace) = self.stride(map, goal, effort.steps(), pass);
            }
        }
    }

    /// Leaves the pc by an uninferable discontinuity, which ends the walk.
    #[inline]
    fn discontinue<S>(
        &mut self,
        map: &ProgramMap,
        goal: &Goal,
        place: Place,
        sink: &mut S,
    ) -> Result<Arrival, Trouble>
    where
        S: Sink<RiscvEtrace> + ?Sized,
    {
        let to = self.reported_target(goal)?;
        self.last_pc = core::mem::replace(&mut self.pc, to);
        if goal.synchronisation {
            return Ok(Arrival::Discontinuity);
        }
        let slot = map.slot(map.locate(to).ok_or(Trouble::at(FaultClass::NoCode, to))?);
        self.report_here(slot, place, sink);
        self.check_outcomes(slot.class == Class::Branch).map(|()| Arrival::Discontinuity)
    }

    /// The pc, which has the index `here`, was reached so: reports it, and says whether the walk is over.
    #[inline]
    fn land<S>(
        &self,
        map: &ProgramMap,
        goal: &Goal,
        here: usize,
        arrival: Arrival,
        report: &mut Report<'_, S>,
    ) -> Result<bool, Trouble>
    where
        S: Sink<RiscvEtrace> + ?Sized,
    {
        let landed = map.slot(here);
        let is_branch = landed.class == Class::Branch;
        let stops = self.stops(goal, arrival, is_branch);
        if stops && goal.synchronisation {
            return Ok(true);
        }
        report.add(self.pc, self.offset(self.pc, u64::from(landed.length)), 1);
        if stops && arrival == Arrival::Discontinuity {
            self.check_outcomes(is_branch)?;
        }
        Ok(stops)
    }

    /// Whether the walk is over at the pc, which was reached so. The tests stand in the order of ET 11.
    #[inline]
    fn stops(&self, goal: &Goal, arrival: Arrival, is_branch: bool) -> bool {
        match goal.until {
            Until::LastBranch => is_branch && self.outcomes.len() == 1,
            _ if arrival == Arrival::Discontinuity => true,
            Until::Arrival => {
                self.pc == goal.address
                    && self.outcomes.len() == u64::from(is_branch)
                    && self.is_depth(goal.depth)
            }
            Until::Discontinuity => false,
        }
    }

    /// The slot strictly within the straight run of `slot` at which the walk is over.
    #[inline]
    fn stop_within(&self, map: &ProgramMap, goal: &Goal, here: usize, slot: &Slot) -> Option<usize> {
        let distance = goal.address.wrapping_sub(self.pc) & self.mask;
        if distance == 0 || distance >= 2 * u64::from(slot.run) || distance & 1 != 0 {
            return None;
        }
        let ahead = (distance / 2) as usize;
        // No instruction within a straight run is a branch, so nothing may be left for one.
        let stops = goal.until == Until::Arrival
            && self.outcomes.len() == 0
            && self.is_depth(goal.depth)
            && map.passes(here, ahead);
        stops.then_some(here + ahead)
    }

    /// The depth of a return that leads to the goal. One in front of a branch whose outcome travels with the packet is
    /// another: it would leave that outcome over (RVET-DEC-014).
    #[inline]
    fn reported_depth(&self, map: &ProgramMap, goal: &Goal) -> Option<u32> {
        goal.depth.filter(|_| {
            let own = map.locate(goal.address).is_some_and(|there| map.slot(there).class == Class::Branch);
            self.outcomes.len() == u64::from(own)
        })
    }

    /// Spec: RVET-ENC-057 (ET 7.6.3): a reported depth tells apart arrivals at the same address.
    #[inline]
    pub(super) fn is_depth(&self, depth: Option<u32>) -> bool {
        depth.is_none_or(|depth| depth == self.returns.depth())
    }

    /// Moves the pc over straight code from the slot `from` to the slot `to`.
    #[inline]
    fn leap(&mut self, map: &ProgramMap, from: usize, to: usize) {
        let distance = to - from;
        let pc = self.pc;
        self.pc = self.offset(pc, 2 * distance as u64);
        if self.modes.sijump {
            let short = map.slot(to - 1).length == 2 && map.passes(from, distance - 1);
            let before = if short { distance - 1 } else { distance.saturating_sub(2) };
            self.last_pc = self.offset(pc, 2 * before as u64);
        }
    }

    /// Takes the step from the pc: where it leads, or why it cannot be taken.
    #[inline]
    fn take(&mut self, step: Step, slot: &Slot, goal: &Goal, effort: &mut Effort) -> Result<u64, Trouble> {
        let limit = Trouble::at(FaultClass::Limit, self.pc);
        match step {
            Step::Branch(target, behind) => {
                let taken = self
                    .outcomes
                    .take(&self.predictor, self.pc)
                    .ok_or(Trouble::at(FaultClass::MissingOutcome, self.pc))?;
                if self.modes.branch_prediction {
                    self.predictor.learn(self.pc, taken);
                }
                *effort = Effort::default();
                Ok(if taken { target } else { behind })
            }
            Step::Discontinuity => self.reported_target(goal),
            Step::To(to) => effort.jump(slot, self.limits).map(|()| to).ok_or(limit),
            Step::Sequential(to) => {
                let jump = Jump { from: self.pc, to, depth: self.returns.depth() };
                effort.infer(jump, self.limits).map(|()| to).ok_or(limit)
            }
            Step::ImplicitReturn(to) => {
                self.returns.pop();
                let jump = Jump { from: self.pc, to, depth: self.returns.depth() };
                effort.infer(jump, self.limits).map(|()| to).ok_or(limit)
            }
        }
    }

    /// Where an uninferable discontinuity at the pc leads.
    #[inline]
    fn reported_target(&mut self, goal: &Goal) -> Result<u64, Trouble> {
        if goal.until == Until::LastBranch {
            return Err(Trouble::at(FaultClass::UnexpectedDiscontinuity, self.pc));
        }
        if self.modes.jump_target_cache && !goal.synchronisation {
            self.cache.store(goal.address);
        }
        Ok(goal.address)
    }

    /// At a target the only outcome left must be its own. Spec: RVET-DEC-014 (ET 11).
    pub(super) fn check_outcomes(&self, is_branch: bool) -> Result<(), Trouble> {
        match self.outcomes.len() {
            0 if is_branch => Err(Trouble::at(FaultClass::MissingOutcome, self.pc)),
            left if left == u64::from(is_branch) => Ok(()),
            _ => Err(Trouble::at(FaultClass::LeftoverOutcome, self.pc)),
        }
    }
}

/// Joins consecutive instructions into one event.
struct Report<'a, S: ?Sized> {
    sink: &'a mut S,
    place: Place,
    first: u64,
    end: u64,
    count: u64,
}

impl<S: Sink<RiscvEtrace> + ?Sized> Report<'_, S> {
    #[inline]
    fn add(&mut self, first: u64, end: u64, count: u64) {
        if count == 0 {
            return;
        }
        if self.count > 0 && self.end == first {
            self.count += count;
        } else {
            self.flush();
            (self.first, self.count) = (first, count);
        }
        self.end = end;
    }

    #[inline]
    fn flush(&mut self) {
        if self.count > 0 {
            let &mut Self { first, end, count, .. } = self;
            self.sink.event(self.place, &retired(first, end, count));
            self.count = 0;
        }
    }
}

/// `count` instructions from `first` up to `end`.
const fn retired(first: u64, end: u64, count: u64) -> Event {
    Event::Retire { first: Address(first), end: Address(end), count }
}
