//! Filters as registers of the Trace Control Interface: what a pack writes, and what the registers let pass.
//!
//! Registers and bits are those of the RISC-V Trace Control Interface Specification 1.0 (ratified), chapters "Trace
//! Encoder Control Interface" (`trTeInstFilters`) and "Trace Encoder Filter Registers".
//!
//! A filter of the registers has one comparator for an address range, one for a context, a choice of levels and a choice
//! of causes. A filter of the notation that has several ranges or contexts takes one of them for each pair.

use std::collections::BTreeMap;

use traceproof_vectors::Address;
use traceproof_vectors::riscv_etrace::{AddressRange, Filter, TrapFilter};

/// `trTeInstFilters`: which filters qualify instruction trace.
pub(crate) const SELECTION: u64 = 0x0d;

/// First number of each group of registers; the number of the filter or comparator is added.
const CONTROL: u64 = 0x20;
const MATCH: u64 = 0x40;
const CAUSES: u64 = 0x60;
const COMPARATOR: u64 = 0x80;
const PRIMARY: u64 = 0xa0;
const SECONDARY: u64 = 0xc0;

/// Most filters and comparators that the registers have.
pub(crate) const MOST: (u8, u8) = (16, 8);

/// Bits of `trTeFilter[i]Control`.
const ENABLE: u64 = 1;
const PRIVILEGE: u64 = 1 << 1;
const ECAUSE: u64 = 1 << 2;
const INTERRUPT: u64 = 1 << 3;
/// `trTeFilterMatchComp1` and `trTeFilterMatchComp2`, each with the number of its comparator in the three bits above.
const COMPARE: [u32; 3] = [4, 8, 12];

/// Inputs of a comparator.
const IADDR: u64 = 0;
const CONTEXT: u64 = 1;

/// The registers, by number, of filters; `room`: filters and comparators of the device.
///
/// # Errors
///
/// What the registers, or this device, cannot hold.
pub(crate) fn registers(filters: &[Filter], room: (u8, u8)) -> Result<Vec<(u64, u64)>, String> {
    let mut writer = Writer { room, ..Writer::default() };
    for filter in filters {
        let ranges: Vec<Option<AddressRange>> = some_or_all(&filter.addresses);
        let contexts: Vec<Option<u64>> = some_or_all(&filter.contexts);
        for range in &ranges {
            for context in &contexts {
                writer.filter(filter, *range, *context)?;
            }
        }
    }
    if !filters.is_empty() {
        writer.registers.push((SELECTION, (1 << writer.filters) - 1));
    }
    Ok(writer.registers)
}

/// Each of them, or none of them once.
fn some_or_all<T: Copy>(list: &[T]) -> Vec<Option<T>> {
    if list.is_empty() { vec![None] } else { list.iter().copied().map(Some).collect() }
}

#[derive(Default)]
struct Writer {
    room: (u8, u8),
    filters: u64,
    comparators: u64,
    registers: Vec<(u64, u64)>,
}

impl Writer {
    fn filter(
        &mut self,
        filter: &Filter,
        range: Option<AddressRange>,
        context: Option<u64>,
    ) -> Result<(), String> {
        if self.filters >= self.room.0.into() {
            return Err(format!("the device has {} filters", self.room.0));
        }
        let (mut control, mut choice) = (ENABLE, 0);
        if !filter.privileges.is_empty() {
            control |= PRIVILEGE;
            choice |= filter.privileges.iter().fold(0, |bits, level| bits | 1_u64 << (level & 7));
        }
        if let Some(trap) = &filter.trap {
            if let Some(interrupt) = trap.interrupt {
                control |= INTERRUPT;
                choice |= u64::from(interrupt) << 8;
            }
            // Without the choice of causes the kind alone decides, whatever the cause is.
            if trap.interrupt.is_none() || !trap.causes.is_empty() {
                control |= ECAUSE;
                self.registers.push((CAUSES + self.filters, causes(trap)?));
            }
        }
        let range = range.map(|AddressRange { first: Address(first), last: Address(last) }| {
            (IADDR | 5 << 4 | 3 << 8 | 1 << 12, first, last)
        });
        let context = context.map(|context| (CONTEXT | CONTEXT << 2, context, 0));
        for (place, comparator) in COMPARE.into_iter().zip([range, context].into_iter().flatten()) {
            control |= (1 | self.comparator(comparator)? << 1) << place;
        }
        self.registers.push((MATCH + self.filters, choice));
        self.registers.push((CONTROL + self.filters, control));
        self.filters += 1;
        Ok(())
    }

