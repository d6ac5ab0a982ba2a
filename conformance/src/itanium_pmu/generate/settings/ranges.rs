//! Which addresses pairs of breakpoint registers tag.

use traceproof_decoder::itanium_pmu::Registers;
use traceproof_decoder::itanium_pmu::qualification::{data_range_match, range_tag};
use traceproof_encoder_model::itanium_pmu::settings::{
    AddressRange, Block, CodeRanges, Covered, DataRanges, RangeRefusal, RangeSettings, UnusedPairs,
};
use traceproof_vectors::itanium_pmu::{Parameters, Register};

use super::{check, programmed};
use crate::generate::Entropy;

/// Bits that copy bit 50 in every address that is implemented.
const COPIES: u64 = 0x1ff8_0000_0000_0000;
const HALF: u64 = 1 << 50;

/// Code and data. Bundles and levels are of code only.
pub(super) fn judge(entropy: &mut Entropy<'_>) -> Result<(), String> {
    for granule in [1, 16] {
        let ranges = wish(entropy, granule);
        let plm = entropy.pick(&[8, 15, 1, 2, 4, 9, 0, 16]);
        let first = entropy.pick(&[4, 1, 2, 3, 4, 2, 0, 5]);
        let asked = Asked { ranges: &ranges, granule, plm, pmc11: entropy.word() };
        let mut least = u64::MAX;
        for pairs in first..=first.max(4) {
            let reasons = asked.reasons(pairs);
            let answer = match asked.settings(pairs) {
                Ok(answer) if reasons.is_empty() => answer,
                Err(refusal) if reasons.contains(&refusal) => continue,
                other => return Err(format!("{asked:x?} by {pairs} pairs: {other:x?}, not {reasons:x?}")),
            };
            asked.tags(&answer, pairs)?;
            if pairs == first {
                asked.is_least(&answer, pairs)?;
            }
            let over = answer.over_coverage();
            check(over <= least, || format!("{asked:x?}: more pairs tag more: {over}, not {least}"))?;
            least = over;
        }
    }
    Ok(())
}

/// Every set of eight neighbouring addresses and every range of sixteen, by one to four pairs.
pub(super) fn each() -> Result<(), String> {
    let places = |bits: u32| (0..8_u64).filter(move |place| bits >> place & 1 == 1);
    let sets = (1..=0xff).map(|bits| joined(places(bits).map(|place| (place, place + 1))));
    let spans = (0..16_u64).flat_map(|start| (start + 1..=16).map(move |end| joined([(start, end)])));
    for ranges in sets.chain(spans) {
        let asked = Asked { ranges: &ranges, granule: 1, plm: 0, pmc11: 0 };
        for pairs in 1..=4 {
            let answer = asked.settings(pairs).map_err(|refusal| format!("{asked:x?}: {refusal}"))?;
            asked.tags(&answer, pairs)?;
            asked.is_least(&answer, pairs)?;
        }
    }
    Ok(())
}

/// Ranges of these places, in order. Those that adjoin are one.
fn joined(places: impl IntoIterator<Item = (u64, u64)>) -> Vec<AddressRange> {
    const BASE: u64 = 0x4000_0000_0000_0000;
    let mut ranges: Vec<AddressRange> = Vec::new();
    for (start, end) in places {
        match ranges.last_mut() {
            Some(last) if last.end == BASE + start => last.end = BASE + end,
            _ => ranges.push(AddressRange { start: BASE + start, end: BASE + end }),
        }
    }
    ranges
}

