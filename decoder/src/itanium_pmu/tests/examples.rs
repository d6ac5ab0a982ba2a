//! The worked examples of the formulas, and dumps of real hardware.

use alloc::vec::Vec;

use traceproof_vectors::itanium_pmu::{IbrLowBits, Parameters, Tags};

use super::*;
use crate::itanium_pmu::qualification::{
    OpcodeMonitor, counters, data_range_match, data_tag as tag_of, opcode_match, range_tag, tags as tags_of,
};
use traceproof_vectors::Address;

fn range(values: &[(&str, u64)], ip: u64) -> bool {
    range_tag(&registers(values), &Parameters::default(), ip)
}

/// EX-01 (ITA-IBR-001, ITA-IBR-008 to ITA-IBR-011).
#[test]
fn one_bundle_is_tagged_at_its_privilege_level_only() {
    let with = |more: &[(&str, u64)], ip| {
        let pair = [("IBR0", 0xe000_0000_044a_e980), ("IBR1", 0x01ff_ffff_ffff_fff0)];
        range(&[&pair, more].concat(), ip)
    };
    let ip = 0xe000_0000_044a_e980;
    assert!(with(&[("PSR", psr(0, 0))], ip));
    assert!(!with(&[("PSR", psr(0, 0))], ip + 16));
    assert!(!with(&[("PSR", psr(3, 0))], ip));
    assert!(!with(&[("PSR", psr(0, DB))], ip));
    assert!(!with(&[("PSR", psr(0, IS))], ip));
    let other_x = ("IBR7", 1 << 63);
    assert!(!with(&[other_x], ip));
    assert!(with(&[other_x, ("PMC13", 1), ("PSR", psr(3, IS | DB))], 0));
}

/// EX-02, the pairs of [0x1000, 0x1590) (ITA-IBR-012, ITA-IBR-018).
#[test]
fn three_pairs_cover_a_range() {
    let values = [
        ("IBR0", 0x1000),
        ("IBR1", 0x08ff_ffff_ffff_fc00),
        ("IBR2", 0x1400),
        ("IBR3", 0x08ff_ffff_ffff_ff00),
        ("IBR4", 0x1500),
        ("IBR5", 0x08ff_ffff_ffff_ff00),
        ("PSR", psr(3, 0)),
    ];
    let ips = [0xff0, 0x1000, 0x13f0, 0x1400, 0x1580, 0x15f0, 0x1600, 0x2000_0000_0000_1000];
    assert_eq!(ips.map(|ip| range(&values, ip)), [false, true, true, true, true, true, false, false]);
}

/// EX-03 (ITA-IBR-003 to ITA-IBR-005, ITA-IBR-014) and EX-04.
#[test]
fn the_unimplemented_bits_are_compared_with_bit_50() {
    let rows: [(u64, u64, [bool; 3]); 4] = [
        (0xbffc_0000_0000_1000, 0x0fff_ffff_ffff_f000, [true, false, true]),
        (0xa004_0000_0000_1000, 0x0fff_ffff_ffff_f000, [false, false, false]),
        (0xa000_0000_0000_1000, 0x0fff_ffff_ffff_f000, [false, true, false]),
        (0xbf04_0000_0000_1000, 0x0f07_ffff_ffff_f000, [true, false, true]),
    ];
    for (addr, control, expected) in rows {
        let ips = [0xbffc_0000_0000_1230, 0xa000_0000_0000_1230, 0xa004_0000_0000_1230];
        let values = [("IBR0", addr), ("IBR1", control)];
        assert_eq!(ips.map(|ip| range(&values, ip)), expected, "{addr:x}");
    }
    let values = [("IBR1", 0x0f00_0000_0000_0000), ("PSR", psr(2, 0))];
    let ips = [0, 0x0003_ffff_ffff_fff0, 0x1ffc_0000_0000_0000, 0x2000_0000_0000_0000];
    assert_eq!(ips.map(|ip| range(&values, ip)), [true, true, false, false]);
}

