//! A run of a program, cycle by cycle, on a processor with a non-blocking data cache.

use traceproof_vectors::arm_etm::{
    self as etm, Access, BranchTarget, Exception, Isa, MissReturn, Phantom, Position, Stimulus, Transfer,
    VectorBase,
};

use super::{GeneratedProgram, Instruction, Kind};
use crate::generate::Entropy;
use traceproof_vectors::Address32;

/// How often things happen, in 256 cycles.
#[derive(Clone, Copy, Debug)]
pub(super) struct Happenings {
    /// Loads miss, of 256.
    pub(super) misses: u8,
    /// Misses that may be outstanding at once.
    pub(super) outstanding: usize,
    /// The data of an outstanding miss return.
    pub(super) returns: u8,
    /// TraceEnable changes.
    pub(super) filter: u8,
    /// ViewData changes.
    pub(super) view: u8,
    /// An exception after an instruction.
    pub(super) exceptions: u8,
    /// Debug state begins.
    pub(super) debug: u8,
    /// Reset.
    pub(super) resets: u8,
    /// The Context ID changes.
    pub(super) contexts: u8,
    /// A trigger.
    pub(super) triggers: u8,
    /// A timestamp is wanted.
    pub(super) timestamps: u8,
    /// The processor waits.
    pub(super) waits: u8,
    /// A direct branch is folded.
    pub(super) folds: u8,
    /// Security state and Hyp mode change with exceptions and returns.
    pub(super) states: bool,
    /// Data are big-endian now and then.
    pub(super) big_endian: bool,
    /// Exceptions are those of ARMv7-M, and push registers.
    pub(super) m_profile: bool,
    /// ETMv2: exceptions go to these vectors, and stand in place of an instruction.
    pub(super) vectors: Option<VectorBase>,
}

/// Registers that automatic stacking pushes (ETM3-MISC-005).
const PUSHED: u32 = 8;

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

/// Cycles without trace in which every FIFO drains.
const DRAINING: usize = 260;

/// A processor.
pub(super) struct Walk<'a, 'b> {
    program: &'a GeneratedProgram,
    entropy: &'a mut Entropy<'b>,
    happenings: Happenings,
    /// The next instruction.
    at: Instruction,
    levels: Stimulus,
    /// Load misses that happened.
    outstanding: Vec<u32>,
    /// Those, and those that the rest of an LSM will have.
    in_flight: usize,
    next_miss: u32,
    /// What an LSM still has to transfer.
    rest: Vec<Transfer>,
    data: u32,
    /// Automatic stacking is next.
    stacking: bool,
    /// The table of vectors that exceptions use, whether the decoder knows it or not.
    table: usize,
    cycles: Vec<Stimulus>,
}

impl<'a, 'b> Walk<'a, 'b> {
    pub(super) fn run(
        program: &'a GeneratedProgram,
        entropy: &'a mut Entropy<'b>,
        happenings: Happenings,
        length: usize,
    ) -> Vec<Stimulus> {
        let levels = Stimulus { view_data: true, ..Stimulus::default() };
        let table = match happenings.vectors {
            Some(VectorBase::Unknown) => entropy.below(2),
            Some(VectorBase::High) => 1,
            _ => 0,
        };
        let at = program.section(program.home)[0];
        let mut walk = Walk {
            program,
            entropy,
            happenings,
            at,
            levels,
            outstanding: Vec::new(),
            in_flight: 0,
            next_miss: 0,
            rest: Vec::new(),
            data: 0x4000_0000,
            stacking: false,
            table,
            cycles: Vec::new(),
        };
        walk.push(Stimulus::default());
        walk.levels.trace_enable = true;
        while walk.cycles.len() < length {
            walk.step();
        }
        walk.end();
        walk.cycles
    }

    /// A cycle: the levels, and what happens.
    fn push(&mut self, mut cycle: Stimulus) {
        let Stimulus { trace_enable, view_data, debug, non_secure, hyp, .. } = self.levels;
        self.levels.timestamp += 1 + (u64::from(self.entropy.byte()) & 3);
        cycle = Stimulus {
            trace_enable,
            view_data,
            debug,
            non_secure,
            hyp,
            timestamp: self.levels.timestamp,
            ..cycle
        };
        for transfer in &cycle.transfers {
            if let Access::Miss(number) = transfer.access {
                self.outstanding.push(number);
            }
        }
        self.cycles.push(cycle);
    }

