//! A random execution of a program, as a trace unit sees it.

use traceproof_vectors::arm::{Context, ExceptionLevel, InstructionSet, SecurityState};
use traceproof_vectors::arm_ete::{P0, P0Kind, Parameters, Policy, Signal, State, Stimulus};

use super::happenings::Happenings;
use super::{GeneratedProgram, Instruction, Kind};
use crate::arm_pft::generate::{Place, Reach};
use crate::generate::Entropy;

mod signals;
mod speculation;
mod states;

/// Calls and exceptions that are remembered; older ones are never returned to.
const DEPTH: usize = 24;

/// Where time begins: also near the limits of one and two bytes of a timestamp, of 48 bits, and of the last byte but
/// one.
const TIMES: [u64; 8] =
    [0, 1, 0x7f, 0x3ff0, 0x1234_5678_9abc, 0x7fff_ffff_fff0, 0xffff_ffff_f000, 0x00ff_ffff_ffff_fff0];

/// Everything that a wrongly speculated instruction changes.
#[derive(Clone, Debug)]
struct Machine {
    /// The next instruction.
    at: Place,
    /// Exception level, security state, Context ID, VMID; whether it is 64-bit follows from the place.
    context: Context,
    calls: Vec<Place>,
    interrupted: Vec<(Place, Context)>,
    /// Where a transaction that fails goes on.
    transaction: Option<Box<Machine>>,
    /// Transactions within it.
    nested: u8,
}

/// Where the processor is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Running,
    Debug,
    Prohibited,
}

/// A processor and what it knows of its trace unit.
pub(super) struct Walk<'a, 'b> {
    program: &'a GeneratedProgram,
    entropy: &'a mut Entropy<'b>,
    happenings: Happenings,
    parameters: &'a Parameters,
    policy: &'a Policy,
    now: Machine,
    /// Where the block began; `None` if it cannot be executed again.
    block: Option<Machine>,
    /// Instructions since the latest P0 instruction or exception.
    executed: u32,
    mode: Mode,
    view_inst: bool,
    overflow: bool,
    q_region: bool,
    /// Uncommitted P0 elements.
    open: u32,
    /// Where the blocks of the youngest of them began.
    history: Vec<Option<Machine>>,
    /// P0 elements on a wrong path so far.
    wrong: Option<u32>,
    /// The Transaction Start element of the open transaction was traced.
    start_is_traced: bool,
    timestamp: u64,
    stimuli: Vec<Stimulus>,
}

impl<'a, 'b> Walk<'a, 'b> {
    pub(super) fn run(
        program: &'a GeneratedProgram,
        entropy: &'a mut Entropy<'b>,
        happenings: Happenings,
        (parameters, policy): (&'a Parameters, &'a Policy),
        length: usize,
    ) -> Vec<Stimulus> {
        let level = entropy.pick(&[ExceptionLevel::El1, ExceptionLevel::El0, ExceptionLevel::El2]);
        let states = [SecurityState::NonSecure, SecurityState::Secure, SecurityState::Realm];
        let security = entropy.pick(if happenings.realms { &states } else { &states[..2] });
        let context = Context::default().with_security(security).with_exception_level(Some(level));
        let now = Machine {
            at: Place { section: 0, index: 0 },
            context: context.with_context_id(Some(0)).with_vmid(Some(0)),
            calls: Vec::new(),
            interrupted: Vec::new(),
            transaction: None,
            nested: 0,
        };
        let mut walk = Walk {
            program,
            timestamp: entropy.pick(&TIMES),
            view_inst: true,
            entropy,
            happenings,
            parameters,
            policy,
            now,
            block: None,
            executed: 0,
            mode: Mode::Running,
            overflow: false,
            q_region: false,
            open: 0,
            history: Vec::new(),
            wrong: None,
            start_is_traced: false,
            stimuli: Vec::new(),
        };
        walk.all(length);
        walk.stimuli
    }

