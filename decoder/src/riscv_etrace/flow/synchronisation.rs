//! Format 3: synchronisation, traps, contexts, support.

use traceproof_vectors::riscv_etrace::{Epc, Event, Packet, QualStatus, RiscvEtrace, StopReason};
use traceproof_vectors::{Address, Fault, FaultClass, Place, Sink};

use super::state::Flow;
use crate::riscv_etrace::bits::at_bit;
use crate::riscv_etrace::goal::{Arrival, Goal, Until};
use crate::riscv_etrace::instruction::Class;
use crate::riscv_etrace::standard_support;
use crate::riscv_etrace::step::Step;
use crate::riscv_etrace::trap_chain::{Situation, TrapChain};
use crate::riscv_etrace::trouble::Trouble;

/// Bit of `encoder_mode` in a support packet (RVET-PKT-021).
const ENCODER_MODE_BIT: u32 = 5;
/// Bit of `branch` in start and trap packets (RVET-PKT-011, RVET-PKT-016).
const BRANCH_BIT: u32 = 4;
/// Bit of `privilege` in start and trap packets; one less in context packets (RVET-PKT-020).
const PRIVILEGE_BIT: u32 = 5;

impl Flow {
    /// Format 3 subformat 3. Spec: RVET-DEC-020, 024 to 026 (ET 7.5), RVET5-DEC-002, RVET5-DEC-004.
    pub(super) fn support<S>(&mut self, place: Place, packet: &Packet, sink: &mut S) -> Result<(), Trouble>
    where
        S: Sink<RiscvEtrace> + ?Sized,
    {
        let (encoder_mode, qual_status) = match *packet {
            Packet::Support { encoder_mode, qual_status, .. } => (encoder_mode, qual_status),
            Packet::StandardSupport(ref standard) => {
                for bit in self.declared.contradictions(standard) {
                    sink.fault(&Fault::new(FaultClass::Contradiction, at_bit(place, bit)));
                }
                self.resync_disabled = standard.resync_disabled;
                (standard.encoder_mode, standard.qual_status)
            }
            _ => return Ok(()),
        };
        if qual_status != QualStatus::NoChange {
            if qual_status == QualStatus::EndedNtr
                && let Err(trouble) = self.second_arrival(place, sink)
            {
                sink.fault(&trouble.fault(place));
            }
            let lost = qual_status == QualStatus::TraceLost;
            let reason = if lost { StopReason::Lost } else { StopReason::Ended };
            sink.event(place, &Event::Stop { reason });
            self.lose_synchronisation();
        }
        let Some(modes) = self.announcements.modes(packet) else { return Ok(()) };
        let refused = if encoder_mode != 0 {
            Some(ENCODER_MODE_BIT)
        } else {
            self.hart.honours(modes).err().map(|parameter| self.mode_bit(packet, parameter))
        };
        self.refusing = refused.is_some();
        if let Some(bit) = refused {
            return Err(Trouble { class: FaultClass::UnsupportedMode, address: None, bit });
        }
        self.enter(modes);
        Ok(())
    }

    /// Where a support packet switches on a mode that needs this parameter: the bit of the mode, or of all options.
    fn mode_bit(&self, packet: &Packet, parameter: &str) -> u32 {
        match packet {
            Packet::StandardSupport(_) => standard_support::mode_bit(parameter),
            _ => ENCODER_MODE_BIT + u32::from(self.announcements.layout().encoder_mode_width) + 2,
        }
    }

    /// Format 3 subformat 0. Spec: RVET-DEC-004 to 006, RVET-DEC-022 (ET 7.2).
    pub(super) fn start<S>(&mut self, place: Place, packet: &Packet, sink: &mut S) -> Result<(), Trouble>
    where
        S: Sink<RiscvEtrace> + ?Sized,
    {
        let &Packet::Start { branch, privilege, time, context, address } = packet else { return Ok(()) };
        self.warn_branch(place, branch, address.0, sink);
        warn_privilege(place, PRIVILEGE_BIT, privilege, sink);
        report_time(place, time, sink);
        let mut arrival = Ok(());
        if !self.start_of_trace && !self.chain.is_open() {
            let mut next = self.last_before_synchronisation;
            if self.provisional.is_some() {
                next = self.is_first_arrival(privilege, address.0);
                if !next {
                    self.second_arrival(place, sink)?;
                }
            }
            let own = self.is(Class::Branch, address.0);
            if own {
                self.walker.outcomes.push(!branch);
            }
            // Where the level changed, a trap return leads to the address (RVET-DEC-005).
            let until = if privilege == self.privilege { Until::Arrival } else { Until::Discontinuity };
            // The packet has no `irreport`, but the target of a return right before it need not be guessed.
            self.walker.begin_report();
            let uncertain =
                next && self.walker.returns.is_checked() && self.is(Class::Return, self.walker.pc);
            let depth = uncertain.then(|| self.walker.returns_so_far());
            let goal = Goal { until, address: address.0, depth, synchronisation: true };
            if self.walk(&goal, place, sink)? == Arrival::Discontinuity {
                arrival = self.walker.check_outcomes(own);
            }
        } else {
            // The packets of the chain have their own addresses, else it would end with format 3 subformat 1 (ET 9,
            // lines 5 and 8): a return before it failed.
            self.walker.leave_unwalked(&self.map, true);
        }
        self.synchronise(place, address.0, branch, (privilege, context), sink)?;
        arrival
    }

