//! Whether a counter counts, and how much.

use traceproof_vectors::itanium_pmu::Register;
use traceproof_vectors::itanium_pmu::events::SelectableEvent;

use crate::itanium_pmu::Registers;
use crate::itanium_pmu::registers::selection;
use crate::itanium_pmu::slice::{bit, small};

/// The generic counters: n of PMC\[n\] and PMD\[n\].
pub const COUNTERS: [u8; 4] = [4, 5, 6, 7];

/// Whether the monitor that PMC\[`index`\] configures runs: a counter (4 to 7) or an event address register (10, 11).
///
/// Spec: ITA-CNT-003 to ITA-CNT-006, ITA-EAR-020.
#[must_use]
pub fn is_enabled(registers: &Registers, index: u8) -> bool {
    let pmc = registers.get(Register::pmc(index));
    !registers.is_frozen()
        && bit(pmc, registers.cpl())
        && registers.starts(bit(pmc, 6))
        && !bit(pmc, if registers.is_ia32() { 25 } else { 24 })
}

/// The event that a counter counts: `None` if es and umask select none, or one that this counter cannot count.
///
/// Spec: ITA-CNT-010, ITA-DEC-010.
#[must_use]
pub fn selected(registers: &Registers, counter: u8) -> Option<&'static SelectableEvent> {
    let (es, umask) = selection(registers.get(Register::pmc(counter)));
    SelectableEvent::find(es, umask).filter(|event| event.is_countable_on(counter))
}

/// The threshold of a counter, 3 bits of PMC\[4\] and PMC\[5\], 2 bits of PMC\[6\] and PMC\[7\].
///
/// Spec: ITA-CNT-008.
#[must_use]
pub fn threshold(registers: &Registers, counter: u8) -> u8 {
    let high = if counter < 6 { 22 } else { 21 };
    small(registers.get(Register::pmc(counter)), high, 20)
}

/// What `occurrences` in one cycle add to a counter that is enabled.
///
/// Spec: ITA-CNT-007.
#[must_use]
pub fn increment(registers: &Registers, counter: u8, occurrences: u16) -> u16 {
    match threshold(registers, counter) {
        0 => occurrences,
        threshold => u16::from(occurrences > u16::from(threshold)),
    }
}

/// The count after an increment, and whether it carried out of bit 31.
///
/// Spec: ITA-OVF-001, ITA-OVF-006.
#[must_use]
pub const fn advance(count: u32, increment: u16) -> (u32, bool) {
    let sum = count as u64 + increment as u64;
    (sum as u32, bit(sum, 32))
}

/// PMC\[n\].oi: an overflow freezes and interrupts.
#[must_use]
pub fn freezes(registers: &Registers, counter: u8) -> bool {
    bit(registers.get(Register::pmc(counter)), 5)
}
