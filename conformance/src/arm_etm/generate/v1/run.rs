//! A run of a program, cycle by cycle, on a processor with a short pipeline.

use traceproof_vectors::arm_etm::{
    self as etm, Access, BranchTarget, Exception, Isa, Position, Stimulus, Transfer, VectorBase,
};

use super::program::{self, GeneratedProgram, Instruction, Kind};
use crate::generate::Entropy;
use traceproof_vectors::Address32;

/// How often things happen, in 256 cycles.
#[derive(Clone, Copy, Debug)]
pub(super) struct Happenings {
    /// TraceEnable changes.
    pub(super) filter: u8,
    /// ViewData changes.
    pub(super) view: u8,
    /// An exception in place of an instruction.
    pub(super) exceptions: u8,
    /// Indirect branches lead to tables of vectors.
    pub(super) vectors: u8,
    /// A cycle of the pipeline's refill shows an instruction with an exception.
    pub(super) abandoned: u8,
    /// Debug state begins.
    pub(super) debug: u8,
    /// The Context ID is written.
    pub(super) contexts: u8,
    /// A trigger.
    pub(super) triggers: u8,
    /// The processor waits.
    pub(super) waits: u8,
    /// Indirect branches lead to Java state.
    pub(super) java: u8,
}

/// Cycles that the pipeline needs after a taken branch (ETM1-APO-001).
const REFILL: u8 = 2;

/// Where bytecodes are.
const JAVA: u32 = 0xc001;

/// Numbers of exceptions, and the places of their vectors in a table.
const RESET: (u16, usize) = (8, 0);
const UNDEFINED: (u16, usize) = (9, 1);
const SVC: (u16, usize) = (10, 2);
const PREFETCH_ABORT: (u16, usize) = (11, 3);
const DATA_ABORT: (u16, usize) = (12, 4);
const IMPRECISE_DATA_ABORT: (u16, usize) = (4, 4);
const IRQ: (u16, usize) = (14, 6);
const FIQ: (u16, usize) = (15, 7);

/// The place in a table that is no vector.
const RESERVED: usize = 5;

/// A processor.
pub(super) struct Walk<'a, 'b> {
    program: &'a GeneratedProgram,
    entropy: &'a mut Entropy<'b>,
    happenings: Happenings,
    /// The next instruction.
    at: Instruction,
    /// The table of vectors that exceptions use, whether the decoder knows it or not.
    table: usize,
    hivecs: VectorBase,
    levels: Stimulus,
    refill: u8,
    data: u32,
    cycles: Vec<Stimulus>,
}

impl<'a, 'b> Walk<'a, 'b> {
    pub(super) fn run(
        program: &'a GeneratedProgram,
        entropy: &'a mut Entropy<'b>,
        happenings: Happenings,
        hivecs: VectorBase,
        length: usize,
    ) -> Vec<Stimulus> {
        let table = match hivecs {
            VectorBase::Low => 0,
            VectorBase::High => 1,
            VectorBase::Unknown => entropy.below(2),
        };
        let levels = Stimulus { view_data: true, trace_enable: true, ..Stimulus::default() };
        let at = program.arm[0];
        let mut walk = Walk {
            program,
            entropy,
            happenings,
            at,
            table,
            hivecs,
            levels,
            refill: 0,
            data: 0x4000_0000,
            cycles: Vec::new(),
        };
        while walk.cycles.len() < length {
            walk.step();
        }
        // The last branch gets its APO.
        walk.cycles.extend([Stimulus::default(), Stimulus::default()]);
        walk.cycles
    }

    fn step(&mut self) {
        let Happenings { filter, view, debug, contexts, triggers, waits, abandoned, .. } = self.happenings;
        self.levels.trace_enable ^= self.entropy.chance(filter);
        self.levels.view_data ^= self.entropy.chance(view);
        let mut cycle = Stimulus { trigger: self.entropy.chance(triggers), ..self.levels.clone() };
        if self.entropy.chance(contexts) {
            cycle.context_id = Some(self.entropy.word() as u32);
        }
        if self.levels.debug {
            // Leaving is as likely as staying, and a debugger may have moved the PC.
            self.levels.debug = self.entropy.chance(128);
            if self.entropy.chance(64) {
                self.at = self.anywhere();
            }
        } else if self.refill > 0 {
            self.refill -= 1;
            if self.entropy.chance(abandoned) {
                self.interrupt(&mut cycle);
            }
        } else if self.entropy.chance(debug) {
            self.levels.debug = true;
        } else if !self.entropy.chance(waits) {
            self.complete(&mut cycle);
        }
        self.cycles.push(cycle);
    }

    /// An instruction completes, if no exception is taken in its place.
    fn complete(&mut self, cycle: &mut Stimulus) {
        let at = self.at;
        if at.kind == Kind::Svc || self.entropy.chance(self.happenings.exceptions) {
            self.interrupt(cycle);
            return;
        }
        let executed = !at.is_conditional() || self.entropy.chance(128);
        if let Kind::Access(access) = at.kind
            && executed
        {
            cycle.transfers = self.transfers(&access);
        }
        let branch = match at.kind {
            _ if !executed => None,
            Kind::Branch { to, .. } => {
                self.at = self.program.section(at.isa)[to];
                Some(self.branch(true))
            }
            Kind::Indirect(_) | Kind::Access(program::Access { branches: true, .. }) => {
                self.at = self.anywhere();
                Some(self.branch(false))
            }
            _ => None,
        };
        if branch.is_none() {
            self.at = self.following(&at);
        }
        self.show(cycle, &at, executed, branch);
    }

