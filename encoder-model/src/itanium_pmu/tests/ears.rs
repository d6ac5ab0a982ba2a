//! Event address registers.

use super::*;
use traceproof_vectors::Address;

const IP: u64 = 0x2000_0000_0017_4710;

fn with(parameters: Parameters) -> Bench {
    let mut bench = Bench::with(&parameters);
    bench.psr(user(3));
    bench
}

/// Ends the cycle, freezes, and reads PMD\[0\] and PMD\[1\].
fn instruction_ear(bench: &mut Bench) -> (u64, u64) {
    bench.cycle();
    bench.pmc(0, 1);
    (bench.read_pmd(0), bench.read_pmd(1))
}

/// The same of PMD\[2\], PMD\[3\] and PMD\[17\].
fn data_ear(bench: &mut Bench) -> [u64; 3] {
    bench.cycle();
    bench.pmc(0, 1);
    [2, 3, 17].map(|index| bench.read_pmd(index))
}

fn load(bench: &mut Bench, ip: u64, slot: u8, address: u64) {
    bench.fetch(Instruction { slot, ..nop_at(ip) });
    bench.access(AccessKind::Load, address);
}

#[test]
fn instruction_cache_misses() {
    for (latency, expected) in
        [(45, (0x2000_0000_0017_4701, 0x2d)), (8, (0x2000_0000_0017_4701, 8)), (7, (0, 0))]
    {
        let mut bench = with(Parameters::default());
        bench.pmc(10, 0x0001_0008).miss(Miss::InstructionCache { ip: Address(IP), latency });
        assert_eq!(instruction_ear(&mut bench), expected, "EX-32, EX-33: {latency}");
    }
    for umask in [0xf, 0xb] {
        let mut bench = with(Parameters::default());
        bench.pmc(10, umask << 16 | 8).miss(Miss::InstructionCache { ip: Address(IP), latency: u32::MAX });
        assert_eq!(instruction_ear(&mut bench), (0, 0), "EX-39");
    }
}

#[test]
fn instruction_tlb_misses() {
    use InstructionTlbResolution::{Software, Vhpt};
    let ip = 0x2000_0000_0017_b788;
    for (example, pmc10, resolution, expected) in [
        (34, 0x0004_0088, Vhpt, 0x2000_0000_0017_b781),
        (34, 0x0004_0088, Software, 0),
        (35, 0x0008_0088, Software, 0x2000_0000_0017_b783),
        (35, 0x0008_0088, Vhpt, 0),
    ] {
        let mut bench = with(Parameters::default());
        bench.pmc(10, pmc10).miss(Miss::InstructionTlb { ip: Address(ip), resolution });
        assert_eq!(instruction_ear(&mut bench).0, expected, "EX-{example}");
    }
}

#[test]
fn fields_that_the_mode_leaves_open_are_undefined() {
    let mut bench = with(Parameters::default());
    bench.pmc(10, 0x0001_0008).miss(Miss::InstructionCache { ip: Address(IP), latency: 45 });
    instruction_ear(&mut bench);
    let line = 0x2000_0000_0017_4700;
    let read = |bench: &mut Bench, index| bench.step(Stimulus::Read(Register::pmd(index)));
    assert_eq!(
        read(&mut bench, 0),
        [Packet::Read(Contents::InstructionEarLine { v: true, tlb: Known::Undefined, line: Address(line) })]
    );
    assert_eq!(
        read(&mut bench, 1),
        [Packet::Read(Contents::InstructionEarLatency { latency: Known::Value(45) })]
    );
    bench.pmc(10, 0x0004_0088);
    assert_eq!(
        read(&mut bench, 0),
        [Packet::Read(Contents::InstructionEarLine {
            v: true,
            tlb: Known::Value(InstructionTlbResolution::Vhpt),
            line: Address(line)
        })]
    );
    assert_eq!(
        read(&mut bench, 1),
        [Packet::Read(Contents::InstructionEarLatency { latency: Known::Undefined })]
    );
}

#[test]
fn data_cache_misses() {
    let mut bench = with(Parameters::default());
    load(bench.pmc(11, 0x1001_0008), 0x2000_0000_0001_72c0, 1, 0x2000_0000_0008_0614);
    bench.miss(Miss::DataCache { latency: 20 });
    assert_eq!(data_ear(&mut bench), [0x2000_0000_0008_0614, 0x14, 0x2000_0000_0001_72c5], "EX-36");
    for (latency_overflow, latency) in [(LatencyOverflow::Saturate, 0xfff), (LatencyOverflow::Wrap, 0x345)] {
        let mut bench = with(Parameters { latency_overflow, ..Parameters::default() });
        load(bench.pmc(11, 0x1000_0008), 0x4000_0000_0000_0010, 2, 0x1000);
        bench.miss(Miss::DataCache { latency: 0x2345 });
        assert_eq!(data_ear(&mut bench), [0x1000, latency, 0x4000_0000_0000_0019], "EX-38");
    }
}

