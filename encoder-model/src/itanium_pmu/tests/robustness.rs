//! What no processor can do.

use super::*;

use proptest::prelude::*;
use traceproof_vectors::itanium_pmu::{MISSES_PER_CYCLE, RegisterClass};

use crate::itanium_pmu::record_of;
use traceproof_vectors::Address;

#[test]
fn registers_that_do_not_exist_read_as_0_and_keep_nothing() {
    let mut bench = Bench::new();
    for register in [Register::pmc(14), Register::pmd(18), Register::ibr(8), Register::dbr(255)] {
        let packets = bench.step(Stimulus::Write { register, value: 7 });
        assert_eq!(packets, [Packet::Write(Contents::Unimplemented(register))]);
        assert_eq!(bench.log.wire[2..9], [register.index, 0, 0, 0, 0, 0, 7]);
        assert_eq!(bench.read(register), Some(0));
    }
}

#[test]
fn impossible_instructions_are_written_and_have_no_effect() {
    let mut bench = Bench::new();
    bench.psr(user(3)).pmc(4, 0x0808);
    for instruction in [
        Instruction { slot: 3, ..nop_at(0x10) },
        Instruction { enco: 1 << 41, ..nop_at(0x10) },
        Instruction { enco: (1 << 48) - 1, ..nop_at(0x10) },
    ] {
        assert_eq!(bench.step(Stimulus::Instruction(instruction)), [Packet::Instruction(instruction)]);
        let access = Access { kind: AccessKind::Load, address: Address(0) };
        assert_eq!(bench.step(Stimulus::Access(access)), [Packet::Access(access)], "no instruction before");
    }
    for instruction in
        [Instruction { slot: 4, ..nop_at(0x10) }, Instruction { enco: 1 << 48, ..nop_at(0x10) }]
    {
        assert_eq!(bench.step(Stimulus::Instruction(instruction)), []);
    }
    bench.cycle();
    assert_eq!(bench.read_pmd(4), 0);
}

#[test]
fn what_belongs_to_nothing_has_no_effect() {
    let mut bench = Bench::new();
    bench.psr(user(3)).pmc(4, 0x6d08).pmc(5, 0x0908).pmc(6, 0x6708).pmc(7, 0x1208).pmc(11, 0x1000_0008);
    bench.occur(0x6d, 0, 1);
    bench.occur(0x09, 0, 1);
    bench.miss(Miss::DataCache { latency: 100 });
    bench.miss(Miss::DataTlb { level: DataTlbLevel::None });
    // Derived, without a name, and beyond the fields.
    bench.occur(0x12, 0, 5);
    bench.occur(0x67, 0, 5);
    bench.occur(0x08, 1, 5);
    bench.occur(0xed, 0, 5);
    bench.occur(0x6d, 0x10, 5);
    assert_eq!(bench.log.wire[..4], [10, 0x6d, 0x10, 5]);
    bench.cycle();
    assert_eq!([4, 5, 6, 7].map(|counter| bench.read_pmd(counter)), [0, 0, 0, 1]);
}

#[test]
fn a_reset_forgets_the_instruction_and_the_cycle() {
    let mut bench = Bench::new();
    bench.fetch(nop_at(0));
    bench.access(AccessKind::Load, 0);
    bench.occur(0x14, 0, 1);
    bench.step(Stimulus::Reset);
    bench.psr(user(3)).pmc(4, 0x1408).pmc(11, 0x1000_0008).pmc(5, 0x6708);
    bench.miss(Miss::DataCache { latency: 100 });
    bench.cycle();
    assert_eq!((bench.read_pmd(4), bench.read_pmd(5)), (0, 0));
    bench.fetch(nop_at(0));
    bench.access(AccessKind::Load, 0);
    bench.cycle();
    bench.fetch(nop_at(0x10));
    bench.miss(Miss::DataCache { latency: 100 });
    bench.cycle();
    assert_eq!(bench.read_pmd(5), 1, "neither a cycle nor an instruction forgets the access");
    bench.pmc(0, 1);
    assert_eq!(bench.read_pmd(17), 1, "and it is its own instruction's");
}

