//! The RISC-V instructions that the assembler knows: all that changes the control flow, and some other instructions.

use crate::case::assembly::{Mnemonics, Operands};
use crate::notation::parse_u64;
use crate::riscv_etrace::{Parameters, Xlen};

/// RISC-V as a case's parameters describe it.
pub(super) struct Riscv {
    xlen: Xlen,
    zcmp_zcmt: bool,
    address_mask: u64,
}

impl Riscv {
    pub(super) const fn new(parameters: &Parameters) -> Self {
        Self {
            xlen: parameters.xlen,
            zcmp_zcmt: parameters.zcmp_zcmt,
            address_mask: parameters.address_mask(),
        }
    }
}

/// One mnemonic: its operands and the bits that do not depend on them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Instruction {
    name: &'static str,
    operands: Form,
    bits: u32,
    only: Option<Xlen>,
}

/// Which operands an instruction has, and where their bits go.
#[derive(Clone, Copy, Debug)]
enum Form {
    /// None.
    Nothing,
    /// `rd, imm20`
    Upper,
    /// `rd, rs1, imm12`
    Immediate,
    /// `rd, imm12`, with x0 as source.
    LoadImmediate,
    /// `rd, rs1`
    Move,
    /// `rd, rs1, rs2`
    Register,
    /// `rd, imm(rs1)`
    Load,
    /// `rs2, imm(rs1)`
    Store,
    /// `target`, or `rd, target`; rd is x1 where it is not written.
    JumpAndLink,
    /// `target`
    Jump,
    /// `rs1`, `rd, rs1`, `rd, rs1, imm` or `rd, imm(rs1)`; rd is x1 where it is not written.
    JumpRegisterAndLink,
    /// `rs1` or `imm(rs1)`
    JumpRegister,
    /// `rs1, rs2, target`
    Branch,
    /// `rs1, target`
    BranchZero,
    /// `rd, csr, rs1`
    Csr,
    /// `rd, csr`
    CsrRead,
    /// `csr, rs1`
    CsrWrite,
    /// `rd, imm6`, rd not x0, the immediate perhaps not 0.
    CompressedImmediate { zero: bool },
    /// `rd, imm`: the value of the register's bits 31 to 12, as in `lui`.
    CompressedUpper,
    /// `target`
    CompressedJump,
    /// `rs1`, not x0
    CompressedJumpRegister,
    /// `rs1, target`, rs1 one of x8 to x15
    CompressedBranch,
    /// `rd, rs2`, neither x0
    CompressedRegister,
    /// `{ra, s0-sN}, adjustment`; the adjustment is negative for `cm.push`.
    Stack { push: bool },
    /// `index` into the jump table
    TableJump { first: i128, last: i128 },
}

const fn row(name: &'static str, operands: Form, bits: u32) -> Instruction {
    Instruction { name, operands, bits, only: None }
}

const fn rv64(name: &'static str, operands: Form, bits: u32) -> Instruction {
    Instruction { name, operands, bits, only: Some(Xlen::Rv64) }
}

