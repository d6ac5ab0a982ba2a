//! Packets -> elements -> events.

use alloc::format;
use core::ops::ControlFlow;

use traceproof_vectors::arm::{ExceptionLevel, Profile};
use traceproof_vectors::arm_ete::{
    AddressField, ArmEte, Atoms, ContextField, Event, Packet, Parameters, VariableField,
};
use traceproof_vectors::{DecoderLimits, DecoderState, Fault, FaultClass, Place, Program, Sink};

use super::element::{AtomRun, Element, Entry};
use super::flow::Flow;
use super::history::History;
use super::layout;
use super::oddities::{self, Expected};
use super::speculation::Queue;
use super::transaction::Transaction;

/// What the packets of one stream say about the execution: the stages of the K10 analyser.
///
/// Memory is that of the program, decoded, and of [`DecoderLimits::speculation`] elements; each element causes walks
/// bounded by [`DecoderLimits::steps`].
#[derive(Clone, Debug)]
pub struct Analyzer {
    pub(super) options: Options,
    /// A Trace Info was read since the search for an A-sync, and no resynchronization after it.
    synchronised: bool,
    /// A Trace Info was read since the search for an A-sync.
    started: bool,
    pub(super) history: History,
    /// An exception of ETMv4 whose address is the next packet.
    exception: Option<PendingException>,
    /// P0 elements that are uncommitted, as far as implied commits are concerned.
    pub(super) depth: u64,
    /// P0 elements from before the start that are uncommitted (ETE-DEC-DEPTH-002).
    pub(super) unseen: u64,
    pub(super) queue: Queue,
    pub(super) transaction: Transaction,
    pub(super) flow: Flow,
}

/// The parameters that matter here.
#[derive(Clone, Copy, Debug)]
pub(super) struct Options {
    pub(super) expected: Expected,
    pub(super) profile: Profile,
    pub(super) commtrans: bool,
    pub(super) commopt: bool,
    pub(super) maxspec: u64,
    /// Elements that may be held or kept back.
    pub(super) speculation: u64,
    /// Atoms are committed together, which only saves time.
    pub(super) fast_path: bool,
}

/// What the information bytes of an exception of ETMv4 say.
#[derive(Clone, Copy, Debug)]
struct PendingException {
    place: Place,
    number: u16,
    with_target: bool,
    fault_pending: bool,
}

/// The value of a number of 32 bits (sheet 5.0).
const fn number(field: VariableField) -> u64 {
    field.bits & 0xffff_ffff
}

/// The value of a count of 20 bits.
const fn count(field: VariableField) -> u32 {
    (field.bits & 0xf_ffff) as u32
}

impl Analyzer {
    /// At the start of a stream.
    #[must_use]
    pub fn new(parameters: &Parameters, program: &Program, limits: &DecoderLimits) -> Self {
        let options = Options {
            expected: Expected::new(parameters),
            profile: parameters.profile,
            commtrans: parameters.commtrans,
            commopt: parameters.commopt,
            maxspec: parameters.maxspec.into(),
            speculation: limits.speculation.into(),
            fast_path: true,
        };
        Self {
            options,
            synchronised: false,
            started: false,
            history: History::new(parameters),
            exception: None,
            depth: 0,
            unseen: 0,
            queue: Queue::default(),
            transaction: Transaction::default(),
            flow: Flow::new(parameters, program, limits),
        }
    }

    /// The same at the start of a stream, but it goes from atom to atom and from instruction to instruction, which
    /// takes longer.
    #[must_use]
    pub fn without_fast_path(self) -> Self {
        let options = Options { fast_path: false, ..self.options };
        Self { options, flow: self.flow.without_fast_path(), ..self }
    }

