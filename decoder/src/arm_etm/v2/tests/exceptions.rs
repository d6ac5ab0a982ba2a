//! Exceptions: the worked examples D-08 to D-10, and which instruction is taken back.

use alloc::string::String;

use traceproof_vectors::arm_etm::{Parameters, VectorBase};

use super::{ENABLED, summary};

fn low() -> Parameters {
    Parameters { minor: 1, ..Parameters::default() }
}

fn with(hivecs: VectorBase) -> Parameters {
    Parameters { hivecs, ..low() }
}

/// [`summary`] after cycles 0 to 5, in which tracing is enabled at 0x8000.
fn after(parameters: &Parameters, script: &str) -> String {
    let reported = summary(parameters, &alloc::format!("TFO {ENABLED}; drain; {script}"));
    reported.strip_prefix("sync0:enabled:Arm:8000").expect("the TFO").trim_start().into()
}

#[test]
fn d_08_irq() {
    let events = "E6 E7 Irq7:18!7 branch7:Arm:18";
    assert_eq!(after(&low(), "IE; DE 8d 80 80 80 48; drain"), events);
    // The vector alone takes it back.
    assert_eq!(after(&low(), "IE; DE 8d 80 00; drain"), events);
    // In a cycle without instruction.
    assert_eq!(after(&low(), "IE; IE; DW 8d 80 80 80 48; drain"), "E6 E7 Irq8:18!7 branch8:Arm:18");
    // Instructions that complete before the packet is read are not those it is about.
    assert_eq!(after(&low(), "IE; DE 8d 80 80 80 48; IE; IE; drain"), "E6 E7 E8 E9 Irq7:18!7 branch7:Arm:18");
    // A phantom branch keeps its outcome.
    assert_eq!(after(&low(), "PT_DE 8d 80 00; drain"), "PT6 E6 Irq6:18!6 branch6:Arm:18");
}

#[test]
fn d_09_precise_data_abort() {
    assert_eq!(
        after(&low(), "IE; DE a6 80 e0 80 80 00 99 89 80 00; drain"),
        "E6 E7 #0@7[0x3000]=99 #0..0:ignored DataAbort7:10 branch7:Arm:10"
    );
    // A miss: its data are matched as always.
    assert_eq!(
        after(&low(), "DE f4 80 e0 80 80 00 89 80 00; drain; DW 24 99; drain"),
        "E6 #0@6[0x3000]=miss1 #0..0:ignored DataAbort6:10 branch6:Arm:10 #0<-99@15"
    );
    // Transfers of earlier instructions are not ignored.
    assert_eq!(
        after(&low(), "DE 26 84 80 80 80 00 12; DE 89 80 00; drain"),
        "E6 E7 #0@6[0x4]=12 DataAbort7:10 branch7:Arm:10"
    );
}

#[test]
fn d_10_imprecise_data_abort() {
    assert_eq!(after(&low(), "IE; DW 89 80 80 80 48; drain"), "E6 DataAbort7:10!6 branch7:Arm:10");
    assert_eq!(
        after(&with(VectorBase::High), "IE; DW 8d 80 fe ff 4f; drain"),
        "E6 Irq7:ffff0018!6 branch7:Arm:ffff0018"
    );
}

#[test]
fn the_other_vectors() {
    for (bytes, event) in [
        ("81 80 00", "Reset6:0!6"),
        ("83 80 00", "Undefined6:4!6"),
        ("85 80 00", "Svc6:8"),
        ("85 80 80 80 48", "Svc6:8!6"),
        ("87 80 00", "PrefetchAbort6:c!6"),
        ("89 80 00", "DataAbort6:10"),
        ("8f 80 00", "Fiq6:1c!6"),
    ] {
        let offset = event.split([':', '!']).nth(1).unwrap_or_default();
        let expected = alloc::format!("E6 {event} branch6:Arm:{offset}");
        assert_eq!(after(&low(), &alloc::format!("DE {bytes}; drain")), expected);
    }
    // Reserved.
    assert_eq!(after(&low(), "DE 8b 80 00; drain"), "E6 branch6:Arm:14");
    // Thumb state: 0x18.
    assert_eq!(after(&low(), "DE 99 80 80 80 10; drain"), "E6 branch6:Thumb:18");
}

#[test]
fn the_exception_bit_elsewhere() {
    // To 0x14, to Thumb state: byte 5 is that of cycle 10.
    for (bytes, target) in [("8b 80 80 80 48", "Arm:14"), ("99 80 80 80 50", "Thumb:18")] {
        let address = target.split(':').nth(1).unwrap_or_default();
        assert_eq!(
            after(&low(), &alloc::format!("DE {bytes}; drain")),
            alloc::format!("E6 suspicious@1:21.0 Unknown6:{address}!6 branch6:{target}")
        );
    }
    // The place of the vectors is unknown.
    let unknown = with(VectorBase::Unknown);
    assert_eq!(after(&unknown, "DE 8d 80 80 80 48; drain"), "E6 Unknown6:18!6 branch6:Arm:18");
    assert_eq!(
        after(&unknown, "DE 8b 80 80 80 48; drain"),
        "E6 suspicious@1:21.0 Unknown6:14!6 branch6:Arm:14"
    );
    assert_eq!(after(&unknown, "DE 8d 80 00; drain"), "E6 maybe6:18 branch6:Arm:18");
    assert_eq!(after(&unknown, "DE 8b 80 00; drain"), "E6 branch6:Arm:14");
}

#[test]
fn a_restart_is_a_border() {
    // At a vector: no exception.
    assert_eq!(summary(&low(), "TFO 20 18 00 00 00; drain; IE"), "sync0:enabled:Arm:18 E6");
    // The instruction before an overflow is not taken back; that of a periodic TFO is.
    assert_eq!(
        after(&low(), "IE; TFO 40 00 80 00 00; DW 8d 80 00; drain"),
        "E6 sync7:overflow:Arm:8000 Irq8:18 branch8:Arm:18"
    );
    assert_eq!(
        after(&low(), "IE; TFO 00 00 80 00 00; DW 8d 80 00; drain"),
        "E6 sync7:periodic:Arm:8000 E7 Irq8:18!7 branch8:Arm:18"
    );
}

#[test]
fn a_reset_frees_the_tags() {
    let miss = "DE 74 80 e0 80 80 00; drain";
    let reported =
        |exception: &str| after(&low(), &alloc::format!("{miss}; {exception}; drain; DE 54; drain"));
    assert!(!reported("DE 81 80 00").contains("suspicious"), "{}", reported("DE 81 80 00"));
    assert!(reported("DE 85 80 00").contains("suspicious"), "{}", reported("DE 85 80 00"));
}
