//! The worked examples D-11 to D-18: exceptions, VMID, cycle counts, silicon; data-only mode, branch classes.

use traceproof_vectors::Program;
use traceproof_vectors::arm_etm::{Parameters, VectorBase};

use super::{arm, bytes, data, decode, plain, summary, thumb, word};

/// Tracing is enabled in ARM state at 0x8000.
const ENABLED: &str = "08 21 00 80 00 00";

fn after(parameters: &Parameters, text: &str) -> alloc::string::String {
    let reported = summary(parameters, &Program::new(), &alloc::format!("{ENABLED} {text}"));
    reported.strip_prefix("enabled:Arm:8000").expect("the I-sync").trim_start().into()
}

#[test]
fn d_11_a_vector_without_information_is_a_branch() {
    for hivecs in [VectorBase::Low, VectorBase::High, VectorBase::Unknown] {
        let parameters = Parameters { hivecs, ..plain() };
        assert_eq!(after(&parameters, "84 8d 80 00"), "E8000 ->Arm:18");
    }
}

#[test]
fn d_12_code_0_is_told_by_the_vector() {
    assert_eq!(after(&plain(), "83 80 80 80 80"), "->Arm:4:exception=9");
    assert_eq!(after(&plain(), "89 80 80 80 c0"), "->Arm:10:exception=12!");
    assert_eq!(after(&plain(), "8d 80 80 80 88"), "->Arm:18:exception=14");
    let high = Parameters { hivecs: VectorBase::High, ..plain() };
    assert_eq!(after(&high, "83 80 fe ff 87"), "->Arm:ffff0004:exception=9");
    // No vector of the selected table.
    assert_eq!(after(&plain(), "83 80 fe ff 87"), "->Arm:ffff0004:exception=13");
    assert_eq!(after(&high, "83 80 80 80 80"), "->Arm:4:exception=13");
    let unknown = Parameters { hivecs: VectorBase::Unknown, ..plain() };
    assert_eq!(after(&unknown, "83 80 fe ff 87"), "->Arm:ffff0004:exception=9");
    assert_eq!(after(&unknown, "83 80 80 80 80"), "->Arm:4:exception=9");
    assert_eq!(after(&unknown, "8b 80 80 80 80"), "->Arm:14:exception=13");
    for (first, number) in [("81", 8), ("85", 10), ("87", 11), ("8d", 14), ("8f", 15)] {
        let reported = after(&plain(), &alloc::format!("{first} 80 80 80 80"));
        assert!(reported.ends_with(&alloc::format!(":exception={number}")), "{reported}");
    }
}

#[test]
fn d_13_aborts() {
    assert_eq!(after(&plain(), "84 89 80 80 80 48 38"), "E8000 ->Arm:10:exception=12!");
    assert_eq!(after(&plain(), "89 80 80 80 48 18"), "->Arm:10:exception=12");
    assert_eq!(after(&plain(), "89 80 80 80 48 08"), "->Arm:10:exception=4");
    assert_eq!(after(&plain(), "89 80 80 80 48 28"), "->Arm:10:exception=4!");
}

#[test]
fn data_that_an_abort_or_a_reset_loses_free_their_tag() {
    let reused = |exception: &str| after(&data(), &alloc::format!("84 54 {exception} 84 54"));
    // Asynchronous data abort, also inside byte 5; reset.
    for exception in ["89 80 80 80 48 08", "89 80 80 80 b0", "81 80 80 80 48 10", "81 80 80 80 80"] {
        let reported = reused(exception);
        assert!(reported.ends_with("#0!superseded #1@2=miss1 #1!end"), "{reported}");
        assert!(!reported.contains("suspicious"), "{reported}");
    }
    // Precise data abort, IRQ.
    for exception in ["89 80 80 80 48 18", "8d 80 80 80 48 1c"] {
        assert!(reused(exception).contains("suspicious"), "{}", reused(exception));
    }
}

