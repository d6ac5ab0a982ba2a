//! Counters, overflow, freeze, interrupts.

use super::*;

const RETIRED_PMC8: u64 = 0x0203_0800;

/// A machine at privilege level 3 with up = 1.
fn bench() -> Bench {
    let mut bench = Bench::new();
    bench.psr(user(3));
    bench
}

#[test]
fn overflow_sets_its_bit_and_freezes_if_asked() {
    for (example, low, pmc0, interrupts) in [(24, 0x28, 0x11, true), (25, 0x08, 0x10, false)] {
        let mut bench = bench();
        bench.pmc(4, RETIRED_PMC8 | low).pmd(4, 0xffff_fffe);
        for slot in 0..3 {
            bench.fetch(Instruction { slot, ..nop_at(0) });
        }
        assert_eq!(bench.cycle(), interrupts, "EX-{example}");
        assert_eq!((bench.read_pmc(0), bench.read_pmd(4)), (pmc0, 1), "EX-{example}");
    }
}

#[test]
fn two_counters_overflow_in_one_cycle() {
    for (freeze, pmc0, pmd5) in
        [(FreezeTiming::WholeCycle, 0x31, 1), (FreezeTiming::AtOverflow, 0x11, 0xffff_ffff_ffff_ffff)]
    {
        let mut bench = Bench::with(&Parameters { freeze, ..Parameters::default() });
        bench.psr(user(3)).pmc(4, 0x1228).pmd(4, 0xffff_ffff).pmc(5, 0x6c08).pmd(5, 0xffff_ffff);
        bench.fetch(nop_at(0));
        bench.access(AccessKind::Load, 0);
        bench.occur(0x6c, 0, 2);
        assert!(bench.cycle(), "EX-26");
        assert_eq!((bench.read_pmc(0), bench.read_pmd(4), bench.read_pmd(5)), (pmc0, 0, pmd5));
    }
}

#[test]
fn one_interrupt_for_two_overflows() {
    let mut bench = bench();
    bench.pmc(4, 0x1228).pmd(4, u64::MAX).pmc(7, 0x1228).pmd(7, u64::MAX);
    assert_eq!(bench.step(Stimulus::Cycle), [Packet::Cycle, Packet::Interrupt]);
    assert_eq!(bench.read_pmc(0), 0x91);
}

#[test]
fn nothing_counts_while_frozen_and_what_happened_then_is_lost() {
    let mut bench = bench();
    bench.pmc(0, 1).pmc(4, 0x1228).pmd(4, 5).pmc(5, RETIRED_PMC8 | 8);
    bench.fetch(nop_at(0));
    assert!(!bench.cycle(), "EX-27");
    assert_eq!((bench.read_pmc(0), bench.read_pmd(4), bench.read_pmd(5)), (1, 5, 0));
    bench.pmc(0, 0);
    bench.cycle();
    assert_eq!((bench.read_pmd(4), bench.read_pmd(5)), (6, 0));
}

#[test]
fn thresholds() {
    let mut bench = bench();
    bench.pmc(4, 0x0250_3028).pmc(6, 0x0050_0028);
    let mut counts = (0, 0);
    for (occurrences, nops, stalls) in [(0, 0, 0), (1, 0, 0), (2, 0, 1), (3, 0, 1), (5, 0, 1), (6, 1, 1)] {
        bench.fetch(nop_at(0));
        bench.occur(0x30, 0, occurrences);
        bench.occur(0x00, 0, occurrences);
        bench.cycle();
        counts = (counts.0 + nops, counts.1 + stalls);
        assert_eq!((bench.read_pmd(4), bench.read_pmd(6)), counts, "EX-28, EX-29: {occurrences}");
    }
}