    /// An exception is taken by the instruction, or in its place.
    fn interrupt(&mut self, cycle: &mut Stimulus) {
        let at = self.at;
        let (number, vector) = match at.kind {
            Kind::Svc => SVC,
            Kind::Access(access) if !access.coprocessor && self.entropy.chance(128) => {
                cycle.transfers = self.transfers(&access);
                DATA_ABORT
            }
            _ => self.entropy.pick(&[IRQ, FIQ, IRQ, PREFETCH_ABORT, UNDEFINED, IMPRECISE_DATA_ABORT, RESET]),
        };
        cycle.reset = number == RESET.0;
        self.at = self.program.vectors[self.table][vector];
        let exception = Some(Exception { number, ..Exception::default() });
        let branch = BranchTarget { exception, ..self.branch(false) };
        self.show(cycle, &at, true, Some(branch));
    }

    /// The cycle shows this instruction.
    fn show(&mut self, cycle: &mut Stimulus, at: &Instruction, executed: bool, branch: Option<BranchTarget>) {
        if branch.is_some() {
            self.refill = REFILL;
        }
        cycle.instruction = Some(etm::Instruction {
            address: Address32(at.address),
            isa: at.isa,
            executed,
            branch,
            ..etm::Instruction::default()
        });
    }

    /// The branch to where the processor is now.
    fn branch(&self, direct: bool) -> BranchTarget {
        BranchTarget { address: Address32(self.at.address), isa: self.at.isa, direct, exception: None }
    }

    fn anywhere(&mut self) -> Instruction {
        if self.entropy.chance(self.happenings.java) {
            return bytecode(JAVA + u32::from(self.entropy.byte()), self.entropy);
        }
        if self.entropy.chance(self.happenings.vectors) {
            return self.beside_exceptions();
        }
        let isa = self.entropy.pick(&[Isa::Arm, Isa::Thumb]);
        self.anywhere_in(isa)
    }

    /// A place in a table at which a branch is no exception, or looks like one.
    fn beside_exceptions(&mut self) -> Instruction {
        let place = self.entropy.below(self.program.vectors[0].len());
        match self.hivecs {
            VectorBase::Unknown => self.program.vectors[self.entropy.below(2)][place],
            _ if self.entropy.chance(64) => self.program.vectors[self.table][RESERVED],
            _ => self.program.vectors[1 - self.table][place],
        }
    }

    /// Not between the halves of a BL: there the target of the second one does not follow from the code.
    fn anywhere_in(&mut self, isa: Isa) -> Instruction {
        let section = self.program.section(isa);
        let index = self.entropy.below(section.len());
        let halved = index > 0 && matches!(section[index - 1].kind, Kind::LinkPrefix { .. });
        section[index - usize::from(halved)]
    }

    fn following(&mut self, at: &Instruction) -> Instruction {
        if at.isa == Isa::Jazelle {
            return bytecode(at.address + 1, self.entropy);
        }
        let next = self.program.at(at.address + at.size(), at.isa);
        next.unwrap_or_else(|| self.program.section(at.isa)[0])
    }

    /// All transfers of an instruction.
    fn transfers(&mut self, access: &program::Access) -> Vec<Transfer> {
        // Near or far.
        self.data = match self.entropy.below(4) {
            0 => self.entropy.word() as u32 & !3,
            1 => self.data ^ 0x1000,
            _ => self.data.wrapping_add(8),
        };
        let mut words = (0..access.count).map(|index| self.word(access, index)).collect::<Vec<_>>();
        if access.wide {
            let [low, high] = [words[0], words[1]];
            words = vec![Transfer {
                value: low.value | high.value << 32,
                wide: true,
                position: Position::Only,
                ..low
            }];
        }
        words
    }

    fn word(&mut self, access: &program::Access, index: u32) -> Transfer {
        let value = match self.entropy.below(3) {
            0 => 0,
            1 => self.entropy.byte().into(),
            _ => self.entropy.word(),
        };
        Transfer {
            size: access.size,
            position: match index {
                _ if access.count == 1 => Position::Only,
                0 => Position::First,
                _ if index + 1 == access.count => Position::Last,
                _ => Position::Middle,
            },
            ..Transfer::new(
                self.data.wrapping_add(access.step * index),
                match () {
                    () if access.coprocessor => Access::Coprocessor,
                    () if index < access.loads => Access::Hit,
                    () => Access::Store,
                },
                value & (u64::MAX >> (64 - 8 * u32::from(access.size))),
            )
        }
    }
}

/// The effect of a bytecode, which does not follow from the code: nothing, a load, or a return to other code.
fn bytecode(address: u32, entropy: &mut Entropy<'_>) -> Instruction {
    let load = program::Access {
        code: 0,
        count: 1,
        size: 4,
        loads: 1,
        step: 4,
        branches: false,
        coprocessor: false,
        wide: false,
        conditional: false,
    };
    let kind = entropy.pick(&[Kind::Plain, Kind::Access(load), Kind::Indirect(0)]);
    Instruction { address, isa: Isa::Jazelle, kind }
}
