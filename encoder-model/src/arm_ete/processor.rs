//! From an execution of a program to what a trace unit sees of it (sheet 4.0, 6.4 to 6.6, 7.3).

use traceproof_vectors::arm::{
    Barrier, CodeAddress, FlowInstruction, InstructionClass, InstructionSet, Profile,
};
use traceproof_vectors::arm_ete::{
    Action, Exception, Execute, P0, P0Kind, Parameters, Policy, Signal, State, Step, Stimulus,
    TakenException, exception_name, exception_name_m_profile,
};
use traceproof_vectors::{Address, MemorySpace, Program};

use super::check::TRANSACTION_FAILURE;
use super::execution_error::{ExecutionError, ExecutionProblem};
use super::gates::Gates;
use super::pipeline::nowhere;
use super::trace::p0_elements;
use super::window::{Record, Window};
use crate::arm::{classify, instruction_size};

/// Return address of a tail-chained exception of the M profile. Spec: ETE-V4-EXC-001.
const TAIL_CHAINED: Address = Address(0xffff_fffe);

type Outcome<T> = Result<T, ExecutionProblem>;

/// Shows executions of a program to a trace unit.
///
/// Commit and Cancel count P0 elements, which depend on what the trace unit does. Of the policy, only
/// [`source_addresses`](Policy::source_addresses) changes them; an overflow of its buffer is not seen here. Loads and
/// stores that are P0 instructions (ETMv4) are not recognised: an execution has them as [`Signal::P0`].
#[derive(Clone, Debug)]
pub struct Core<'a> {
    program: &'a Program,
    parameters: Parameters,
    source_addresses: bool,
    gates: Gates,
    /// In a transaction, and whether its Start was traced.
    transaction: Option<bool>,
    /// The next instruction; `None` where none can execute.
    next: Option<State>,
    /// Instructions since the latest P0 instruction or exception.
    instructions: u32,
    window: Window,
    /// Cycles of steps that no signal showed.
    cycles: u32,
}

impl<'a> Core<'a> {
    /// A processor that runs `program` and has not started yet, before a trace unit with these parameters and policy.
    #[must_use]
    pub fn new(program: &'a Program, parameters: &Parameters, policy: &Policy) -> Self {
        Self {
            program,
            parameters: parameters.clone(),
            source_addresses: policy.source_addresses,
            gates: Gates::default(),
            transaction: None,
            next: None,
            instructions: 0,
            window: Window::new(parameters.maxspec),
            cycles: 0,
        }
    }

    /// The next instruction; `None` where none can execute.
    #[must_use]
    pub const fn next(&self) -> Option<State> {
        self.next
    }

    /// Runs an execution from the start and gives the stimuli to `sink`, in order. Cycles after the latest signal come
    /// as an idle step.
    ///
    /// # Errors
    ///
    /// When the program cannot execute like that. What came before has gone to the sink.
    pub fn run(
        &mut self,
        steps: impl IntoIterator<Item = Step>,
        sink: &mut dyn FnMut(&Stimulus),
    ) -> Result<(), ExecutionError> {
        self.gates = Gates::default();
        self.transaction = None;
        self.next = None;
        self.instructions = 0;
        self.window = Window::new(self.parameters.maxspec);
        self.cycles = 0;
        let mut timestamp = 0;
        for (index, step) in (0..).zip(steps) {
            timestamp = step.timestamp;
            let shown = self.step(&step).map_err(|(address, problem)| ExecutionError {
                step: index,
                address,
                problem,
            })?;
            if let Some(stimulus) = shown {
                sink(&stimulus);
            }
        }
        if self.cycles > 0 {
            sink(&Stimulus { cycles: core::mem::take(&mut self.cycles), timestamp, signal: Signal::Idle });
        }
        Ok(())
    }

    /// One step, and what the trace unit sees of it.
    ///
    /// # Errors
    ///
    /// The address and what is wrong; the processor stays where it is.
    pub fn step(&mut self, step: &Step) -> Result<Option<Stimulus>, (Address, ExecutionProblem)> {
        let here = self.next.map_or(Address(0), |next| next.address);
        let signal = match step.action {
            Action::Execute(execute) => self.execute(&execute).map_err(|problem| (execute.address, problem)),
            Action::Exception(taken) => self.take(&taken).map_err(|problem| (taken.returns_to, problem)),
            Action::Resolve(steps) => self.resolve(steps).map_err(|problem| (here, problem)),
            Action::Squash { steps, next } => self.squash(steps, next).map_err(|problem| (here, problem)),
            Action::Correct { taken, next } => self.correct(taken, next).map_err(|problem| (here, problem)),
            Action::Signal(signal) => {
                self.pass(&signal);
                Ok(Some(signal))
            }
            _ => Ok(None),
        }?;
        let cycles = self.cycles.saturating_add(step.cycles);
        self.cycles = if signal.is_some() { 0 } else { cycles };
        Ok(signal.map(|signal| Stimulus { cycles, timestamp: step.timestamp, signal }))
    }