#[test]
fn d_14_from_debug_state_into_an_irq() {
    let at = |text: &str| summary(&plain(), &Program::new(), text);
    assert_eq!(at("08 61 18 00 00 00 84"), "debug:Arm:18 E18");
    assert_eq!(at("08 61 04 80 00 00 8d 80 80 80 48 1c 84"), "debug:Arm:8004 ->Arm:18:exception=14 E18");
    assert_eq!(
        at("08 61 04 80 00 00 84 8d 80 80 80 48 3c 84"),
        "debug:Arm:8004 E8004 ->Arm:18:exception=14! E18"
    );
}

#[test]
fn d_15_a_vmid_follows_each_i_sync() {
    let vmid = Parameters { minor: 5, vmid: true, ..plain() };
    let program = arm(&[0xe320_f000; 4]);
    let at = |text: &str| summary(&vmid, &program, text);
    assert_eq!(at("08 01 00 80 00 00 3c 05 84"), "periodic:Arm:8000 vmid@0=5 E8000");
    assert_eq!(at("08 01 00 80 00 00 3c 00 84"), "periodic:Arm:8000 vmid@0=0 E8000");
    assert_eq!(at("08 01 00 80 00 00 84 3c 05"), "periodic:Arm:8000 contradiction@2:12.0 E8000 vmid@1=5");
    // Once for an I-sync; other packets may stand between.
    assert_eq!(
        at("08 01 00 80 00 00 84 84 08 01 08 80 00 00 0c 84"),
        "periodic:Arm:8000 contradiction@2:12.0 E8000 E8004 periodic:Arm:8008 trigger@2 contradiction@6:21.0 E8008"
    );
    // One before the I-sync is not the one after it.
    assert_eq!(at("3c 05 08 01 00 80 00 00 84"), "vmid@0=5 periodic:Arm:8000 contradiction@3:14.0 E8000");
    // After a loss nothing is due before the next I-sync.
    assert_eq!(at("08 01 00 80 00 00 10 00 00 00 00 00 80 84"), "periodic:Arm:8000 reserved-encoding@2:12.0");
}

#[test]
fn d_16_counts_that_mean_nothing() {
    let minor = |minor| Parameters { cycle_accurate: true, minor, ..plain() };
    for version in 0..=5 {
        assert_eq!(after(&minor(version), "04 00"), "gap?");
        assert_eq!(after(&minor(version), "70 00 21 00 80 00 00"), "gap? enabled:Arm:8000");
        assert_eq!(after(&minor(version), "70 05 21 00 80 00 00"), "gap5 enabled:Arm:8000");
        let overflow = if (1..5).contains(&version) { "gap5" } else { "gap?" };
        let debug = if version == 0 { "gap?" } else { "gap5" };
        for (reason, name, gap) in [("41", "overflow", overflow), ("61", "debug", debug)] {
            let text = alloc::format!("70 05 {reason} 00 80 00 00");
            assert_eq!(after(&minor(version), &text), alloc::format!("{gap} {name}:Arm:8000"), "3.{version}");
            // In a packet of its own.
            let text = alloc::format!("08 {reason} 00 80 00 00 04 05 04 07");
            assert_eq!(
                after(&minor(version), &text),
                alloc::format!("{name}:Arm:8000 {gap} gap7"),
                "3.{version}"
            );
        }
    }
}

/// ETMv3.4, alternative branches, ARMv7-M.
fn cortex_m3() -> Parameters {
    Parameters { minor: 4, alternative_branches: true, m_profile: true, thumb32_single: true, ..plain() }
}

