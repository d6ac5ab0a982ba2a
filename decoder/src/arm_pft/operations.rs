//! The operations of B.3.2 that follow the code.

use traceproof_vectors::arm_pft::{ArmPft, Atoms, CompressedAddress, Event, Outcome};
use traceproof_vectors::{Address, Address32, Fault, FaultClass, Place, Sink};

use super::flow::Flow;
use super::return_stack::Return;
use super::state::State;
use super::track::{Kind, NOWHERE, Slot, Step, Stop, Track, Walk};

/// A waypoint that the flow has reached.
#[derive(Clone, Copy, Debug)]
struct Waypoint {
    /// Its address.
    address: u32,
    slot: Slot,
    step: Step,
}

/// The exception number of the entry to Debug state (4.5.4).
const DEBUG_ENTRY: u16 = 1;

impl Flow {
    /// A branch address packet without exception: the next waypoint was executed, and leads there.
    ///
    /// Spec: PFT-DEC-019 to PFT-DEC-025, PFT-DEC-029, PFT-DEC-070, PFT-ERR-008 (B.3.2).
    #[inline]
    pub(super) fn branch_no_excp<S>(&mut self, place: Place, target: State, sink: &mut S)
    where
        S: Sink<ArmPft> + ?Sized,
    {
        let waypoint = if self.defined { self.reach_waypoint(place, Outcome::Executed, sink) } else { None };
        let Some(waypoint) = waypoint else {
            let State { address, isa, non_secure, hyp } = target;
            sink.event(place, &Event::BranchTo { address: Address32(address), isa, non_secure, hyp });
            return self.arrive(target);
        };
        let Waypoint { step, .. } = waypoint;
        let isa = match step.kind {
            Kind::Near => Some(self.current.isa),
            Kind::Far(isa) => Some(isa),
            _ => None,
        };
        if isa.is_some_and(|isa| (isa, step.target) != (target.isa, target.address)) {
            sink.fault(&Fault::new(FaultClass::Contradiction, place));
        }
        self.push_return(waypoint);
        self.arrive(target);
    }

    /// A branch address packet with an exception: no instruction.
    ///
    /// Spec: PFT-DEC-026 to PFT-DEC-028, PFT-DEC-073, PFT-DEC-074, PFT-ERR-009 (B.3.2, 5.2, 5.3.8);
    /// readings `pft-debug-entry-ends-the-flow`, `pft-return-stack-over-exceptions`,
    /// `pft-packets-before-an-exception`.
    pub(super) fn branch_with_excp<S>(&mut self, place: Place, target: State, number: u16, sink: &mut S)
    where
        S: Sink<ArmPft> + ?Sized,
    {
        let returns_to = self.defined.then_some(Address32(self.current.address));
        let State { address, isa, non_secure, hyp } = target;
        let address = Address32(address);
        sink.event(place, &Event::Exception { number, returns_to, address, isa, non_secure, hyp });
        self.arrive(target);
        if number == DEBUG_ENTRY && !self.options.expected.m_profile {
            self.defined = false;
        }
    }

    /// Spec: PFT-DEC-030 to PFT-DEC-041, PFT-DEC-072, PFT-ERR-013, PFT-ERR-024 (B.3.2); readings
    /// `pft-link-pops-first`, `pft-not-executed-always`.
    #[inline]
    pub(super) fn analyze_atomheader<S>(&mut self, place: Place, atoms: Atoms, sink: &mut S)
    where
        S: Sink<ArmPft> + ?Sized,
    {
        if !self.defined {
            return;
        }
        let (not_executed, mut left) = (atoms.bits(), atoms.len());
        loop {
            if self.options.fast_path {
                left = self.near_atoms(place, not_executed, left, sink);
            }
            let Some(newer) = left.checked_sub(1) else { return };
            left = newer;
            let executed = not_executed >> newer & 1 == 0;
            let outcome = if executed { Outcome::Executed } else { Outcome::NotExecuted };
            let Some(waypoint) = self.reach_waypoint(place, outcome, sink) else { return };
            if executed {
                if !self.execute(place, waypoint, sink) {
                    return;
                }
            } else {
                self.pass(waypoint);
            }
        }
    }

    /// The flow goes on after a waypoint that was not executed.
    #[inline]
    fn pass(&mut self, waypoint: Waypoint) {
        let Waypoint { address, slot, step } = waypoint;
        self.current.address = address.wrapping_add(step.length.into());
        self.slot = slot + Track::units(step.length, self.current.isa);
    }

    /// The flow goes on where an executed waypoint leads; whether that is known.
    #[inline]
    fn execute<S>(&mut self, place: Place, waypoint: Waypoint, sink: &mut S) -> bool
    where
        S: Sink<ArmPft> + ?Sized,
    {
        let Waypoint { address, slot, step } = waypoint;
        match step.kind {
            Kind::Near => {
                self.push_return(waypoint);
                self.slot = Track::near(slot, address, step.target, self.current.isa);
                self.current.address = step.target;
                true
            }
            Kind::Far(isa) => {
                self.push_return(waypoint);
                self.go_to(State { address: step.target, isa, ..self.current });
                true
            }
            _ => self.return_from_call(place, waypoint, sink),
        }
    }

