//! Pairs of registers against published ones, and against the addresses that they tag in the model.

use proptest::prelude::*;
use traceproof_vectors::itanium_pmu::{
    Access, AccessKind, Instruction, ItaniumPmu, Packet, Parameters, Policy, Stimulus, SyllableType,
};
use traceproof_vectors::{Address, Encoder, Log};

use super::*;

const fn range(start: u64, end: u64) -> AddressRange {
    AddressRange { start, end }
}

fn code(ranges: &[AddressRange], pairs: u8) -> Result<RangeSettings, RangeRefusal> {
    CodeRanges { ranges, plm: 8, pairs }.settings()
}

fn data(ranges: &[AddressRange], unused: UnusedPairs) -> Result<RangeSettings, RangeRefusal> {
    DataRanges { ranges, plm: 8, pairs: 4, pmc11: 8, unused }.settings()
}

fn values(settings: &RangeSettings) -> Vec<u64> {
    settings.settings.iter().map(|setting| setting.value).collect()
}

/// EX-02, EX-50, EX-23: with three pairs libpfm tags the same addresses, but by pairs that could be one.
#[test]
fn the_addresses_of_libpfm_are_tagged_by_fewer_pairs() {
    let region = 0x4000_0000_0000_0000;
    for (asked, over, libpfm, ours) in [
        (
            range(0x1000, 0x1590),
            0x70,
            [0x1000, 0x08ff_ffff_ffff_fc00, 0x1400, 0x08ff_ffff_ffff_ff00, 0x1500, 0x08ff_ffff_ffff_ff00],
            &[0x1000, 0x08ff_ffff_ffff_fc00, 0x1400, 0x08ff_ffff_ffff_fe00, 0, 0, 0, 0, 0][..],
        ),
        (
            range(region | 0x3000, region | 0x30f0),
            0x10,
            [
                region | 0x3000,
                0x08ff_ffff_ffff_ff80,
                region | 0x3080,
                0x08ff_ffff_ffff_ffc0,
                region | 0x30c0,
                0x08ff_ffff_ffff_ffc0,
            ],
            &[region | 0x3000, 0x08ff_ffff_ffff_ff00, 0, 0, 0, 0, 0, 0, 0],
        ),
    ] {
        let settings = code(&[asked], 3).unwrap();
        assert_eq!(values(&settings), ours);
        let part = &settings.covered[0];
        assert_eq!((part.before, part.between, part.after), (0, 0, over));
        let mut theirs = settings.clone();
        for (setting, value) in theirs.settings.iter_mut().zip(libpfm) {
            setting.value = value;
        }
        let (mut ours, mut theirs) = (Tagger::new(&settings), Tagger::new(&theirs));
        for ip in (asked.start - 0x800..asked.end + 0x800).step_by(16) {
            assert_eq!(ours.tags_code(ip), theirs.tags_code(ip), "{ip:#x}");
        }
        assert_eq!(code(&[asked], 4).unwrap().over_coverage(), 0);
    }
    let four = code(&[range(0x1000, 0x1590)], 4).unwrap();
    let expected = [
        0x1000,
        0x08ff_ffff_ffff_fc00,
        0x1400,
        0x08ff_ffff_ffff_ff00,
        0x1500,
        0x08ff_ffff_ffff_ff80,
        0x1580,
        0x08ff_ffff_ffff_fff0,
        0,
    ];
    assert_eq!(values(&four), expected);
    assert_eq!(four.settings[8].register, Register::pmc(13));
}

/// EX-20, EX-49: in libpfm's order.
#[test]
fn the_data_pairs_of_libpfm_are_reproduced() {
    let d1 = data(&[range(0x6000_0000_0001_c000, 0x6000_0000_0003_c000)], UnusedPairs::Zero).unwrap();
    let expected = [
        0x6000_0000_0002_0000,
        0x08ff_ffff_ffff_0000,
        0x6000_0000_0001_c000,
        0x08ff_ffff_ffff_c000,
        0x6000_0000_0003_0000,
        0x08ff_ffff_ffff_8000,
        0x6000_0000_0003_8000,
        0x08ff_ffff_ffff_c000,
        8,
    ];
    assert_eq!(values(&d1), expected);
    assert_eq!(d1.settings[8].register, Register::pmc(11));
}

