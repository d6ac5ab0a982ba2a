//! Timestamps (2.4, 4.5.9, 4.14).

use super::scene::{LOOP, NOP, Scene};

const IA: &str = "08 00 80 00 00 21";

fn scene() -> Scene {
    Scene::new()
        .arm(0x18, &[0xe25e_f004])
        .arm(0x8000, &[NOP, 0xf57f_f06f, 0xf57f_f05f, LOOP])
        .with(|parameters| parameters.timestamps = true)
}

/// Gray code of 48 bits.
fn gray() -> Scene {
    scene().with(|parameters| {
        parameters.timestamp_bits = 48;
        parameters.timestamp_binary = false;
    })
}

/// A timestamp is the time of its packet, and not that of the last traced waypoint.
fn v1_0() -> Scene {
    gray().with(|parameters| parameters.minor = 0)
}

/// 9.1 rows 55, 56, 58 to 60. Spec: PFT-ENC-052 to 054.
#[test]
fn the_first_is_full_and_others_are_short() {
    assert_eq!(
        v1_0().after_sync("on:8000 =1000 stamp =1001 stamp stamp"),
        format!("{IA} 42 9c 84 80 80 80 80 00 42 1d 42 1d")
    );
    let text = "=562537008076 on:800c stamp =562537008328 800c +9 stamp clock =562537008329 800c stamp =562537008400 stamp";
    let expected = "08 0c 80 00 00 21 42 cc 97 c6 ce af 90 80 80 00 84 42 c8 19 84 46 49 42 49";
    assert_eq!(scene().after_sync(text), expected);
    let full = v1_0().choosing(|policy| policy.minimal_timestamps = false);
    assert_eq!(
        full.after_sync("on:8000 =1000 stamp stamp"),
        format!("{IA} 42 9c 84 80 80 80 80 00 42 9c 84 80 80 80 80 00")
    );
    // D-16, the middle: 2^49-1 to 2^49.
    assert_eq!(
        scene().after_sync("=562949953421311 on:800c stamp =562949953421312 800c stamp"),
        "08 0c 80 00 00 21 42 ff ff ff ff ff ff ff 80 00 84 42 80 80 80 80 80 80 80 01"
    );
}

/// Every start of the PTM begins with a full one. Spec: PFT-ENC-052.
#[test]
fn a_new_trace_begins_with_a_full_timestamp() {
    let wire = v1_0().wire("on:8000 =1 stamp off on:8000 =2 stamp");
    assert!(wire.ends_with("42 83 80 80 80 80 80 00"), "{wire}");
}

#[test]
fn nothing_without_timestamps() {
    let off = scene().with(|parameters| parameters.timestamps = false);
    assert_eq!(off.after_sync("on:8000 stamp flush off"), IA);
    assert_eq!(scene().after_sync("on:8000 te0 stamp off"), IA, "nor while nothing is traced");
}

/// Spec: 2.4, 4.14, 4.15.1.
#[test]
fn what_asks_for_a_timestamp() {
    let asking = gray().choosing(|policy| policy.timestamp_waypoints = true);
    let full = "42 80 80 80 80 80 80 00";
    assert_eq!(asking.after_sync("on:8000 8000 8004 8008 800c off"), format!("{IA} 84 {full} 84"));
    assert_eq!(asking.after_sync("on:8000 8000 8004! 8008 800c off"), format!("{IA} 8c"));
    assert_eq!(
        asking.after_sync("on:8000 x14@8000>18 18>8000 off"),
        format!("{IA} 8d 80 40 1c {full} 81 80 01 76 42 00")
    );
    assert_eq!(gray().after_sync("on:8000 x14@8000>18 18>8000 off"), format!("{IA} 8d 80 40 1c 81 80 01 76"));
    let barriers = gray().with(|parameters| parameters.barrier_timestamps = true);
    let text = "on:8000 8000 8004 8008 800c off";
    assert_eq!(barriers.after_sync(text), format!("{IA} 84 {full} 84"));
    let waypoints = barriers.with(|parameters| parameters.barrier_waypoints = true);
    assert_eq!(waypoints.after_sync(text), format!("{IA} 88 {full} 84"));
    assert_eq!(gray().after_sync("on:8000 8000 8004 flush off"), format!("{IA} 84 {full}"));
}
