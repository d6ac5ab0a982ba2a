//! The A64 instructions that the assembler knows: all that changes the flow, the system instructions that trace names,
//! and some other instructions.
//!
//! Source: ARM DDI 0487, C6.2.

use super::operand::{
    CONDITIONS, Line, Parsed, Refusal, barrier_option, condition, fits, immediate, numbered, refuse, scaled,
    shift, shift_kind, signed, unsigned,
};

/// One mnemonic with one form of operands.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) name: &'static str,
    bits: u32,
    encode: Encode,
}

type Encode = fn(&Line<'_>) -> Parsed<u32>;

const fn row(name: &'static str, encode: Encode, bits: u32) -> Row {
    Row { name, bits, encode }
}

pub(super) const ROWS: &[Row] = &[
    row("b", branch, 0x1400_0000),
    row("bl", branch, 0x9400_0000),
    row("b.", branch_19, 0x5400_0000),
    row("bc.", branch_19, 0x5400_0010),
    row("cbz", compare_branch, 0x3400_0000),
    row("cbnz", compare_branch, 0x3500_0000),
    row("tbz", test_branch, 0x3600_0000),
    row("tbnz", test_branch, 0x3700_0000),
    row("cbgt", compare_registers, 0x7400_0000),
    row("cbge", compare_registers, 0x7420_0000),
    row("cbhi", compare_registers, 0x7440_0000),
    row("cbhs", compare_registers, 0x7460_0000),
    row("cbeq", compare_registers, 0x74c0_0000),
    row("cbne", compare_registers, 0x74e0_0000),
    row("cbbgt", compare_words, 0x7400_8000),
    row("cbbge", compare_words, 0x7420_8000),
    row("cbbhi", compare_words, 0x7440_8000),
    row("cbbhs", compare_words, 0x7460_8000),
    row("cbbeq", compare_words, 0x74c0_8000),
    row("cbbne", compare_words, 0x74e0_8000),
    row("cbhgt", compare_words, 0x7400_c000),
    row("cbhge", compare_words, 0x7420_c000),
    row("cbhhi", compare_words, 0x7440_c000),
    row("cbhhs", compare_words, 0x7460_c000),
    row("cbheq", compare_words, 0x74c0_c000),
    row("cbhne", compare_words, 0x74e0_c000),
    row("cbgt", compare_immediate, 0x7500_0000),
    row("cblt", compare_immediate, 0x7520_0000),
    row("cbhi", compare_immediate, 0x7540_0000),
    row("cblo", compare_immediate, 0x7560_0000),
    row("cbeq", compare_immediate, 0x75c0_0000),
    row("cbne", compare_immediate, 0x75e0_0000),
    row("br", register, 0xd61f_0000),
    row("blr", register, 0xd63f_0000),
    row("ret", return_register, 0xd65f_0000),
    row("braaz", register, 0xd61f_081f),
    row("brabz", register, 0xd61f_0c1f),
    row("blraaz", register, 0xd63f_081f),
    row("blrabz", register, 0xd63f_0c1f),
    row("braa", authenticated, 0xd71f_0800),
    row("brab", authenticated, 0xd71f_0c00),
    row("blraa", authenticated, 0xd73f_0800),
    row("blrab", authenticated, 0xd73f_0c00),
    row("retaa", nothing, 0xd65f_0bff),
    row("retab", nothing, 0xd65f_0fff),
    row("retaasppc", signing_place, 0x5500_001f),
    row("retabsppc", signing_place, 0x5520_001f),
    row("retaasppcr", destination, 0xd65f_0be0),
    row("retabsppcr", destination, 0xd65f_0fe0),
    row("eret", nothing, 0xd69f_03e0),
    row("eretaa", nothing, 0xd69f_0bff),
    row("eretab", nothing, 0xd69f_0fff),
    row("drps", nothing, 0xd6bf_03e0),
    row("texit", nothing, 0xd6ff_03e0),
    row("svc", number_16, 0xd400_0001),
    row("hvc", number_16, 0xd400_0002),
    row("smc", number_16, 0xd400_0003),
    row("brk", number_16, 0xd420_0000),
    row("hlt", number_16, 0xd440_0000),
    row("tcancel", number_16, 0xd460_0000),
    row("udf", undefined, 0x0000_0000),
    row("tstart", destination, 0xd523_3060),
    row("ttest", destination, 0xd523_3160),
    row("tcommit", nothing, 0xd503_307f),
    row("wfet", destination, 0xd503_1000),
    row("wfit", destination, 0xd503_1020),
    row("nop", nothing, 0xd503_201f),
    row("yield", nothing, 0xd503_203f),
    row("wfe", nothing, 0xd503_205f),
    row("wfi", nothing, 0xd503_207f),
    row("sev", nothing, 0xd503_209f),
    row("sevl", nothing, 0xd503_20bf),
    row("hint", hint, 0xd503_201f),
    row("tsb", synchronize_trace, 0xd503_225f),
    row("paciasp", nothing, 0xd503_233f),
    row("autiasp", nothing, 0xd503_23bf),
    row("clrex", nothing, 0xd503_3f5f),
    row("dsb", barrier, 0xd503_309f),
    row("dmb", barrier, 0xd503_30bf),
    row("isb", barrier, 0xd503_30df),
    row("sb", nothing, 0xd503_30ff),
    row("trcit", destination, 0xd50b_72e0),
    row("mrs", system_read, 0xd520_0000),
    row("msr", system_write, 0xd500_0000),
    row("mov", move_register, 0x2a00_03e0),
    row("mov", move_wide, 0x5280_0000),
    row("movn", move_wide, 0x1280_0000),
    row("movz", move_wide, 0x5280_0000),
    row("movk", move_wide, 0x7280_0000),
    row("add", add_immediate, 0x1100_0000),
    row("adds", add_immediate, 0x3100_0000),
    row("sub", add_immediate, 0x5100_0000),
    row("subs", add_immediate, 0x7100_0000),
    row("cmp", compare_to_immediate, 0x7100_001f),
    row("cmp", compare_to_register, 0x6b00_001f),
    row("add", three_registers, 0x0b00_0000),
    row("adds", three_registers, 0x2b00_0000),
    row("sub", three_registers, 0x4b00_0000),
    row("subs", three_registers, 0x6b00_0000),
    row("and", three_registers, 0x0a00_0000),
    row("orr", three_registers, 0x2a00_0000),
    row("eor", three_registers, 0x4a00_0000),
    row("adr", address, 0x1000_0000),
    row("ldr", literal, 0x1800_0000),
    row("ldr", load::<2>, 0xb840_0000),
    row("str", load::<2>, 0xb800_0000),
    row("ldrb", load::<0>, 0x3840_0000),
    row("strb", load::<0>, 0x3800_0000),
    row("ldrh", load::<1>, 0x7840_0000),
    row("strh", load::<1>, 0x7800_0000),
    row("ldp", pair, 0x2840_0000),
    row("stp", pair, 0x2800_0000),
];

impl Row {
    /// Whether `mnemonic` is this row's name, and with which condition after a name that ends in a point.
    pub(super) fn matches(&self, mnemonic: &str) -> Option<u32> {
        if !self.name.ends_with('.') {
            return (self.name == mnemonic).then_some(0);
        }
        match mnemonic.strip_prefix(self.name)? {
            "nv" => Some(CONDITIONS.len() as u32),
            name => condition(name),
        }
    }

    /// The instruction's word.
    pub(super) fn encode(&self, condition: u32, line: &Line<'_>) -> Parsed<u32> {
        Ok(self.bits | condition | (self.encode)(line)?)
    }
}

/// A general-purpose register: its number and whether it has 64 bits. 31 is the zero register or, if `stack` is
/// allowed, the stack pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Register {
    number: u32,
    is_64_bit: bool,
}

