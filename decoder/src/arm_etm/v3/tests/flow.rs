//! Atoms over code, branches, synchronisation, cycles, timestamps.

use traceproof_vectors::arm_etm::Parameters;
use traceproof_vectors::{Decoder as _, Log, Program, Refusal};

use super::super::Decoder;
use super::{arm, bytes, code, decode, plain, summary, thumb};

const NOP: u32 = 0xe320_f000;

fn cycle_accurate() -> Parameters {
    Parameters { cycle_accurate: true, ..plain() }
}

/// Tracing is enabled in ARM state at 0x8000, 6 bytes.
const ENABLED: &str = "08 21 00 80 00 00";

/// [`summary`] after [`ENABLED`]: packet 2 and byte 12 on.
fn after_sync(parameters: &Parameters, program: &Program, text: &str) -> alloc::string::String {
    let reported = summary(parameters, program, &alloc::format!("{ENABLED} {text}"));
    reported.strip_prefix("enabled:Arm:8000").expect("the I-sync").trim_start().into()
}

#[test]
fn straight_code_and_direct_branches_need_no_addresses() {
    // 8000 nop; 8004 beq 800c; 8008 nop; 800c b 8000
    let program = arm(&[NOP, 0x0a00_0000, NOP, 0xeaff_fffb]);
    // EE: taken; E: back.
    assert_eq!(after_sync(&plain(), &program, "8c 88"), "E8000 E8004 E800c E8000 E8004");
    // EN: not taken; EE.
    assert_eq!(after_sync(&plain(), &program, "c4 88"), "E8000 N8004 E8008 E800c");
}

#[test]
fn an_indirect_branch_owes_an_address() {
    // 8000 bx lr; 8004 nop
    let program = arm(&[0xe12f_ff1e, NOP]);
    assert_eq!(after_sync(&plain(), &program, "84 03 84"), "E8000 ->Arm:8004 E8004");
    // 0x8004 is word 0x2001: low 6 bits 1. Not executed: straight on.
    assert_eq!(after_sync(&plain(), &program, "c4 "), "E8000 missing-address@2:12.0 N?");
    assert_eq!(after_sync(&plain(), &program, "c0 84"), "N8000 E8004");
    // Once, until it is known again.
    assert_eq!(
        after_sync(&plain(), &program, "84 88 84 03 84"),
        "E8000 missing-address@3:13.0 E? E? E? ->Arm:8004 E8004"
    );
    // Several branch packets in a row: each one is a base, the last one counts.
    assert_eq!(
        after_sync(&plain(), &program, "84 83 02 01 84"),
        "E8000 ->Arm:8204 ->Arm:8200 no-code@5:16.0[8200] E8200"
    );
}

#[test]
fn a_blx_changes_state_but_not_that_of_branch_packets() {
    // 8000 blx 8008; 8004 nop; 8008: bx lr (Thumb), nop
    let program = arm(&[0xfa00_0000, NOP, 0xbf00_4770]);
    assert_eq!(after_sync(&plain(), &program, "88 03"), "E8000 E8008 ->Arm:8004");
    // To Thumb state 0x800a >> 1 = 0x4005, in five bytes; then a short one in Thumb state.
    assert_eq!(
        after_sync(&plain(), &program, "88 8b 80 82 80 10 84 09"),
        "E8000 E8008 ->Thumb:800a E800a ->Thumb:8008"
    );
}

#[test]
fn thirty_two_bit_thumb_instructions_are_one_atom_or_two() {
    // 8000 nop; 8002 bl 8008; 8006 nop; 8008 nop; 800a b.w 8000
    let program = thumb(&[0xbf00, 0xf000, 0xf801, 0xbf00, 0xbf00, 0xf7ff, 0xbff9]);
    let sync = "08 21 01 80 00 00";
    let two = Parameters { thumb32_single: false, ..plain() };
    assert_eq!(
        summary(&plain(), &program, &alloc::format!("{sync} 94")),
        "enabled:Thumb:8000 E8000 E8002 E8008 E800a E8000"
    );
    assert_eq!(
        summary(&two, &program, &alloc::format!("{sync} 9c")),
        "enabled:Thumb:8000 E8000 E8002 E8004 E8008 E800a E800c E8000"
    );
    // Between the halves a periodic I-sync; the second half is not executed.
    assert_eq!(
        summary(&two, &program, &alloc::format!("{sync} 88 08 01 05 80 00 00 c0 84")),
        "enabled:Thumb:8000 E8000 E8002 periodic:Thumb:8004 N8004 E8006"
    );
}

