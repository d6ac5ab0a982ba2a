//! Exceptions: the worked examples D-01 to D-07, and what is unknown.

use alloc::format;
use alloc::string::String;

use traceproof_vectors::Program;
use traceproof_vectors::arm_etm::{Parameters, VectorBase};

use super::{BX, LDR, MOV, arm, arm_at, decode, enabled, etm, format_log, summary, wire};

/// `subs pc, lr, #4`.
const RETURN: u32 = 0xe25e_f004;
/// `str r0, [r1]`.
const STR: u32 = 0xe581_0000;
/// `swi 0`.
const SWI: u32 = 0xef00_0000;

fn high() -> Parameters {
    Parameters { hivecs: VectorBase::High, ..etm() }
}

fn unknown() -> Parameters {
    Parameters { hivecs: VectorBase::Unknown, ..etm() }
}

/// Code at 0x8000, and an instruction and a return in each handler of the low table.
fn with_handlers(words: &[u32]) -> Program {
    let mut program = arm(words);
    for section in arm_at(0, &[MOV, RETURN, MOV, RETURN, MOV, RETURN, MOV, RETURN]).sections() {
        program.insert(section.clone()).expect("no overlap");
    }
    program
}

/// BE with this address at 0x8000, then one instruction.
fn branch(parameters: &Parameters, address: &str) -> String {
    let bytes: alloc::vec::Vec<&str> = address.split(' ').collect();
    let [first, second, rest @ ..] = bytes.as_slice() else { panic!("two bytes at least") };
    let rest: String = rest.iter().skip(1).map(|byte| format!("; WT {byte}")).collect();
    let third = bytes.get(2).unwrap_or(&"--");
    let text = format!("BE* {first}; A0 {second}; A0 {third}{rest}; IE --");
    enabled(parameters, &with_handlers(&[MOV, MOV]), &text)
}

#[test]
fn d_01_irq() {
    let program = with_handlers(&[MOV, MOV]);
    let text = "BE* 80; A0 80; A0 82; IE 80; BE 10; A0* 98; A0 80; IE 00; BE* 84; A0 80; A0 02; IE --";
    assert_eq!(
        summary(&etm(), &program, text),
        "sync0:enabled:Arm:8000 E3:8000 N4:8004 Irq4:18@8004 branch4:Arm:18 E7:18 E8:1c branch8:Arm:8004 E11:8004"
    );
}

#[test]
fn d_02_vectors_of_the_other_table_are_branches() {
    let to_high = "98 80 FC FF 0F";
    let no_code = "no-code@2:20.0[ffff0018] E10:ffff0018";
    assert_eq!(
        branch(&high(), to_high),
        format!("N5:8000 Irq5:ffff0018@8000 branch5:Arm:ffff0018 {no_code}")
    );
    assert_eq!(branch(&etm(), to_high), format!("E5:8000 branch5:Arm:ffff0018 {no_code}"));
    assert_eq!(branch(&high(), "98 80 00"), "E5:8000 branch5:Arm:18 E8:18");
    assert_eq!(
        branch(&unknown(), to_high),
        format!("E5:8000 maybe5:ffff0018 branch5:Arm:ffff0018 {no_code}")
    );
    assert_eq!(branch(&unknown(), "98 80 00"), "E5:8000 maybe5:18 branch5:Arm:18 E8:18");
    assert_eq!(branch(&unknown(), "94 80 00"), "E5:8000 branch5:Arm:14 E8:14");
}

#[test]
fn d_03_data_of_an_aborted_access_are_ignored() {
    let text = "BD 80; A0 E0; A0 80; WT 80; WT 00; WT 99; WT 00; WT 00; WT 00; WT* 90; WT 80; WT 00; IE --";
    let program = with_handlers(&[STR, LDR]);
    assert_eq!(
        enabled(&etm(), &program, text),
        "N5:8000 #0..0:ignored DataAbort5:10@8000 branch5:Arm:10 E17:10"
    );
    // The base of the next data address is 0x3000 nevertheless: the handler loads from 0x3004.
    let loads = {
        let mut program = arm(&[STR]);
        for section in arm_at(0x10, &[LDR]).sections() {
            program.insert(section.clone()).expect("no overlap");
        }
        program
    };
    let text = text.replace("IE --", "ID 04; WT 07; WT 00; WT 00; WT 00");
    assert_eq!(
        enabled(&etm(), &loads, &text),
        "N5:8000 #0..0:ignored DataAbort5:10@8000 branch5:Arm:10 E17:10 #1@17[0x3004]=7"
    );
    // Whatever claims nothing reports them, after the instruction.
    let text = "BD 80; A0 E0; A0 80; WT 80; WT 00; WT 99; WT 00; WT 00; WT 00; WT* 90; WT 80; WT 00; IE --";
    assert_eq!(
        enabled(&unknown(), &program, text),
        "E5:8000 #0@5[0x3000]=99 maybe5:10 branch5:Arm:10 E17:10"
    );
    // Not traced.
    assert_eq!(branch(&etm(), "90 80 00"), "N5:8000 DataAbort5:10@8000 branch5:Arm:10 E8:10");
}