/// One to five ranges, near each other, seldom wrong.
pub(super) fn wish(entropy: &mut Entropy<'_>, granule: u64) -> Vec<AddressRange> {
    // In all at most half of what a pair can reach.
    let shift = entropy.pick(&[0, 4, 20, 43 - granule.ilog2()]);
    let base = match entropy.below(8) {
        0 => HALF - ((32 * granule) << shift),
        1 => 0,
        2 => 0xe000_0000_0000_0000 | COPIES | HALF,
        3 => 0u64.wrapping_sub((64 * granule) << shift),
        _ => 0x4000_0000_0000_0000,
    };
    let count = 1 + entropy.below(3) + entropy.below(3);
    let mut ranges: Vec<AddressRange> = (0..count)
        .map(|_| {
            let start = entropy.below(48) as u64;
            let end = start + 1 + entropy.below(16) as u64;
            let at = |place: u64| base.wrapping_add((place * granule) << shift);
            AddressRange { start: at(start), end: at(end) }
        })
        .collect();
    if entropy.chance(3) {
        ranges.clear();
    } else if entropy.chance(40) {
        let range = &mut ranges[0];
        match entropy.below(5) {
            0 => range.end = range.start,
            1 => range.end = range.start.wrapping_sub(granule),
            2 => range.start ^= 1 << 53,
            3 => range.end = range.end.wrapping_add(1),
            _ => range.end ^= 1 << 61,
        }
    }
    ranges
}

/// What was asked for.
#[derive(Debug)]
struct Asked<'a> {
    ranges: &'a [AddressRange],
    granule: u64,
    plm: u8,
    pmc11: u64,
}

