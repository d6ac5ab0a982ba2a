//! Which pairs of breakpoint registers tag which addresses.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::ops::Range;

use traceproof_vectors::itanium_pmu::Register;

use super::cover::{Block, MOST_PAIRS, OFFSET_BITS, blocks, cover};
use super::{Levels, Setting};
use crate::itanium_pmu::registers::canonical;

/// Addresses of one half of a region, from 0 to this.
const OFFSETS: u64 = (1 << OFFSET_BITS) - 1;
/// Bytes of a bundle.
const BUNDLE: u64 = 16;
/// An address that no address equals: its bits {60:56} are not all copies of one bit (ITA-DBR-011).
const NEUTRAL: u64 = 0x0100_0000_0000_0000;

/// Addresses from `start` up to, but without, `end`. An `end` of 0 is the end of the address space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct AddressRange {
    /// The first address.
    pub start: u64,
    /// The first address after it.
    pub end: u64,
}

impl AddressRange {
    const fn last(self) -> u64 {
        self.end.wrapping_sub(1)
    }

    /// What distinguishes its half of its region from others.
    const fn half(self) -> u64 {
        self.start & !OFFSETS
    }

    const fn offsets(self) -> Range<u64> {
        self.start & OFFSETS..(self.last() & OFFSETS) + 1
    }

    /// Says what is wrong with it, if anything.
    fn check(self, granule: u64) -> Result<(), RangeRefusal> {
        if self.start == self.end || self.start > self.last() {
            return Err(RangeRefusal::Empty(self));
        }
        if !self.start.is_multiple_of(granule) || !self.end.is_multiple_of(granule) {
            return Err(RangeRefusal::Misaligned(self));
        }
        for address in [self.start, self.last()] {
            if canonical(address) != address {
                return Err(RangeRefusal::NotCanonical(address));
            }
        }
        if self.start >> 61 != self.last() >> 61 {
            return Err(RangeRefusal::CrossesRegions(self));
        }
        if (self.start ^ self.last()) >> OFFSET_BITS != 0 {
            return Err(RangeRefusal::CrossesHole(self));
        }
        Ok(())
    }
}

impl fmt::Display for AddressRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{:#x}, {:#x})", self.start, self.end)
    }
}

/// Code to tag: IBR pairs and PMC\[13\].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodeRanges<'a> {
    /// Which addresses, in whole bundles of 16 bytes. May overlap.
    pub ranges: &'a [AddressRange],
    /// At which privilege levels: bit k for level k, not 0.
    pub plm: u8,
    /// How many pairs may be used: 1 to 4.
    pub pairs: u8,
}

/// Data to tag: DBR pairs and PMC\[11\].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataRanges<'a> {
    /// Which addresses. May overlap.
    pub ranges: &'a [AddressRange],
    /// What is written into the plm fields, which data tags do not use: 0, or the plm of the events as libpfm does.
    pub plm: u8,
    /// How many pairs may be used: 1 to 4.
    pub pairs: u8,
    /// What PMC\[11\] is to hold beside pt = 0, that is the configuration of the data event address registers; 0
    /// switches these off, and plm alone, as libpfm writes it, lets them capture every miss of 4 clocks and more.
    pub pmc11: u64,
    /// What the other pairs get.
    pub unused: UnusedPairs,
}

/// What is written into pairs of data breakpoint registers that are not used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UnusedPairs {
    /// An address that matches nothing.
    #[default]
    Neutral,
    /// Zeros, as libpfm and Linux do: each such pair tags the lower half of region 0.
    Zero,
}

/// Why a range cannot be tagged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RangeRefusal {
    /// No range is given.
    NoRange,
    /// The number of pairs is not 1 to 4.
    Pairs(u8),
    /// The privilege levels are none, or not four.
    PrivilegeLevels(u8),
    /// It ends where it starts, or before.
    Empty(AddressRange),
    /// Start or end of code is not a multiple of 16.
    Misaligned(AddressRange),
    /// Bits {60:51} of the address of its first or last byte are not copies of bit 50.
    NotCanonical(u64),
    /// It starts in one region and ends in another.
    CrossesRegions(AddressRange),
    /// It starts below the addresses that are not implemented and ends above them.
    CrossesHole(AddressRange),
    /// The ranges lie in more halves of regions than there are pairs.
    TooFewPairs(u8),
}

impl fmt::Display for RangeRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoRange => f.write_str("no range is given"),
            Self::Pairs(pairs) => write!(f, "{pairs} pairs cannot be used: there are 1 to 4"),
            Self::PrivilegeLevels(plm) => write!(f, "plm {plm:#x} selects no privilege level of the four"),
            Self::Empty(range) => write!(f, "{range} ends before it has begun"),
            Self::Misaligned(range) => write!(f, "{range} is not made of whole bundles of 16 bytes"),
            Self::NotCanonical(address) => {
                write!(f, "{address:#x} is not implemented: its bits 60 to 51 are not copies of bit 50")
            }
            Self::CrossesRegions(range) => write!(f, "{range} crosses from one region into another"),
            Self::CrossesHole(range) => {
                write!(f, "{range} crosses the addresses of its region that are not implemented")
            }
            Self::TooFewPairs(pairs) => {
                write!(f, "{pairs} pairs are too few: no pair reaches into two regions or halves of one")
            }
        }
    }
}

impl core::error::Error for RangeRefusal {}

/// What to write, and what it tags.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RangeSettings {
    /// All eight breakpoint registers, then the register that switches the check on.
    pub settings: Vec<Setting>,
    /// What is tagged, by address. Together it holds everything that was asked for.
    pub covered: Vec<Covered>,
}

