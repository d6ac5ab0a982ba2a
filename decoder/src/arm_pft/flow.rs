//! Packets -> events: what each packet says (B.3.1).

use alloc::format;

use traceproof_vectors::arm::TimestampEncoding;
use traceproof_vectors::arm_pft::{ArmPft, CycleCount, Event, Packet, Parameters, Reason, VariableField};
use traceproof_vectors::{Address32, DecoderLimits, DecoderState, Fault, FaultClass, Place, Program, Sink};

use super::code::Code;
use super::oddities::{self, Expected};
use super::return_stack::ReturnStack;
use super::state::State;
use super::track::{NOWHERE, Rules, Slot};
use crate::arm::TimestampReader;

/// Whether the return stack is kept where the flow is lost. The calls that cannot be followed are missing
/// then, so that an E atom may take an older entry; but the contract empties it only where synchronisation is
/// lost.
pub(super) const KEEPS_RETURN_STACK_WITHOUT_FLOW: bool = true;

/// What the packets of one stream say about the execution: the decompressor of appendix B.
///
/// Memory is that of the program, decoded; a packet causes at most five walks, each bounded by
/// [`DecoderLimits::steps`].
#[derive(Clone, Debug)]
pub struct Flow {
    pub(super) options: Options,
    pub(super) code: Code,
    /// An I-sync was seen since the latest A-sync that ended a search (B.3.1 stage 2).
    synchronised: bool,
    /// The latest state that the trace stated.
    pub(super) last: State,
    /// The state of the next instruction, if `defined`.
    pub(super) current: State,
    pub(super) defined: bool,
    /// Where `current` is in the code, if it was looked for.
    pub(super) slot: Slot,
    /// In which view of the code.
    pub(super) view: usize,
    /// Of both states.
    context_id: Option<u32>,
    vmid: Option<u8>,
    pub(super) return_stack: ReturnStack,
    timestamps: TimestampReader,
    cycles: u64,
}

/// The parameters that matter here.
#[derive(Clone, Copy, Debug)]
pub(super) struct Options {
    /// Counts of I-syncs after overflow and Debug state are not counts (4.4).
    drops_counts_after_gaps: bool,
    has_exception_returns: bool,
    pub(super) return_stack: bool,
    pub(super) expected: Expected,
    /// Instructions without waypoint.
    pub(super) steps: u64,
    /// Atoms go the short way where there is one, which only saves time.
    pub(super) fast_path: bool,
}

impl Options {
    const fn new(parameters: &Parameters, limits: &DecoderLimits) -> Self {
        Self {
            // Reading `pft-counts-of-pft-1-0`.
            drops_counts_after_gaps: parameters.minor >= 1,
            has_exception_returns: parameters.has_exception_returns(),
            return_stack: parameters.return_stack,
            expected: Expected {
                virtualization: parameters.virtualization,
                m_profile: parameters.m_profile,
                short_timestamps: parameters.timestamp_bits == 48,
            },
            steps: limits.steps,
            fast_path: true,
        }
    }
}

impl Flow {
    /// At the start of a stream.
    #[must_use]
    pub fn new(parameters: &Parameters, program: &Program, limits: &DecoderLimits) -> Self {
        let rules = Rules { barrier_waypoints: parameters.barrier_waypoints, fast_path: true };
        // Spec: PFT-CFG-005, PFT-CFG-006 (2.4, 3.16.29).
        let encoding =
            if parameters.timestamp_binary { TimestampEncoding::Binary } else { TimestampEncoding::Gray };
        Self {
            options: Options::new(parameters, limits),
            code: Code::new(program, rules),
            synchronised: false,
            last: State::START,
            current: State::START,
            defined: false,
            slot: NOWHERE,
            view: 0,
            context_id: None,
            vmid: None,
            return_stack: ReturnStack::new(parameters.return_stack_depth),
            timestamps: TimestampReader::new(parameters.timestamp_bits, encoding),
            cycles: 0,
        }
    }

    /// The same at the start of a stream, but it goes from instruction to instruction, which takes longer.
    #[must_use]
    pub fn without_fast_path(self) -> Self {
        let options = Options { fast_path: false, ..self.options };
        Self { code: self.code.without_fast_path(), options, ..self }
    }

    /// Back to the start of a stream; what is decoded of the program stays.
    pub fn reset(&mut self) {
        self.lose_synchronisation();
        self.cycles = 0;
    }

    /// Packets cannot be read up to the next A-sync. Spec: PFT-ERR-003, PFT-ERR-004, PFT-ERR-020 (7.1 of the
    /// sheet).
    pub fn lose_synchronisation(&mut self) {
        (self.synchronised, self.defined) = (false, false);
        (self.context_id, self.vmid) = (None, None);
        self.return_stack.clear();
        self.timestamps.forget();
    }