#[test]
fn code_that_is_not_there_is_reported_until_an_address_is_known_again() {
    let program = arm(&[NOP]);
    assert_eq!(after_sync(&plain(), &program, "88 84"), "E8000 no-code@2:12.0[8004] E8004 E?");
    assert_eq!(
        after_sync(&plain(), &program, "88 03 84"),
        "E8000 no-code@2:12.0[8004] E8004 ->Arm:8004 no-code@4:14.0[8004] E8004"
    );
    assert_eq!(after_sync(&plain(), &Program::new(), "88 84 03 84"), "E8000 E? E? ->Arm:8004 E8004");
}

#[test]
fn e3_06_exceptions_are_branches() {
    let program = arm(&[NOP]);
    assert_eq!(after_sync(&plain(), &program, "84 8d 80 80 80 48 3d"), "E8000 ->Arm:18:exception=14!");
    assert_eq!(after_sync(&plain(), &program, "84 8d 80 80 80 c8"), "E8000 ->Arm:18:exception=14!");
    let alternative = Parameters { alternative_branches: true, minor: 4, ..plain() };
    let thumb = "08 21 21 81 00 00";
    for (text, target) in [("a5 42 1c", "8124:exception=14"), ("81 84 40 86 01", "200:exception=19")] {
        let reported = summary(&alternative, &Program::new(), &alloc::format!("{thumb} {text}"));
        assert_eq!(reported, alloc::format!("enabled:Thumb:8120 ->Thumb:{target}"), "{text}");
    }
    // A short packet with information keeps the bits above: A[12:7] are the highest that two bytes reach.
    let reported = summary(&alternative, &Program::new(), "08 21 21 81 ff 00 a5 42 1c");
    assert_eq!(reported, "enabled:Thumb:ff8120 ->Thumb:ff8124:exception=14");
}

#[test]
fn e2_03_branch_addresses() {
    let alternative = Parameters { alternative_branches: true, minor: 4, ..plain() };
    for (base, packet, reported) in [
        ("08 21 00 81 00 00", "13", "Arm:8124"),
        ("08 21 00 81 00 00", "93 11", "Arm:9124"),
        ("08 21 24 81 00 00", "93 81 81 01", "Arm:408124"),
        ("08 21 24 81 00 00", "93 81 81 80 0c", "Arm:80008124"),
        ("08 21 01 81 00 00", "25", "Thumb:8124"),
        ("08 21 25 81 00 00", "a5 82 82 80 18", "Thumb:80008124"),
        ("08 21 00 00 00 00", "93 dc ff 87 1c", "Thumb:c0ffee12"),
        ("08 21 01 00 00 00", "89 ee ff 83 0e", "Arm:c0ffee10"),
        ("08 31 00 81 00 00", "47", "Jazelle:8123"),
        ("08 21 00 00 00 00", "f1 d9 a2 a3 22", "Jazelle:12345678"),
    ] {
        for parameters in [plain(), alternative.clone()] {
            let text = summary(&parameters, &Program::new(), &alloc::format!("{base} {packet}"));
            assert_eq!(text.split_once(" ->").map(|(_, target)| target), Some(reported), "{packet}");
        }
    }
    for (parameters, packet) in [(plain(), "93 81 81 40"), (alternative, "93 81 81 c0 08")] {
        let text = summary(&parameters, &Program::new(), &alloc::format!("08 21 24 81 00 00 {packet}"));
        assert_eq!(text, "enabled:Arm:8124 ->Arm:10008124");
    }
}

#[test]
fn thumb_ee_is_reported_by_alt_isa_and_stays() {
    let parameters = Parameters { minor: 3, ..plain() };
    // AltISA in an I-sync; five bytes without information; five bytes with information, without and with AltISA.
    let text = "08 25 01 80 00 00 | 81 80 82 80 10 | 81 80 82 80 50 00 | 03 | 81 80 82 80 50 40";
    let reported = "enabled:ThumbEe:8000 ->ThumbEe:8000 ->Thumb:8000:exception=0 ->Thumb:8002 ->ThumbEe:8000:exception=0";
    assert_eq!(summary(&parameters, &Program::new(), text), reported);
    assert_eq!(summary(&plain(), &Program::new(), text), reported.replace("ThumbEe", "Thumb"));
}

