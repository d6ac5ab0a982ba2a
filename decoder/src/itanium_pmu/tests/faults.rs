//! The table of faults, row by row. `class@record:byte.bit`, byte and bit within the record.

use traceproof_vectors::itanium_pmu::{Contents, MISSES_PER_CYCLE, Packet};

use super::*;

fn packets(records: &[Vec<u8>]) -> Vec<Packet> {
    decode(&Parameters { strict: false, ..Parameters::default() }, &records.concat())
        .packets()
        .copied()
        .collect()
}

#[test]
fn fields_that_mean_nothing() {
    for (wrong, place) in [
        (record(15, 0), "0.0"),
        (record(0xff, u64::MAX), "0.0"),
        (record(1 | 6 << 8, 0), "1.0"),
        (record(2 | 0xff << 8, 0), "1.0"),
        (record(3 | 6 << 8, 0), "1.0"),
        (record(5 | 6 << 8, 0), "1.0"),
        (record(4 | 3 << 8, 0), "1.0"),
        (record(4 | 0x60 << 8, 0), "1.4"),
        (record(4 | 0x70 << 8, 0), "1.4"),
        (record(7 | 2 << 8, 0), "1.0"),
        (record(9, 0), "1.0"),
        (record(9 | 4 << 8, 0), "1.0"),
        // Of several faults the first of the table.
        (record(4 | 3 << 8 | 1 << 63, 0), "1.0"),
    ] {
        let wrong = &[wrong];
        assert_eq!(strict(wrong), format!("reserved-encoding@0:{place}"));
        assert_eq!(packets(wrong), []);
    }
}

#[test]
fn bits_that_are_always_0() {
    for (wrong, place) in [
        (record(1 << 8, 0), "1.0"),
        (record(0, 1), "8.0"),
        (record(14, 1 << 63), "15.7"),
        (record(11 | 1 << 63, 0), "7.7"),
        (record(1 | 1 << 24, 0), "3.0"),
        (record(3, 2), "8.1"),
        (record(4 | 0x80 << 8, 0), "1.7"),
        (record(4 | 1 << 57, 0), "7.1"),
        (record(4 | 1 << 63, 0), "7.7"),
        (record(5 | 1 << 16, 0), "2.0"),
        (record(6 | 1 << 8, 0), "1.0"),
        (record(7 | 1 << 16, 0), "2.0"),
        (record(8, 1), "8.0"),
        (record(9 | 1 << 8 | 1 << 16, 0), "2.0"),
        (record(10 | 0x80 << 8, 0), "1.7"),
        (record(10 | 0x10 << 16, 0), "2.4"),
        (record(12 | 8 << 8, 0), "1.3"),
        (record(13 | 2 << 8, 0), "1.1"),
    ] {
        let wrong = &[wrong];
        assert_eq!(strict(wrong), format!("overlong@0:{place}"));
        assert_eq!(packets(wrong), []);
    }
    // All 41 bits of a syllable are used.
    assert_eq!(strict(&[reset(), instruction(0, 2, I, (1 << 41) - 1)]), "tags:111");
}

#[test]
fn logs_that_end_inside_a_record() {
    assert_eq!(strict(&[reset(), record(11, 0)[..15].into()]), "truncated@1:0.0");
    assert_eq!(strict(&[Vec::from([9])]), "truncated@0:0.0");
}

/// ITA-REG-001, ITA-DEC-007 (E-REG).
#[test]
fn registers_that_do_not_exist() {
    for name in ["PMC14", "PMD18", "IBR8", "DBR8", "PMC255"] {
        let records = [reset(), write(name, u64::MAX), read(name, u64::MAX), undefined(name)];
        let faults = "invalid-reference@1:2.0 invalid-reference@2:2.0 invalid-reference@3:2.0";
        assert_eq!(strict(&records), faults);
        let absent = Contents::Unimplemented(register(name));
        assert_eq!(
            packets(&records)[1..],
            [Packet::Write(absent), Packet::Read(absent), Packet::ReadUndefined(register(name))]
        );
    }
}