    /// What the next packet is decoded with, for people.
    #[must_use]
    pub fn shown(&self) -> DecoderState {
        let State { address, isa, non_secure, hyp } = self.last;
        let next = self.defined.then(|| format!("{:#x} {}", self.current.address, self.current.isa.name()));
        let mut state = DecoderState::default()
            .with("synchronised", if self.synchronised { "yes" } else { "no: waits for an I-sync" })
            .with("address base", format!("{address:#x} {}", isa.name()))
            .with("next instruction", next.as_deref().unwrap_or("unknown"))
            .with("context", format!("non_secure={non_secure} hyp={hyp}"))
            .with_hex("Context ID", self.context_id.map(u64::from))
            .with_hex("VMID", self.vmid.map(u64::from))
            .with_hex("timestamp", self.timestamps.time())
            .with("cycles", self.cycles);
        if self.options.return_stack {
            state = state.with_list("return stack", self.return_stack.shown());
        }
        state
    }

    /// Takes the next packet. Spec: B.3.1 stages 2 to 5, PFT-DEC-002, PFT-DEC-015 to PFT-DEC-017.
    #[inline]
    pub fn packet<S>(&mut self, place: Place, packet: &Packet, sink: &mut S)
    where
        S: Sink<ArmPft> + ?Sized,
    {
        if !self.synchronised {
            if !matches!(packet, Packet::InstructionSync { .. }) {
                return;
            }
            self.synchronised = true;
        }
        if !oddities::is_plain(packet) {
            self.report_oddities(place, packet, sink);
        }
        match *packet {
            Packet::Atoms { atoms, cycle_count } => {
                self.count(place, cycle_count, sink);
                self.analyze_atomheader(place, atoms, sink);
            }
            Packet::BranchAddress { address, exception, cycle_count } => {
                self.count(place, cycle_count, sink);
                let target = self.last.branch(address, exception, self.options.expected.virtualization);
                match exception {
                    Some(exception) if exception.number != 0 => {
                        self.branch_with_excp(place, target, exception.number, sink);
                    }
                    _ => self.branch_no_excp(place, target, sink),
                }
            }
            _ => self.other(place, packet, sink),
        }
    }

    /// The packets that are not frequent.
    fn other<S: Sink<ArmPft> + ?Sized>(&mut self, place: Place, packet: &Packet, sink: &mut S) {
        match *packet {
            Packet::InstructionSync { reason, cycle_count, .. } => {
                let is_count = match reason {
                    Reason::Overflow | Reason::DebugExit => !self.options.drops_counts_after_gaps,
                    Reason::Periodic | Reason::TraceEnabled => true,
                };
                self.count(place, cycle_count.filter(|_| is_count), sink);
                self.synchronise(place, packet, sink);
            }
            Packet::WaypointUpdate { address, information, .. } => {
                self.analyze_waypoint_update(place, address, information, sink);
            }
            Packet::ContextId { value } => self.analyze_cid(place, value, sink),
            Packet::Vmid(vmid) => self.analyze_vmid(place, vmid, sink),
            Packet::Timestamp { clock_change, value, cycle_count } => {
                self.count(place, cycle_count, sink);
                self.timestamp(place, clock_change, value, sink);
            }
            Packet::ExceptionReturn => self.analyze_eret(place, sink),
            Packet::Trigger => sink.event(place, &Event::Trigger),
            Packet::AlignmentSync { .. }
            | Packet::Ignore
            | Packet::Atoms { .. }
            | Packet::BranchAddress { .. } => {}
        }
    }

    #[cold]
    fn report_oddities<S: Sink<ArmPft> + ?Sized>(&mut self, place: Place, packet: &Packet, sink: &mut S) {
        let isa = match *packet {
            Packet::BranchAddress { address, exception, .. } => {
                Some(self.last.branch(address, exception, false).isa)
            }
            _ => None,
        };
        oddities::report(packet, place, isa, self.options.expected, |fault| sink.fault(fault));
    }