    /// What the next packet is decoded with, for people.
    #[must_use]
    pub fn shown(&self) -> DecoderState {
        let synchronised = match (self.started, self.synchronised) {
            (false, _) => "no: waits for a Trace Info",
            (true, false) => "no: waits for a Trace Info after the trace was interrupted",
            (true, true) => "yes",
        };
        let state = self.history.shown(DecoderState::default().with("synchronised", synchronised));
        let state = state
            .with("uncommitted P0 elements", self.depth)
            .with("of them from before the start", self.unseen)
            .with("held elements", self.queue.elements());
        let state = match self.transaction.is_open() {
            true => {
                state.with("transaction", format!("open, {} elements kept back", self.transaction.elements()))
            }
            false => state.with("transaction", "none"),
        };
        self.flow.shown(state)
    }

    /// Packets cannot be read up to the next A-sync; also back to the start of a stream. What is decoded of the program
    /// stays.
    ///
    /// Spec: ETE-DEC-ERR-001.
    pub fn lose_synchronisation(&mut self) {
        (self.synchronised, self.started) = (false, false);
        self.history.reset(0);
        self.history.forget_marker();
        self.exception = None;
        (self.depth, self.unseen) = (0, 0);
        self.queue.clear();
        self.transaction.close();
        self.flow.reset();
    }

    /// Takes the next packet. `Break`: it commits or cancels more than there is, so that synchronisation is lost; that
    /// is reported, and [`lose_synchronisation`](Self::lose_synchronisation) done.
    #[inline]
    pub fn packet<S>(&mut self, place: Place, packet: &Packet, sink: &mut S) -> ControlFlow<()>
    where
        S: Sink<ArmEte> + ?Sized,
    {
        if self.synchronised && self.exception.is_none() {
            match *packet {
                Packet::Atoms(atoms) => {
                    self.atoms(place, atoms.into(), sink);
                    return ControlFlow::Continue(());
                }
                Packet::TargetAddress { address, context: None }
                    if self.options.expected.is_plain(packet) =>
                {
                    let point = self.history.take_address(address);
                    self.add(place, Element::TargetAddress(point), sink);
                    return ControlFlow::Continue(());
                }
                _ => {}
            }
        }
        self.any_packet(place, packet, sink)
    }

    fn any_packet<S>(&mut self, place: Place, packet: &Packet, sink: &mut S) -> ControlFlow<()>
    where
        S: Sink<ArmEte> + ?Sized,
    {
        if !self.synchronised && !self.is_read_before_trace_info(packet) {
            return ControlFlow::Continue(());
        }
        if !self.options.expected.is_plain(packet) {
            let is_suspicious = self.has_other_depth(packet);
            oddities::report(packet, place, is_suspicious, self.options.expected, |fault| sink.fault(fault));
        }
        if self.exception.is_some() && !matches!(packet, Packet::TargetAddress { .. }) {
            // Spec: ETE-V4-EXC-002; reading `ete-etmv4-exception-without-address`.
            sink.fault(&Fault::new(FaultClass::MissingAddress, place));
            self.finish_exception(None, None, sink);
        }
        let result = self.interpret(place, packet, sink);
        if result.is_break() {
            sink.fault(&Fault::new(FaultClass::Contradiction, place));
            self.lose_synchronisation();
        }
        result
    }

    /// Before a Trace Info only few packets mean something; it is read itself.
    ///
    /// Spec: ETE-DEC-SYNC-002, ETE-DEC-SYNC-003; readings `ete-packets-before-trace-info`,
    /// `ete-etmv4-event-before-trace-info`.
    fn is_read_before_trace_info(&mut self, packet: &Packet) -> bool {
        match packet {
            Packet::TraceInfo { .. } => {
                self.synchronised = true;
                true
            }
            Packet::Event(_) | Packet::Instrumentation { .. } | Packet::Discard | Packet::Overflow => true,
            _ => false,
        }
    }

    /// Spec: ETE-DEC-TI-001; reading `ete-later-speculation-depth`.
    fn has_other_depth(&self, packet: &Packet) -> bool {
        match packet {
            Packet::TraceInfo { speculation, .. } if self.started => {
                speculation.map_or(0, number) != self.depth
            }
            _ => false,
        }
    }

