//! Logs after a reset: when tags are made, what counts, what is captured, what may be read, and what each option
//! changes.

use traceproof_vectors::itanium_pmu::{
    DataEarQualifier, DataEarThresholds, EarReadPrivilege, EarReplacement, FreezeTiming, Ia32Counting,
    LatencyOverflow, LatencyThreshold, LongSyllable,
};

use super::*;

fn both<T>(options: [T; 2], with: impl Fn(T, &mut Parameters), records: &[Vec<u8>]) -> [String; 2] {
    options.map(|option| {
        let mut parameters = Parameters::default();
        with(option, &mut parameters);
        summary(&parameters, records)
    })
}

/// A reset, PSR.up at privilege level 0, and these writes.
fn setup(values: &[(&str, u64)]) -> Vec<u8> {
    let writes = values.iter().flat_map(|(name, value)| write(name, *value));
    reset().into_iter().chain(write("PSR", UP)).chain(writes).collect()
}

/// ITA-CNT-011, ITA-OPC-010, ITA-CNT-013: each retired-instruction event by its own tag; wrong paths do not retire.
#[test]
fn retired_instructions_count_by_tag() {
    let m_only = 0x8000_0000_3fff_fff8;
    let i_only = 0x4000_0000_3fff_fff8;
    let records = [
        setup(&[("PMC8", m_only), ("PMC9", i_only), ("PMC4", 0x0003_0801), ("PMC5", 0x0002_0801)]),
        instruction(0, 0, M, 0),
        instruction(0, 1, I, 0),
        instruction(0, 2, I, 0),
        // Squashed, and not retired.
        record(4 | (4 | 8) << 8, 0x10),
        record(4, 0x20),
        cycle(),
        cycle(),
        write("PMC4", 0x0000_0801),
        instruction(0, 0, M, 0),
        instruction(0, 0, B, 0),
        cycle(),
    ];
    assert_eq!(
        strict(&records),
        "tags:110 tags:101 tags:101 tags:110 tags:110 4+2=2 5+2=2 tags:110 tags:100 4+1=3"
    );
}

/// Tags are made at fetch and carried; privilege level and configuration are those of the end of the cycle.
#[test]
fn tags_are_of_then_and_counting_is_of_now() {
    let nothing = 0x0fff_fffe_3fff_fff8;
    let records = [
        setup(&[("PMC4", 0x0003_0808)]),
        instruction(0, 0, M, 0),
        write("PMC8", nothing),
        instruction(0, 1, I, 0),
        cycle(),
        instruction(0, 2, I, 0),
        write("PSR", psr(3, UP)),
        write("PMC8", 0xf000_0000_3fff_fff8),
        instruction(0, 0, M, 0),
        cycle(),
        // The access carries the tag of its instruction, whatever PMC8 is by now.
        write("PMC8", nothing),
        access(AccessKind::Store, 0),
        data_tag(1),
    ];
    assert_eq!(strict(&records), "tags:111 tags:101 tags:101 tags:111 4+1=1 data:11");
}

/// ITA-CNT-009, ITA-QUA-002, ITA-QUA-003: occurrences by the tag that qualifies them, up to 65535 in a cycle.
#[test]
fn occurrences_count_by_their_qualifier() {
    // BUS_RD_HIT, L1I_DEMAND_READS, FP_FLUSH_TO_ZERO, LOADS_RETIRED on the counters 4 to 7.
    let counters = [("PMC4", 0x4001), ("PMC5", 0x2001), ("PMC6", 0x0b01), ("PMC7", 0x6c01)];
    let happen = || {
        [
            instruction(0x1000, 0, M, 0),
            access(AccessKind::Load, 1 << 61),
            occurrence(0x40, 0, 200),
            occurrence(0x40, 0, 200),
            occurrence(0x20, 0, 1),
            occurrence(0x0b, 0, 2),
            occurrence(0x6c, 0, 2),
            cycle(),
        ]
        .concat()
    };
    let with = |more: &[(&str, u64)]| strict(&[setup(&[&counters[..], more].concat()), happen()]);
    assert_eq!(with(&[]), "tags:111 data:01 4+400=190 5+1=1 6+2=2 7+2=2");
    assert_eq!(with(&[("PMC11", 0)]), "tags:111 data:00 4+400=190 5+1=1 6+2=2");
    assert_eq!(with(&[("PMC8", 0x3fff_fff8)]), "tags:101 data:00 4+400=190 5+1=1");
    assert_eq!(with(&[("PMC13", 0)]), "tags:000 data:00 4+400=190");
    assert_eq!(with(&[("PMC9", 0)]), "tags:110 data:01 4+400=190 5+1=1 6+2=2 7+2=2");
    let many: Vec<u8> = (0..300).flat_map(|_| occurrence(0x40, 0, 255)).collect();
    assert_eq!(strict(&[setup(&counters), many, cycle(), cycle()]), "4+65535=ffff");
}

