//! What no processor can do.

use super::*;

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
        let access = Access { kind: AccessKind::Load, address: 0 };
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
