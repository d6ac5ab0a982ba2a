//! Explains why something is tagged or not: the terms of the formulas in words, with the deciding bit.
//!
//! Each answer has the outcome of [`qualification`](super::qualification), and [`Display`](fmt::Display) puts it into a
//! sentence.

use core::fmt;

use traceproof_vectors::itanium_pmu::{AccessKind, Instruction, Parameters, SyllableType};

use super::Registers;
use super::qualification::opcode::{self, OpcodeMonitor};
use super::qualification::pair::difference;
use super::qualification::{BitDifference, data, range};
use super::slice::{bit, small};

/// What decides an instruction range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RangeReason {
    /// Tagged: PMC\[13\].ta = 1.
    TagAll,
    /// Not tagged: PSR.is = 1.
    Ia32,
    /// Not tagged: PSR.db = 1.
    DebugEnabled,
    /// Not tagged: the x bit of this odd IBR is 1.
    Breakpoint {
        /// n of IBR\[n\].
        register: u8,
    },
    /// Tagged: this pair matches.
    Match {
        /// 0 to 3.
        pair: u8,
    },
    /// Not tagged: no pair matches, for these reasons.
    NoMatch([PairMismatch; 4]),
}

/// Why a pair of breakpoint registers does not match an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PairMismatch {
    /// plm of the odd IBR does not enable PSR.cpl.
    PrivilegeLevel {
        /// plm.
        plm: u8,
        /// PSR.cpl.
        cpl: u8,
    },
    /// A bit of the address differs; of several, the highest.
    Bit(BitDifference),
}

/// What decides an opcode match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpcodeReason {
    /// Matches.
    Match,
    /// No match: m, i, f or b does not select the type of the syllable.
    TypeNotSelected {
        /// The type.
        itype: SyllableType,
    },
    /// No match: a bit of the key differs; of several, the highest.
    Bit {
        /// Bit of the syllable, 40 to 27 or 12 to 0.
        enco: u8,
        /// Index in the match and mask fields, 26 to 0.
        key: u8,
        /// Its value in the syllable; in the match field it is the other one.
        value: bool,
    },
}

/// What decides Tag(PMC\[8\]) or Tag(PMC\[9\]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpcodeTagReason {
    /// Not tagged: PSR.is = 1.
    Ia32,
    /// Not tagged: IBRRangeTag is 0.
    Range(RangeReason),
    /// Tagged as the opcode matches.
    Opcode(OpcodeReason),
}

/// What decides DBRRangeMatch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataReason {
    /// No match: PSR.db = 1.
    DebugEnabled,
    /// This pair matches.
    Match {
        /// 0 to 3.
        pair: u8,
    },
    /// No pair matches, for these reasons.
    NoMatch([PairMismatch; 4]),
}

/// What decides DBRRangeTag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataTagReason {
    /// Not tagged: the instruction of the access has no Tag(PMC\[8\]).
    NoTag,
    /// Tagged: PMC\[11\].pt = 1, and the instruction of the access has Tag(PMC\[8\]).
    PassTags,
    /// PMC\[11\].pt = 0: tagged as the address matches.
    Address(DataReason),
}

impl RangeReason {
    /// IBRRangeTag.
    #[must_use]
    pub const fn tag(&self) -> bool {
        matches!(self, Self::TagAll | Self::Match { .. })
    }
}

impl OpcodeTagReason {
    /// Tag(PMC\[8\]) or Tag(PMC\[9\]).
    #[must_use]
    pub const fn tag(&self) -> bool {
        matches!(self, Self::Opcode(OpcodeReason::Match))
    }
}

impl DataReason {
    /// DBRRangeMatch.
    #[must_use]
    pub const fn matched(&self) -> bool {
        matches!(self, Self::Match { .. })
    }
}

impl DataTagReason {
    /// DBRRangeTag.
    #[must_use]
    pub const fn tag(&self) -> bool {
        match self {
            Self::NoTag => false,
            Self::PassTags => true,
            Self::Address(reason) => reason.matched(),
        }
    }
}