impl Asked<'_> {
    fn settings(&self, pairs: u8) -> Result<RangeSettings, RangeRefusal> {
        let Self { ranges, granule, plm, pmc11 } = *self;
        if granule > 1 {
            return CodeRanges { ranges, plm, pairs }.settings();
        }
        DataRanges { ranges, plm, pairs, pmc11, unused: UnusedPairs::Neutral }.settings()
    }

    /// What switches the check on. Other bits of PMC\[11\] are kept: ITA-REG-009.
    fn switch(&self) -> (Register, u64) {
        if self.granule > 1 { (Register::pmc(13), 0) } else { (Register::pmc(11), self.pmc11 & 0x030f_00cf) }
    }

    /// Everything that is wrong with it.
    fn reasons(&self, pairs: u8) -> Vec<RangeRefusal> {
        let Self { ranges, granule, plm, .. } = *self;
        let mut halves: Vec<u64> = ranges.iter().map(|range| range.start >> 50).collect();
        halves.sort_unstable();
        halves.dedup();
        let mut reasons: Vec<_> = [
            (ranges.is_empty(), RangeRefusal::NoRange),
            (!(1..=4).contains(&pairs), RangeRefusal::Pairs(pairs)),
            (plm > 15 || (plm == 0 && granule > 1), RangeRefusal::PrivilegeLevels(plm)),
            (halves.len() > usize::from(pairs), RangeRefusal::TooFewPairs(pairs)),
        ]
        .into_iter()
        .filter_map(|(is_so, reason)| is_so.then_some(reason))
        .collect();
        for &range in ranges {
            let (first, last) = (range.start, range.end.wrapping_sub(1));
            let implemented = |address: u64| address & COPIES == if address & HALF == 0 { 0 } else { COPIES };
            let all = [
                (first == range.end || first > last, RangeRefusal::Empty(range)),
                ((first | range.end) % granule != 0, RangeRefusal::Misaligned(range)),
                (!implemented(first), RangeRefusal::NotCanonical(first)),
                (!implemented(last), RangeRefusal::NotCanonical(last)),
                (first >> 61 != last >> 61, RangeRefusal::CrossesRegions(range)),
                ((first ^ last) & HALF != 0, RangeRefusal::CrossesHole(range)),
            ];
            reasons.extend(all.into_iter().filter_map(|(is_so, reason)| is_so.then_some(reason)));
        }
        reasons
    }

    fn is_asked(&self, address: u64) -> bool {
        self.ranges
            .iter()
            .any(|range| address.wrapping_sub(range.start) < range.end.wrapping_sub(range.start))
    }

    fn is_tagged(&self, registers: &Registers, address: u64) -> bool {
        if self.granule > 1 {
            range_tag(registers, &Parameters::default(), address)
        } else {
            data_range_match(registers, address)
        }
    }

    /// Everything asked for is tagged, and beside it what the answer names.
    fn tags(&self, answer: &RangeSettings, pairs: u8) -> Result<(), String> {
        let Self { granule, plm, .. } = *self;
        let switch = answer.settings.last().map(|setting| (setting.register, setting.value));
        check(switch == Some(self.switch()), || format!("{self:x?}: {switch:x?} is written last"))?;
        let parts = &answer.covered;
        let count: usize = parts.iter().map(|part| part.blocks.len()).sum();
        check(count <= usize::from(pairs), || format!("{self:x?}: {count} blocks of {pairs} pairs"))?;
        // Pairs of code that are not used are zeros: no level is selected.
        let mut unused = answer.settings.iter().step_by(2).take(4).skip(count);
        check(unused.all(|setting| setting.meaning.contains("no address") == (granule == 1)), || {
            format!("{self:x?}: {answer:x?}")
        })?;
        let edges = self.ranges.iter().flat_map(|range| [range.start, range.end]);
        let blocks = || parts.iter().flat_map(|part| &part.blocks);
        let ends = blocks().flat_map(|block| [block.start, block.last().wrapping_add(1)]);
        let places: Vec<u64> = edges
            .chain(ends)
            .flat_map(|edge| [edge.wrapping_sub(granule), edge, edge.wrapping_add(granule), edge ^ HALF])
            .filter(|place| {
                (place & COPIES == 0) == (place & HALF == 0)
                    && (place & COPIES == COPIES || place & COPIES == 0)
            })
            .collect();
        for level in 0..4 {
            let registers = programmed(&answer.settings, level);
            let is_level = granule == 1 || plm >> level & 1 == 1;
            for &place in &places {
                let is_covered = blocks().any(|block| (block.start..=block.last()).contains(&place));
                let tagged = self.is_tagged(&registers, place);
                check(tagged == (is_level && is_covered) && (is_covered || !self.is_asked(place)), || {
                    format!("{self:x?}: {place:#x} is tagged at level {level}: {tagged}; {answer:x?}")
                })?;
            }
        }
        // A part reaches as far as addresses are tagged without a gap, but not into another half of a region.
        let first = |part: &Covered| part.blocks.iter().map(|block| block.start).min();
        let last = |part: &Covered| part.blocks.iter().map(Block::last).max();
        let apart = parts.windows(2).all(|two| match (last(&two[0]), first(&two[1])) {
            (Some(last), Some(next)) => last < next && (last + 1 < next || next & (HALF - 1) == 0),
            _ => false,
        });
        check(apart, || format!("{self:x?}: parts without a gap between them: {parts:x?}"))?;
        parts.iter().try_for_each(|part| self.adds_up(part))
    }

    /// The sizes that a part names are those of its blocks, which have no gap.
    fn adds_up(&self, part: &Covered) -> Result<(), String> {
        let mut blocks = part.blocks.clone();
        blocks.sort_by_key(|block| block.start);
        let (first, last) = (blocks[0].start, blocks[blocks.len() - 1].last());
        let joined = blocks.windows(2).all(|pair| pair[0].last() + 1 == pair[1].start);
        let inside: Vec<_> =
            self.ranges.iter().filter(|range| (first..=last).contains(&range.start)).collect();
        let start = inside.iter().map(|range| range.start).min();
        let end = inside.iter().map(|range| range.end.wrapping_sub(1)).max();
        let asked = AddressRange { start: part.asked.start, end: part.asked.end.wrapping_sub(1) };
        let is_right = joined
            && (start, end) == (Some(asked.start), Some(asked.end))
            && part.before == asked.start - first
            && part.after == last - asked.end
            && part.between == asked.end - asked.start + 1 - size_of(&inside);
        let largest = blocks.iter().map(|block| block.log2_size).max();
        let is_first = part.blocks.first().map(|block| block.log2_size) == largest;
        check(is_right && is_first, || format!("{self:x?}: {part:x?}"))
    }

    /// No other choice of as many blocks tags less, and of a single range none tags as little with less before it.
    fn is_least(&self, answer: &RangeSettings, pairs: u8) -> Result<(), String> {
        let mut spans: Vec<(u64, u64)> =
            self.ranges.iter().map(|range| (range.start, range.end.wrapping_sub(1))).collect();
        spans.sort_unstable();
        let mut best = None;
        let smallest = self.ranges.iter().map(|range| (range.start | range.end).trailing_zeros()).min();
        search(&spans, &mut Vec::new(), usize::from(pairs), smallest.unwrap_or(0), &mut best);
        let Some((over, used, before)) = best else { return Ok(()) };
        let blocks: usize = answer.covered.iter().map(|part| part.blocks.len()).sum();
        let first = answer.covered.first().filter(|_| spans.len() == 1).map_or(0, |part| part.before);
        check((answer.over_coverage(), blocks, first) == (over, used, before), || {
            format!("{self:x?}: {answer:x?}, but {over} more addresses and {used} blocks are enough")
        })
    }
}

