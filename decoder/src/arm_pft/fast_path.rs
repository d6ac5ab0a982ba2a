//! Code that only saves time: atoms whose instructions are at hand, in one instruction set.
//!
//! Without it a decoder reports the same: see
//! [`Decoder::without_fast_path`](super::Decoder::without_fast_path).

use traceproof_vectors::arm_pft::{ArmPft, Event, Outcome};
use traceproof_vectors::{Address32, Place, Sink};

use super::flow::Flow;
use super::return_stack::Return;
use super::state::State;
use super::track::{Kind, NOWHERE, Track};

impl Flow {
    /// Follows the first of so many atoms, as far as they lead within decoded code; gives how many are left.
    /// `not_executed` has the newest in bit 0.
    #[inline]
    pub(super) fn near_atoms<S>(
        &mut self,
        place: Place,
        not_executed: u8,
        mut left: usize,
        sink: &mut S,
    ) -> usize
    where
        S: Sink<ArmPft> + ?Sized,
    {
        let State { mut address, isa, non_secure, hyp } = self.current;
        let Some(track) = self.code.track(self.view, isa) else { return left };
        let mut slot = if self.slot == NOWHERE { track.find(address) } else { self.slot };
        while left > 0 {
            let start = track.step(slot);
            let at = slot + start.units();
            let step = track.step(at);
            let executed = not_executed >> (left - 1) & 1 == 0;
            let is_near = step.kind == Kind::Near || !executed && step.is_waypoint();
            if !is_near || start.count() > self.options.steps {
                break;
            }
            left -= 1;
            let waypoint = address.wrapping_add((start.units() as u32) << isa.alignment_bits());
            let end = waypoint.wrapping_add(step.length.into());
            let last = if executed { Outcome::Executed } else { Outcome::NotExecuted };
            let (first, count) = (Address32(address), start.count() + 1);
            let end_of_run = Address32(end);
            let event = Event::Instructions { first, end: end_of_run, count, isa, non_secure, hyp, last };
            sink.event(place, &event);
            if !executed {
                (address, slot) = (end, at + Track::units(step.length, isa));
                continue;
            }
            if step.link && self.options.return_stack {
                self.return_stack.push(Return { address: end, isa, non_secure });
            }
            (address, slot) = (step.target, Track::near(at, waypoint, step.target, isa));
        }
        (self.current.address, self.slot) = (address, slot);
        left
    }
}