#[test]
fn d_03_cut_off_and_unassigned_data_of_an_abort() {
    // The data end after the address and one byte.
    let text = "BD 80; A0 E0; A0 80; WT 80; WT 00; WT 99; WT* 90; WT 80; WT 00; IE --";
    assert_eq!(
        enabled(&etm(), &with_handlers(&[STR, MOV]), text),
        "contradiction@3:23.0 N5:8000 open5 DataAbort5:10@8000 branch5:Arm:10 E14:10"
    );
    // By the code nothing is transferred.
    assert_eq!(
        enabled(&etm(), &with_handlers(&[MOV, MOV]), text),
        "N5:8000 contradiction@1:10.0[8000] open5 DataAbort5:10@8000 branch5:Arm:10 E14:10"
    );
    // The capture ends first: whether it is an exception is unknown.
    assert_eq!(
        enabled(
            &etm(),
            &with_handlers(&[STR, MOV]),
            "BD 80; A0 E0; A0 80; WT 80; WT 00; WT 99; WT 00; WT 00; WT 00"
        ),
        "E5:8000 #0@5[0x3000]=99 open5"
    );
}

#[test]
fn d_04_and_d_05_the_other_vectors() {
    for (bytes, kind, offset) in [
        ("80 80 00", "Reset", 0),
        ("84 80 00", "Undefined", 4),
        ("8c 80 00", "PrefetchAbort", 0xc),
        ("9c 80 00", "Fiq", 0x1c),
    ] {
        let expected = format!("N5:8000 {kind}5:{offset:x}@8000 branch5:Arm:{offset:x} E8:{offset:x}");
        assert_eq!(branch(&etm(), bytes), expected);
    }
    // Reserved.
    assert_eq!(branch(&etm(), "94 80 00"), "E5:8000 branch5:Arm:14 E8:14");
    let program = with_handlers(&[MOV, SWI]);
    assert_eq!(
        enabled(&etm(), &program, "IE --; BE* 88; A0 80; A0 00; IE --; BE* 88; A0 80; A0 02"),
        "E5:8000 E6:8004 Svc6:8@8004 branch6:Arm:8 E9:8 E10:c branch10:Arm:8008"
    );
}

#[test]
fn d_06_a_restart_at_a_vector_is_no_exception() {
    let program = with_handlers(&[]);
    for (reason, name) in [("10", "enabled"), ("20", "overflow"), ("30", "debug")] {
        let text = format!("BE* 98; A0 80; A0 80; WT 80; WT {reason}; IE --");
        assert_eq!(summary(&etm(), &program, &text), format!("sync0:{name}:Arm:18 E5:18"));
    }
    // A periodic full address is a branch.
    let text = "BE* 98; A0 80; A0 80; WT 80; WT 40; IE --";
    assert_eq!(
        enabled(&etm(), &with_handlers(&[MOV]), text),
        "N5:8000 Irq5:18@8000 sync5:periodic:Arm:18 E10:18"
    );
}

#[test]
fn d_07_only_arm_state_has_vectors() {
    let program = with_handlers(&[]);
    let start = "BE* a5; A0 82; A0 82; WT 80; WT 10";
    assert_eq!(
        summary(&etm(), &program, &format!("{start}; BE* 98; A0 80; A0 00; IE --")),
        "sync0:enabled:Thumb:8124 no-code@1:10.0[8124] N5:t8124 Irq5:18@8124 branch5:Arm:18 E8:18"
    );
    let thumb = summary(&etm(), &program, &format!("{start}; BE* 99; A0 80; A0 00; IE --"));
    assert!(!thumb.contains("Irq") && thumb.contains("E5:t8124 branch5:Thumb:18"), "{thumb}");
}

#[test]
fn an_abandoned_branch_to_a_vector_is_an_exception() {
    // To 0x18, abandoned by one to 0x1c.
    let text = "BE* 98; BE 80; A0 00; A0* 9c; WT 80; WT 00; IE --";
    let reported = enabled(&etm(), &with_handlers(&[MOV, MOV]), text);
    assert_eq!(reported, "N5:8000 Irq5:18@8000 N6:? Fiq6:1c branch6:Arm:1c E11:1c");
}

#[test]
fn an_address_that_is_not_located_says_nothing() {
    let program = with_handlers(&[MOV, BX]);
    let text = "BE* 98; A3 80; A3 00; IE --";
    let reported = enabled(&etm(), &program, text);
    assert!(!reported.contains("Irq") && !reported.contains("maybe"), "{reported}");
    // Not all bits are known: a capture that begins at a short address.
    let log = decode(&etm(), &program, &wire(&etm(), "BE* 98; A0 80; A0 00; IE --"));
    assert_eq!(format_log(&log), "E0:? E3:?");
}