const INSTRUCTIONS: &[Instruction] = &[
    row("nop", Form::Nothing, 0x0000_0013),
    row("lui", Form::Upper, 0x0000_0037),
    row("auipc", Form::Upper, 0x0000_0017),
    row("li", Form::LoadImmediate, 0x0000_0013),
    row("mv", Form::Move, 0x0000_0013),
    row("addi", Form::Immediate, 0x0000_0013),
    row("xori", Form::Immediate, 0x0000_4013),
    row("ori", Form::Immediate, 0x0000_6013),
    row("andi", Form::Immediate, 0x0000_7013),
    rv64("addiw", Form::Immediate, 0x0000_001b),
    row("add", Form::Register, 0x0000_0033),
    row("sub", Form::Register, 0x4000_0033),
    row("xor", Form::Register, 0x0000_4033),
    row("or", Form::Register, 0x0000_6033),
    row("and", Form::Register, 0x0000_7033),
    rv64("addw", Form::Register, 0x0000_003b),
    row("lb", Form::Load, 0x0000_0003),
    row("lh", Form::Load, 0x0000_1003),
    row("lw", Form::Load, 0x0000_2003),
    rv64("ld", Form::Load, 0x0000_3003),
    row("lbu", Form::Load, 0x0000_4003),
    row("lhu", Form::Load, 0x0000_5003),
    rv64("lwu", Form::Load, 0x0000_6003),
    row("sb", Form::Store, 0x0000_0023),
    row("sh", Form::Store, 0x0000_1023),
    row("sw", Form::Store, 0x0000_2023),
    rv64("sd", Form::Store, 0x0000_3023),
    row("jal", Form::JumpAndLink, 0x0000_006f),
    row("j", Form::Jump, 0x0000_006f),
    row("jalr", Form::JumpRegisterAndLink, 0x0000_0067),
    row("jr", Form::JumpRegister, 0x0000_0067),
    row("ret", Form::Nothing, 0x0000_8067),
    row("beq", Form::Branch, 0x0000_0063),
    row("bne", Form::Branch, 0x0000_1063),
    row("blt", Form::Branch, 0x0000_4063),
    row("bge", Form::Branch, 0x0000_5063),
    row("bltu", Form::Branch, 0x0000_6063),
    row("bgeu", Form::Branch, 0x0000_7063),
    row("beqz", Form::BranchZero, 0x0000_0063),
    row("bnez", Form::BranchZero, 0x0000_1063),
    row("ecall", Form::Nothing, 0x0000_0073),
    row("ebreak", Form::Nothing, 0x0010_0073),
    row("uret", Form::Nothing, 0x0020_0073),
    row("sret", Form::Nothing, 0x1020_0073),
    row("mret", Form::Nothing, 0x3020_0073),
    row("dret", Form::Nothing, 0x7b20_0073),
    row("wfi", Form::Nothing, 0x1050_0073),
    row("fence", Form::Nothing, 0x0ff0_000f),
    row("fence.i", Form::Nothing, 0x0000_100f),
    row("csrrw", Form::Csr, 0x0000_1073),
    row("csrrs", Form::Csr, 0x0000_2073),
    row("csrrc", Form::Csr, 0x0000_3073),
    row("csrr", Form::CsrRead, 0x0000_2073),
    row("csrw", Form::CsrWrite, 0x0000_1073),
    row("c.nop", Form::Nothing, 0x0001),
    row("c.addi", Form::CompressedImmediate { zero: false }, 0x0001),
    Instruction { name: "c.jal", operands: Form::CompressedJump, bits: 0x2001, only: Some(Xlen::Rv32) },
    row("c.li", Form::CompressedImmediate { zero: true }, 0x4001),
    row("c.lui", Form::CompressedUpper, 0x6001),
    row("c.j", Form::CompressedJump, 0xa001),
    row("c.beqz", Form::CompressedBranch, 0xc001),
    row("c.bnez", Form::CompressedBranch, 0xe001),
    row("c.jr", Form::CompressedJumpRegister, 0x8002),
    row("c.mv", Form::CompressedRegister, 0x8002),
    row("c.ebreak", Form::Nothing, 0x9002),
    row("c.jalr", Form::CompressedJumpRegister, 0x9002),
    row("c.add", Form::CompressedRegister, 0x9002),
    row("cm.push", Form::Stack { push: true }, 0xb802),
    row("cm.pop", Form::Stack { push: false }, 0xba02),
    row("cm.popretz", Form::Stack { push: false }, 0xbc02),
    row("cm.popret", Form::Stack { push: false }, 0xbe02),
    row("cm.jt", Form::TableJump { first: 0, last: 31 }, 0xa002),
    row("cm.jalt", Form::TableJump { first: 32, last: 255 }, 0xa002),
];

const CSRS: &[(&str, u32)] = &[
    ("sstatus", 0x100),
    ("stvec", 0x105),
    ("sscratch", 0x140),
    ("sepc", 0x141),
    ("scause", 0x142),
    ("stval", 0x143),
    ("satp", 0x180),
    ("mstatus", 0x300),
    ("medeleg", 0x302),
    ("mideleg", 0x303),
    ("mie", 0x304),
    ("mtvec", 0x305),
    ("mscratch", 0x340),
    ("mepc", 0x341),
    ("mcause", 0x342),
    ("mtval", 0x343),
    ("mip", 0x344),
    ("dcsr", 0x7b0),
    ("dpc", 0x7b1),
    ("cycle", 0xc00),
    ("mhartid", 0xf14),
];