/// What decides IBRRangeTag of an instruction at `ip`.
#[must_use]
pub fn range(registers: &Registers, parameters: &Parameters, ip: u64) -> RangeReason {
    if range::tags_all(registers) {
        return RangeReason::TagAll;
    }
    if registers.is_ia32() {
        return RangeReason::Ia32;
    }
    if registers.debugs() {
        return RangeReason::DebugEnabled;
    }
    if let Some(register) = range::breakpoint(registers) {
        return RangeReason::Breakpoint { register };
    }
    let cpl = registers.cpl();
    let (pairs, _) = registers.ibr.as_chunks::<2>();
    either(
        pairs,
        |[addr, control]| {
            if range::selects_level(control, cpl) {
                difference(addr, control, ip, range::lowest(parameters)).map(PairMismatch::Bit)
            } else {
                Some(PairMismatch::PrivilegeLevel { plm: small(control, 59, 56), cpl })
            }
        },
        |pair| RangeReason::Match { pair },
        RangeReason::NoMatch,
    )
}

/// What decides Match(PMC\[8\]) or Match(PMC\[9\]).
#[must_use]
pub fn opcode(
    registers: &Registers,
    parameters: &Parameters,
    monitor: OpcodeMonitor,
    instruction: &Instruction,
) -> OpcodeReason {
    let pmc = monitor.value(registers);
    let Instruction { itype, enco, .. } = *instruction;
    if !opcode::selects_type(pmc, parameters, itype) {
        return OpcodeReason::TypeNotSelected { itype };
    }
    match opcode::COMPARED.into_iter().find(|b| !opcode::agrees(pmc, enco, *b)) {
        None => OpcodeReason::Match,
        Some(b) => OpcodeReason::Bit { enco: b, key: opcode::key_bit(b), value: bit(enco, b) },
    }
}

/// What decides Tag(PMC\[8\]) or Tag(PMC\[9\]) of an instruction that is fetched now.
#[must_use]
pub fn opcode_tag(
    registers: &Registers,
    parameters: &Parameters,
    monitor: OpcodeMonitor,
    instruction: &Instruction,
) -> OpcodeTagReason {
    if registers.is_ia32() {
        return OpcodeTagReason::Ia32;
    }
    let range = range(registers, parameters, instruction.ip.0);
    if range.tag() {
        OpcodeTagReason::Opcode(opcode(registers, parameters, monitor, instruction))
    } else {
        OpcodeTagReason::Range(range)
    }
}

/// What decides DBRRangeMatch of an address.
#[must_use]
pub fn data_range(registers: &Registers, address: u64) -> DataReason {
    if registers.debugs() {
        return DataReason::DebugEnabled;
    }
    let (pairs, _) = registers.dbr.as_chunks::<2>();
    either(
        pairs,
        |[addr, control]| difference(addr, control, address, 0).map(PairMismatch::Bit),
        |pair| DataReason::Match { pair },
        DataReason::NoMatch,
    )
}

/// What decides DBRRangeTag of an access of an instruction whose Tag(PMC\[8\]) is `pmc8`.
#[must_use]
pub fn data_tag(registers: &Registers, kind: AccessKind, address: u64, pmc8: bool) -> DataTagReason {
    let caused = matches!(kind, AccessKind::Rse | AccessKind::Vhpt);
    match (data::passes_tags(registers), pmc8) {
        (true, false) => DataTagReason::NoTag,
        (true, true) => DataTagReason::PassTags,
        (false, false) if !caused => DataTagReason::NoTag,
        _ => DataTagReason::Address(data_range(registers, address)),
    }
}

/// The first pair without a mismatch, or all mismatches.
fn either<R>(
    pairs: &[[u64; 2]],
    mismatch: impl Fn([u64; 2]) -> Option<PairMismatch>,
    found: impl Fn(u8) -> R,
    none: impl Fn([PairMismatch; 4]) -> R,
) -> R {
    let mut reasons = [PairMismatch::PrivilegeLevel { plm: 0, cpl: 0 }; 4];
    for ((index, pair), reason) in (0_u8..).zip(pairs).zip(&mut reasons) {
        match mismatch(*pair) {
            None => return found(index),
            Some(why) => *reason = why,
        }
    }
    none(reasons)
}

