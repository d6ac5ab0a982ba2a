//! The A32 instructions that the assembler knows: all that changes the flow, the data transfers that ETM traces, and
//! some other instructions.
//!
//! Source: ARM DDI 0406, A8 and B9; `HLT`: ARM DDI 0487, F5.

use super::operand::{
    Indexing, Line, List, Memory, Offset, Parsed, Refusal, Shift, barrier_option, coprocessor,
    coprocessor_register, fits, immediate, memory, refuse, register, register_list, scaled, shift, shift_by,
    shift_kind, signed, suffix, unsigned,
};

/// One mnemonic with one form of operands.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) name: &'static str,
    form: Form,
    bits: u32,
    /// Which suffixes the name takes.
    suffixes: Suffixes,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Suffixes {
    /// None: the condition field is part of the bits.
    None,
    Condition,
    ConditionAndFlags,
}

#[derive(Clone, Copy, Debug)]
enum Form {
    /// Nothing.
    Nothing,
    /// `target`
    Branch,
    /// `target` in T32 state.
    BranchExchange,
    /// `Rm`
    Register,
    /// `Rd, Rn, operand2`, or without Rn, which is Rd then.
    ThreeRegisters,
    /// `Rd, operand2`
    Move,
    /// `Rn, operand2`
    Compare,
    /// `Rd, Rm, #n` or `Rd, Rm, Rs`; the number is the kind of shift.
    Shift(u32),
    /// `Rd, #imm16`
    Wide,
    /// `Rd, Rn, Rm`
    Multiply,
    /// `Rt, [Rn ...]` with an offset of 12 bits or a shifted register; `Rt, target`.
    Load,
    /// `Rt, [Rn ...]` with an offset of 8 bits or a register.
    Short,
    /// `Rt, [Rn]`
    Exclusive,
    /// `Rd, Rt, [Rn]`
    StoreExclusive,
    /// `Rt, Rt2, [Rn]`
    Swap,
    /// `Rn{!}, {list}{^}`
    Multiple,
    /// `{register}`
    StackOne,
    /// `{list}` of several.
    StackList,
    /// `Rn{!}`
    ReturnFrom,
    /// `sp{!}, #mode`
    SaveReturn,
    /// `#n`, width of the number.
    Number(u32),
    /// `#n` of 16 bits, split.
    SplitNumber,
    /// An option, `sy` if there is none.
    Barrier,
    /// `p, op1, Rt, CRn, CRm{, op2}`
    CoprocessorMove,
    /// `p, op1, Rt, Rt2, CRm`
    CoprocessorPair,
    /// `p, CRd, [Rn{, #imm}]`
    CoprocessorLoad,
    /// `Rd, cpsr` or `spsr`
    StatusRead,
    /// `cpsr_fsxc, Rm`
    StatusWrite,
}

const fn row(name: &'static str, form: Form, bits: u32) -> Row {
    Row { name, form, bits, suffixes: Suffixes::Condition }
}

const fn flags(name: &'static str, form: Form, bits: u32) -> Row {
    Row { name, form, bits, suffixes: Suffixes::ConditionAndFlags }
}

const fn always(name: &'static str, form: Form, bits: u32) -> Row {
    Row { name, form, bits, suffixes: Suffixes::None }
}

