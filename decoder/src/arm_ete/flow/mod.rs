//! Released elements -> events: where execution is.

mod code;
mod fast_path;
mod operations;
mod return_stack;
mod track;

use alloc::format;

use traceproof_vectors::arm::{Context, Profile};
use traceproof_vectors::arm_ete::{ArmEte, Event, Outcome, Parameters, SubIsa};
use traceproof_vectors::{Address, DecoderLimits, DecoderState, Fault, FaultClass, Place, Program, Sink};

use super::element::{AtomRun, CodePoint, Element};
use super::history::context_text;
use crate::arm::InstructionSet;
use code::Code;
use return_stack::ReturnStack;
use track::{NOWHERE, Rules, Slot, Step};

/// The analyser's state: address, context, return stack (sheet 6.3).
#[derive(Clone, Debug)]
pub(super) struct Flow {
    options: Options,
    code: Code,
    context: Option<Context>,
    /// A Trace Info came after the context.
    context_is_old: bool,
    /// Address of the next instruction, if `has_address`.
    address: u64,
    sub_isa: SubIsa,
    has_address: bool,
    /// Where it is in the code, if it was looked for.
    slot: Slot,
    /// In which view of the code.
    view: usize,
    /// In which contiguous code the latest address was found.
    region: usize,
    /// The address is on the return stack, unless another one comes before the next P0 element.
    pop_is_due: bool,
    /// Since the latest Trace Info no Context came, no Target Address.
    misses_context: bool,
    misses_address: bool,
    return_stack: ReturnStack,
    latest: Option<LatestAtom>,
    /// An N atom of an unconditional instruction that may still be corrected: its packet.
    not_taken: Option<Place>,
    total_cycles: u64,
}

/// The parameters that matter here.
#[derive(Clone, Copy, Debug)]
struct Options {
    return_stack: bool,
    profile: Profile,
    /// Instructions for one element.
    steps: u64,
    /// Atoms go the short way where there is one, which only saves time.
    fast_path: bool,
}

/// A P0 instruction that the flow has reached.
#[derive(Clone, Copy, Debug)]
struct Waypoint {
    address: u64,
    slot: Slot,
    step: Step,
    set: InstructionSet,
}

/// The latest atom that was released.
#[derive(Clone, Copy, Debug)]
struct LatestAtom {
    /// Its instruction, if it was reported.
    waypoint: Option<Waypoint>,
    taken: bool,
    place: Place,
    since: Since,
}

/// What came after an atom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Since {
    Nothing,
    /// Trace On, Discard, Overflow.
    Gap,
    P0,
}

impl Flow {
    /// At the start of a stream.
    pub(super) fn new(parameters: &Parameters, program: &Program, limits: &DecoderLimits) -> Self {
        Self {
            options: Options {
                return_stack: parameters.return_stack,
                profile: parameters.profile,
                steps: limits.steps,
                fast_path: true,
            },
            code: Code::new(program, Rules::new(parameters)),
            context: None,
            context_is_old: false,
            address: 0,
            sub_isa: SubIsa::Is0,
            has_address: false,
            slot: NOWHERE,
            view: 0,
            region: 0,
            pop_is_due: false,
            misses_context: true,
            misses_address: true,
            return_stack: ReturnStack::new(),
            latest: None,
            not_taken: None,
            total_cycles: 0,
        }
    }

    /// The same at the start of a stream, but it goes from instruction to instruction, which takes longer.
    pub(super) fn without_fast_path(self) -> Self {
        Self { options: Options { fast_path: false, ..self.options }, ..self }
    }

    /// For people: where execution is.
    pub(super) fn shown(&self, state: DecoderState) -> DecoderState {
        let address = match (self.has_address, self.pop_is_due) {
            (true, _) => format!("{:#x} {:?}", self.address, self.sub_isa),
            (false, true) => "on the return stack".into(),
            (false, false) => "unknown".into(),
        };
        let context = self.context.as_ref().map(context_text);
        let state = state
            .with("next instruction", address)
            .with("its context", context.as_deref().unwrap_or("unknown"))
            .with("cycles", self.total_cycles);
        match self.options.return_stack {
            true => state.with_list("return stack", self.return_stack.shown()),
            false => state,
        }
    }

    /// Nothing is known any more but the program.
    pub(super) fn reset(&mut self) {
        self.discard();
        (self.misses_context, self.misses_address) = (true, true);
        self.latest = None;
        self.total_cycles = 0;
    }

    /// Trace is lost.
    ///
    /// Spec: ETE-DEC-AN-006, ETE-DEC-AN-008, ETE-DEC-RS-010.
    pub(super) fn discard(&mut self) {
        self.forget_context_and_address();
        self.return_stack.clear();
        self.not_taken = None;
        self.note_since(Since::Gap);
    }

