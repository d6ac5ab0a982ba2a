//! Random executions of a generated program.

use traceproof_vectors::riscv_etrace::{Retire, Step, Trap};

use super::{GeneratedProgram, Kind};
use crate::generate::Entropy;

/// What may happen in an execution besides plain retirement.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Happenings {
    /// Out of 256 steps, how many take an exception or interrupt.
    pub(super) traps: u8,
    /// Out of 256 steps, how many carry a notify request.
    pub(super) notify: u8,
    /// Out of 256 steps, how many flip the filter.
    pub(super) filter: u8,
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
    /// Every trap goes to the first instruction of the program.
    pub(super) one_handler: bool,
    /// Whether and how returns go back to where the call came from.
    pub(super) returns: Returns,
}

/// Where returns go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Returns {
    /// Anywhere.
    #[default]
    Anywhere,
    /// Mostly behind the call.
    Mostly,
    /// Behind the call whenever there was one.
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
    qualified: bool,
    transport: bool,
    /// Addresses passed since the latest branch, uninferable discontinuity or trap. Going to one of them
    /// again would be a lap of an inferable loop, which leaves no trace at all: the protocol cannot count it.
    since_fact: Vec<u64>,
    /// The instruction retired directly before, unless a trap came between.
    previous: Option<u64>,
    /// Return addresses of the calls so far.
    links: Vec<u64>,
}

impl<'a, 'e> Walk<'a, 'e> {
    /// Up to `length` steps from a random instruction on.
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
            qualified: true,
            transport: true,
            since_fact: Vec::new(),
            previous: None,
            links: Vec::new(),
        };
        walk.at = walk.somewhere();
        walk.steps.push(Step::Stimulus(traceproof_vectors::riscv_etrace::Stimulus::Enable(true)));
        while walk.steps.len() < length {
            walk.surroundings();
            if !walk.instruction() {
                break;
            }
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
        if self.happenings.filter > 0 && self.entropy.chance(self.happenings.filter) {
            self.qualified = !self.qualified;
        }
        if self.happenings.transport > 0 && self.entropy.chance(self.happenings.transport) {
            self.transport = !self.transport;
            self.steps
                .push(Step::Stimulus(traceproof_vectors::riscv_etrace::Stimulus::Transport(self.transport)));
        }
    }

    /// Retires the instruction at hand or takes a trap in its place; `false` when the execution must end.
    fn instruction(&mut self) -> bool {
        let Some(instruction) = self.program.at(self.at) else { return false };
        if instruction.kind == Kind::EnvironmentCall {
            self.trap(false, 8 + u16::from(self.privilege.min(3)));
            return true;
        }
        if self.happenings.traps > 0 && self.entropy.chance(self.happenings.traps) {
            let interrupt = self.entropy.chance(128);
            let cause = self.entropy.below(usize::from(self.happenings.causes)) as u16;
            self.trap(interrupt, cause);
            return true;
        }
        if self.since_fact.contains(&self.at) {
            return false;
        }
        self.since_fact.push(self.at);
        let next = self.at.wrapping_add(instruction.size());
        let sequential = self.sequential_target(instruction);
        self.previous = Some(self.at);
        let mut ctype = 0;
        if self.happenings.context > 0 && self.entropy.chance(self.happenings.context) {
            self.context = self.entropy.below(self.happenings.contexts as usize) as u64;
            // A precise change (2) directly behind an uninferable jump puts a format 3 subformat 0 packet on the
            // target of a jump that was not reported; no decoder can tell which arrival is meant.
            ctype = if self.since_fact.len() == 1 { 3 } else { self.entropy.pick(&[2, 3]) };
        }
        let mut retire = Retire {
            address: self.at,
            taken: None,
            privilege: self.privilege,
            context: self.context,
            time: self.time,
            ctype,
            notify: self.happenings.notify > 0 && self.entropy.chance(self.happenings.notify),
            qualified: self.qualified,
        };
        let offset = |offset: i32| self.at.wrapping_add_signed(i64::from(offset));
        self.at = match instruction.kind {
            Kind::Plain | Kind::UpperImmediate | Kind::EnvironmentCall => next,
            Kind::Branch(target) => {
                let target = offset(target);
                let taken = self.entropy.chance(128);
                retire.taken = Some(taken);
                self.since_fact.clear();
                if taken { target } else { next }
            }
            Kind::Jump(target) => offset(target),
            Kind::Call(target) => {
                self.links.push(next);
                offset(target)
            }
            Kind::IndirectJump(_) | Kind::IndirectCall(_) | Kind::CoroutineSwap => {
                if matches!(instruction.kind, Kind::IndirectCall(_)) {
                    self.links.push(next);
                }
                match sequential {
                    Some(target) => target,
                    None => {
                        self.since_fact.clear();
                        self.somewhere()
                    }
                }
            }
            Kind::Return => self.return_target(),
            Kind::TrapReturn => {
                self.since_fact.clear();
                self.privilege = self.entropy.pick(self.happenings.privileges);
                self.somewhere()
            }
        };
        self.steps.push(Step::Retire(retire));
        true
    }

    /// Where an indirect jump goes whose register was set by the instruction directly before. An encoder may not
    /// report it, so it counts as no fact.
    fn sequential_target(&self, instruction: super::Instruction) -> Option<u64> {
        let offset = instruction.sequential_offset()?;
        let before = self.previous.filter(|before| before.wrapping_add(4) == self.at)?;
        (self.program.at(before)?.kind == Kind::UpperImmediate)
            .then(|| before.wrapping_add_signed(i64::from(offset)))
    }

    fn return_target(&mut self) -> u64 {
        let back = match self.happenings.returns {
            Returns::Anywhere => false,
            Returns::Mostly => self.entropy.chance(200),
            Returns::Always => true,
        };
        match self.links.pop() {
            // Nobody may report this return, so it counts as no fact.
            Some(link) if back && self.program.at(link).is_some() => link,
            _ => {
                self.since_fact.clear();
                self.somewhere()
            }
        }
    }

    fn trap(&mut self, interrupt: bool, cause: u16) {
        let tval = if interrupt { 0 } else { self.entropy.word() & self.happenings.tval_mask };
        self.steps.push(Step::Trap(Trap {
            interrupt,
            cause: cause % self.happenings.causes.max(1),
            tval,
            epc: self.at,
            privilege: self.privilege,
            context: self.context,
            time: self.time,
            qualified: self.qualified,
        }));
        self.privilege = self.happenings.privileges.iter().copied().max().unwrap_or(3);
        self.since_fact.clear();
        self.previous = None;
        self.at = if self.happenings.one_handler { self.program.base } else { self.somewhere() };
    }
}
