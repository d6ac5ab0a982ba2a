//! Walking over the program from the latest reported instruction to the next (ET 11).

use traceproof_vectors::riscv_etrace::RiscvEtrace;
use traceproof_vectors::{FaultClass, Place, Sink};

use super::effort::{Effort, Jump};
use super::goal::{Arrival, Goal, Until};
use super::instruction::Class;
use super::program_map::ProgramMap;
use super::report::Report;
use super::slot::Slot;
use super::step::Step;
use super::trouble::Trouble;
use super::walker::Walker;

/// Where a walk is after some of its way.
pub(super) enum Progress {
    /// At the pc, which is reported and has this index.
    At(usize),
    /// At the goal.
    Over(Arrival),
}

impl Walker {
    /// Walks from the pc to the goal and reports every instruction that it comes to (RVET-DEC-003).
    ///
    /// Afterwards the pc is the instruction reached, and what is left of the outcomes is its own.
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
        let mut report = Report::new(place, sink);
        let result = self.instructions(map, goal, &mut report);
        report.flush();
        self.outcomes.settle(&self.predictor, self.pc);
        result
    }

    /// The walk, instruction by instruction.
    fn instructions<S>(
        &mut self,
        map: &ProgramMap,
        goal: &Goal,
        report: &mut Report<'_, S>,
    ) -> Result<Arrival, Trouble>
    where
        S: Sink<RiscvEtrace> + ?Sized,
    {
        let mut here = self.here(map)?;
        let mut effort = Effort::default();
        loop {
            match self.advance(map, goal, here, &mut effort, report)? {
                Progress::At(next) => here = next,
                Progress::Over(arrival) => return Ok(arrival),
            }
        }
    }

    /// The index of the pc.
    #[inline]
    pub(super) fn here(&self, map: &ProgramMap) -> Result<usize, Trouble> {
        map.locate(self.pc).ok_or(Trouble::at(FaultClass::NoCode, self.pc))
    }

    /// Goes on to the instruction after the pc, which has the index `here`.
    #[inline]
    pub(super) fn advance<S>(
        &mut self,
        map: &ProgramMap,
        goal: &Goal,
        here: usize,
        effort: &mut Effort,
        report: &mut Report<'_, S>,
    ) -> Result<Progress, Trouble>
    where
        S: Sink<RiscvEtrace> + ?Sized,
    {
        let slot = *map.slot(here);
        let step = self.step(map, &slot, self.depth_of_goal(map, goal));
        let to = self.take(step, &slot, goal, effort, report.place)?;
        if slot.class.is_call()
            && self.modes().implicit_return
            && self.returns.push(self.offset(self.pc, u64::from(slot.length)))
        {
            effort.forget_bottom();
        }
        self.last_pc = core::mem::replace(&mut self.pc, to);
        effort.pass(1);
        let arrival = match step {
            Step::Discontinuity => Arrival::Discontinuity,
            _ => Arrival::Direct,
        };
        match map.locate(to) {
            Some(here) => self.land(map, goal, here, arrival, report),
            // The caller looks for the code of a synchronisation packet's address.
            None if goal.synchronisation && arrival == Arrival::Discontinuity => Ok(Progress::Over(arrival)),
            None => Err(Trouble::at(FaultClass::NoCode, to)),
        }
    }

    /// The pc, which has the index `here`, was reached like this: reports it.
    #[inline]
    pub(super) fn land<S>(
        &self,
        map: &ProgramMap,
        goal: &Goal,
        here: usize,
        arrival: Arrival,
        report: &mut Report<'_, S>,
    ) -> Result<Progress, Trouble>
    where
        S: Sink<RiscvEtrace> + ?Sized,
    {
        let landed = map.slot(here);
        let is_branch = landed.class == Class::Branch;
        let stops = self.stops(goal, arrival, is_branch);
        if stops && goal.synchronisation {
            return Ok(Progress::Over(arrival));
        }
        report.add(self.pc, self.offset(self.pc, u64::from(landed.length)), 1);
        if stops && arrival == Arrival::Discontinuity {
            self.check_outcomes(is_branch)?;
        }
        Ok(if stops { Progress::Over(arrival) } else { Progress::At(here) })
    }

    /// Whether the walk is over at the pc, which was reached like this. The tests stand in the order of ET 11.
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

    /// The depth of a return that leads to the goal. A return before a branch whose outcome travels with the packet is
    /// another: it would leave that outcome over (RVET-DEC-014).
    #[inline]
    fn depth_of_goal(&self, map: &ProgramMap, goal: &Goal) -> Option<u32> {
        goal.depth.filter(|_| {
            let own = map.locate(goal.address).is_some_and(|there| map.slot(there).class == Class::Branch);
            self.outcomes.len() == u64::from(own)
        })
    }

    /// Takes the step from the pc: where it leads, or why it cannot be taken.
    #[inline]
    fn take(
        &mut self,
        step: Step,
        slot: &Slot,
        goal: &Goal,
        effort: &mut Effort,
        place: Place,
    ) -> Result<u64, Trouble> {
        let limit = Trouble::at(FaultClass::Limit, self.pc);
        match step {
            Step::Branch(target, next) => {
                if self.outcomes.next_is_predicted() {
                    self.spend(effort.steps().max(1), place).ok_or(limit)?;
                }
                let taken = self
                    .outcomes
                    .take(&self.predictor, self.pc)
                    .ok_or(Trouble::at(FaultClass::MissingOutcome, self.pc))?;
                if self.modes().branch_prediction {
                    self.predictor.learn(self.pc, taken);
                }
                *effort = Effort::default();
                self.leave_branches();
                Ok(if taken { target } else { next })
            }
            Step::Discontinuity => self.reported_target(slot, goal),
            Step::To(to) if slot.class.is_straight() => Ok(to),
            Step::To(to) => effort.jump(slot, self.limits).map(|()| to).ok_or(limit),
            Step::Sequential(to) => {
                self.spend(1, place).ok_or(limit)?;
                effort.infer(self.inferred(to, goal), self.limits).map(|()| to).ok_or(limit)
            }
            Step::ImplicitReturn(to) => {
                self.spend(1, place).ok_or(limit)?;
                self.leave_implicit_return();
                effort.infer(self.inferred(to, goal), self.limits).map(|()| to).ok_or(limit)
            }
        }
    }

    /// The jump from the pc. Spec: RVET5-DEC-007: a packet may count the laps of a loop by its returns.
    fn inferred(&self, to: u64, goal: &Goal) -> Jump {
        let returns = goal.depth.map_or(0, |irets| self.counted_returns().min(irets.saturating_add(1)));
        Jump { from: self.pc, to, depth: self.returns.depth(), returns }
    }

    /// Where an uninferable discontinuity at the pc leads.
    #[inline]
    fn reported_target(&mut self, slot: &Slot, goal: &Goal) -> Result<u64, Trouble> {
        if goal.until == Until::LastBranch {
            return Err(Trouble::at(FaultClass::UnexpectedDiscontinuity, self.pc));
        }
        // A synchronisation packet also names the target of a return that went where it was predicted.
        let failed = !goal.synchronisation || self.returns.top() != Some(goal.address);
        let link = if slot.class == Class::Return { self.leave_reported_return(failed) } else { None };
        // The target of a return that went where it was predicted is that of an implicit one (RVET5-DEC-012).
        let predicted = link == Some(goal.address);
        if self.modes().jump_target_cache && !goal.synchronisation && !predicted {
            self.cache.store(goal.address);
        }
        Ok(goal.address)
    }
}