    /// An instruction. Spec: ETE-BQTBL-001, ETE-XCJGD-001, ETE-SRYKV-001, ETE-YCRVD-001.
    fn execute(&mut self, execute: &Execute) -> Outcome<Option<Signal>> {
        let here = self.runs_at(execute.address)?;
        let instruction = self.fetch(here)?;
        let following = self.follow(here, instruction.size);
        let instructions = self.instructions.saturating_add(1);
        let before = self.record(here);
        let Some(kind) = self.p0_kind(&instruction, execute) else {
            if execute.not_taken {
                return Err(ExecutionProblem::NotP0);
            }
            if execute.to.is_some_and(|to| to != following) {
                return Err(ExecutionProblem::WrongTarget { target: following.address });
            }
            self.window.push(before)?;
            self.instructions = instructions;
            self.next = Some(following);
            return Ok(None);
        };
        let next = if execute.not_taken {
            following
        } else {
            self.destination(&instruction, kind, following, execute.to)?
        };
        let unconditional = here.isa == InstructionSet::A64 && !instruction.conditional;
        if unconditional && execute.not_taken && self.parameters.maxspec == 0 {
            return Err(ExecutionProblem::Unconditional);
        }
        let p0 = P0 {
            address: here.address,
            isa: here.isa,
            size: instruction.size,
            kind,
            link: instruction.class.has_link(),
            taken: !execute.not_taken,
            next,
            instructions,
            broadcast: execute.broadcast,
        };
        let mut elements = 0;
        if self.gates.active() && (p0.taken || !self.source_addresses) {
            elements = 1 + self.restart_transaction() + u32::from(self.is_return_element(&p0));
        }
        let record = Record { p0: Some((p0, instruction)), elements, ..before };
        self.window.push(record).inspect_err(|_| self.transaction = before.transaction)?;
        self.arrive(next);
        Ok(Some(Signal::P0(p0)))
    }

    /// What kind of P0 instruction it is; `None` if it is none.
    ///
    /// Spec: ETE-DEC-ISA-002 to ETE-DEC-ISA-006, ETE-LLCQG-001, ETE-QBGXJ-001 (sheet 6.4 to 6.6).
    fn p0_kind(&self, instruction: &FlowInstruction, execute: &Execute) -> Option<P0Kind> {
        let m_profile = self.parameters.profile == Profile::Microcontroller;
        match instruction.class {
            InstructionClass::DirectBranch { .. }
            | InstructionClass::LowOverheadLoop
            | InstructionClass::TransactionStart => Some(P0Kind::Direct),
            InstructionClass::IndirectBranch { .. } if m_profile && execute.exception_return => {
                Some(P0Kind::ExceptionReturn)
            }
            InstructionClass::IndirectBranch { .. } => Some(P0Kind::Indirect),
            InstructionClass::ExceptionReturn(_) => Some(P0Kind::ExceptionReturn),
            InstructionClass::Barrier(Barrier::Isb) => Some(P0Kind::Isb),
            InstructionClass::Wait(_) if self.parameters.wfx_is_p0 => Some(P0Kind::Direct),
            _ => None,
        }
    }

    /// Where a P0 instruction leads that is taken.
    fn destination(
        &self,
        instruction: &FlowInstruction,
        kind: P0Kind,
        following: State,
        to: Option<State>,
    ) -> Outcome<State> {
        let known = match (kind, instruction.target) {
            (P0Kind::Indirect | P0Kind::ExceptionReturn, _) => {
                let to = to.ok_or(ExecutionProblem::NoTarget)?;
                check_state(&to)?;
                return Ok(to);
            }
            (_, Some(CodeAddress { instruction_set, address })) => {
                State { address: Address(address), isa: instruction_set, ..following }
            }
            (_, None) => following,
        };
        match to {
            Some(to) if to != known => Err(ExecutionProblem::WrongTarget { target: known.address }),
            _ => Ok(known),
        }
    }

    /// Spec: ETE-QHRVX-001, ETE-SFYMW-001, ETE-NRJGC-001, ETE-XJXQS-001.
    fn take(&mut self, taken: &TakenException) -> Outcome<Option<Signal>> {
        let TakenException { number, returns_to, handler, fault_pending } = *taken;
        let m_profile = self.parameters.profile == Profile::Microcontroller;
        let name = if m_profile {
            exception_name_m_profile(number)
        } else {
            exception_name(number).filter(|_| number != u16::from(TRANSACTION_FAILURE))
        };
        name.ok_or(ExecutionProblem::Number)?;
        let (reset, debug_halt) = if m_profile { (1, 0x18) } else { (0, 1) };
        let here = self.next.unwrap_or_else(nowhere);
        // Where execution was when it was reset, no register says.
        let anywhere = number == reset || m_profile && returns_to == TAIL_CHAINED;
        if !anywhere {
            self.is_next(returns_to)?;
        }
        if number != debug_halt {
            check_state(&handler)?;
        }
        let instructions = self.instructions;
        self.take_element(here, number == reset)?;
        self.arrive(handler);
        if number == debug_halt {
            self.gates.debug = true;
            self.next = None;
        }
        let returns_to = State { address: returns_to, ..here };
        Ok(Some(Signal::Exception(Exception { number, returns_to, handler, instructions, fault_pending })))
    }

