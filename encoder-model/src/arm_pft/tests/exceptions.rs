//! Exceptions: D-01 and what the general rules say of others.

use super::scene::{LOOP, NOP, Scene};

const IA: &str = "08 00 80 00 00 21";
const IAN: &str = "08 00 80 00 00 29";

/// The vectors of D-01; `call` is the instruction at 8004.
fn vectors(call: u32) -> Scene {
    Scene::new()
        .arm(0, &[LOOP, 0xe1b0_f00e, 0xe1b0_f00e, 0xe25e_f004])
        .arm(0x10, &[0xe25e_f008, 0xe160_006e, 0xe25e_f004, 0xe25e_f004])
        .arm(0x8000, &[NOP, call, NOP, LOOP])
        .arm(0x2_0008, &[0xe1b0_f00e])
        .with(|parameters| parameters.virtualization = true)
}

fn check(call: u32, text: &str, sync: &str, expected: &str) {
    assert_eq!(vectors(call).after_sync(text), format!("{sync} {expected}"), "{text}");
}

/// D-01. Spec: PFT-ENC-010 to 018, 038, 040, 064, 066.
#[test]
fn every_exception() {
    check(
        0xef00_0000,
        "on:8000 8000 8004 x10@8008>8 8>8008 8008 800c off",
        IA,
        "72 03 85 80 40 14 85 80 01 76 84",
    );
    check(
        0xe160_0070,
        "on:8000n 8000 8004 x2@8008n>20008 20008>8008n 8008 800c off",
        IAN,
        "72 03 85 80 44 04 85 80 41 01 76 84",
    );
    check(
        0xe7f0_00f0,
        "on:8000 8000 8004 x9@8008>4 4>8008 8008 800c off",
        IA,
        "72 03 83 80 40 12 85 80 01 76 84",
    );
    check(NOP, "on:8000 8000 x11@8004>c c>8004 8004 8008 800c off", IA, "72 01 87 80 40 16 83 80 01 76 84");
    check(NOP, "on:8000 x12@8000>10 10>8000 8000 8004 8008 800c off", IA, "89 80 40 18 81 80 01 76 84");
    check(NOP, "on:8000 8000 x12@8004>10 10>8004 8004 8008 800c off", IA, "72 01 89 80 40 18 83 80 01 76 84");
    check(NOP, "on:8000 8000 8004 x4@8008>10", IA, "72 03 89 80 40 08");
    check(
        NOP,
        "on:8000 x14@8000>18 x15@18>1c 1c>18 18>8000 8000 8004 8008 800c off",
        IA,
        "8d 80 40 1c 8f 40 1e 0d 76 81 80 01 76 84",
    );
    check(NOP, "on:8000 8000 x8@0>0 0 off", IA, "81 80 40 10 84");
    check(
        NOP,
        "on:8000 8000 8004 debug run:8008 8008 800c off",
        IA,
        "72 03 81 80 80 80 48 02 08 08 80 00 00 61 84",
    );
    check(
        0xe140_0070,
        "on:8000n 8000 8004 x3@8008n>14nh 14>8008n 8008 800c off",
        IAN,
        "72 03 8b 80 40 87 20 85 80 41 81 00 76 84",
    );
    check(NOP, "on:8000 x13@8000>10", IA, "89 80 40 1a");
    check(NOP, "on:8000 x16@8000>10", IA, "89 80 40 80 01");
    check(NOP, "on:8000 x511@8000>10", IA, "89 80 40 9e 1f");
}

/// D-01: an abort after one instruction of a handler.
#[test]
fn an_exception_in_a_handler() {
    let scene =
        Scene::new().arm(0x10, &[0xe25e_f004]).arm(0x18, &[NOP, NOP, 0xe25e_f004]).arm(0x8000, &[NOP, LOOP]);
    let text = "on:8000 8000 x14@8004>18 18 x12@1c>10 10>1c 1c 20>8004 8004 off";
    assert_eq!(scene.after_sync(text), format!("{IA} 72 01 8d 80 40 1c 72 0d 89 40 18 0f 76 83 80 01 76 84"));
}

/// D-01: the ThumbEE check.
#[test]
fn a_thumb_ee_check() {
    let scene = Scene::new().thumb(0x3000, &[0xbf00, 0xc302, 0xbf00, 0xe7fe]).thumb(0x2ff8, &[0x4770]);
    let text = "on:3000x 3000 x5@3002>2ff8x 2ff8>3004x 3004 3006 off";
    assert_eq!(scene.after_sync(text), "08 01 30 00 00 25 72 01 f9 5f 4a 85 60 40 84");
}

/// Spec: PFT-ENC-016.
#[test]
fn a_skipped_call_is_an_instruction_like_others() {
    let scene = Scene::new().arm(0x8000, &[0x0f00_0000, LOOP]);
    assert_eq!(scene.after_sync("on:8000 8000! 8004 off"), format!("{IA} 84"));
}

/// Held atoms come first, and need no packet of their own. Spec: PFT-ENC-008, 011.
#[test]
fn an_exception_after_a_waypoint_has_no_update() {
    let scene = Scene::new().arm(0x8000, &[LOOP]);
    assert_eq!(scene.after_sync("on:8000 8000 8000 x14@8000>18"), format!("{IA} 88 8d 80 40 1c"));
}

/// Spec: PFT-ENC-041.
#[test]
fn exception_returns_are_packets_from_version_1_on() {
    let old = vectors(NOP).with(|parameters| *parameters = traceproof_vectors::arm_pft::Parameters::v1_0());
    let text = "on:8000 x14@8000>18 18>8000 8000 8004 8008 800c off";
    assert_eq!(old.after_sync(text), format!("{IA} 8d 80 40 1c 81 80 01 84"));
    let micro = old.with(|parameters| parameters.m_profile = true);
    let stimuli = micro.stimuli("on:8000 x14@8000>18 18>8000 off").expect("executes");
    let log = super::scene::encode(&micro.parameters, &micro.policy, &stimuli);
    assert!(log.wire.ends_with(&[0x81, 0x80, 0x01, 0x76]), "on the M profile in PFTv1.0, too");
}

/// After an update the next address is right relative to the update and to what stands before it. Spec:
/// PFT-ENC-026.
#[test]
fn addresses_after_an_update_are_right_either_way() {
    let words = [NOP; 80];
    let scene = Scene::new().arm(0x8000, &words);
    let path: Vec<_> = (0..64).map(|index| format!("{:x}", 0x8000 + 4 * index)).collect();
    // 8104 is one byte from 8100, but two from 8000: the update at 8100 does not shorten it.
    let text = format!("on:8000 {} 8100 x14@8104>8104", path.join(" "));
    assert_eq!(scene.after_sync(&text), format!("{IA} 72 81 01 83 41 1c"));
    // And 8004 is one byte from 8000, but two from 8100.
    let text = format!("on:8000 {} 8100 x14@8104>8004", path.join(" "));
    assert_eq!(scene.after_sync(&text), format!("{IA} 72 81 01 83 40 1c"));
}
