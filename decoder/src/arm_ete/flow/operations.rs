//! The elements that follow the code.

use traceproof_vectors::arm::Profile;
use traceproof_vectors::arm_ete::{ArmEte, Event, Outcome, SubIsa};
use traceproof_vectors::{Address, Fault, FaultClass, Place, Sink};

use super::super::element::{AtomRun, CodePoint};
use super::code::instruction_set;
use super::track::{Kind, NOWHERE, Stop, Walk};
use super::{Flow, LatestAtom, Since, Waypoint};
use crate::arm::InstructionSet;

impl Flow {
    /// One atom.
    ///
    /// Spec: ETE-DEC-AN-001, ETE-DEC-AN-006, ETE-GMTBD-001.
    pub(super) fn atom<S: Sink<ArmEte> + ?Sized>(&mut self, place: Place, atom: AtomRun, sink: &mut S) {
        let (taken, initial) = (atom.taken & 1 == 1, atom.initial & 1 == 1);
        self.latest = Some(LatestAtom { waypoint: None, taken, place, since: Since::Nothing });
        let outcome = if taken { Outcome::Taken } else { Outcome::NotTaken };
        let Some(waypoint) = self.reach_p0(place, outcome, sink) else { return };
        self.latest = Some(LatestAtom { waypoint: Some(waypoint), taken, place, since: Since::Nothing });
        if initial {
            self.push_return(&waypoint);
        }
        self.leave(&waypoint, taken);
        self.note_not_taken(&waypoint, taken, place);
    }

    /// Spec: ETE-RNYNV-002, ETE-DEC-ISA-007.
    pub(super) fn note_not_taken(&mut self, waypoint: &Waypoint, taken: bool, place: Place) {
        let must_be_taken = waypoint.set == InstructionSet::A64 && !waypoint.step.is_conditional();
        self.not_taken = (must_be_taken && !taken).then_some(place);
    }

    /// The instruction set of the next instruction, whose slot is looked for; `None` if there is none, or address or
    /// context are undefined.
    fn locate<S: Sink<ArmEte> + ?Sized>(&mut self, place: Place, sink: &mut S) -> Option<InstructionSet> {
        let (true, Some(context)) = (self.has_address, self.context) else {
            self.forget_address();
            return None;
        };
        let Some(set) = instruction_set(context.is_64_bit, self.sub_isa) else {
            self.lose(&Fault::new(FaultClass::UnsupportedMode, place), sink);
            return None;
        };
        if set != InstructionSet::A64 {
            self.address &= u64::from(u32::MAX);
        }
        if self.slot == NOWHERE {
            self.slot = self.code.find(self.view, set, self.address, &mut self.region);
        }
        Some(set)
    }

    /// Reports the instructions up to and including the next P0 instruction. `None` if there is none; that is
    /// reported, too.
    fn reach_p0<S>(&mut self, place: Place, outcome: Outcome, sink: &mut S) -> Option<Waypoint>
    where
        S: Sink<ArmEte> + ?Sized,
    {
        let set = self.locate(place, sink)?;
        let track = self.code.track(self.view, set)?;
        let walk = track.to_p0(self.address, self.slot, self.options.steps, self.options.fast_path);
        let step = track.step(walk.slot);
        if walk.stop != Stop::P0 {
            self.instructions(place, set, (walk.end, walk.count), Outcome::Passed, sink);
            self.lose_way(place, walk, sink);
            return None;
        }
        let end = walk.end.wrapping_add(step.length()) & track.mask;
        self.instructions(place, set, (end, walk.count + 1), outcome, sink);
        Some(Waypoint { address: walk.end, slot: walk.slot, step, set })
    }

    /// A walk did not arrive. Spec: ETE-DEC-ERR-005, ETE-DEC-RS-005.
    fn lose_way<S: Sink<ArmEte> + ?Sized>(&mut self, place: Place, walk: Walk, sink: &mut S) {
        let fault = if walk.stop == Stop::Limit {
            Fault::new(FaultClass::Limit, place)
        } else {
            Fault::new(FaultClass::NoCode, place).with_address(Some(Address(walk.end)))
        };
        self.lose(&fault, sink);
    }