pub(super) const ROWS: &[Row] = &[
    row("b", Form::Branch, 0x0a00_0000),
    row("bl", Form::Branch, 0x0b00_0000),
    always("blx", Form::BranchExchange, 0xfa00_0000),
    row("blx", Form::Register, 0x012f_ff30),
    row("bx", Form::Register, 0x012f_ff10),
    row("bxj", Form::Register, 0x012f_ff20),
    flags("and", Form::ThreeRegisters, 0x0000_0000),
    flags("eor", Form::ThreeRegisters, 0x0020_0000),
    flags("sub", Form::ThreeRegisters, 0x0040_0000),
    flags("rsb", Form::ThreeRegisters, 0x0060_0000),
    flags("add", Form::ThreeRegisters, 0x0080_0000),
    flags("adc", Form::ThreeRegisters, 0x00a0_0000),
    flags("sbc", Form::ThreeRegisters, 0x00c0_0000),
    flags("rsc", Form::ThreeRegisters, 0x00e0_0000),
    row("tst", Form::Compare, 0x0110_0000),
    row("teq", Form::Compare, 0x0130_0000),
    row("cmp", Form::Compare, 0x0150_0000),
    row("cmn", Form::Compare, 0x0170_0000),
    flags("orr", Form::ThreeRegisters, 0x0180_0000),
    flags("mov", Form::Move, 0x01a0_0000),
    flags("bic", Form::ThreeRegisters, 0x01c0_0000),
    flags("mvn", Form::Move, 0x01e0_0000),
    flags("lsl", Form::Shift(0), 0x01a0_0000),
    flags("lsr", Form::Shift(1), 0x01a0_0000),
    flags("asr", Form::Shift(2), 0x01a0_0000),
    flags("ror", Form::Shift(3), 0x01a0_0000),
    row("movw", Form::Wide, 0x0300_0000),
    row("movt", Form::Wide, 0x0340_0000),
    flags("mul", Form::Multiply, 0x0000_0090),
    row("ldr", Form::Load, 0x0410_0000),
    row("str", Form::Load, 0x0400_0000),
    row("ldrb", Form::Load, 0x0450_0000),
    row("strb", Form::Load, 0x0440_0000),
    row("ldrh", Form::Short, 0x0010_00b0),
    row("strh", Form::Short, 0x0000_00b0),
    row("ldrsb", Form::Short, 0x0010_00d0),
    row("ldrsh", Form::Short, 0x0010_00f0),
    row("ldrd", Form::Short, 0x0000_00d0),
    row("strd", Form::Short, 0x0000_00f0),
    row("ldrex", Form::Exclusive, 0x0190_0f9f),
    row("strex", Form::StoreExclusive, 0x0180_0f90),
    row("swp", Form::Swap, 0x0100_0090),
    row("swpb", Form::Swap, 0x0140_0090),
    row("ldm", Form::Multiple, 0x0890_0000),
    row("ldmia", Form::Multiple, 0x0890_0000),
    row("ldmib", Form::Multiple, 0x0990_0000),
    row("ldmda", Form::Multiple, 0x0810_0000),
    row("ldmdb", Form::Multiple, 0x0910_0000),
    row("stm", Form::Multiple, 0x0880_0000),
    row("stmia", Form::Multiple, 0x0880_0000),
    row("stmib", Form::Multiple, 0x0980_0000),
    row("stmda", Form::Multiple, 0x0800_0000),
    row("stmdb", Form::Multiple, 0x0900_0000),
    row("push", Form::StackOne, 0x052d_0004),
    row("push", Form::StackList, 0x092d_0000),
    row("pop", Form::StackOne, 0x049d_0004),
    row("pop", Form::StackList, 0x08bd_0000),
    always("rfeia", Form::ReturnFrom, 0xf890_0a00),
    always("rfeib", Form::ReturnFrom, 0xf990_0a00),
    always("rfeda", Form::ReturnFrom, 0xf810_0a00),
    always("rfedb", Form::ReturnFrom, 0xf910_0a00),
    always("srsia", Form::SaveReturn, 0xf8cd_0500),
    always("srsdb", Form::SaveReturn, 0xf94d_0500),
    row("eret", Form::Nothing, 0x0160_006e),
    row("svc", Form::Number(24), 0x0f00_0000),
    row("smc", Form::Number(4), 0x0160_0070),
    always("hvc", Form::SplitNumber, 0xe140_0070),
    always("bkpt", Form::SplitNumber, 0xe120_0070),
    always("hlt", Form::SplitNumber, 0xe100_0070),
    always("udf", Form::SplitNumber, 0xe7f0_00f0),
    row("nop", Form::Nothing, 0x0320_f000),
    row("yield", Form::Nothing, 0x0320_f001),
    row("wfe", Form::Nothing, 0x0320_f002),
    row("wfi", Form::Nothing, 0x0320_f003),
    row("sev", Form::Nothing, 0x0320_f004),
    always("clrex", Form::Nothing, 0xf57f_f01f),
    always("dsb", Form::Barrier, 0xf57f_f040),
    always("dmb", Form::Barrier, 0xf57f_f050),
    always("isb", Form::Barrier, 0xf57f_f060),
    row("mcr", Form::CoprocessorMove, 0x0e00_0010),
    row("mrc", Form::CoprocessorMove, 0x0e10_0010),
    row("mcrr", Form::CoprocessorPair, 0x0c40_0000),
    row("mrrc", Form::CoprocessorPair, 0x0c50_0000),
    row("ldc", Form::CoprocessorLoad, 0x0c10_0000),
    row("stc", Form::CoprocessorLoad, 0x0c00_0000),
    row("mrs", Form::StatusRead, 0x010f_0000),
    row("msr", Form::StatusWrite, 0x0120_f000),
];

