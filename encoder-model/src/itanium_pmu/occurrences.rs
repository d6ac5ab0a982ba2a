//! Occurrences of the cycle so far that counters may count.

use traceproof_vectors::itanium_pmu::events::{EVENTS, SelectableEvent};

/// Marks combinations of es and umask without a name.
const UNNAMED: u8 = u8::MAX;

/// Row of [`EVENTS`] by es and umask.
static ROWS: [u8; 1 << 11] = rows();

const fn rows() -> [u8; 1 << 11] {
    assert!(EVENTS.len() < UNNAMED as usize);
    let mut rows = [UNNAMED; 1 << 11];
    let mut row = 0;
    while row < EVENTS.len() {
        rows[(EVENTS[row].es as usize) << 4 | EVENTS[row].umask as usize] = row as u8;
        row += 1;
    }
    rows
}

/// Which event a code and a unit mask select.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Row(u8);

impl Row {
    /// `None` for combinations without a name, and beyond 7 and 4 bits.
    pub(super) fn find(es: u8, umask: u8) -> Option<Self> {
        if es > 0x7f || umask > 0xf {
            return None;
        }
        let row = ROWS[usize::from(es) << 4 | usize::from(umask)];
        (row != UNNAMED).then_some(Self(row))
    }

    /// The event.
    pub(super) fn event(self) -> &'static SelectableEvent {
        &EVENTS[usize::from(self.0)]
    }
}

/// How often each event occurred in this cycle, qualified when it did, up to 65535.
#[derive(Clone, Debug)]
pub(super) struct Occurrences {
    counts: [u16; EVENTS.len()],
    /// Rows with a count, each once, in the first `occurred` places.
    rows: [u8; EVENTS.len()],
    occurred: usize,
    /// Retired instructions with Tag(PMC\[8\]).
    pub(super) retired_pmc8: u16,
    /// Retired instructions with Tag(PMC\[9\]).
    pub(super) retired_pmc9: u16,
}

impl Default for Occurrences {
    fn default() -> Self {
        Self {
            counts: [0; EVENTS.len()],
            rows: [0; EVENTS.len()],
            occurred: 0,
            retired_pmc8: 0,
            retired_pmc9: 0,
        }
    }
}

impl Occurrences {
    /// So many more occurrences.
    pub(super) fn add(&mut self, row: Row, count: u8) {
        let sum = &mut self.counts[usize::from(row.0)];
        if *sum == 0 && count != 0 {
            self.rows[self.occurred] = row.0;
            self.occurred += 1;
        }
        *sum = sum.saturating_add(u16::from(count));
    }

    /// How often.
    pub(super) fn of(&self, row: Row) -> u16 {
        self.counts[usize::from(row.0)]
    }

    /// The next cycle begins.
    pub(super) fn clear(&mut self) {
        for row in &self.rows[..self.occurred] {
            self.counts[usize::from(*row)] = 0;
        }
        self.occurred = 0;
        self.retired_pmc8 = 0;
        self.retired_pmc9 = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_named_combination_has_its_row() {
        for es in 0..=u8::MAX {
            for umask in 0..=u8::MAX {
                let named = EVENTS.iter().find(|event| event.es == es && event.umask == umask);
                assert_eq!(Row::find(es, umask).map(Row::event), named, "{es:#x} {umask:#x}");
            }
        }
    }

    #[test]
    fn occurrences_add_up_and_are_forgotten() {
        let mut occurrences = Occurrences::default();
        let (first, last) = (Row(0), Row(EVENTS.len() as u8 - 1));
        for _ in 0..300 {
            occurrences.add(last, 255);
        }
        occurrences.add(first, 0);
        occurrences.add(first, 2);
        occurrences.add(first, 3);
        assert_eq!((occurrences.of(first), occurrences.of(last)), (5, 65535));
        occurrences.clear();
        assert_eq!((occurrences.of(first), occurrences.of(last)), (0, 0));
        occurrences.add(first, 1);
        assert_eq!(occurrences.of(first), 1);
    }
}