    fn interpret<S>(&mut self, place: Place, packet: &Packet, sink: &mut S) -> ControlFlow<()>
    where
        S: Sink<ArmEte> + ?Sized,
    {
        match *packet {
            Packet::Atoms(atoms) => self.atoms(place, atoms.into(), sink),
            Packet::TargetAddress { address, context } => self.target_address(place, address, context, sink),
            Packet::ContextSame => self.add(place, Element::Context(self.history.context()), sink),
            Packet::Context(field) => self.context(place, &field, sink),
            Packet::Exception { .. } | Packet::ExceptionV4 { .. } => self.exception(place, packet, sink),
            Packet::SourceAddress(field) => {
                let address = self.history.take_address(field).address;
                self.add(place, Element::SourceAddress(address), sink);
            }
            Packet::Q { address, count } => self.q(place, address, count, sink),
            Packet::TraceOn => self.add(place, Element::TraceOn, sink),
            Packet::Discard => self.discard(place, &Event::Discard, sink),
            Packet::Overflow => self.discard(place, &Event::Overflow, sink),
            Packet::TransactionStart => {
                let is_p0 = !self.options.commtrans;
                self.add(place, Element::TransactionStart { is_p0 }, sink);
            }
            Packet::TransactionCommit => self.add(place, Element::TransactionCommit, sink),
            Packet::FunctionReturn => self.add(place, Element::FunctionReturn, sink),
            Packet::ExceptionReturn => {
                let is_p0 = self.options.profile == Profile::Microcontroller;
                self.add(place, Element::ExceptionReturn { is_p0 }, sink);
            }
            // Spec: ETE-V4-RSY-001; reading `ete-resynchronization`.
            Packet::Resynchronization => self.synchronised = false,
            Packet::Commit(_)
            | Packet::Cancel1 { .. }
            | Packet::Cancel2 { .. }
            | Packet::Cancel3 { .. }
            | Packet::Mispredict { .. } => return self.resolve(place, packet, sink),
            Packet::CycleCount1 { .. } | Packet::CycleCount2 { .. } | Packet::CycleCount3 { .. } => {
                return self.cycle_count(place, packet, sink);
            }
            _ => self.report(place, packet, sink),
        }
        ControlFlow::Continue(())
    }

    /// Packets whose elements are only reported.
    fn report<S>(&mut self, place: Place, packet: &Packet, sink: &mut S)
    where
        S: Sink<ArmEte> + ?Sized,
    {
        match *packet {
            Packet::TraceInfo { .. } => self.trace_info(place, packet, sink),
            // Spec: ETE-PKT-TS-002, ETE-MWJHD-001.
            Packet::Timestamp { value, count: cycles } => {
                let (value, of) = self.history.take_timestamp(value);
                let event = Event::Timestamp { value, cycles: cycles.map(count), of };
                self.add(place, Element::Report(event), sink);
            }
            Packet::TimestampMarker => {
                self.history.take_marker();
                self.add(place, Element::Report(Event::TimestampMarker), sink);
            }
            // Spec: ETE-PKT-EVT-001.
            Packet::Event(mask) => {
                for number in (0..4).filter(|number| mask >> number & 1 == 1) {
                    self.add(place, Element::Report(Event::Event { number }), sink);
                }
            }
            Packet::Instrumentation { level, value, .. } => {
                let exception_level = ExceptionLevel::new(level).unwrap_or_default();
                let event = Event::Instrumentation { exception_level, value };
                self.add(place, Element::Report(event), sink);
            }
            Packet::NumberedDataSyncMarker(number) => {
                self.add(place, Element::Report(Event::DataSyncMarker { number: Some(number) }), sink);
            }
            // Spec: ETE-V4-DSM-001; reading `ete-markers-before-data`.
            Packet::UnnumberedDataSyncMarker(atoms) => {
                if let Some(atoms) = Atoms::from_bits(u32::MAX, atoms) {
                    self.atoms(place, atoms.into(), sink);
                }
                self.add(place, Element::Report(Event::DataSyncMarker { number: None }), sink);
            }
            _ => {}
        }
    }