    fn all(&mut self, length: usize) {
        self.signal(Signal::Enable(self.here()));
        self.begin_block();
        // Instructions that no trace shows cost no stimulus.
        for _ in 0..8 * length {
            if self.stimuli.len() >= length {
                break;
            }
            self.step();
        }
        if self.open > 0 && self.entropy.chance(128) {
            let all = self.open;
            self.commit(all);
        }
        self.signal(Signal::Disable);
    }

    fn signal(&mut self, signal: Signal) {
        let more = if self.entropy.chance(8) { u64::from(self.entropy.byte()) << 12 } else { 0 };
        self.timestamp += u64::from(self.entropy.byte() & 3) + more;
        let cycles = match self.entropy.byte() {
            252.. if self.happenings.slow => self.at_limits(),
            250.. => 2000,
            byte => u32::from(byte & 3),
        };
        let timestamp = match self.parameters.timestamp_bits {
            48 => self.timestamp & 0xffff_ffff_ffff,
            _ => self.timestamp,
        };
        self.stimuli.push(Stimulus { cycles, timestamp, signal });
    }

    /// Cycles at the limits of the threshold, of what short formats carry above it, and of the counter.
    fn at_limits(&mut self) -> u32 {
        let threshold = u32::from(self.policy.cycle_threshold);
        let most = (1_u32 << self.parameters.cycle_count_bits) - 1;
        let above = [0, 3, 4, 15, 16].map(|more| threshold + more);
        // Steps before and after it have some cycles, too.
        let near = most - u32::from(self.entropy.byte() & 15);
        let limits = [threshold - 1, most - 1, most, most + 1, near, near, near];
        let choices = [above.as_slice(), &limits].concat();
        self.entropy.pick(&choices)
    }

    /// The state of the next instruction.
    fn here(&self) -> State {
        self.state_of(&self.now)
    }

    fn state_of(&self, machine: &Machine) -> State {
        let item = self.program.at(machine.at);
        let is_64_bit = item.isa == InstructionSet::A64;
        State { address: item.address, isa: item.isa, context: machine.context.with_64_bit(is_64_bit) }
    }

    /// The next instruction is the first one of a block.
    fn begin_block(&mut self) {
        self.executed = 0;
        self.block = Some(self.now.clone());
    }

    fn step(&mut self) {
        self.asynchronous();
        if self.executed == 0 {
            self.tracing();
        }
        match self.mode {
            Mode::Running if self.entropy.chance(self.happenings.exceptions) => self.interruption(),
            Mode::Running => self.instruction(),
            // Leaving is as likely as staying.
            _ if self.entropy.chance(128) => self.leave(),
            _ => self.signal(Signal::Idle),
        }
    }

    fn instruction(&mut self) {
        let item = *self.program.at(self.now.at);
        let taken = !(item.conditional && self.entropy.chance(128));
        match item.kind {
            Kind::Call if taken => {
                self.advance();
                self.call();
            }
            Kind::Trap(number) if taken => self.exception(number),
            Kind::TransactionCommit if self.now.transaction.is_some() => self.commit_transaction(),
            Kind::Instrumentation if self.mode == Mode::Running => {
                self.advance();
                self.instrument();
            }
            Kind::ExceptionReturn | Kind::Wait if taken && self.now.transaction.is_some() => {
                self.fail_transaction();
            }
            _ if item.is_p0(self.parameters) => self.p0(&item, taken),
            _ => self.advance(),
        }
    }

    /// Over an instruction that is no P0 instruction.
    fn advance(&mut self) {
        self.now.at.index += 1;
        self.executed = self.executed.saturating_add(1);
    }

    fn p0(&mut self, item: &Instruction, taken: bool) {
        let after = self.after(item, taken);
        if self.speculates(item, taken) {
            return self.misprediction(item, taken, after);
        }
        self.retire(item, taken, after);
    }

    /// A P0 instruction with this outcome, after which the processor is like this.
    fn retire(&mut self, item: &Instruction, taken: bool, after: Machine) {
        let next = self.state_of(&after);
        self.show(item, taken, next);
        let ends = item.kind == Kind::ExceptionReturn && taken;
        self.now = after;
        self.begin_block();
        match item.kind {
            Kind::TransactionStart if taken => self.start_transaction(),
            Kind::Isb if taken => self.synchronise_context(),
            _ if ends => self.history.clear(),
            _ => {}
        }
    }

