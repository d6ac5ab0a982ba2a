//! Context ID and VMID: D-14.

use super::scene::{AS, LOOP, NOP, Scene};

fn scene() -> Scene {
    Scene::new().arm(0x8000, &[NOP, 0xeaff_ffff, NOP, LOOP]).with(|parameters| {
        parameters.context_id_bytes = 2;
        parameters.virtualization = true;
        parameters.vmid = true;
    })
}

fn quiet() -> Scene {
    scene().choosing(|policy| policy.vmid_after_sync = false)
}

/// D-14. Spec: PFT-ENC-037, 063.
#[test]
fn registers_follow_the_next_waypoint() {
    let text = "cid:1234 on:8000 8000 cid:5678 vmid:9 8004 8008 800c off";
    assert_eq!(quiet().after_sync(text), "08 00 80 00 00 21 34 12 84 6e 78 56 3c 09 84");
    assert_eq!(quiet().after_sync("on:8000 8000 8004 off"), "08 00 80 00 00 21 00 00 84");
    let unchanged = "cid:1234 on:8000 8000 cid:5678 cid:1234 8004 off";
    assert_eq!(quiet().after_sync(unchanged), "08 00 80 00 00 21 34 12 84");
}

/// The Context ID is cut to the bytes that are traced; without any there is no packet. Spec: PFT-CFG-001.
#[test]
fn as_many_bytes_as_are_traced() {
    for (bytes, expected) in [
        (0, "21 84"),
        (1, "21 78 84 6e 21"),
        (2, "21 78 56 84 6e 21 43"),
        (4, "21 78 56 34 12 84 6e 21 43 65 87"),
    ] {
        let scene = quiet().with(|parameters| parameters.context_id_bytes = bytes);
        let wire = scene.after_sync("cid:12345678 on:8000 8000 cid:87654321 8004 off");
        assert_eq!(wire, format!("08 00 80 00 00 {expected}"));
    }
}

/// With the security state, after the branch or the exception. Spec: PFT-ENC-038.
#[test]
fn registers_follow_exceptions_and_returns() {
    let scene = quiet().arm(0x18, &[0xe25e_f004]);
    let text = "on:8000n cid:1 x14@8000>18 cid:2 18>8000n 8000 8004 off";
    let expected = "08 00 80 00 00 29 00 00 8d 80 40 1c 6e 01 00 81 80 41 01 76 6e 02 00 84";
    assert_eq!(scene.after_sync(text), expected);
    // Not on entry to Debug state; the I-sync after it has the new one.
    let text = "on:8000 cid:7 debug run:8000 8000 8004 off";
    let expected = "08 00 80 00 00 21 00 00 81 80 80 80 48 02 08 00 80 00 00 61 07 00 84";
    assert_eq!(scene.after_sync(text), expected);
}

/// A periodic I-sync has the Context ID that the trace has said. Spec: PFT-ENC-044.
#[test]
fn a_written_context_id_waits_for_its_packet() {
    let text = "on:8000 cid:5 sync 8000 8004 off";
    let expected = format!("08 00 80 00 00 21 00 00 {AS} 08 00 80 00 00 01 00 00 84 6e 05 00");
    assert_eq!(quiet().after_sync(text), expected);
}

/// Spec: PFT-ENC-062.
#[test]
fn the_vmid_follows_each_i_sync() {
    let text = "vmid:7 on:8000 8000 vmid:9 sync 8004 off";
    let expected = format!("08 00 80 00 00 21 00 00 3c 07 {AS} 08 00 80 00 00 01 00 00 3c 07 84 3c 09");
    assert_eq!(scene().after_sync(text), expected);
    let late = "vmid:7 on:8000 8000 8004 8008 800c off";
    assert_eq!(quiet().after_sync(late), "08 00 80 00 00 21 00 00 84 3c 07 84");
    let untraced = quiet().with(|parameters| parameters.vmid = false);
    assert_eq!(untraced.after_sync(late), "08 00 80 00 00 21 00 00 88");
}
