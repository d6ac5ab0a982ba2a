//! From an execution to the ingress port: the signals of a hart for its encoder (ET 4).

mod fast_path;

use alloc::vec::Vec;
use core::fmt;

use traceproof_vectors::riscv_etrace::{
    Block, Cycle, Encapsulation, Filter, Itype, Parameters, Retire, Step, Stimulus, Trap, Version,
};
use traceproof_vectors::{Address, Program};

use super::code_map::CodeMap;
use super::instruction::{Class, Instruction, Isa};
use fast_path::Alone;

/// How many instructions retire together. No packet depends on it (RVET-ENC-044), except where the
/// resynchronisation timer may act only between blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retirement {
    /// One instruction per cycle.
    Single,
    /// One block per cycle. A block never has more than `retires_p` instructions.
    Blocks {
        /// Most half-words of a block.
        max_halfwords: u32,
    },
    /// Several blocks per cycle.
    Groups {
        /// Most blocks of a cycle.
        groups: u32,
        /// Most half-words of a block.
        max_halfwords: u32,
    },
}

/// How a trap stands at the ingress port. No packet depends on it (RVET-ENC-045).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TrapPlacement {
    /// With the instruction that retired last (itype 1 or 2, `iretire` > 0), where the port can express it.
    #[default]
    Merged,
    /// Without retirement (`iretire` = 0).
    Alone,
}

/// Why an execution cannot be shown at the ingress port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum HartError {
    /// An instruction retired where the program has none, or one longer than 32 bits.
    NoCode {
        /// Index of the step, counted from 0 in each execution.
        step: u64,
        /// Where it should be.
        address: u64,
    },
}

impl fmt::Display for HartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoCode { step, address } => {
                write!(f, "step {step} retires an instruction at {address:#x}, where no code is")
            }
        }
    }
}

impl core::error::Error for HartError {}

/// Shows executions of a program at the ingress port.
#[derive(Clone, Debug)]
pub struct Hart {
    code: CodeMap,
    port: Port,
    /// No block holds instructions on both sides of one of these addresses.
    borders: Vec<u64>,
    /// The cycle being put together; reused, so that nothing is allocated per step.
    cycle: Cycle,
    open: Option<OpenBlock>,
    /// Stimuli after a branch whose outcome is not known yet.
    waiting: Vec<Stimulus>,
    /// Register that the instruction before wrote as upper immediate, 0 = none.
    upper: u8,
    /// What accesses of a multi-access instruction before the last one say about its retirement.
    begun: Option<Retire>,
    /// Steps of the execution so far.
    steps: u64,
    /// Absent: every instruction is put together with what surrounds it.
    alone: Option<Alone>,
}

/// The shape of the ingress port.
#[derive(Clone, Copy, Debug)]
struct Port {
    groups: usize,
    max_halfwords: u32,
    max_instructions: u32,
    /// `iretire` counts half-words.
    halfwords: bool,
    itype_width: u8,
    sijump: bool,
    context: bool,
    time: bool,
    traps: TrapPlacement,
    /// A multi-access instruction retires with its last access only.
    retires_once: bool,
}

/// The block to which instructions are being added.
#[derive(Clone, Copy, Debug)]
struct OpenBlock {
    first: u64,
    /// Address after the last instruction.
    end: u64,
    halfwords: u32,
    instructions: u32,
    last_halfwords: u8,
    itype: Itype,
    sijump: bool,
    notify: bool,
    /// No instruction can be added.
    complete: bool,
    /// It ends with a branch whose outcome follows from the next step.
    undecided: bool,
}

impl Hart {
    /// A hart that runs `program` after an ingress port of the given shape.
    ///
    /// With `retires_p` = 1 the port counts instructions, so every block is one instruction, whatever
    /// `retirement` says.
    #[must_use]
    pub fn new(program: &Program, parameters: &Parameters, retirement: Retirement) -> Self {
        let block_retirement = parameters.retires_p > 1;
        let (groups, max_halfwords) = match retirement {
            Retirement::Single => (1, 0),
            Retirement::Blocks { max_halfwords } => (1, max_halfwords),
            Retirement::Groups { groups, max_halfwords } => (groups.max(1), max_halfwords),
        };
        let single = matches!(retirement, Retirement::Single) || !block_retirement;
        Self {
            code: CodeMap::new(program, Isa::new(parameters)),
            port: Port {
                groups: groups as usize,
                max_halfwords,
                max_instructions: if single { 1 } else { parameters.retires_p.into() },
                halfwords: block_retirement,
                itype_width: parameters.itype_width_p,
                sijump: parameters.sijump_p,
                context: !parameters.nocontext_p,
                time: !parameters.notime_p || has_timestamps(&parameters.encapsulation),
                traps: TrapPlacement::default(),
                // Reading multi-access-instruction-retires-once.
                retires_once: parameters.version == Version::V2_0_5,
            },
            borders: Vec::new(),
            cycle: Cycle::default(),
            open: None,
            waiting: Vec::new(),
            upper: 0,
            begun: None,
            steps: 0,
            alone: Some(Alone::default()),
        }
    }