#[test]
fn unused_data_pairs_match_nothing_unless_asked_for() {
    let block = [range(0x6000_0000_0001_c000, 0x6000_0000_0002_0000)];
    let neutral = values(&data(&block, UnusedPairs::Neutral).unwrap());
    assert_eq!(neutral[2..8], [0x0100_0000_0000_0000, 0, 0x0100_0000_0000_0000, 0, 0x0100_0000_0000_0000, 0]);
    assert_eq!(values(&data(&block, UnusedPairs::Zero).unwrap())[2..8], [0; 6]);
    let whole =
        DataRanges { ranges: &block, plm: 0, pairs: 1, pmc11: 0x1004_0088, unused: UnusedPairs::Neutral };
    assert_eq!(values(&whole.settings().unwrap())[8], 0x0004_0088, "pt is cleared, the rest stays");
}

#[test]
fn ranges_that_no_pair_can_hold_are_refused() {
    let one = |start, end| code(&[range(start, end)], 4).unwrap_err();
    assert_eq!(one(0x1008, 0x1590), RangeRefusal::Misaligned(range(0x1008, 0x1590)), "EX-51");
    assert_eq!(one(0x1000, 0x1598), RangeRefusal::Misaligned(range(0x1000, 0x1598)));
    assert_eq!(one(0x2000, 0x1000), RangeRefusal::Empty(range(0x2000, 0x1000)), "EX-51");
    assert_eq!(one(0x2000, 0x2000), RangeRefusal::Empty(range(0x2000, 0x2000)));
    assert_eq!(one(0, 0), RangeRefusal::Empty(range(0, 0)));
    let (low, high) = (0x0004_0000_0000_0000, 0x1ffc_0000_0000_0000);
    assert_eq!(one(low, low + 16), RangeRefusal::NotCanonical(low));
    assert_eq!(one(0, low + 16), RangeRefusal::NotCanonical(low + 15));
    assert_eq!(one(0x1000, high + 16), RangeRefusal::CrossesHole(range(0x1000, high + 16)));
    let next = 0x2000_0000_0000_0000;
    assert_eq!(one(high, next + 16), RangeRefusal::CrossesRegions(range(high, next + 16)));
    assert_eq!(one(0x1000, 0), RangeRefusal::CrossesRegions(range(0x1000, 0)));
    for (start, end) in [(low - 16, low), (high, next), (0xfffc_0000_0000_0000, 0)] {
        let settings = code(&[range(start, end)], 1).unwrap();
        assert_eq!((settings.over_coverage(), settings.covered[0].asked), (0, range(start, end)));
    }
    assert_eq!(code(&[], 4), Err(RangeRefusal::NoRange));
    for pairs in [0, 5] {
        assert_eq!(code(&[range(0, 16)], pairs), Err(RangeRefusal::Pairs(pairs)));
    }
    let regions = [range(0, 16), range(next, next + 16)];
    assert_eq!(code(&regions, 1), Err(RangeRefusal::TooFewPairs(1)));
    assert!(code(&regions, 2).is_ok());
    for plm in [0, 16] {
        let asked = CodeRanges { ranges: &regions, plm, pairs: 4 };
        assert_eq!(asked.settings(), Err(RangeRefusal::PrivilegeLevels(plm)));
    }
}

#[test]
fn several_ranges_share_the_pairs() {
    // Touching and overlapping ones are one.
    let merged = code(&[range(0x1080, 0x1100), range(0x1000, 0x1090), range(0x1100, 0x1200)], 1).unwrap();
    assert_eq!((merged.over_coverage(), merged.covered.len()), (0, 1));
    // Two pairs each would leave over-coverage; three and one do not.
    let uneven = code(&[range(0x1000, 0x1070), range(0x8000, 0x8100)], 4).unwrap();
    assert_eq!(uneven.over_coverage(), 0);
    assert_eq!(uneven.covered.iter().map(|part| part.blocks.len()).collect::<Vec<_>>(), [3, 1]);
    // Too many for one pair each: the two that are closest are covered as one.
    let five = [0x1000, 0x3000, 0x3020, 0x8000, 0x10000].map(|start| range(start, start + 16));
    let settings = code(&five, 4).unwrap();
    let shared: Vec<_> = settings.covered.iter().filter(|part| part.between != 0).collect();
    assert_eq!(shared.len(), 1);
    assert_eq!((shared[0].asked, shared[0].between, shared[0].after), (range(0x3000, 0x3030), 16, 16));
    assert_eq!(settings.settings.len(), 9);
}

/// The model with these settings, and whether it tags.
struct Tagger {
    encoder: crate::itanium_pmu::Encoder,
}