#[test]
fn d_17_silicon_exceptions() {
    let at = |base: &str, text: &str| {
        summary(&cortex_m3(), &Program::new(), &alloc::format!("08 21 {base} {text}"))
    };
    assert_eq!(at("01 a0 00 00", "e5 ca 42 02"), "enabled:Thumb:a000 ->Thumb:a564:exception=1");
    assert_eq!(at("01 a0 00 00", "e5 ca 42 22"), "enabled:Thumb:a000 ->Thumb:a564:exception=1!");
    assert_eq!(at("01 a0 00 00", "89 eb 42 8c 02"), "enabled:Thumb:a000 ->Thumb:b588:exception=38");
    assert_eq!(at("01 a0 00 00", "76 89 6b 8c 02"), "enabled:Thumb:a000 return@0 ->Thumb:b588:exception=38");
    assert_eq!(
        at("01 a0 00 00", "98 76 c5 ad 0e"),
        "enabled:Thumb:a000 Ea000 E? E? E? E? E? return@6 ->Thumb:396c4"
    );
}

#[test]
fn d_18_silicon_session() {
    let log =
        decode(&cortex_m3(), &Program::new(), &bytes("00 00 00 00 00 80 08 21 07 03 00 08 84 0c 94 b5 05"));
    assert_eq!(log.faults().count(), 0);
    let events: alloc::vec::Vec<_> = log.events().map(word).collect();
    assert_eq!(events[..3], ["enabled:Thumb:8000306", "E8000306", "trigger@1"]);
    assert_eq!(events.len(), 3 + 5 + 1);
    assert_eq!(events.last().map(|event| event.as_str()), Some("->Thumb:80002b4"));
}

#[test]
fn data_only_mode_has_no_instructions() {
    let only = Parameters { data_only: true, minor: 1, ..data() };
    for packet in ["01", "81 01", "84", "82", "62"] {
        let reported = summary(&only, &Program::new(), &alloc::format!("08 21 {packet}"));
        assert_eq!(reported, "enabled:Arm:? illegal-in-state@2:8.0", "{packet}");
    }
    // Values that are not traced, or addresses where transfers are not sequential: both are taken.
    let partly = summary(&only, &Program::new(), "08 21 22 80 e0 80 80 00 6a 26 88 e0 00 05");
    assert_eq!(partly, "enabled:Arm:? #0@0[0x3000]=0 #1@0[0x3004]=vnt #2@0[0x3008]=5");
}

#[test]
fn what_is_not_in_the_list_of_direct_branches_is_indirect() {
    // ARM: b, bl, blx; add pc, pc, #4; mov pc, #8; ldr pc, [pc]. The second atom is at a known place, or not.
    for (instruction, second) in [
        (0xea00_0000_u32, "E8008"),
        (0xeb00_0000, "E8008"),
        (0xfa00_0000, "E8008"),
        (0xe28f_f004, "missing-address@2:12.0 E?"),
        (0xe3a0_f008, "missing-address@2:12.0 E?"),
        (0xe59f_f000, "missing-address@2:12.0 E?"),
    ] {
        let program = arm(&[instruction, 0xe320_f000, 0xe320_f000]);
        let reported = summary(&plain(), &program, &alloc::format!("{ENABLED} 88"));
        assert_eq!(reported, alloc::format!("enabled:Arm:8000 E8000 {second}"), "{instruction:#x}");
    }
    // Thumb: cbz; enterx; tbb; add pc, r0.
    let thumb_ee = Parameters { minor: 3, thumb32_single: true, ..plain() };
    for (code, second) in [
        ([0xb100_u16, 0xbf00, 0xbf00, 0xbf00], "E8004"),
        ([0xf3bf, 0x8f1f, 0xbf00, 0xbf00], "E8004"),
        ([0xe8df, 0xf000, 0xbf00, 0xbf00], "missing-address@2:12.0 E?"),
        ([0x4487, 0xbf00, 0xbf00, 0xbf00], "missing-address@2:12.0 E?"),
    ] {
        let reported = summary(&thumb_ee, &thumb(&code), "08 21 01 80 00 00 88");
        assert_eq!(reported, alloc::format!("enabled:Thumb:8000 E8000 {second}"), "{:#x}", code[0]);
    }
}