/// What register 31 is in an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Last {
    Zero,
    Stack,
}

fn general(text: &str, last: Last) -> Parsed<Register> {
    let (number, is_64_bit) = match (text, last) {
        ("xzr", Last::Zero) | ("sp", Last::Stack) => (31, true),
        ("wzr", Last::Zero) | ("wsp", Last::Stack) => (31, false),
        ("lr", _) => (30, true),
        _ if text.starts_with('w') => (numbered(text, 'w', 31)?, false),
        _ => (numbered(text, 'x', 31)?, true),
    };
    Ok(Register { number, is_64_bit })
}

/// A 64-bit register.
fn x(text: &str, last: Last) -> Parsed<u32> {
    match general(text, last)? {
        Register { number, is_64_bit: true } => Ok(number),
        Register { .. } => Err(Refusal::Form),
    }
}

/// A 32-bit register.
fn w(text: &str) -> Parsed<u32> {
    match general(text, Last::Zero)? {
        Register { number, is_64_bit: false } => Ok(number),
        Register { .. } => Err(Refusal::Form),
    }
}

/// Bit 31, which means that the registers have 64 bits.
const fn size_bit(register: Register) -> u32 {
    if register.is_64_bit { 1 << 31 } else { 0 }
}

fn nothing(line: &Line<'_>) -> Parsed<u32> {
    line.exactly::<0>().map(|_| 0)
}