    /// Format 3 subformat 1. Spec: RVET-DEC-007, RVET-DEC-008, RVET-DEC-019 (ET 7.3).
    pub(super) fn trap<S>(&mut self, place: Place, packet: &Packet, sink: &mut S) -> Result<(), Trouble>
    where
        S: Sink<RiscvEtrace> + ?Sized,
    {
        let &Packet::Trap { branch, privilege, time, context, ecause, interrupt, thaddr, address, tval } =
            packet
        else {
            return Ok(());
        };
        let address = address.or_else(|| self.implicit_handler(interrupt, ecause).map(Address));
        if let Some(handler) = address.filter(|_| thaddr) {
            self.warn_branch(place, branch, handler.0, sink);
        }
        warn_privilege(place, PRIVILEGE_BIT, privilege, sink);
        report_time(place, time, sink);
        self.provisional = None;
        let situation =
            Situation { walker: &self.walker, map: &self.map, start_of_trace: self.start_of_trace };
        let epc = if interrupt { Ok(Epc::Unstated) } else { self.chain.epc(&situation, thaddr, address) };
        let event = Event::Trap { interrupt, cause: ecause, tval, epc: epc.unwrap_or(Epc::Unknown) };
        sink.event(place, &event);
        epc?;
        let address = address.ok_or(Trouble::new(FaultClass::MissingAddress))?;
        if thaddr {
            // The EPC of a trap after a failed return travels with `thaddr` = 0.
            self.walker.leave_unwalked(&self.map, false);
            self.synchronise(place, address.0, branch, (privilege, context), sink)
        } else {
            self.chain = self.chain.link(&situation, interrupt, address.0);
            Ok(())
        }
    }

    /// The handler that implicit exception mode leaves out. Spec: RVET-DEC-049 (ET 3.2.3).
    fn implicit_handler(&self, interrupt: bool, cause: u64) -> Option<u64> {
        let vectors = self.hart.vectors.filter(|_| self.walker.modes().implicit_exception)?;
        let offset = if interrupt && vectors.vectored { cause.wrapping_mul(4) } else { 0 };
        Some(vectors.base.wrapping_add(offset).0 & self.hart.mask)
    }

    /// The common end of format 3 subformat 0, and subformat 1 with `thaddr` = 1: the instruction at `address`
    /// retired, and everything starts anew with it.
    fn synchronise<S>(
        &mut self,
        place: Place,
        address: u64,
        branch: bool,
        (privilege, context): (u8, Option<u64>),
        sink: &mut S,
    ) -> Result<(), Trouble>
    where
        S: Sink<RiscvEtrace> + ?Sized,
    {
        sink.event(place, &Event::Context { privilege, context, precise: true });
        let here = self.map.locate(address).ok_or(Trouble::at(FaultClass::NoCode, address))?;
        let slot = self.map.slot(here);
        self.walker.pc = address;
        self.walker.report_here(slot, place, sink);
        // Spec: RVET-DEC-009 (ET 7.2).
        let keeps = self.hart.resync_disabled_keeps_state && self.resync_disabled && !self.start_of_trace;
        self.walker.synchronise((slot.class == Class::Branch).then_some(!branch), keeps);
        self.base = address;
        self.privilege = privilege;
        self.provisional = None;
        self.last_before_synchronisation = false;
        self.chain = TrapChain::Closed;
        self.start_of_trace = false;
        Ok(())
    }

    /// Whether a start packet directly after a provisional stop proves the first arrival. Spec: RVET-DEC-022.
    fn is_first_arrival(&self, privilege: u8, address: u64) -> bool {
        let Some(here) = self.map.locate(self.walker.pc) else { return true };
        let slot = self.map.slot(here);
        if privilege != self.privilege {
            return slot.class == Class::TrapReturn;
        }
        match self.walker.step(&self.map, slot, None) {
            // A return that the encoder may have found wrong is like a discontinuity.
            Step::ImplicitReturn(_) if self.walker.returns.is_checked() => true,
            Step::To(next) | Step::Sequential(next) | Step::ImplicitReturn(next) => next == address,
            Step::Discontinuity | Step::Branch(..) => true,
        }
    }

    /// A taken branch is announced where there is no branch. Spec: RVET-PKT-012 (ET 7.2).
    fn warn_branch<S>(&self, place: Place, branch: bool, address: u64, sink: &mut S)
    where
        S: Sink<RiscvEtrace> + ?Sized,
    {
        if !branch && self.map.locate(address).is_some() && !self.is(Class::Branch, address) {
            let place = at_bit(place, BRANCH_BIT);
            sink.fault(&Fault::new(FaultClass::Suspicious, place).with_address(Some(Address(address))));
        }
    }
}

/// Format 3 subformat 2. It has no position in the flow, so nothing else changes. Spec: RVET-DEC-021 (ET 7.4).
pub(super) fn context<S>(place: Place, packet: &Packet, sink: &mut S) -> Result<(), Trouble>
where
    S: Sink<RiscvEtrace> + ?Sized,
{
    let &Packet::Context { privilege, time, context } = packet else { return Ok(()) };
    warn_privilege(place, PRIVILEGE_BIT - 1, privilege, sink);
    report_time(place, time, sink);
    sink.event(place, &Event::Context { privilege, context, precise: false });
    Ok(())
}

/// Spec: RVET-PKT-045 (ET 4.2).
fn warn_privilege<S>(place: Place, bit: u32, privilege: u8, sink: &mut S)
where
    S: Sink<RiscvEtrace> + ?Sized,
{
    if matches!(privilege, 2 | 7..) {
        sink.fault(&Fault::new(FaultClass::Suspicious, at_bit(place, bit)));
    }
}

fn report_time<S>(place: Place, time: Option<u64>, sink: &mut S)
where
    S: Sink<RiscvEtrace> + ?Sized,
{
    if let Some(time) = time {
        sink.event(place, &Event::Time { time });
    }
}
