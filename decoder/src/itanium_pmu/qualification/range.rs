//! Whether an address is in an instruction range.

use traceproof_vectors::itanium_pmu::{IbrLowBits, Parameters};

use super::pair;
use crate::itanium_pmu::Registers;
use crate::itanium_pmu::slice::bit;

/// IBRRangeTag of an instruction at `ip`.
///
/// Spec: ITA-IBR-008 to ITA-IBR-012.
#[must_use]
pub fn range_tag(registers: &Registers, parameters: &Parameters, ip: u64) -> bool {
    let breakpoints = registers.debugs() || breakpoint(registers).is_some();
    let matched = || (0..4).any(|pair| ibr_match(registers, parameters, pair, ip));
    tags_all(registers) || (!registers.is_ia32() && !breakpoints && matched())
}

/// IBRmatch of one pair, 0 to 3; whether pairs are used is not checked here.
///
/// Spec: ITA-IBR-001 to ITA-IBR-005, ITA-IBR-015.
#[must_use]
pub fn ibr_match(registers: &Registers, parameters: &Parameters, pair: u8, ip: u64) -> bool {
    let Some([addr, control]) = ibr_pair(registers, pair) else { return false };
    selects_level(control, registers.cpl()) && pair::matches(addr, control, ip, lowest(parameters))
}

/// PMC\[13\].ta.
#[must_use]
pub const fn tags_all(registers: &Registers) -> bool {
    bit(registers.pmc[13], 0)
}

/// The first odd IBR whose x bit is 1: one of them switches all pairs off.
#[must_use]
pub fn breakpoint(registers: &Registers) -> Option<u8> {
    [1_u8, 3, 5, 7].into_iter().find(|index| bit(registers.ibr[usize::from(*index)], 63))
}

/// Whether plm of an odd IBR selects a privilege level.
pub(in crate::itanium_pmu) const fn selects_level(control: u64, cpl: u8) -> bool {
    bit(control, 56 + (cpl & 3))
}

/// The lowest bit that is compared. Reading `ita-md-7`.
pub(in crate::itanium_pmu) const fn lowest(parameters: &Parameters) -> u8 {
    match parameters.ibr_low_bits {
        IbrLowBits::Compared => 0,
        IbrLowBits::Ignored => 4,
    }
}

/// Even and odd register of a pair.
pub(in crate::itanium_pmu) fn ibr_pair(registers: &Registers, pair: u8) -> Option<[u64; 2]> {
    let (pairs, _) = registers.ibr.as_chunks::<2>();
    pairs.get(usize::from(pair)).copied()
}
