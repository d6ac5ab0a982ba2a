//! Whether an access is in a data range.

use traceproof_vectors::itanium_pmu::AccessKind;

use super::pair;
use crate::itanium_pmu::Registers;
use crate::itanium_pmu::slice::bit;

/// DBRRangeTag of an access of an instruction whose Tag(PMC\[8\]) is `pmc8`.
///
/// Spec: ITA-DBR-005 to ITA-DBR-009, ITA-DBR-012.
#[must_use]
pub fn data_tag(registers: &Registers, kind: AccessKind, address: u64, pmc8: bool) -> bool {
    let pt = passes_tags(registers);
    match kind {
        AccessKind::Load | AccessKind::Store | AccessKind::Semaphore | AccessKind::Lfetch => {
            pmc8 && (pt || data_range_match(registers, address))
        }
        AccessKind::Rse | AccessKind::Vhpt if pt => pmc8,
        AccessKind::Rse | AccessKind::Vhpt => data_range_match(registers, address),
    }
}

/// DBRRangeMatch of an address.
///
/// Spec: ITA-DBR-001 to ITA-DBR-004, ITA-DBR-015.
#[must_use]
pub fn data_range_match(registers: &Registers, address: u64) -> bool {
    !registers.debugs() && (0..4).any(|pair| dbr_match(registers, pair, address))
}

/// DBRRangeMatch\[i\] of one pair, 0 to 3; whether pairs are used is not checked here.
///
/// Spec: ITA-DBR-001, ITA-DBR-002.
#[must_use]
pub fn dbr_match(registers: &Registers, pair: u8, address: u64) -> bool {
    dbr_pair(registers, pair).is_some_and(|[addr, control]| pair::matches(addr, control, address, 0))
}

/// PMC\[11\].pt.
#[must_use]
pub const fn passes_tags(registers: &Registers) -> bool {
    bit(registers.pmc[11], 28)
}

/// Even and odd register of a pair.
pub(in crate::itanium_pmu) fn dbr_pair(registers: &Registers, pair: u8) -> Option<[u64; 2]> {
    let (pairs, _) = registers.dbr.as_chunks::<2>();
    pairs.get(usize::from(pair)).copied()
}