/// What the suffixes of a mnemonic mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Suffix {
    pub(super) flags: bool,
    pub(super) condition: u32,
}

impl Row {
    /// The suffixes with which `mnemonic` is this row's name.
    pub(super) fn matches(&self, mnemonic: &str) -> Option<Suffix> {
        let (flags, condition) = match self.suffixes {
            Suffixes::None => (mnemonic == self.name).then_some((false, 14)),
            suffixes => suffix(mnemonic, self.name, suffixes == Suffixes::ConditionAndFlags),
        }?;
        Some(Suffix { flags, condition })
    }

    /// The instruction's word.
    pub(super) fn encode(&self, suffix: Suffix, line: &Line<'_>) -> Parsed<u32> {
        let mut bits = self.bits | operands(self.form, self.bits, line)?;
        if self.suffixes != Suffixes::None {
            bits |= suffix.condition << 28;
        }
        Ok(if suffix.flags { bits | 1 << 20 } else { bits })
    }
}

/// The bits of the operands; those of a form that depend on the instruction, too.
fn operands(form: Form, bits: u32, line: &Line<'_>) -> Parsed<u32> {
    match form {
        Form::Nothing => line.exactly::<0>().map(|_| 0),
        Form::Branch => branch(line),
        Form::BranchExchange => branch_exchange(line),
        Form::Register => {
            let [rm] = line.exactly()?;
            register(rm)
        }
        Form::ThreeRegisters => three_registers(line),
        Form::Move => {
            let (rd, operand) = line.first()?;
            Ok(register(rd)? << 12 | operand2(operand)?)
        }
        Form::Compare => {
            let (rn, operand) = line.first()?;
            Ok(register(rn)? << 16 | operand2(operand)?)
        }
        Form::Shift(kind) => shifted(line, kind),
        Form::Wide => {
            let [rd, value] = line.exactly()?;
            let value = unsigned(value, 16)?;
            Ok(register(rd)? << 12 | (value >> 12) << 16 | value & 0xfff)
        }
        Form::Multiply => {
            let [rd, rn, rm] = line.exactly()?;
            Ok(register(rd)? << 16 | register(rn)? | register(rm)? << 8)
        }
        Form::Load => load(line),
        Form::Short => short(line, bits),
        Form::Exclusive => {
            let [rt, at] = line.exactly()?;
            Ok(register(rt)? << 12 | plain_base(at)? << 16)
        }
        Form::StoreExclusive => {
            let [rd, rt, at] = line.exactly()?;
            Ok(register(rd)? << 12 | register(rt)? | plain_base(at)? << 16)
        }
        Form::Swap => {
            let [rt, rt2, at] = line.exactly()?;
            Ok(register(rt)? << 12 | register(rt2)? | plain_base(at)? << 16)
        }
        Form::Multiple | Form::StackOne | Form::StackList | Form::ReturnFrom | Form::SaveReturn => {
            multiple(form, line)
        }
        Form::Number(width) => {
            let [number] = line.exactly()?;
            unsigned(number, width)
        }
        Form::SplitNumber => {
            let [number] = line.exactly()?;
            let number = unsigned(number, 16)?;
            Ok((number >> 4) << 8 | number & 15)
        }
        Form::Barrier => match line.list() {
            [] => Ok(15),
            [option] => barrier_option(option),
            _ => Err(Refusal::Form),
        },
        Form::CoprocessorMove | Form::CoprocessorPair | Form::CoprocessorLoad => coprocessor_form(form, line),
        Form::StatusRead => {
            let [rd, status] = line.exactly()?;
            Ok(register(rd)? << 12 | saved(status)?)
        }
        Form::StatusWrite => {
            let [status, rm] = line.exactly()?;
            let (status, fields) = status.split_once('_').ok_or(Refusal::Form)?;
            Ok(saved(status)? | status_fields(fields)? << 16 | register(rm)?)
        }
    }
}

/// The PC is two instructions ahead.
fn branch(line: &Line<'_>) -> Parsed<u32> {
    let [target] = line.exactly()?;
    signed(line.distance(target, line.address().wrapping_add(8))?, 4, 24)
}