    /// An E atom of an indirect branch takes its target from the return stack.
    ///
    /// Spec: PFT-DEC-036, PFT-DEC-037, PFT-DEC-039 (B.3.2, 4.13).
    fn return_from_call<S>(&mut self, place: Place, waypoint: Waypoint, sink: &mut S) -> bool
    where
        S: Sink<ArmPft> + ?Sized,
    {
        if !self.options.return_stack {
            self.lose_flow(&Fault::new(FaultClass::UnexpectedDiscontinuity, place), sink);
            return false;
        }
        let popped = self.return_stack.pop();
        self.push_return(waypoint);
        let Some(Return { address, isa, non_secure }) = popped else {
            self.lose_flow(&Fault::new(FaultClass::InvalidReference, place), sink);
            return false;
        };
        self.go_to(State { address, isa, non_secure, ..self.current });
        true
    }

    /// Spec: PFT-WPT-028, PFT-DEC-022, PFT-DEC-038 (4.13).
    #[inline]
    fn push_return(&mut self, waypoint: Waypoint) {
        let Waypoint { address, step, .. } = waypoint;
        if step.link && self.options.return_stack {
            let State { isa, non_secure, .. } = self.current;
            let address = address.wrapping_add(step.length.into());
            self.return_stack.push(Return { address, isa, non_secure });
        }
    }

    /// Spec: PFT-DEC-049 to PFT-DEC-055, PFT-ERR-010, PFT-ERR-025 (4.5.5); reading
    /// `pft-waypoint-update-is-a-base`.
    pub(super) fn analyze_waypoint_update<S>(
        &mut self,
        place: Place,
        address: CompressedAddress,
        information: Option<u8>,
        sink: &mut S,
    ) where
        S: Sink<ArmPft> + ?Sized,
    {
        self.last = self.last.waypoint_update(address, information);
        if !self.defined {
            return;
        }
        let Some(slot) = self.locate(place, sink) else { return };
        let Some(track) = self.code.track(self.view, self.current.isa) else { return };
        let walk = track.walk(self.current.address, slot, self.options.steps, Some(self.last.address));
        self.report(place, walk.end, walk.count, Outcome::Unknown, sink);
        (self.current.address, self.slot) = (walk.end, walk.slot);
        match walk.stop {
            Stop::Arrived => {}
            Stop::Waypoint => self.lose_flow(&Fault::new(FaultClass::MissingOutcome, place), sink),
            Stop::NoCode | Stop::Limit => self.lose_way(place, walk, sink),
        }
    }

    /// The slot of the next instruction, [`NOWHERE`] if there is none; `None` in a state whose code cannot be
    /// read.
    #[inline]
    fn locate<S: Sink<ArmPft> + ?Sized>(&mut self, place: Place, sink: &mut S) -> Option<Slot> {
        if self.slot != NOWHERE {
            return Some(self.slot);
        }
        let found = self.code.find(self.view, self.current.isa, self.current.address);
        if found.is_none() {
            // Spec: PFT-ERR-011 (4.17).
            self.lose_flow(&Fault::new(FaultClass::UnsupportedMode, place), sink);
        }
        found
    }

    /// Reports the instructions up to and including the next waypoint, of which this is known. `None` if
    /// there is none; that is reported, too.
    ///
    /// Spec: PFT-DEC-031, PFT-DEC-032, PFT-ERR-006, PFT-ERR-012 (6.3 of the sheet).
    #[inline]
    fn reach_waypoint<S>(&mut self, place: Place, outcome: Outcome, sink: &mut S) -> Option<Waypoint>
    where
        S: Sink<ArmPft> + ?Sized,
    {
        let slot = self.locate(place, sink)?;
        let track = self.code.track(self.view, self.current.isa)?;
        let walk = track.to_waypoint(self.current.address, slot, self.options.steps);
        if walk.stop != Stop::Waypoint {
            self.report(place, walk.end, walk.count, Outcome::Unknown, sink);
            self.lose_way(place, walk, sink);
            return None;
        }
        let step = track.step(walk.slot);
        let end = walk.end.wrapping_add(step.length.into());
        self.report(place, end, walk.count + 1, outcome, sink);
        Some(Waypoint { address: walk.end, slot: walk.slot, step })
    }

    /// So many instructions from the current one to `end` were executed.
    #[inline]
    fn report<S>(&self, place: Place, end: u32, count: u64, last: Outcome, sink: &mut S)
    where
        S: Sink<ArmPft> + ?Sized,
    {
        if count > 0 {
            let State { address, isa, non_secure, hyp } = self.current;
            let (first, end) = (Address32(address), Address32(end));
            sink.event(place, &Event::Instructions { first, end, count, isa, non_secure, hyp, last });
        }
    }

    /// A walk reached no waypoint. Spec: PFT-ERR-006, PFT-ERR-012 (7.2 of the sheet).
    fn lose_way<S: Sink<ArmPft> + ?Sized>(&mut self, place: Place, walk: Walk, sink: &mut S) {
        let fault = if walk.stop == Stop::Limit {
            Fault::new(FaultClass::Limit, place)
        } else {
            Fault::new(FaultClass::NoCode, place).with_address(Some(Address(walk.end.into())))
        };
        self.lose_flow(&fault, sink);
    }
}
