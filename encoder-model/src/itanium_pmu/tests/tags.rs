//! IBRRangeTag, Tag(PMC\[8\]), Tag(PMC\[9\]), DBRRangeTag.

use super::*;
use traceproof_vectors::Address;

#[test]
fn instruction_ranges() {
    let kernel = [0xe000_0000_044a_e980, 0x01ff_ffff_ffff_fff0];
    let start = 0xe000_0000_044a_e980;
    let mut bench = Bench::new();
    bench.pmc(13, 0).ibrs(&kernel);
    for (example, psr, ip, expected) in [
        ("a", 0, start, true),
        ("b", 0, 0xe000_0000_044a_e990, false),
        ("c", user(3), start, false),
        ("d", DB, start, false),
        ("e", IS, start, false),
    ] {
        assert_eq!(bench.psr(psr).range(ip), expected, "EX-01{example}");
    }
    bench.psr(0).write(Register::ibr(7), 1 << 63);
    assert!(!bench.range(start), "EX-01f");
    bench.pmc(13, 1).psr(user(3) | IS | DB);
    assert!(bench.range(0), "EX-01g");
}

#[test]
fn an_instruction_range_of_three_pairs() {
    let mut bench = Bench::new();
    bench.pmc(13, 0).psr(user(3)).ibrs(&[
        0x1000,
        0x08ff_ffff_ffff_fc00,
        0x1400,
        0x08ff_ffff_ffff_ff00,
        0x1500,
        0x08ff_ffff_ffff_ff00,
    ]);
    for (ip, expected) in [
        (0xff0, false),
        (0x1000, true),
        (0x13f0, true),
        (0x1400, true),
        (0x1580, true),
        (0x15f0, true),
        (0x1600, false),
        (0x2000_0000_0000_1000, false),
    ] {
        assert_eq!(bench.range(ip), expected, "EX-02 {ip:#x}");
    }
}

#[test]
fn unimplemented_address_bits_are_copies_of_bit_50() {
    let addresses = [0xbffc_0000_0000_1230, 0xa000_0000_0000_1230, 0xa004_0000_0000_1230];
    for (example, pair, expected) in [
        ("a", [0xbffc_0000_0000_1000, 0x0fff_ffff_ffff_f000], [true, false, true]),
        ("b", [0xa004_0000_0000_1000, 0x0fff_ffff_ffff_f000], [false, false, false]),
        ("c", [0xa000_0000_0000_1000, 0x0fff_ffff_ffff_f000], [false, true, false]),
        ("d", [0xbf04_0000_0000_1000, 0x0f07_ffff_ffff_f000], [true, false, true]),
    ] {
        let mut bench = Bench::new();
        bench.pmc(13, 0).ibrs(&pair);
        assert_eq!(addresses.map(|ip| bench.range(ip)), expected, "EX-03{example}");
    }
    let mut bench = Bench::new();
    bench.pmc(13, 0).psr(user(2)).ibrs(&[0, 0x0f00_0000_0000_0000]);
    let halves = [0, 0x0003_ffff_ffff_fff0, 0x1ffc_0000_0000_0000, 0x2000_0000_0000_0000];
    assert_eq!(halves.map(|ip| bench.range(ip)), [true, true, false, false], "EX-04");
}

#[test]
fn low_bits_of_instruction_addresses_are_a_reading() {
    for (ibr_low_bits, expected) in [(IbrLowBits::Compared, false), (IbrLowBits::Ignored, true)] {
        let mut bench = Bench::with(&Parameters { ibr_low_bits, ..Parameters::default() });
        bench.pmc(13, 0).psr(user(3)).ibrs(&[0x4000_0000_0000_3008, 0x08ff_ffff_ffff_fff8]);
        assert_eq!(bench.range(0x4000_0000_0000_3000), expected, "EX-05");
    }
}

#[test]
fn opcodes_tag_with_the_range_and_not_in_ia32() {
    let cloop = Instruction { itype: SyllableType::B, enco: 0x091_ffff_e140, ..nop_at(0x1000) };
    let mut bench = Bench::new();
    bench.pmc(8, 0x1400_0280_03ff_f1f8);
    assert_eq!(bench.fetch(cloop), Tags { range: true, pmc8: true, pmc9: true });
    assert_eq!(bench.fetch(nop_at(0x1000)), Tags { range: true, pmc8: false, pmc9: true });
    bench.pmc(9, 0x0000_0000_3fff_fff8);
    assert_eq!(bench.fetch(cloop), Tags { range: true, pmc8: true, pmc9: false });
    bench.psr(IS);
    assert_eq!(bench.fetch(cloop), Tags { range: true, pmc8: false, pmc9: false }, "ITA-QUA-006");
    bench.psr(0).pmc(13, 0);
    assert_eq!(bench.fetch(cloop), Tags::default());
}

#[test]
fn the_long_syllable_is_a_reading() {
    let long = Instruction { itype: SyllableType::X, slot: 2, ..nop_at(0) };
    for (long_syllable, expected) in [(LongSyllable::I, true), (LongSyllable::None, false)] {
        let mut bench = Bench::with(&Parameters { long_syllable, ..Parameters::default() });
        assert_eq!(bench.fetch(long).pmc8, expected);
    }
}

/// DBR set D1.
const D1: [u64; 8] = [
    0x6000_0000_0002_0000,
    0x08ff_ffff_ffff_0000,
    0x6000_0000_0001_c000,
    0x08ff_ffff_ffff_c000,
    0x6000_0000_0003_0000,
    0x08ff_ffff_ffff_8000,
    0x6000_0000_0003_8000,
    0x08ff_ffff_ffff_c000,
];