/// Names of the calling convention, by register number; x8 is `fp`, too.
const REGISTERS: [&str; 32] = [
    "zero", "ra", "sp", "gp", "tp", "t0", "t1", "t2", "s0", "s1", "a0", "a1", "a2", "a3", "a4", "a5", "a6",
    "a7", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6",
];

/// Where groups of bits of an immediate go: (first bit of the immediate, width, first bit of the instruction).
type Scatter = &'static [(u32, u32, u32)];

const S_IMMEDIATE: Scatter = &[(0, 5, 7), (5, 7, 25)];
const B_IMMEDIATE: Scatter = &[(1, 4, 8), (5, 6, 25), (11, 1, 7), (12, 1, 31)];
const J_IMMEDIATE: Scatter = &[(1, 10, 21), (11, 1, 20), (12, 8, 12), (20, 1, 31)];
const CI_IMMEDIATE: Scatter = &[(0, 5, 2), (5, 1, 12)];
const CB_IMMEDIATE: Scatter = &[(1, 2, 3), (3, 2, 10), (5, 1, 2), (6, 2, 5), (8, 1, 12)];
const CJ_IMMEDIATE: Scatter =
    &[(1, 3, 3), (4, 1, 11), (5, 1, 2), (6, 1, 7), (7, 1, 6), (8, 2, 9), (10, 1, 8), (11, 1, 12)];

fn scatter(value: u32, groups: Scatter) -> u32 {
    groups.iter().fold(0, |bits, (from, width, to)| bits | ((value >> from) & ((1 << width) - 1)) << to)
}

const fn rd(register: u32) -> u32 {
    register << 7
}

const fn rs1(register: u32) -> u32 {
    register << 15
}

const fn rs2(register: u32) -> u32 {
    register << 20
}

impl Mnemonics for Riscv {
    type Instruction = Instruction;
    type State = ();

    fn find(&self, mnemonic: &str, _: &[&str], (): &mut ()) -> Result<Instruction, String> {
        let found = INSTRUCTIONS
            .iter()
            .find(|instruction| instruction.name == mnemonic)
            .ok_or_else(|| format!("unknown mnemonic `{mnemonic}`"))?;
        // Without the extensions the same bits are floating-point stores, which no decoder would take for jumps.
        if mnemonic.starts_with("cm.") && !self.zcmp_zcmt {
            return Err(format!("`{mnemonic}` needs the parameter zcmp_zcmt"));
        }
        match found.only {
            Some(Xlen::Rv32) if self.xlen != Xlen::Rv32 => Err(format!("`{mnemonic}` exists on RV32 only")),
            Some(Xlen::Rv64) if self.xlen != Xlen::Rv64 => Err(format!("`{mnemonic}` exists on RV64 only")),
            _ => Ok(*found),
        }
    }

    fn size(&self, instruction: Instruction) -> u8 {
        if instruction.bits & 3 == 3 { 4 } else { 2 }
    }

    fn encode(&self, instruction: Instruction, operands: &Operands<'_>) -> Result<u128, String> {
        let wrong = || format!("`{}` is written `{}`", instruction.name, usage(instruction));
        let operands = Reader { operands, set: self };
        let encoded = if instruction.bits & 3 == 3 {
            operands.full_size(instruction.operands)
        } else {
            operands.compressed(instruction.operands)
        };
        encoded.map(|bits| (bits | instruction.bits).into()).map_err(|mistake| match mistake {
            Mistake::Shape => wrong(),
            Mistake::Value(message) => message,
        })
    }

    fn alignment(&self, _: Self::Instruction) -> u64 {
        2
    }

    fn address_mask(&self) -> u64 {
        self.address_mask
    }
}

