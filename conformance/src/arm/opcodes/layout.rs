//! Where the instructions of a sweep lie, and how they are executed.
//!
//! With a return stack each lies in a subroutine: a call leads to the `nop` before it, its target returns. So an
//! instruction that is wrongly taken for a call, or not for one, changes what the returns are taken for.

use std::collections::BTreeMap;

use traceproof_vectors::arm::{CodeAddress, InstructionSet};
use traceproof_vectors::{Program, Section};

use super::{Block, Execution, Instruction, Kind, Mode, Row};

/// Address of the first instruction less [`BEFORE`], and the distance of candidates for the others.
const BASE: u64 = 0x4000_0000;
const STEP: u64 = 0x20;
/// Room before an instruction; it is aligned, so that the target of `blx` from T32 does not depend on its place.
const BEFORE: u64 = 12;
/// Where jumps go whose target is not in the opcode.
const ELSEWHERE: u64 = 0x2000_0000;
/// The handler of exceptions.
const HANDLER: u64 = 0x2000_0400;
/// `nop`s after an instruction that makes the next ones conditional.
const NOPS_AFTER_IT: usize = 4;

/// Instructions around those of a table.
struct Fillers {
    nop: &'static [u8],
    /// Through a register.
    jump: &'static [u8],
    /// A call, to the place after the jump that follows it.
    call: &'static [u8],
}

const fn fillers(set: InstructionSet) -> Fillers {
    match set {
        // nop; br x16; bl .+8
        InstructionSet::A64 => Fillers {
            nop: &[0x1f, 0x20, 0x03, 0xd5],
            jump: &[0x00, 0x02, 0x1f, 0xd6],
            call: &[0x02, 0x00, 0x00, 0x94],
        },
        // mov r0, r0; bx r12; bl .+8
        InstructionSet::A32 => Fillers {
            nop: &[0x00, 0x00, 0xa0, 0xe1],
            jump: &[0x1c, 0xff, 0x2f, 0xe1],
            call: &[0x00, 0x00, 0x00, 0xeb],
        },
        // mov r8, r8; bx r12; bl .+6
        _ => Fillers { nop: &[0xc0, 0x46], jump: &[0x60, 0x47], call: &[0x00, 0xf0, 0x01, 0xf8] },
    }
}

struct Layout {
    set: InstructionSet,
    mode: Mode,
    program: Program,
    /// Bytes that are in use, by their address.
    code: BTreeMap<u64, u8>,
    next: u64,
    blocks: Vec<Block>,
    failed: Option<String>,
}

pub(super) fn execution(set: InstructionSet, mode: Mode, rows: &[Row]) -> Result<Execution, String> {
    let mut layout = Layout {
        set,
        mode,
        program: Program::new(),
        code: BTreeMap::new(),
        next: BASE,
        blocks: Vec::new(),
        failed: None,
    };
    let executed = rows.iter().filter(|row| layout.run(row)).count();
    if let Some(message) = layout.failed {
        return Err(message);
    }
    let start = layout.blocks.first().ok_or("no row of it can be executed")?.first();
    // The last jump leads to the first instruction.
    layout.arrive(start);
    Ok(Execution { program: layout.program, start, blocks: layout.blocks, rows: executed })
}

impl Layout {
    /// Executes the instruction of a row; `false` if it cannot be.
    fn run(&mut self, row: &Row) -> bool {
        let Some(kind) = row.kind(self.mode) else { return false };
        let direct = matches!(kind, Kind::Direct { .. });
        let before = self.before().len() as i64;
        // A jump at the target must not lie in the place of the row.
        let own = -before - 3..i64::from(row.length) + self.after(row).len() as i64;
        let has_target = direct && !own.contains(&row.distance);
        if direct && !has_target && !row.conditional {
            return false;
        }
        let at = self.place(row, has_target);
        let to = match kind {
            Kind::Direct { .. } if has_target => Some(self.target(at, row)),
            Kind::Direct { .. } => None,
            Kind::Indirect { .. } | Kind::ExceptionReturn => Some(self.here(ELSEWHERE)),
            Kind::Call(_) => Some(self.here(HANDLER)),
            _ => Some(self.here(at + u64::from(row.length))),
        };
        let passes = matches!(kind, Kind::Straight | Kind::Call(_));
        // Of what leads straight on, only ETM traces the condition.
        if row.conditional && (kind != Kind::Straight || self.mode == Mode::Instructions) {
            let kind = if passes { Kind::Straight } else { kind };
            self.visit(at, row, kind, None);
        }
        if let Some(to) = to {
            self.jump(to);
            self.visit(at, row, kind, Some(to));
        }
        true
    }

    const fn here(&self, address: u64) -> CodeAddress {
        CodeAddress::new(self.set, address)
    }

    /// What precedes the instruction of a row.
    fn before(&self) -> Vec<u8> {
        let Fillers { nop, jump, call } = fillers(self.set);
        if self.mode == Mode::ReturnStack { [call, jump, nop].concat() } else { nop.to_vec() }
    }

    /// What follows the instruction of a row.
    fn after(&self, row: &Row) -> Vec<u8> {
        let Fillers { nop, jump, .. } = fillers(self.set);
        [nop.repeat(nops_after(row)).as_slice(), jump].concat()
    }