    /// Spec: B.3.1 stage 3, PFT-DEC-004 to PFT-DEC-014, PFT-DEC-071, PFT-DEC-076, PFT-DEC-078;
    /// readings `pft-return-stack-over-periodic-sync`, `pft-sync-check-compares-hyp`.
    fn synchronise<S: Sink<ArmPft> + ?Sized>(&mut self, place: Place, packet: &Packet, sink: &mut S) {
        let Packet::InstructionSync { address, reason, non_secure, alt_isa, hyp, context_id, .. } = *packet
        else {
            return;
        };
        let hyp = hyp && self.options.expected.virtualization;
        let stated = State::of_sync(address.0, alt_isa, non_secure, hyp);
        let State { address, isa, .. } = stated;
        let address = Address32(address);
        sink.event(place, &Event::TraceOn { reason, address, isa, non_secure, hyp, context_id });
        if reason != Reason::Periodic {
            self.return_stack.clear();
        } else if self.defined {
            let same_context = context_id.is_none() || context_id == self.context_id;
            if self.current != stated || !same_context {
                sink.fault(&Fault::new(FaultClass::Contradiction, place));
            }
        }
        if context_id.is_some() {
            self.context_id = context_id;
        }
        self.arrive(stated);
        self.change_view();
    }

    /// Spec: PFT-DEC-045, PFT-DEC-046, PFT-DEC-048, PFT-DEC-077, PFT-ERR-015 (4.5.7).
    fn analyze_cid<S: Sink<ArmPft> + ?Sized>(&mut self, place: Place, value: Option<u32>, sink: &mut S) {
        let Some(context_id) = value else {
            return sink.fault(&Fault::new(FaultClass::IllegalInState, place));
        };
        self.context_id = value;
        self.change_view();
        sink.event(place, &Event::ContextId(context_id));
    }

    /// Spec: PFT-DEC-047, PFT-DEC-048, PFT-DEC-077, PFT-ERR-016 (4.5.8).
    fn analyze_vmid<S: Sink<ArmPft> + ?Sized>(&mut self, place: Place, vmid: u8, sink: &mut S) {
        if !self.options.expected.virtualization {
            return sink.fault(&Fault::new(FaultClass::IllegalInState, place));
        }
        self.vmid = Some(vmid);
        self.change_view();
        sink.event(place, &Event::Vmid(vmid));
    }

    /// Spec: PFT-DEC-056 to PFT-DEC-058, PFT-ERR-017 (4.5.10).
    fn analyze_eret<S: Sink<ArmPft> + ?Sized>(&mut self, place: Place, sink: &mut S) {
        if self.options.has_exception_returns {
            sink.event(place, &Event::ExceptionReturn);
        } else {
            sink.fault(&Fault::new(FaultClass::IllegalInState, place));
        }
    }

    /// Spec: PFT-PKT-063, PFT-PKT-065, PFT-DEC-059, PFT-ERR-019 (4.5.9, 4.14); readings
    /// `pft-zero-is-a-value`, `pft-incomplete-timestamp`.
    fn timestamp<S>(&mut self, place: Place, clock_change: bool, value: VariableField, sink: &mut S)
    where
        S: Sink<ArmPft> + ?Sized,
    {
        let value = self.timestamps.take(value.bits, value.bytes);
        sink.event(place, &Event::Timestamp { value, clock_change });
    }

    /// Spec: PFT-PKT-031, PFT-DEC-060, PFT-DEC-075 (4.4); reading `pft-zero-is-a-value`.
    #[inline]
    fn count<S>(&mut self, place: Place, count: Option<CycleCount>, sink: &mut S)
    where
        S: Sink<ArmPft> + ?Sized,
    {
        if let Some(CycleCount { value, .. }) = count {
            self.cycles = self.cycles.saturating_add(value.into());
            sink.event(place, &Event::Cycles { count: value, total: self.cycles });
        }
    }

    /// A packet states the state of the next instruction.
    #[inline]
    pub(super) fn arrive(&mut self, state: State) {
        self.last = state;
        self.defined = true;
        self.go_to(state);
    }

    /// The next instruction executes in this state.
    #[inline]
    pub(super) fn go_to(&mut self, state: State) {
        let changed = (state.non_secure, state.hyp) != (self.current.non_secure, self.current.hyp);
        (self.current, self.slot) = (state, NOWHERE);
        if changed {
            self.change_view();
        }
    }

    /// Other code may be seen now.
    fn change_view(&mut self) {
        self.slot = NOWHERE;
        self.view = self.code.view(&self.current, self.context_id, self.vmid);
    }

    /// Where execution is cannot be followed: up to the next branch address or I-sync there are no
    /// instructions.
    ///
    /// Spec: PFT-ERR-006 to PFT-ERR-012, PFT-ERR-024 (7.3 of the sheet).
    #[cold]
    pub(super) fn lose_flow<S>(&mut self, fault: &Fault, sink: &mut S)
    where
        S: Sink<ArmPft> + ?Sized,
    {
        self.defined = false;
        if !KEEPS_RETURN_STACK_WITHOUT_FLOW {
            self.return_stack.clear();
        }
        sink.fault(fault);
    }
}
