//! Branches and atoms: the streams of chapter 9, D-07, D-08, D-17.

use super::scene::{AS, LOOP, NOP, Scene};

/// The program of 9.2.
pub(super) fn stream_a() -> Scene {
    Scene::new()
        .arm(0x18, &[0xe25e_f004])
        .arm(0x8000, &[0xe3a0_0001, 0xe350_0000, 0x0a00_0002, 0xeb00_0003, NOP, LOOP, NOP, NOP])
        .arm(0x8020, &[0xe280_0001, 0xe12f_ff1e])
}

/// 9.2. Spec: PFT-ENC-001 to 008, 010, 013, 040.
#[test]
fn a_branch_an_exception_and_its_return() {
    let text = "on:8000 8000 8004 8008! 800c 8020 8024>8010 8010 x14@8014>18 18>8014 8014 8014 trigger off";
    let expected = format!("{AS} 08 00 80 00 00 21 8c 09 72 09 8d 80 40 1c 8b 80 01 76 88 0c");
    assert_eq!(stream_a().wire(text), expected);
}

/// 9.3. Spec: PFT-ENC-007, 030, 034, 037, 043, 044, 052.
#[test]
fn thumb_with_return_stack_and_context_id() {
    let scene = Scene::new()
        .thumb(0x1_0000, &[0xb508, 0xf000, 0xf805, 0x2801, 0xd0fb, 0xf3bf, 0x8f6f, 0xbd08, 0x3001, 0x4770])
        .arm(0x2_0000, &[NOP, 0xe1a0_f00e])
        .with(|parameters| {
            parameters.return_stack = true;
            parameters.context_id_bytes = 1;
            parameters.timestamps = true;
        });
    let text = "cid:41 on:10000tn 10000 10002 10010 10012>10006tn 10006 10008 10002 10010 10012>10006tn \
        10006 10008! cid:42 1000a =4886718345 1000e>20000n sync 20000 20004>20000n off";
    let expected = format!(
        "{AS} 08 01 00 01 00 29 41 c0 8c 6e 42 81 80 84 80 08 {AS} 08 00 00 02 00 09 42 \
         42 89 cf 95 9a 92 80 80 80 00 01"
    );
    assert_eq!(scene.wire(text), expected);
}

/// 9.5, D-08. Spec: PFT-ENC-024, 059.
#[test]
fn the_instruction_set_is_that_of_the_last_state() {
    let scene = Scene::new()
        .arm(0x8000, &[NOP, 0xfa00_003d, LOOP])
        .thumb(0x8100, &[0x4708, 0x4770])
        .thumb(0x8110, &[0xe7fe]);
    let far = "08 00 80 00 00 21 84 91 82 82 80 10 84";
    assert_eq!(scene.after_sync("on:8000 8000 8004 8100>8110t 8110 off"), far);
    let back = "08 00 80 00 00 21 84 05 84";
    assert_eq!(scene.after_sync("on:8000 8000 8004 8100>8008 8008 off"), back);
}

/// D-08: BLX (immediate) in an IT block. Spec: PFT-ENC-004.
#[test]
fn a_skipped_branch_changes_nothing() {
    let scene = Scene::new().thumb(0x1_0000, &[0xbf08, 0xf000, 0xe802, 0xe7fe]).arm(0x1_0008, &[NOP, LOOP]);
    assert_eq!(scene.after_sync("on:10000t 10000 10002! 10006 off"), "08 01 00 01 00 21 8c");
    assert_eq!(scene.after_sync("on:10000t 10000 10002 10008 1000c off"), "08 01 00 01 00 21 88");
    let same = Scene::new().thumb(0x1_0000, &[0x4770]);
    let full = same.choosing(|policy| policy.min_address_bytes = 5);
    assert_eq!(full.after_sync("on:10000t 10000>10006t off"), "08 01 00 01 00 21 87 80 84 80 10");
}

/// An indirect branch that is skipped is an atom. Spec: PFT-ENC-005, 006.
#[test]
fn indirect_branches_are_packets() {
    let scene = Scene::new().arm(0x8000, &[0x012f_ff1e, 0xe12f_ff1e]);
    assert_eq!(scene.after_sync("on:8000 8000! 8004>8010 off"), "08 00 80 00 00 21 86 09");
}