    fn step(&mut self) {
        let mut cycle = Stimulus::default();
        self.change_levels(&mut cycle);
        self.return_data(&mut cycle);
        if self.levels.debug {
            // Leaving is as likely as staying.
            self.push(cycle);
            self.levels.debug = self.entropy.chance(128);
            return;
        }
        if core::mem::take(&mut self.stacking) {
            self.stack(&mut cycle);
        } else if self.entropy.chance(self.happenings.waits) {
            let some = self.entropy.below(3);
            cycle.transfers.extend(self.go_on(some));
        } else if self.entropy.chance(self.happenings.resets) {
            self.reset(&mut cycle);
        } else {
            self.complete(&mut cycle);
        }
        self.push(cycle);
        if self.happenings.states && self.entropy.chance(8) {
            // Levels change after a branch, whose packet carries them.
            if self.cycles.last().is_some_and(tells_state) {
                self.levels.non_secure ^= true;
                self.levels.hyp ^= self.entropy.chance(128);
            }
        }
    }

    fn change_levels(&mut self, cycle: &mut Stimulus) {
        let Happenings { filter, view, debug, contexts, triggers, timestamps, .. } = self.happenings;
        self.levels.trace_enable ^= self.entropy.chance(filter);
        self.levels.view_data ^= self.entropy.chance(view);
        if !self.levels.debug && self.entropy.chance(debug) {
            self.levels.debug = true;
        }
        if self.entropy.chance(contexts) {
            cycle.context_id = Some(self.entropy.word() as u32);
        }
        cycle.trigger = self.entropy.chance(triggers);
        cycle.timestamp_event = self.entropy.chance(timestamps);
        cycle.clock_change = cycle.timestamp_event && self.entropy.chance(64);
    }

    /// Data return in any order.
    fn return_data(&mut self, cycle: &mut Stimulus) {
        while !self.outstanding.is_empty() && self.entropy.chance(self.happenings.returns) {
            let miss = self.outstanding.remove(self.entropy.below(self.outstanding.len()));
            self.in_flight -= 1;
            cycle.returns.push(MissReturn { miss, value: self.value() });
        }
    }

    /// Small and large numbers.
    fn value(&mut self) -> u64 {
        match self.entropy.below(4) {
            0 => 0,
            1 => self.entropy.byte().into(),
            2 => u64::from(self.entropy.byte()) << 8 | u64::from(self.entropy.byte()) << 40,
            _ => self.entropy.word(),
        }
    }

    /// Transfers of the LSM that is under way.
    fn go_on(&mut self, count: usize) -> Vec<Transfer> {
        let count = count.min(self.rest.len());
        self.rest.drain(..count).collect()
    }

    /// The processor restarts at some address; pending results never arrive.
    fn reset(&mut self, cycle: &mut Stimulus) {
        cycle.reset = true;
        cycle.returns.clear();
        self.outstanding.clear();
        self.in_flight = 0;
        self.rest.clear();
        let mut instruction = completion(&self.at, true);
        let target = match self.happenings.vectors {
            Some(_) => self.program.vectors[self.table][RESET.1],
            None => self.anywhere(self.program.home),
        };
        instruction.branch = Some(exception(&target, RESET.0, true));
        cycle.instruction = Some(instruction);
        self.at = target;
    }

    /// ARMv7-M pushes registers; some of it may still go on when the handler begins.
    fn stack(&mut self, cycle: &mut Stimulus) {
        cycle.exception_entry = true;
        for index in 0..PUSHED {
            let address = self.data.wrapping_add(4 * index);
            let mut push = Transfer::new(address, Access::Store, self.value() & 0xffff_ffff);
            push.position = match index {
                0 => Position::First,
                _ if index + 1 == PUSHED => Position::Last,
                _ => Position::Middle,
            };
            self.rest.push(push);
        }
        let some = 1 + self.entropy.below(self.rest.len());
        cycle.transfers.extend(self.go_on(some));
    }

