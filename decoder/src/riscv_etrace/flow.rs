//! Packets -> events: the decoder algorithm of ET 11, made whole.

use traceproof_vectors::riscv_etrace::{
    Epc, Event, Modes, Packet, Parameters, QualStatus, ReportedAddress, RiscvEtrace, StopReason, TrapVectors,
};
use traceproof_vectors::{Address, Fault, FaultClass, Place, Program, Refusal, Sink};

use super::bits::at_bit;
use super::effort::Limits;
use super::fast_path::short_packets::Brief;
use super::instruction::Class;
use super::modes::{Announcements, check};
use super::program_map::ProgramMap;
use super::trap_chain::{Situation, TrapChain};
use super::walk::{Arrival, Goal, Step, Trouble, Until, Walker};

/// Bit of `encoder_mode` in a support packet (RVET-PKT-021).
const ENCODER_MODE_BIT: u32 = 5;
/// Bit of `branch` in start and trap packets (RVET-PKT-011, RVET-PKT-016).
const BRANCH_BIT: u32 = 4;
/// Bit of `privilege` in start and trap packets; one less in context packets (RVET-PKT-020).
const PRIVILEGE_BIT: u32 = 5;

/// Reconstructs the execution from packets, one after the other.
///
/// Its memory is bounded by the program and the parameters, whatever comes.
#[derive(Clone, Debug)]
pub struct Flow {
    map: ProgramMap,
    announcements: Announcements,
    hart: Hart,
    walker: Walker,
    /// The latest reported address, to which differences refer (RVET-DEC-027).
    base: u64,
    /// Privilege of the latest synchronisation packet.
    privilege: u8,
    /// The pc may be the first of two arrivals at the reported address (RVET-DEC-017).
    provisional: Option<Provisional>,
    /// The latest report had the updiscon flag: nothing retires between it and the synchronisation (ET 7.6.2).
    last_before_synchronisation: bool,
    chain: TrapChain,
    /// Waiting for a synchronisation packet.
    start_of_trace: bool,
    /// Waiting for a support packet that can be honoured.
    refusing: bool,
}

/// What the reporting packet said beside the address.
#[derive(Clone, Copy, Debug)]
struct Provisional {
    depth: Option<u32>,
}

/// What the parameters say about modes.
#[derive(Clone, Copy, Debug)]
struct Hart {
    predictor: bool,
    cache: bool,
    returns: bool,
    sijump: bool,
    vectors: Option<TrapVectors>,
    /// Bit of the `index` field (RVET-PKT-042).
    index_bit: u32,
    mask: u64,
}

impl Hart {
    fn new(parameters: &Parameters) -> Self {
        Self {
            predictor: parameters.bpred_size_p > 0,
            cache: parameters.cache_size_p > 0,
            returns: parameters.return_stack_size_p > 0 || parameters.call_counter_size_p > 0,
            sijump: parameters.sijump_p,
            vectors: parameters.trap_vectors,
            index_bit: 2 + u32::from(parameters.f0s_width_p),
            mask: parameters.address_mask(),
        }
    }

    /// Whether the hardware has what these modes need; if not, what is missing.
    fn honours(&self, modes: Modes) -> Result<(), &'static str> {
        let needs = [
            (modes.branch_prediction, self.predictor, "bpred_size_p"),
            (modes.jump_target_cache, self.cache, "cache_size_p"),
            (modes.implicit_return, self.returns, "return_stack_size_p"),
            (modes.sijump, self.sijump, "sijump_p"),
            (modes.implicit_exception, self.vectors.is_some(), "trap_vectors"),
        ];
        match needs.into_iter().find(|&(on, there, _)| on && !there) {
            Some((_, _, parameter)) => Err(parameter),
            None => Ok(()),
        }
    }
}