/// ITA-OVF-003, ITA-OVF-004, ITA-OVF-009, ITA-OVF-010.
#[test]
fn sticky_bits_and_freezing_by_software() {
    let records = [
        setup(&[("PMC4", 0x1201), ("PMD4", 0xffff_ffff)]),
        cycle(),
        cycle(),
        read("PMC0", 0x10),
        write("PMC0", 0x11),
        cycle(),
        write("PMC0", 0x10),
        cycle(),
        read("PMC0", 0x10),
        write("PMC0", 0),
        read("PMC0", 0),
    ];
    assert_eq!(strict(&records), "4+1=0 overflow4 4+1=1 4+1=2");
}

/// MD-5.
#[test]
fn what_comes_after_the_overflow() {
    let records = [
        setup(&[
            ("PMC4", 0x1201),
            ("PMD4", 0xffff_ffff),
            ("PMC5", 0x1221),
            ("PMD5", 0xffff_ffff),
            ("PMC6", 0x1201),
            ("PMC10", 1),
        ]),
        instruction_cache_miss(0x40, 4),
        cycle(),
        interrupt(),
        cycle(),
    ];
    assert_eq!(
        both(FreezeTiming::ALL, |freeze, parameters| parameters.freeze = freeze, &records),
        [
            "took:40:4 4+1=0 5+1=0 6+1=1 overflow4 overflow5 freeze interrupt",
            "4+1=0 5+1=0 overflow4 overflow5 freeze interrupt"
        ]
    );
}

/// MD-3, ITA-EAR-018, ITA-EAR-019, ITA-EAR-023.
#[test]
fn which_miss_is_kept() {
    let records = [
        setup(&[("PMC10", 1), ("PMC4", 0x2301)]),
        instruction_cache_miss(0x40, 4),
        instruction_cache_miss(0x80, 5),
        cycle(),
        instruction_cache_miss(0xc0, 6),
        cycle(),
        write("PMC0", 1),
        instruction_cache_miss(0x100, 7),
        cycle(),
        write("PMC0", 0),
        write("PMC0", 0),
        instruction_cache_miss(0x140, 8),
        cycle(),
    ];
    assert_eq!(
        both(EarReplacement::ALL, |option, parameters| parameters.ear_replacement = option, &records),
        [
            "took:40:4 took:80:5 4+2=2 took:c0:6 4+1=3 took:140:8 4+1=4",
            "took:40:4 4+2=2 4+1=3 took:140:8 4+1=4"
        ]
    );
}

/// A-10, MD-2.
#[test]
fn latencies_at_their_limits() {
    let records = [
        setup(&[("PMC10", 0x0001_0001)]),
        instruction_cache_miss(0x40, 8),
        instruction_cache_miss(0x60, 9),
        instruction_cache_miss(0x80, 0x1002),
        cycle(),
    ];
    assert_eq!(
        both(LatencyThreshold::ALL, |option, parameters| parameters.latency_threshold = option, &records),
        ["took:40:8 took:60:9 took:80:4095", "took:60:9 took:80:4095"]
    );
    assert_eq!(
        both(LatencyOverflow::ALL, |option, parameters| parameters.latency_overflow = option, &records),
        ["took:40:8 took:60:9 took:80:4095", "took:40:8 took:60:9 took:80:2"]
    );
}

