//! The assembler of the ARM families: A32, T32, T32EE and A64 in unified syntax.
//!
//! ```text
//! .org 0x8000
//! .arm                      # A32 from here on; .thumb, .thumbee, .a64
//! A:  subs r0, r0, #1       # `#` before a digit is an immediate, otherwise a comment begins
//!     bne A
//!     ldr pc, [r1]
//! .thumb
//! B:  it eq                 # what follows has its condition
//!     bxeq lr
//!     ldr.w r0, [r1, #4]    # `.w` where there is a shorter instruction of that name
//!     .inst.n 0xbf00        # by its opcode; .inst.w in T32, .inst in A32 and A64
//! ```
//!
//! Aliases that stand for other mnemonics are few, so that every line has one encoding.

mod a32;
mod a64;
mod operand;
pub(super) mod stream;
mod t16;
mod t32;
mod thumb;

#[cfg(test)]
mod tests;

use operand::{Line, Parsed, Refusal};

use super::assembly::{Mnemonics, Operands};
use crate::arm::InstructionSet;

/// What the assembler of an ARM family starts with.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arm {
    /// The instruction set before the first directive.
    pub(super) first: InstructionSet,
    /// The greatest address.
    pub(super) address_mask: u64,
}

impl Arm {
    /// Code of a processor with 32-bit addresses: A32 first.
    pub(super) const AARCH32: Self = Self { first: InstructionSet::A32, address_mask: u32::MAX as u64 };
}

/// What directives and IT instructions set for the lines after them.
#[derive(Clone, Debug, Default)]
pub(super) struct State {
    /// `None` before the first directive.
    set: Option<InstructionSet>,
    block: thumb::Block,
}