    /// The P0 instruction as the trace unit sees it.
    fn show(&mut self, item: &Instruction, taken: bool, next: State) {
        let (kind, link) = match item.kind {
            Kind::Indirect { link, .. } => (P0Kind::Indirect, link),
            Kind::Direct { link, .. } => (P0Kind::Direct, link),
            Kind::ExceptionReturn => (P0Kind::ExceptionReturn, false),
            Kind::Isb => (P0Kind::Isb, false),
            _ => (P0Kind::Direct, false),
        };
        let broadcast = self.entropy.chance(self.happenings.broadcast);
        let (address, isa, size) = (item.address, item.isa, item.size);
        let instructions = self.executed.saturating_add(1);
        if taken || !self.policy.source_addresses {
            let block = self.block.take();
            self.element(block);
        }
        self.signal(Signal::P0(P0 { address, isa, size, kind, link, taken, next, instructions, broadcast }));
    }

    /// The processor after a P0 instruction with this outcome.
    fn after(&mut self, item: &Instruction, taken: bool) -> Machine {
        let mut machine = self.now.clone();
        let following = Place { index: machine.at.index + 1, ..machine.at };
        match item.kind {
            _ if !taken => machine.at = following,
            Kind::Direct { to, link, .. } => {
                machine.at = self.program.place(to).unwrap_or(following);
                remember(&mut machine, link.then_some(following));
            }
            Kind::Indirect { link, reach } => {
                let popped = if link { None } else { self.returns(item, reach, &mut machine) };
                machine.at = popped.unwrap_or_else(|| self.reachable(item, reach));
                remember(&mut machine, link.then_some(following));
            }
            Kind::ExceptionReturn => self.leave_exception(item, &mut machine),
            _ => machine.at = following,
        }
        machine
    }

    /// Where the latest call was, unless this branch leads elsewhere or cannot lead there.
    fn returns(&mut self, item: &Instruction, reach: Reach, machine: &mut Machine) -> Option<Place> {
        if self.entropy.chance(self.happenings.strays) {
            return None;
        }
        let to = *machine.calls.last()?;
        let isa = self.program.at(to).isa;
        let possible = match reach {
            Reach::Any | Reach::Jazelle => item.isa.is_64_bit() == isa.is_64_bit(),
            Reach::SameSet => item.isa == isa,
            Reach::Forward => false,
        };
        possible.then(|| machine.calls.pop()).flatten()
    }

    /// A place that an indirect branch can lead to.
    fn reachable(&mut self, item: &Instruction, reach: Reach) -> Place {
        let here = self.now.at;
        if reach == Reach::Forward {
            let section = &self.program.sections[here.section];
            let forward = |&index: &usize| section[index].isa == item.isa && !section[index].in_it;
            let places: Vec<_> = (here.index + 1..section.len()).filter(forward).take(20).collect();
            if !places.is_empty() {
                return Place { index: self.entropy.pick(&places), ..here };
            }
        }
        let isa = item.isa;
        match reach {
            Reach::Any | Reach::Jazelle => self.anywhere(|to| to.isa.is_64_bit() == isa.is_64_bit()),
            Reach::SameSet | Reach::Forward => self.anywhere(|to| to.isa == isa),
        }
    }

    /// Any place of this kind where no IT block goes on; where the processor is, if there is none.
    fn anywhere(&mut self, fits: impl Fn(&Instruction) -> bool) -> Place {
        let sections = self.program.sections.len();
        let section = self.entropy.below(sections);
        let start = self.entropy.below(40);
        for section in (section..sections).chain(0..section) {
            let items = &self.program.sections[section];
            let start = start % items.len();
            let fits = |&index: &usize| !items[index].in_it && fits(&items[index]);
            if let Some(index) = (start..items.len()).chain(0..start).find(fits) {
                return Place { section, index };
            }
        }
        self.now.at
    }
}

/// The latest calls.
fn remember(machine: &mut Machine, call: Option<Place>) {
    if machine.calls.len() == DEPTH {
        machine.calls.remove(0);
    }
    machine.calls.extend(call);
}
