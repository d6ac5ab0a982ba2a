//! From an execution of a program to the waypoint interface: what a processor would show its PTM (2.1, 2.2,
//! 5.2, 5.3).

use core::fmt;

use traceproof_vectors::arm::{
    Barrier, CodeAddress, ExceptionLevel, FlowInstruction, InstructionClass, InstructionSet, Profile,
    SecurityState,
};
use traceproof_vectors::arm_pft::{
    Action, Exception, Execute, Parameters, Signal, State, Step, Stimulus, TakenException, Waypoint,
    WaypointKind,
};
use traceproof_vectors::{Address32, ExceptionLevels, MemorySpace, Program};

use super::ptm::Register;
use super::trace::RESET;
use crate::arm::{classify, instruction_size};

/// Why a program cannot execute like that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExecutionError {
    /// Index of the step, counted from 0 in each execution.
    pub step: u64,
    /// Where the step wants to be.
    pub address: Address32,
    /// What is wrong.
    pub problem: ExecutionProblem,
}

/// What is wrong with a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ExecutionProblem {
    /// The program has no code there.
    NoCode,
    /// The next instruction is another one.
    NotNext {
        /// This one.
        next: Address32,
    },
    /// No instruction executes: the processor was not started, is in Debug state, or in Jazelle state.
    NotRunning,
    /// No instruction can lie there.
    Misaligned,
    /// An indirect branch is taken, and the step does not say where to.
    NoTarget,
    /// The step says where to, and the instruction leads to another place.
    WrongTarget {
        /// This one.
        target: Address32,
    },
    /// The exception number is that of no exception, or of the entry to Debug state.
    Number,
}

impl fmt::Display for ExecutionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { step, address, problem } = self;
        write!(f, "step {step} at {address}: ")?;
        match problem {
            ExecutionProblem::NoCode => f.write_str("no code is there"),
            ExecutionProblem::NotNext { next } => write!(f, "the next instruction is at {next}"),
            ExecutionProblem::NotRunning => f.write_str("the processor executes no instructions"),
            ExecutionProblem::Misaligned => f.write_str("no instruction can lie there"),
            ExecutionProblem::NoTarget => f.write_str("an indirect branch is taken without target"),
            ExecutionProblem::WrongTarget { target } => write!(f, "the instruction leads to {target}"),
            ExecutionProblem::Number => f.write_str("the exception has no number from 2 to 511"),
        }
    }
}

impl core::error::Error for ExecutionError {}

/// Shows executions of a program at the waypoint interface.
#[derive(Clone, Debug)]
pub struct Core<'a> {
    program: &'a Program,
    profile: Profile,
    barrier_waypoints: bool,
    /// The next instruction; `None` where none can execute.
    next: Option<State>,
    /// The latest instruction that was executed since the latest waypoint.
    last: Option<Address32>,
    context_id: Register<u32>,
    vmid: Register<u8>,
    /// Cycles of instructions that no signal showed.
    cycles: u32,
}

impl<'a> Core<'a> {
    /// A processor that runs `program` and has not started yet.
    #[must_use]
    pub fn new(program: &'a Program, parameters: &Parameters) -> Self {
        Self {
            program,
            profile: if parameters.m_profile { Profile::Microcontroller } else { Profile::Application },
            barrier_waypoints: parameters.barrier_waypoints,
            next: None,
            last: None,
            context_id: Register::default(),
            vmid: Register::default(),
            cycles: 0,
        }
    }

    /// The next instruction; `None` where none can execute.
    #[must_use]
    pub const fn next(&self) -> Option<State> {
        self.next
    }

