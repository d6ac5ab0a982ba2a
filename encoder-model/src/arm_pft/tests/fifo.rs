//! A FIFO that fills up (4.8).

use super::scene::{AS, LOOP, Scene};

const IA: &str = "08 00 80 00 00 21";

fn limited(fifo_bytes: u16, port_bytes: u16) -> Scene {
    Scene::new().arm(0x8000, &[LOOP, 0xe12f_ff11]).arm(0x18, &[LOOP]).choosing(|policy| {
        policy.fifo_bytes = fifo_bytes;
        policy.port_bytes = port_bytes;
        policy.atoms_per_packet = 1;
    })
}

#[test]
fn a_fifo_without_limit_loses_nothing() {
    assert_eq!(limited(0, 1).wire("on:8000 8000*9 off"), format!("{AS} {IA} 84 84 84 84 84 84 84 84 84"));
}

/// The first synchronisation needs 12 bytes.
#[test]
fn what_does_not_fit_is_lost_whole() {
    assert_eq!(limited(12, 12).wire("on:8000 8000 off"), format!("{AS} {IA} 84"));
    for size in 1..12 {
        assert_eq!(limited(size, 0).wire("on:8000 8000*3 idle*9 off"), "", "{size}");
    }
}

/// What comes before the FIFO is empty is lost; then an I-sync says where execution is. Spec: PFT-ENC-002.
#[test]
fn tracing_restarts_when_the_fifo_is_empty() {
    // 12 bytes; one leaves in each step; the 13th byte fits after the first.
    let scene = limited(12, 1);
    assert_eq!(
        scene.wire("on:8000 8000 8000*10 idle 8000 off"),
        format!("{AS} {IA} 84 84 84 84 84 84 84 84 84 84 84 84")
    );
    // The exception needs four bytes: it is lost, and what follows until the FIFO is empty.
    let text = "on:8000 x14@8000>18 18 idle*10 18 18 off";
    assert_eq!(scene.wire(text), format!("{AS} {IA} 08 18 00 00 00 41 84 84"));
    let text = "on:8000 x14@8000>18 trigger 18 idle*10 18 off";
    assert_eq!(scene.wire(text), format!("{AS} {IA} 08 18 00 00 00 41 0c 84"));
}

/// An A-sync that was lost comes before the I-sync.
#[test]
fn a_lost_synchronisation_is_made_up_for() {
    let scene = limited(14, 1);
    let text = "on:8000 sync 8000*10 idle*14 8000 off";
    let wire = scene.wire(text);
    assert_eq!(wire, format!("{AS} {IA} {AS} 08 00 80 00 00 41 84"));
}

/// Held atoms stay, and come before the I-sync.
#[test]
fn atoms_of_before_are_kept() {
    let scene = limited(12, 1).choosing(|policy| policy.atoms_per_packet = 5);
    let text = "on:8000 8000*2 x14@8000>18 idle*12 18 off";
    assert_eq!(scene.wire(text), format!("{AS} {IA} 88 08 18 00 00 00 41 84"));
}

/// At the end everything leaves.
#[test]
fn finish_empties_the_fifo() {
    for port in [1, 2, 100, 0] {
        assert_eq!(limited(20, port).wire("on:8000 off"), format!("{AS} {IA}"));
    }
}
