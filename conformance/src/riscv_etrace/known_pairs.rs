//! Instructions that followed each other before. A program does the same things over and over, so most rows of an
//! execution were checked already.

use super::rows::CsvRow;

/// How many pairs are kept; a power of two.
const KEPT: usize = 1 << 12;

/// An instruction and the row that followed it at the same level, without a trap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Pair {
    before: u64,
    address: u64,
    /// As the row states it.
    instruction: u64,
}

/// Two instructions.
///
/// Whether one can follow the other at its level depends on nothing else than their addresses and what the row states:
/// what was right once stays right.
#[derive(Debug)]
pub(super) struct KnownPairs {
    pairs: Vec<Pair>,
    /// The row before, if it is an instruction.
    pub(super) latest: Option<Latest>,
}

/// The row before.
#[derive(Clone, Copy, Debug)]
pub(super) struct Latest {
    pub(super) address: u64,
    pub(super) privilege: u8,
}

impl Default for KnownPairs {
    fn default() -> Self {
        // No instruction is at an odd address.
        let none = Pair { before: 1, address: 1, instruction: 0 };
        Self { pairs: vec![none; KEPT], latest: None }
    }
}

impl KnownPairs {
    /// Whether a row is an instruction that followed the one before it already; then it is the latest.
    #[inline]
    pub(super) fn goes_on(&mut self, row: &CsvRow) -> bool {
        let Some(Latest { address: before, privilege }) = self.latest else { return false };
        let CsvRow { address, instruction, .. } = *row;
        let pair = Pair { before, address, instruction };
        let known = row.privilege == privilege && !row.is_trap() && self.pairs[index(&pair)] == pair;
        if known {
            self.latest = Some(Latest { address, privilege });
        }
        known
    }

    /// A row was checked.
    pub(super) fn add(&mut self, row: &CsvRow) {
        let CsvRow { address, instruction, privilege, .. } = *row;
        let latest = (!row.is_trap()).then_some(Latest { address, privilege });
        if let (Some(before), Some(_)) = (self.latest.filter(|before| before.privilege == privilege), latest)
        {
            let pair = Pair { before: before.address, address, instruction };
            self.pairs[index(&pair)] = pair;
        }
        self.latest = latest;
    }
}

/// Where a pair is kept. Code is dense, so the half-word alone tells most of them apart; what leads to one place from
/// different ones must not push each other out.
const fn index(pair: &Pair) -> usize {
    ((pair.address >> 1) ^ (pair.before.wrapping_sub(pair.address) << 4)) as usize % KEPT
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(address: u64) -> CsvRow {
        CsvRow { address, privilege: 3, ..CsvRow::default() }
    }

    #[test]
    fn a_pair_is_known_after_it_was_added() {
        let mut known = KnownPairs::default();
        let rows = [row(0x1000), row(0x1004), row(0x1000)];
        for row in &rows {
            assert!(!known.goes_on(row), "{row:?}");
            known.add(row);
        }
        assert!(known.goes_on(&row(0x1004)), "after 0x1000, as before");
        assert!(!known.goes_on(&row(0x1004)), "never after itself");
        assert!(known.goes_on(&row(0x1000)));
        for other in [
            CsvRow { instruction: 0x13, ..row(0x1004) },
            CsvRow { privilege: 1, ..row(0x1004) },
            CsvRow { exception: true, ..row(0x1004) },
            CsvRow { interrupt: true, ..row(0x1004) },
        ] {
            assert!(!known.goes_on(&other), "{other:?}");
        }
        known.add(&CsvRow { interrupt: true, ..row(0x1004) });
        assert!(!known.goes_on(&row(0x1004)), "after a trap");
        known.add(&row(0x1000));
        known.add(&CsvRow { privilege: 1, ..row(0x1008) });
        known.add(&row(0x1000));
        assert!(!known.goes_on(&row(0x1008)), "the level changed when it was added");
    }

    /// More pairs than are kept, so that some replace others: no other one is taken for one that is kept.
    #[test]
    fn a_kept_pair_is_that_pair() {
        let mut known = KnownPairs::default();
        let addresses = || (0..3 * KEPT as u64).map(|index| 6 * index);
        for address in addresses() {
            known.add(&row(address));
        }
        let mut kept = 0;
        for address in addresses() {
            known.latest = Some(Latest { address, privilege: 3 });
            assert!(!known.goes_on(&row(address + 2)));
            kept += u64::from(known.goes_on(&row(address + 6)));
        }
        assert!(kept > KEPT as u64 / 2, "{kept}");
    }
}