/// ITA-CNT-003 to 006: plm, privilege level, pm, up, pp, ism, is; EX-30.
#[test]
fn counting_is_enabled_by_level_start_and_instruction_set() {
    for choice in 0..4096_u64 {
        let (plm, level) = (choice & 15, choice >> 4 & 3);
        let (pm, up, pp) = (choice >> 6 & 1, choice >> 7 & 1, choice >> 8 & 1);
        let (ism, is) = (choice >> 9 & 3, choice >> 11);
        let mut bench = Bench::new();
        bench.pmc(4, 0x1200 | plm | pm << 6 | ism << 24);
        bench.psr(up << 2 | pp << 21 | level << 32 | is << 34);
        bench.cycle();
        let started = if pm == 1 { pp } else { up } == 1;
        let blocked = match (ism, is) {
            (0, _) => false,
            (1, is) => is == 0,
            (2, is) => is == 1,
            _ => true,
        };
        let expected = started && !blocked && [1, 2, 4, 8].map(|bit| plm & bit != 0)[level as usize];
        bench.psr(0);
        assert_eq!(bench.read_pmd(4), u64::from(expected), "{choice:#x}");
    }
}

#[test]
fn counts_are_read_with_their_top_bit_copied() {
    let mut bench = bench();
    for (count, read) in [
        (0x7fff_ffff, 0x0000_0000_7fff_ffff),
        (0x8000_0000, 0xffff_ffff_8000_0000),
        (0xffff_ffff, 0xffff_ffff_ffff_ffff),
    ] {
        bench.pmd(4, count);
        assert_eq!(bench.read_pmd(4), read, "EX-31");
    }
    bench.pmc(4, 0x1208).pmd(4, 0x7fff_ffff);
    bench.cycle();
    assert_eq!(bench.read_pmd(4), 0xffff_ffff_8000_0000);
}

#[test]
fn overflow_bits_stay_until_software_clears_them() {
    let mut bench = bench();
    bench.pmc(4, 0x1208).pmd(4, u64::MAX);
    bench.cycle();
    bench.cycle();
    assert_eq!((bench.read_pmc(0), bench.read_pmd(4)), (0x10, 1));
    bench.pmc(0, 0xf1);
    assert_eq!(bench.read_pmc(0), 0xf1);
    bench.pmc(0, 0xa0);
    assert!(!bench.cycle(), "ITA-OVF-012: bits that are set raise nothing");
    assert_eq!((bench.read_pmc(0), bench.read_pmd(4)), (0xa0, 2));
}

#[test]
fn a_masked_vector_pends_nothing() {
    let mut bench = bench();
    bench.write(Register::PMV, 1 << 16 | 0x40);
    bench.pmc(4, 0x1228).pmd(4, u64::MAX);
    assert!(!bench.cycle());
    assert_eq!(bench.read_pmc(0), 0x11);
}

#[test]
fn reads_obey_the_privilege_level() {
    let mut bench = bench();
    bench.pmc(4, 1 << 6).pmd(4, 7).pmd(5, 8);
    assert_eq!((bench.read_pmd(4), bench.read_pmd(5)), (0, 8));
    assert_eq!(bench.read(Register::pmd(2)), None);
    bench.psr(user(1) | SP);
    assert_eq!((bench.read_pmd(4), bench.read_pmd(5), bench.read_pmd(2)), (0, 0, 0));
    bench.psr(SP);
    assert_eq!((bench.read_pmd(4), bench.read_pmd(5)), (7, 8));
    assert_eq!(bench.read(Register::pmd(2)), None);
}