/// Addresses of ranges that may overlap.
fn size_of(ranges: &[&AddressRange]) -> u64 {
    let mut spans: Vec<_> = ranges.iter().map(|range| (range.start, range.end.wrapping_sub(1))).collect();
    spans.sort_unstable();
    let (mut size, mut next) = (0, 0);
    for (start, last) in spans {
        let from = if size == 0 { start } else { start.max(next) };
        if from <= last {
            size += last - from + 1;
            next = last.wrapping_add(1);
        }
    }
    size
}

/// Tries every choice of blocks that each hold the first address that is not held yet: the least that is held and was
/// not asked for, then the fewest blocks, then, of a single range, the least before it. No block is smaller than what
/// all ranges are multiples of.
fn search(
    spans: &[(u64, u64)],
    held: &mut Vec<(u64, u64)>,
    pairs: usize,
    smallest: u32,
    best: &mut Option<(u64, usize, u64)>,
) {
    let over = held.iter().map(|&(start, last)| not_asked(start, last, spans)).sum();
    let Some(missing) = spans.iter().find_map(|&(start, last)| first_missing(start, last, held)) else {
        let first = held.iter().map(|(start, _)| *start).min();
        let before = match *spans {
            [(start, _)] => start - first.unwrap_or(start),
            _ => 0,
        };
        let cost = (over, held.len(), before);
        if best.is_none_or(|least| cost < least) {
            *best = Some(cost);
        }
        return;
    };
    if held.len() == pairs || best.is_some_and(|(least, ..)| over > least) {
        return;
    }
    for log2_size in smallest..=50 {
        let mask = (1_u64 << log2_size) - 1;
        let (start, last) = (missing & !mask, missing | mask);
        // Blocks that overlap are one within the other: no new choice, and neither is one that is larger than all.
        let is_new = !held.iter().any(|&(other, end)| start <= end && other <= last);
        if is_new {
            held.push((start, last));
            search(spans, held, pairs, smallest, best);
            held.pop();
        }
        let holds_all = spans.iter().all(|&(from, to)| start <= from && to <= last);
        if !is_new || holds_all {
            break;
        }
    }
}

fn first_missing(start: u64, last: u64, held: &[(u64, u64)]) -> Option<u64> {
    let mut at = start;
    loop {
        match held.iter().find(|&&(from, to)| (from..=to).contains(&at)) {
            None => return Some(at),
            Some(&(_, to)) if to >= last => return None,
            Some(&(_, to)) => at = to + 1,
        }
    }
}

fn not_asked(start: u64, last: u64, spans: &[(u64, u64)]) -> u64 {
    let inside: Vec<AddressRange> = spans
        .iter()
        .filter(|&&(from, to)| from <= last && start <= to)
        .map(|&(from, to)| AddressRange { start: from.max(start), end: to.min(last).wrapping_add(1) })
        .collect();
    last - start + 1 - size_of(&inside.iter().collect::<Vec<_>>())
}
