//! Random executions of a generated program.

use std::collections::BTreeMap;

use traceproof_vectors::riscv_etrace::{Cycle, Modes, Retire, Step, Stimulus, Trap};

use super::accesses::{Accesses, DataHappenings};
use super::nesting::Nesting;
use super::{GeneratedProgram, Instruction, Kind};
use crate::generate::Entropy;
use traceproof_vectors::Address;

/// What may happen in an execution besides plain retirement.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Happenings {
    /// Out of 256 steps, how many take an exception or interrupt.
    pub(super) traps: u8,
    /// Out of 256 steps, how many carry a notify request.
    pub(super) notify: u8,
    /// Out of 256 steps, how many come with a trace-off or trace-on pulse, in turn.
    pub(super) triggers: u8,
    /// Out of 256 steps, how many change the context precisely (ctype 2 or 3).
    pub(super) context: u8,
    /// Out of 256 steps, how many lose or regain the transport.
    pub(super) transport: u8,
    /// Time advances.
    pub(super) time: bool,
    /// Privilege levels that may occur, the first one at the start.
    pub(super) privileges: &'static [u8],
    /// Context values are below this.
    pub(super) contexts: u64,
    /// Causes are below this.
    pub(super) causes: u16,
    /// Mask of `tval`.
    pub(super) tval_mask: u64,
    /// Where traps go.
    pub(super) handlers: Handlers,
    /// Whether and how returns go back to where the call came from.
    pub(super) returns: Returns,
    /// Links in the return stack that returns are checked with, if there is one in use.
    pub(super) return_stack: Option<usize>,
    /// Returns are counted, so that a report shows which one it is about, whatever their depths.
    pub(super) irets: bool,
    /// Out of 256 decisions of a branch or an uninferable jump, how many are drawn again and not repeated from the last
    /// time.
    pub(super) whim: u8,
    /// Out of 256 steps, how many change the modes; to which, and from there back.
    pub(super) modes: u8,
    /// The modes at the start, and the others.
    pub(super) either: [Modes; 2],
    /// What happens at the data interface, if there is one.
    pub(super) data: Option<DataHappenings>,
    /// Only data are traced.
    pub(super) data_alone: bool,
}

/// Where traps go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Handlers {
    /// Anywhere.
    #[default]
    Anywhere,
    /// To the first instruction of the program.
    One,
    /// Interrupts at four bytes times their cause after it.
    Vectored,
}

/// Where returns go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Returns {
    /// Anywhere.
    #[default]
    Anywhere,
    /// Mostly after the call.
    Mostly,
    /// After the call whenever there was one.
    Always,
}

/// Walks through the program by random outcomes.
pub(super) struct Walk<'a, 'e> {
    program: &'a GeneratedProgram,
    entropy: &'a mut Entropy<'e>,
    happenings: Happenings,
    steps: Vec<Step>,
    at: u64,
    privilege: u8,
    context: u64,
    time: u64,
    triggered: bool,
    transport: bool,
    /// Addresses passed since the latest branch, uninferable discontinuity or trap. Reaching one of them again would be
    /// an iteration of an inferable loop, which leaves no trace: the protocol cannot count it.
    since_fact: Vec<u64>,
    /// The instruction retired directly before, unless a trap came between.
    previous: Option<u64>,
    nesting: Nesting,
    /// The latest outcome of each branch, by its address.
    outcomes: BTreeMap<u64, bool>,
    /// The latest target of each uninferable jump.
    targets: BTreeMap<u64, u64>,
    /// The second of the modes is in force.
    other_modes: bool,
    /// The instruction before is a return that a stack checks, with a notify request.
    notified_return: bool,
    accesses: Option<Accesses>,
}

impl<'a, 'e> Walk<'a, 'e> {
    /// Up to `length` steps from a random instruction on, and the end of tracing.
    pub(super) fn run(
        program: &'a GeneratedProgram,
        entropy: &'a mut Entropy<'e>,
        happenings: Happenings,
        length: usize,
    ) -> Vec<Step> {
        let mut walk = Self {
            program,
            entropy,
            happenings,
            steps: Vec::with_capacity(length + 1),
            at: 0,
            privilege: happenings.privileges.first().copied().unwrap_or(3),
            context: 0,
            time: 0,
            triggered: true,
            transport: true,
            since_fact: Vec::new(),
            previous: None,
            nesting: Nesting::new(happenings.return_stack.filter(|_| !happenings.irets)),
            outcomes: BTreeMap::new(),
            targets: BTreeMap::new(),
            other_modes: false,
            notified_return: false,
            accesses: None,
        };
        walk.at = walk.somewhere();
        if !happenings.data_alone {
            walk.steps.push(Step::Stimulus(Stimulus::Enable(true)));
        }
        if let Some(data) = happenings.data {
            let mut accesses = Accesses::new(data, walk.entropy);
            accesses.begin(walk.entropy, &mut walk.steps);
            walk.accesses = Some(accesses);
        }
        while walk.steps.len() < length {
            walk.surroundings();
            if !walk.instruction() {
                break;
            }
        }
        if !happenings.data_alone {
            walk.steps.push(Step::Stimulus(Stimulus::Enable(false)));
        }
        walk.steps
    }