impl RangeSettings {
    /// How many addresses are tagged that were not asked for.
    #[must_use]
    pub fn over_coverage(&self) -> u64 {
        self.covered.iter().map(|part| part.before + part.between + part.after).sum()
    }
}

/// Addresses without a gap that one pair or several tag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Covered {
    /// From the first to the last address that was asked for here.
    pub asked: AddressRange,
    /// How many addresses are tagged before it.
    pub before: u64,
    /// How many are tagged in gaps between what was asked for.
    pub between: u64,
    /// How many are tagged after it.
    pub after: u64,
    /// The blocks, one per pair, in the order of the pairs.
    pub blocks: Vec<Block>,
}

impl CodeRanges<'_> {
    /// The settings, with the least over-coverage, then with the fewest pairs; of a single range, then with the least
    /// before it. libpfm 3 tags the same addresses or more, and sometimes by several pairs what is one block.
    ///
    /// # Errors
    ///
    /// Why the ranges cannot be tagged.
    pub fn settings(&self) -> Result<RangeSettings, RangeRefusal> {
        if self.plm == 0 || self.plm > 15 {
            return Err(RangeRefusal::PrivilegeLevels(self.plm));
        }
        let covered = cover_all(self.ranges, BUNDLE, self.pairs)?;
        let levels = Levels(self.plm);
        let purpose = format!("tags instructions at {levels}");
        let mut settings = pair_settings(&covered, Register::ibr, self.plm, 0, &purpose);
        settings.push(Setting {
            register: Register::pmc(13),
            value: 0,
            meaning: String::from("ta = 0: the instruction address range check is on"),
        });
        Ok(RangeSettings { settings, covered })
    }
}

impl DataRanges<'_> {
    /// The settings, with the least over-coverage, then with the fewest pairs; of a single range, then with the least
    /// before it.
    ///
    /// # Errors
    ///
    /// Why the ranges cannot be tagged.
    pub fn settings(&self) -> Result<RangeSettings, RangeRefusal> {
        if self.plm > 15 {
            return Err(RangeRefusal::PrivilegeLevels(self.plm));
        }
        let covered = cover_all(self.ranges, 1, self.pairs)?;
        let unused = match self.unused {
            UnusedPairs::Neutral => NEUTRAL,
            UnusedPairs::Zero => 0,
        };
        let mut settings = pair_settings(&covered, Register::dbr, self.plm, unused, "tags data");
        settings.push(Setting {
            register: Register::pmc(11),
            value: crate::itanium_pmu::kept(Register::pmc(11), self.pmc11) & !(1 << 28),
            meaning: String::from("pt = 0: the data address range check is on"),
        });
        Ok(RangeSettings { settings, covered })
    }
}

/// Covers ranges of one space by blocks of at least a granule.
fn cover_all(ranges: &[AddressRange], granule: u64, pairs: u8) -> Result<Vec<Covered>, RangeRefusal> {
    if !(1..=MOST_PAIRS as u8).contains(&pairs) {
        return Err(RangeRefusal::Pairs(pairs));
    }
    if ranges.is_empty() {
        return Err(RangeRefusal::NoRange);
    }
    for range in ranges {
        range.check(granule)?;
    }
    let mut sorted = ranges.to_vec();
    sorted.sort_unstable();
    let mut halves: Vec<u64> = Vec::new();
    let mut intervals: Vec<Range<u64>> = Vec::new();
    for range in sorted {
        let offsets = range.offsets();
        match intervals.last_mut() {
            Some(last) if halves.last() == Some(&range.half()) && offsets.start <= last.end => {
                last.end = last.end.max(offsets.end);
            }
            _ => {
                halves.push(range.half());
                intervals.push(offsets);
            }
        }
    }
    let groups = cover(&intervals, &halves, usize::from(pairs)).ok_or(RangeRefusal::TooFewPairs(pairs))?;
    Ok(groups
        .iter()
        .map(|group| {
            let half = halves[group.members.start];
            let members = &intervals[group.members.clone()];
            let asked = members[0].start..members[members.len() - 1].end;
            let held: u64 = members.iter().map(|interval| interval.end - interval.start).sum();
            Covered {
                asked: AddressRange { start: half | asked.start, end: half.wrapping_add(asked.end) },
                before: asked.start - group.covered.start,
                between: (asked.end - asked.start) - held,
                after: group.covered.end - asked.end,
                blocks: blocks(&group.covered)
                    .into_iter()
                    .map(|block| Block { start: half | block.start, ..block })
                    .collect(),
            }
        })
        .collect())
}

/// All eight registers of a file.
fn pair_settings(
    covered: &[Covered],
    register: fn(u8) -> Register,
    plm: u8,
    unused: u64,
    purpose: &str,
) -> Vec<Setting> {
    const MASK: u64 = 0x00ff_ffff_ffff_ffff;
    let mut used = covered.iter().flat_map(|part| &part.blocks);
    let mut settings = Vec::new();
    for pair in 0..MOST_PAIRS as u8 {
        let (even, odd, meaning) = match used.next() {
            Some(block) => {
                let mask = !((1 << block.log2_size) - 1) & MASK;
                let meaning = format!("{purpose} from {:#x} to {:#x}", block.start, block.last());
                (block.start, mask | u64::from(plm) << 56, meaning)
            }
            None if unused == NEUTRAL => (unused, 0, String::from("not used, matches no address")),
            None => (unused, 0, String::from("not used")),
        };
        settings.push(Setting { register: register(2 * pair), value: even, meaning });
        settings.push(Setting {
            register: register(2 * pair + 1),
            value: odd,
            meaning: String::from("mask of the pair"),
        });
    }
    settings
}

#[cfg(test)]
mod tests;