/// A place in the code, `width` bits in words.
fn words(line: &Line<'_>, target: &str, width: u32) -> Parsed<u32> {
    signed(line.distance(target, line.address())?, 4, width)
}

fn branch(line: &Line<'_>) -> Parsed<u32> {
    let [target] = line.exactly()?;
    words(line, target, 26)
}

fn branch_19(line: &Line<'_>) -> Parsed<u32> {
    let [target] = line.exactly()?;
    Ok(words(line, target, 19)? << 5)
}

fn compare_branch(line: &Line<'_>) -> Parsed<u32> {
    let [rt, target] = line.exactly()?;
    let rt = general(rt, Last::Zero)?;
    Ok(size_bit(rt) | rt.number | words(line, target, 19)? << 5)
}

fn test_branch(line: &Line<'_>) -> Parsed<u32> {
    let [rt, index, target] = line.exactly()?;
    let rt = general(rt, Last::Zero)?;
    let index = unsigned(index, if rt.is_64_bit { 6 } else { 5 })?;
    Ok((index >> 5) << 31 | (index & 31) << 19 | words(line, target, 14)? << 5 | rt.number)
}

/// `Rt, Rm, target` (`FEAT_CMPBR`).
fn compare_registers(line: &Line<'_>) -> Parsed<u32> {
    let [rt, rm, target] = line.exactly()?;
    let (rt, rm) = (general(rt, Last::Zero)?, general(rm, Last::Zero)?);
    if rt.is_64_bit != rm.is_64_bit {
        return Err(Refusal::Form);
    }
    Ok(size_bit(rt) | rt.number | rm.number << 16 | words(line, target, 9)? << 5)
}

/// `Wt, Wm, target`
fn compare_words(line: &Line<'_>) -> Parsed<u32> {
    let [rt, rm, target] = line.exactly()?;
    Ok(w(rt)? | w(rm)? << 16 | words(line, target, 9)? << 5)
}

/// `Rt, #imm6, target`
fn compare_immediate(line: &Line<'_>) -> Parsed<u32> {
    let [rt, value, target] = line.exactly()?;
    let rt = general(rt, Last::Zero)?;
    let value = fits(immediate(value)?, 6)?;
    Ok(size_bit(rt) | rt.number | value << 15 | words(line, target, 9)? << 5)
}

fn register(line: &Line<'_>) -> Parsed<u32> {
    let [rn] = line.exactly()?;
    Ok(x(rn, Last::Zero)? << 5)
}

/// `ret`, which is `ret x30`.
fn return_register(line: &Line<'_>) -> Parsed<u32> {
    match line.list() {
        [] => Ok(30 << 5),
        [rn] => Ok(x(rn, Last::Zero)? << 5),
        _ => Err(Refusal::Form),
    }
}

/// `Xn, Xm` or `Xn, sp`
fn authenticated(line: &Line<'_>) -> Parsed<u32> {
    let [rn, rm] = line.exactly()?;
    Ok(x(rn, Last::Zero)? << 5 | x(rm, Last::Stack)?)
}

/// The place of the signing instruction, before this one.
fn signing_place(line: &Line<'_>) -> Parsed<u32> {
    let [place] = line.exactly()?;
    Ok(scaled(-line.distance(place, line.address())?, 4, 16)? << 5)
}

fn destination(line: &Line<'_>) -> Parsed<u32> {
    let [rt] = line.exactly()?;
    x(rt, Last::Zero)
}

fn number_16(line: &Line<'_>) -> Parsed<u32> {
    let [number] = line.exactly()?;
    Ok(unsigned(number, 16)? << 5)
}

fn undefined(line: &Line<'_>) -> Parsed<u32> {
    let [number] = line.exactly()?;
    unsigned(number, 16)
}

fn hint(line: &Line<'_>) -> Parsed<u32> {
    let [number] = line.exactly()?;
    Ok(unsigned(number, 7)? << 5)
}

fn synchronize_trace(line: &Line<'_>) -> Parsed<u32> {
    match line.exactly()? {
        ["csync"] => Ok(0),
        _ => Err(Refusal::Form),
    }
}