fn branch_exchange(line: &Line<'_>) -> Parsed<u32> {
    let [target] = line.exactly()?;
    if register(target).is_ok() {
        return Err(Refusal::Form);
    }
    let distance = line.distance(target, line.address().wrapping_add(8))?;
    let half = u32::from(distance & 2 != 0);
    Ok(signed(distance & !2, 4, 24)? | half << 24)
}

fn three_registers(line: &Line<'_>) -> Parsed<u32> {
    let (rd, rest) = line.first()?;
    let rd = register(rd)?;
    let (rn, operand) = match rest {
        [_] => (rd, rest),
        [_, by] if is_shift(by) => (rd, rest),
        [rn, operand @ ..] => (register(rn)?, operand),
        [] => return Err(Refusal::Form),
    };
    Ok(rd << 12 | rn << 16 | operand2(operand)?)
}

fn is_shift(text: &str) -> bool {
    text == "rrx" || text.contains(' ')
}

/// An immediate, a register, a register shifted by a constant or by a register.
fn operand2(operand: &[&str]) -> Parsed<u32> {
    match operand {
        [value] if value.starts_with('#') => Ok(1 << 25 | modified_immediate(immediate(value)?)?),
        [rm] => register(rm),
        [rm, by] => {
            let rm = register(rm)?;
            if let Some((name, rs)) = by.split_once(' ')
                && let Ok(rs) = register(rs.trim())
            {
                return Ok(rm | 1 << 4 | shift_kind(name)? << 5 | rs << 8);
            }
            Ok(rm | shift_bits(shift(by)?))
        }
        _ => Err(Refusal::Form),
    }
}

const fn shift_bits(shift: Shift) -> u32 {
    shift.kind << 5 | shift.amount << 7
}

/// Eight bits, rotated right by an even number; the smallest rotation.
fn modified_immediate(value: i64) -> Parsed<u32> {
    let Ok(value) = u32::try_from(value).or_else(|_| i32::try_from(value).map(i32::cast_unsigned)) else {
        return refuse(format!("{value} does not fit into 32 bits"));
    };
    let found = (0..16).map(|half| (half, value.rotate_left(2 * half))).find(|(_, byte)| *byte < 0x100);
    match found {
        Some((half, byte)) => Ok(half << 8 | byte),
        None => refuse(format!("{value:#x} is no rotated byte")),
    }
}

fn shifted(line: &Line<'_>, kind: u32) -> Parsed<u32> {
    let [rd, rm, by] = line.exactly()?;
    let registers = register(rd)? << 12 | register(rm)?;
    if by.starts_with('#') {
        return Ok(registers | shift_bits(shift_by(kind, immediate(by)?)?));
    }
    Ok(registers | 1 << 4 | kind << 5 | register(by)? << 8)
}

/// P, U and W, and the magnitude of an immediate offset.
fn index_bits(memory: Memory, subtract: bool) -> u32 {
    let up = if subtract { 0 } else { 1 << 23 };
    up | match memory.indexing {
        Indexing::Offset => 1 << 24,
        Indexing::Before => 1 << 24 | 1 << 21,
        Indexing::After => 0,
    }
}

/// The memory operand after Rt, or the place in the code that it stands for.
fn memory_or_literal(line: &Line<'_>, operands: &[&str]) -> Parsed<Memory> {
    match operands {
        [place] if !place.starts_with('[') => {
            let distance = line.distance(place, line.address().wrapping_add(8))?;
            Ok(Memory { base: 15, offset: Offset::Immediate(distance), indexing: Indexing::Offset })
        }
        operands => memory(operands),
    }
}

fn load(line: &Line<'_>) -> Parsed<u32> {
    let (rt, operands) = line.first()?;
    let memory = memory_or_literal(line, operands)?;
    let registers = register(rt)? << 12 | memory.base << 16;
    match memory.offset {
        Offset::Immediate(offset) => {
            let magnitude = fits(offset.abs(), 12)?;
            Ok(registers | index_bits(memory, offset < 0) | magnitude)
        }
        Offset::Register { subtract, index, shift } => {
            Ok(registers | 1 << 25 | index_bits(memory, subtract) | index | shift_bits(shift))
        }
    }
}