    /// Spec: ETE-PKT-TI-002 to ETE-PKT-TI-005, ETE-DEC-TI-002, ETE-DEC-TI-004, ETE-DEC-TRX-002, ETE-DEC-DEPTH-002;
    /// readings `ete-threshold-needs-cc`, `ete-later-t-bit`, `ete-ignored-info-bits`. ETMv4 has no transactions (sheet
    /// 2.2, D5): there T is only reported.
    fn trace_info<S: Sink<ArmEte> + ?Sized>(&mut self, place: Place, packet: &Packet, sink: &mut S) {
        let Packet::TraceInfo { info, speculation, cycle_threshold, .. } = *packet else { return };
        let info = info.map_or(0, |info| info.bits);
        let (cycle_counting, transactional) = (info & 1 != 0, info & 0x40 != 0);
        let cycle_threshold =
            cycle_threshold.filter(|_| cycle_counting).map_or(0, |field| (field.bits & 0xfff) as u16);
        self.history.reset(cycle_threshold.into());
        self.depth = speculation.map_or(0, number);
        let speculation = self.depth as u32;
        let event = Event::TraceInfo { cycle_counting, cycle_threshold, speculation, transactional };
        self.add(place, Element::Report(event), sink);
        if !self.started {
            self.started = true;
            self.unseen = self.depth;
            if transactional && self.options.expected.is_ete() {
                self.transaction.open(false);
            }
        }
    }

    /// Spec: ETE-PKT-ADR-005; the Target Address comes first, which makes no difference (sheet 5.4).
    fn target_address<S>(
        &mut self,
        place: Place,
        address: AddressField,
        context: Option<ContextField>,
        sink: &mut S,
    ) where
        S: Sink<ArmEte> + ?Sized,
    {
        if self.exception.is_some() {
            return self.finish_exception(Some(address), context, sink);
        }
        let point = self.history.take_address(address);
        self.add(place, Element::TargetAddress(point), sink);
        if let Some(context) = context {
            self.context(place, &context, sink);
        }
    }

    fn context<S: Sink<ArmEte> + ?Sized>(&mut self, place: Place, field: &ContextField, sink: &mut S) {
        let context = self.history.take_context(field);
        self.add(place, Element::Context(context), sink);
    }

    /// Spec: ETE-PKT-Q-002, ETE-DEC-Q-001; reading `ete-zero-q-count`.
    fn q<S>(
        &mut self,
        place: Place,
        address: Option<AddressField>,
        count: Option<VariableField>,
        sink: &mut S,
    ) where
        S: Sink<ArmEte> + ?Sized,
    {
        let count = count.map(|count| number(count) as u32).filter(|count| *count != 0);
        self.add(place, Element::Q(count), sink);
        if let Some(address) = address {
            self.target_address(place, address, None, sink);
        }
    }

    /// Spec: ETE-PKT-EXC-002, ETE-PKT-EXC-004, ETE-PKT-EXC-006, ETE-PKT-EXC-007, ETE-FPDFJ-001.
    fn exception<S: Sink<ArmEte> + ?Sized>(&mut self, place: Place, packet: &Packet, sink: &mut S) {
        match *packet {
            Packet::ExceptionV4 { number, with_target, fault_pending, .. } => {
                let fault_pending = fault_pending.unwrap_or_default();
                self.exception = Some(PendingException { place, number, with_target, fault_pending });
            }
            Packet::Exception { number, with_target, address, context, .. } => {
                let number = number.into();
                self.exception = Some(PendingException { place, number, with_target, fault_pending: false });
                if address.is_none() {
                    self.history.take_unknown_address();
                }
                if number == TRANSACTION_FAILURE {
                    self.exception = None;
                    return self.add(place, Element::TransactionFailure, sink);
                }
                self.finish_exception(address, context, sink);
            }
            _ => {}
        }
    }