/// EX-05 (ITA-IBR-017).
#[test]
fn low_bits_are_compared_as_the_option_says() {
    let values = [("IBR0", 0x4000_0000_0000_3008), ("IBR1", 0x08ff_ffff_ffff_fff8), ("PSR", psr(3, 0))];
    let with = |ibr_low_bits| {
        let parameters = Parameters { ibr_low_bits, ..Parameters::default() };
        range_tag(&registers(&values), &parameters, 0x4000_0000_0000_3000)
    };
    assert_eq!(IbrLowBits::ALL.map(with), [false, true]);
}

fn matches(pmc: u64, itype: SyllableType, enco: u64) -> bool {
    let registers = registers(&[("PMC8", pmc), ("PMC9", pmc)]);
    let [first, second] = OpcodeMonitor::ALL
        .map(|monitor| opcode_match(&registers, &Parameters::default(), monitor, &syllable(itype, enco)));
    assert_eq!(first, second);
    first
}

/// EX-12 to EX-19 (ITA-OPC-001 to ITA-OPC-007, ITA-OPC-011, ITA-OPC-013).
#[test]
fn opcodes_match_by_key_and_type() {
    let cloop = 0x1400_0280_03ff_f1f8;
    let ld1 = 0x8400_0000_07e7_fffb;
    let nop = 0x8000_4000_0000_0000;
    let rows = [
        (cloop, B, 0x091_ffff_e140, true),
        (cloop, B, 0x091_ffff_e147, true),
        (cloop, B, 0x091_ffff_e000, false),
        (cloop, B, 0x080_0000_0180, false),
        (cloop, M, 0x091_ffff_e140, false),
        (ld1, M, 0x080_00f0_0380, true),
        (ld1, M, 0x080_40f0_0380, false),
        (ld1, M, 0x081_00f0_0380, true),
        (ld1, M, 0x08c_00f0_0000, true),
        (ld1, M, 0x0a0_00f0_0380, true),
        (ld1, M, 0x0c0_00f0_0380, false),
        (nop, M, 0x000_0800_0000, true),
        (nop, M, 0x000_0800_0000 | 0x3fff << 13, true),
        (nop, M, 0x000_0800_0000 | 5 << 6, false),
        (0x8800_0000_0000_0000, M, 1 << 40, true),
        (0x8000_4000_0000_0000, M, 1 << 27, true),
        (0x8000_2000_0000_0000, M, 1 << 12, true),
        (0x8000_0002_0000_0000, M, 1, true),
    ];
    for (pmc, itype, enco, expected) in rows {
        assert_eq!(matches(pmc, itype, enco), expected, "{pmc:x} {itype:?} {enco:x}");
    }
    let add = 0x100_0101_e380;
    assert_eq!(
        [M, I, F, B].map(|itype| matches(0xc800_0000_0000_fff8, itype, add)),
        [true, true, false, false]
    );
    let some = 0x000_0800_0000 | 0x1fc0;
    assert_eq!(
        [M, I, F, B].map(|itype| matches(0xc000_4000_0000_fff8, itype, some)),
        [true, true, false, false]
    );
    for itype in [M, I, F, B] {
        for enco in [0, add, (1 << 41) - 1] {
            assert!(matches(0xf000_0000_3fff_fff8, itype, enco));
            assert!(matches(0xffff_fffe_3fff_fff8, itype, enco));
            assert!(!matches(0x0000_0000_3fff_fff8, itype, enco));
        }
    }
}

const D1: [(&str, u64); 8] = [
    ("DBR0", 0x6000_0000_0002_0000),
    ("DBR1", 0x08ff_ffff_ffff_0000),
    ("DBR2", 0x6000_0000_0001_c000),
    ("DBR3", 0x08ff_ffff_ffff_c000),
    ("DBR4", 0x6000_0000_0003_0000),
    ("DBR5", 0x08ff_ffff_ffff_8000),
    ("DBR6", 0x6000_0000_0003_8000),
    ("DBR7", 0x08ff_ffff_ffff_c000),
];
const NEUTRAL: [(&str, u64); 3] =
    [("DBR2", 0x0100_0000_0000_0000), ("DBR4", 0x0100_0000_0000_0000), ("DBR6", 0x0100_0000_0000_0000)];