    /// The P0 element of an exception. At PE Reset older ones are lost, and a transaction ends.
    fn take_element(&mut self, here: State, reset: bool) -> Outcome<()> {
        let before = self.record(here);
        if reset {
            self.transaction = None;
            self.window.lose();
        }
        let elements = if self.gates.active() { 1 + self.restart_transaction() } else { 0 };
        self.window.push(Record { elements, ..before }).inspect_err(|_| self.transaction = before.transaction)
    }

    const fn record(&self, at: State) -> Record {
        Record { at, instructions: self.instructions, transaction: self.transaction, elements: 0, p0: None }
    }

    /// A Start precedes the first P0 element of a transaction: whether it is one, too.
    ///
    /// Spec: ETE-RKGLY-001, ETE-CTLXL-001.
    fn restart_transaction(&mut self) -> u32 {
        match &mut self.transaction {
            Some(started @ false) => {
                *started = true;
                self.start_is_p0().into()
            }
            _ => 0,
        }
    }

    /// Spec: ETE-V4-RET-001.
    fn is_return_element(&self, p0: &P0) -> bool {
        let m_profile = self.parameters.profile == Profile::Microcontroller;
        m_profile && p0.taken && p0.kind == P0Kind::ExceptionReturn
    }

    /// The oldest steps have happened. Spec: ETE-QNLYJ-001, ETE-RNYNV-001.
    fn resolve(&mut self, steps: u32) -> Outcome<Option<Signal>> {
        self.speculates()?;
        let elements = self.window.resolve(steps)?;
        Ok((elements > 0).then_some(Signal::Commit(elements)))
    }

    /// The youngest steps have not happened. Spec: ETE-HYCXR-001.
    fn squash(&mut self, steps: u32, next: State) -> Outcome<Option<Signal>> {
        self.speculates()?;
        check_state(&next)?;
        let oldest = self.window.oldest_of(steps)?;
        if (next.address, next.isa) != (oldest.at.address, oldest.at.isa) {
            return Err(ExecutionProblem::NotNext { next: oldest.at.address });
        }
        let count = self.window.squash(steps);
        let changed = oldest.at.context != next.context;
        self.next = Some(next);
        self.instructions = oldest.instructions;
        self.transaction = oldest.transaction;
        Ok(match count {
            0 => changed.then_some(Signal::Context(next.context)),
            count => Some(Signal::Cancel { count, next }),
        })
    }

    /// The youngest step has another outcome or target. Spec: ETE-YJCNT-001, ETE-YMRGB-001.
    fn correct(&mut self, taken: bool, next: State) -> Outcome<Option<Signal>> {
        self.speculates()?;
        let (p0, instruction) =
            self.window.youngest().and_then(|record| record.p0).ok_or(ExecutionProblem::NotP0)?;
        let here = State { address: p0.address, isa: p0.isa, ..p0.next };
        let following = self.follow(here, p0.size);
        let expected = if taken {
            self.destination(&instruction, p0.kind, following, Some(next))?
        } else if (next.address, next.isa) == (following.address, following.isa) {
            next
        } else {
            return Err(ExecutionProblem::WrongTarget { target: following.address });
        };
        let signal = match (taken == p0.taken, p0.kind) {
            (false, _) => Signal::Mispredict(expected),
            (true, P0Kind::Indirect | P0Kind::ExceptionReturn) if taken && next != p0.next => {
                Signal::Redirect(expected)
            }
            _ => return Err(ExecutionProblem::NothingToCorrect),
        };
        if let Some(record) = self.window.youngest_mut() {
            record.p0 = Some((P0 { taken, next: expected, ..p0 }, instruction));
        }
        self.arrive(expected);
        Ok(Some(signal))
    }

    const fn speculates(&self) -> Outcome<()> {
        if self.parameters.maxspec == 0 { Err(ExecutionProblem::NotSpeculative) } else { Ok(()) }
    }