#[test]
fn a_cycle_has_so_many_misses() {
    let mut bench = Bench::new();
    bench.psr(user(3)).pmc(10, 8).pmc(4, 0x2308);
    for index in 0..=MISSES_PER_CYCLE as u64 {
        bench.miss(Miss::InstructionCache { ip: Address(index * 32), latency: 4 });
    }
    bench.cycle();
    bench.pmc(0, 1);
    assert_eq!(bench.read_pmd(4), MISSES_PER_CYCLE as u64);
    assert_eq!(bench.read_pmd(0), (MISSES_PER_CYCLE as u64 - 1) * 32 + 1);
    bench.pmc(0, 0).miss(Miss::InstructionCache { ip: Address(0), latency: 4 });
    bench.cycle();
    assert_eq!(bench.read_pmd(4), MISSES_PER_CYCLE as u64 + 1);
}

/// Anything that a stimulus can express, likely or not.
fn any_stimulus() -> impl Strategy<Value = Stimulus> {
    let register = || {
        (prop::sample::select(RegisterClass::ALL.to_vec()), prop_oneof![0..20_u8, any::<u8>()])
            .prop_map(|(class, index)| Register { class, index })
    };
    let itype = prop::sample::select(SyllableType::ALL.to_vec());
    let kind = prop::sample::select(AccessKind::ALL.to_vec());
    let levels = [DataTlbLevel::None, DataTlbLevel::L2, DataTlbLevel::Vhpt, DataTlbLevel::Software];
    let miss = prop_oneof![
        (any::<u64>(), any::<u32>())
            .prop_map(|(ip, latency)| Miss::InstructionCache { ip: Address(ip), latency }),
        (any::<u64>(), any::<bool>()).prop_map(|(ip, software)| Miss::InstructionTlb {
            ip: Address(ip),
            resolution: if software {
                InstructionTlbResolution::Software
            } else {
                InstructionTlbResolution::Vhpt
            }
        }),
        any::<u32>().prop_map(|latency| Miss::DataCache { latency }),
        prop::sample::select(levels.to_vec()).prop_map(|level| Miss::DataTlb { level }),
    ];
    let instruction = (any::<u64>(), 0..5_u8, itype, any::<u64>(), 0..64_u32, any::<bool>(), any::<bool>())
        .prop_map(|(ip, slot, itype, enco, shift, retired, squashed)| Instruction {
            ip: Address(ip),
            slot,
            itype,
            enco: enco >> shift,
            retired,
            squashed,
        });
    prop_oneof![
        1 => Just(Stimulus::Reset),
        8 => (register(), any::<u64>(), any::<u64>())
            .prop_map(|(register, value, thin)| Stimulus::Write { register, value: value & thin }),
        4 => register().prop_map(Stimulus::Read),
        8 => instruction.prop_map(Stimulus::Instruction),
        4 => (kind, any::<u64>()).prop_map(|(kind, address)| Stimulus::Access(Access { kind, address: Address(address) })),
        4 => miss.prop_map(Stimulus::Miss),
        4 => (any::<u8>(), any::<u8>(), any::<u8>())
            .prop_map(|(es, umask, count)| Stimulus::Occurrence(Occurrence { es, umask, count })),
        4 => Just(Stimulus::Cycle),
    ]
}

proptest! {
    /// Nothing panics, every packet has its record, and ITA-REG-001, ITA-OVF-004, ITA-OVF-005, ITA-OVF-008 hold
    /// throughout.
    #[test]
    fn any_stimulus_leaves_a_log(stimuli in prop::collection::vec(any_stimulus(), 0..60)) {
        let mut bench = Bench::new();
        for stimulus in stimuli {
            let before = bench.read_pmc(0);
            let packets = bench.step(stimulus);
            let wire = bench.log.wire.clone();
            for (packet, record) in packets.iter().zip(wire.chunks(16)) {
                if !matches!(packet, Packet::Write(_) | Packet::Read(_)) {
                    let expected = record_of(packet).unwrap();
                    prop_assert_eq!(&expected[..], record);
                }
            }
            let after = bench.read_pmc(0);
            match stimulus {
                Stimulus::Cycle if before & 1 != 0 => prop_assert_eq!(after, before),
                Stimulus::Cycle => prop_assert_eq!(after & before, before),
                Stimulus::Reset => prop_assert_eq!(after, 0),
                Stimulus::Write { register, .. } if register == Register::pmc(0) => {}
                _ => prop_assert_eq!(after, before),
            }
        }
    }
}
