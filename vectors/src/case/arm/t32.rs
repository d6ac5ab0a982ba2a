//! The T32 instructions of two half-words that the assembler knows.
//!
//! Source: ARM DDI 0406, A6.3, A9.3 (`ENTERX`, `LEAVEX`) and B9; the loops: ARM DDI 0553, C2.4.

use super::operand::{
    Indexing, Line, List, Memory, Offset, Parsed, Refusal, barrier_option, coprocessor, coprocessor_register,
    fits, immediate, memory, refuse, register, register_list, scaled, shift, signed, unsigned,
};
use super::thumb::{Kind, Row, nothing};

type Encode = fn(&Line<'_>) -> Parsed<u32>;

/// Needs `.w`.
const fn wide(name: &'static str, encode: Encode, bits: u32) -> Row {
    Row { name, bits, kind: Kind::Plain, needs_w: true, encode }
}

/// Exists in this size only.
const fn only(name: &'static str, encode: Encode, bits: u32) -> Row {
    Row { name, bits, kind: Kind::Plain, needs_w: false, encode }
}

const fn alone(name: &'static str, encode: Encode, bits: u32) -> Row {
    Row { name, bits, kind: Kind::Alone, needs_w: false, encode }
}

const fn flags(name: &'static str, encode: Encode, bits: u32) -> Row {
    Row { name, bits, kind: Kind::OptionalFlags, needs_w: true, encode }
}

pub(super) const ROWS: &[Row] = &[
    Row { name: "b", bits: 0xf000_8000, kind: Kind::Conditional(22), needs_w: true, encode: branch_20 },
    wide("b", branch_24, 0xf000_9000),
    only("bl", branch_24, 0xf000_d000),
    only("blx", branch_exchange, 0xf000_c000),
    only("bxj", jazelle, 0xf3c0_8f00),
    only("tbb", table::<false>, 0xe8d0_f000),
    only("tbh", table::<true>, 0xe8d0_f010),
    alone("enterx", nothing, 0xf3bf_8f1f),
    alone("leavex", nothing, 0xf3bf_8f0f),
    only("eret", nothing, 0xf3de_8f00),
    only("subs", return_from, 0xf3de_8f00),
    only("rfedb", status_return, 0xe810_c000),
    only("rfeia", status_return, 0xe990_c000),
    only("smc", monitor_call, 0xf7f0_8000),
    alone("hvc", hypervisor_call, 0xf7e0_8000),
    Row { name: "udf", bits: 0xf7f0_a000, kind: Kind::Alone, needs_w: true, encode: hypervisor_call },
    only("clrex", nothing, 0xf3bf_8f2f),
    only("dsb", barrier, 0xf3bf_8f40),
    only("dmb", barrier, 0xf3bf_8f50),
    only("isb", barrier, 0xf3bf_8f60),
    wide("nop", nothing, 0xf3af_8000),
    wide("yield", nothing, 0xf3af_8001),
    wide("wfe", nothing, 0xf3af_8002),
    wide("wfi", nothing, 0xf3af_8003),
    wide("sev", nothing, 0xf3af_8004),
    alone("sg", nothing, 0xe97f_e97f),
    alone("wls", loop_start, 0xf040_c001),
    alone("wlstp.8", loop_start, 0xf000_c001),
    alone("wlstp.32", loop_start, 0xf020_c001),
    alone("dls", do_loop, 0xf040_e001),
    alone("le", loop_end, 0xf00f_c001),
    alone("le", loop_forever, 0xf02f_c001),
    alone("letp", loop_end, 0xf01f_c001),
    alone("lctp", nothing, 0xf00f_e001),
    wide("ldr", load, 0xf850_0000),
    wide("str", load, 0xf840_0000),
    wide("ldrb", load, 0xf810_0000),
    wide("strb", load, 0xf800_0000),
    wide("ldrh", load, 0xf830_0000),
    wide("strh", load, 0xf820_0000),
    wide("ldrsb", load, 0xf910_0000),
    wide("ldrsh", load, 0xf930_0000),
    only("ldrd", load_double, 0xe850_0000),
    only("strd", load_double, 0xe840_0000),
    only("ldrex", load_exclusive, 0xe850_0f00),
    only("strex", store_exclusive, 0xe840_0000),
    wide("ldm", multiple, 0xe890_0000),
    wide("ldmia", multiple, 0xe890_0000),
    only("ldmdb", multiple, 0xe910_0000),
    wide("stm", multiple, 0xe880_0000),
    wide("stmia", multiple, 0xe880_0000),
    only("stmdb", multiple, 0xe900_0000),
    wide("push", stack_one, 0xf84d_0d04),
    wide("push", stack_list, 0xe92d_0000),
    wide("pop", stack_one, 0xf85d_0b04),
    wide("pop", stack_list, 0xe8bd_0000),
    flags("mov", move_constant, 0xf04f_0000),
    flags("mov", move_register, 0xea4f_0000),
    flags("and", constant, 0xf000_0000),
    flags("and", registers, 0xea00_0000),
    flags("orr", constant, 0xf040_0000),
    flags("orr", registers, 0xea40_0000),
    flags("eor", constant, 0xf080_0000),
    flags("eor", registers, 0xea80_0000),
    flags("add", constant, 0xf100_0000),
    flags("add", registers, 0xeb00_0000),
    flags("sub", constant, 0xf1a0_0000),
    flags("sub", registers, 0xeba0_0000),
    wide("cmp", compare_constant, 0xf1b0_0f00),
    only("movw", move_wide, 0xf240_0000),
    only("movt", move_wide, 0xf2c0_0000),
    only("mul", multiply, 0xfb00_f000),
    only("mcr", coprocessor_move, 0xee00_0010),
    only("mrc", coprocessor_move, 0xee10_0010),
    only("mcrr", coprocessor_pair, 0xec40_0000),
    only("mrrc", coprocessor_pair, 0xec50_0000),
    only("ldc", coprocessor_load, 0xec10_0000),
    only("stc", coprocessor_load, 0xec00_0000),
];

/// From the PC, which is 4 bytes ahead.
fn offset(line: &Line<'_>, target: &str) -> Parsed<i64> {
    line.distance(target, line.address().wrapping_add(4))
}

/// S:J2:J1:imm6:imm11.
fn branch_20(line: &Line<'_>) -> Parsed<u32> {
    let [target] = line.exactly()?;
    let halves = signed(offset(line, target)?, 2, 20)?;
    let (s, j2, j1) = (halves >> 19, halves >> 18 & 1, halves >> 17 & 1);
    Ok(s << 26 | j1 << 13 | j2 << 11 | (halves >> 11 & 0x3f) << 16 | halves & 0x7ff)
}

/// S:I1:I2:imm10:imm11, where J = I if S is 1, else its complement.
fn long_offset(halves: u32) -> u32 {
    let s = halves >> 23;
    let [j1, j2] = [halves >> 22, halves >> 21].map(|i| (i ^ s ^ 1) & 1);
    s << 26 | j1 << 13 | j2 << 11 | (halves >> 11 & 0x3ff) << 16 | halves & 0x7ff
}

fn branch_24(line: &Line<'_>) -> Parsed<u32> {
    let [target] = line.exactly()?;
    Ok(long_offset(signed(offset(line, target)?, 2, 24)?))
}

/// To A32 state: from the PC, rounded down to a word.
fn branch_exchange(line: &Line<'_>) -> Parsed<u32> {
    let [target] = line.exactly()?;
    if register(target).is_ok() {
        return Err(Refusal::Form);
    }
    let distance = line.distance(target, line.address().wrapping_add(4) & !3)?;
    if distance % 4 != 0 {
        return refuse(format!("{distance} is no multiple of 4"));
    }
    Ok(long_offset(signed(distance, 2, 24)?))
}

fn jazelle(line: &Line<'_>) -> Parsed<u32> {
    let [rm] = line.exactly()?;
    Ok(register(rm)? << 16)
}

/// `[Rn, Rm]`, and for half-words `[Rn, Rm, lsl #1]`.
fn table<const HALF_WORDS: bool>(line: &Line<'_>) -> Parsed<u32> {
    let [at] = line.exactly()?;
    match memory(&[at])? {
        Memory {
            base,
            offset: Offset::Register { subtract: false, index, shift },
            indexing: Indexing::Offset,
        } if shift.kind == 0 && shift.amount == u32::from(HALF_WORDS) => Ok(base << 16 | index),
        _ => Err(Refusal::Form),
    }
}

/// `subs pc, lr, #imm`
fn return_from(line: &Line<'_>) -> Parsed<u32> {
    match line.exactly()? {
        ["pc", "lr", value] => unsigned(value, 8),
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

fn status_return(line: &Line<'_>) -> Parsed<u32> {
    let [rn] = line.exactly()?;
    written_base(rn)
}

fn monitor_call(line: &Line<'_>) -> Parsed<u32> {
    let [number] = line.exactly()?;
    Ok(unsigned(number, 4)? << 16)
}

fn hypervisor_call(line: &Line<'_>) -> Parsed<u32> {
    let [number] = line.exactly()?;
    let number = unsigned(number, 16)?;
    Ok((number >> 12) << 16 | number & 0xfff)
}

/// An option, `sy` if there is none.
fn barrier(line: &Line<'_>) -> Parsed<u32> {
    match line.list() {
        [] => Ok(15),
        [option] => barrier_option(option),
        _ => Err(Refusal::Form),
    }
}

/// imm10:imm1 of a loop's offset in half-words.
fn loop_offset(distance: i64) -> Parsed<u32> {
    let halves = scaled(distance, 2, 11)?;
    Ok((halves >> 1) << 1 | (halves & 1) << 11)
}

/// `lr, Rn, target`
fn loop_start(line: &Line<'_>) -> Parsed<u32> {
    match line.exactly()? {
        ["lr", rn, target] => Ok(register(rn)? << 16 | loop_offset(offset(line, target)?)?),
        _ => Err(Refusal::Form),
    }
}

fn do_loop(line: &Line<'_>) -> Parsed<u32> {
    match line.exactly()? {
        ["lr", rn] => Ok(register(rn)? << 16),
        _ => Err(Refusal::Form),
    }
}

/// `lr, target`, backwards.
fn loop_end(line: &Line<'_>) -> Parsed<u32> {
    match line.exactly()? {
        ["lr", target] => loop_offset(-offset(line, target)?),
        _ => Err(Refusal::Form),
    }
}

fn loop_forever(line: &Line<'_>) -> Parsed<u32> {
    let [target] = line.exactly()?;
    loop_offset(-offset(line, target)?)
}

/// `Rt, [Rn ...]` with all that T32 can add, or `Rt, target`.
fn load(line: &Line<'_>) -> Parsed<u32> {
    let (rt, operands) = line.first()?;
    let rt = register(rt)? << 12;
    let memory = match operands {
        [place] if !place.starts_with('[') => {
            let distance = line.distance(place, line.address().wrapping_add(4) & !3)?;
            Memory { base: 15, offset: Offset::Immediate(distance), indexing: Indexing::Offset }
        }
        operands => memory(operands)?,
    };
    let base = memory.base << 16;
    match (memory.offset, memory.indexing) {
        (Offset::Immediate(offset), Indexing::Offset) if memory.base == 15 => {
            let up = if offset < 0 { 0 } else { 1 << 23 };
            Ok(rt | base | up | fits(offset.abs(), 12)?)
        }
        (Offset::Immediate(offset @ 0..), Indexing::Offset) => Ok(rt | base | 1 << 23 | fits(offset, 12)?),
        (Offset::Immediate(offset), indexing) => {
            Ok(rt | base | 1 << 11 | index_bits(indexing, offset) << 8 | fits(offset.abs(), 8)?)
        }
        (Offset::Register { subtract: false, index, shift }, Indexing::Offset)
            if shift.kind == 0 && shift.amount < 4 =>
        {
            Ok(rt | base | shift.amount << 4 | index)
        }
        _ => Err(Refusal::Form),
    }
}

/// P, U, W.
fn index_bits(indexing: Indexing, offset: i64) -> u32 {
    let up = if offset < 0 { 0 } else { 2 };
    up | match indexing {
        Indexing::Offset => 4,
        Indexing::Before => 5,
        Indexing::After => 1,
    }
}

/// `Rt, Rt2, [Rn ...]`
fn load_double(line: &Line<'_>) -> Parsed<u32> {
    let (rt, rest) = line.first()?;
    let (rt2, operands) = rest.split_first().ok_or(Refusal::Form)?;
    let memory = memory(operands)?;
    let Offset::Immediate(offset) = memory.offset else { return Err(Refusal::Form) };
    let index = index_bits(memory.indexing, offset);
    // P, U and W are not neighbours here.
    let index = (index >> 2) << 24 | (index >> 1 & 1) << 23 | (index & 1) << 21;
    let registers = register(rt)? << 12 | register(rt2)? << 8 | memory.base << 16;
    Ok(registers | index | scaled(offset.abs(), 4, 8)?)
}

/// `[Rn{, #imm}]`
fn exclusive_place(text: &str) -> Parsed<u32> {
    match memory(&[text])? {
        Memory { base, offset: Offset::Immediate(offset), indexing: Indexing::Offset } => {
            Ok(base << 16 | scaled(offset, 4, 8)?)
        }
        _ => Err(Refusal::Form),
    }
}

fn load_exclusive(line: &Line<'_>) -> Parsed<u32> {
    let [rt, at] = line.exactly()?;
    Ok(register(rt)? << 12 | exclusive_place(at)?)
}

fn store_exclusive(line: &Line<'_>) -> Parsed<u32> {
    let [rd, rt, at] = line.exactly()?;
    Ok(register(rd)? << 8 | register(rt)? << 12 | exclusive_place(at)?)
}

fn multiple(line: &Line<'_>) -> Parsed<u32> {
    let [rn, list] = line.exactly()?;
    Ok(written_base(rn)? | several(list)?)
}

/// A list of two or more registers: with one, the encoding is UNPREDICTABLE.
fn several(text: &str) -> Parsed<u32> {
    match register_list(text)? {
        List { caret: false, bits } if !bits.is_power_of_two() => Ok(bits),
        _ => Err(Refusal::Form),
    }
}

fn stack_one(line: &Line<'_>) -> Parsed<u32> {
    let [list] = line.exactly()?;
    match register_list(list)? {
        List { caret: false, bits } if bits.is_power_of_two() => Ok(bits.trailing_zeros() << 12),
        _ => Err(Refusal::Form),
    }
}

fn stack_list(line: &Line<'_>) -> Parsed<u32> {
    let [list] = line.exactly()?;
    several(list)
}

/// i:imm3:imm8 of a constant.
fn modified(text: &str) -> Parsed<u32> {
    let value = immediate(text)?;
    let Ok(value) = u32::try_from(value).or_else(|_| i32::try_from(value).map(i32::cast_unsigned)) else {
        return refuse(format!("{value} does not fit into 32 bits"));
    };
    let byte = value & 0xff;
    let second = value >> 8 & 0xff;
    let bits = match value {
        _ if value < 0x100 => byte,
        _ if value == byte * 0x0001_0001 => 0x100 | byte,
        _ if value == second * 0x0100_0100 => 0x200 | second,
        _ if value == byte * 0x0101_0101 => 0x300 | byte,
        _ => match (8..32).find(|&rotation| matches!(value.rotate_left(rotation), 0x80..=0xff)) {
            Some(rotation) => rotation << 7 | value.rotate_left(rotation) & 0x7f,
            None => return refuse(format!("{value:#x} is no constant of T32")),
        },
    };
    Ok((bits >> 11) << 26 | (bits >> 8 & 7) << 12 | bits & 0xff)
}

/// `Rm` or `Rm, shift`
fn shifted(operand: &[&str]) -> Parsed<u32> {
    let (rm, by) = match operand {
        [rm] => (rm, None),
        [rm, by] => (rm, Some(shift(by)?)),
        _ => return Err(Refusal::Form),
    };
    let by = by.unwrap_or_default();
    Ok(register(rm)? | by.kind << 4 | (by.amount & 3) << 6 | (by.amount >> 2) << 12)
}

fn move_constant(line: &Line<'_>) -> Parsed<u32> {
    let [rd, value] = line.exactly()?;
    Ok(register(rd)? << 8 | modified(value)?)
}

fn move_register(line: &Line<'_>) -> Parsed<u32> {
    let (rd, operand) = line.first()?;
    Ok(register(rd)? << 8 | shifted(operand)?)
}

fn constant(line: &Line<'_>) -> Parsed<u32> {
    let [rd, rn, value] = line.exactly()?;
    Ok(register(rd)? << 8 | register(rn)? << 16 | modified(value)?)
}

fn registers(line: &Line<'_>) -> Parsed<u32> {
    let (rd, rest) = line.first()?;
    let (rn, operand) = rest.split_first().ok_or(Refusal::Form)?;
    Ok(register(rd)? << 8 | register(rn)? << 16 | shifted(operand)?)
}

fn compare_constant(line: &Line<'_>) -> Parsed<u32> {
    let [rn, value] = line.exactly()?;
    Ok(register(rn)? << 16 | modified(value)?)
}

/// imm4:i:imm3:imm8.
fn move_wide(line: &Line<'_>) -> Parsed<u32> {
    let [rd, value] = line.exactly()?;
    let value = unsigned(value, 16)?;
    let split = (value >> 12) << 16 | (value >> 11 & 1) << 26 | (value >> 8 & 7) << 12 | value & 0xff;
    Ok(register(rd)? << 8 | split)
}

fn multiply(line: &Line<'_>) -> Parsed<u32> {
    let [rd, rn, rm] = line.exactly()?;
    Ok(register(rd)? << 8 | register(rn)? << 16 | register(rm)?)
}

/// `p, op1, Rt, CRn, CRm{, op2}`
fn coprocessor_move(line: &Line<'_>) -> Parsed<u32> {
    let (op2, rest) = match line.list() {
        [rest @ .., op2] if rest.len() == 5 => (unsigned(op2, 3)?, rest),
        rest => (0, rest),
    };
    let [p, op1, rt, crn, crm] = rest else { return Err(Refusal::Form) };
    let rt = if *rt == "apsr_nzcv" { 15 } else { register(rt)? };
    let registers = rt << 12 | coprocessor_register(crn)? << 16 | coprocessor_register(crm)?;
    Ok(coprocessor(p)? << 8 | unsigned(op1, 3)? << 21 | op2 << 5 | registers)
}

/// `p, op1, Rt, Rt2, CRm`
fn coprocessor_pair(line: &Line<'_>) -> Parsed<u32> {
    let [p, op1, rt, rt2, crm] = line.exactly()?;
    let registers = register(rt)? << 12 | register(rt2)? << 16 | coprocessor_register(crm)?;
    Ok(coprocessor(p)? << 8 | unsigned(op1, 4)? << 4 | registers)
}

/// `p, CRd, [Rn{, #imm}]`
fn coprocessor_load(line: &Line<'_>) -> Parsed<u32> {
    let [p, crd, at] = line.exactly()?;
    let Memory { base, offset: Offset::Immediate(offset), indexing } = memory(&[at])? else {
        return Err(Refusal::Form);
    };
    let write_back = if indexing == Indexing::Before { 1 << 21 } else { 0 };
    let up = if offset < 0 { 0 } else { 1 << 23 };
    let registers = coprocessor_register(crd)? << 12 | base << 16;
    Ok(coprocessor(p)? << 8 | registers | 1 << 24 | write_back | up | scaled(offset.abs(), 4, 8)?)
}