/// MD-8: every umask, just below and at the threshold.
#[test]
fn thresholds_of_data_misses() {
    let captured = |parameters: &Parameters, umask: u64, latency: u64| {
        let records = [
            setup(&[("PMC11", 0x1000_0001 | umask << 16)]),
            instruction(0, 0, M, 0),
            access(AccessKind::Load, 0x10),
            data_cache_miss(latency),
            cycle(),
        ];
        summary(parameters, &records).contains("took")
    };
    for option in DataEarThresholds::ALL {
        let parameters = Parameters { data_ear_thresholds: option, ..Parameters::default() };
        let thresholds = match option {
            DataEarThresholds::Regular => [512, 1024, 2048, 4096],
            DataEarThresholds::Shifted => [0, 512, 1024, 2048],
        };
        let all = [4, 8, 16, 32, 64, 128, 256].into_iter().chain(thresholds).chain([0; 5]);
        for (umask, threshold) in (0..).zip(all) {
            if threshold == 0 {
                assert!(!captured(&parameters, umask, 0xffff_ffff), "{umask}");
            } else {
                assert!(captured(&parameters, umask, threshold), "{umask}");
                assert!(!captured(&parameters, umask, threshold - 1), "{umask}");
            }
        }
    }
}

/// MD-9, ITA-EAR-021; a data cache miss is one of a load.
#[test]
fn what_qualifies_data_misses() {
    let records = [
        setup(&[("PMC11", 1)]),
        instruction(0x30, 1, M, 0),
        access(AccessKind::Load, 1 << 61),
        data_cache_miss(4),
        cycle(),
        access(AccessKind::Load, 0x10),
        data_cache_miss(4),
        data_tlb_miss(1),
        access(AccessKind::Store, 0x10),
        data_cache_miss(4),
        cycle(),
        write("PMC11", 0x000e_0081),
        data_tlb_miss(1),
        data_cache_miss(4),
        cycle(),
    ];
    assert_eq!(
        both(DataEarQualifier::ALL, |option, parameters| parameters.data_ear_qualifier = option, &records),
        [
            "tags:111 data:00 data:11 data:11 took:10@30.1:4 took:10@30.1:L2",
            "tags:111 data:00 took:2000000000000000@30.1:4 data:11 data:11 took:10@30.1:4 took:10@30.1:L2"
        ]
    );
}

/// MD-4.
#[test]
fn long_syllables() {
    let i_only = 0x4000_0000_3fff_fff8;
    let records = [setup(&[("PMC8", i_only)]), instruction(0, 2, SyllableType::X, 0)];
    assert_eq!(
        both(LongSyllable::ALL, |option, parameters| parameters.long_syllable = option, &records),
        ["tags:111", "tags:100"]
    );
}

/// MD-1, ITA-QUA-006, ITA-OPC-012.
#[test]
fn occurrences_in_ia32_code() {
    let counters = [("PMC4", 0x2001), ("PMC5", 0x0b01), ("PMC6", 0x6c01), ("PMC7", 0x1501)];
    let happen = |more: &[(&str, u64)]| {
        [
            setup(&[&counters[..], more, &[("PSR", UP | IS)]].concat()),
            instruction(0x1000, 0, SyllableType::Ia32, 0),
            access(AccessKind::Load, 0x10),
            occurrence(0x20, 0, 1),
            occurrence(0x0b, 0, 1),
            occurrence(0x6c, 0, 1),
            occurrence(0x15, 0, 1),
            cycle(),
        ]
    };
    let options = |more: &[(&str, u64)]| {
        both(Ia32Counting::ALL, |option, parameters| parameters.ia32_counting = option, &happen(more))
    };
    let by_tag = "tags:100 data:10 4+1=1 7+1=1";
    assert_eq!(options(&[]), ["tags:100 data:10 4+1=1 5+1=1 6+1=1 7+1=1", by_tag]);
    assert_eq!(options(&[("PMC8", 0xf000_0000_3fff_fff0)]), [by_tag; 2]);
    assert_eq!(options(&[("PMC8", 0x7000_0000_3fff_fff8)]), [by_tag; 2]);
    assert_eq!(options(&[("PMC11", 0)]), [by_tag; 2]);
    assert_eq!(options(&[("PMC13", 0)]), ["tags:000 data:10 7+1=1"; 2]);
    // Retired IA-64 instructions only.
    let retired = [
        setup(&[("PMC4", 0x0801), ("PSR", UP | IS)]),
        instruction(0, 0, SyllableType::Ia32, 0),
        write("PSR", UP),
        instruction(0, 0, M, 0),
        cycle(),
    ];
    assert_eq!(strict(&retired), "tags:100 tags:111 4+1=1");
}