#[test]
fn data_ranges_and_the_opcode_tag() {
    let rows = [
        ("a", 0x6000_0000_0001_bfff, 0, false),
        ("b", 0x6000_0000_0001_c000, 0, true),
        ("c", 0x6000_0000_0002_ffff, 0, true),
        ("d", 0x6000_0000_0003_bfff, 0, true),
        ("e", 0x6000_0000_0003_c000, 0, false),
        ("f", 0x2000_0000_0001_c000, 0, false),
        ("g", 0x6000_0000_0001_c000, DB, false),
    ];
    for (example, address, psr, matched) in rows {
        let mut bench = Bench::new();
        bench.dbrs(&D1).psr(psr);
        for (pmc8, t8) in [(PASS_ALL, true), (0, false)] {
            bench.pmc(8, pmc8);
            for (pmc11, pt) in [(0, false), (1 << 28, true)] {
                bench.pmc(11, pmc11);
                assert_eq!(bench.fetch(nop_at(0)).pmc8, t8);
                for kind in AccessKind::ALL {
                    let is_indirect = matches!(kind, AccessKind::Rse | AccessKind::Vhpt);
                    let expected = match (pt, is_indirect) {
                        (true, _) => t8,
                        (false, false) => t8 && matched,
                        (false, true) => matched,
                    };
                    assert_eq!(bench.access(kind, address), expected, "EX-20{example} {kind:?} {t8} {pt}");
                }
            }
        }
    }
}

#[test]
fn unused_data_pairs_match_half_a_region_unless_neutral() {
    let addresses = [
        0x6000_0000_0002_0008,
        0x6000_0000_0004_0000,
        0x0000_0000_0000_1000,
        0x0003_ffff_ffff_fff8,
        0x1ffc_0000_0000_0000,
    ];
    let used = [0x6000_0000_0002_0000, 0x00ff_ffff_ffff_0000];
    let neutral = [used[0], used[1], NEUTRAL, 0, NEUTRAL, 0, NEUTRAL, 0];
    for (example, pairs, expected) in [
        (21, &used[..], [true, false, true, true, false]),
        (22, &neutral[..], [true, false, false, false, false]),
    ] {
        let mut bench = Bench::new();
        bench.pmc(11, 0).dbrs(pairs);
        bench.fetch(nop_at(0));
        let tags = addresses.map(|address| bench.access(AccessKind::Store, address));
        assert_eq!(tags, expected, "EX-{example}");
    }
}

#[test]
fn all_three_qualifiers_together() {
    const CODE: [u64; 6] = [
        0x4000_0000_0000_3000,
        0x08ff_ffff_ffff_ff80,
        0x4000_0000_0000_3080,
        0x08ff_ffff_ffff_ffc0,
        0x4000_0000_0000_30c0,
        0x08ff_ffff_ffff_ffc0,
    ];
    let data = [0x6000_0000_0001_c000, 0x00ff_ffff_ffff_c000, NEUTRAL, 0, NEUTRAL, 0, NEUTRAL, 0];
    let rows = [
        (0x3010, 0x080_c0f0_0380, 0x6000_0000_0001_c008, true, true, true, true),
        (0x3010, 0x080_c0f0_0380, 0x6000_0000_0001_0000, true, true, false, true),
        (0x3010, 0x080_80f0_0380, 0x6000_0000_0001_c008, true, false, false, false),
        (0x3100, 0x080_c0f0_0380, 0x6000_0000_0001_c008, false, false, false, false),
        (0x30f0, 0x080_d0f0_0386, 0x6000_0000_0001_fff8, true, true, true, true),
        (0x3020, 0x08c_c0f0_0000, 0x6000_0000_0001_c010, true, false, false, false),
    ];
    let mut bench = Bench::new();
    bench.pmc(13, 0).pmc(8, 0x8406_0000_0207_fff8).psr(user(3)).ibrs(&CODE).dbrs(&data);
    for (offset, enco, address, range, pmc8, ranged, passed) in rows {
        let load = Instruction { enco, ..nop_at(0x4000_0000_0000_0000 + offset) };
        for (pt, expected) in [(0, ranged), (1, passed)] {
            bench.pmc(11, pt << 28);
            let tags = bench.fetch(load);
            assert_eq!((tags.range, tags.pmc8), (range, pmc8), "EX-23 {offset:#x} {enco:#x}");
            assert_eq!(bench.access(AccessKind::Load, address), expected, "EX-23 {offset:#x} {enco:#x}");
        }
    }
}

#[test]
fn tags_are_those_of_the_fetch_and_the_access() {
    let mut bench = Bench::new();
    assert!(bench.fetch(nop_at(0)).pmc8);
    bench.pmc(8, 0).pmc(13, 0);
    assert!(bench.access(AccessKind::Load, 0), "the tag was made when the instruction was fetched");
    bench.fetch(nop_at(0));
    assert!(!bench.access(AccessKind::Load, 0));
}

#[test]
fn tags_are_left_out_where_the_policy_says_so() {
    let mut bench = Bench::new();
    bench.encoder.begin(&Parameters::default(), &Policy { tags: false }).unwrap();
    let instruction = nop_at(0x10);
    assert_eq!(bench.step(Stimulus::Instruction(instruction)), [Packet::Instruction(instruction)]);
    let access = Access { kind: AccessKind::Load, address: Address(0) };
    assert_eq!(bench.step(Stimulus::Access(access)), [Packet::Access(access)]);
}
