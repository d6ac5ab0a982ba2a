//! When tracing starts and stops (3.3.2, 4.7, 4.8, 4.9, 4.17, 5.3.8), and triggers.

use super::scene::{AS, LOOP, NOP, Scene};

const IA: &str = "08 00 80 00 00 21";

fn scene() -> Scene {
    Scene::new()
        .arm(0x8000, &[NOP, 0xeaff_ffff, NOP, LOOP])
        .arm(0x9000, &[NOP, LOOP])
        .arm(0xa000, &[0xe12f_ff20, 0xe320_f003, 0xe320_f002, LOOP])
}

/// Spec: PFT-ENC-001, 002, 009.
#[test]
fn nothing_before_enable_and_after_disable() {
    assert_eq!(scene().wire("idle trigger stamp sync flush off"), "");
    assert_eq!(scene().wire("on:8000 off trigger sync flush"), format!("{AS} {IA}"));
    assert_eq!(
        scene().wire("on:8000 8000 8004 off on:9000 9000 9004 off"),
        format!("{AS} {IA} 84 {AS} 08 00 90 00 00 21 84")
    );
    assert_eq!(scene().wire("on:8000 8000 8004"), format!("{AS} {IA}"), "held atoms stay at the end");
}

/// Spec: PFT-ENC-003, 009.
#[test]
fn trace_enable_starts_at_the_latest_target() {
    assert_eq!(scene().wire("te0 on:8000 8000 8004 off"), AS);
    assert_eq!(scene().after_sync("te0 on:8000 8000 8004 8008 te1 800c off"), "08 08 80 00 00 21 84");
    assert_eq!(
        scene().after_sync("on:8000 8000 8004 te0 8008 800c te1 te1 800c off"),
        format!("{IA} 84 08 0c 80 00 00 21 84")
    );
}

/// Spec: PFT-ENC-019, 020.
#[test]
fn debug_state_ends_with_an_i_sync_if_trace_is_on() {
    let entry = "81 80 80 80 48 02";
    assert_eq!(
        scene().after_sync("on:8000 8000 8004 debug run:9000 9000 9004 off"),
        format!("{IA} 84 {entry} 08 00 90 00 00 61 84")
    );
    assert_eq!(
        scene().after_sync("on:8000 debug te0 run:9000 te1 off"),
        format!("{IA} {entry} 08 00 90 00 00 21")
    );
    // From T32 it is the same packet: the state in it is not valid.
    let thumb = Scene::new().thumb(0x8000, &[0xbf00, 0xbf00]);
    assert_eq!(
        thumb.after_sync("on:8000tn 8000 debug"),
        format!("08 01 80 00 00 29 72 01 {}", "81 80 80 80 48 03")
    );
}

/// Spec: PFT-ENC-009, 047, 048.
#[test]
fn prohibited_regions() {
    assert_eq!(
        scene().after_sync("on:8000 8000 8004 forbid x14@8008>9000 go:9000 9000 9004 off"),
        format!("{IA} 84 08 00 90 00 00 21 84")
    );
    assert_eq!(scene().after_sync("on:8000 forbid trigger"), format!("{IA} 0c"));
    // Debug state in a prohibited region is not traced.
    assert_eq!(
        scene().after_sync("on:8000 forbid debug run:9000 go:9000"),
        format!("{IA} 08 00 90 00 00 21")
    );
}

/// Spec: PFT-ENC-047, 048, 065; 9.1 row 35.
#[test]
fn jazelle_state_is_entered_and_left() {
    let text = "cid:0 on:a000 a000>12345679j sync stamp trigger dejazelle:8000 8000 8004 off";
    let expected = "08 00 a0 00 00 21 f3 d9 a2 a3 22 0c 00 00 00 00 00 80 08 00 80 00 00 21 84";
    assert_eq!(scene().after_sync(text), expected);
    // An exception leaves it.
    let stimuli = scene().stimuli("on:a000 a000>1234j").expect("executes");
    let mut interrupted = stimuli;
    interrupted.push(traceproof_vectors::arm_pft::Stimulus {
        cycles: 0,
        timestamp: 0,
        signal: traceproof_vectors::arm_pft::Signal::Exception(traceproof_vectors::arm_pft::Exception {
            number: 14,
            last: None,
            handler: super::scene::state("18"),
        }),
    });
    let log = super::scene::encode(&scene().parameters, &scene().policy, &interrupted);
    assert!(super::hex(&log.wire).ends_with("08 18 00 00 00 21"));
}

/// D-13. Spec: PFT-ENC-002.
#[test]
fn an_overflow_ends_with_an_i_sync() {
    assert_eq!(
        scene().after_sync("on:8000 8000 8004 trigger full 8008 800c x14@800c>9000 free 9000 9004 off"),
        format!("{IA} 84 0c 08 00 90 00 00 41 84")
    );
    // The trigger goes on; the state of tracing, too.
    assert_eq!(
        scene().after_sync("on:8000 full trigger*2 free off"),
        format!("{IA} 08 00 80 00 00 41 0c 0c")
    );
    assert_eq!(scene().after_sync("on:8000 full debug run:9000 free off"), format!("{IA} 08 00 90 00 00 41"));
    assert_eq!(scene().after_sync("te0 on:8000 full free te1 off"), IA, "nothing was lost");
    assert_eq!(scene().after_sync("te0 on:8000 full te1 free off"), "08 00 80 00 00 41");
    assert_eq!(scene().wire("full on:8000 8000 8004 free off"), format!("{AS} 08 08 80 00 00 41"));
}

/// Spec: PFT-ENC-049.
#[test]
fn waits_are_no_waypoints() {
    let text = "on:a000 a000! a004 a008 a00c off";
    assert_eq!(scene().after_sync(text), "08 00 a0 00 00 21 86 84");
    let held = scene().choosing(|policy| policy.flush_at_wait = false);
    assert_eq!(held.after_sync(text), "08 00 a0 00 00 21 8c");
}

#[test]
fn a_trigger_stands_where_it_occurred() {
    let text = "on:9000 9000 9004 trigger 9004 off";
    assert_eq!(scene().after_sync(text), "08 00 90 00 00 21 84 0c 84");
    let held = scene().choosing(|policy| policy.flush_before_trigger = false);
    assert_eq!(held.after_sync(text), "08 00 90 00 00 21 0c 88");
    assert_eq!(scene().wire("te0 on:9000 trigger"), format!("{AS} 0c"));
}