    /// The address after a P0 instruction.
    ///
    /// Spec: ETE-DEC-AN-001, ETE-DEC-AN-006, ETE-LLCQG-001, ETE-DEC-RS-002.
    pub(super) fn leave(&mut self, waypoint: &Waypoint, taken: bool) {
        let Waypoint { address, slot, step, set } = *waypoint;
        let Some(track) = self.code.track(self.view, set) else { return self.forget_address() };
        let mask = track.mask;
        let (bytes, is_near) =
            if taken { (step.offset(), step.kind == Kind::Near) } else { (step.length() as i64, true) };
        let slot = if is_near { slot.wrapping_add_signed(track.slots(bytes)) } else { NOWHERE };
        self.forget_address();
        if taken && step.kind == Kind::Indirect {
            self.pop_is_due = self.options.return_stack;
            return;
        }
        self.address = address.wrapping_add_signed(bytes) & mask;
        self.sub_isa = match (set, taken && step.kind == Kind::Exchange) {
            (InstructionSet::T32, false) | (InstructionSet::A32, true) => SubIsa::Is1,
            _ => SubIsa::Is0,
        };
        (self.has_address, self.slot) = (true, slot);
    }

    /// A branch with link was traced as taken at first.
    ///
    /// Spec: ETE-DEC-RS-001, ETE-DEC-RS-004, ETE-DEC-RS-011, ETE-GMTBD-001, ETE-GZSSX-001.
    pub(super) fn push_return(&mut self, waypoint: &Waypoint) {
        let Waypoint { address, step, set, .. } = *waypoint;
        if step.has_link() && self.pushes() {
            let mask = if set == InstructionSet::A64 { u64::MAX } else { u32::MAX.into() };
            let sub_isa = if set == InstructionSet::T32 { SubIsa::Is1 } else { SubIsa::Is0 };
            self.return_stack
                .push(CodePoint { address: address.wrapping_add(step.length()) & mask, sub_isa });
        }
    }

    /// Whether return addresses are kept at present.
    #[inline]
    pub(super) const fn pushes(&self) -> bool {
        self.options.return_stack && !self.misses_context && !self.misses_address
    }

    /// An exception, and the instructions before it.
    ///
    /// Spec: ETE-DEC-AN-002, ETE-NZTGQ-002, ETE-DEC-EXC-003, ETE-DEC-EXC-005, ETE-V4-EXC-001, A26; readings
    /// `ete-return-address-before-the-flow`, `ete-return-address-inside-an-instruction`,
    /// `ete-implementation-defined-exceptions`.
    pub(super) fn exception<S>(
        &mut self,
        place: Place,
        number: u16,
        returns_to: Option<CodePoint>,
        fault_pending: bool,
        sink: &mut S,
    ) where
        S: Sink<ArmEte> + ?Sized,
    {
        let is_32_bit = self.context.is_some_and(|context| !context.is_64_bit);
        let mask = if is_32_bit { u32::MAX.into() } else { u64::MAX };
        let returns_to = returns_to.map(|point| CodePoint { address: point.address & mask, ..point });
        // That of a reset is unknown.
        let goes_on = returns_to.is_some_and(|point| self.walk_to_return_address(place, point.address, sink));
        let address = returns_to.map(|point| Address(point.address));
        sink.event(place, &Event::Exception { number, returns_to: address, fault_pending });
        self.forget_address();
        let is_implementation_defined =
            matches!(number, 0x10..=0x17) && self.options.profile != Profile::Microcontroller;
        if let Some(point) = returns_to.filter(|_| goes_on && is_implementation_defined) {
            self.go_to(point);
        }
    }

    /// Reports the instructions up to a return address; whether the flow was known and is.
    fn walk_to_return_address<S>(&mut self, place: Place, to: u64, sink: &mut S) -> bool
    where
        S: Sink<ArmEte> + ?Sized,
    {
        if !self.has_address || self.context.is_none() {
            return false;
        }
        let is_64_bit = self.context.is_some_and(|context| context.is_64_bit);
        let mask = if is_64_bit { u64::MAX } else { u32::MAX.into() };
        if to <= self.address & mask {
            return true;
        }
        let Some(set) = self.locate(place, sink) else { return false };
        let Some(track) = self.code.track(self.view, set) else { return false };
        let walk = track.to_address(self.address, self.slot, self.options.steps, to);
        self.instructions(place, set, (walk.end, walk.count), Outcome::Passed, sink);
        if walk.stop != Stop::Arrived {
            self.lose_way(place, walk, sink);
        }
        walk.stop == Stop::Arrived
    }

