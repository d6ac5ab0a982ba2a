//! Periodic synchronisation (4.11).

use super::scene::{AS, LOOP, NOP, Scene};
use traceproof_vectors::arm_pft::{Packet, Policy, Reason};

const IA: &str = "08 00 80 00 00 21";
const PERIODIC: &str = "08 00 80 00 00 01";

fn scene() -> Scene {
    Scene::new().arm(0x8000, &[LOOP])
}

fn spaced(spacing: u8) -> Scene {
    scene().with(|parameters| parameters.timestamps = true).choosing(|policy| policy.sync_spacing = spacing)
}

/// Spec: PFT-ENC-043, 044, 057.
#[test]
fn a_request_is_answered_at_once() {
    assert_eq!(scene().after_sync("on:8000 8000 sync 8000 off"), format!("{IA} 84 {AS} {PERIODIC} 84"));
    let full = "42 89 80 80 80 80 80 80 80 00";
    assert_eq!(spaced(0).after_sync("=9 on:8000 sync 8000 off"), format!("{IA} {AS} {PERIODIC} {full} 84"));
    // While nothing is traced it waits.
    assert_eq!(spaced(0).after_sync("on:8000 te0 =9 sync sync te1 off"), format!("{IA} {AS} {IA} {full}"));
}

/// Spec: PFT-ENC-008.
#[test]
fn atoms_may_stand_before_the_i_sync() {
    let late = scene().choosing(|policy| policy.flush_before_alignment_sync = false);
    assert_eq!(late.after_sync("on:8000 8000*3 sync off"), format!("{IA} {AS} 90 {PERIODIC}"));
    assert_eq!(scene().after_sync("on:8000 8000*3 sync off"), format!("{IA} 90 {AS} {PERIODIC}"));
}

/// Spec: PFT-ENC-043, 057.
#[test]
fn instruction_packets_between_the_parts() {
    let stamp = "42 80 80 80 80 80 80 80 80 00";
    let one = spaced(1).choosing(|policy| policy.atoms_per_packet = 1);
    assert_eq!(one.after_sync("on:8000 sync 8000*3 off"), format!("{IA} {AS} 84 {PERIODIC} 84 {stamp} 84"));
    let two = spaced(2).choosing(|policy| policy.atoms_per_packet = 1);
    assert_eq!(
        two.after_sync("on:8000 sync 8000*4 off"),
        format!("{IA} {AS} 84 84 {PERIODIC} 84 84 {stamp}")
    );
    // There are not as many, or the next request comes first.
    assert_eq!(two.after_sync("on:8000 sync 8000 off"), format!("{IA} {AS} 84 {PERIODIC} {stamp}"));
    assert_eq!(
        two.after_sync("on:8000 sync 8000 sync te0"),
        format!("{IA} {AS} 84 {PERIODIC} {stamp} {AS} {PERIODIC} {stamp}")
    );
    // Where tracing stops otherwise, the next start completes it.
    assert_eq!(
        two.after_sync("on:8000 sync forbid go:8000 8000*2 off"),
        format!("{IA} {AS} {IA} 84 84 {stamp}")
    );
}

/// The period counts bytes of trace. Spec: PFT-CFG-015.
#[test]
fn the_period_counts_bytes() {
    let run = |sync_period| {
        let scene =
            scene().choosing(|policy| *policy = Policy { sync_period, atoms_per_packet: 1, ..*policy });
        let log = scene.log("on:8000 8000*500 off");
        let mut distances = Vec::new();
        let mut since = 0;
        for packet in log.packets().skip(1) {
            if matches!(packet, Packet::AlignmentSync { .. }) {
                distances.push(since + 6);
                since = 0;
            } else {
                since += super::scene::rewritten(&scene.parameters, &one(*packet)).len();
            }
        }
        distances
    };
    assert!(run(0).is_empty());
    assert_eq!(run(64), [64; 9]);
    assert_eq!(run(500), [500]);
    assert_eq!(run(1)[..4], [13, 13, 13, 13], "not without another packet in between");
    let default = Policy::default().sync_period;
    assert_eq!(default, 1024);
}

fn one(packet: Packet) -> traceproof_vectors::Log<traceproof_vectors::arm_pft::ArmPft> {
    let mut log = traceproof_vectors::Log::default();
    traceproof_vectors::EncoderSink::packet(&mut log, &packet);
    log
}

/// The address is that of the next instruction, in every state. Spec: PFT-ENC-044.
#[test]
fn the_state_of_the_next_instruction() {
    let scene =
        Scene::new().arm(0x8000, &[NOP, 0xfa00_003d]).thumb(0x8100, &[0xbf00, 0x4770]).arm(0x9000, &[LOOP]);
    let text = "on:8000 8000 sync 8004 sync 8100 8102>9000n sync off";
    let expected =
        format!("{IA} {AS} {PERIODIC} 84 {AS} 08 01 81 00 00 01 81 90 81 80 48 01 {AS} 08 00 90 00 00 09");
    assert_eq!(scene.after_sync(text), expected);
    let reasons: Vec<_> = scene
        .log(text)
        .packets()
        .filter_map(|packet| match packet {
            Packet::InstructionSync { reason, .. } => Some(*reason),
            _ => None,
        })
        .collect();
    assert_eq!(reasons, [Reason::TraceEnabled, Reason::Periodic, Reason::Periodic, Reason::Periodic]);
}