/// EX-20 (ITA-DBR-001 to ITA-DBR-009, ITA-DBR-014).
#[test]
fn data_ranges_qualify_accesses() {
    let rows = [
        (0x6000_0000_0001_bfff, 0, false),
        (0x6000_0000_0001_c000, 0, true),
        (0x6000_0000_0002_ffff, 0, true),
        (0x6000_0000_0003_bfff, 0, true),
        (0x6000_0000_0003_c000, 0, false),
        (0x2000_0000_0001_c000, 0, false),
        (0x6000_0000_0001_c000, DB, false),
    ];
    for (address, status, matched) in rows {
        let checked = registers(&[&D1[..], &[("PSR", psr(0, status))]].concat());
        let passing = registers(&[&D1[..], &[("PSR", psr(0, status)), ("PMC11", 1 << 28)]].concat());
        assert_eq!(data_range_match(&checked, address), matched, "{address:x}");
        for kind in AccessKind::ALL {
            let caused = matches!(kind, AccessKind::Rse | AccessKind::Vhpt);
            assert_eq!(tag_of(&checked, kind, address, true), matched, "{address:x} {kind:?}");
            assert!(tag_of(&passing, kind, address, true));
            assert_eq!(tag_of(&checked, kind, address, false), caused && matched);
            assert!(!tag_of(&passing, kind, address, false));
        }
    }
}

/// EX-21, EX-22 (ITA-DBR-010, ITA-DBR-011).
#[test]
fn zeroed_pairs_match_half_of_region_0() {
    let used = [("DBR0", 0x6000_0000_0002_0000), ("DBR1", 0x00ff_ffff_ffff_0000)];
    let addresses =
        [0x6000_0000_0002_0008, 0x6000_0000_0004_0000, 0x1000, 0x0003_ffff_ffff_fff8, 0x1ffc_0000_0000_0000];
    let zeroed = registers(&used);
    let neutral = registers(&[&used[..], &NEUTRAL].concat());
    assert_eq!(addresses.map(|at| data_range_match(&zeroed, at)), [true, false, true, true, false]);
    assert_eq!(addresses.map(|at| data_range_match(&neutral, at)), [true, false, false, false, false]);
}

/// EX-23 (ITA-QUA-005): all three qualifiers.
#[test]
fn range_opcode_and_data_combine() {
    let mut values = Vec::from([
        ("IBR0", 0x4000_0000_0000_3000),
        ("IBR1", 0x08ff_ffff_ffff_ff80),
        ("IBR2", 0x4000_0000_0000_3080),
        ("IBR3", 0x08ff_ffff_ffff_ffc0),
        ("IBR4", 0x4000_0000_0000_30c0),
        ("IBR5", 0x08ff_ffff_ffff_ffc0),
        ("PMC8", 0x8406_0000_0207_fff8),
        ("DBR0", 0x6000_0000_0001_c000),
        ("DBR1", 0x00ff_ffff_ffff_c000),
        ("PSR", psr(3, 0)),
    ]);
    values.extend(NEUTRAL);
    let checked = registers(&values);
    let passing = registers(&[&values[..], &[("PMC11", 1 << 28)]].concat());
    // IP, enco, address; IBRRangeTag, Tag(PMC8), DBRRangeMatch, DBRRangeTag with pt = 0 and 1.
    let rows = [
        (0x3010, 0x080_c0f0_0380, 0x6000_0000_0001_c008, [1, 1, 1, 1, 1]),
        (0x3010, 0x080_c0f0_0380, 0x6000_0000_0001_0000, [1, 1, 0, 0, 1]),
        (0x3010, 0x080_80f0_0380, 0x6000_0000_0001_c008, [1, 0, 1, 0, 0]),
        (0x3100, 0x080_c0f0_0380, 0x6000_0000_0001_c008, [0, 0, 1, 0, 0]),
        (0x30f0, 0x080_d0f0_0386, 0x6000_0000_0001_fff8, [1, 1, 1, 1, 1]),
        (0x3020, 0x08c_c0f0_0000, 0x6000_0000_0001_c010, [1, 0, 1, 0, 0]),
    ];
    for (ip, enco, address, expected) in rows {
        let instruction = Instruction { ip: Address(0x4000_0000_0000_0000 | ip), ..syllable(M, enco) };
        let tags = tags_of(&checked, &Parameters::default(), &instruction);
        let kind = AccessKind::Load;
        let found = [
            tags.range,
            tags.pmc8,
            data_range_match(&checked, address),
            tag_of(&checked, kind, address, tags.pmc8),
            tag_of(&passing, kind, address, tags.pmc8),
        ];
        assert_eq!(found.map(u8::from), expected, "{ip:x} {enco:x} {address:x}");
        assert!(!tags.pmc9);
    }
    let everything = Registers::reset();
    let instruction = syllable(M, 0x123);
    let all = Tags { range: true, pmc8: true, pmc9: true };
    assert_eq!(tags_of(&everything, &Parameters::default(), &instruction), all);
}

