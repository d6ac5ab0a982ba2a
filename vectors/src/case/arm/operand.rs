//! Operands of ARM instructions: from text to numbers.

use crate::case::Operands;
use crate::notation::parse_u64;

/// Why an operand is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// Another form of the instruction may take it.
    Form,
    /// It has the right form but cannot be encoded.
    Value(String),
}

pub(super) type Parsed<T> = Result<T, Refusal>;

pub(super) fn refuse<T>(message: impl Into<String>) -> Parsed<T> {
    Err(Refusal::Value(message.into()))
}

/// The operands of one line, for the encoders of the three instruction sets.
pub(super) struct Line<'a> {
    operands: &'a Operands<'a>,
}

/// A memory operand of A32 or T32.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Memory {
    pub(super) base: u32,
    pub(super) offset: Offset,
    pub(super) indexing: Indexing,
}

/// What is added to the base register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Offset {
    Immediate(i64),
    Register { subtract: bool, index: u32, shift: Shift },
}

/// When the base register is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Indexing {
    /// `[Rn, offset]`
    Offset,
    /// `[Rn, offset]!`
    Before,
    /// `[Rn], offset`
    After,
}

/// A shift by a constant; `kind` is 0 to 3 for LSL, LSR, ASR, ROR, and `amount` is as it is encoded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Shift {
    pub(super) kind: u32,
    pub(super) amount: u32,
}

/// A register list: bits by register number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct List {
    pub(super) bits: u32,
    /// `^` follows.
    pub(super) caret: bool,
}

impl<'a> Line<'a> {
    pub(super) const fn new(operands: &'a Operands<'a>) -> Self {
        Self { operands }
    }

    /// Exactly `N` operands.
    pub(super) fn exactly<const N: usize>(&self) -> Parsed<[&'a str; N]> {
        self.operands.list().try_into().map_err(|_| Refusal::Form)
    }

    /// At least one operand: the first and the others.
    pub(super) fn first(&self) -> Parsed<(&'a str, &'a [&'a str])> {
        self.operands.list().split_first().map(|(first, rest)| (*first, rest)).ok_or(Refusal::Form)
    }

    pub(super) fn list(&self) -> &'a [&'a str] {
        self.operands.list()
    }

    pub(super) const fn address(&self) -> u64 {
        self.operands.address()
    }

    /// The distance from `base` to a place in the code, within the address space.
    pub(super) fn distance(&self, text: &str, base: u64) -> Parsed<i64> {
        if text.starts_with('#') {
            return Err(Refusal::Form);
        }
        let target = self.operands.value(text).map_err(Refusal::Value)?;
        let mask = self.operands.address_mask();
        let distance = (target as u64).wrapping_sub(base) & mask;
        // The top bit of the address space is the sign.
        let sign = mask / 2 + 1;
        Ok((distance ^ sign).wrapping_sub(sign) as i64)
    }
}

/// `#4`, `#-4`, `#0x10`.
pub(super) fn immediate(text: &str) -> Parsed<i64> {
    let digits = text.strip_prefix('#').ok_or(Refusal::Form)?;
    let (negative, digits) = digits.strip_prefix('-').map_or((false, digits), |digits| (true, digits));
    let magnitude = parse_u64(digits).and_then(|value| i64::try_from(value).ok());
    match magnitude {
        Some(value) => Ok(if negative { -value } else { value }),
        None => refuse(format!("`{text}` is no number")),
    }
}

/// A number of `width` bits without sign; the `#` before it may be left out.
pub(super) fn unsigned(text: &str, width: u32) -> Parsed<u32> {
    match parse_u64(text).and_then(|value| i64::try_from(value).ok()) {
        Some(value) => fits(value, width),
        None => fits(immediate(text)?, width),
    }
}

pub(super) fn fits(value: i64, width: u32) -> Parsed<u32> {
    match u32::try_from(value) {
        Ok(bits) if width >= 32 || bits >> width == 0 => Ok(bits),
        _ => refuse(format!("{value} does not fit into {width} bits")),
    }
}

