//! Whether a syllable matches an opcode.

use traceproof_vectors::itanium_pmu::{Instruction, LongSyllable, Parameters, SyllableType};

use crate::itanium_pmu::Registers;
use crate::itanium_pmu::slice::bit;

/// One of the two opcode match registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OpcodeMonitor {
    /// PMC\[8\], whose tag qualifies most events.
    Pmc8,
    /// PMC\[9\], whose tag qualifies its own event only.
    Pmc9,
}

impl OpcodeMonitor {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Pmc8, Self::Pmc9];

    /// n of PMC\[n\].
    #[must_use]
    pub const fn index(self) -> u8 {
        match self {
            Self::Pmc8 => 8,
            Self::Pmc9 => 9,
        }
    }

    pub(in crate::itanium_pmu) const fn value(self, registers: &Registers) -> u64 {
        match self {
            Self::Pmc8 => registers.pmc[8],
            Self::Pmc9 => registers.pmc[9],
        }
    }
}

/// Tag(PMC\[8\]) or Tag(PMC\[9\]) of an instruction whose IBRRangeTag is `range`.
///
/// Spec: ITA-OPC-008, ITA-OPC-012.
#[must_use]
pub fn opcode_tag(
    registers: &Registers,
    parameters: &Parameters,
    monitor: OpcodeMonitor,
    instruction: &Instruction,
    range: bool,
) -> bool {
    range && !registers.is_ia32() && opcode_match(registers, parameters, monitor, instruction)
}

/// Match(PMC\[8\]) or Match(PMC\[9\]).
///
/// Spec: ITA-OPC-001 to ITA-OPC-007, ITA-OPC-011, ITA-OPC-017.
#[must_use]
pub fn opcode_match(
    registers: &Registers,
    parameters: &Parameters,
    monitor: OpcodeMonitor,
    instruction: &Instruction,
) -> bool {
    let pmc = monitor.value(registers);
    selects_type(pmc, parameters, instruction.itype)
        && COMPARED.iter().all(|b| agrees(pmc, instruction.enco, *b))
}

/// imatch: whether the type of the syllable is selected.
///
/// Spec: ITA-OPC-005, ITA-OPC-006; reading `ita-md-4`.
pub(in crate::itanium_pmu) fn selects_type(pmc: u64, parameters: &Parameters, itype: SyllableType) -> bool {
    match itype {
        SyllableType::M => bit(pmc, 63),
        SyllableType::I => bit(pmc, 62),
        SyllableType::F => bit(pmc, 61),
        SyllableType::B => bit(pmc, 60),
        SyllableType::X => parameters.long_syllable == LongSyllable::I && bit(pmc, 62),
        SyllableType::Ia32 => false,
    }
}

/// The bits of a syllable that are compared: {40:27} and {12:0}.
pub(in crate::itanium_pmu) const COMPARED: [u8; 27] =
    [40, 39, 38, 37, 36, 35, 34, 33, 32, 31, 30, 29, 28, 27, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0];

/// Index in match and mask of a bit of the syllable that is compared.
///
/// Spec: ITA-OPC-002.
#[must_use]
pub const fn key_bit(b: u8) -> u8 {
    if b >= 27 { b - 14 } else { b }
}

/// Whether bit `b` of the syllable agrees: enco{b} = match or mask = 1.
///
/// Spec: ITA-OPC-003, ITA-OPC-004.
#[inline]
pub(in crate::itanium_pmu) const fn agrees(pmc: u64, enco: u64, b: u8) -> bool {
    let index = key_bit(b);
    bit(enco, b) == bit(pmc, 33 + index) || bit(pmc, 3 + index)
}

/// Whether PMC\[8\] passes every syllable: mifb = 1111, and no bit is compared.
///
/// Spec: ITA-OPC-007.
#[must_use]
pub fn passes_all(registers: &Registers) -> bool {
    let pmc = registers.pmc[8];
    (60..64).all(|b| bit(pmc, b)) && (3..30).all(|b| bit(pmc, b))
}
