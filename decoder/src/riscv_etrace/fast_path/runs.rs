//! Passing straight code as a whole.

use traceproof_vectors::Sink;
use traceproof_vectors::riscv_etrace::RiscvEtrace;

use crate::riscv_etrace::effort::Effort;
use crate::riscv_etrace::goal::{Arrival, Goal, Until};
use crate::riscv_etrace::instruction::Class;
use crate::riscv_etrace::program_map::ProgramMap;
use crate::riscv_etrace::report::Report;
use crate::riscv_etrace::slot::Slot;
use crate::riscv_etrace::trouble::Trouble;
use crate::riscv_etrace::walk::Progress;
use crate::riscv_etrace::walker::Walker;

impl Walker {
    /// Walks on from the pc, which is reported and has the index `here`, over straight code: to the instruction after
    /// it, or to the goal within it. As many times [`advance`](Self::advance).
    pub(super) fn pass_run<S>(
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
        let first = self.offset(self.pc, u64::from(slot.length));
        if let Some(reached) = self.stop_within(map, goal, here, &slot) {
            let stop = map.slot(reached);
            self.leap(map, here, reached);
            let mut count = u64::from(slot.count() - stop.count());
            let mut end = self.offset(self.pc, u64::from(stop.length));
            if goal.synchronisation {
                (count, end) = (count - 1, self.pc);
            }
            report.add(first, end, count);
            return Ok(Progress::Over(Arrival::Direct));
        }
        let next = here + slot.run as usize;
        self.leap(map, here, next);
        report.add(first, self.pc, u64::from(slot.count()) - 1);
        effort.pass(slot.count());
        let next = if map.slot(next).class == Class::Missing {
            // Code may go on at the other end of the address space.
            self.here(map)?
        } else {
            next
        };
        self.land(map, goal, next, Arrival::Direct, report)
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

    /// Moves the pc over straight code from the slot `from` to the slot `to`.
    #[inline]
    fn leap(&mut self, map: &ProgramMap, from: usize, to: usize) {
        let distance = to - from;
        let pc = self.pc;
        self.pc = self.offset(pc, 2 * distance as u64);
        if self.modes().sijump {
            let short = map.slot(to - 1).length == 2 && map.passes(from, distance - 1);
            let before = if short { distance - 1 } else { distance.saturating_sub(2) };
            self.last_pc = self.offset(pc, 2 * before as u64);
        }
    }
}