    fn somewhere(&mut self) -> u64 {
        let index = self.entropy.below(self.program.instructions.len());
        self.program.instructions.get(index).map_or(self.program.base, |&(address, _)| address)
    }

    /// What the outside does before the next instruction.
    fn surroundings(&mut self) {
        if self.happenings.time {
            self.time += self.entropy.below(16) as u64;
        }
        if self.happenings.triggers > 0 && self.entropy.chance(self.happenings.triggers) {
            self.triggered = !self.triggered;
            let (trace_on, trace_off) = (self.triggered, !self.triggered);
            let pulse = Cycle { trace_on, trace_off, ..Cycle::default() };
            self.steps.push(Step::Stimulus(Stimulus::Cycle(pulse)));
        }
        if self.happenings.transport > 0 && self.entropy.chance(self.happenings.transport) {
            self.transport = !self.transport;
            self.steps.push(Step::Stimulus(Stimulus::Transport(self.transport)));
        }
        if self.happenings.modes > 0 && self.entropy.chance(self.happenings.modes) {
            self.other_modes = !self.other_modes;
            let modes = self.happenings.either[usize::from(self.other_modes)];
            self.steps.push(Step::Stimulus(Stimulus::Modes(modes)));
        }
        if let Some(accesses) = &mut self.accesses
            && accesses.wants_change(self.entropy)
        {
            accesses.change(self.entropy, &mut self.steps);
        }
    }

    /// Retires the current instruction or takes a trap instead; `false` when the execution must end.
    fn instruction(&mut self) -> bool {
        let Some(instruction) = self.program.at(self.at) else { return false };
        if instruction.kind == Kind::EnvironmentCall {
            self.trap(false, 8 + u64::from(self.privilege.min(3)));
            return true;
        }
        if self.happenings.traps > 0 && self.entropy.chance(self.happenings.traps) {
            let interrupt = self.entropy.chance(128);
            let cause = self.entropy.below(usize::from(self.happenings.causes)) as u64;
            self.trap(interrupt, cause);
            return true;
        }
        if self.since_fact.contains(&self.at) {
            return self.escape();
        }
        let Some(way) = self.way(instruction) else { return self.escape() };
        self.since_fact.push(self.at);
        let ctype = self.context_change();
        let notify = self.happenings.notify > 0 && self.entropy.chance(self.happenings.notify);
        self.notified_return = notify && self.is_checked_return(self.at);
        self.steps.push(Step::Retire(Retire {
            address: Address(self.at),
            taken: way.taken,
            privilege: self.privilege,
            context: self.context,
            time: self.time,
            ctype,
            notify,
            partial: false,
        }));
        if let Some(accesses) = &mut self.accesses {
            accesses.append(self.entropy, &mut self.steps);
        }
        self.go(instruction, way);
        true
    }

    /// Whether the context changes before the current instruction, as `ctype`.
    fn context_change(&mut self) -> u8 {
        // A format 3 subformat 0 packet has no `irreport` (RVET-ENC-056). Directly after a return that was reported
        // because of a notify request, it is ambiguous whether it reports the target of that return.
        if self.happenings.context == 0
            || self.notified_return
            || !self.entropy.chance(self.happenings.context)
        {
            return 0;
        }
        self.context = self.entropy.below(self.happenings.contexts as usize) as u64;
        // A precise change (2) comes without a report of the instruction before it. Directly after an uninferable jump
        // the arrival at the target is then ambiguous (as in RVET-ENC-080); and if the latest report is of a return, it
        // may be the target of that (RVET-DEC-022).
        let after_jump = self.since_fact.len() == 1;
        let after_return = self.since_fact.first().is_some_and(|&first| self.is_checked_return(first));
        if after_jump || after_return { 3 } else { self.entropy.pick(&[2, 3]) }
    }

    /// Whether the instruction there is a return that a return stack checks.
    fn is_checked_return(&self, address: u64) -> bool {
        self.happenings.return_stack.is_some()
            && self.program.at(address).is_some_and(|found| found.kind == Kind::Return)
    }