/// D-07. Spec: PFT-ENC-021, 022.
#[test]
fn long_blocks_have_a_waypoint_update() {
    let long = |count: usize| {
        let mut words = vec![NOP; count];
        words.push(LOOP);
        let steps: Vec<_> = (0..=count).map(|index| format!("{:x}", 0x8000 + 4 * index)).collect();
        (Scene::new().arm(0x8000, &words), format!("on:8000 {} off", steps.join(" ")))
    };
    let (scene, text) = long(1100);
    assert_eq!(scene.after_sync(&text), "08 00 80 00 00 21 72 97 11 84");
    let off = scene.choosing(|policy| policy.long_block_updates = false);
    assert_eq!(off.after_sync(&text), "08 00 80 00 00 21 84");
    let (scene, text) = long(1024);
    assert_eq!(scene.after_sync(&text), "08 00 80 00 00 21 84", "4096 bytes are not more than 4096");
    let (scene, text) = long(1025);
    assert_eq!(scene.after_sync(&text), "08 00 80 00 00 21 72 81 10 84");
}

/// D-17. Spec: PFT-ENC-042.
#[test]
fn broadcast_branches_are_packets() {
    let scene = Scene::new()
        .arm(0x8000, &[0xea00_0002])
        .arm(0x8010, &[0x0aff_fffa, 0xf57f_f06f, LOOP])
        .with(|parameters| parameters.branch_broadcast = true);
    let text = "on:8000 8000 8010! 8014 8018 off";
    assert_eq!(scene.after_sync(text), "08 00 80 00 00 21 09 8c 0d");
    let with_isb = scene.choosing(|policy| policy.broadcast_isb = true);
    assert_eq!(with_isb.after_sync(text), "08 00 80 00 00 21 09 86 0d 0d");
}

/// D-17: an untraced change of security. Spec: PFT-ENC-039.
#[test]
fn a_written_security_state_travels_with_the_next_branch() {
    let scene = Scene::new().arm(0x8000, &[0xee01_0f11, 0x0aff_fffd, 0xea00_0000, NOP, LOOP]);
    let text = "on:8000 ns 8000 8004! 8008 8010 off";
    assert_eq!(scene.after_sync(text), "08 00 80 00 00 21 86 89 40 01 84");
    // A periodic I-sync does not say it before; one that starts tracing does.
    let text = "on:8000 ns 8000 8004! sync 8008 8010 off";
    let expected = format!("08 00 80 00 00 21 86 {AS} 08 08 80 00 00 01 89 40 01 84");
    assert_eq!(scene.after_sync(text), expected);
    assert_eq!(scene.after_sync("te0 on:8000 ns 8000 te1 8004! 8008 off"), "08 00 80 00 00 29 8c");
    // An exception that goes to Secure state again says nothing of it.
    let text = "on:8000 ns 8000 x2@8004>8010 8010 off";
    assert_eq!(scene.after_sync(text), "08 00 80 00 00 21 72 01 89 40 04 84");
}

/// Spec: PFT-ENC-050, 051, PFT-WPT-010, 011.
#[test]
fn barriers_are_atoms_if_they_are_waypoints() {
    let scene = Scene::new().arm(0x8000, &[0xf57f_f06f, 0xf57f_f05f, 0xf57f_f04f, LOOP]);
    let text = "on:8000 8000! 8004 8008 800c off";
    assert_eq!(scene.after_sync(text), "08 00 80 00 00 21 8c");
    let waypoints = scene.clone().with(|parameters| parameters.barrier_waypoints = true);
    assert_eq!(waypoints.after_sync(text), "08 00 80 00 00 21 b0");
    // An interrupt after a barrier that is none.
    let text = "on:8000 8000 8004 x14@8008>18";
    assert_eq!(scene.after_sync(text), "08 00 80 00 00 21 84 72 03 8d 80 40 1c");
    assert_eq!(waypoints.after_sync(text), "08 00 80 00 00 21 88 8d 80 40 1c");
}

/// Spec: PFT-ENC-023 to 028; 9.1 row 36.
#[test]
fn thumb_ee_is_always_marked() {
    let scene = Scene::new()
        .thumb(0x3000, &[0xf3bf, 0x8f1f, 0x4770])
        .thumb(0x2ff8, &[0x4770])
        .arm(0x8000, &[0xe12f_ff1e]);
    let enter = "on:3000t 3000 3004>2ff8x 2ff8>3000t off";
    // The second address byte is there for the information; the way into T32EE needs five.
    let expected = "08 01 30 00 00 21 84 f9 df 80 80 50 40 81 e0 80 80 50 00";
    assert_eq!(scene.after_sync(enter), expected);
    assert_eq!(scene.after_sync("on:8000 8000>2000x off"), "08 00 80 00 00 21 81 c0 80 80 50 40");
    // A waypoint update of T32EE code after T32 has a sixth byte.
    let update = Scene::new().thumb(0x3000, &[0xf3bf, 0x8f1f, 0xbf00, 0xbf00]);
    let text = "on:3000t 3000 3004 x14@3006>18";
    let expected = "08 01 30 00 00 21 84 72 85 e0 80 80 50 40 8d 80 80 80 48 1c";
    assert_eq!(update.after_sync(text), expected);
}
