//! Which aligned blocks cover an interval best.
//!
//! A pair of breakpoint registers is used for one block: 2^n addresses from a multiple of 2^n on. Addresses here are
//! offsets into the half of a region that bit 50 selects, 0 to 2^50: a pair cannot reach further.

use alloc::vec::Vec;
use core::ops::Range;

/// Address bits that a mask can leave open.
pub(super) const OFFSET_BITS: u32 = 50;
/// The most pairs there are.
pub(super) const MOST_PAIRS: usize = 4;

/// Addresses that one pair tags: `2^log2_size` of them, from `start` on, which is a multiple of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// The first address.
    pub start: u64,
    /// How many, as a power of two: 0 to 50.
    pub log2_size: u32,
}

impl Block {
    /// The last address.
    #[must_use]
    pub const fn last(&self) -> u64 {
        self.start + ((1 << self.log2_size) - 1)
    }
}

/// How many blocks make up a non-empty interval exactly, at least.
pub(super) fn blocks_needed(interval: &Range<u64>) -> u32 {
    let last = interval.end - 1;
    let Some(top) = (interval.start ^ last).checked_ilog2() else { return 1 };
    // The address with the most trailing zeros in the interval, its start apart: blocks grow towards it from both
    // sides.
    let middle = last >> top << top;
    let (before, after) = (middle - interval.start, interval.end - middle);
    if before == after && before == 1 << top { 1 } else { before.count_ones() + after.count_ones() }
}

/// The blocks that make up an interval exactly, as few as possible, in the order in which libpfm assigns them to pairs:
/// the largest, what lies before it from the inside out, what follows it from the inside out.
pub(super) fn blocks(interval: &Range<u64>) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut start = interval.start;
    while start < interval.end {
        let fitting = (interval.end - start).ilog2();
        let log2_size = start.trailing_zeros().min(fitting);
        blocks.push(Block { start, log2_size });
        start += 1 << log2_size;
    }
    let largest = blocks.iter().map(|block| block.log2_size).max();
    let first = blocks.iter().position(|block| Some(block.log2_size) == largest).unwrap_or(0);
    blocks[..=first].reverse();
    blocks
}

/// For one to four blocks: the interval around `asked` that exactly so many blocks make up with the least that was not
/// asked for; `None` if there is none, or none better than with fewer.
fn covers(asked: &Range<u64>) -> [Option<Range<u64>>; MOST_PAIRS] {
    let mut best: [Option<(u64, Range<u64>)>; MOST_PAIRS] = Default::default();
    // The block that holds the first address asked for starts at a multiple of its size, so that only these starts and
    // ends come into question. Starts are tried from the nearest on: of equal answers the one that adds less before it
    // is kept.
    let mut previous_start = None;
    for before in 0..=OFFSET_BITS {
        let start = asked.start >> before << before;
        if previous_start.replace(start) == Some(start) {
            continue;
        }
        let mut previous_end = None;
        for after in 0..=OFFSET_BITS {
            let end = asked.end.next_multiple_of(1 << after);
            if previous_end.replace(end) == Some(end) || end > 1 << OFFSET_BITS {
                continue;
            }
            let needed = blocks_needed(&(start..end)) as usize;
            let added = (asked.start - start) + (end - asked.end);
            if let Some(slot) = best.get_mut(needed - 1)
                && slot.as_ref().is_none_or(|(least, _)| added < *least)
            {
                *slot = Some((added, start..end));
            }
        }
    }
    let mut least = u64::MAX;
    best.map(|candidate| {
        let (added, interval) = candidate?;
        (added < least).then(|| {
            least = added;
            interval
        })
    })
}

/// Neighbouring intervals that are covered as one: which, and by what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Group {
    pub(super) members: Range<usize>,
    pub(super) covered: Range<u64>,
}

/// What the best cover of the first intervals costs with a number of blocks.
#[derive(Clone, Debug)]
struct Plan {
    added: u64,
    last: Group,
    /// Blocks of the groups before the last one.
    blocks_before: usize,
}

/// Covers disjoint intervals, sorted, by at most `pairs` blocks: with the least that was not asked for, then with the
/// fewest blocks. `halves` says for each interval in which half of which region it lies; blocks do not cross. `None` if
/// there are too few blocks.
pub(super) fn cover(intervals: &[Range<u64>], halves: &[u64], pairs: usize) -> Option<Vec<Group>> {
    let pairs = pairs.min(MOST_PAIRS);
    // plans[n][k]: the first n intervals by exactly k blocks.
    let mut plans: Vec<[Option<Plan>; MOST_PAIRS + 1]> = alloc::vec![Default::default(); intervals.len() + 1];
    for first in 0..intervals.len() {
        let mut asked = 0;
        for end in first + 1..=intervals.len() {
            if halves[end - 1] != halves[first] {
                break;
            }
            asked += intervals[end - 1].end - intervals[end - 1].start;
            let hull = intervals[first].start..intervals[end - 1].end;
            for (blocks, covered) in (1..=pairs).zip(covers(&hull)) {
                let Some(covered) = covered else { continue };
                for blocks_before in 0..=pairs - blocks {
                    let Some(added_before) = added_by(&plans[first], first, blocks_before) else { continue };
                    let added = added_before + (covered.end - covered.start - asked);
                    let slot = &mut plans[end][blocks_before + blocks];
                    if slot.as_ref().is_none_or(|plan| added < plan.added) {
                        let last = Group { members: first..end, covered: covered.clone() };
                        *slot = Some(Plan { added, last, blocks_before });
                    }
                }
            }
        }
    }
    let (mut blocks, _) = (0..=pairs)
        .filter_map(|blocks| Some((blocks, plans[intervals.len()][blocks].as_ref()?.added)))
        .min_by_key(|(blocks, added)| (*added, *blocks))?;
    let mut groups = Vec::new();
    let mut covered = intervals.len();
    while covered > 0 {
        let plan = plans[covered][blocks].as_ref()?;
        groups.push(plan.last.clone());
        covered = plan.last.members.start;
        blocks = plan.blocks_before;
    }
    groups.reverse();
    Some(groups)
}