#[test]
fn java_state_has_no_addresses() {
    let reported = summary(&plain(), &arm(&[NOP]), "08 31 00 80 00 00 88 08 11 44 80 00 00 84");
    assert_eq!(reported, "enabled:Jazelle:8000 E? E? periodic:Jazelle:8044 E?");
}

#[test]
fn e3_02_cycles_of_atoms() {
    // Thumb 0xc002115c: six instructions without branch before that which the debugger names.
    let program = code(0xc002_115c, &bytes("00 bf 00 bf 00 bf 00 bf 00 bf 00 bf"));
    let reported =
        summary(&cycle_accurate(), &program, "08 01 5d 11 02 c0 84 bc bc b4 84 a8 84 bc b4 84 a0 82");
    assert_eq!(
        reported,
        "periodic:Thumb:c002115c Ec002115c+1 Ec002115e+23 Ec0021160+4 Ec0021162+15 Ec0021164+2 Ec0021166+0"
    );
}

#[test]
fn e3_03_gaps() {
    // 7695 cycles after a branch; W atoms before the I-sync are part of the gap.
    let program = code(0xc002_115c, &bytes("00 bf"));
    let reported = summary(
        &cycle_accurate(),
        &program,
        "08 21 5d 11 02 c0 84 b7 fd d6 01 bc 70 8f 3c 21 99 f6 04 c0 84",
    );
    assert_eq!(
        reported,
        "enabled:Thumb:c002115c Ec002115c+1 ->Thumb:c035beb6 gap7703 enabled:Thumb:c004f698 \
         no-code@6:26.0[c004f698] Ec004f698+1"
    );
    let gaps = |text: &str| after_sync(&cycle_accurate(), &Program::new(), text);
    // The next cycle count packet serves an I-sync without count; W atoms after it are the next atom's.
    assert_eq!(gaps("a4 08 21 00 80 00 00 a0 04 05 84"), "enabled:Arm:8000 gap7 E8000+2");
    assert_eq!(gaps("04 05 84"), "gap5 E8000+1");
    assert_eq!(gaps("84 04 05 84"), "E8000+1 gap5 E?+1");
    // Unknown; never output; of a periodic I-sync.
    assert_eq!(gaps("70 00 21 00 80 00 00"), "gap? enabled:Arm:8000");
    assert_eq!(gaps("a0 08 21 00 80 00 00 70 05 21 00 80 00 00"), "enabled:Arm:8000 gap5 enabled:Arm:8000");
    assert_eq!(gaps("a0 70 05 01 00 80 00 00 84"), "gap5 periodic:Arm:8000 E8000+2");
}

#[test]
fn before_the_first_i_sync_only_time_counts() {
    let parameters = Parameters { timestamps: true, minor: 5, ..cycle_accurate() };
    let reported = summary(&parameters, &arm(&[NOP]), "13 84 bc 04 05 42 05 0c a0 08 01 00 80 00 00 84");
    assert_eq!(reported, "time=? trigger@0 periodic:Arm:8000 E8000+1");
    let reported = summary(&parameters, &arm(&[NOP]), "bc 70 05 21 00 80 00 00");
    assert_eq!(reported, "gap5 enabled:Arm:8000");
}

#[test]
fn periodic_synchronisation_checks_the_address() {
    let program = arm(&[NOP, NOP, NOP]);
    assert_eq!(after_sync(&plain(), &program, "84 08 01 04 80 00 00 84"), "E8000 periodic:Arm:8004 E8004");
    assert_eq!(
        after_sync(&plain(), &program, "84 08 01 08 80 00 00 84"),
        "E8000 contradiction@3:13.0[8008] periodic:Arm:8008 E8008"
    );
    assert_eq!(
        after_sync(&plain(), &program, "84 08 01 05 80 00 00"),
        "E8000 contradiction@3:13.0[8004] periodic:Thumb:8004"
    );
    // Another run begins anywhere.
    assert_eq!(after_sync(&plain(), &program, "84 08 61 08 80 00 00 84"), "E8000 debug:Arm:8008 E8008");
    // The base of branch packets is that of a periodic I-sync too: 0x18004 is 5 bits away from 0x8004.
    assert_eq!(
        after_sync(&plain(), &program, "84 08 41 04 80 01 00 03"),
        "E8000 overflow:Arm:18004 ->Arm:18004"
    );
}