/// An option, `sy` if there is none.
fn barrier(line: &Line<'_>) -> Parsed<u32> {
    match line.list() {
        [] => Ok(15 << 8),
        [option] => Ok(barrier_option(option)? << 8),
        _ => Err(Refusal::Form),
    }
}

/// `S3_1_C15_C2_0`, in small letters.
fn system_register(text: &str) -> Parsed<u32> {
    let mut parts = text.split('_');
    let mut part = |prefix: char, limit| numbered(parts.next().unwrap_or_default(), prefix, limit);
    let op0 = part('s', 4)?;
    let mut rest = text.split('_').skip(1);
    let mut digits = |limit: u32| {
        let text = rest.next().unwrap_or_default();
        let text = text.strip_prefix('c').unwrap_or(text);
        text.parse().ok().filter(|&number: &u32| number < limit).ok_or(Refusal::Form)
    };
    let [op1, crn, crm, op2] = [digits(8)?, digits(16)?, digits(16)?, digits(8)?];
    if op0 < 2 || rest.next().is_some() {
        return Err(Refusal::Form);
    }
    Ok(op0 << 19 | op1 << 16 | crn << 12 | crm << 8 | op2 << 5)
}

fn system_read(line: &Line<'_>) -> Parsed<u32> {
    let [rt, name] = line.exactly()?;
    Ok(x(rt, Last::Zero)? | system_register(name)?)
}

fn system_write(line: &Line<'_>) -> Parsed<u32> {
    let [name, rt] = line.exactly()?;
    Ok(x(rt, Last::Zero)? | system_register(name)?)
}

/// `mov Rd, Rm` is `orr Rd, zr, Rm`.
fn move_register(line: &Line<'_>) -> Parsed<u32> {
    let [rd, rm] = line.exactly()?;
    let (rd, rm) = (general(rd, Last::Zero)?, general(rm, Last::Zero)?);
    if rd.is_64_bit != rm.is_64_bit {
        return Err(Refusal::Form);
    }
    Ok(size_bit(rd) | rd.number | rm.number << 16)
}

/// `Rd, #imm16{, lsl #n}`
fn move_wide(line: &Line<'_>) -> Parsed<u32> {
    let (rd, value, by) = match line.list() {
        [rd, value] => (rd, value, 0),
        [rd, value, by] => match by.split_once(' ') {
            Some(("lsl", amount)) => (rd, value, scaled(immediate(amount.trim())?, 16, 2)?),
            _ => return Err(Refusal::Form),
        },
        _ => return Err(Refusal::Form),
    };
    let rd = general(rd, Last::Zero)?;
    if by > 1 && !rd.is_64_bit {
        return refuse("a register of 32 bits has two half-words");
    }
    Ok(size_bit(rd) | rd.number | by << 21 | fits(immediate(value)?, 16)? << 5)
}

/// An immediate of 12 bits, perhaps moved up by 12.
fn immediate_12(operand: &[&str]) -> Parsed<u32> {
    match operand {
        [value] => Ok(fits(immediate(value)?, 12)? << 10),
        [value, "lsl #12"] => Ok(1 << 22 | fits(immediate(value)?, 12)? << 10),
        _ => Err(Refusal::Form),
    }
}

fn add_immediate(line: &Line<'_>) -> Parsed<u32> {
    let (rd, rest) = line.first()?;
    let (rn, operand) = rest.split_first().ok_or(Refusal::Form)?;
    let operand = immediate_12(operand)?;
    let (rd, rn) = (either(rd)?, general(rn, Last::Stack)?);
    Ok(size_bit(rd) | rd.number | rn.number << 5 | operand)
}

/// A register whose number 31 depends on the instruction.
fn either(text: &str) -> Parsed<Register> {
    general(text, Last::Stack).or_else(|_| general(text, Last::Zero))
}

fn compare_to_immediate(line: &Line<'_>) -> Parsed<u32> {
    let (rn, operand) = line.first()?;
    let operand = immediate_12(operand)?;
    let rn = general(rn, Last::Stack)?;
    Ok(size_bit(rn) | rn.number << 5 | operand)
}

/// `Rm{, shift}`
fn shifted(operand: &[&str]) -> Parsed<u32> {
    match operand {
        [rm] => Ok(general(rm, Last::Zero)?.number << 16),
        [rm, by] => {
            let rm = general(rm, Last::Zero)?;
            let (name, amount) = by.split_once(' ').ok_or(Refusal::Form)?;
            // The common reader knows the shifts of 32-bit registers.
            let shift_bits = if rm.is_64_bit {
                (shift_kind(name)?, fits(immediate(amount.trim())?, 6)?)
            } else {
                let by = shift(by)?;
                (by.kind, by.amount)
            };
            Ok(rm.number << 16 | shift_bits.0 << 22 | shift_bits.1 << 10)
        }
        _ => Err(Refusal::Form),
    }
}