impl Tagger {
    fn new(settings: &RangeSettings) -> Self {
        let mut encoder = crate::itanium_pmu::Encoder::default();
        encoder.begin(&Parameters::default(), &Policy::default()).unwrap();
        let mut tagger = Self { encoder };
        tagger.step(Stimulus::Write { register: Register::PSR, value: 3 << 32 });
        for setting in &settings.settings {
            tagger.step(Stimulus::Write { register: setting.register, value: setting.value });
        }
        tagger
    }

    fn step(&mut self, stimulus: Stimulus) -> Option<Packet> {
        let mut log: Log<ItaniumPmu> = Log::default();
        Encoder::<ItaniumPmu>::step(&mut self.encoder, &stimulus, &mut log);
        log.packets().last().copied()
    }

    fn tags_code(&mut self, ip: u64) -> bool {
        let instruction = Instruction {
            ip: Address(ip),
            slot: 0,
            itype: SyllableType::M,
            enco: 0,
            retired: true,
            squashed: false,
        };
        match self.step(Stimulus::Instruction(instruction)) {
            Some(Packet::Tags(tags)) => tags.range,
            other => panic!("{other:?}"),
        }
    }

    fn tags_data(&mut self, address: u64) -> bool {
        match self.step(Stimulus::Access(Access { kind: AccessKind::Load, address: Address(address) })) {
            Some(Packet::DataTag(tag)) => tag,
            other => panic!("{other:?}"),
        }
    }
}

/// A range somewhere in a half of a region, of any magnitude.
fn any_range(granule: u64) -> impl Strategy<Value = AddressRange> {
    (0..8_u64, any::<bool>(), 0..=OFFSETS, 0..=OFFSETS, 0..50_u32).prop_map(
        move |(region, upper, start, size, shift)| {
            let half = region << 61 | if upper { 0x1ffc_0000_0000_0000 } else { 0 };
            let start = start & !(granule - 1);
            let size = ((size >> shift) & !(granule - 1)).max(granule).min(OFFSETS + 1 - start);
            range(half | start, half.wrapping_add(start + size))
        },
    )
}

proptest! {
    /// ITA-IBR-018: everything inside is tagged, nothing outside what is reported as covered.
    #[test]
    fn code_inside_is_tagged_and_outside_is_not(asked in any_range(16), pairs in 1..=4_u8, probes in prop::collection::vec(any::<u64>(), 16)) {
        let settings = code(&[asked], pairs).unwrap();
        prop_assert_eq!(settings.covered.len(), 1);
        let part = &settings.covered[0];
        prop_assert!(part.blocks.len() <= usize::from(pairs));
        let (first, last) = (asked.start - part.before, asked.last() + part.after);
        let mut tagger = Tagger::new(&settings);
        prop_assert!(tagger.tags_code(asked.start) && tagger.tags_code(asked.last() & !15));
        prop_assert!(tagger.tags_code(first) && tagger.tags_code(last & !15));
        for outside in [first.wrapping_sub(16), last.wrapping_add(1)] {
            prop_assert!(!tagger.tags_code(outside) || canonical(outside) != outside, "{:#x}", outside);
        }
        for probe in probes {
            let inside = asked.start + probe % (asked.last() - asked.start + 1);
            prop_assert!(tagger.tags_code(inside & !15));
            let anywhere = canonical(probe);
            prop_assert_eq!(tagger.tags_code(anywhere), (first..=last).contains(&anywhere));
        }
    }

    #[test]
    fn data_inside_is_tagged_and_outside_is_not(asked in prop::collection::vec(any_range(1), 1..4), probes in prop::collection::vec(any::<u64>(), 16)) {
        let settings = data(&asked, UnusedPairs::Neutral).unwrap();
        let mut tagger = Tagger::new(&settings);
        // PMC[13] is still 1, PMC[8] passes all: the instruction is tagged.
        prop_assert!(tagger.tags_code(0));
        let covers = |address: u64| {
            settings.covered.iter().any(|part| {
                let (first, last) = (part.asked.start - part.before, part.asked.last() + part.after);
                (first..=last).contains(&address)
            })
        };
        for (probe, range) in probes.iter().zip(asked.iter().cycle()) {
            let inside = range.start + probe % (range.last() - range.start + 1);
            prop_assert!(tagger.tags_data(inside), "{:#x}", inside);
            let near = canonical(range.start.wrapping_add(probe % 4096).wrapping_sub(2048));
            prop_assert_eq!(tagger.tags_data(near), covers(near), "{:#x}", near);
        }
    }
}