    /// Spec: ETE-DEC-AN-006; ETE-KGPTB-001 for a Cancel of elements that were not seen.
    pub(super) fn forget_context_and_address(&mut self) {
        self.context = None;
        self.forget_address();
    }

    fn forget_address(&mut self) {
        (self.has_address, self.pop_is_due) = (false, false);
    }

    /// The flow cannot be followed up to the next Target Address.
    ///
    /// Spec: ETE-DEC-RS-005; reading `ete-missing-code-empties-return-stack`.
    #[cold]
    pub(super) fn lose<S: Sink<ArmEte> + ?Sized>(&mut self, fault: &Fault, sink: &mut S) {
        self.forget_address();
        self.return_stack.clear();
        sink.fault(fault);
    }

    /// Takes the next element that took effect.
    ///
    /// Spec: ETE-DEC-AN-006 (sheet 6.3).
    #[inline]
    pub(super) fn follow<S: Sink<ArmEte> + ?Sized>(&mut self, place: Place, element: &Element, sink: &mut S) {
        match *element {
            Element::Atoms(run) => self.atoms(place, run, sink),
            Element::TargetAddress(point) => self.target_address(point),
            Element::Context(context) => self.take_context(place, context, sink),
            Element::Report(ref event) => self.report(place, event, sink),
            Element::Cycles(count) => self.cycles(place, count, sink),
            _ => self.follow_other(place, element, sink),
        }
    }

    /// Spec: ETE-DEC-RS-006; reading `ete-return-packets-pop-nothing`.
    fn follow_other<S: Sink<ArmEte> + ?Sized>(&mut self, place: Place, element: &Element, sink: &mut S) {
        if element.p0_elements() > 0 {
            self.check_not_taken(sink);
            self.note_since(Since::P0);
        }
        match *element {
            Element::Exception { number, returns_to, fault_pending } => {
                self.pop_if_due();
                self.exception(place, number, returns_to, fault_pending, sink);
            }
            Element::SourceAddress(address) => {
                self.pop_if_due();
                self.source_address(place, address, sink);
            }
            Element::Q(count) => self.q(place, count, sink),
            Element::FunctionReturn => {
                sink.event(place, &Event::FunctionReturn);
                // A due pop stays due.
                self.has_address = false;
            }
            Element::ExceptionReturn { .. } => sink.event(place, &Event::ExceptionReturn),
            Element::TransactionStart { is_p0 } => {
                // Spec: ETE-DEC-RS-006.
                if is_p0 {
                    self.pop_if_due();
                }
                sink.event(place, &Event::TransactionStart);
            }
            Element::TransactionCommit => sink.event(place, &Event::TransactionCommit),
            Element::TransactionFailure => {
                self.forget_address();
                self.latest = None;
                sink.event(place, &Event::TransactionFailure);
            }
            Element::TraceOn => self.trace_on(place, sink),
            // No due pop is done. Spec: ETE-DEC-RS-007, ETE-MGHSB-001.
            Element::UnknownTarget => self.forget_address(),
            _ => {}
        }
    }

    /// Spec: ETE-XCKNM-001, ETE-MGHSB-001.
    #[inline]
    fn target_address(&mut self, point: CodePoint) {
        self.misses_address = false;
        self.pop_is_due = false;
        self.go_to(point);
    }

    #[inline]
    fn go_to(&mut self, point: CodePoint) {
        (self.address, self.sub_isa) = (point.address, point.sub_isa);
        (self.has_address, self.slot) = (true, NOWHERE);
    }

    #[inline]
    fn take_context<S: Sink<ArmEte> + ?Sized>(&mut self, place: Place, context: Context, sink: &mut S) {
        (self.misses_context, self.context_is_old) = (false, false);
        if self.context != Some(context) {
            self.context = Some(context);
            self.view = self.code.view(context);
            self.slot = NOWHERE;
        }
        sink.event(place, &Event::Context(context));
    }

    /// Spec: ETE-DEC-RS-010, ETE-TJLYH-001; readings `ete-context-over-trace-on`,
    /// `ete-trace-on-empties-return-stack`.
    fn trace_on<S: Sink<ArmEte> + ?Sized>(&mut self, place: Place, sink: &mut S) {
        self.forget_address();
        self.return_stack.clear();
        self.note_since(Since::Gap);
        if self.context_is_old {
            self.context = None;
        }
        sink.event(place, &Event::TraceOn);
    }