/// A multiple of `unit` whose quotient has `width` bits without sign.
pub(super) fn scaled(value: i64, unit: i64, width: u32) -> Parsed<u32> {
    if value % unit == 0 {
        fits(value / unit, width)
    } else {
        refuse(format!("{value} is no multiple of {unit}"))
    }
}

/// The low `width` bits of a signed number of `width` bits, in units of `unit`.
pub(super) fn signed(value: i64, unit: i64, width: u32) -> Parsed<u32> {
    let quotient = value / unit;
    let limit = 1_i64 << (width - 1);
    if value % unit != 0 {
        refuse(format!("{value} is no multiple of {unit}"))
    } else if (-limit..limit).contains(&quotient) {
        Ok((quotient & ((1 << width) - 1)) as u32)
    } else {
        refuse(format!("{value} is out of reach"))
    }
}

/// `r0` to `r15`, or one of the names.
pub(super) fn register(text: &str) -> Parsed<u32> {
    let number = match text {
        "sb" => 9,
        "sl" => 10,
        "fp" => 11,
        "ip" => 12,
        "sp" => 13,
        "lr" => 14,
        "pc" => 15,
        _ => numbered(text, 'r', 16)?,
    };
    Ok(number)
}

/// `prefix` and a number below `limit`, without needless zeros.
pub(super) fn numbered(text: &str, prefix: char, limit: u32) -> Parsed<u32> {
    let digits = text.strip_prefix(prefix).ok_or(Refusal::Form)?;
    let plain = digits == "0" || !digits.starts_with(['0', '+']);
    digits.parse().ok().filter(|&number| plain && number < limit).ok_or(Refusal::Form)
}

/// `r0` to `r7`.
pub(super) fn low_register(text: &str) -> Parsed<u32> {
    register(text).and_then(|number| if number < 8 { Ok(number) } else { Err(Refusal::Form) })
}

/// `{r0, r2-r4, pc}`, perhaps with `^`.
pub(super) fn register_list(text: &str) -> Parsed<List> {
    let (inner, caret) = text.strip_suffix('^').map_or((text, false), |inner| (inner.trim_end(), true));
    let inner = inner.strip_prefix('{').and_then(|inner| inner.strip_suffix('}')).ok_or(Refusal::Form)?;
    let mut bits = 0;
    for item in inner.split(',').map(str::trim) {
        let (first, last) = match item.split_once('-') {
            Some((first, last)) => (register(first.trim())?, register(last.trim())?),
            None => (register(item)?, register(item)?),
        };
        for number in first..=last {
            bits |= 1 << number;
        }
        if first > last {
            return refuse(format!("`{item}` names no registers"));
        }
    }
    Ok(List { bits, caret })
}

/// `lsl #3`, `lsr #32`, `asr #1`, `ror #7`, `rrx`.
pub(super) fn shift(text: &str) -> Parsed<Shift> {
    if text == "rrx" {
        return Ok(Shift { kind: 3, amount: 0 });
    }
    let (name, amount) = text.split_once(' ').ok_or(Refusal::Form)?;
    let kind = shift_kind(name)?;
    shift_by(kind, immediate(amount.trim())?)
}

pub(super) fn shift_kind(name: &str) -> Parsed<u32> {
    let kind = ["lsl", "lsr", "asr", "ror"].iter().position(|known| *known == name);
    kind.map(|kind| kind as u32).ok_or(Refusal::Form)
}

/// LSR and ASR by 32 are encoded as 0; ROR by 0 would be RRX.
pub(super) fn shift_by(kind: u32, amount: i64) -> Parsed<Shift> {
    let legal = match kind {
        0 => 0..=31,
        1 | 2 => 1..=32,
        _ => 1..=31,
    };
    if legal.contains(&amount) {
        Ok(Shift { kind, amount: amount as u32 & 31 })
    } else {
        refuse(format!("a shift by {amount} does not exist"))
    }
}