    /// The successor of the current instruction; `None` if nowhere that a decoder could follow.
    fn way(&mut self, instruction: Instruction) -> Option<Way> {
        let next = self.at.wrapping_add(instruction.size());
        let offset = |offset: i32| self.at.wrapping_add_signed(i64::from(offset));
        let inferable = |to| Way { to, taken: None, fact: false };
        Some(match instruction.kind {
            Kind::Plain | Kind::UpperImmediate | Kind::EnvironmentCall => inferable(next),
            Kind::Branch(target) => {
                let target = offset(target);
                let taken = self.outcome();
                Way { to: if taken { target } else { next }, taken: Some(taken), fact: true }
            }
            Kind::Jump(target) | Kind::Call(target) => inferable(offset(target)),
            Kind::IndirectJump(_) | Kind::IndirectCall(_) => match self.sequential_target(instruction) {
                // An encoder may not report it, so it counts as no fact.
                Some(target) => inferable(target),
                None => Way { to: self.target(), taken: None, fact: true },
            },
            Kind::CoroutineSwap | Kind::TrapReturn => Way { to: self.target(), taken: None, fact: true },
            Kind::Return => return self.return_way(),
        })
    }

    /// Leaves the current instruction.
    fn go(&mut self, instruction: Instruction, way: Way) {
        match instruction.kind {
            Kind::Call(_) | Kind::IndirectCall(_) => {
                self.nesting.call(self.at.wrapping_add(instruction.size()));
            }
            Kind::Return if way.fact => self.nesting.go_elsewhere(),
            Kind::Return => self.nesting.go_back(),
            Kind::TrapReturn => self.privilege = self.entropy.pick(self.happenings.privileges),
            _ => {}
        }
        if way.fact {
            self.fact();
        }
        self.previous = Some(self.at);
        self.at = way.to;
    }

    /// The outcome of the current branch.
    fn outcome(&mut self) -> bool {
        match self.outcomes.get(&self.at) {
            Some(&taken) if !self.entropy.chance(self.happenings.whim) => taken,
            _ => {
                let taken = self.entropy.chance(128);
                self.outcomes.insert(self.at, taken);
                taken
            }
        }
    }

    /// The target of the current uninferable jump.
    fn target(&mut self) -> u64 {
        match self.targets.get(&self.at) {
            Some(&target) if !self.entropy.chance(self.happenings.whim) => target,
            _ => {
                let target = self.somewhere();
                self.targets.insert(self.at, target);
                target
            }
        }
    }

    /// Where an indirect jump goes whose register was set by the instruction directly before.
    fn sequential_target(&self, instruction: Instruction) -> Option<u64> {
        let offset = instruction.sequential_offset()?;
        let before = self.previous.filter(|before| before.wrapping_add(4) == self.at)?;
        (self.program.at(before)?.kind == Kind::UpperImmediate)
            .then(|| before.wrapping_add_signed(i64::from(offset)))
    }

    fn return_way(&mut self) -> Option<Way> {
        let back = match self.happenings.returns {
            Returns::Anywhere => false,
            Returns::Mostly => self.entropy.chance(200),
            Returns::Always => true,
        };
        let link = self.nesting.link();
        let to = match link {
            Some(link) if back => link,
            _ => self.target(),
        };
        if Some(to) == link {
            // This return may be unreported, so it gives no information.
            self.nesting.may_go_back().then_some(Way { to, taken: None, fact: false })
        } else {
            self.nesting.may_go_elsewhere().then_some(Way { to, taken: None, fact: true })
        }
    }

    /// An event that a packet must report has happened.
    fn fact(&mut self) {
        self.since_fact.clear();
        self.nesting.fact();
    }

    /// Leaves a place from which no decoder could follow; `false` when the execution must end.
    fn escape(&mut self) -> bool {
        if self.happenings.traps > 0 {
            self.trap(true, 0);
        }
        self.happenings.traps > 0
    }

    fn trap(&mut self, interrupt: bool, cause: u64) {
        let tval = if interrupt { 0 } else { self.entropy.word() & self.happenings.tval_mask };
        let (cause, handler) = self.handler(interrupt, cause % u64::from(self.happenings.causes.max(1)));
        self.steps.push(Step::Trap(Trap {
            interrupt,
            cause,
            tval,
            epc: Address(self.at),
            privilege: self.privilege,
            context: self.context,
            time: self.time,
        }));
        self.privilege = self.happenings.privileges.iter().copied().max().unwrap_or(3);
        self.fact();
        self.previous = None;
        self.at = handler;
    }

    /// The cause, or another one if it has no handler, and the handler.
    fn handler(&mut self, interrupt: bool, cause: u64) -> (u64, u64) {
        match self.happenings.handlers {
            Handlers::Anywhere => (cause, self.somewhere()),
            Handlers::Vectored if interrupt => {
                let handler = self.program.base.wrapping_add(4 * cause);
                if self.program.at(handler).is_some() { (cause, handler) } else { (0, self.program.base) }
            }
            Handlers::One | Handlers::Vectored => (cause, self.program.base),
        }
    }
}

/// Where an instruction leads.
#[derive(Clone, Copy, Debug)]
struct Way {
    to: u64,
    /// Outcome of a branch.
    taken: Option<bool>,
    /// A packet must report it.
    fact: bool,
}