    /// The instruction there is the next P0 instruction that was taken.
    ///
    /// Spec: ETE-DEC-AN-003, ETE-GMTBD-001; reading `ete-source-address-needs-pop`.
    pub(super) fn source_address<S>(&mut self, place: Place, address: u64, sink: &mut S)
    where
        S: Sink<ArmEte> + ?Sized,
    {
        let Some(set) = self.locate(place, sink) else { return };
        let Some(track) = self.code.track(self.view, set) else { return };
        let to = address & track.mask;
        let mut walk = Walk { end: to, count: 0, slot: NOWHERE, stop: Stop::NoCode };
        if to >= self.address {
            walk = track.to_address(self.address, self.slot, self.options.steps, to);
        }
        let step = track.step(walk.slot);
        let length = step.own_length();
        if walk.stop == Stop::Arrived && (walk.end != to || length == 0) {
            walk.stop = Stop::NoCode;
        } else if walk.stop == Stop::Arrived && walk.count == self.options.steps {
            walk.stop = Stop::Limit;
        }
        if walk.stop != Stop::Arrived {
            self.instructions(place, set, (walk.end, walk.count), Outcome::Passed, sink);
            return self.lose_way(place, walk, sink);
        }
        let end = to.wrapping_add(length) & track.mask;
        self.instructions(place, set, (end, walk.count + 1), Outcome::Taken, sink);
        if !step.is_p0_here() {
            // What was taken there is no P0 instruction of this code.
            return self.forget_address();
        }
        let waypoint = Waypoint { address: to, slot: walk.slot, step, set };
        self.push_return(&waypoint);
        self.leave(&waypoint, true);
    }

    /// Instructions of which the trace says how many there are at most.
    ///
    /// Spec: ETE-DEC-AN-004, ETE-DEC-Q-001, ETE-GVLKJ-001, ETE-WBCJG-001; readings `ete-zero-q-count`,
    /// `ete-q-walk-ends-at-uncertainty`.
    pub(super) fn q<S: Sink<ArmEte> + ?Sized>(&mut self, place: Place, count: Option<u32>, sink: &mut S) {
        self.pop_if_due();
        let Some(count) = count else {
            sink.event(place, &Event::UnknownPath { count: None });
            return self.forget_address();
        };
        let mut left = u64::from(count);
        let mut steps = self.options.steps;
        if self.has_address && self.context.is_some() {
            loop {
                match self.q_run(place, left.min(steps), sink) {
                    QRun::Lost => return,
                    QRun::Passed(passed) if passed < left => {
                        return self.lose(&Fault::new(FaultClass::Limit, place), sink);
                    }
                    QRun::Passed(passed) | QRun::Ended(passed) => {
                        left -= passed;
                        break;
                    }
                    QRun::Branched(passed) => (left, steps) = (left - passed, steps - passed),
                }
            }
        }
        if let Ok(count @ 1..) = u32::try_from(left) {
            sink.event(place, &Event::UnknownPath { count: Some(count) });
        }
        self.forget_address();
    }

    /// Reports the instructions up to a branch, or `most`.
    fn q_run<S: Sink<ArmEte> + ?Sized>(&mut self, place: Place, most: u64, sink: &mut S) -> QRun {
        let Some(set) = self.locate(place, sink) else { return QRun::Lost };
        let Some(track) = self.code.track(self.view, set) else { return QRun::Lost };
        let mut walk = track.to_p0(self.address, self.slot, most, false);
        let mut step = track.step(walk.slot);
        // A P0 instruction after which the next one comes in any case is none of a path.
        while walk.stop == Stop::P0
            && !step.is_branch()
            && step.kind != Kind::Indirect
            && !step.is_conditional()
        {
            let end = walk.end.wrapping_add(step.length()) & track.mask;
            let slot = walk.slot.wrapping_add_signed(track.slots(step.length() as i64));
            let count = walk.count + 1;
            walk = track.to_p0(end, slot, most - count, false);
            walk.count += count;
            step = track.step(walk.slot);
        }
        if walk.stop != Stop::P0 {
            self.instructions(place, set, (walk.end, walk.count), Outcome::Passed, sink);
            if walk.stop == Stop::NoCode && walk.count < most {
                self.lose_way(place, walk, sink);
                return QRun::Lost;
            }
            return QRun::Passed(walk.count);
        }
        let may_be_conditional = step.is_conditional()
            || set == InstructionSet::T32 && track.ends_in_if_then(self.slot, walk.count);
        let count = walk.count + 1;
        let end = walk.end.wrapping_add(step.length()) & track.mask;
        if may_be_conditional || step.kind == Kind::Indirect {
            self.instructions(place, set, (end, count), Outcome::Passed, sink);
            return QRun::Ended(count);
        }
        self.instructions(place, set, (end, count), Outcome::Taken, sink);
        self.leave(&Waypoint { address: walk.end, slot: walk.slot, step, set }, true);
        QRun::Branched(count)
    }
}

/// How a part of a counted Q element ends, after so many instructions.
enum QRun {
    /// The flow is lost; that is reported.
    Lost,
    /// After as many as were asked for.
    Passed(u64),
    /// After an unconditional direct branch, at its target.
    Branched(u64),
    /// After a P0 instruction whose successor the code does not determine.
    Ended(u64),
}