    /// The same hart without the code that only saves time. Its stimuli are the same.
    #[must_use]
    pub fn without_fast_path(self) -> Self {
        Self { alone: None, ..self }
    }

    /// The same hart with its traps placed otherwise.
    #[must_use]
    pub const fn with_traps(mut self, placement: TrapPlacement) -> Self {
        self.port.traps = placement;
        self
    }

    /// The same hart with blocks that end where an address range of a filter begins or ends. Filters look at `iaddr`
    /// and let a block pass whole or not at all (ET 5), so without this what is traced depends on how instructions
    /// retire together.
    #[must_use]
    pub fn with_filters(mut self, filters: &[Filter]) -> Self {
        let ranges = filters.iter().flat_map(|filter| &filter.addresses);
        self.borders = ranges.flat_map(|range| [range.first.0, range.last.0.wrapping_add(1)]).collect();
        self
    }

    /// Whether an address range begins or ends after the instruction at `last` and not after the one at `next`.
    fn crosses_border(&self, last: u64, next: u64) -> bool {
        self.borders.iter().any(|border| (last..next).contains(&border.wrapping_sub(1)))
    }

    /// Runs an execution and hands the stimuli to `sink`, in order.
    ///
    /// # Errors
    ///
    /// When the program has no code for a step. What came before has gone to the sink, except for the cycle
    /// being put together.
    pub fn run(
        &mut self,
        steps: impl IntoIterator<Item = Step>,
        sink: &mut dyn FnMut(&Stimulus),
    ) -> Result<(), HartError> {
        self.begin();
        for step in steps {
            self.step(&step, sink)?;
        }
        self.finish(sink);
        Ok(())
    }

    /// Begins an execution of which the steps come one by one. One that has begun is forgotten.
    pub fn begin(&mut self) {
        self.open = None;
        self.waiting.clear();
        self.upper = 0;
        self.begun = None;
        self.steps = 0;
        self.alone = self.alone.take().map(|_| Alone::default());
        self.cycle.blocks.clear();
    }

    /// Takes the next step; see [`run`](Self::run).
    ///
    /// # Errors
    ///
    /// When the program has no code for it.
    #[inline]
    pub fn step(&mut self, step: &Step, sink: &mut dyn FnMut(&Stimulus)) -> Result<(), HartError> {
        let index = self.steps;
        self.steps += 1;
        if let Step::Retire(retire) = step
            && self.retire_alone(retire, sink)
        {
            return Ok(());
        }
        self.settle_alone();
        self.step_any(index, step, sink)?;
        self.hold_alone();
        Ok(())
    }

    /// Takes the step with this index, of any kind.
    #[inline(never)]
    fn step_any(
        &mut self,
        index: u64,
        step: &Step,
        sink: &mut dyn FnMut(&Stimulus),
    ) -> Result<(), HartError> {
        if self.open.is_some_and(|open| open.undecided) && !self.decide(step, sink) {
            if let Step::Stimulus(stimulus) = step {
                self.waiting.push(stimulus.clone());
            }
            return Ok(());
        }
        match step {
            Step::Retire(retire) => {
                let Some(instruction) = self.code.at(retire.address.0) else {
                    return Err(HartError::NoCode { step: index, address: retire.address.0 });
                };
                if retire.partial && self.port.retires_once {
                    self.begin_accesses(retire);
                } else if let Some(begun) = self.begun.take() {
                    self.retire(&retire_after(*retire, begun), instruction, sink);
                } else {
                    self.retire(retire, instruction, sink);
                }
            }
            Step::Trap(trap) => self.trap(trap, sink),
            Step::Stimulus(stimulus) => {
                self.flush(sink);
                if matches!(stimulus, Stimulus::Cycle(cycle) if !cycle.blocks.is_empty()) {
                    self.upper = 0;
                }
                sink(stimulus);
            }
        }
        Ok(())
    }

    /// The execution ends here: what is still open goes to the sink.
    pub fn finish(&mut self, sink: &mut dyn FnMut(&Stimulus)) {
        self.settle_alone();
        self.settle(false, sink);
        self.flush(sink);
    }