/// How an instruction is written, for display.
fn usage(instruction: Instruction) -> String {
    let operands = match instruction.operands {
        Form::Nothing => "",
        Form::Upper => " rd, imm20",
        Form::Immediate => " rd, rs1, imm12",
        Form::LoadImmediate => " rd, imm12",
        Form::Move => " rd, rs1",
        Form::Register => " rd, rs1, rs2",
        Form::Load => " rd, imm(rs1)",
        Form::Store => " rs2, imm(rs1)",
        Form::JumpAndLink => " [rd,] target",
        Form::Jump | Form::CompressedJump => " target",
        Form::JumpRegisterAndLink => " [rd,] rs1 | rd, rs1, imm | rd, imm(rs1)",
        Form::JumpRegister => " rs1 | imm(rs1)",
        Form::Branch => " rs1, rs2, target",
        Form::BranchZero | Form::CompressedBranch => " rs1, target",
        Form::Csr => " rd, csr, rs1",
        Form::CsrRead => " rd, csr",
        Form::CsrWrite => " csr, rs1",
        Form::CompressedImmediate { .. } => " rd, imm6",
        Form::CompressedUpper => " rd, imm",
        Form::CompressedJumpRegister => " rs1",
        Form::CompressedRegister => " rd, rs2",
        Form::Stack { .. } => " {ra, s0-sN}, adjustment",
        Form::TableJump { .. } => " index",
    };
    format!("{}{operands}", instruction.name)
}

/// What is wrong with operands.
enum Mistake {
    /// Their number or kind.
    Shape,
    /// A value, in words.
    Value(String),
}

impl From<String> for Mistake {
    fn from(message: String) -> Self {
        Self::Value(message)
    }
}

/// Turns the operands of one instruction into bits.
struct Reader<'a> {
    operands: &'a Operands<'a>,
    set: &'a Riscv,
}