/// Section 7, ITA-QUA-002, 003: which tag each kind of event needs.
#[test]
fn each_event_needs_its_own_tag() {
    // A retired one, one of a fetch, one of memory, one of nothing; then PMC[9]'s.
    let count = |prepare: &dyn Fn(&mut Bench) -> &mut Bench| {
        let mut bench = bench();
        bench.pmc(4, 0x0003_0808).pmc(5, 0x0002_0808).pmc(6, 0x2008).pmc(7, 0x6d08);
        prepare(&mut bench);
        bench.fetch(nop_at(0x1000));
        bench.access(AccessKind::Store, 0x2000);
        bench.occur(0x20, 0, 1);
        bench.occur(0x6d, 0, 1);
        bench.cycle();
        [4, 5, 6, 7].map(|counter| bench.read_pmd(counter))
    };
    assert_eq!(count(&|bench| bench), [1, 1, 1, 1]);
    assert_eq!(count(&|bench| bench.pmc(13, 0)), [0, 0, 0, 0]);
    assert_eq!(count(&|bench| bench.pmc(8, 0)), [0, 1, 1, 0]);
    assert_eq!(count(&|bench| bench.pmc(9, 0)), [1, 0, 1, 1]);
    let outside = [NEUTRAL, 0, NEUTRAL, 0, NEUTRAL, 0, NEUTRAL, 0];
    assert_eq!(count(&|bench| bench.pmc(11, 0).dbrs(&outside)), [1, 1, 1, 0]);
    let unqualified = |prepare: &dyn Fn(&mut Bench) -> &mut Bench| {
        let mut bench = bench();
        bench.pmc(4, 0x1408);
        prepare(&mut bench);
        bench.occur(0x14, 0, 3);
        bench.cycle();
        bench.read_pmd(4)
    };
    assert_eq!(unqualified(&|bench| bench.pmc(13, 0).pmc(8, 0).pmc(11, 0).dbrs(&outside)), 3);
}

#[test]
fn occurrences_belong_to_their_cycle_and_add_up() {
    let mut bench = bench();
    bench.pmc(4, 0x1408).pmc(5, 0x1408);
    bench.occur(0x14, 0, 200);
    bench.occur(0x14, 0, 200);
    bench.occur(0x15, 0, 9);
    bench.cycle();
    bench.cycle();
    assert_eq!((bench.read_pmd(4), bench.read_pmd(5)), (400, 400));
}

/// MD-1.
#[test]
fn occurrences_in_ia32_code_count_if_nothing_restricts() {
    let count = |ia32_counting, prepare: &dyn Fn(&mut Bench) -> &mut Bench| {
        let mut bench = Bench::with(&Parameters { ia32_counting, ..Parameters::default() });
        bench.psr(user(3) | IS).pmc(4, 0x6a08).pmc(5, 0x0008_0d08).pmc(6, 0x2008);
        prepare(&mut bench);
        bench.fetch(Instruction { itype: SyllableType::Ia32, enco: 0, ..nop_at(0x1003) });
        bench.access(AccessKind::Load, 0x2000);
        bench.occur(0x6a, 0, 1);
        bench.occur(0x0d, 8, 1);
        bench.occur(0x20, 0, 1);
        bench.cycle();
        [4, 5, 6].map(|counter| bench.read_pmd(counter))
    };
    let unrestricted =
        |prepare: &dyn Fn(&mut Bench) -> &mut Bench| count(Ia32Counting::Unrestricted, prepare);
    assert_eq!(unrestricted(&|bench| bench), [1, 1, 1]);
    assert_eq!(unrestricted(&|bench| bench.pmc(13, 0)), [0, 0, 0]);
    assert_eq!(unrestricted(&|bench| bench.pmc(8, 0xf000_0000_3fff_fff0)), [0, 0, 1]);
    assert_eq!(unrestricted(&|bench| bench.pmc(11, 0)), [0, 0, 1]);
    assert_eq!(count(Ia32Counting::ByTag, &|bench| bench), [0, 0, 1]);
}

#[test]
fn wrong_paths_do_not_retire_and_squashed_instructions_do() {
    let mut bench = bench();
    bench.pmc(4, RETIRED_PMC8 | 8).pmc(5, 0x0808);
    bench.fetch(Instruction { retired: false, ..nop_at(0) });
    bench.fetch(Instruction { squashed: true, ..nop_at(0) });
    bench.cycle();
    assert_eq!((bench.read_pmd(4), bench.read_pmd(5)), (1, 1));
}