    /// Finds the outcome of the branch that the open block ends with; `false` if `step` does not determine it.
    fn decide(&mut self, step: &Step, sink: &mut dyn FnMut(&Stimulus)) -> bool {
        let Some(open) = self.open else { return true };
        let taken = match step {
            Step::Retire(retire) => retire.address != Address(open.end),
            Step::Trap(trap) => !trap.interrupt && trap.epc != Address(open.end),
            // Trigger pulses, halt and reset may come before the next instruction.
            Step::Stimulus(Stimulus::Cycle(cycle)) => match cycle.blocks.first() {
                Some(block) if block.iretire > 0 || block.itype == Itype::Exception => {
                    block.iaddr != Address(open.end)
                }
                Some(_) => false,
                None => return false,
            },
            Step::Stimulus(_) => return false,
        };
        self.settle(taken, sink);
        true
    }

    /// The outcome of the open block's branch is known: what waited for it can go.
    fn settle(&mut self, taken: bool, sink: &mut dyn FnMut(&Stimulus)) {
        if let Some(open) = &mut self.open
            && open.undecided
        {
            open.itype = Class::Branch.itype(taken, self.port.itype_width);
            open.undecided = false;
        }
        if !self.waiting.is_empty() {
            self.flush(sink);
            for stimulus in self.waiting.drain(..) {
                sink(&stimulus);
            }
        }
    }

    /// An access of an instruction that retires later: nothing at the port, except that a trigger and a context change
    /// wait for the retirement.
    fn begin_accesses(&mut self, retire: &Retire) {
        self.begun = Some(self.begun.map_or(*retire, |begun| retire_after(*retire, begun)));
    }

    fn retire(&mut self, retire: &Retire, instruction: Instruction, sink: &mut dyn FnMut(&Stimulus)) {
        let Instruction { halfwords, class } = instruction;
        let sijump = self.port.sijump && self.port.is_sequentially_inferable(class, self.upper);
        self.upper = class.upper();
        let same_cycle = self.joins_cycle(retire);
        let joins = |open: OpenBlock| {
            let (last, next) = (open.end.wrapping_sub(2 * u64::from(open.last_halfwords)), retire.address.0);
            self.port.takes(&open, next, halfwords) && !self.crosses_border(last, next)
        };
        if !self.open.is_some_and(|open| same_cycle && joins(open)) {
            self.close();
            if !same_cycle || self.is_full() {
                self.emit(sink);
            }
            if self.cycle.blocks.is_empty() {
                self.begin_cycle(retire);
            }
        }
        let open = self.open.get_or_insert(OpenBlock::at(retire.address.0));
        open.end = (retire.address.wrapping_add(2 * u64::from(halfwords))).0;
        open.halfwords += u32::from(halfwords);
        open.instructions += 1;
        open.last_halfwords = halfwords;
        open.itype = class.itype(retire.taken.unwrap_or(false), self.port.itype_width);
        open.sijump = sijump;
        open.notify = retire.notify;
        open.undecided = class == Class::Branch && retire.taken.is_none();
        open.complete = class.ends_block() || retire.notify;
        if retire.partial {
            // Spec: RVET-ING-012 (ET 4.3).
            (open.itype, open.sijump) = (Itype::Nothing, false);
            (open.undecided, open.complete) = (false, true);
        }
    }

    /// Whether an instruction may share the cycle being put together. Spec: RVET-ING-008 (ET 4.2).
    fn joins_cycle(&self, retire: &Retire) -> bool {
        if self.open.is_none() && self.cycle.blocks.is_empty() {
            return true;
        }
        let Retire { privilege, context, time, .. } = *retire;
        retire.ctype == 0 && self.port.agrees(&self.cycle, privilege, context, time)
    }

    fn begin_cycle(&mut self, retire: &Retire) {
        let cycle = &mut self.cycle;
        cycle.cause = 0;
        cycle.tval = 0;
        cycle.privilege = retire.privilege;
        cycle.context = retire.context;
        cycle.time = retire.time;
        cycle.ctype = retire.ctype;
    }