/// What the first intervals cost by so many blocks; no interval costs nothing by no block.
fn added_by(plans: &[Option<Plan>], intervals: usize, blocks: usize) -> Option<u64> {
    if intervals == 0 {
        return (blocks == 0).then_some(0);
    }
    plans[blocks].as_ref().map(|plan| plan.added)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// All aligned blocks within 0..64.
    fn all_blocks() -> Vec<u64> {
        let mut sets = Vec::new();
        for log2_size in 0..=6 {
            let size = 1_u64 << log2_size;
            let ones = if size == 64 { u64::MAX } else { (1 << size) - 1 };
            sets.extend((0..64 / size).map(|index| ones << (index * size)));
        }
        sets
    }

    fn as_set(interval: &Range<u64>) -> u64 {
        interval.clone().fold(0, |set, address| set | 1 << address)
    }

    /// The least number of addresses in a union of at most `pairs` blocks that holds `asked`, and the fewest blocks
    /// that reach it. Tries every choice of blocks that each hold something asked for that is not held yet.
    fn brute_force(asked: u64, pairs: u32) -> Option<(u32, u32)> {
        fn search(sets: &[u64], asked: u64, held: u64, used: u32, pairs: u32, best: &mut Option<(u32, u32)>) {
            let missing = asked & !held;
            if missing == 0 {
                let cost = ((held & !asked).count_ones(), used);
                if best.is_none_or(|least| cost < least) {
                    *best = Some(cost);
                }
                return;
            }
            if used == pairs {
                return;
            }
            let next = missing & missing.wrapping_neg();
            for set in sets.iter().filter(|set| *set & next != 0) {
                search(sets, asked, held | set, used + 1, pairs, best);
            }
        }
        let mut best = None;
        search(&all_blocks(), asked, 0, 0, pairs, &mut best);
        best
    }

    fn cost(groups: &[Group], asked: u64) -> (u32, u32) {
        let held = groups.iter().fold(0, |set, group| set | as_set(&group.covered));
        assert_eq!(held & asked, asked, "something asked for is not covered");
        let used = groups.iter().map(|group| blocks(&group.covered).len() as u32).sum();
        ((held & !asked).count_ones(), used)
    }

    /// Every interval in 0..64, with one to four pairs.
    #[test]
    fn no_other_choice_of_blocks_is_better() {
        for start in 0..64 {
            for end in start + 1..=64 {
                let asked = as_set(&(start..end));
                for pairs in 1..=4 {
                    let interval = start..end;
                    let groups = cover(core::slice::from_ref(&interval), &[0], pairs as usize).unwrap();
                    let expected = brute_force(asked, pairs);
                    assert_eq!(Some(cost(&groups, asked)), expected, "{start}..{end} by {pairs}");
                }
            }
        }
    }

    proptest! {
        #[test]
        fn nor_is_one_for_several_intervals(asked in any::<u64>(), thin in any::<u64>(), also in any::<u64>(), pairs in 1..=4_u32) {
            // Addresses in runs, not too many: neighbours of a few marks.
            let marks = asked & thin & also;
            let asked = marks | marks << 1 | marks << 2;
            prop_assume!(asked != 0);
            let mut intervals: Vec<Range<u64>> = Vec::new();
            for address in (0..64).filter(|address| asked >> address & 1 != 0) {
                match intervals.last_mut() {
                    Some(last) if last.end == address => last.end += 1,
                    _ => intervals.push(address..address + 1),
                }
            }
            let halves = alloc::vec![0; intervals.len()];
            let groups = cover(&intervals, &halves, pairs as usize).unwrap();
            prop_assert_eq!(Some(cost(&groups, asked)), brute_force(asked, pairs));
        }

        #[test]
        fn blocks_make_up_their_interval(start in 0..1_u64 << 50, size in 1..1_u64 << 50, shift in 0..50_u32) {
            let start = start >> shift;
            let interval = start..(start + (size >> shift).max(1)).min(1 << 50);
            let blocks = blocks(&interval);
            prop_assert_eq!(blocks.len() as u32, blocks_needed(&interval));
            let mut sorted = blocks.clone();
            sorted.sort_by_key(|block| block.start);
            let mut next = interval.start;
            for block in &sorted {
                prop_assert_eq!(block.start, next);
                prop_assert_eq!(block.start & ((1 << block.log2_size) - 1), 0);
                next = block.last() + 1;
            }
            prop_assert_eq!(next, interval.end);
            prop_assert!(blocks.iter().all(|block| block.log2_size <= blocks[0].log2_size));
        }
    }

    #[test]
    fn blocks_do_not_cross_halves() {
        let intervals = [(1 << 50) - 16..1 << 50, 0..16];
        assert_eq!(cover(&intervals, &[0, 1], 1), None);
        assert_eq!(cover(&intervals, &[0, 1], 2).unwrap().len(), 2);
        assert_eq!(cover(&[0..16, 32..48], &[0, 0], 1).unwrap()[0].covered, 0..64);
        let whole = 0..1 << OFFSET_BITS;
        assert_eq!(cover(core::slice::from_ref(&whole), &[0], 4).unwrap()[0].covered, whole);
    }
}