/// ITA-DEC-003 (E-IGN).
#[test]
fn ignored_bits() {
    let odd = [read("PMC0", 0x102)];
    assert_eq!(strict(&odd), "overlong@0:8.1");
    assert_eq!(lenient(&odd), "suspicious@0:8.1");
    let contents = Contents::OverflowStatus { fr: false, overflow: 0 };
    assert_eq!(packets(&odd), [Packet::Read(contents)]);
    assert_eq!(strict(&[read("PMC1", 1 << 63)]), "overlong@0:15.7");
    // Written, they are dropped by hardware. Bit 22 of PMC6 is no threshold bit (ITA-REG-005).
    let written = [write("PMC6", 0x0050_1228)];
    assert_eq!(strict(&written), "suspicious@0:10.6 PMC6:NeverCounts");
    assert_eq!(lenient(&written), strict(&written));
    assert_eq!(strict(&[write("PMD4", u64::MAX), write("PMD0", 1 << 51), write("PSR", u64::MAX)]), "");
}

/// ITA-DEC-004, ITA-DEC-005 (E-SXT).
#[test]
fn copies_that_are_none() {
    for (name, value, place) in [
        ("PMD4", 0x0000_0001_8000_0000, "12.1"),
        ("PMD7", 0x0000_0001_0000_0000, "12.0"),
        ("PMD5", 0x7fff_ffff_8000_0000, "15.7"),
        ("PMD0", 0x0008_0000_0000_0001, "14.3"),
        ("PMD2", 0x1ff4_0000_0000_0000, "14.3"),
        ("PMD17", 0x1000_0000_0000_0001, "15.4"),
    ] {
        let odd = [read("PMC0", 1), read(name, value)];
        assert_eq!(strict(&odd), format!("contradiction@1:{place}"), "{name}");
        assert_eq!(lenient(&odd), format!("suspicious@1:{place}"), "{name}");
    }
    let whole = [read("PMD4", 0x8000_0000), read("PMD5", 0xffff_ffff_8000_0000), read("PMD6", 0x7fff_ffff)];
    assert_eq!(strict(&whole), "");
}

/// ITA-DEC-006, ITA-EAR-017 (E-UNDEF).
#[test]
fn captures_that_are_not_frozen() {
    for name in ["PMD0", "PMD1", "PMD2", "PMD3", "PMD8", "PMD15", "PMD16", "PMD17"] {
        assert_eq!(strict(&[read(name, 0)]), "illegal-in-state@0:8.0");
        assert_eq!(strict(&[read("PMC0", 0xf0), read(name, 0)]), "illegal-in-state@1:8.0");
        assert_eq!(strict(&[reset(), read(name, 0)]), "illegal-in-state@1:8.0");
        assert_eq!(strict(&[write("PMC0", 1), read(name, 0)]), "");
        assert_eq!(strict(&[read(name, 0), undefined(name)]), "illegal-in-state@0:8.0");
        assert_eq!(lenient(&[read(name, 0)]), "");
        assert_eq!(packets(&[read(name, 0)]), [Packet::Read(Contents::Undefined(register(name)))]);
    }
    // Of two faults that drop a record, the first of the table.
    assert_eq!(strict(&[read("PMD1", 0x1000)]), "overlong@0:9.4");
}

/// ITA-DEC-009 (E-SLOT).
#[test]
fn slot_3() {
    let records = |value| [read("PMC0", 1), read("PMD2", 0x10), read("PMD3", 0), read("PMD17", value)];
    assert_eq!(strict(&records(0x4d)), "reserved-encoding@3:8.2");
    assert_eq!(lenient(&records(0x4d)), "suspicious@3:8.2 read:10@40.3");
    assert_eq!(strict(&records(0x4c)), "none");
}

/// ITA-CNT-010 (E-CTR).
#[test]
fn events_on_counters_that_cannot_count_them() {
    for access in [write, read] {
        assert_eq!(strict(&[access("PMC6", 0x0828)]), "illegal-in-state@0:9.0");
        assert_eq!(lenient(&[access("PMC7", 0x0828)]), "suspicious@0:9.0");
        assert_eq!(strict(&[access("PMC5", 0x0828)]), "");
    }
    assert_eq!(packets(&[write("PMC6", 0x0828)]).len(), 1);
    // Nothing is counted.
    let records = [reset(), write("PSR", UP), write("PMC6", 0x0801), instruction(0, 0, M, 0), cycle()];
    assert_eq!(strict(&records), "illegal-in-state@2:9.0 tags:111");
    assert_eq!(lenient(&records), "suspicious@2:9.0 tags:111");
}