    /// The number of a comparator with these registers.
    fn comparator(&mut self, (control, primary, secondary): (u64, u64, u64)) -> Result<u64, String> {
        let number = self.comparators;
        if number >= self.room.1.into() {
            return Err(format!("the device has {} comparators", self.room.1));
        }
        let registers = [(COMPARATOR, control), (PRIMARY, primary), (SECONDARY, secondary)];
        self.registers.extend(registers.map(|(group, value)| (group + number, value)));
        self.comparators += 1;
        Ok(number)
    }
}

/// The choice of causes: a bit for each one.
fn causes(trap: &TrapFilter) -> Result<u64, String> {
    if trap.causes.is_empty() {
        return Ok(u64::MAX);
    }
    let mut bits = 0;
    for range in &trap.causes {
        if range.last > 63 {
            return Err(String::from("a filter can choose causes up to 63"));
        }
        bits |= (range.first..=range.last).fold(0, |bits, cause| bits | 1_u64 << cause);
    }
    Ok(bits)
}

/// What registers that were written let pass.
#[derive(Clone, Debug, Default)]
pub(crate) struct Registers {
    values: BTreeMap<u64, u64>,
    /// For each filter: traps that have not returned, from the one that it waits for on.
    nested: [u32; 16],
    /// `iaddr` of the latest block or exception: where interrupts are.
    address: u64,
}

impl Registers {
    /// A register is written.
    pub(crate) fn write(&mut self, number: u64, value: u64) {
        self.values.insert(number, value);
    }

    fn value(&self, group: u64, number: u64) -> u64 {
        self.values.get(&(group + number)).copied().unwrap_or(0)
    }

    /// The filters that qualify instruction trace.
    fn selected(&self) -> impl Iterator<Item = u64> + use<> {
        let selection = self.values.get(&SELECTION).copied().unwrap_or(0);
        (0..16).filter(move |filter| selection >> filter & 1 != 0)
    }

    /// Whether a block that retires passes; `iaddr` is that of the block. Spec: RVET-FILT-001 to 004.
    pub(crate) fn retire(&mut self, iaddr: u64, itype: u8, privilege: u8, context: u64) -> bool {
        self.address = iaddr;
        let passes = self.pass(privilege, context);
        if itype == 3 {
            // The return is part of what is passed.
            self.nested.iter_mut().for_each(|nested| *nested = nested.saturating_sub(1));
        }
        passes
    }

    /// Whether a trap passes; `epc` is that of an exception.
    pub(crate) fn trap(&mut self, epc: Option<u64>, cause: u64, privilege: u8, context: u64) -> bool {
        if let Some(epc) = epc {
            self.address = epc;
        }
        for filter in self.selected() {
            let (control, choice) = (self.value(CONTROL, filter), self.value(MATCH, filter));
            let kind = control & INTERRUPT == 0 || (choice >> 8 & 1 != 0) == epc.is_none();
            let chosen =
                control & ECAUSE == 0 || (cause < 64 && self.value(CAUSES, filter) >> cause & 1 != 0);
            if let Some(nested) = usize::try_from(filter).ok().and_then(|at| self.nested.get_mut(at))
                && (*nested > 0 || (control & (ECAUSE | INTERRUPT) != 0 && kind && chosen))
            {
                *nested += 1;
            }
        }
        self.pass(privilege, context)
    }

    fn pass(&self, privilege: u8, context: u64) -> bool {
        let mut selected = self.selected().peekable();
        selected.peek().is_none() || selected.any(|filter| self.passes(filter, privilege, context))
    }

    fn passes(&self, filter: u64, privilege: u8, context: u64) -> bool {
        let (control, choice) = (self.value(CONTROL, filter), self.value(MATCH, filter));
        let nested = usize::try_from(filter).ok().and_then(|at| self.nested.get(at)).is_some_and(|n| *n > 0);
        let compared = COMPARE
            .iter()
            .all(|place| control >> place & 1 == 0 || self.compares(control >> (place + 1) & 7, context));
        control & ENABLE != 0
            && (control & PRIVILEGE == 0 || choice >> (privilege & 7) & 1 != 0)
            && (control & (ECAUSE | INTERRUPT) == 0 || nested)
            && compared
    }

