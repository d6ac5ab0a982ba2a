//! Sweeps of ARM encodings: each is executed in a little program of its own, a conditional one both ways.
//!
//! Class, target and data of an encoding are those of the tables, which `tables.py` made from the text of LLVM. The
//! flow follows from them alone; each family makes its stimulus and the expected events from it.
//!
//! An instruction lies between a `nop` and a jump through a register, which leads to the next one; another such jump is
//! its target. So an instruction of a wrong class leads to another address, or takes the atom of the jump.

mod layout;
mod row;

use traceproof_vectors::Program;
use traceproof_vectors::arm::{CodeAddress, InstructionSet};

pub(crate) use self::row::{Call, Data, Kind, Row, Way};

/// What the executions of a sweep are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Every encoding.
    Plain,
    /// Every encoding; each instruction is traced, with its data.
    Instructions,
    /// Jumps and calls, each inside of a call, with a return stack.
    ReturnStack,
    /// DSB and DMB, which are waypoints.
    Barriers,
    /// WFE, WFI, WFET and WFIT, which are P0 instructions.
    Waits,
    /// TSTART.
    Transactions,
}

/// Instructions up to one that is no straight one, which ends them.
#[derive(Clone, Debug)]
pub(crate) struct Block {
    /// All of them; never empty.
    pub(crate) instructions: Vec<Instruction>,
    pub(crate) set: InstructionSet,
    /// Of the last one.
    pub(crate) kind: Kind,
    pub(crate) taken: bool,
    pub(crate) next: CodeAddress,
}

/// One of them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Instruction {
    pub(crate) address: u64,
    /// Bytes.
    pub(crate) size: u8,
    /// Its condition passed.
    pub(crate) executed: bool,
    /// What it transferred.
    pub(crate) data: Option<Data>,
}

impl Block {
    pub(crate) fn first(&self) -> CodeAddress {
        self.at(self.instructions.first())
    }

    pub(crate) fn last(&self) -> CodeAddress {
        self.at(self.instructions.last())
    }

    /// Bytes of the last one.
    pub(crate) fn size(&self) -> u8 {
        self.instructions.last().map_or(0, |last| last.size)
    }

    /// Address after the last one.
    pub(crate) fn end(&self) -> CodeAddress {
        self.last().plus(self.size().into())
    }

    /// The one before the last one.
    pub(crate) fn previous(&self) -> Option<u64> {
        self.instructions.iter().rev().nth(1).map(|before| before.address)
    }

    pub(crate) fn count(&self) -> usize {
        self.instructions.len()
    }

    fn at(&self, instruction: Option<&Instruction>) -> CodeAddress {
        CodeAddress::new(self.set, instruction.map_or(0, |found| found.address))
    }
}

/// Rows of one class, which make one case.
pub(crate) struct Batch {
    pub(crate) name: String,
    pub(crate) set: InstructionSet,
    pub(crate) mode: Mode,
    /// The word of the table for what they are.
    pub(crate) class: &'static str,
    /// What becomes of all of them.
    pub(crate) kind: Kind,
    rows: Vec<Row>,
}

/// The executions of a batch, one after the other.
pub(crate) struct Execution {
    pub(crate) program: Program,
    pub(crate) start: CodeAddress,
    pub(crate) blocks: Vec<Block>,
    /// How many encodings are executed.
    pub(crate) rows: usize,
}

impl Batch {
    /// Its executions; the error is a program that cannot be.
    pub(crate) fn execution(&self) -> Result<Execution, String> {
        layout::execution(self.set, self.mode, &self.rows)
    }
}

/// Most rows of a case.
const MOST_ROWS: usize = 128;

/// The batches of an instruction set, named `prefix/t32/direct-1`, of the rows that the family has.
pub(crate) fn batches(prefix: &str, set: InstructionSet, mode: Mode, has: fn(&Row) -> bool) -> Vec<Batch> {
    let mut classes: Vec<(&'static str, Kind, Vec<Row>)> = Vec::new();
    for row in row::table(set).filter(|row| has(row) && !row.is_unpredictable(set)) {
        let Some(kind) = row.kind(mode) else { continue };
        match classes.iter_mut().find(|(class, ..)| *class == row.class) {
            Some((.., rows)) => rows.push(row),
            None => classes.push((row.class, kind, vec![row])),
        }
    }
    let mut batches = Vec::new();
    for (class, kind, rows) in classes {
        for (number, rows) in rows.chunks(MOST_ROWS).enumerate() {
            let name = format!("{prefix}{}/{class}-{}", set.name(), number + 1);
            batches.push(Batch { name, set, mode, class, kind, rows: rows.to_vec() });
        }
    }
    batches
}