impl Reader<'_> {
    fn full_size(&self, form: Form) -> Result<u32, Mistake> {
        let bits = match (form, self.operands.list()) {
            (Form::Nothing, []) => 0,
            (Form::Upper, [d, imm]) => rd(register(d)?) | self.in_range(imm, 0, 0xf_ffff)? << 12,
            (Form::Immediate, [d, s, imm]) => rd(register(d)?) | rs1(register(s)?) | self.imm12(imm)? << 20,
            (Form::LoadImmediate, [d, imm]) => rd(register(d)?) | self.imm12(imm)? << 20,
            (Form::Move, [d, s]) => rd(register(d)?) | rs1(register(s)?),
            (Form::Register, [d, s, t]) => rd(register(d)?) | rs1(register(s)?) | rs2(register(t)?),
            (Form::Load, [d, memory]) => rd(register(d)?) | self.indirect(memory)?,
            (Form::Store, [t, memory]) => {
                let (offset, base) = split_memory(memory).ok_or(Mistake::Shape)?;
                rs2(register(t)?) | rs1(register(base)?) | scatter(self.imm12(offset)?, S_IMMEDIATE)
            }
            (Form::JumpAndLink, [target]) => rd(1) | self.target(target, 21, J_IMMEDIATE)?,
            (Form::JumpAndLink, [d, target]) => rd(register(d)?) | self.target(target, 21, J_IMMEDIATE)?,
            (Form::Jump, [target]) => self.target(target, 21, J_IMMEDIATE)?,
            (Form::JumpRegisterAndLink, [s]) => rd(1) | rs1(register(s)?),
            (Form::JumpRegisterAndLink, [d, memory]) if split_memory(memory).is_some() => {
                rd(register(d)?) | self.indirect(memory)?
            }
            (Form::JumpRegisterAndLink, [d, s]) => rd(register(d)?) | rs1(register(s)?),
            (Form::JumpRegisterAndLink, [d, s, imm]) => {
                rd(register(d)?) | rs1(register(s)?) | self.imm12(imm)? << 20
            }
            (Form::JumpRegister, [memory]) if split_memory(memory).is_some() => self.indirect(memory)?,
            (Form::JumpRegister, [s]) => rs1(register(s)?),
            (Form::Branch, [s, t, target]) => {
                rs1(register(s)?) | rs2(register(t)?) | self.target(target, 13, B_IMMEDIATE)?
            }
            (Form::BranchZero, [s, target]) => rs1(register(s)?) | self.target(target, 13, B_IMMEDIATE)?,
            (Form::Csr, [d, csr, s]) => rd(register(d)?) | rs1(register(s)?) | self.csr(csr)? << 20,
            (Form::CsrRead, [d, csr]) => rd(register(d)?) | self.csr(csr)? << 20,
            (Form::CsrWrite, [csr, s]) => rs1(register(s)?) | self.csr(csr)? << 20,
            _ => return Err(Mistake::Shape),
        };
        Ok(bits)
    }

    fn compressed(&self, form: Form) -> Result<u32, Mistake> {
        let bits = match (form, self.operands.list()) {
            (Form::Nothing, []) => 0,
            (Form::CompressedImmediate { zero }, [d, imm]) => {
                let value = self.in_range(imm, -32, 31)?;
                if value == 0 && !zero {
                    return Err(Mistake::Value("the immediate must not be 0".to_owned()));
                }
                rd(not_zero(d)?) | scatter(value, CI_IMMEDIATE)
            }
            (Form::CompressedUpper, [d, imm]) => rd(not_zero(d)?) | self.compressed_upper(d, imm)?,
            (Form::CompressedJump, [target]) => self.target(target, 12, CJ_IMMEDIATE)?,
            (Form::CompressedJumpRegister, [s]) => rd(not_zero(s)?),
            (Form::CompressedBranch, [s, target]) => {
                let register = register(s)?;
                if !(8..16).contains(&register) {
                    return Err(Mistake::Value(format!("`{s}` is not one of x8 to x15")));
                }
                (register - 8) << 7 | self.target(target, 9, CB_IMMEDIATE)?
            }
            (Form::CompressedRegister, [d, s]) => rd(not_zero(d)?) | not_zero(s)? << 2,
            (Form::Stack { push }, [list, adjustment]) => self.stack(list, adjustment, push)?,
            (Form::TableJump { first, last }, [index]) => self.in_range(index, first, last)? << 2,
            _ => return Err(Mistake::Shape),
        };
        Ok(bits)
    }

    /// A value within bounds, as the low bits of two's complement.
    fn in_range(&self, text: &str, least: i128, greatest: i128) -> Result<u32, Mistake> {
        let value = self.operands.value(text)?;
        if (least..=greatest).contains(&value) {
            Ok(value as u32)
        } else {
            Err(Mistake::Value(format!("`{text}` is not in the range {least} to {greatest}")))
        }
    }

    fn imm12(&self, text: &str) -> Result<u32, Mistake> {
        Ok(self.in_range(text, -2048, 2047)? & 0xfff)
    }

    /// `imm(rs1)` of the formats with a 12-bit immediate in the top bits.
    fn indirect(&self, memory: &str) -> Result<u32, Mistake> {
        let (offset, base) = split_memory(memory).ok_or(Mistake::Shape)?;
        Ok(rs1(register(base)?) | self.imm12(offset)? << 20)
    }

    /// The distance to a target as `bits` bits of two's complement, bit 0 not stored.
    fn target(&self, text: &str, bits: u32, groups: Scatter) -> Result<u32, Mistake> {
        let space = i128::from(self.set.address_mask) + 1;
        let forwards = (self.operands.value(text)? - i128::from(self.operands.address())).rem_euclid(space);
        let distance = if forwards >= space / 2 { forwards - space } else { forwards };
        let limit = 1 << (bits - 1);
        if distance % 2 != 0 {
            return Err(Mistake::Value(format!("`{text}` is at an odd distance")));
        }
        if !(-limit..limit).contains(&distance) {
            let reach =
                format!("{} bytes away; this instruction reaches {} to {}", distance, -limit, limit - 2);
            return Err(Mistake::Value(format!("`{text}` is {reach}")));
        }
        Ok(scatter(distance as u32, groups))
    }

    fn csr(&self, text: &str) -> Result<u32, Mistake> {
        if let Some((_, number)) = CSRS.iter().find(|(name, _)| *name == text) {
            return Ok(*number);
        }
        let number = parse_u64(text).filter(|number| *number <= 0xfff);
        number.map(|number| number as u32).ok_or_else(|| Mistake::Value(format!("unknown register `{text}`")))
    }

    /// Written like the immediate of `lui`: 1 to 31, or 0xfffe0 to 0xfffff for negative values.
    fn compressed_upper(&self, register: &str, text: &str) -> Result<u32, Mistake> {
        if not_zero(register)? == 2 {
            return Err(Mistake::Value("`c.lui` cannot load x2".to_owned()));
        }
        let value = self.operands.value(text)?;
        if (1..=31).contains(&value) || (0xf_ffe0..=0xf_ffff).contains(&value) {
            Ok(scatter(value as u32, CI_IMMEDIATE))
        } else {
            Err(Mistake::Value(format!("`{text}` is not in the range 1 to 31 or 0xfffe0 to 0xfffff")))
        }
    }

    /// Register list and stack adjustment of Zcmp.
    fn stack(&self, list: &str, adjustment: &str, push: bool) -> Result<u32, Mistake> {
        let inside = list.strip_prefix('{').and_then(|list| list.strip_suffix('}')).ok_or(Mistake::Shape)?;
        let names: Vec<&str> = inside.split(',').map(str::trim).collect();
        let unknown =
            || Mistake::Value(format!("`{list}` is no register list; write {{ra}} to {{ra, s0-s11}}"));
        let saved = match names.as_slice() {
            ["ra"] => 0,
            ["ra", "s0"] => 1,
            ["ra", range] => {
                let last =
                    range.strip_prefix("s0-s").and_then(|last| last.parse().ok()).ok_or_else(unknown)?;
                // There is no list that ends with s10.
                match last {
                    1..=9 => last + 1,
                    11 => 11,
                    _ => return Err(unknown()),
                }
            }
            _ => return Err(unknown()),
        };
        let registers = if saved == 11 { 13 } else { saved + 1 };
        let bytes: u32 = registers * if self.set.xlen == Xlen::Rv64 { 8 } else { 4 };
        let least = i128::from(bytes.next_multiple_of(16));
        let value = self.operands.value(adjustment)? * if push { -1 } else { 1 };
        let blocks = (value - least) / 16;
        if value % 16 != 0 || value < least || blocks > 3 {
            let sign = if push { "-" } else { "" };
            return Err(Mistake::Value(format!(
                "`{adjustment}` is not one of {sign}{least}, {sign}{}, {sign}{}, {sign}{}",
                least + 16,
                least + 32,
                least + 48
            )));
        }
        Ok((saved + 4) << 4 | (blocks as u32) << 2)
    }
}