#[test]
fn reads_that_contradict_the_log() {
    // Bit 28, pt. Afterwards the register is what was read.
    assert_eq!(strict(&[reset(), read("PMC11", 0), read("PMC11", 0)]), "contradiction@1:11.4");
    assert_eq!(strict(&[reset(), read("PMC11", 1 << 28), read("PMC13", 1), read("PMC4", 0)]), "");
    assert_eq!(strict(&[read("PMC4", 0x1228), read("PMC4", 0x1229)]), "");
    assert_eq!(
        strict(&[reset(), write("PMD4", 0x8000_0000), read("PMD4", 0x8000_0001)]),
        "contradiction@2:8.0"
    );
    assert_eq!(strict(&[reset(), write("PMD4", 0x8000_0000), read("PMD4", 0x8000_0000)]), "");
    // Of PSR all bits are compared.
    assert_eq!(
        strict(&[reset(), write("PSR", 1 << 13), read("PSR", 1 << 13), read("PSR", 0)]),
        "contradiction@3:9.5"
    );
    // Undefined bits are not: the tlb bit in cache mode, PMD1 in TLB mode, latency and level.
    let frozen = |more: &[Vec<u8>]| strict(&[&[reset(), write("PMC0", 1)], more].concat());
    assert_eq!(frozen(&[read("PMD0", 2)]), "");
    assert_eq!(frozen(&[read("PMD0", 3)]), "contradiction@2:8.0");
    assert_eq!(frozen(&[read("PMD1", 2)]), "contradiction@2:8.1");
    assert_eq!(frozen(&[write("PMC10", 0x80), read("PMD1", 2), read("PMD0", 2)]), "contradiction@4:8.1 none");
    assert_eq!(frozen(&[read("PMD3", 1 << 63), write("PMC11", 0x80), read("PMD3", 0xfff)]), "");
    // After masking, in lenient mode.
    assert_eq!(lenient(&[reset(), read("PMC13", 2)]), "suspicious@1:8.1 contradiction@1:8.0");
}

#[test]
fn reads_of_something_defined_as_undefined() {
    assert_eq!(strict(&[undefined("PMC4")]), "contradiction@0:0.0");
    assert_eq!(strict(&[reset(), undefined("PMD4"), undefined("PMD0")]), "contradiction@1:0.0");
    assert_eq!(strict(&[read("PMC0", 1), undefined("PMD0")]), "contradiction@1:0.0");
    let frozen = [reset(), write("PMC0", 1), undefined("PMD1"), write("PMC10", 0x80), undefined("PMD1")];
    assert_eq!(strict(&frozen), "contradiction@2:0.0");
    // At privilege level 3 with PSR.sp it reads as 0, which is defined.
    assert_eq!(strict(&[reset(), write("PSR", psr(3, SP)), undefined("PMD0")]), "contradiction@2:0.0");
}

#[test]
fn tags_that_differ() {
    let code = [reset(), instruction(0, 0, M, 0), access(AccessKind::Load, 0)];
    let with = |more: Vec<u8>| strict(&[&code[..], &[more]].concat());
    assert_eq!(with(tags(7)), "tags:111 data:11");
    assert_eq!(with(tags(5)), "tags:111 data:11 contradiction@3:1.1");
    assert_eq!(with(tags(0)), "tags:111 data:11 contradiction@3:1.0 contradiction@3:1.1 contradiction@3:1.2");
    assert_eq!(with(data_tag(1)), "tags:111 data:11");
    assert_eq!(with(data_tag(0)), "tags:111 data:11 contradiction@3:1.0");
}

#[test]
fn records_without_what_they_belong_to() {
    let missing = "invalid-reference@1:0.0";
    for alone in [
        tags(7),
        data_tag(1),
        access(AccessKind::Load, 0),
        data_cache_miss(9),
        data_tlb_miss(1),
        occurrence(0x20, 0, 1),
        occurrence(0x30, 0, 1),
        occurrence(0x6c, 0, 1),
    ] {
        assert_eq!(strict(&[reset(), alone.clone()]), missing);
        assert_eq!(packets(&[reset(), alone]).len(), 2);
    }
    for without_access in [data_tag(1), data_cache_miss(9), data_tlb_miss(1), occurrence(0x6c, 0, 1)] {
        assert_eq!(
            strict(&[reset(), instruction(0, 0, M, 0), without_access]),
            "tags:111 invalid-reference@2:0.0"
        );
    }
    // A cycle forgets neither, an instruction does not forget the access, a reset forgets both.
    let kept = [
        reset(),
        instruction(0, 0, M, 0),
        access(AccessKind::Load, 0),
        cycle(),
        tags(7),
        instruction(0, 1, I, 0),
        data_tag(1),
        reset(),
        tags(7),
        data_tag(1),
    ];
    assert_eq!(strict(&kept), "tags:111 data:11 tags:111 invalid-reference@8:0.0 invalid-reference@9:0.0");
    assert_eq!(strict(&[reset(), occurrence(0x40, 0, 1), instruction_cache_miss(0, 1)]), "");
}