    /// The address of an exception is known, or known to be missing.
    ///
    /// Spec: ETE-DEC-EXC-001, ETE-DEC-EXC-002, ETE-DEC-RS-007, ETE-PKT-EXC-004, ETE-NRJGC-001, ETE-V4-EXC-001.
    fn finish_exception<S>(
        &mut self,
        address: Option<AddressField>,
        context: Option<ContextField>,
        sink: &mut S,
    ) where
        S: Sink<ArmEte> + ?Sized,
    {
        let Some(exception) = self.exception.take() else { return };
        let PendingException { place, number, with_target, fault_pending } = exception;
        let point = address.map(|address| self.history.take_address(address));
        if with_target {
            self.add(place, point.map_or(Element::UnknownTarget, Element::TargetAddress), sink);
        }
        if let Some(context) = context {
            self.context(place, &context, sink);
        }
        let is_tail_chained = |address| {
            self.options.profile == Profile::Microcontroller && address & 0xffff_ffff == TAIL_CHAINED
        };
        let returns_to = point
            .filter(|_| !layout::is_reset(number, self.options.profile))
            .filter(|point| !is_tail_chained(point.address));
        self.add(place, Element::Exception { number, returns_to, fault_pending }, sink);
    }

    /// Commit, Cancel and Mispredict packets.
    ///
    /// Spec: ETE-PKT-CMT-001, ETE-PKT-CAN-001 to ETE-PKT-CAN-003, ETE-PKT-MIS-001.
    fn resolve<S>(&mut self, place: Place, packet: &Packet, sink: &mut S) -> ControlFlow<()>
    where
        S: Sink<ArmEte> + ?Sized,
    {
        let (atoms, cancelled, mispredict) = match *packet {
            Packet::Commit(count) => return self.commit(number(count), sink),
            Packet::Cancel1 { count, mispredict } => (None, number(count), mispredict),
            Packet::Cancel2 { atoms } => (atoms, 1, true),
            Packet::Cancel3 { atom, count } => (atom.then(|| Atoms::one(true)), count.into(), true),
            Packet::Mispredict { atoms } => (atoms, 0, true),
            _ => return ControlFlow::Continue(()),
        };
        if let Some(atoms) = atoms {
            self.atoms(place, AtomRun::from(atoms), sink);
        }
        self.cancel(cancelled, sink)?;
        if mispredict {
            self.mispredict(place, sink);
        }
        ControlFlow::Continue(())
    }

    /// Spec: ETE-PKT-CC1-001, ETE-PKT-CC1-002, ETE-PKT-CC2-001, ETE-PKT-CC2-002, ETE-PKT-CC3-001, ETE-BZQWX-001;
    /// reading `ete-nibble-without-commit`.
    fn cycle_count<S>(&mut self, place: Place, packet: &Packet, sink: &mut S) -> ControlFlow<()>
    where
        S: Sink<ArmEte> + ?Sized,
    {
        let (commit, cycles) = match *packet {
            Packet::CycleCount1 { commit, count: cycles } => (commit.map_or(0, number), cycles.map(count)),
            Packet::CycleCount2 { large: false, commit, count } => {
                (u64::from(commit) + 1, Some(count.into()))
            }
            Packet::CycleCount2 { large: true, commit, count } => {
                ((self.options.maxspec + u64::from(commit)).saturating_sub(15), Some(count.into()))
            }
            Packet::CycleCount3 { commit, count } => (u64::from(commit) + 1, Some(count.into())),
            _ => return ControlFlow::Continue(()),
        };
        if commit > 0 && !self.options.commopt {
            self.commit(commit, sink)?;
        }
        let cycles = cycles.and_then(|count| self.history.cycles(count));
        self.release(Entry { place, element: Element::Cycles(cycles) }, sink);
        ControlFlow::Continue(())
    }
}

/// The exception number that ETE has for it (sheet 5.6).
const TRANSACTION_FAILURE: u16 = 0x18;

/// The return address of a tail-chained exception of the M profile (ETE-V4-EXC-001).
const TAIL_CHAINED: u64 = 0xffff_fffe;
