//! The return stack: D-02 to D-06.

use super::scene::{AS, LOOP, NOP, Scene};

const IA: &str = "08 00 80 00 00 21";

fn stacked(depth: u8) -> Scene {
    Scene::new()
        .with(|parameters| parameters.return_stack = true)
        .choosing(|policy| policy.return_stack_depth = depth)
}

/// D-02. Spec: PFT-ENC-029 to 032.
#[test]
fn a_short_stack_drops_its_oldest_entry() {
    let run = |depth| {
        stacked(depth)
            .arm(
                0x8000,
                &[0xeb00_0002, LOOP, NOP, NOP, 0xe1a0_400e, 0xeb00_0001, 0xe12f_ff14, NOP, 0xe12f_ff1e],
            )
            .after_sync("on:8000 8000 8010 8014 8020>8018 8018>8004 8004 off")
    };
    assert_eq!(run(1), format!("{IA} 90 03 84"));
    for depth in [2, 3, 16] {
        assert_eq!(run(depth), format!("{IA} c0"));
    }
    assert_eq!(run(0), format!("{IA} 88 0d 03 84"));
}

/// D-03: 17 pushes, packed as tightly as atoms can be. Spec: PFT-ENC-032, 036.
#[test]
fn sixteen_of_seventeen_return() {
    let scene = stacked(16).arm(0x8000, &[0xeb00_0002, LOOP]).arm(0x8010, &[0x1bff_fffe, 0xe12f_ff1e]);
    let text = "on:8000 8000 8010*16 8010! 8014>8014*16 8014>8004 8004 off";
    assert_eq!(scene.after_sync(text), format!("{IA} c0 c0 c0 c8 c0 c0 a0 03 84"));
}

/// D-04. Spec: PFT-ENC-030, 060.
#[test]
fn a_matching_top_is_an_atom_if_there_is_a_stack() {
    let scene = |depth| stacked(depth).arm(0x8000, &[0xe12f_ff33, LOOP]).arm(0x8010, &[0xe12f_ff1e]);
    let text = "on:8000 8000>8010 8010>8004 8004 off";
    assert_eq!(scene(0).after_sync(text), format!("{IA} 09 03 84"));
    assert_eq!(scene(1).after_sync(text), format!("{IA} 09 88"));
    let off = scene(1).with(|parameters| parameters.return_stack = false);
    assert_eq!(off.after_sync(text), format!("{IA} 09 03 84"));
}

/// Another target leaves the stack alone. Spec: PFT-ENC-031.
#[test]
fn another_target_leaves_the_stack_alone() {
    let scene = stacked(4).arm(0x8000, &[0xeb00_0002, LOOP]).arm(0x8010, &[0xe12f_ff14, 0xe12f_ff1e]);
    let text = "on:8000 8000 8010>8014 8014>8004 8004 off";
    assert_eq!(scene.after_sync(text), format!("{IA} 84 0b 88"));
}

/// D-06: a periodic I-sync empties the stack, so that nothing is lost to those who join there. Spec:
/// PFT-ENC-034, 061.
#[test]
fn synchronisation_empties_the_stack() {
    let scene = stacked(4).arm(0x8000, &[0xeb00_03ff, LOOP]).arm(0x9004, &[0xe12f_ff1e]);
    let text = "on:8000 8000 sync 9004>8004 8004 off";
    assert_eq!(scene.after_sync(text), format!("{IA} 84 {AS} 08 04 90 00 00 01 83 00 84"));
    let text = "on:8000 8000 te0 te1 9004>8004 8004 off";
    assert_eq!(scene.after_sync(text), format!("{IA} 84 08 04 90 00 00 21 83 00 84"));
}

/// BLX (register) with the top as target: popped before the push. Spec: PFT-ENC-035.
#[test]
fn a_branch_with_link_compares_before_it_pushes() {
    let scene = stacked(2).arm(0x8000, &[0xeb00_0002, 0xe12f_ff1e]).arm(0x8010, &[0xe12f_ff33, LOOP]);
    let text = "on:8000 8000 8010>8004 8004>8014 8014 off";
    assert_eq!(scene.after_sync(text), format!("{IA} a0"));
}

/// Security and instruction set belong to an entry. Spec: PFT-ENC-030, 033.
#[test]
fn returns_to_another_state_are_packets() {
    let scene = stacked(4).arm(0x8000, &[0xeb00_0002, LOOP]).arm(0x8010, &[0xe12f_ff1e]);
    let text = "on:8000 8000 8010>8004n 8004 off";
    assert_eq!(scene.after_sync(text), format!("{IA} 84 83 40 01 84"));
    let text = "on:8000 8000 8010>8004t off";
    assert_eq!(scene.after_sync(text), format!("{IA} 84 85 80 82 80 10"));
    // The call is traced with the written security state; a decoder pushes the one before.
    let text = "on:8000 ns 8000 8010>8004n 8004 off";
    assert_eq!(scene.after_sync(text), format!("{IA} 89 40 01 03 84"));
}

/// An exception leaves the stack alone, and its return is a packet. Spec: PFT-ENC-040.
#[test]
fn exceptions_leave_the_stack_alone() {
    let scene =
        stacked(4).arm(0x18, &[0xe25e_f004]).arm(0x8000, &[0xeb00_0002, LOOP]).arm(0x8010, &[0xe12f_ff1e]);
    let text = "on:8000 8000 x14@8010>18 18>8010 8010>8004 8004 off";
    assert_eq!(scene.after_sync(text), format!("{IA} 84 8d 80 40 1c 89 80 01 76 88"));
    let scene = stacked(4).arm(0x8000, &[0xeb00_0002, LOOP]).arm(0x8010, &[0xe1b0_f00e]);
    let text = "on:8000 8000 8010>8004 8004 off";
    assert_eq!(scene.after_sync(text), format!("{IA} 84 03 76 84"));
}
