//! An invented program, and an execution of it that never ends; always the same.

use traceproof_vectors::{Address32, Program, Section};

/// Address of the first instruction.
const BASE: u32 = 0x8000;

/// An ARM instruction; places are indices of instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    /// NOP.
    Straight,
    /// MOVEQ: half of them fail.
    Conditional,
    /// BNE back: taken seven times of eight.
    Loop(usize),
    /// BEQ ahead: taken every other time.
    Skip(usize),
    /// BL.
    Call(usize),
    /// BX LR.
    Return,
    /// B.
    Jump(usize),
}

impl Operation {
    fn word(self, at: usize) -> u32 {
        // A branch counts words from two instructions after itself (ARM ARM A8.8.18).
        let branch = |head: u32, target: usize| {
            let words = (target as u32).wrapping_sub(at as u32 + 2);
            head << 24 | words & 0xff_ffff
        };
        match self {
            Self::Straight => 0xe320_f000,
            Self::Conditional => 0x03a0_0000,
            Self::Loop(target) => branch(0x1a, target),
            Self::Skip(target) => branch(0x0a, target),
            Self::Call(target) => branch(0xeb, target),
            Self::Return => 0xe12f_ff1e,
            Self::Jump(target) => branch(0xea, target),
        }
    }
}

const fn address(at: usize) -> u32 {
    BASE + 4 * at as u32
}

/// The program.
pub(crate) struct Code(Vec<Operation>);

/// Functions that the main loop calls.
const FUNCTIONS: usize = 64;

impl Code {
    /// A main loop that calls each function; each function has straight code, a loop with conditional instructions, a
    /// branch around some instructions, and a return.
    pub(crate) fn invented() -> Self {
        let mut random = Random(0x1234_5678);
        let mut functions = Vec::new();
        let mut starts = Vec::new();
        let first = 2 * FUNCTIONS + 1;
        for _ in 0..FUNCTIONS {
            let here = |functions: &Vec<Operation>| first + functions.len();
            starts.push(here(&functions));
            functions.extend((0..random.below(8)).map(|_| Operation::Straight));
            let start = here(&functions);
            functions.extend((0..1 + random.below(6)).map(|_| Operation::Straight));
            functions.push(Operation::Conditional);
            functions.push(Operation::Loop(start));
            let skipped = 1 + random.below(4) as usize;
            functions.push(Operation::Skip(here(&functions) + 1 + skipped));
            functions.extend((0..skipped).map(|_| Operation::Straight));
            functions.push(Operation::Return);
        }
        let mut code: Vec<Operation> =
            starts.into_iter().flat_map(|start| [Operation::Straight, Operation::Call(start)]).collect();
        code.push(Operation::Jump(0));
        code.extend(functions);
        Self(code)
    }

    pub(crate) fn program(&self) -> Program {
        let bytes =
            self.0.iter().enumerate().flat_map(|(at, operation)| operation.word(at).to_le_bytes()).collect();
        let mut program = Program::new();
        // The only section.
        let inserted = program.insert(Section::new(Address32(BASE), bytes, "invented"));
        debug_assert!(inserted.is_ok());
        program
    }
}

/// An instruction that completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Completed {
    pub(crate) address: Address32,
    pub(crate) operation: Operation,
    /// Its condition passed.
    pub(crate) executed: bool,
    /// Where it branched to.
    pub(crate) target: Option<Address32>,
}

/// An execution of the code.
pub(crate) struct Execution<'a> {
    code: &'a Code,
    random: Random,
    at: usize,
    returns_to: usize,
    /// Cycles to wait before the next instruction.
    stall: u64,
}

impl<'a> Execution<'a> {
    pub(crate) const fn new(code: &'a Code) -> Self {
        Self { code, random: Random(0x9e37_79b9), at: 0, returns_to: 0, stall: 0 }
    }

    /// Where the next instruction is.
    pub(crate) const fn next_address(&self) -> Address32 {
        Address32(address(self.at))
    }

    /// The instruction that completes in the next cycle, if one does.
    pub(crate) fn cycle(&mut self) -> Option<Completed> {
        if self.stall > 0 {
            self.stall -= 1;
            return None;
        }
        // Every eighth instruction waits for something.
        if self.random.below(8) == 0 {
            self.stall = self.random.below(16);
        }
        let at = self.at;
        let operation = self.code.0.get(at).copied().unwrap_or(Operation::Jump(0));
        let (executed, target) = match operation {
            Operation::Straight => (true, None),
            Operation::Conditional => (self.random.below(2) == 0, None),
            Operation::Loop(target) => (self.random.below(8) != 0, Some(target)),
            Operation::Skip(target) => (self.random.below(2) == 0, Some(target)),
            Operation::Call(target) => {
                self.returns_to = at + 1;
                (true, Some(target))
            }
            Operation::Return => (true, Some(self.returns_to)),
            Operation::Jump(target) => (true, Some(target)),
        };
        let target = target.filter(|_| executed);
        self.at = target.unwrap_or(at + 1);
        let target = target.map(|target| Address32(address(target)));
        Some(Completed { address: Address32(address(at)), operation, executed, target })
    }
}

/// Xorshift (Marsaglia 2003).
struct Random(u64);

impl Random {
    const fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 32) % bound
    }
}