/// Half-words, signed bytes, double words; `strd` and `ldrd` may name their second register.
fn short(line: &Line<'_>, bits: u32) -> Parsed<u32> {
    let (rt, mut operands) = line.first()?;
    let rt = register(rt)?;
    let is_double = bits & 0x0010_0040 == 0x40;
    if is_double
        && let Some((second, rest)) = operands.split_first()
        && !second.starts_with('[')
    {
        if register(second)? != rt + 1 {
            return refuse("the second register must follow the first");
        }
        operands = rest;
    }
    let memory = memory_or_literal(line, operands)?;
    let registers = rt << 12 | memory.base << 16;
    match memory.offset {
        Offset::Immediate(offset) => {
            let magnitude = fits(offset.abs(), 8)?;
            let nibbles = (magnitude >> 4) << 8 | magnitude & 15;
            Ok(registers | 1 << 22 | index_bits(memory, offset < 0) | nibbles)
        }
        Offset::Register { subtract, index, shift } if shift == Shift::default() => {
            Ok(registers | index_bits(memory, subtract) | index)
        }
        Offset::Register { .. } => refuse("the offset cannot be shifted"),
    }
}

/// `[Rn]`
fn plain_base(text: &str) -> Parsed<u32> {
    match memory(&[text])? {
        Memory { base, offset: Offset::Immediate(0), indexing: Indexing::Offset } => Ok(base),
        _ => Err(Refusal::Form),
    }
}

/// `Rn` or `Rn!`: the register and W.
fn written_base(text: &str) -> Parsed<u32> {
    match text.strip_suffix('!') {
        Some(rn) => Ok(register(rn)? << 16 | 1 << 21),
        None => Ok(register(text)? << 16),
    }
}

fn multiple(form: Form, line: &Line<'_>) -> Parsed<u32> {
    match form {
        Form::StackOne | Form::StackList => {
            let [list] = line.exactly()?;
            let List { bits, caret } = register_list(list)?;
            match (caret, bits.is_power_of_two(), form) {
                (false, true, Form::StackOne) => Ok(bits.trailing_zeros() << 12),
                (false, false, Form::StackList) => Ok(bits),
                _ => Err(Refusal::Form),
            }
        }
        Form::ReturnFrom => {
            let [rn] = line.exactly()?;
            written_base(rn)
        }
        Form::SaveReturn => {
            let [sp, mode] = line.exactly()?;
            match written_base(sp)? {
                base if base & 0xf_0000 == 0xd_0000 => Ok(base | unsigned(mode, 5)?),
                _ => Err(Refusal::Form),
            }
        }
        _ => {
            let [rn, list] = line.exactly()?;
            let list = register_list(list)?;
            Ok(written_base(rn)? | list.bits | if list.caret { 1 << 22 } else { 0 })
        }
    }
}

fn coprocessor_form(form: Form, line: &Line<'_>) -> Parsed<u32> {
    match form {
        Form::CoprocessorPair => {
            let [p, op1, rt, rt2, crm] = line.exactly()?;
            let registers = register(rt)? << 12 | register(rt2)? << 16 | coprocessor_register(crm)?;
            Ok(coprocessor(p)? << 8 | unsigned(op1, 4)? << 4 | registers)
        }
        Form::CoprocessorLoad => {
            let [p, crd, at] = line.exactly()?;
            let memory = memory(&[at])?;
            let Offset::Immediate(offset) = memory.offset else { return Err(Refusal::Form) };
            let words = scaled(offset.abs(), 4, 8)?;
            let registers = coprocessor_register(crd)? << 12 | memory.base << 16;
            Ok(coprocessor(p)? << 8 | registers | index_bits(memory, offset < 0) | words)
        }
        _ => {
            let (p, rest) = line.first()?;
            let (op1, rt, crn, crm, op2) = match rest {
                [op1, rt, crn, crm] => (*op1, *rt, *crn, *crm, "#0"),
                [op1, rt, crn, crm, op2] => (*op1, *rt, *crn, *crm, *op2),
                _ => return Err(Refusal::Form),
            };
            let rt = if rt == "apsr_nzcv" { 15 } else { register(rt)? };
            let registers = rt << 12 | coprocessor_register(crn)? << 16 | coprocessor_register(crm)?;
            Ok(coprocessor(p)? << 8 | unsigned(op1, 3)? << 21 | unsigned(op2, 3)? << 5 | registers)
        }
    }
}

fn saved(status: &str) -> Parsed<u32> {
    match status {
        "cpsr" | "apsr" => Ok(0),
        "spsr" => Ok(1 << 22),
        _ => Err(Refusal::Form),
    }
}

fn status_fields(names: &str) -> Parsed<u32> {
    names.chars().try_fold(0, |fields, name| match "cxsf".find(name) {
        Some(field) => Ok(fields | 1 << field),
        None => Err(Refusal::Form),
    })
}
