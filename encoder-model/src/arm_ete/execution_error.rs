//! Why a program cannot execute like that.

use core::fmt;

use traceproof_vectors::Address;

/// Why a program cannot execute like that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExecutionError {
    /// Index of the step, counted from 0 in each execution.
    pub step: u64,
    /// Where the processor was.
    pub address: Address,
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
        next: Address,
    },
    /// No instruction executes: the processor was not started, or is in Debug state.
    NotRunning,
    /// No instruction can lie there.
    Misaligned,
    /// The instruction set does not belong to the execution state, or is none of A64, A32, T32.
    InstructionSet,
    /// An indirect branch is taken, and the step does not say where to.
    NoTarget,
    /// The step says where to, and the instruction leads to another place.
    WrongTarget {
        /// This one.
        target: Address,
    },
    /// The instruction is no P0 instruction that could be taken or not.
    NotP0,
    /// An instruction without condition is not taken in the end.
    Unconditional,
    /// The exception number is reserved.
    Number,
    /// Nothing is speculated with MAXSPEC = 0.
    NotSpeculative,
    /// So many steps are not unresolved.
    TooFew {
        /// But so many.
        unresolved: u32,
    },
    /// More steps are unresolved than any processor has.
    TooMany {
        /// Its most.
        most: u32,
    },
    /// Outcome and target are those that the step had.
    NothingToCorrect,
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
            ExecutionProblem::InstructionSet => {
                f.write_str("no such instruction set in this execution state")
            }
            ExecutionProblem::NoTarget => f.write_str("an indirect branch is taken without target"),
            ExecutionProblem::WrongTarget { target } => write!(f, "the instruction leads to {target}"),
            ExecutionProblem::NotP0 => f.write_str("only P0 instructions are taken or not"),
            ExecutionProblem::Unconditional => {
                f.write_str("the instruction has no condition, so it is taken")
            }
            ExecutionProblem::Number => f.write_str("no exception has this number"),
            ExecutionProblem::NotSpeculative => f.write_str("nothing is speculated with maxspec 0"),
            ExecutionProblem::TooFew { unresolved } => write!(f, "only {unresolved} steps are unresolved"),
            ExecutionProblem::TooMany { most } => write!(f, "more than {most} steps are unresolved"),
            ExecutionProblem::NothingToCorrect => f.write_str("outcome and target are the same as before"),
        }
    }
}

impl core::error::Error for ExecutionError {}