#[test]
fn occurrences_of_what_does_not_occur() {
    assert_eq!(strict(&[reset(), occurrence(0x13, 0, 1)]), "reserved-encoding@1:1.0");
    assert_eq!(strict(&[reset(), occurrence(0x40, 1, 1)]), "reserved-encoding@1:1.0");
    assert_eq!(strict(&[reset(), occurrence(0x08, 1, 1)]), "reserved-encoding@1:1.0");
    for (es, umask) in [(0x08, 0), (0x08, 3), (0x12, 0), (0x23, 0), (0x67, 0)] {
        assert_eq!(strict(&[reset(), occurrence(es, umask, 1)]), "illegal-in-state@1:1.0");
    }
}

/// CPU_CYCLES with oi, one before overflow.
fn about_to_interrupt() -> Vec<u8> {
    [reset(), write("PSR", UP), write("PMC4", 0x1221), write("PMD4", 0xffff_ffff), cycle()].concat()
}

/// ITA-OVF-011, ITA-OVF-012.
#[test]
fn interrupts_come_when_they_are_due() {
    let reported = "4+1=0 overflow4 freeze interrupt";
    let with = |more: &[Vec<u8>]| strict(&[&[about_to_interrupt()], more].concat());
    assert_eq!(with(&[interrupt()]), reported);
    assert_eq!(with(&[interrupt(), interrupt()]), format!("{reported} contradiction@6:0.0"));
    assert_eq!(with(&[cycle(), interrupt()]), format!("{reported} contradiction@5:0.0 contradiction@6:0.0"));
    assert_eq!(with(&[reset()]), format!("{reported} contradiction@5:0.0"));
    assert_eq!(with(&[]), format!("{reported} contradiction@5:0.0"));
    // A dropped record is as if it were not there.
    assert_eq!(with(&[record(15, 0), interrupt()]), format!("{reported} reserved-encoding@5:0.0"));
    // After the faults of the record itself.
    assert_eq!(with(&[tags(0)]), format!("{reported} invalid-reference@5:0.0 contradiction@5:0.0"));
    // Before its events.
    assert_eq!(with(&[instruction(0, 0, M, 0)]), format!("{reported} contradiction@5:0.0 tags:111"));
    assert_eq!(strict(&[reset(), interrupt()]), "contradiction@1:0.0");
    // The sticky overflow bit alone interrupts nothing.
    assert_eq!(with(&[interrupt(), write("PMC0", 0x10), cycle()]), format!("{reported} 4+1=1"));
    let masked = [
        reset(),
        write("PMV", 1 << 16),
        write("PSR", UP),
        write("PMC4", 0x1221),
        write("PMD4", 0xffff_ffff),
        cycle(),
    ];
    assert_eq!(strict(&masked), "4+1=0 overflow4 freeze");
}

#[test]
fn execution_before_any_reset() {
    let records = [instruction(0, 0, M, 0), cycle(), interrupt(), reset(), cycle(), tags(0)];
    assert_eq!(strict(&records), "not-synchronised@0:0.0 invalid-reference@5:0.0");
    assert_eq!(packets(&records).len(), 6);
    assert_eq!(strict(&[read("PMC4", 0x1228), tags(0), tags(0)]), "not-synchronised@1:0.0");
}

#[test]
fn more_misses_than_a_cycle_can_have() {
    let mut records = Vec::from([reset(), write("PSR", UP), write("PMC10", 1), write("PMC4", 0x2301)]);
    let first = records.len();
    records.extend((0..=MISSES_PER_CYCLE).map(|_| instruction_cache_miss(0x20, 4)));
    records.extend([cycle(), instruction_cache_miss(0x40, 4), cycle()]);
    let reported = strict(&records);
    let took = "took:20:4 ".repeat(MISSES_PER_CYCLE);
    let limit = first + MISSES_PER_CYCLE;
    assert_eq!(reported, format!("limit@{limit}:0.0 {took}4+4096=1000 took:40:4 4+1=1001"));
}
