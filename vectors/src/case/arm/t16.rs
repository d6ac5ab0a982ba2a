//! The T32 instructions of one half-word that the assembler knows, and the handler branches of T32EE.
//!
//! Source: ARM DDI 0406, A6.2 and A9.3.

use super::operand::{
    Indexing, Line, Memory, Offset, Parsed, Refusal, Shift, fits, immediate, low_register as low, memory,
    refuse, register, register_list, scaled, shift_by, signed, unsigned,
};
use super::thumb::{Kind, Row, nothing};

type Encode = fn(&Line<'_>) -> Parsed<u32>;

const fn row(name: &'static str, encode: Encode, bits: u32) -> Row {
    Row { name, bits, kind: Kind::Plain, needs_w: false, encode }
}

const fn flags(name: &'static str, encode: Encode, bits: u32) -> Row {
    Row { name, bits, kind: Kind::Flags, needs_w: false, encode }
}

const fn alone(name: &'static str, encode: Encode, bits: u32) -> Row {
    Row { name, bits, kind: Kind::Alone, needs_w: false, encode }
}

pub(super) const ROWS: &[Row] = &[
    row("nop", nothing, 0xbf00),
    row("yield", nothing, 0xbf10),
    row("wfe", nothing, 0xbf20),
    row("wfi", nothing, 0xbf30),
    row("sev", nothing, 0xbf40),
    Row { name: "b", bits: 0xd000, kind: Kind::Conditional(8), needs_w: false, encode: branch_8 },
    row("b", branch_11, 0xe000),
    alone("cbz", compare_branch, 0xb100),
    alone("cbnz", compare_branch, 0xb900),
    row("bx", high_register, 0x4700),
    row("blx", high_register, 0x4780),
    row("bxns", high_register, 0x4704),
    row("blxns", high_register, 0x4784),
    flags("mov", move_immediate, 0x2000),
    Row { name: "mov", bits: 0x0000, kind: Kind::OnlyFlags, needs_w: false, encode: move_low },
    row("mov", move_high, 0x4600),
    flags("add", add_registers, 0x1800),
    flags("sub", add_registers, 0x1a00),
    flags("add", add_3, 0x1c00),
    flags("sub", add_3, 0x1e00),
    flags("add", add_8, 0x3000),
    flags("sub", add_8, 0x3800),
    row("add", add_stack, 0xa800),
    row("add", stack_pointer, 0xb000),
    row("sub", stack_pointer, 0xb080),
    row("add", move_high, 0x4400),
    row("adr", address, 0xa000),
    row("cmp", move_immediate, 0x2800),
    row("cmp", two_low, 0x4280),
    row("cmp", move_high, 0x4500),
    row("tst", two_low, 0x4200),
    row("cmn", two_low, 0x42c0),
    flags("lsl", shift::<0>, 0x0000),
    flags("lsr", shift::<1>, 0x0800),
    flags("asr", shift::<2>, 0x1000),
    flags("and", two_low, 0x4000),
    flags("eor", two_low, 0x4040),
    flags("adc", two_low, 0x4140),
    flags("sbc", two_low, 0x4180),
    flags("orr", two_low, 0x4300),
    flags("bic", two_low, 0x4380),
    flags("mvn", two_low, 0x43c0),
    row("ldr", immediate_load::<4>, 0x6800),
    row("str", immediate_load::<4>, 0x6000),
    row("ldrb", immediate_load::<1>, 0x7800),
    row("strb", immediate_load::<1>, 0x7000),
    row("ldrh", immediate_load::<2>, 0x8800),
    row("strh", immediate_load::<2>, 0x8000),
    row("ldr", stack_load, 0x9800),
    row("str", stack_load, 0x9000),
    row("ldr", literal, 0x4800),
    row("ldr", register_load, 0x5800),
    row("str", register_load, 0x5000),
    row("ldrb", register_load, 0x5c00),
    row("strb", register_load, 0x5400),
    row("ldrh", register_load, 0x5a00),
    row("strh", register_load, 0x5200),
    row("ldrsb", register_load, 0x5600),
    row("ldrsh", register_load, 0x5e00),
    row("push", stack::<14>, 0xb400),
    row("pop", stack::<15>, 0xbc00),
    row("ldm", load_multiple, 0xc800),
    row("ldmia", load_multiple, 0xc800),
    row("stm", store_multiple, 0xc000),
    row("stmia", store_multiple, 0xc000),
    row("svc", number::<8>, 0xdf00),
    alone("udf", number::<8>, 0xde00),
    alone("bkpt", number::<8>, 0xbe00),
    alone("hlt", number::<6>, 0xba80),
    alone("cpsie", interrupt_mask, 0xb660),
    alone("cpsid", interrupt_mask, 0xb670),
    row("uxtb", two_low, 0xb2c0),
    row("uxth", two_low, 0xb280),
];

/// Only in T32EE state.
pub(super) const HANDLER_ROWS: &[Row] = &[
    row("hbp", handler_parameter::<3>, 0xc000),
    row("hb", number::<8>, 0xc200),
    row("hbl", number::<8>, 0xc300),
    row("hblp", handler_parameter::<5>, 0xc400),
    row("chka", check_array, 0xca00),
];

/// From the PC, which is 4 bytes ahead.
fn offset(line: &Line<'_>, target: &str) -> Parsed<i64> {
    line.distance(target, line.address().wrapping_add(4))
}

fn branch_8(line: &Line<'_>) -> Parsed<u32> {
    let [target] = line.exactly()?;
    signed(offset(line, target)?, 2, 8)
}

fn branch_11(line: &Line<'_>) -> Parsed<u32> {
    let [target] = line.exactly()?;
    signed(offset(line, target)?, 2, 11)
}

fn compare_branch(line: &Line<'_>) -> Parsed<u32> {
    let [rn, target] = line.exactly()?;
    let halves = scaled(offset(line, target)?, 2, 6)?;
    Ok(low(rn)? | (halves & 31) << 3 | (halves >> 5) << 9)
}

fn high_register(line: &Line<'_>) -> Parsed<u32> {
    let [rm] = line.exactly()?;
    Ok(register(rm)? << 3)
}

fn move_immediate(line: &Line<'_>) -> Parsed<u32> {
    let [rd, value] = line.exactly()?;
    Ok(low(rd)? << 8 | plain(value, 8)?)
}

/// A number that must have its `#`: other operands are registers or places.
fn plain(text: &str, width: u32) -> Parsed<u32> {
    fits(immediate(text)?, width)
}

/// `movs Rd, Rm`, which exists outside of IT blocks only.
fn move_low(line: &Line<'_>) -> Parsed<u32> {
    let [rd, rm] = line.exactly()?;
    Ok(low(rd)? | low(rm)? << 3)
}

/// `mov`, `add`, `cmp` of any two registers: the top bit of the first one is apart.
fn move_high(line: &Line<'_>) -> Parsed<u32> {
    let [rd, rm] = line.exactly()?;
    let rd = register(rd)?;
    Ok(rd & 7 | (rd >> 3) << 7 | register(rm)? << 3)
}

fn add_registers(line: &Line<'_>) -> Parsed<u32> {
    let (rd, rest) = line.first()?;
    let (rn, rm) = match rest {
        [rm] => (rd, *rm),
        [rn, rm] => (*rn, *rm),
        _ => return Err(Refusal::Form),
    };
    Ok(low(rd)? | low(rn)? << 3 | low(rm)? << 6)
}

fn add_3(line: &Line<'_>) -> Parsed<u32> {
    let [rd, rn, value] = line.exactly()?;
    Ok(low(rd)? | low(rn)? << 3 | plain(value, 3)? << 6)
}

fn add_8(line: &Line<'_>) -> Parsed<u32> {
    let [rd, value] = line.exactly()?;
    Ok(low(rd)? << 8 | plain(value, 8)?)
}

/// `add Rd, sp, #imm`
fn add_stack(line: &Line<'_>) -> Parsed<u32> {
    match line.exactly()? {
        [rd, "sp", value] => Ok(low(rd)? << 8 | scaled(immediate(value)?, 4, 8)?),
        _ => Err(Refusal::Form),
    }
}

/// `add sp, #imm`, `add sp, sp, #imm`
fn stack_pointer(line: &Line<'_>) -> Parsed<u32> {
    match line.list() {
        ["sp", value] | ["sp", "sp", value] => scaled(immediate(value)?, 4, 7),
        _ => Err(Refusal::Form),
    }
}

fn address(line: &Line<'_>) -> Parsed<u32> {
    let [rd, place] = line.exactly()?;
    Ok(low(rd)? << 8 | literal_offset(line, place)?)
}

/// From the PC, rounded down to a word.
fn literal_offset(line: &Line<'_>, place: &str) -> Parsed<u32> {
    scaled(line.distance(place, line.address().wrapping_add(4) & !3)?, 4, 8)
}

/// `cmp Rn, Rm`, and `ands Rd, Rm`, which may name Rd twice.
fn two_low(line: &Line<'_>) -> Parsed<u32> {
    match line.list() {
        [rd, rm] => Ok(low(rd)? | low(rm)? << 3),
        [rd, rn, rm] if rd == rn => Ok(low(rd)? | low(rm)? << 3),
        _ => Err(Refusal::Form),
    }
}

fn shift<const KIND: u32>(line: &Line<'_>) -> Parsed<u32> {
    let [rd, rm, amount] = line.exactly()?;
    let Shift { amount, .. } = shift_by(KIND, immediate(amount)?)?;
    Ok(low(rd)? | low(rm)? << 3 | amount << 6)
}

/// The operands `Rt, [Rn, offset]`.
fn load(line: &Line<'_>) -> Parsed<(u32, u32, Offset)> {
    let [rt, at] = line.exactly()?;
    match memory(&[at])? {
        Memory { base, offset, indexing: Indexing::Offset } => Ok((low(rt)?, base, offset)),
        _ => Err(Refusal::Form),
    }
}

fn immediate_load<const SIZE: i64>(line: &Line<'_>) -> Parsed<u32> {
    match load(line)? {
        (rt, base @ 0..=7, Offset::Immediate(offset)) => Ok(rt | base << 3 | scaled(offset, SIZE, 5)? << 6),
        _ => Err(Refusal::Form),
    }
}

fn stack_load(line: &Line<'_>) -> Parsed<u32> {
    match load(line)? {
        (rt, 13, Offset::Immediate(offset)) => Ok(rt << 8 | scaled(offset, 4, 8)?),
        _ => Err(Refusal::Form),
    }
}

/// `ldr Rt, place` or `ldr Rt, [pc, #imm]`
fn literal(line: &Line<'_>) -> Parsed<u32> {
    let [rt, place] = line.exactly()?;
    if place.starts_with('[') {
        return match load(line)? {
            (rt, 15, Offset::Immediate(offset)) => Ok(rt << 8 | scaled(offset, 4, 8)?),
            _ => Err(Refusal::Form),
        };
    }
    Ok(low(rt)? << 8 | literal_offset(line, place)?)
}

fn register_load(line: &Line<'_>) -> Parsed<u32> {
    match load(line)? {
        (rt, base @ 0..=7, Offset::Register { subtract: false, index: index @ 0..=7, shift })
            if shift == Shift::default() =>
        {
            Ok(rt | base << 3 | index << 6)
        }
        _ => Err(Refusal::Form),
    }
}

/// `EXTRA` is the register that bit 8 stands for.
fn stack<const EXTRA: u32>(line: &Line<'_>) -> Parsed<u32> {
    let [list] = line.exactly()?;
    let list = register_list(list)?;
    if list.caret || list.bits & !(0xff | 1 << EXTRA) != 0 {
        return Err(Refusal::Form);
    }
    Ok(list.bits & 0xff | (list.bits >> EXTRA & 1) << 8)
}

/// `Rn{!}, {list}` of low registers: whether `!` is there, and the bits.
fn multiple(line: &Line<'_>) -> Parsed<(bool, u32, u32)> {
    let [rn, list] = line.exactly()?;
    let list = register_list(list)?;
    if list.caret || list.bits > 0xff {
        return Err(Refusal::Form);
    }
    let rn_name = rn.strip_suffix('!');
    Ok((rn_name.is_some(), low(rn_name.unwrap_or(rn))?, list.bits))
}

/// Rn is written back unless it is loaded.
fn load_multiple(line: &Line<'_>) -> Parsed<u32> {
    let (write_back, rn, list) = multiple(line)?;
    if write_back == (list >> rn & 1 == 1) {
        return refuse("the base register is written back, with `!`, unless it is in the list");
    }
    Ok(rn << 8 | list)
}

fn store_multiple(line: &Line<'_>) -> Parsed<u32> {
    match multiple(line)? {
        (true, rn, list) => Ok(rn << 8 | list),
        _ => Err(Refusal::Form),
    }
}

fn number<const WIDTH: u32>(line: &Line<'_>) -> Parsed<u32> {
    let [value] = line.exactly()?;
    unsigned(value, WIDTH)
}

fn interrupt_mask(line: &Line<'_>) -> Parsed<u32> {
    let [names] = line.exactly()?;
    names.chars().try_fold(0, |mask, name| match "fia".find(name) {
        Some(bit) => Ok(mask | 1 << bit),
        None => Err(Refusal::Form),
    })
}

/// `#imm, #handler`; the handler has five bits below `WIDTH` bits of immediate.
fn handler_parameter<const WIDTH: u32>(line: &Line<'_>) -> Parsed<u32> {
    let [value, handler] = line.exactly()?;
    Ok(unsigned(value, WIDTH)? << 5 | unsigned(handler, 5)?)
}

/// `Rn, Rm`: the top bit of Rn is apart.
fn check_array(line: &Line<'_>) -> Parsed<u32> {
    move_high(line)
}