/// Cuts `imm(rs1)` into its parts; without an immediate it is 0.
fn split_memory(text: &str) -> Option<(&str, &str)> {
    let (offset, base) = text.strip_suffix(')')?.split_once('(')?;
    let offset = offset.trim();
    Some((if offset.is_empty() { "0" } else { offset }, base.trim()))
}

fn register(text: &str) -> Result<u32, Mistake> {
    let by_number = || {
        let digits =
            text.strip_prefix('x').filter(|digits| *digits == "0" || !digits.starts_with(['0', '+']))?;
        digits.parse().ok().filter(|number: &usize| *number < REGISTERS.len())
    };
    let by_name = || REGISTERS.iter().position(|name| *name == text);
    by_number()
        .or_else(by_name)
        .or_else(|| (text == "fp").then_some(8))
        .map(|number| number as u32)
        .ok_or_else(|| Mistake::Value(format!("`{text}` is no register")))
}

fn not_zero(text: &str) -> Result<u32, Mistake> {
    match register(text)? {
        0 => Err(Mistake::Value(format!("`{text}` is not allowed here"))),
        register => Ok(register),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::assembly::assemble;
    use std::collections::BTreeSet;

    const RV32: &str = include_str!("../../../tests/data/riscv_rv32.lst");
    const RV64: &str = include_str!("../../../tests/data/riscv_rv64.lst");
    const ZCMP: &str = include_str!("../../../tests/data/riscv_zcmp_zcmt.lst");

    fn set(xlen: Xlen) -> Riscv {
        let address_mask = if xlen == Xlen::Rv32 { 0xffff_ffff } else { u64::MAX };
        Riscv { xlen, zcmp_zcmt: true, address_mask }
    }

    /// Assembles the text of a listing as one program and compares every address and every word.
    fn compare(listing: &str, xlen: Xlen) {
        let mut text = ".org 0x1000\n".to_owned();
        let mut expected = Vec::new();
        for line in listing.lines().filter(|line| !line.starts_with('#')) {
            let (head, source) = line.split_at(18);
            text.push_str(source);
            text.push('\n');
            let mut head = head.split_ascii_whitespace();
            if let (Some(address), Some(word)) = (head.next(), head.next()) {
                let address = u64::from_str_radix(address, 16).expect("an address");
                expected.push((
                    address,
                    u32::from_str_radix(word, 16).expect("a word"),
                    word.len() / 2,
                    source,
                ));
            }
        }
        let assembly = assemble(&text, &set(xlen)).expect("assembles");
        for (address, word, size, source) in &expected {
            let bytes = assembly.program.bytes_at(*address).expect("code");
            let bytes = bytes.get(..*size).expect("the whole instruction");
            let found = bytes.iter().rev().fold(0_u32, |word, byte| word << 8 | u32::from(*byte));
            assert_eq!(found, *word, "{source}: {found:#010x} instead of {word:#010x}");
            assert_eq!(assembly.labels.size_at(*address), Some(*size as u64), "{source}");
        }
        assert_eq!(assembly.labels.instructions().count(), expected.len());
    }

    #[test]
    fn rv32_agrees_with_an_independent_assembler() {
        compare(RV32, Xlen::Rv32);
    }

    #[test]
    fn rv64_agrees_with_an_independent_assembler() {
        compare(RV64, Xlen::Rv64);
    }

    /// The lines of the listing are `xlen word text`.
    #[test]
    fn zcmp_and_zcmt_agree_with_an_independent_assembler() {
        for line in ZCMP.lines().filter(|line| !line.starts_with('#')) {
            let (xlen, rest) = line.split_once(' ').expect("a register width");
            let (word, source) = rest.split_once(' ').expect("a word");
            let word = u16::from_str_radix(word, 16).expect("hexadecimal");
            let widths: &[Xlen] = match xlen {
                "rv32" => &[Xlen::Rv32],
                "rv64" => &[Xlen::Rv64],
                _ => &[Xlen::Rv32, Xlen::Rv64],
            };
            for xlen in widths {
                let assembly = assemble(source, &set(*xlen)).expect(source);
                assert_eq!(assembly.program.bytes_at(0), Some(&word.to_le_bytes()[..]), "{source}");
            }
        }
    }

    #[test]
    fn no_mnemonic_goes_untested() {
        let tested: BTreeSet<&str> = [RV32, RV64, ZCMP]
            .into_iter()
            .flat_map(str::lines)
            .filter(|line| !line.starts_with('#'))
            .flat_map(str::split_ascii_whitespace)
            .collect();
        let untested: Vec<_> =
            INSTRUCTIONS.iter().map(|row| row.name).filter(|name| !tested.contains(name)).collect();
        assert!(untested.is_empty(), "{untested:?}");
        let csrs: Vec<_> = CSRS
            .iter()
            .map(|(name, _)| *name)
            .filter(|name| !tested.contains(name) && !tested.contains(format!("{name},").as_str()))
            .collect();
        assert!(csrs.is_empty(), "{csrs:?}");
    }

    #[test]
    fn registers_have_two_names() {
        for (number, name) in REGISTERS.iter().enumerate() {
            assert_eq!(register(name).ok(), Some(number as u32));
            assert_eq!(register(&format!("x{number}")).ok(), Some(number as u32));
        }
        assert_eq!(register("fp").ok(), Some(8));
        for text in ["x32", "x01", "x+1", "x", "s12", "a8", "t7", "", "X1"] {
            assert!(register(text).is_err(), "{text}");
        }
    }

    #[test]
    fn mistakes_are_named() {
        for (text, message) in [
            ("addi a0, a1, 2048", "`2048` is not in the range -2048 to 2047"),
            ("lui a0, 0x100000", "`0x100000` is not in the range 0 to 1048575"),
            ("sw a0, -2049(sp)", "`-2049` is not in the range -2048 to 2047"),
            ("addi a0, a1", "`addi` is written `addi rd, rs1, imm12`"),
            ("sw a0, sp", "`sw` is written `sw rs2, imm(rs1)`"),
            ("nop 1", "`nop` is written `nop`"),
            ("jalr", "`jalr` is written `jalr [rd,] rs1 | rd, rs1, imm | rd, imm(rs1)`"),
            ("mv a0, b0", "`b0` is no register"),
            ("csrr a0, nothing", "unknown register `nothing`"),
            ("csrr a0, 0x1000", "unknown register `0x1000`"),
            ("beq a0, a1, .+1", "`.+1` is at an odd distance"),
            ("beq a0, a1, .+4096", "`.+4096` is 4096 bytes away; this instruction reaches -4096 to 4094"),
            (
                "jal .-0x100002",
                "`.-0x100002` is -1048578 bytes away; this instruction reaches -1048576 to 1048574",
            ),
            ("c.j .+2048", "`.+2048` is 2048 bytes away; this instruction reaches -2048 to 2046"),
            ("c.beqz a0, .-258", "`.-258` is -258 bytes away; this instruction reaches -256 to 254"),
            ("c.beqz t0, .", "`t0` is not one of x8 to x15"),
            ("c.addi a0, 0", "the immediate must not be 0"),
            ("c.addi a0, 32", "`32` is not in the range -32 to 31"),
            ("c.li x0, 1", "`x0` is not allowed here"),
            ("c.jr x0", "`x0` is not allowed here"),
            ("c.mv a0, zero", "`zero` is not allowed here"),
            ("c.lui sp, 1", "`c.lui` cannot load x2"),
            ("c.lui a0, 32", "`32` is not in the range 1 to 31 or 0xfffe0 to 0xfffff"),
            ("cm.push {ra}, 16", "`16` is not one of -16, -32, -48, -64"),
            ("cm.popret {ra, s0-s11}, 48", "`48` is not one of 64, 80, 96, 112"),
            ("cm.popret {ra}, 24", "`24` is not one of 16, 32, 48, 64"),
            ("cm.popret {ra, s0-s10}, 64", "`{ra, s0-s10}` is no register list; write {ra} to {ra, s0-s11}"),
            ("cm.popret ra, 16", "`cm.popret` is written `cm.popret {ra, s0-sN}, adjustment`"),
            ("cm.jt 32", "`32` is not in the range 0 to 31"),
            ("cm.jalt 31", "`31` is not in the range 32 to 255"),
            ("ld a0, 0(sp)", "`ld` exists on RV64 only"),
            ("call A", "unknown mnemonic `call`"),
            (".org 1\nnop", "an instruction cannot lie at 0x1"),
        ] {
            let problem = assemble(text, &set(Xlen::Rv32)).expect_err(text);
            assert_eq!(problem.message, message, "{text}");
        }
        let problem = assemble("c.jal .", &set(Xlen::Rv64)).expect_err("RV64");
        assert_eq!(problem.message, "`c.jal` exists on RV32 only");
        let without = Riscv { zcmp_zcmt: false, ..set(Xlen::Rv32) };
        let problem = assemble("cm.jt 1", &without).expect_err("no Zcmt");
        assert_eq!(problem.message, "`cm.jt` needs the parameter zcmp_zcmt");
    }

    #[test]
    fn jumps_wrap_around_the_address_space() {
        let text = ".org 0xfffffffc\nend: j 0\n.org 0\nj end";
        let assembly = assemble(text, &set(Xlen::Rv32)).expect("assembles");
        // jal x0, +4 and jal x0, -4
        assert_eq!(assembly.program.bytes_at(0xffff_fffc), Some(&0x0040_006f_u32.to_le_bytes()[..]));
        assert_eq!(assembly.program.bytes_at(0), Some(&0xffdf_f06f_u32.to_le_bytes()[..]));
    }
}
