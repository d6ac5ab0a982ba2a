//! Free choices that no other test changes, and what is refused.

use super::scene::{LOOP, NOP, Scene, encode};
use crate::arm_pft::Encoder;
use traceproof_vectors::arm_pft::{Parameters, Policy};
use traceproof_vectors::{Encoder as _, Log};

const IA: &str = "08 00 80 00 00 21";

fn scene() -> Scene {
    Scene::new().arm(0x8000, &[0xe12f_ff11, 0x012f_ff11, NOP, LOOP]).arm(0x8100, &[0xe12f_ff11])
}

/// Spec: PFT-ENC-007.
#[test]
fn atoms_of_a_packet() {
    let scene = Scene::new().arm(0x8000, &[LOOP]);
    for (most, expected) in
        [(1, "84 84 84 84 84 84"), (2, "88 88 88"), (3, "90 90"), (4, "a0 88"), (5, "c0 84")]
    {
        let scene = scene.clone().choosing(|policy| policy.atoms_per_packet = most);
        assert_eq!(scene.after_sync("on:8000 8000*6 off"), format!("{IA} {expected}"));
    }
}

/// Spec: PFT-PKT-072.
#[test]
fn longer_addresses_than_needed() {
    let text = "on:8000 8000>8100 8100>8008 8008 x14@800c>8000";
    for (bytes, expected) in [
        (1, "81 01 85 00 72 05 81 40 1c"),
        (2, "81 01 85 00 72 85 00 81 40 1c"),
        (3, "81 81 01 85 80 01 72 85 80 01 81 80 41 1c"),
        (4, "81 81 81 00 85 80 81 00 72 85 80 81 00 81 80 81 40 1c"),
        (5, "81 81 81 80 08 85 80 81 80 08 72 85 80 81 80 08 81 80 81 80 48 1c"),
    ] {
        let scene = scene().choosing(|policy| policy.min_address_bytes = bytes);
        assert_eq!(scene.after_sync(text), format!("{IA} {expected}"), "{bytes}");
    }
}

/// Spec: PFT-PKT-071, PFT-ENC-027.
#[test]
fn more_information_than_needed() {
    let text = "on:8000n 8000>8100n 8100>8008n 8008 800c x14@800c>18 off";
    let always = scene().choosing(|policy| policy.always_exception_information = true);
    assert_eq!(always.after_sync(text), "08 00 80 00 00 29 81 41 01 85 40 01 84 8d 80 40 1c");
    let second = always.choosing(|policy| policy.always_second_exception_byte = true);
    assert_eq!(second.after_sync(text), "08 00 80 00 00 29 81 41 81 00 85 40 81 00 84 8d 80 40 9c 00");
    let short = scene().choosing(|policy| policy.always_exception_information = true);
    assert_eq!(short.after_sync("on:8000 8000>8004 off"), format!("{IA} 03"), "one byte has no room");
}

/// Bytes of the whole trace are counted, also those that the capture misses.
#[test]
fn filling() {
    let run = |pad_to, text: &str| {
        Scene::new().arm(0x8000, &[LOOP]).choosing(|policy| policy.pad_to = pad_to).after_sync(text)
    };
    assert_eq!(run(4, "on:8000 8000 flush 8000 off"), format!("{IA} 84 66 66 66 84 66 66 66"));
    assert_eq!(run(4, "on:8000 off"), IA);
    assert_eq!(run(1, "on:8000 8000 off"), format!("{IA} 84"));
    assert_eq!(run(255, "on:8000 off").split(' ').count(), 249);
}

#[test]
fn a_capture_that_begins_late() {
    for lost in 0..=13 {
        let scene = Scene::new().arm(0x8000, &[LOOP]);
        let whole = scene.log("on:8000 8000 off");
        let late = scene.choosing(|policy| policy.capture_from = lost).log("on:8000 8000 off");
        assert_eq!(late.wire, whole.wire[lost.min(whole.wire.len() as u64) as usize..]);
        assert_eq!(late.packets().count(), whole.packets().count(), "packets are made all the same");
    }
}

#[test]
fn what_no_ptm_can_be_is_refused() {
    let refused =
        |parameters: Parameters, policy: Policy| Encoder::default().begin(&parameters, &policy).is_err();
    assert!(!refused(Parameters::default(), Policy::default()));
    assert!(refused(Parameters { context_id_bytes: 3, ..Parameters::default() }, Policy::default()));
    assert!(refused(Parameters::default(), Policy { atoms_per_packet: 6, ..Policy::default() }));
    let stacked = Parameters { return_stack: true, return_stack_depth: 4, ..Parameters::default() };
    assert!(refused(stacked.clone(), Policy::default()));
    assert!(!refused(stacked, Policy { return_stack_depth: 4, ..Policy::default() }));
    // Without `begin` nothing happens.
    let mut log = Log::default();
    let mut encoder = Encoder::default();
    let stimuli = scene().stimuli("on:8000 off").expect("executes");
    encoder.step(&stimuli[0], &mut log);
    encoder.finish(&mut log);
    assert!(log.wire.is_empty() && log.entries.is_empty());
    assert!(!encode(&Parameters::default(), &Policy::default(), &stimuli).wire.is_empty());
}