/// ITA-CNT-012, A-20.
#[test]
fn reads_outside_of_privilege_level_0() {
    let captured = [
        setup(&[
            ("PMC4", 0x1241),
            ("PMD4", 7),
            ("PMC5", 0x1201),
            ("PMD5", 9),
            ("PMC10", 0x41),
            ("PMD0", 0x41),
            ("PMD1", 0x2d),
            ("PMC0", 1),
        ]),
        write("PSR", psr(3, 0)),
    ]
    .concat();
    let reads = |pmd4, pmd0, pmd1| {
        [captured.clone(), read("PMD4", pmd4), read("PMD5", 9), read("PMD0", pmd0), read("PMD1", pmd1)]
    };
    let with = |option, parameters: &mut Parameters| parameters.ear_read_privilege = option;
    assert_eq!(
        both(EarReadPrivilege::ALL, with, &reads(0, 0x41, 0x2d)),
        // By the monitor, PMD0 and PMD1 read as 0.
        ["read:40:45", "contradiction@13:8.0 contradiction@14:8.0"]
    );
    assert_eq!(
        both(EarReadPrivilege::ALL, with, &reads(7, 0, 0)),
        ["contradiction@11:8.0 contradiction@13:8.0 contradiction@14:8.0 none", "contradiction@11:8.0"]
    );
    let secure = [
        captured.clone(),
        write("PSR", psr(3, SP)),
        read("PMD5", 0),
        read("PMD0", 0),
        read("PMD1", 0),
        write("PMC0", 0),
        read("PMD0", 0),
        read("PMD8", 0),
        read("PMC5", 0x1201),
        write("PSR", psr(0, SP)),
        read("PMD5", 9),
    ];
    assert_eq!(strict(&secure), "");
}

/// Each register is used once; writes to a configuration, cycles and resets forget.
#[test]
fn records_are_read_back_register_by_register() {
    let (pmd0, pmd1) = (|| read("PMD0", 0x41), || read("PMD1", 9));
    let dump = |records: &[Vec<u8>]| strict(&[&[read("PMC0", 1)], records].concat());
    assert_eq!(dump(&[pmd0(), pmd1(), pmd1(), pmd0()]), "read:40 read:40");
    assert_eq!(dump(&[pmd1(), write("PMC4", 0x1208), pmd0()]), "read:40");
    assert_eq!(dump(&[pmd0(), pmd1(), pmd0(), pmd0()]), "read:40");
    assert_eq!(dump(&[pmd0(), pmd1(), pmd1(), pmd1()]), "read:40");
    for forgets in [write("PMC0", 1), write("PMC10", 0x0001_0008), write("PMC11", 8), reset()] {
        assert_eq!(
            strict(&[write("PMC0", 1), pmd0(), forgets, write("PMC0", 1), write("PMD1", 9), pmd1()]),
            ""
        );
    }
    let cycles = [write("PMC0", 1), pmd0(), cycle(), pmd1()];
    assert_eq!(strict(&cycles), "not-synchronised@2:0.0");
    let data = [read("PMD17", 0x45), read("PMD3", 1 << 62 | 5), read("PMD2", 0x1000)];
    let with = |first| dump(&[&[first], &data[..]].concat());
    assert_eq!(with(read("PMC11", 0x1001_0008)), "read:1000@40.1:5");
    assert_eq!(with(read("PMC11", 0x1002_0088)), "read:1000@40.1:L2");
    assert_eq!(with(undefined("PMD1")), "read:1000@40.1");
    for once in 0..3 {
        let others = data.iter().enumerate().filter(|(index, _)| *index != once);
        let again: Vec<_> = others.map(|(_, record)| record.clone()).collect();
        assert_eq!(dump(&[&data[..], &again].concat()), "read:1000@40.1");
    }
    // Undefined registers take part in nothing.
    assert_eq!(lenient(&[pmd0(), read("PMC0", 1), pmd1(), pmd0()]), "read:40");
}