    /// An instruction completes.
    fn complete(&mut self, cycle: &mut Stimulus) {
        let phantom = self.fold();
        let at = self.at;
        if self.happenings.vectors.is_some() && self.entropy.chance(self.happenings.exceptions) {
            self.interrupt(cycle, phantom);
            return;
        }
        let conditional = at.kind == Kind::Conditional && at.isa == Isa::Arm
            || matches!(at.kind, Kind::Branch { conditional: true, .. });
        let executed = !conditional || self.entropy.chance(128);
        let mut instruction = etm::Instruction { phantom, ..completion(&at, executed) };
        if at.transfers() > 0 {
            // A data instruction waits for the one before.
            cycle.transfers.append(&mut self.rest);
            let mut transfers = self.transfers(&at);
            let goes_on = !matches!(at.kind, Kind::PopPc) && self.entropy.chance(128);
            let now = if goes_on { 1 } else { transfers.len() };
            self.rest = transfers.split_off(now);
            cycle.transfers.append(&mut transfers);
        } else {
            let some = self.entropy.below(3);
            cycle.transfers.extend(self.go_on(some));
        }
        let next = self.next(&at, executed);
        if let Some((target, direct)) = next {
            instruction.branch = Some(BranchTarget {
                address: Address32(target.address),
                isa: target.isa,
                direct,
                exception: None,
            });
        }
        if self.happenings.vectors.is_none() && self.entropy.chance(self.happenings.exceptions) {
            let target = self.anywhere(self.program.home);
            let number = if self.happenings.m_profile {
                // Numbers above 15 need information byte 1.
                cycle.transfers.append(&mut self.rest);
                self.stacking = true;
                self.entropy.pick(&[15, 2, 19, 24, 300])
            } else {
                self.entropy.pick(&[14, 15, 12, 10, 1])
            };
            instruction.branch = Some(exception(&target, number, self.entropy.chance(64)));
            self.at = target;
        } else {
            instruction.exception_return =
                matches!(at.kind, Kind::Indirect | Kind::PopPc) && self.entropy.chance(32);
            self.at = next.map_or_else(|| self.following(&at), |(target, _)| target);
        }
        cycle.instruction = Some(instruction);
    }

    /// ETMv2: an exception is taken in place of the instruction. Only data of its own are in the cycle, all of them.
    fn interrupt(&mut self, cycle: &mut Stimulus, phantom: Option<Phantom>) {
        let at = self.at;
        let has_data = at.transfers() > 0 && self.rest.is_empty() && self.entropy.chance(160);
        let (number, vector) = if has_data {
            cycle.transfers = self.transfers(&at);
            self.entropy.pick(&[DATA_ABORT, DATA_ABORT, IMPRECISE_DATA_ABORT, IRQ])
        } else {
            self.entropy.pick(&[IRQ, FIQ, SVC, PREFETCH_ABORT, UNDEFINED, IMPRECISE_DATA_ABORT, DATA_ABORT])
        };
        let target = self.program.vectors[self.table][vector];
        let branch = Some(exception(&target, number, false));
        cycle.instruction = Some(etm::Instruction { phantom, branch, ..completion(&at, true) });
        self.at = target;
    }

    /// A folded branch before the instruction that completes.
    fn fold(&mut self) -> Option<Phantom> {
        let branch = self.at;
        let Kind::Branch { conditional, link: false, .. } = branch.kind else { return None };
        if !self.entropy.chance(self.happenings.folds) {
            return None;
        }
        let taken = !conditional || self.entropy.chance(128);
        self.at = if taken { self.place(self.program.target(&branch)) } else { self.following(&branch) };
        Some(Phantom { address: Address32(branch.address), taken })
    }

    /// The target of an instruction's branch, and whether it is in the code.
    fn next(&mut self, at: &Instruction, executed: bool) -> Option<(Instruction, bool)> {
        match at.kind {
            _ if !executed => None,
            Kind::Branch { .. } | Kind::Exchange => Some((self.place(self.program.target(at)), true)),
            Kind::Indirect if self.happenings.vectors.is_some() && self.entropy.chance(24) => {
                Some((self.beside_exceptions(), false))
            }
            Kind::Indirect | Kind::LoadPc | Kind::PopPc => {
                let isa = self.entropy.pick(&[self.program.home, Isa::Thumb]);
                Some((self.anywhere(isa), false))
            }
            _ => None,
        }
    }

    /// A place in a table at which a branch is no exception, or looks like one.
    fn beside_exceptions(&mut self) -> Instruction {
        let place = self.entropy.below(self.program.vectors[0].len());
        match self.happenings.vectors {
            Some(VectorBase::Unknown) => self.program.vectors[self.entropy.below(2)][place],
            _ if self.entropy.chance(64) => self.program.vectors[self.table][RESERVED],
            _ => self.program.vectors[1 - self.table][place],
        }
    }