/// EX-24 to EX-27 (ITA-OVF-001 to ITA-OVF-008, ITA-OVF-013): cpl 3, up. Reads show that nothing else changed.
#[test]
fn overflows_set_bits_and_freeze() {
    let start = |more: &[Vec<u8>]| {
        let head = [reset(), write("PSR", psr(3, UP))].concat();
        strict(&[&[head], more].concat())
    };
    let three = || [instruction(0, 0, M, 0), instruction(0, 1, I, 0), instruction(0, 2, I, 0)].concat();
    assert_eq!(
        start(&[
            write("PMC4", 0x0203_0828),
            write("PMD4", 0xffff_fffe),
            three(),
            cycle(),
            interrupt(),
            read("PMC0", 0x11),
            // The upper half is masked by no privilege here.
            read("PMD4", 1),
        ]),
        "tags:111 tags:111 tags:111 4+3=1 overflow4 freeze interrupt"
    );
    assert_eq!(
        start(&[
            write("PMC4", 0x0203_0808),
            write("PMD4", 0xffff_fffe),
            three(),
            cycle(),
            read("PMC0", 0x10),
            read("PMD4", 1),
        ]),
        "tags:111 tags:111 tags:111 4+3=1 overflow4"
    );
    assert_eq!(
        start(&[
            write("PMC4", 0x1228),
            write("PMD4", 0xffff_ffff),
            write("PMC5", 0x6c08),
            write("PMD5", 0xffff_ffff),
            instruction(0, 0, M, 0),
            access(AccessKind::Load, 0x1000),
            occurrence(0x6c, 0, 2),
            cycle(),
            interrupt(),
            read("PMC0", 0x31),
            read("PMD4", 0),
            read("PMD5", 1),
        ]),
        "tags:111 data:11 4+1=0 5+2=1 overflow4 overflow5 freeze interrupt"
    );
    assert_eq!(
        start(&[
            write("PMC0", 1),
            write("PMC4", 0x1228),
            write("PMD4", 5),
            cycle(),
            read("PMC0", 1),
            read("PMD4", 5),
        ]),
        ""
    );
}

/// EX-28 to EX-30 (ITA-CNT-006 to ITA-CNT-008).
#[test]
fn thresholds_and_instruction_set_masks() {
    let low = registers(&[("PMC4", 0x0250_3028)]);
    assert_eq!([0, 1, 2, 3, 4, 5, 6].map(|n| counters::increment(&low, 4, n)), [0, 0, 0, 0, 0, 0, 1]);
    let high = registers(&[("PMC6", 0x0050_0028)]);
    assert_eq!(high.get(register("PMC6")), 0x0010_0028);
    assert_eq!([0, 1, 2, 3].map(|n| counters::increment(&high, 6, n)), [0, 0, 1, 1]);
    let enabled = |ism: u64, is| {
        let registers = registers(&[("PMC4", 0x1208 | ism << 24), ("PSR", psr(3, UP | is))]);
        counters::is_enabled(&registers, 4)
    };
    let expected = [[true, true], [false, true], [true, false], [false, false]];
    assert_eq!([0, 1, 2, 3].map(|ism| [enabled(ism, 0), enabled(ism, IS)]), expected);
}