/// Formats 0, 1 and 2 in one shape.
struct Reported {
    /// `None`: only outcomes.
    address: Option<u64>,
    notify: bool,
    updiscon: bool,
    /// It can only mean an arrival by an updiscon.
    definite: bool,
    depth: Option<u32>,
}

impl Flow {
    /// A flow at the start of a stream, over the code of `program`.
    ///
    /// # Errors
    ///
    /// When no hardware can have these parameters, or lacks what a mode needs that is on from the start.
    pub fn new(parameters: &Parameters, program: &Program, limits: Limits) -> Result<Self, Refusal> {
        check(parameters)?;
        let hart = Hart::new(parameters);
        hart.honours(parameters.modes)
            .map_err(|parameter| Refusal::invalid(parameter, "a mode that is on needs it"))?;
        Ok(Self {
            map: ProgramMap::new(program, parameters),
            announcements: Announcements::new(parameters),
            hart,
            walker: Walker::new(parameters, limits),
            base: 0,
            privilege: 0,
            provisional: None,
            last_before_synchronisation: false,
            chain: TrapChain::Closed,
            start_of_trace: true,
            refusing: false,
        })
    }

    /// Back to the start of a stream.
    pub fn reset(&mut self) {
        self.lose_synchronisation();
        self.refusing = false;
        self.walker.enter(self.announcements.initial());
    }

    /// From here on the flow walks instruction by instruction.
    #[cfg(test)]
    pub(super) fn walk_closely(&mut self) {
        self.walker.walk_closely();
    }

    /// The program, pre-decoded.
    #[must_use]
    pub const fn map(&self) -> &ProgramMap {
        &self.map
    }

    /// A support packet announced what cannot be honoured. Nothing but support packets means anything now.
    #[must_use]
    pub const fn is_refusing(&self) -> bool {
        self.refusing
    }

    /// Something is missing or unreadable: go on at the next synchronisation. Spec: RVET-DEC-047.
    pub fn lose_synchronisation(&mut self) {
        self.start_of_trace = true;
        self.provisional = None;
        self.chain = TrapChain::Closed;
    }

    /// Takes the next packet. `place` is the first bit of its payload.
    #[inline]
    pub fn packet<S>(&mut self, place: Place, packet: &Packet, sink: &mut S)
    where
        S: Sink<RiscvEtrace> + ?Sized,
    {
        let done = match *packet {
            Packet::Support { .. } => self.support(place, packet, sink),
            _ if self.refusing => Ok(()),
            // Data trace has a state of its own.
            Packet::Data(_) => Ok(()),
            Packet::Start { .. } => self.start(place, packet, sink),
            Packet::Trap { .. } => self.trap(place, packet, sink),
            Packet::Context { privilege, time, context } => {
                warn_privilege(place, PRIVILEGE_BIT - 1, privilege, sink);
                report_time(place, time, sink);
                // No position in the flow, so nothing else changes (RVET-DEC-021).
                sink.event(place, &Event::Context { privilege, context, precise: false });
                Ok(())
            }
            _ => self.advance(place, packet, sink),
        };
        if let Err(trouble) = done {
            self.fail(trouble, place, sink);
        }
    }

    /// Format 3 subformat 3. Spec: RVET-DEC-020, 024 to 026 (ET 7.5).
    fn support<S>(&mut self, place: Place, packet: &Packet, sink: &mut S) -> Result<(), Trouble>
    where
        S: Sink<RiscvEtrace> + ?Sized,
    {
        let &Packet::Support { encoder_mode, qual_status, ioptions, .. } = packet else { return Ok(()) };
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
        let layout = self.announcements.layout();
        let ioptions_bit = ENCODER_MODE_BIT + u32::from(layout.encoder_mode_width) + 2;
        let modes = self.announcements.read(ioptions);
        let refused = if encoder_mode != 0 {
            Some(ENCODER_MODE_BIT)
        } else {
            self.hart.honours(modes).is_err().then_some(ioptions_bit)
        };
        self.refusing = refused.is_some();
        if let Some(bit) = refused {
            return Err(Trouble { class: FaultClass::UnsupportedMode, address: None, bit });
        }
        self.walker.enter(modes);
        Ok(())
    }