#[test]
fn data_tlb_misses() {
    use DataTlbLevel::{L2, Software, Vhpt};
    for (selected, pmc11) in [(L2, 0x1002_0088), (Vhpt, 0x1004_0088), (Software, 0x1008_0088)] {
        for level in [L2, Vhpt, Software] {
            let mut bench = with(Parameters::default());
            load(bench.pmc(11, pmc11), 0x2000_0000_0002_4f40, 2, 0x2000_0000_0003_4388);
            bench.miss(Miss::DataTlb { level });
            let expected = if level == selected {
                [0x2000_0000_0003_4388, (level as u64) << 62, 0x2000_0000_0002_4f49]
            } else {
                [0; 3]
            };
            assert_eq!(data_ear(&mut bench), expected, "EX-37 {level:?}");
        }
    }
}

#[test]
fn only_loads_miss_the_data_cache() {
    for kind in AccessKind::ALL {
        let mut bench = with(Parameters::default());
        bench.pmc(11, 0x1000_0008).fetch(nop_at(0x10));
        bench.access(kind, 0x1000);
        bench.miss(Miss::DataCache { latency: 100 });
        let is_captured = data_ear(&mut bench)[2] != 0;
        assert_eq!(is_captured, kind == AccessKind::Load);
        let mut bench = with(Parameters::default());
        bench.pmc(11, 0x1002_0088).fetch(nop_at(0x10));
        bench.access(kind, 0x1000);
        bench.miss(Miss::DataTlb { level: DataTlbLevel::L2 });
        assert_eq!(data_ear(&mut bench)[2], 0x11);
    }
}

#[test]
fn thresholds_are_readings() {
    let captured = |parameters: Parameters, umask: u64, latency| {
        let mut bench = with(parameters);
        load(bench.pmc(11, 0x1000_0008 | umask << 16), 0, 0, 0);
        bench.miss(Miss::DataCache { latency });
        data_ear(&mut bench)[2] != 0
    };
    for (data_ear_thresholds, umask, limit) in [
        (DataEarThresholds::Regular, 7, 512),
        (DataEarThresholds::Regular, 10, 4096),
        (DataEarThresholds::Shifted, 8, 512),
        (DataEarThresholds::Shifted, 10, 2048),
    ] {
        let parameters = Parameters { data_ear_thresholds, ..Parameters::default() };
        assert!(captured(parameters.clone(), umask, limit));
        assert!(!captured(parameters.clone(), umask, limit - 1));
        let exceeding = Parameters { latency_threshold: LatencyThreshold::Exceeds, ..parameters };
        assert!(captured(exceeding.clone(), umask, limit + 1));
        assert!(!captured(exceeding, umask, limit));
    }
    let shifted = Parameters { data_ear_thresholds: DataEarThresholds::Shifted, ..Parameters::default() };
    assert!(!captured(shifted, 7, u32::MAX));
}

/// MD-3, MD-9.
#[test]
fn which_miss_is_kept_and_what_qualifies_it_are_readings() {
    for (ear_replacement, first, second) in
        [(EarReplacement::Last, 0x45, 0x65), (EarReplacement::First, 0x25, 0x25)]
    {
        let mut bench = with(Parameters { ear_replacement, ..Parameters::default() });
        bench.pmc(10, 8);
        bench.miss(Miss::InstructionCache { ip: Address(0x20), latency: 1 });
        bench.miss(Miss::InstructionCache { ip: Address(0x2f), latency: 700 });
        bench.miss(Miss::InstructionCache { ip: Address(0x40), latency: 5 });
        bench.cycle();
        let held = |bench: &mut Bench| {
            bench.pmc(0, 1);
            bench.read_pmd(0) | 4
        };
        assert_eq!(held(&mut bench), first);
        // Frozen: lost in any case. PMC[0] is written with fr still 1, and then unfrozen.
        bench.miss(Miss::InstructionCache { ip: Address(0x60), latency: 6 });
        bench.cycle();
        assert_eq!(held(&mut bench), first);
        bench.pmc(0, 0).pmc(0, 0).miss(Miss::InstructionCache { ip: Address(0x60), latency: 6 });
        bench.cycle();
        assert_eq!(held(&mut bench), 0x65, "unfreezing makes room under both");
        bench.pmc(0, 0).miss(Miss::InstructionCache { ip: Address(first & !5), latency: 6 });
        bench.cycle();
        bench.miss(Miss::InstructionCache { ip: Address(0x60), latency: 6 });
        bench.cycle();
        assert_eq!(held(&mut bench), second);
    }
    for (data_ear_qualifier, is_captured) in
        [(DataEarQualifier::DataRange, false), (DataEarQualifier::Opcode, true)]
    {
        let mut bench = with(Parameters { data_ear_qualifier, ..Parameters::default() });
        bench.dbrs(&[NEUTRAL, 0, NEUTRAL, 0, NEUTRAL, 0, NEUTRAL, 0]);
        load(bench.pmc(11, 8), 0x10, 0, 0x1000);
        bench.miss(Miss::DataCache { latency: 100 });
        assert_eq!(data_ear(&mut bench)[2] != 0, is_captured);
    }
}