/// The memory operand that these operands are: one, or two where the second is added afterwards.
pub(super) fn memory(operands: &[&str]) -> Parsed<Memory> {
    let (first, after) = operands.split_first().ok_or(Refusal::Form)?;
    let (inner, write_back) = match first.strip_suffix('!') {
        Some(inner) => (inner.trim_end(), true),
        None => (*first, false),
    };
    let inner = inner.strip_prefix('[').and_then(|inner| inner.strip_suffix(']')).ok_or(Refusal::Form)?;
    let mut parts = inner.split(',').map(str::trim);
    let base = register(parts.next().unwrap_or_default())?;
    let inside: Vec<&str> = parts.collect();
    match (inside.is_empty(), after.is_empty(), write_back) {
        (_, true, _) => {
            let indexing = if write_back { Indexing::Before } else { Indexing::Offset };
            Ok(Memory { base, offset: offset(&inside)?, indexing })
        }
        (true, false, false) => Ok(Memory { base, offset: offset(after)?, indexing: Indexing::After }),
        _ => Err(Refusal::Form),
    }
}

fn offset(parts: &[&str]) -> Parsed<Offset> {
    let (first, shifted) = match parts {
        [] => return Ok(Offset::Immediate(0)),
        [immediate_text] if immediate_text.starts_with('#') => {
            return immediate(immediate_text).map(Offset::Immediate);
        }
        [first] => (first, Shift::default()),
        [first, shifted] => (first, shift(shifted)?),
        _ => return Err(Refusal::Form),
    };
    let (subtract, name) = first.strip_prefix('-').map_or((false, *first), |name| (true, name));
    Ok(Offset::Register { subtract, index: register(name)?, shift: shifted })
}

/// `p15` and the number of a coprocessor register, `c7`.
pub(super) fn coprocessor(text: &str) -> Parsed<u32> {
    numbered(text, 'p', 16)
}

pub(super) fn coprocessor_register(text: &str) -> Parsed<u32> {
    numbered(text, 'c', 16)
}

/// The options of DSB and DMB; a number where they have no name.
pub(super) fn barrier_option(text: &str) -> Parsed<u32> {
    const NAMES: [(&str, u32); 11] = [
        ("oshld", 1),
        ("oshst", 2),
        ("osh", 3),
        ("nshld", 5),
        ("nshst", 6),
        ("nsh", 7),
        ("ishld", 9),
        ("ishst", 10),
        ("ish", 11),
        ("ld", 13),
        ("st", 14),
    ];
    match NAMES.iter().find(|(name, _)| *name == text) {
        Some((_, option)) => Ok(*option),
        None if text == "sy" => Ok(15),
        None => unsigned(text, 4),
    }
}

/// Conditions by number; `cs` and `cc` are those with two names.
pub(super) const CONDITIONS: [&str; 15] =
    ["eq", "ne", "hs", "lo", "mi", "pl", "vs", "vc", "hi", "ls", "ge", "lt", "gt", "le", "al"];

pub(super) fn condition(name: &str) -> Option<u32> {
    let name = match name {
        "cs" => "hs",
        "cc" => "lo",
        name => name,
    };
    CONDITIONS.iter().position(|known| *known == name).map(|number| number as u32)
}

/// What follows `base` in a mnemonic: whether `s`, and which condition.
pub(super) fn suffix(mnemonic: &str, base: &str, may_set_flags: bool) -> Option<(bool, u32)> {
    const ALWAYS: u32 = 14;
    let rest = mnemonic.strip_prefix(base)?;
    let plain = |rest: &str| if rest.is_empty() { Some(ALWAYS) } else { condition(rest) };
    if let Some(condition) = plain(rest) {
        return Some((false, condition));
    }
    let rest = rest.strip_prefix('s').filter(|_| may_set_flags)?;
    plain(rest).map(|condition| (true, condition))
}