    /// Format 3 subformat 0. Spec: RVET-DEC-004 to 006, RVET-DEC-022 (ET 7.2).
    fn start<S>(&mut self, place: Place, packet: &Packet, sink: &mut S) -> Result<(), Trouble>
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
            let returns = &self.walker.returns;
            let uncertain = next && returns.is_checked() && self.is(Class::Return, self.walker.pc);
            let depth = uncertain.then(|| returns.depth());
            let goal = Goal { until, address: address.0, depth, synchronisation: true };
            if self.walker.walk(&self.map, &goal, place, sink)? == Arrival::Discontinuity {
                arrival = self.walker.check_outcomes(own);
            }
        }
        self.synchronise(place, address.0, branch, (privilege, context), sink)?;
        arrival
    }

    /// Format 3 subformat 1. Spec: RVET-DEC-007, RVET-DEC-008, RVET-DEC-019 (ET 7.3).
    fn trap<S>(&mut self, place: Place, packet: &Packet, sink: &mut S) -> Result<(), Trouble>
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
        let told = epc.unwrap_or(Epc::Unknown);
        sink.event(place, &Event::Trap { interrupt, cause: ecause, tval, epc: told });
        epc?;
        let address = address.ok_or(Trouble::new(FaultClass::MissingAddress))?;
        if thaddr {
            self.synchronise(place, address.0, branch, (privilege, context), sink)
        } else {
            self.chain = self.chain.link(&situation, interrupt, address.0);
            Ok(())
        }
    }

    /// The handler that implicit exception mode leaves out. Spec: RVET-DEC-049 (ET 3.2.3).
    fn implicit_handler(&self, interrupt: bool, cause: u16) -> Option<u64> {
        let vectors = self.hart.vectors.filter(|_| self.walker.modes().implicit_exception)?;
        let offset = if interrupt && vectors.vectored { 4 * u64::from(cause) } else { 0 };
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
        self.walker.synchronise((slot.class == Class::Branch).then_some(!branch));
        self.base = address;
        self.privilege = privilege;
        self.provisional = None;
        self.chain = TrapChain::Closed;
        self.start_of_trace = false;
        Ok(())
    }

    /// Whether the next report can be followed as it is: nothing is missing, pending or open.
    #[inline(always)]
    pub(super) fn is_following(&self) -> bool {
        // While refusing, nothing is synchronised.
        !self.start_of_trace && self.provisional.is_none() && !self.chain.is_open()
    }

    /// [`packet`](Self::packet) for formats 1 and 2 while [following](Self::is_following), inlined so that the packet need
    /// not be in memory.
    #[inline(always)]
    pub(super) fn report<S>(&mut self, place: Place, packet: &Brief, sink: &mut S)
    where
        S: Sink<RiscvEtrace> + ?Sized,
    {
        let (count, map) = packet.outcomes();
        self.walker.outcomes.append(map, count);
        let reported = match packet.reported() {
            None => {
                self.last_before_synchronisation = false;
                Reported { address: None, notify: false, updiscon: false, definite: false, depth: None }
            }
            Some(reported) => Reported {
                address: Some(self.resolve(reported.address())),
                notify: reported.notify(),
                updiscon: reported.updiscon(),
                definite: false,
                depth: self.reported_depth(reported.irreport(), reported.irdepth()),
            },
        };
        if let Err(trouble) = self.approach(place, Some(reported), sink) {
            self.fail(trouble, place, sink);
        }
    }

    #[cold]
    fn fail<S>(&mut self, trouble: Trouble, place: Place, sink: &mut S)
    where
        S: Sink<RiscvEtrace> + ?Sized,
    {
        sink.fault(&trouble.fault(place));
        self.lose_synchronisation();
    }

    /// Formats 0, 1 and 2. Spec: RVET-DEC-001, RVET-DEC-010 to 018, RVET-DEC-054 (ET 11).
    fn advance<S>(&mut self, place: Place, packet: &Packet, sink: &mut S) -> Result<(), Trouble>
    where
        S: Sink<RiscvEtrace> + ?Sized,
    {
        self.prepare(place, sink)?;
        let reported = self.reported(packet)?;
        self.approach(place, reported, sink)
    }

    /// What there is to do before a report of an address or of outcomes is looked at.
    #[inline(always)]
    fn prepare<S>(&mut self, place: Place, sink: &mut S) -> Result<(), Trouble>
    where
        S: Sink<RiscvEtrace> + ?Sized,
    {
        if self.chain.is_open() {
            return Err(Trouble::new(FaultClass::IllegalInState));
        }
        if self.start_of_trace {
            return Err(Trouble::new(FaultClass::NotSynchronised));
        }
        // Before anything else, because this walk may store into the jump target cache (RVET-DEC-042).
        self.second_arrival(place, sink)?;
        self.last_before_synchronisation = false;
        Ok(())
    }

    /// Walks to what was reported.
    #[inline(always)]
    fn approach<S>(&mut self, place: Place, reported: Option<Reported>, sink: &mut S) -> Result<(), Trouble>
    where
        S: Sink<RiscvEtrace> + ?Sized,
    {
        let Some(Reported { address, notify, updiscon, definite, depth }) = reported else {
            return Ok(());
        };
        let Some(address) = address else {
            let goal = Goal { until: Until::LastBranch, address: 0, depth: None, synchronisation: false };
            return self.walker.walk(&self.map, &goal, place, sink).map(|_| ());
        };
        self.base = address;
        self.last_before_synchronisation = updiscon;
        let until = if definite || updiscon && !notify { Until::Discontinuity } else { Until::Arrival };
        let goal = Goal { until, address, depth, synchronisation: false };
        let arrival = self.walker.walk(&self.map, &goal, place, sink)?;
        // At a branch the number of outcomes tells the two arrivals apart (RVET-DEC-023).
        if arrival == Arrival::Direct && !notify && self.walker.outcomes.len() == 0 {
            self.provisional = Some(Provisional { depth });
        }
        Ok(())
    }

    /// Queues the outcomes and finds the address; `None` if the packet is of another format.
    fn reported(&mut self, packet: &Packet) -> Result<Option<Reported>, Trouble> {
        match *packet {
            Packet::BranchCount {
                branch_count,
                branch_fmt,
                address,
                notify,
                updiscon,
                irreport,
                irdepth,
            } => {
                // The walk relies on it that nothing is predicted in other modes.
                if !self.walker.modes().branch_prediction {
                    return Err(Trouble::new(FaultClass::IllegalInState));
                }
                let depth = self.reported_depth(irreport, irdepth);
                let predictions = u64::from(branch_count) + 31;
                if predictions > self.walker.limits.predictions {
                    return Err(Trouble::new(FaultClass::Limit));
                }
                // Spec: RVET-DEC-040 (ET 7.8): all but branch_fmt 2 end with a failed branch.
                self.walker.outcomes.predict(predictions, branch_fmt != 2);
                let address = address.map(|address| self.resolve(address));
                Ok(Some(Reported { address, notify, updiscon, definite: false, depth }))
            }
            Packet::JumpTargetIndex { index, branches, branch_map, irreport, irdepth } => {
                let depth = self.reported_depth(irreport, irdepth);
                let invalid =
                    Trouble { class: FaultClass::InvalidReference, address: None, bit: self.hart.index_bit };
                let target = self.walker.cache.get(index).ok_or(invalid)?;
                self.walker.outcomes.append(branch_map, branches.into());
                // It reports the target of an updiscon by construction (RVET-DEC-023).
                Ok(Some(Reported {
                    address: Some(target),
                    notify: false,
                    updiscon: false,
                    definite: true,
                    depth,
                }))
            }
            _ => Ok(self.reported_usually(packet)),
        }
    }

    /// [`reported`](Self::reported) for formats 1 and 2.
    #[inline(always)]
    fn reported_usually(&mut self, packet: &Packet) -> Option<Reported> {
        match *packet {
            Packet::Branch { branches, branch_map, address, notify, updiscon, irreport, irdepth } => {
                let depth = self.reported_depth(irreport, irdepth);
                // Spec: RVET-PKT-032 (ET 7.7).
                self.walker.outcomes.append(branch_map, if branches == 0 { 31 } else { branches.into() });
                let address = address.map(|address| self.resolve(address));
                Some(Reported { address, notify, updiscon, definite: false, depth })
            }
            Packet::Address { address, notify, updiscon, irreport, irdepth } => {
                let address = Some(self.resolve(address));
                let depth = self.reported_depth(irreport, irdepth);
                Some(Reported { address, notify, updiscon, definite: false, depth })
            }
            _ => None,
        }
    }

    /// `irdepth` if it means something.
    #[inline]
    fn reported_depth(&self, irreport: bool, irdepth: u32) -> Option<u32> {
        (irreport && self.walker.modes().implicit_return).then_some(irdepth)
    }

    /// Spec: RVET-DEC-027 (ET 3.2.1).
    #[inline]
    const fn resolve(&self, address: ReportedAddress) -> u64 {
        match address {
            ReportedAddress::Delta(delta) => self.base.wrapping_add_signed(delta) & self.hart.mask,
            ReportedAddress::Full(address) => address & self.hart.mask,
        }
    }

    /// If the walk stopped at what may be the first of two arrivals: on to the second.
    #[inline(always)]
    fn second_arrival<S>(&mut self, place: Place, sink: &mut S) -> Result<(), Trouble>
    where
        S: Sink<RiscvEtrace> + ?Sized,
    {
        match self.provisional.take() {
            Some(provisional) => self.leave_provisional(provisional, place, sink),
            None => Ok(()),
        }
    }

    #[inline(never)]
    fn leave_provisional<S>(
        &mut self,
        Provisional { depth }: Provisional,
        place: Place,
        sink: &mut S,
    ) -> Result<(), Trouble>
    where
        S: Sink<RiscvEtrace> + ?Sized,
    {
        let goal =
            Goal { until: Until::Discontinuity, address: self.walker.pc, depth, synchronisation: false };
        self.walker.walk(&self.map, &goal, place, sink).map(|_| ())
    }

    /// Whether a start packet directly behind a provisional stop proves the first arrival. Spec: RVET-DEC-022.
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

    fn is(&self, class: Class, address: u64) -> bool {
        self.map.locate(address).is_some_and(|here| self.map.slot(here).class == class)
    }

    /// A taken branch is announced where none is. Spec: RVET-PKT-012 (ET 7.2).
    fn warn_branch<S>(&self, place: Place, branch: bool, address: u64, sink: &mut S)
    where
        S: Sink<RiscvEtrace> + ?Sized,
    {
        if !branch && self.map.locate(address).is_some() && !self.is(Class::Branch, address) {
            let place = at_bit(place, BRANCH_BIT);
            sink.fault(&Fault { class: FaultClass::Suspicious, place, address: Some(Address(address)) });
        }
    }
}

/// Spec: RVET-PKT-045 (ET 4.2).
fn warn_privilege<S>(place: Place, bit: u32, privilege: u8, sink: &mut S)
where
    S: Sink<RiscvEtrace> + ?Sized,
{
    if matches!(privilege, 2 | 7..) {
        sink.fault(&Fault { class: FaultClass::Suspicious, place: at_bit(place, bit), address: None });
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