    fn compares(&self, comparator: u64, context: u64) -> bool {
        let control = self.value(COMPARATOR, comparator);
        let input = |bits: u64| if bits & 3 == CONTEXT { context } else { self.address };
        // Packs write 0, 3 and 5 only; 7 is always true.
        let result = |function: u64, input: u64, value: u64| match function & 7 {
            0 => input == value,
            1 => input != value,
            2 => input < value,
            3 => input <= value,
            4 => input > value,
            5 => input >= value,
            function => function == 7,
        };
        let primary = result(control >> 4, input(control), self.value(PRIMARY, comparator));
        let secondary = result(control >> 8, input(control >> 2), self.value(SECONDARY, comparator));
        if control >> 12 & 3 == 1 { primary && secondary } else { primary }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filter(text: &str) -> Filter {
        toml::from_str(text).expect("a filter")
    }

    fn written(filters: &[Filter]) -> Registers {
        let mut registers = Registers::default();
        for (number, value) in super::registers(filters, MOST).expect("room") {
            registers.write(number, value);
        }
        registers
    }

    /// The bits are those of the Trace Control Interface: filter 0 enabled, with comparator 0 on `iaddr`.
    #[test]
    fn an_address_range_is_one_comparator() {
        let range = filter("addresses = [{ first = \"0x1000\", last = \"0x10ff\" }]");
        assert_eq!(
            registers(std::slice::from_ref(&range), MOST),
            Ok(vec![(0x80, 0x1350), (0xa0, 0x1000), (0xc0, 0x10ff), (0x40, 0), (0x20, 0x11), (0x0d, 1)])
        );
        let mut registers = written(&[range]);
        let passed = [0xfff, 0x1000, 0x10ff, 0x1100].map(|iaddr| registers.retire(iaddr, 0, 3, 0));
        assert_eq!(passed, [false, true, true, false]);
    }

    #[test]
    fn all_conditions_of_a_filter_must_hold_and_one_filter_is_enough() {
        let filters = [filter("privileges = [0]\ncontexts = [7, 8]"), filter("privileges = [1]")];
        let mut registers = written(&filters);
        let passes = [(0, 7), (0, 8), (0, 9), (1, 9), (3, 7)];
        let passes = passes.map(|(level, context)| registers.retire(0, 0, level, context));
        assert_eq!(passes, [true, true, false, true, false]);
    }

    #[test]
    fn a_trap_passes_up_to_the_return_from_it() {
        let mut registers =
            written(&[filter("trap = { interrupt = true, causes = [{ first = 7, last = 7 }] }")]);
        assert!(!registers.trap(Some(0x10), 7, 0, 0));
        assert!(!registers.trap(None, 6, 0, 0));
        assert!(registers.trap(None, 7, 0, 0));
        // An exception within it, and the return from that.
        assert!(registers.trap(Some(0x20), 2, 3, 0));
        assert!(registers.retire(0x100, 3, 3, 0));
        assert!(registers.retire(0x24, 3, 3, 0));
        assert!(!registers.retire(0x10, 0, 0, 0));
    }

    #[test]
    fn the_kind_of_a_trap_alone_needs_no_choice_of_causes() {
        let interrupts = filter("trap = { interrupt = true }");
        let expected = vec![(0x40, 1 << 8), (0x20, 1 | 1 << 3), (0x0d, 1)];
        assert_eq!(registers(std::slice::from_ref(&interrupts), MOST), Ok(expected));
        let mut registers = written(&[interrupts]);
        assert!(!registers.trap(Some(0x10), 7, 0, 0));
        assert!(registers.trap(None, 100, 0, 0));
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let two = filter("contexts = [1, 2]");
        assert!(registers(std::slice::from_ref(&two), (1, 8)).is_err());
        assert!(registers(&[two], (2, 1)).is_err());
        assert!(registers(&[filter("trap = { causes = [{ first = 0, last = 64 }] }")], MOST).is_err());
    }
}