/// A pair's mismatch, with the names of the registers and of what is compared.
struct Named<'a> {
    file: &'static str,
    address: &'static str,
    pair: usize,
    mismatch: &'a PairMismatch,
}

impl fmt::Display for Named<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, address, pair, mismatch } = self;
        write!(f, "{file}{}/{}: ", 2 * pair, 2 * pair + 1)?;
        match **mismatch {
            PairMismatch::PrivilegeLevel { plm, cpl } => {
                write!(f, "plm {plm:#06b} does not enable cpl {cpl}")
            }
            PairMismatch::Bit(BitDifference { bit, register, with }) => {
                let (register, other) = (u8::from(register), u8::from(!register));
                write!(f, "address bit {bit} is {register}, {address} bit {} is {other}, ", with.bit)?;
                match bit {
                    56..=60 => f.write_str("{60:56} are not maskable"),
                    61.. => f.write_str("{63:61} are not maskable"),
                    _ => write!(f, "mask bit {bit} is 1"),
                }
            }
        }
    }
}

fn pairs(
    f: &mut fmt::Formatter<'_>,
    file: &'static str,
    address: &'static str,
    mismatches: &[PairMismatch],
) -> fmt::Result {
    f.write_str("no pair matches")?;
    for (pair, mismatch) in mismatches.iter().enumerate() {
        write!(f, "; {}", Named { file, address, pair, mismatch })?;
    }
    Ok(())
}

impl fmt::Display for RangeReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TagAll => f.write_str("PMC13.ta is 1, everything is tagged"),
            Self::Ia32 => f.write_str("PSR.is is 1, IA-32 instructions are in no range"),
            Self::DebugEnabled => f.write_str("PSR.db is 1, the IBRs are breakpoints"),
            Self::Breakpoint { register } => {
                write!(f, "the x bit of IBR{register} is 1, all IBRs are breakpoints")
            }
            Self::Match { pair } => write!(f, "IBR{}/{} match", 2 * pair, 2 * pair + 1),
            Self::NoMatch(mismatches) => pairs(f, "IBR", "IP", mismatches),
        }
    }
}

impl fmt::Display for OpcodeReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Match => f.write_str("the opcode matches"),
            Self::TypeNotSelected { itype: SyllableType::X } => {
                f.write_str("long syllables are not selected")
            }
            Self::TypeNotSelected { itype: SyllableType::Ia32 } => {
                f.write_str("IA-32 instructions have no syllables")
            }
            Self::TypeNotSelected { itype } => write!(f, "syllables of type {itype:?} are not selected"),
            Self::Bit { enco, key, value } => {
                let (syllable, matched) = (u8::from(value), u8::from(!value));
                write!(
                    f,
                    "syllable bit {enco} is {syllable}, match bit {key} is {matched}, mask bit {key} is 0"
                )
            }
        }
    }
}

impl fmt::Display for OpcodeTagReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ia32 => f.write_str("PSR.is is 1, IA-32 instructions have no opcode tag"),
            Self::Range(reason) => write!(f, "IBRRangeTag is 0: {reason}"),
            Self::Opcode(reason) => reason.fmt(f),
        }
    }
}

impl fmt::Display for DataReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DebugEnabled => f.write_str("PSR.db is 1, the DBRs are breakpoints"),
            Self::Match { pair } => write!(f, "DBR{}/{} match", 2 * pair, 2 * pair + 1),
            Self::NoMatch(mismatches) => pairs(f, "DBR", "data address", mismatches),
        }
    }
}

impl fmt::Display for DataTagReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoTag => f.write_str("Tag(PMC8) of the instruction is 0"),
            Self::PassTags => f.write_str("PMC11.pt is 1, and Tag(PMC8) of the instruction is 1"),
            Self::Address(reason) => reason.fmt(f),
        }
    }
}