    /// What a signal changes for the processor, and for what is traced of it.
    fn pass(&mut self, signal: &Signal) {
        self.pass_to_trace(signal);
        match *signal {
            Signal::Enable(next)
            | Signal::ProhibitedExit(next)
            | Signal::DebugExit(next)
            | Signal::TransactionFailure(next)
            | Signal::Mispredict(next)
            | Signal::Redirect(next)
            | Signal::Cancel { next, .. }
            | Signal::P0(P0 { next, .. })
            | Signal::Exception(Exception { handler: next, .. }) => self.arrive(next),
            Signal::Context(context) => self.next = self.next.map(|next| State { context, ..next }),
            _ => {}
        }
    }

    /// What a signal changes for the P0 elements.
    fn pass_to_trace(&mut self, signal: &Signal) {
        let active = self.gates.active();
        let elements = match *signal {
            Signal::P0(p0) if active && (p0.taken || !self.source_addresses) => {
                1 + self.restart_transaction() + u32::from(self.is_return_element(&p0))
            }
            Signal::Exception(_) if active => 1 + self.restart_transaction(),
            Signal::Insert(packet) if active => p0_elements(&packet).unwrap_or(0),
            Signal::TransactionStart if self.has_transactions() && self.transaction.is_none() => {
                self.transaction = Some(active);
                u32::from(active && self.start_is_p0())
            }
            _ => 0,
        };
        let record = self.record(self.next.unwrap_or_else(nowhere));
        self.window.add(elements, record);
        match *signal {
            Signal::TransactionCommit | Signal::TransactionFailure(_) => self.transaction = None,
            Signal::ProhibitedEntry => self.transaction = self.transaction.map(|_| false),
            Signal::Enable(_) | Signal::Disable => {
                self.transaction = None;
                self.window.lose();
            }
            Signal::Overflow(true) => {
                self.transaction = self.transaction.map(|_| false);
                self.window.lose();
            }
            Signal::Commit(count) => self.window.commit(count),
            Signal::Cancel { count, .. } => {
                if let Some(oldest) = self.window.cancel(count) {
                    self.transaction = oldest.transaction;
                }
            }
            _ => {}
        }
        self.gates.pass(signal);
    }

    fn has_transactions(&self) -> bool {
        self.parameters.transactions && self.parameters.version.is_ete()
    }

    const fn start_is_p0(&self) -> bool {
        !self.parameters.commtrans
    }

    /// The processor goes on here, after a P0 instruction or exception.
    fn arrive(&mut self, state: State) {
        self.next = Some(state);
        self.instructions = 0;
    }

    /// The state of the next instruction, if it is there.
    fn is_next(&self, address: Address) -> Outcome<State> {
        match self.next {
            None => Err(ExecutionProblem::NotRunning),
            Some(next) if next.address != address => Err(ExecutionProblem::NotNext { next: next.address }),
            Some(next) => Ok(next),
        }
    }

    fn runs_at(&self, address: Address) -> Outcome<State> {
        let next = self.is_next(address)?;
        check_state(&next)?;
        if CodeAddress::new(next.isa, address.0).address != address.0 {
            return Err(ExecutionProblem::Misaligned);
        }
        Ok(next)
    }

    /// The state of the instruction after one of so many bytes.
    const fn follow(&self, here: State, size: u8) -> State {
        let CodeAddress { address, .. } = CodeAddress::new(here.isa, here.address.0).plus(size as u64);
        State { address: Address(address), ..here }
    }

    /// Reads the instruction.
    fn fetch(&self, at: State) -> Outcome<FlowInstruction> {
        let space = MemorySpace::from(at.context);
        let half = |offset: u64| {
            let CodeAddress { address, .. } = CodeAddress::new(at.isa, at.address.0).plus(offset);
            let bytes = self.program.bytes_in(space, address).and_then(<[u8]>::first_chunk);
            bytes.copied().map(u16::from_le_bytes).ok_or(ExecutionProblem::NoCode)
        };
        let first = half(0)?;
        let size = instruction_size(at.isa, first);
        let second = if size == 4 { Some(half(2)?) } else { None };
        let opcode = match (at.isa, second) {
            (InstructionSet::A32 | InstructionSet::A64, Some(second)) => {
                u32::from(second) << 16 | u32::from(first)
            }
            (_, Some(second)) => u32::from(first) << 16 | u32::from(second),
            (_, None) => first.into(),
        };
        Ok(classify(CodeAddress::new(at.isa, at.address.0), opcode, self.parameters.profile))
    }
}

/// Spec: ETE-DEC-ISA-001.
fn check_state(state: &State) -> Outcome<()> {
    let wide = match state.isa {
        InstructionSet::A64 => true,
        InstructionSet::A32 | InstructionSet::T32 => false,
        _ => return Err(ExecutionProblem::InstructionSet),
    };
    if wide != state.context.is_64_bit {
        return Err(ExecutionProblem::InstructionSet);
    }
    if CodeAddress::new(state.isa, state.address.0).is_aligned() {
        Ok(())
    } else {
        Err(ExecutionProblem::Misaligned)
    }
}