    fn anywhere(&mut self, isa: Isa) -> Instruction {
        let section = self.program.section(isa);
        section[self.entropy.below(section.len())]
    }

    fn place(&self, (address, isa): (u32, Isa)) -> Instruction {
        self.program.at(address, isa).unwrap_or_else(|| self.program.section(isa)[0])
    }

    fn following(&self, at: &Instruction) -> Instruction {
        self.place((at.address + at.size(), at.isa))
    }

    fn transfers(&mut self, at: &Instruction) -> Vec<Transfer> {
        // Near or far.
        self.data = match self.entropy.below(4) {
            0 => self.entropy.word() as u32 & !3,
            1 => self.data ^ 0x1000,
            _ => self.data.wrapping_add(8),
        };
        let count = at.transfers();
        let big_endian = self.happenings.big_endian && self.entropy.chance(32);
        (0..count).map(|index| self.transfer(at, index, count, big_endian)).collect()
    }

    fn transfer(&mut self, at: &Instruction, index: usize, count: usize, big_endian: bool) -> Transfer {
        let step = if at.kind == Kind::Swap && at.isa == Isa::Arm { 0 } else { 4 };
        let stores = match at.kind {
            Kind::Store | Kind::StoreDouble | Kind::StoreMultiple | Kind::StoreExclusive => true,
            // The second half of a swap; PUSH in Thumb.
            Kind::Swap => index == 1 || at.isa == Isa::Thumb,
            _ => false,
        };
        // A load into PC blocks until it has its data.
        let may_miss = !stores
            && !matches!(at.kind, Kind::LoadPc | Kind::PopPc)
            && self.in_flight < self.happenings.outstanding;
        let access = if stores {
            Access::Store
        } else if may_miss && self.entropy.chance(self.happenings.misses) {
            self.next_miss += 1;
            self.in_flight += 1;
            Access::Miss(self.next_miss)
        } else {
            Access::Hit
        };
        let wide = matches!(at.kind, Kind::LoadDouble | Kind::StoreDouble);
        let failed = at.kind == Kind::StoreExclusive && self.entropy.chance(128);
        let value = if failed { 0 } else { self.value() };
        Transfer {
            size: 4,
            address: Address32(self.data.wrapping_add(step * index as u32)),
            access,
            value: if wide { value } else { value & 0xffff_ffff },
            wide,
            position: match index {
                _ if count == 1 => Position::Only,
                0 => Position::First,
                _ if index + 1 == count => Position::Last,
                _ => Position::Middle,
            },
            big_endian,
            failed,
        }
    }

    /// An exception (ETMv2: a branch) leads to the quiet section; the FIFO drains; a few instructions show that all is
    /// well; tracing ends.
    fn end(&mut self) {
        self.levels.debug = false;
        let mut instruction = completion(&self.at, true);
        let target = self.program.quiet[0];
        instruction.branch = Some(match self.happenings.vectors {
            Some(_) => BranchTarget { exception: None, ..exception(&target, 0, false) },
            None => exception(&target, IRQ.0, true),
        });
        let transfers = core::mem::take(&mut self.rest);
        self.push(Stimulus { instruction: Some(instruction), transfers, ..Stimulus::default() });
        self.levels.trace_enable = false;
        for _ in 0..DRAINING {
            self.push(Stimulus::default());
        }
        self.levels.trace_enable = true;
        for at in &self.program.quiet {
            let instruction = Some(completion(at, true));
            self.push(Stimulus { instruction, ..Stimulus::default() });
        }
        // The end of tracing lets pending atoms out.
        self.levels.trace_enable = false;
        self.push(Stimulus::default());
    }
}

const fn completion(at: &Instruction, executed: bool) -> etm::Instruction {
    etm::Instruction {
        address: Address32(at.address),
        isa: at.isa,
        executed,
        phantom: None,
        branch: None,
        exception_return: false,
        thumb32: at.is_thumb32(),
    }
}

const fn exception(target: &Instruction, number: u16, cancel: bool) -> BranchTarget {
    let exception = Exception { number, cancel, resume: None };
    BranchTarget {
        address: Address32(target.address),
        isa: target.isa,
        direct: false,
        exception: Some(exception),
    }
}

/// Whether a branch packet of this cycle can carry a new state.
fn tells_state(cycle: &Stimulus) -> bool {
    let branch = cycle.instruction.and_then(|instruction| instruction.branch);
    branch.is_some_and(|branch| !branch.direct)
}
