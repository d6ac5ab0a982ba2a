//! A random execution of a program, step by step.

use traceproof_vectors::Address32;
use traceproof_vectors::arm::InstructionSet;
use traceproof_vectors::arm_pft::{Action, Execute, Parameters, Signal, State, Step};

use super::happenings::Happenings;
use super::{GeneratedProgram, Instruction, Kind, Place, Reach};
use crate::generate::Entropy;

mod states;

/// Calls and exceptions that are remembered; older ones are never returned to.
const DEPTH: usize = 40;

/// The processor executes nothing there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Running,
    Debug,
    Jazelle,
}

/// A processor.
pub(super) struct Walk<'a, 'b> {
    program: &'a GeneratedProgram,
    entropy: &'a mut Entropy<'b>,
    happenings: Happenings,
    parameters: &'a Parameters,
    /// The next instruction.
    at: Place,
    non_secure: bool,
    hyp: bool,
    mode: Mode,
    trace_enable: bool,
    overflow: bool,
    prohibited: bool,
    calls: Vec<Place>,
    interrupted: Vec<(Place, bool, bool)>,
    timestamp: u64,
    steps: Vec<Step>,
}

impl<'a, 'b> Walk<'a, 'b> {
    pub(super) fn run(
        program: &'a GeneratedProgram,
        entropy: &'a mut Entropy<'b>,
        happenings: Happenings,
        parameters: &'a Parameters,
        length: usize,
    ) -> Vec<Step> {
        let mut walk = Walk {
            program,
            entropy,
            happenings,
            parameters,
            at: Place { section: 0, index: 0 },
            non_secure: false,
            hyp: false,
            mode: Mode::Running,
            trace_enable: true,
            overflow: false,
            prohibited: false,
            calls: Vec::new(),
            interrupted: Vec::new(),
            timestamp: 0,
            steps: Vec::new(),
        };
        walk.start();
        // A long block is executed to its end, so that it is long.
        let block = program.sections[walk.at.section].len();
        let length = if block > length { length + block } else { length };
        while walk.steps.len() < length {
            walk.step();
        }
        walk.signal(Signal::Disable);
        walk.steps
    }

    fn start(&mut self) {
        self.timestamp = self.entropy.pick(&[0, 1, 0x7f, 0x1234_5678_9abc, 0x7fff_ffff_fff0]);
        self.non_secure = self.entropy.chance(96) && !self.parameters.m_profile;
        if self.happenings.long_block {
            let section = self.program.sections.len() - 1;
            self.at = self.entropy.pick(&[self.at, Place { section, index: 0 }]);
        }
        if self.entropy.chance(self.happenings.contexts) {
            self.change_context();
        }
        self.signal(Signal::Enable(self.here()));
    }

    fn push(&mut self, action: Action) {
        let more = if self.entropy.chance(8) { u64::from(self.entropy.byte()) << 12 } else { 0 };
        self.timestamp += u64::from(self.entropy.byte() & 3) + more;
        let cycles = match self.entropy.byte() {
            255 if self.happenings.slow => self.entropy.pick(&[0x4000, 0x80_0000, 0x0200_0000]),
            250.. => 2000,
            byte => u32::from(byte & 3),
        };
        self.steps.push(Step { cycles, timestamp: self.timestamp, action });
    }

    fn signal(&mut self, signal: Signal) {
        self.push(Action::Signal(signal));
    }

    /// The state of the next instruction.
    fn here(&self) -> State {
        self.state_of(self.at)
    }

    fn state_of(&self, place: Place) -> State {
        let item = self.program.at(place);
        State { address: item.address, isa: item.isa, non_secure: self.non_secure, hyp: self.hyp }
    }

    fn step(&mut self) {
        self.asynchronous();
        self.tracing();
        match self.mode {
            // Leaving is as likely as staying.
            Mode::Debug if self.entropy.chance(128) => {
                self.mode = Mode::Running;
                if self.entropy.chance(128) {
                    self.at = self.anywhere(None);
                }
                self.signal(Signal::DebugExit(self.here()));
            }
            Mode::Jazelle if self.entropy.chance(128) => {
                self.mode = Mode::Running;
                self.at = self.anywhere(None);
                self.signal(Signal::JazelleExit(self.here()));
            }
            Mode::Debug | Mode::Jazelle => self.signal(Signal::Idle),
            Mode::Running => self.execution(),
        }
    }

    /// What has nothing to do with instructions.
    fn asynchronous(&mut self) {
        if self.entropy.chance(self.happenings.contexts) {
            self.change_context();
        }
        if self.entropy.chance(self.happenings.triggers) {
            self.signal(Signal::Trigger);
        }
        if self.entropy.chance(self.happenings.timestamps) {
            let signal = self.entropy.pick(&[Signal::TimestampEvent, Signal::ClockChange]);
            self.signal(signal);
        }
        if self.entropy.chance(self.happenings.synchronisations) {
            self.signal(Signal::SyncRequest);
        }
        if self.entropy.chance(self.happenings.flushes) {
            self.signal(Signal::Flush);
        }
    }

    fn change_context(&mut self) {
        if self.parameters.vmid && self.entropy.chance(96) {
            let vmid = self.entropy.byte() & 3;
            self.signal(Signal::Vmid(vmid));
        } else {
            let value = self.entropy.pick(&[1, 0x42, 0x1234_5678, 0, 0x8000_0001]);
            self.signal(Signal::ContextId(value));
        }
    }