/// EX-31 (ITA-CNT-001).
#[test]
fn counters_read_as_sign_copies() {
    let read = |count| registers(&[("PMD4", count)]).get(register("PMD4"));
    assert_eq!(
        [0x7fff_ffff, 0x8000_0000, 0xffff_ffff].map(read),
        [0x7fff_ffff, 0xffff_ffff_8000_0000, u64::MAX]
    );
}

fn ears(setup: &[(&str, u64)], miss: &[Vec<u8>], reads: &[Vec<u8>]) -> String {
    let mut records = Vec::from([reset(), write("PSR", psr(3, UP))]);
    records.extend(setup.iter().map(|(name, value)| write(name, *value)));
    records.extend(miss.iter().cloned());
    records.extend([cycle(), write("PMC0", 1)]);
    records.extend(reads.iter().cloned());
    strict(&records)
}

/// EX-32 to EX-35, EX-39 (ITA-EAR-002 to ITA-EAR-009).
#[test]
fn fetch_misses_are_captured() {
    let cache = [("PMC10", 0x0001_0008)];
    let at = 0x2000_0000_0017_4710;
    assert_eq!(
        ears(
            &cache,
            &[instruction_cache_miss(at, 45)],
            &[read("PMD0", 0x2000_0000_0017_4701), read("PMD1", 0x2d)]
        ),
        "took:2000000000174700:45 read:2000000000174700:45"
    );
    assert_eq!(ears(&cache, &[instruction_cache_miss(at, 8)], &[]), "took:2000000000174700:8");
    let nothing = [read("PMD0", 0), read("PMD1", 0)];
    assert_eq!(ears(&cache, &[instruction_cache_miss(at, 7)], &nothing), "none");
    let at = 0x2000_0000_0017_b788;
    assert_eq!(
        ears(
            &[("PMC10", 0x0004_0088)],
            &[instruction_tlb_miss(at, 0)],
            &[read("PMD0", 0x2000_0000_0017_b781)]
        ),
        "took:200000000017b780:Vhpt"
    );
    assert_eq!(ears(&[("PMC10", 0x0004_0088)], &[instruction_tlb_miss(at, 1)], &[]), "");
    assert_eq!(
        ears(
            &[("PMC10", 0x0008_0088)],
            &[instruction_tlb_miss(at, 1)],
            // PMD1 is undefined in this mode.
            &[read("PMD1", 0x123), read("PMD0", 0x2000_0000_0017_b783)]
        ),
        "took:200000000017b780:Software read:200000000017b780:Software"
    );
    for umask in [0xf, 0xb] {
        let setup = [("PMC10", 8 | umask << 16)];
        assert_eq!(ears(&setup, &[instruction_cache_miss(at, 0xffff_ffff)], &[]), "");
    }
}