fn compare_to_register(line: &Line<'_>) -> Parsed<u32> {
    let (rn, operand) = line.first()?;
    let rn = general(rn, Last::Zero)?;
    Ok(size_bit(rn) | rn.number << 5 | shifted(operand)?)
}

fn three_registers(line: &Line<'_>) -> Parsed<u32> {
    let (rd, rest) = line.first()?;
    let (rn, operand) = rest.split_first().ok_or(Refusal::Form)?;
    let (rd, rn) = (general(rd, Last::Zero)?, general(rn, Last::Zero)?);
    Ok(size_bit(rd) | rd.number | rn.number << 5 | shifted(operand)?)
}

fn address(line: &Line<'_>) -> Parsed<u32> {
    let [rd, place] = line.exactly()?;
    let distance = signed(line.distance(place, line.address())?, 1, 21)?;
    Ok(x(rd, Last::Zero)? | (distance & 3) << 29 | (distance >> 2) << 5)
}

fn literal(line: &Line<'_>) -> Parsed<u32> {
    let [rt, place] = line.exactly()?;
    if place.starts_with('[') {
        return Err(Refusal::Form);
    }
    let rt = general(rt, Last::Zero)?;
    Ok(u32::from(rt.is_64_bit) << 30 | rt.number | words(line, place, 19)? << 5)
}

/// Where the base register and the offset of a memory operand are, and when the base is written.
struct Place {
    base: u32,
    offset: i64,
    /// 0: not; 1: after the access; 3: before.
    index: u32,
}

fn place(operands: &[&str]) -> Parsed<Place> {
    let (first, after) = operands.split_first().ok_or(Refusal::Form)?;
    let (inner, before) = first.strip_suffix('!').map_or((*first, false), |inner| (inner, true));
    let inner = inner.strip_prefix('[').and_then(|inner| inner.strip_suffix(']')).ok_or(Refusal::Form)?;
    let (base, inside) = match inner.split_once(',') {
        Some((base, inside)) => (base.trim(), Some(inside.trim())),
        None => (inner.trim(), None),
    };
    let base = x(base, Last::Stack)?;
    match (inside, after, before) {
        (None, [], false) => Ok(Place { base, offset: 0, index: 0 }),
        (Some(offset), [], false) => Ok(Place { base, offset: immediate(offset)?, index: 0 }),
        (Some(offset), [], true) => Ok(Place { base, offset: immediate(offset)?, index: 3 }),
        (None, [offset], false) => Ok(Place { base, offset: immediate(offset)?, index: 1 }),
        _ => Err(Refusal::Form),
    }
}

/// `SIZE` is the binary logarithm of the size of a 32-bit register's access; 64-bit registers have 8 bytes.
fn load<const SIZE: u32>(line: &Line<'_>) -> Parsed<u32> {
    let (rt, operands) = line.first()?;
    let rt = general(rt, Last::Zero)?;
    if rt.is_64_bit && SIZE != 2 {
        return Err(Refusal::Form);
    }
    let Place { base, offset, index } = place(operands)?;
    let bits = rt.number | base << 5 | u32::from(rt.is_64_bit) << 30;
    if index != 0 {
        return Ok(bits | signed(offset, 1, 9)? << 12 | index << 10);
    }
    let size = 1_i64 << (SIZE + u32::from(rt.is_64_bit));
    Ok(bits | 1 << 24 | scaled(offset, size, 12)? << 10)
}

fn pair(line: &Line<'_>) -> Parsed<u32> {
    let (rt, rest) = line.first()?;
    let (rt2, operands) = rest.split_first().ok_or(Refusal::Form)?;
    let (rt, rt2) = (general(rt, Last::Zero)?, general(rt2, Last::Zero)?);
    let Place { base, offset, index } = place(operands)?;
    if rt.is_64_bit != rt2.is_64_bit {
        return Err(Refusal::Form);
    }
    let size = if rt.is_64_bit { 8 } else { 4 };
    // 1: after, 2: no writing, 3: before.
    let index = if index == 0 { 2 } else { index };
    let bits = size_bit(rt) | rt.number | rt2.number << 10 | base << 5;
    Ok(bits | index << 23 | signed(offset, size, 7)? << 15)
}