/// ITA-EAR-022, 025, 026: the miss that makes the counter overflow is the one that is read, in both sets at once.
#[test]
fn the_miss_that_freezes_is_captured() {
    let both = |freeze| {
        let mut bench = with(Parameters { freeze, ..Parameters::default() });
        bench.pmc(10, 8).pmc(11, 0x1000_0008).pmc(4, 0x2328).pmd(4, u64::MAX).pmc(7, 0x6708);
        load(&mut bench, 0x40, 1, 0x1000);
        bench.miss(Miss::InstructionCache { ip: Address(0x40), latency: 9 });
        bench.miss(Miss::DataCache { latency: 10 });
        bench.miss(Miss::DataCache { latency: 3 });
        assert!(bench.cycle());
        [0, 17, 4, 7].map(|index| bench.read_pmd(index))
    };
    assert_eq!(both(FreezeTiming::WholeCycle), [0x41, 0x45, 0, 1]);
    assert_eq!(both(FreezeTiming::AtOverflow), [0, 0, 0, 0]);
}

#[test]
fn capturing_is_enabled_as_counting_is_and_qualified() {
    let captured = |prepare: &dyn Fn(&mut Bench) -> &mut Bench| {
        let mut bench = with(Parameters::default());
        bench.pmc(10, 8).pmc(11, 0x1000_0008);
        prepare(&mut bench);
        load(&mut bench, 0x40, 1, 0x1000);
        bench.miss(Miss::InstructionCache { ip: Address(0x40), latency: 9 });
        bench.miss(Miss::DataCache { latency: 10 });
        bench.cycle();
        bench.psr(0).pmc(0, 1);
        [bench.read_pmd(0) != 0, bench.read_pmd(17) != 0]
    };
    assert_eq!(captured(&|bench| bench), [true, true]);
    assert_eq!(captured(&|bench| bench.pmc(10, 7).pmc(11, 0x1000_0007)), [false, false]);
    assert_eq!(captured(&|bench| bench.pmc(10, 0x48)), [false, true]);
    assert_eq!(captured(&|bench| bench.pmc(10, 0x48).psr(user(3) | PP)), [true, true]);
    assert_eq!(captured(&|bench| bench.pmc(11, 0x1100_0008)), [true, false]);
    assert_eq!(captured(&|bench| bench.psr(user(3) | IS)), [true, false], "tags alone");
    assert_eq!(captured(&|bench| bench.pmc(8, 0)), [true, false]);
    assert_eq!(captured(&|bench| bench.pmc(13, 0)), [false, false]);
}

/// ITA-EAR-017, A-20.
#[test]
fn reads_are_undefined_unless_frozen_and_may_obey_the_monitor() {
    for (ear_read_privilege, expected) in
        [(EarReadPrivilege::ByStatusOnly, [None; 5]), (EarReadPrivilege::ByMonitor, [Some(0); 5])]
    {
        let mut bench = with(Parameters { ear_read_privilege, ..Parameters::default() });
        bench.pmc(10, 0x48).pmc(11, 0x1000_0048);
        let read = |bench: &mut Bench, index| bench.read(Register::pmd(index));
        assert_eq!([0, 1, 2, 3, 17].map(|index| read(&mut bench, index)), expected);
        assert_eq!((8..17).map(|index| read(&mut bench, index)).collect::<Vec<_>>(), vec![None; 9]);
    }
}