    /// Runs an execution from the start and gives the stimuli to `sink`, in order. Cycles after the latest
    /// signal come as an idle step.
    ///
    /// # Errors
    ///
    /// When the program cannot execute like that. What came before has gone to the sink.
    pub fn run(
        &mut self,
        steps: impl IntoIterator<Item = Step>,
        sink: &mut dyn FnMut(&Stimulus),
    ) -> Result<(), ExecutionError> {
        self.next = None;
        self.last = None;
        self.context_id = Register::default();
        self.vmid = Register::default();
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

    /// One step, and what the PTM sees of it.
    ///
    /// # Errors
    ///
    /// The address and what is wrong; the processor stays where it is.
    pub fn step(&mut self, step: &Step) -> Result<Option<Stimulus>, (Address32, ExecutionProblem)> {
        let signal = match step.action {
            Action::Execute(execute) => {
                self.execute(&execute).map_err(|problem| (execute.address, problem))?
            }
            Action::Exception(taken) => {
                Some(self.take(&taken).map_err(|problem| (taken.returns_to, problem))?)
            }
            Action::DebugEntry => {
                self.next = None;
                Some(Signal::DebugEntry(self.last.take()))
            }
            Action::Signal(signal) => {
                self.pass(&signal);
                Some(signal)
            }
            _ => None,
        };
        let cycles = self.cycles.saturating_add(step.cycles);
        self.cycles = if signal.is_some() { 0 } else { cycles };
        Ok(signal.map(|signal| Stimulus { cycles, timestamp: step.timestamp, signal }))
    }

    /// An instruction. Spec: PFT-WPT-022, 024, PFT-ENC-015, 016, 049 (2.1, 4.9, 5.3.2, 5.3.3).
    fn execute(&mut self, execute: &Execute) -> Result<Option<Signal>, ExecutionProblem> {
        let here = self.runs_at(execute.address)?;
        let instruction = self.fetch(here)?;
        let following = State { address: here.address.wrapping_add(instruction.size.into()), ..here };
        let Some(kind) = waypoint_kind(instruction.class) else {
            if execute.to.is_some_and(|to| to != following) {
                return Err(ExecutionProblem::WrongTarget { target: following.address });
            }
            self.next = Some(following);
            self.last = Some(here.address);
            let waits = matches!(instruction.class, InstructionClass::Wait(_)) && !execute.skipped;
            return Ok(waits.then_some(Signal::Wait));
        };
        let next =
            if execute.skipped { following } else { destination(&instruction, kind, following, execute)? };
        let signal = Signal::Waypoint(Waypoint {
            address: here.address,
            isa: here.isa,
            size: instruction.size,
            kind,
            link: instruction.class.has_link(),
            exception_return: execute.exception_return
                || matches!(instruction.class, InstructionClass::ExceptionReturn(_)),
            executed: !execute.skipped,
            next,
            previous: self.last,
        });
        if kind == WaypointKind::Barrier && !self.barrier_waypoints {
            self.next = Some(following);
            self.last = Some(here.address);
        } else {
            self.arrive(next);
        }
        Ok(Some(signal))
    }

    /// Spec: PFT-ENC-010 to 018 (5.2, 5.3).
    fn take(&mut self, taken: &TakenException) -> Result<Signal, ExecutionProblem> {
        let TakenException { number, returns_to, handler } = *taken;
        if !(2..=0x1ff).contains(&number) {
            return Err(ExecutionProblem::Number);
        }
        // Where execution was when it was reset, no register says.
        if number != RESET {
            self.is_next(returns_to)?;
        }
        let last = self.last.take().filter(|_| number != RESET);
        self.arrive(handler);
        Ok(Signal::Exception(Exception { number, last, handler }))
    }

    /// What a signal changes for the processor.
    fn pass(&mut self, signal: &Signal) {
        match *signal {
            Signal::Enable(state)
            | Signal::DebugExit(state)
            | Signal::ProhibitedExit(state)
            | Signal::JazelleExit(state) => self.arrive(state),
            Signal::Waypoint(Waypoint { next, .. }) => self.arrive(next),
            Signal::Exception(Exception { handler, .. }) => self.arrive(handler),
            Signal::DebugEntry(_) => {
                self.next = None;
                self.last = None;
            }
            Signal::ContextId(value) => self.context_id.written = value,
            Signal::Vmid(value) => self.vmid.written = value,
            Signal::NonSecure(non_secure) => {
                self.next = self.next.map(|next| State { non_secure, ..next });
            }
            _ => {}
        }
    }

    /// The processor goes on here, after a waypoint or exception.
    fn arrive(&mut self, state: State) {
        self.next = Some(state);
        self.last = None;
        self.context_id.in_force = self.context_id.written;
        self.vmid.in_force = self.vmid.written;
    }

    /// The state of the next instruction, if it is there.
    fn is_next(&self, address: Address32) -> Result<State, ExecutionProblem> {
        match self.next {
            None => Err(ExecutionProblem::NotRunning),
            Some(next) if next.address != address => Err(ExecutionProblem::NotNext { next: next.address }),
            Some(next) => Ok(next),
        }
    }

    fn runs_at(&self, address: Address32) -> Result<State, ExecutionProblem> {
        let next = self.is_next(address)?;
        let at = CodeAddress::new(next.isa, address.0.into());
        match next.isa {
            InstructionSet::Jazelle | InstructionSet::A64 => Err(ExecutionProblem::NotRunning),
            _ if !at.is_aligned() => Err(ExecutionProblem::Misaligned),
            _ => Ok(next),
        }
    }

    /// Reads the instruction; Hyp mode is exception level 2. Spec: PFT-WPT-012, 029 (2.2).
    fn fetch(&self, at: State) -> Result<FlowInstruction, ExecutionProblem> {
        let security = if at.non_secure { SecurityState::NonSecure } else { SecurityState::Secure };
        let mut space = MemorySpace::ANY
            .with_security(security)
            .with_vmid(self.vmid.in_force.into())
            .with_context_id(self.context_id.in_force);
        if at.hyp {
            space = space.with_exception_levels(ExceptionLevels::only(ExceptionLevel::El2));
        }
        let half = |address: Address32| {
            let bytes = self.program.bytes_in(space, u64::from(address.0)).and_then(<[u8]>::first_chunk);
            bytes.copied().map(u16::from_le_bytes).ok_or(ExecutionProblem::NoCode)
        };
        let first = half(at.address)?;
        let size = instruction_size(at.isa, first);
        let second = if size == 4 { Some(half(at.address.wrapping_add(2))?) } else { None };
        let opcode = match (at.isa, second) {
            (InstructionSet::A32, Some(second)) => u32::from(second) << 16 | u32::from(first),
            (_, Some(second)) => u32::from(first) << 16 | u32::from(second),
            (_, None) => first.into(),
        };
        Ok(classify(CodeAddress::new(at.isa, at.address.0.into()), opcode, self.profile))
    }
}

/// What kind of waypoint an instruction is; `None` if it is none. Low-overhead loops are no branches in
/// `ARMv7`.
///
/// Spec: PFT-WPT-001 to 023, 027 (2.2, 4.9, 5.3).
const fn waypoint_kind(class: InstructionClass) -> Option<WaypointKind> {
    match class {
        InstructionClass::DirectBranch { .. } | InstructionClass::StateChange => Some(WaypointKind::Direct),
        InstructionClass::IndirectBranch { .. } | InstructionClass::ExceptionReturn(_) => {
            Some(WaypointKind::Indirect)
        }
        InstructionClass::Barrier(Barrier::Isb) => Some(WaypointKind::Isb),
        InstructionClass::Barrier(Barrier::Dsb | Barrier::Dmb) => Some(WaypointKind::Barrier),
        _ => None,
    }
}

/// Where a waypoint instruction leads that is not skipped.
fn destination(
    instruction: &FlowInstruction,
    kind: WaypointKind,
    following: State,
    execute: &Execute,
) -> Result<State, ExecutionProblem> {
    let known = match (kind, instruction.target) {
        (WaypointKind::Indirect, _) => return execute.to.ok_or(ExecutionProblem::NoTarget),
        (_, Some(CodeAddress { instruction_set, address })) => {
            State { address: Address32(address as u32), isa: instruction_set, ..following }
        }
        (_, None) => following,
    };
    match execute.to {
        Some(to) if to != known => Err(ExecutionProblem::WrongTarget { target: known.address }),
        _ => Ok(known),
    }
}