    /// What decides whether instructions are traced.
    fn tracing(&mut self) {
        if self.entropy.chance(self.happenings.filter) {
            self.trace_enable ^= true;
            self.signal(Signal::TraceEnable(self.trace_enable));
        }
        let likely = if self.overflow { 64 } else { self.happenings.overflows };
        if self.entropy.chance(likely) {
            self.overflow ^= true;
            self.signal(Signal::Overflow(self.overflow));
        }
        if self.mode != Mode::Running {
            return;
        }
        if self.prohibited && self.entropy.chance(64) {
            self.prohibited = false;
            if self.entropy.chance(96) {
                self.at = self.anywhere(None);
            }
            self.signal(Signal::ProhibitedExit(self.here()));
        } else if !self.prohibited && self.entropy.chance(self.happenings.prohibited) {
            self.prohibited = true;
            self.signal(Signal::ProhibitedEntry);
        }
    }

    /// An instruction, or something instead of it.
    fn execution(&mut self) {
        if !self.prohibited && self.entropy.chance(self.happenings.debug) {
            self.mode = Mode::Debug;
            self.push(Action::DebugEntry);
        } else if self.entropy.chance(self.happenings.exceptions) {
            let number = self.interruption();
            self.exception(number);
        } else if self.happenings.security_writes && !self.non_secure && self.entropy.chance(12) {
            self.non_secure = true;
            self.signal(Signal::NonSecure(true));
        } else {
            let item = *self.program.at(self.at);
            if item.kind == Kind::Breakpoint {
                self.exception(11);
            } else {
                self.execute(&item);
            }
        }
    }

    fn execute(&mut self, item: &Instruction) {
        // An ISB that does not really execute, for a reason that is no condition (4.2, PFTv1.1).
        let phantom = item.kind == Kind::Isb && self.parameters.minor >= 1 && self.entropy.chance(24);
        let skipped = phantom || item.conditional && self.entropy.chance(128);
        let following = Place { index: self.at.index + 1, ..self.at };
        let mut execute = Execute { address: item.address, skipped, to: None, exception_return: false };
        if skipped {
            self.at = following;
            self.push(Action::Execute(execute));
            return;
        }
        match item.kind {
            Kind::Indirect { link, reach } => {
                let popped = if link { None } else { self.returns(item, reach) };
                if link {
                    self.call(following);
                }
                execute.exception_return = self.parameters.m_profile && !link && self.entropy.chance(24);
                if reach == Reach::Jazelle && !self.prohibited && self.entropy.chance(128) {
                    self.mode = Mode::Jazelle;
                    let address = Address32(u32::from(self.entropy.byte()) | 0x3000);
                    execute.to = Some(State { address, isa: InstructionSet::Jazelle, ..self.here() });
                } else {
                    self.at = popped.unwrap_or_else(|| self.reachable(item, reach));
                    execute.to = Some(self.here());
                }
            }
            Kind::ExceptionReturn => {
                self.leave_exception();
                execute.to = Some(self.here());
            }
            Kind::Branch { link, .. } => self.branch(item, link, following),
            Kind::Exchange { .. } => self.branch(item, true, following),
            _ => self.at = following,
        }
        self.push(Action::Execute(execute));
        if let Kind::Call(number) = item.kind {
            self.call_exception(number);
        }
    }

    fn branch(&mut self, item: &Instruction, link: bool, following: Place) {
        if link {
            self.call(following);
        }
        let (to, _) = self.program.destination(item);
        self.at = self.program.place(to).unwrap_or(following);
    }

    fn call(&mut self, following: Place) {
        if self.calls.len() == DEPTH {
            self.calls.remove(0);
        }
        self.calls.push(following);
    }

    /// Where the latest call was, unless this branch leads elsewhere or cannot lead there.
    fn returns(&mut self, item: &Instruction, reach: Reach) -> Option<Place> {
        if self.entropy.chance(self.happenings.strays) {
            return None;
        }
        let to = *self.calls.last()?;
        let (from, isa) = (item.isa, self.program.at(to).isa);
        let possible = match reach {
            Reach::Any | Reach::Jazelle => (from == InstructionSet::T32Ee) == (isa == InstructionSet::T32Ee),
            Reach::SameSet => from == isa,
            Reach::Forward => false,
        };
        possible.then(|| self.calls.pop()).flatten()
    }

    /// A place that an indirect branch can lead to.
    fn reachable(&mut self, item: &Instruction, reach: Reach) -> Place {
        let here = self.at;
        if reach == Reach::Forward {
            let section = &self.program.sections[here.section];
            let forward = |&index: &usize| section[index].isa == item.isa && !section[index].in_it;
            let places: Vec<_> = (here.index + 1..section.len()).filter(forward).take(20).collect();
            if !places.is_empty() {
                return Place { index: self.entropy.pick(&places), ..here };
            }
        }
        let same = reach != Reach::Any && reach != Reach::Jazelle || item.isa == InstructionSet::T32Ee;
        self.anywhere(Some(if same { item.isa } else { InstructionSet::A32 }).filter(|_| same))
    }

    /// Any place of an instruction set, or of A32 and T32, where no IT block goes on.
    fn anywhere(&mut self, isa: Option<InstructionSet>) -> Place {
        let section = self.entropy.below(self.program.sections.len());
        let start = self.entropy.below(self.program.sections[section].len().min(40));
        let fits = |item: &Instruction| {
            !item.in_it && isa.map_or(item.isa != InstructionSet::T32Ee, |isa| item.isa == isa)
        };
        let sections = self.program.sections.len();
        for section in (section..sections).chain(0..section) {
            let items = &self.program.sections[section];
            let start = start % items.len();
            if let Some(index) = (start..items.len()).chain(0..start).find(|&index| fits(&items[index])) {
                return Place { section, index };
            }
        }
        self.at
    }
}
