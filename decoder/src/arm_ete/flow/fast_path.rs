//! Code that only saves time: atoms whose instructions are at hand.
//!
//! Without it a decoder reports the same: see
//! [`Decoder::without_fast_path`](super::super::Decoder::without_fast_path).

use traceproof_vectors::arm_ete::{ArmEte, Event, Outcome, SubIsa};
use traceproof_vectors::{Address, Place, Sink};

use super::super::element::{AtomRun, CodePoint};
use super::code::instruction_set;
use super::track::{Kind, NOWHERE};
use super::{Flow, LatestAtom, Since, Waypoint};
use crate::arm::InstructionSet;

impl Flow {
    /// Follows the oldest of these atoms, as far as they lead within decoded code and no atom is odd; whether it took
    /// one. Address and context are defined.
    #[inline]
    pub(super) fn near_atoms<S>(&mut self, place: Place, run: &mut AtomRun, sink: &mut S) -> bool
    where
        S: Sink<ArmEte> + ?Sized,
    {
        let Some(context) = self.context else { return false };
        let Some(set) = instruction_set(context.is_64_bit, self.sub_isa) else { return false };
        let Some(track) = self.code.track(self.view, set) else { return false };
        let (mask, shift, isa) = (track.mask, track.shift, set.state());
        let mut address = self.address & mask;
        let mut slot = if self.slot == NOWHERE { track.find(address) } else { self.slot };
        let pushes = self.pushes();
        let is_64_bit = set == InstructionSet::A64;
        let mut latest = None;
        self.has_address = true;
        while run.count > 0 {
            let step = track.step(slot);
            let taken = run.taken & 1 == 1;
            let is_odd = !taken && is_64_bit && !step.is_conditional();
            if step.kind == Kind::Missing || u64::from(step.count) >= self.options.steps || is_odd {
                break;
            }
            let initial = run.take(1).initial & 1 == 1;
            let at = address.wrapping_add((step.run() as u64) << shift) & mask;
            let end = at.wrapping_add(step.length()) & mask;
            let last = if taken { Outcome::Taken } else { Outcome::NotTaken };
            let (first, count) = (Address(address), u64::from(step.count) + 1);
            sink.event(place, &Event::Instructions { first, end: Address(end), count, isa, last });
            slot += step.run();
            latest = Some((Waypoint { address: at, slot, step: track.step(slot), set }, taken));
            if initial && pushes && step.has_link() {
                self.return_stack.push(CodePoint { address: end, sub_isa: self.sub_isa });
            }
            if !taken {
                (address, slot) = (end, slot.wrapping_add_signed(track.slots(step.length() as i64)));
                continue;
            }
            address = at.wrapping_add_signed(step.offset()) & mask;
            if step.kind == Kind::Near {
                slot = slot.wrapping_add_signed(track.slots(step.offset()));
                continue;
            }
            slot = NOWHERE;
            match step.kind {
                Kind::Exchange if set == InstructionSet::A32 => self.sub_isa = SubIsa::Is1,
                Kind::Exchange => self.sub_isa = SubIsa::Is0,
                Kind::Indirect => {
                    (self.has_address, self.pop_is_due) = (false, self.options.return_stack);
                }
                _ => {}
            }
            break;
        }
        (self.address, self.slot) = (address, slot);
        let Some((waypoint, taken)) = latest else { return false };
        self.latest = Some(LatestAtom { waypoint: Some(waypoint), taken, place, since: Since::Nothing });
        true
    }
}