    fn target(&self, at: u64, row: &Row) -> CodeAddress {
        let set = match self.set {
            InstructionSet::A32 if row.class.ends_with("-exchange") => InstructionSet::T32,
            InstructionSet::T32 if row.class.ends_with("-exchange") => InstructionSet::A32,
            set => set,
        };
        let mask = if self.set == InstructionSet::A64 { u64::MAX } else { u64::from(u32::MAX) };
        let address = at.wrapping_add_signed(row.distance) & mask;
        // A32 code is aligned.
        CodeAddress::new(set, if set == InstructionSet::A32 { address & !3 } else { address })
    }

    /// Puts the row where it and the jump at its target have room; its address.
    fn place(&mut self, row: &Row, has_target: bool) -> u64 {
        let before = self.before();
        let bytes = [before.clone(), row.bytes(self.set), self.after(row)].concat();
        loop {
            let at = self.next + BEFORE;
            let start = at - before.len() as u64;
            self.next += STEP;
            let target = self.target(at, row);
            let jump = fillers(target.instruction_set).jump;
            let vacant = (start..).zip(&bytes).all(|(at, _)| !self.code.contains_key(&at));
            let same = |(at, byte)| self.code.get(&at).is_none_or(|found| found == byte);
            if vacant && (!has_target || (target.address..).zip(jump).all(same)) {
                self.insert(row.text, start, &bytes);
                return at;
            }
        }
    }

    /// A jump there, unless there is code already.
    fn jump(&mut self, at: CodeAddress) {
        if !self.code.contains_key(&at.address) {
            self.insert("target", at.address, fillers(at.instruction_set).jump);
        }
    }

    fn insert(&mut self, name: &str, at: u64, bytes: &[u8]) {
        self.code.extend((at..).zip(bytes.iter().copied()));
        if let Err(error) = self.program.insert(Section::new(at, bytes.to_vec(), name)) {
            self.failed.get_or_insert_with(|| format!("{name}: {error}"));
        }
    }

    /// From the `nop` through the instruction; `to` where it leads to, if its condition passes. Then to what is next.
    fn visit(&mut self, at: u64, row: &Row, kind: Kind, to: Option<CodeAddress>) {
        let Fillers { nop, jump, call } = fillers(self.set);
        let first = at - nop.len() as u64;
        let back = first - jump.len() as u64;
        let follows = at + u64::from(row.length);
        if self.mode == Mode::ReturnStack {
            let call = plain(back - call.len() as u64, call);
            self.arrive(self.here(call.address));
            self.block(vec![call], Kind::Direct { link: true }, true, self.here(first));
        } else {
            self.arrive(self.here(first));
        }
        let executed = to.is_some();
        let data = row.data.filter(|_| executed);
        let row_itself = Instruction { address: at, size: row.length, executed, data };
        let mut instructions = vec![plain(first, nop), row_itself];
        let mut lands = to.unwrap_or_else(|| self.here(follows));
        if kind == Kind::Straight {
            let step = nop.len() as u64;
            let nops = (0..nops_after(row) as u64).map(|index| follows + index * step);
            instructions.extend(nops.map(|address| plain(address, nop)));
            lands = self.here(follows + nops_after(row) as u64 * step);
        } else {
            self.block(instructions, kind, to.is_some(), lands);
            instructions = Vec::new();
        }
        if self.mode == Mode::ReturnStack {
            let is_call = matches!(kind, Kind::Direct { link: true } | Kind::Indirect { link: true });
            if is_call && to.is_some() {
                self.hop(instructions, lands, Some(self.here(follows)));
                (instructions, lands) = (Vec::new(), self.here(follows));
            }
            self.hop(instructions, lands, Some(self.here(back)));
            (instructions, lands) = (Vec::new(), self.here(back));
        }
        self.hop(instructions, lands, None);
    }

    /// Instructions up to a jump there, which leads to `next`, or to the next execution.
    fn hop(&mut self, mut instructions: Vec<Instruction>, at: CodeAddress, next: Option<CodeAddress>) {
        instructions.push(plain(at.address, fillers(at.instruction_set).jump));
        let kind = Kind::Indirect { link: false };
        let (set, next) = (at.instruction_set, next.unwrap_or(at));
        self.blocks.push(Block { instructions, set, kind, taken: true, next });
    }

    /// The latest jump leads there.
    fn arrive(&mut self, at: CodeAddress) {
        if let Some(jump) = self.blocks.last_mut() {
            jump.next = at;
        }
    }

    fn block(&mut self, instructions: Vec<Instruction>, kind: Kind, taken: bool, next: CodeAddress) {
        self.blocks.push(Block { instructions, set: self.set, kind, taken, next });
    }
}

/// An instruction that is no row.
const fn plain(address: u64, bytes: &[u8]) -> Instruction {
    Instruction { address, size: bytes.len() as u8, executed: true, data: None }
}

/// How many `nop`s follow it.
fn nops_after(row: &Row) -> usize {
    if row.class == "if-then" { NOPS_AFTER_IT } else { 0 }
}