    /// Spec: ETE-DEC-RS-003, ETE-DEC-RS-004, ETE-SBZJB-001, ETE-GZSSX-001 (A1).
    fn report<S: Sink<ArmEte> + ?Sized>(&mut self, place: Place, event: &Event, sink: &mut S) {
        if let Event::TraceInfo { .. } = event {
            self.pop_if_due();
            self.return_stack.clear();
            (self.misses_context, self.misses_address) = (true, true);
            self.context_is_old = true;
        }
        sink.event(place, event);
    }

    /// Spec: ETE-DEC-AN-007, ETE-VZXNN-001, ETE-PFZXK-001.
    fn cycles<S: Sink<ArmEte> + ?Sized>(&mut self, place: Place, count: Option<u32>, sink: &mut S) {
        self.total_cycles = count.map_or(0, |count| self.total_cycles.saturating_add(count.into()));
        sink.event(place, &Event::Cycles { count, total: self.total_cycles });
    }

    /// Before a P0 element the address that did not come is taken from the return stack. An empty one leaves it
    /// undefined.
    ///
    /// Spec: ETE-DEC-RS-001, ETE-DEC-RS-006, ETE-DEC-RS-009, ETE-MGHSB-001.
    #[inline]
    fn pop_if_due(&mut self) {
        if core::mem::take(&mut self.pop_is_due)
            && let Some(point) = self.return_stack.pop()
        {
            self.go_to(point);
        }
    }

    /// An N atom was not corrected.
    ///
    /// Spec: ETE-DEC-ISA-007, ETE-RNYNV-002.
    #[inline]
    fn check_not_taken<S: Sink<ArmEte> + ?Sized>(&mut self, sink: &mut S) {
        if let Some(place) = self.not_taken.take() {
            sink.fault(&Fault::new(FaultClass::IllegalInState, place));
        }
    }

    fn note_since(&mut self, since: Since) {
        if let Some(latest) = &mut self.latest
            && latest.since != Since::P0
        {
            latest.since = since;
        }
    }

    /// The latest atom has the other status. `goes_on`: no P0 element was released after it.
    ///
    /// Spec: ETE-MDSCN-001, ETE-XYDNP-001, ETE-FFXPW-001, ETE-NYHFH-001; reading
    /// `ete-mispredict-after-other-elements`.
    pub(super) fn mispredict<S>(&mut self, place: Place, goes_on: bool, sink: &mut S)
    where
        S: Sink<ArmEte> + ?Sized,
    {
        let Some(latest) = &mut self.latest else { return };
        latest.taken = !latest.taken;
        let LatestAtom { waypoint, taken, place: of_atom, since } = *latest;
        if waypoint.is_some() {
            sink.event(place, &Event::Mispredict);
        }
        if let Some(waypoint) = &waypoint {
            self.note_not_taken(waypoint, taken, of_atom);
        }
        if since == Since::P0 || !goes_on {
            return;
        }
        match waypoint {
            Some(waypoint) if since == Since::Nothing => {
                self.leave(&waypoint, taken);
                // The context may be another one by now.
                self.slot = NOWHERE;
            }
            _ => self.forget_address(),
        }
    }

    /// Atoms in the order of execution.
    ///
    /// Spec: ETE-DEC-AN-001, ETE-ZRYPK-001.
    #[inline]
    pub(super) fn atoms<S>(&mut self, place: Place, mut run: AtomRun, sink: &mut S)
    where
        S: Sink<ArmEte> + ?Sized,
    {
        while run.count > 0 {
            self.check_not_taken(sink);
            self.pop_if_due();
            if !self.has_address || self.context.is_none() {
                return self.pass_atoms(place, run);
            }
            if !self.options.fast_path || !self.near_atoms(place, &mut run, sink) {
                self.atom(place, run.take(1), sink);
            }
        }
    }

    /// Atoms of unknown instructions.
    fn pass_atoms(&mut self, place: Place, run: AtomRun) {
        self.has_address = false;
        let taken = run.taken >> (run.count.saturating_sub(1) & 31) & 1 == 1;
        self.latest = Some(LatestAtom { waypoint: None, taken, place, since: Since::Nothing });
    }

    /// So many instructions from the current one to `end` were executed.
    #[inline]
    fn instructions<S>(
        &self,
        place: Place,
        set: InstructionSet,
        (end, count): (u64, u64),
        last: Outcome,
        sink: &mut S,
    ) where
        S: Sink<ArmEte> + ?Sized,
    {
        if count > 0 {
            let (first, end, isa) = (Address(self.address), Address(end), set.state());
            sink.event(place, &Event::Instructions { first, end, count, isa, last });
        }
    }
}