/// EX-36 to EX-38 (ITA-EAR-010 to ITA-EAR-016).
#[test]
fn access_misses_are_captured() {
    let load = |ip, slot, address| [instruction(ip, slot, M, 0), access(AccessKind::Load, address)].concat();
    assert_eq!(
        ears(
            &[("PMC11", 0x1001_0008)],
            &[load(0x2000_0000_0001_72c0, 1, 0x2000_0000_0008_0614), data_cache_miss(20)],
            &[read("PMD2", 0x2000_0000_0008_0614), read("PMD3", 0x14), read("PMD17", 0x2000_0000_0001_72c5)]
        ),
        "tags:111 data:01 took:2000000000080614@20000000000172c0.1:20 read:2000000000080614@20000000000172c0.1:20"
    );
    for (umask, level, name, pmd3) in
        [(2, 1, "L2", 0x4000 << 48), (4, 2, "Vhpt", 0x8000 << 48), (8, 3, "Software", 0xc000_u64 << 48)]
    {
        assert_eq!(
            ears(
                &[("PMC11", 0x1000_0088 | umask << 16)],
                &[load(0x2000_0000_0002_4f40, 2, 0x2000_0000_0003_4388), data_tlb_miss(level)],
                &[
                    read("PMD17", 0x2000_0000_0002_4f49),
                    read("PMD2", 0x2000_0000_0003_4388),
                    read("PMD3", pmd3)
                ]
            ),
            format!(
                "tags:111 data:01 took:2000000000034388@2000000000024f40.2:{name} \
                 read:2000000000034388@2000000000024f40.2:{name}"
            )
        );
    }
    assert_eq!(
        ears(
            &[("PMC11", 0x1000_0008)],
            &[load(0x4000_0000_0000_0010, 2, 0x1000), data_cache_miss(0x2345)],
            &[read("PMD2", 0x1000), read("PMD3", 0xfff), read("PMD17", 0x4000_0000_0000_0019)]
        ),
        "tags:111 data:11 took:1000@4000000000000010.2:4095 read:1000@4000000000000010.2:4095"
    );
}

/// HW-1 to HW-14 (ITA-DEC-012): dumps of real hardware, without a reset.
#[test]
fn dumps_of_hardware_are_taken_apart() {
    let dump = |records: &[Vec<u8>]| strict(&[&[read("PMC0", 1)], records].concat());
    let bundles = [
        (0x2000_0000_0001_72c5, "20000000000172c0.1"),
        (0x2000_0000_000c_2381, "20000000000c2380.0"),
        (0x2000_0000_0002_5e11, "2000000000025e10.0"),
        (0x2000_0000_0002_4f41, "2000000000024f40.0"),
        (0x2000_0000_000c_5051, "20000000000c5050.0"),
        (0x2000_0000_0002_4f85, "2000000000024f80.1"),
    ];
    for (value, bundle) in bundles {
        // PMC11 is not shown, so the mode is not known.
        let records = [read("PMD17", value), read("PMD2", 0x1000), read("PMD3", 0x14)];
        assert_eq!(dump(&records), format!("read:1000@{bundle}"));
    }
    for (value, line) in [
        (0x2000_0000_0017_b781, "200000000017b780"),
        (0x2000_0000_0021_4741, "2000000000214740"),
        (0x2000_0000_0016_1e81, "2000000000161e80"),
    ] {
        let records = [read("PMC10", 0x0004_0088), read("PMD0", value), read("PMD1", 0x2d)];
        assert_eq!(dump(&records), format!("read:{line}:Vhpt"));
    }
    for (pmd0, pmd1, record) in [
        (0x2000_0000_0017_4701, 0x2d, "2000000000174700:45"),
        (0x2000_0000_0033_ef61, 0x1b, "200000000033ef60:27"),
    ] {
        let records = [read("PMC10", 0x0001_0008), read("PMD0", pmd0), read("PMD1", pmd1)];
        assert_eq!(dump(&records), format!("read:{record}"));
    }
    let latency = [
        read("PMC11", 0x1001_0008),
        read("PMD2", 0x2000_0000_0008_0614),
        read("PMD3", 0x14),
        read("PMD17", 0x2000_0000_0001_72c5),
    ];
    assert_eq!(dump(&latency), "read:2000000000080614@20000000000172c0.1:20");
    let walked = [
        read("PMC11", 0x1004_0088),
        read("PMD2", 0x2000_0000_0003_4388),
        read("PMD3", 0x8000_0000_0000_0001),
        read("PMD17", 0x2000_0000_0002_4f41),
    ];
    assert_eq!(dump(&walked), "read:2000000000034388@2000000000024f40.0:Vhpt");
}