    fn trap(&mut self, trap: &Trap, sink: &mut dyn FnMut(&Stimulus)) {
        self.upper = 0;
        // The instruction starts again after the trap.
        self.begun = None;
        let port = self.port;
        let agrees = port.agrees(&self.cycle, trap.privilege, trap.context, trap.time);
        let itype = if trap.interrupt { Itype::Interrupt } else { Itype::Exception };
        match &mut self.open {
            Some(open) if agrees && port.merges(open, trap) => {
                open.itype = itype;
                self.close();
            }
            _ => {
                let busy = self.open.is_some();
                self.close();
                if busy && (!agrees || self.is_full()) {
                    self.emit(sink);
                }
                if self.cycle.blocks.is_empty() {
                    self.begin_cycle(&Retire {
                        privilege: trap.privilege,
                        context: trap.context,
                        time: trap.time,
                        ..Retire::default()
                    });
                }
                let iaddr = if trap.interrupt { Address(0) } else { trap.epc };
                let block = Block { itype, iaddr, iretire: 0, ilastsize: 0, sijump: false, notify: false };
                self.cycle.blocks.push(block);
            }
        }
        // A trap is the newest thing in its cycle. Spec: RVET-ING-007 (ET 4.2).
        self.cycle.cause = trap.cause;
        self.cycle.tval = if trap.interrupt { 0 } else { trap.tval };
        self.emit(sink);
    }

    /// The open block becomes a signal group of the cycle.
    fn close(&mut self) {
        let Some(open) = self.open.take() else { return };
        self.cycle.blocks.push(self.port.block(&open));
    }

    fn is_full(&self) -> bool {
        self.cycle.blocks.len() >= self.port.groups
    }

    /// The cycle is over.
    fn emit(&mut self, sink: &mut dyn FnMut(&Stimulus)) {
        if self.cycle.blocks.is_empty() {
            return;
        }
        // The cycle travels by value into the stimulus and back, and keeps its memory.
        let stimulus = Stimulus::Cycle(core::mem::take(&mut self.cycle));
        sink(&stimulus);
        if let Stimulus::Cycle(cycle) = stimulus {
            self.cycle = cycle;
            self.cycle.blocks.clear();
        }
    }

    fn flush(&mut self, sink: &mut dyn FnMut(&Stimulus)) {
        self.close();
        self.emit(sink);
    }
}

/// A retirement with what the first accesses of the instruction, `begun`, ask for.
const fn retire_after(retire: Retire, begun: Retire) -> Retire {
    let ctype = if begun.ctype != 0 { begun.ctype } else { retire.ctype };
    Retire { ctype, notify: retire.notify || begun.notify, ..retire }
}

impl OpenBlock {
    const fn at(first: u64) -> Self {
        Self {
            first,
            end: first,
            halfwords: 0,
            instructions: 0,
            last_halfwords: 0,
            itype: Itype::Nothing,
            sijump: false,
            notify: false,
            complete: false,
            undecided: false,
        }
    }
}

/// Whether the transport after the encoder carries the time of packets.
const fn has_timestamps(encapsulation: &Encapsulation) -> bool {
    match encapsulation {
        Encapsulation::Normal(normal) => normal.timestamp_bytes > 0,
        Encapsulation::Siemens(siemens) => siemens.timestamp,
        _ => false,
    }
}

impl Port {
    /// The signals of a block.
    const fn block(&self, open: &OpenBlock) -> Block {
        Block {
            itype: open.itype,
            iaddr: Address(open.first),
            iretire: if self.halfwords { open.halfwords } else { open.instructions },
            ilastsize: open.last_halfwords.trailing_zeros() as u8,
            sijump: open.sijump,
            notify: open.notify,
        }
    }

    /// After an instruction that wrote `upper` as upper immediate. Spec: ET 4.1.1, RVET-ENC-052 (ET 4.2): with a 4-bit
    /// itype returns are never inferred this way.
    const fn is_sequentially_inferable(&self, class: Class, upper: u8) -> bool {
        let base = class.base();
        base != 0 && base == upper && (self.itype_width < 4 || !matches!(class, Class::Return { .. }))
    }

    /// One instruction in a cycle: each has a cycle of its own.
    const fn is_single(&self) -> bool {
        self.max_instructions == 1 && self.groups == 1
    }

    /// Whether an instruction continues the open block.
    const fn takes(&self, open: &OpenBlock, address: u64, halfwords: u8) -> bool {
        !open.complete
            && address == open.end
            && open.instructions < self.max_instructions
            && open.halfwords + halfwords as u32 <= self.max_halfwords
    }

    /// Whether the cycle-wide signals are those of the cycle. Signals that no packet carries do not count.
    const fn agrees(&self, cycle: &Cycle, privilege: u8, context: u64, time: u64) -> bool {
        cycle.privilege == privilege
            && (!self.context || cycle.context == context)
            && (!self.time || cycle.time == time)
    }

    /// Whether a block can carry that a trap followed it. The place of an exception is carried only by the end of its
    /// block.
    fn merges(&self, open: &OpenBlock, trap: &Trap) -> bool {
        self.traps == TrapPlacement::Merged
            && open.itype == Itype::Nothing
            && (trap.interrupt || trap.epc == Address(open.end))
    }
}