/// A mnemonic: the rows of its name that differ in their operands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Instruction {
    size: u8,
    kind: Kind,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    /// Rows from there on, all of one name.
    A32(&'static a32::Row, a32::Suffix),
    Thumb(&'static thumb::Row, thumb::Suffix, Group),
    /// IT has no operand to encode later.
    IfThen(u32),
    A64(&'static a64::Row, u32),
    /// Its one operand is the opcode; of T32 with 32 bits, the first half-word is the upper one.
    Opcode(InstructionSet),
}

/// The tables of T32.
#[derive(Clone, Copy, Debug)]
enum Group {
    Narrow,
    Handler,
    Wide,
}

impl Group {
    const fn rows(self) -> &'static [thumb::Row] {
        match self {
            Self::Narrow => t16::ROWS,
            Self::Handler => t16::HANDLER_ROWS,
            Self::Wide => t32::ROWS,
        }
    }
}

impl Mnemonics for Arm {
    type Instruction = Instruction;
    type State = State;

    fn comment(&self, line: &str) -> usize {
        let starts = |at: &usize| {
            !line.get(at + 1..).is_some_and(|rest| rest.starts_with(|c: char| c == '-' || c.is_ascii_digit()))
        };
        line.match_indices('#').map(|(at, _)| at).find(starts).unwrap_or(line.len())
    }

    fn directive(&self, word: &str, state: &mut State) -> Option<Result<(), String>> {
        let set = match word {
            ".arm" => InstructionSet::A32,
            ".thumb" => InstructionSet::T32,
            ".thumbee" => InstructionSet::T32Ee,
            ".a64" => InstructionSet::A64,
            _ => return None,
        };
        let closed = state.block.is_empty();
        state.set = Some(set);
        Some(if closed { Ok(()) } else { Err(format!("`{word}` in an IT block")) })
    }

    fn find(&self, mnemonic: &str, operands: &[&str], state: &mut State) -> Result<Instruction, String> {
        let unknown = || format!("unknown mnemonic `{mnemonic}`");
        let set = state.set.unwrap_or(self.first);
        if mnemonic.starts_with('.') {
            state.block.next();
            return opcode(mnemonic, set).ok_or_else(|| format!("`{mnemonic}` is no directive of {set}"));
        }
        match set {
            InstructionSet::A32 => find_a32(mnemonic).ok_or_else(unknown),
            InstructionSet::A64 => find_a64(mnemonic).ok_or_else(unknown),
            InstructionSet::Jazelle => Err("there is no assembler of Java bytecodes".to_owned()),
            set => find_thumb(mnemonic, operands, set, &mut state.block),
        }
    }

    fn size(&self, instruction: Instruction) -> u8 {
        instruction.size
    }

    fn encode(&self, instruction: Instruction, operands: &Operands<'_>) -> Result<u128, String> {
        let line = Line::new(operands);
        match instruction.kind {
            Kind::IfThen(bits) => Ok(bits.into()),
            Kind::Opcode(set) => {
                let [text] = operands.list() else { return Err("one opcode".to_owned()) };
                let bits = u32::from(instruction.size) * 8;
                let value = operands.value(text)?;
                let opcode = u32::try_from(value).ok().filter(|opcode| u64::from(*opcode) >> bits == 0);
                let opcode = opcode.ok_or_else(|| format!("{value} does not fit into {bits} bits"))?;
                let halves_swap = set.is_thumb() && instruction.size == 4;
                Ok(if halves_swap { opcode.rotate_left(16) } else { opcode }.into())
            }
            Kind::A32(row, suffix) => {
                let same = a32::ROWS.iter().filter(|other| other.name == row.name);
                first_form(row.name, same.map(|row| row.encode(suffix, &line)))
            }
            Kind::A64(row, condition) => {
                let same = a64::ROWS.iter().filter(|other| other.name == row.name);
                first_form(row.name, same.map(|row| row.encode(condition, &line)))
            }
            Kind::Thumb(row, suffix, group) => encode_thumb(row, suffix, group, &line),
        }
    }

    fn alignment(&self, instruction: Instruction) -> u64 {
        match instruction.kind {
            Kind::A32(..) | Kind::A64(..) => 4,
            Kind::Opcode(set) => 1 << set.alignment_bits(),
            Kind::Thumb(..) | Kind::IfThen(_) => 2,
        }
    }

    fn address_mask(&self) -> u64 {
        self.address_mask
    }
}

/// An instruction by its opcode.
fn opcode(directive: &str, set: InstructionSet) -> Option<Instruction> {
    let size = match (directive, set.is_thumb()) {
        (".inst.n", true) => 2,
        (".inst.w", true) => 4,
        (".inst", false) if set != InstructionSet::Jazelle => 4,
        _ => return None,
    };
    Some(Instruction { size, kind: Kind::Opcode(set) })
}

fn find_a32(mnemonic: &str) -> Option<Instruction> {
    let kind = a32::ROWS.iter().find_map(|row| Some(Kind::A32(row, row.matches(mnemonic)?)))?;
    Some(Instruction { size: 4, kind })
}

fn find_a64(mnemonic: &str) -> Option<Instruction> {
    let kind = a64::ROWS.iter().find_map(|row| Some(Kind::A64(row, row.matches(mnemonic)?)))?;
    Some(Instruction { size: 4, kind })
}

fn find_thumb(
    mnemonic: &str,
    operands: &[&str],
    set: InstructionSet,
    block: &mut thumb::Block,
) -> Result<Instruction, String> {
    if let ([first], true) = (operands, block.is_empty())
        && let Some((begun, bits)) = thumb::Block::begin(mnemonic, first)
    {
        *block = begun;
        return Ok(Instruction { size: 2, kind: Kind::IfThen(bits) });
    }
    let condition = block.next();
    let (name, has_w) = mnemonic.strip_suffix(".w").map_or((mnemonic, false), |name| (name, true));
    let handlers = if set == InstructionSet::T32Ee { Some(Group::Handler) } else { None };
    let groups: &[Group] =
        if has_w || is_only_wide(name, operands) { &[Group::Wide] } else { &[Group::Narrow, Group::Wide] };
    for group in handlers.iter().chain(groups) {
        for row in group.rows().iter().filter(|row| row.needs_w == has_w) {
            if let Some(suffix) = row.matches(name, condition) {
                let size = if matches!(group, Group::Wide) { 4 } else { 2 };
                return Ok(Instruction { size, kind: Kind::Thumb(row, suffix, *group) });
            }
        }
    }
    Err(match condition {
        Some(number) => format!(
            "`{mnemonic}` is no mnemonic with the condition `{}` of the IT block",
            operand::CONDITIONS.get(number as usize).unwrap_or(&"al")
        ),
        None => format!("unknown mnemonic `{mnemonic}`"),
    })
}

/// Two names stand for instructions of both sizes, without `.w`: the return `subs pc, lr, #n`, and `blx` to a place.
fn is_only_wide(name: &str, operands: &[&str]) -> bool {
    match operands.first() {
        Some(&first) => {
            name.starts_with("subs") && first == "pc"
                || name.starts_with("blx") && !name.starts_with("blxns") && operand::register(first).is_err()
        }
        None => false,
    }
}

/// The rows of one name may take different suffixes; those that take this one are tried.
fn encode_thumb(
    row: &thumb::Row,
    suffix: thumb::Suffix,
    group: Group,
    line: &Line<'_>,
) -> Result<u128, String> {
    let same = group
        .rows()
        .iter()
        .filter(|other| other.name == row.name && other.needs_w == row.needs_w && other.takes(suffix));
    let encoded = first_form(row.name, same.map(|row| row.encode(suffix, line)))?;
    // The first half-word comes first in memory.
    let wide = matches!(group, Group::Wide);
    Ok(if wide { encoded >> 16 | (encoded & 0xffff) << 16 } else { encoded })
}

/// The first form of operands that fits; a value that does not fit is reported only if no other form does.
fn first_form(name: &str, forms: impl Iterator<Item = Parsed<u32>>) -> Result<u128, String> {
    let mut message = format!("`{name}` does not have these operands");
    for form in forms {
        match form {
            Ok(bits) => return Ok(bits.into()),
            Err(Refusal::Value(value)) => message = value,
            Err(Refusal::Form) => {}
        }
    }
    Err(message)
}
