//! Code that only saves time: atoms whose instructions are at hand.
//!
//! Without it a decoder reports the same: see
//! [`Decoder::without_fast_path`](super::super::Decoder::without_fast_path).

use traceproof_vectors::arm_ete::{ArmEte, Event, Outcome, SubIsa};
use traceproof_vectors::{Address, Fault, FaultClass, Place, Sink};

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
        let mut slot = self.slot;
        if slot == NOWHERE {
            slot = track.find(address, &mut self.region);
            if slot == NOWHERE {
                self.miss_atoms(place, core::mem::take(run), address, sink);
                return true;
            }
        }
        let pushes = self.pushes();
        let is_64_bit = set == InstructionSet::A64;
        let AtomRun { taken: mut statuses, mut initial, mut count } = *run;
        // Of the latest P0 instruction.
        let (mut p0_address, mut p0_slot) = (address, slot);
        while count > 0 {
            let step = track.step(slot);
            let taken = statuses & 1 == 1;
            let is_odd = !taken && is_64_bit && !step.is_conditional();
            if step.kind == Kind::Missing || u64::from(step.count) >= self.options.steps || is_odd {
                break;
            }
            p0_address = address.wrapping_add((step.run() as u64) << shift) & mask;
            let end = p0_address.wrapping_add(step.length()) & mask;
            let last = if taken { Outcome::Taken } else { Outcome::NotTaken };
            let (first, instructions) = (Address(address), u64::from(step.count) + 1);
            sink.event(
                place,
                &Event::Instructions { first, end: Address(end), count: instructions, isa, last },
            );
            p0_slot = slot + step.run();
            if pushes && initial & 1 == 1 && step.has_link() {
                self.return_stack.push(CodePoint { address: end, sub_isa: self.sub_isa });
            }
            (statuses, initial, count) = (statuses >> 1, initial >> 1, count - 1);
            let (bytes, is_near) =
                if taken { (step.offset(), step.kind == Kind::Near) } else { (step.length() as i64, true) };
            address = p0_address.wrapping_add_signed(bytes) & mask;
            slot = p0_slot.wrapping_add_signed(track.slots(bytes));
            if is_near {
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
        let followed = run.take((run.count - count).into());
        (self.address, self.slot) = (address, slot);
        let Some(newest) = followed.count.checked_sub(1) else { return false };
        let taken = followed.taken >> newest & 1 == 1;
        let waypoint = Waypoint { address: p0_address, slot: p0_slot, step: track.step(p0_slot), set };
        self.latest = Some(LatestAtom { waypoint: Some(waypoint), taken, place, since: Since::Nothing });
        true
    }

    /// Atoms of which the oldest one is of an instruction at `address`, where no code is.
    fn miss_atoms<S>(&mut self, place: Place, run: AtomRun, address: u64, sink: &mut S)
    where
        S: Sink<ArmEte> + ?Sized,
    {
        self.pass_atoms(place, run);
        self.lose(&Fault::new(FaultClass::NoCode, place).with_address(Some(Address(address))), sink);
    }
}