#[test]
fn a_load_in_progress_is_executed() {
    let program = arm(&[NOP; 8]);
    // The load at 0x8000, the next instruction at 0x8010.
    assert_eq!(
        summary(&plain(), &program, "08 a1 00 80 00 00 09 84"),
        "enabled:Arm:8010:under=8000 E8000 E8010"
    );
    // A periodic one is compared with the load.
    assert_eq!(
        after_sync(&plain(), &program, "84 08 81 04 80 00 00 09"),
        "E8000 periodic:Arm:8010:under=8004 E8004"
    );
    // High addresses need nothing more.
    assert_eq!(
        summary(&cycle_accurate(), &Program::new(), "a0 08 a1 00 80 00 c0 09 84"),
        "enabled:Arm:c0008010:under=c0008000 Ec0008000 Ec0008010+1"
    );
}

#[test]
fn e3_10_timestamps() {
    let with = |timestamp_bits| Parameters { timestamps: true, timestamp_bits, minor: 5, ..plain() };
    assert_eq!(
        after_sync(&with(64), &Program::new(), "42 bd 9a c3 ce af 90 80 80 00 42 df 1e 46 5f"),
        "time=82f9d0cd3d time=82f9d0cf5f time=82f9d0cf5f!"
    );
    assert_eq!(after_sync(&with(48), &Program::new(), "42 bc b5 e2 b3 c5 c6 04"), "time=123456789abc");
    assert_eq!(
        after_sync(&with(48), &Program::new(), "42 05 42 80 80 80 80 80 80 00 42 05"),
        "time=? time=? time=5"
    );
    // Gray code of 5 is 7; then of 4 is 6.
    let gray = Parameters { timestamp_gray: true, ..with(48) };
    assert_eq!(after_sync(&gray, &Program::new(), "42 87 80 80 80 80 80 00 42 06"), "time=5 time=4");
}

#[test]
fn e3_11_data_only() {
    let parameters = Parameters { data_only: true, context_id_bytes: 1, minor: 1, ..super::data() };
    assert_eq!(
        summary(&parameters, &Program::new(), "08 07 21 26 f8 ac d1 91 01 ab 6e 08"),
        "enabled:Arm:?:context=7 #0@0[0x12345678]=ab context@0=8"
    );
}

#[test]
fn what_only_changes_state_is_reported_at_its_place() {
    let parameters = Parameters { minor: 5, vmid: true, virtualization: true, ..plain() };
    assert_eq!(
        summary(&parameters, &arm(&[NOP; 4]), "08 2b 00 80 00 00 3c 00 84 3c 05 66 0c 84 76"),
        "enabled:Arm:8000:NS:Hyp vmid@0=0 E8000 vmid@1=5 trigger@1 E8004 return@2"
    );
    let without = Parameters { virtualization: false, ..parameters };
    assert_eq!(summary(&without, &Program::new(), "08 2b 00 80 00 00"), "enabled:Arm:8000:NS");
}

#[test]
fn lost_synchronisation_comes_back_with_the_next_i_sync() {
    let reported =
        after_sync(&plain(), &arm(&[NOP; 4]), "84 72 84 00 00 00 00 00 80 84 08 01 04 80 00 00 84");
    assert_eq!(reported, "E8000 reserved-encoding@3:13.0 periodic:Arm:8004 E8004");
    assert_eq!(after_sync(&plain(), &Program::new(), "84 93"), "E8000 open@1");
    assert_eq!(after_sync(&plain(), &Program::new(), "84 10 93"), "E8000 reserved-encoding@3:13.0");
}

#[test]
fn reset_and_refusals() {
    let program = arm(&[NOP; 4]);
    let wire = bytes("00 00 00 00 00 80 08 21 00 80 00 00 84 93");
    let whole = decode(&plain(), &program, &wire);
    let mut decoder = Decoder::default();
    decoder.begin(&plain(), &program).expect("supported");
    decoder.push(&wire, &mut Log::default());
    decoder.reset();
    let mut log = Log::default();
    decoder.push(&wire, &mut log);
    decoder.finish(&mut log);
    assert_eq!(log.entries, whole.entries);
    let impossible = Parameters { minor: 6, ..plain() };
    assert!(matches!(decoder.begin(&impossible, &program), Err(Refusal::Invalid { parameter: "minor", .. })));
}
