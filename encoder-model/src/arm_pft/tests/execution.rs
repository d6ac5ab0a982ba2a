//! What a processor shows its PTM, and what it refuses.

use super::scene::{LOOP, NOP, Scene, state};
use crate::arm_pft::{ExecutionError, ExecutionProblem};
use traceproof_vectors::Address32;
use traceproof_vectors::arm_pft::{Exception, Signal, Waypoint, WaypointKind};

fn signals(scene: &Scene, text: &str) -> Vec<Signal> {
    scene.stimuli(text).expect("executes").iter().map(|stimulus| stimulus.signal).collect()
}

fn problem(scene: &Scene, text: &str) -> (u64, ExecutionProblem) {
    let ExecutionError { step, problem, .. } = scene.stimuli(text).expect_err(text);
    (step, problem)
}

/// Spec: PFT-WPT-001 to 023, 028.
#[test]
fn waypoints_and_what_stands_before_them() {
    let scene = Scene::new().arm(0x8000, &[NOP, 0xeb00_0002, 0xe12f_ff1e, LOOP, NOP, 0xe25e_f004]);
    let shown = signals(&scene, "on:8000 8000 8004 8014>8008 8008! 800c");
    let waypoint = Waypoint {
        address: Address32(0x8004),
        isa: state("0").isa,
        size: 4,
        kind: WaypointKind::Direct,
        link: true,
        exception_return: false,
        executed: true,
        next: state("8014"),
        previous: Some(Address32(0x8000)),
    };
    let back = Waypoint {
        address: Address32(0x8014),
        kind: WaypointKind::Indirect,
        link: false,
        exception_return: true,
        next: state("8008"),
        previous: None,
        ..waypoint
    };
    let skipped = Waypoint {
        address: Address32(0x8008),
        exception_return: false,
        executed: false,
        next: state("800c"),
        ..back
    };
    let itself =
        Waypoint { address: Address32(0x800c), kind: WaypointKind::Direct, executed: true, ..skipped };
    let expected = [waypoint, back, skipped, itself].map(Signal::Waypoint);
    assert_eq!(shown[0], Signal::Enable(state("8000")));
    assert_eq!(shown[1..], expected);
}

/// Instructions that no signal shows leave their cycles to the next.
#[test]
fn cycles_are_gathered() {
    let scene = Scene::new().arm(0x8000, &[NOP, NOP, LOOP, 0xe320_f003]);
    let stimuli = scene.stimuli("on:8000 +1 8000 +2 8004 +3 8008 x14@8008>800c +4 800c").expect("executes");
    let cycles: Vec<_> = stimuli.iter().map(|stimulus| stimulus.cycles).collect();
    assert_eq!(cycles, [0, 6, 0, 4]);
    assert_eq!(stimuli[3].signal, Signal::Wait);
    let stimuli = scene.stimuli("on:8000 =7 +5 8000").expect("executes");
    assert_eq!((stimuli[1].signal, stimuli[1].cycles, stimuli[1].timestamp), (Signal::Idle, 5, 7));
}

/// Spec: PFT-ENC-010, 011, 014.
#[test]
fn exceptions_name_the_latest_instruction() {
    let scene = Scene::new().arm(0x8000, &[NOP, NOP, LOOP]);
    let last = |text: &str| match signals(&scene, text).last() {
        Some(Signal::Exception(Exception { last, .. }) | Signal::DebugEntry(last)) => *last,
        other => panic!("{other:?}"),
    };
    assert_eq!(last("on:8000 x14@8000>18"), None);
    assert_eq!(last("on:8000 8000 8004 x14@8008>18"), Some(Address32(0x8004)));
    assert_eq!(last("on:8000 8000 8004 8008 x14@8008>18"), None);
    assert_eq!(last("on:8000 8000 x8@0>0"), None);
    assert_eq!(last("on:8000 8000 debug"), Some(Address32(0x8000)));
    assert_eq!(last("on:8000 8000 x14@8004>18 x15@18>1c"), None);
}

#[test]
fn what_cannot_execute() {
    use ExecutionProblem::{Misaligned, NoCode, NoTarget, NotNext, NotRunning, Number, WrongTarget};
    let scene = Scene::new().arm(0x8000, &[NOP, 0xeaff_fffe, 0xe12f_ff1e]).thumb(0x9000, &[0xf000]);
    let at = |address| Address32(address);
    for (text, expected) in [
        ("8000", (0, NotRunning)),
        ("on:8000 8004", (1, NotNext { next: at(0x8000) })),
        ("on:8000 8000 8000", (2, NotNext { next: at(0x8004) })),
        ("on:7000 7000", (1, NoCode)),
        ("on:800c 800c", (1, NoCode)),
        ("on:9000t 9000", (1, NoCode)),
        ("on:8002 8002", (1, Misaligned)),
        ("on:8008 8008", (1, NoTarget)),
        ("on:8004 8004>8000", (1, WrongTarget { target: at(0x8004) })),
        ("on:8000 8000>8008", (1, WrongTarget { target: at(0x8004) })),
        ("on:8008 8008>1000j 1000", (2, NotRunning)),
        ("on:8000 debug 8000", (2, NotRunning)),
        ("on:8000 x14@8004>18", (1, NotNext { next: at(0x8000) })),
        ("on:8000 x1@8000>18", (1, Number)),
        ("on:8000 x512@8000>18", (1, Number)),
    ] {
        assert_eq!(problem(&scene, text), expected, "{text}");
    }
    let error = scene.stimuli("on:8000 8004").expect_err("is not next");
    assert_eq!(error.to_string(), "step 1 at 0x8004: the next instruction is at 0x8000");
}

/// The halves of an instruction may lie in adjacent sections. Spec: PFT-WPT-029.
#[test]
fn instructions_may_lie_in_two_sections() {
    let scene = Scene::new().thumb(0x9000, &[0xf3bf]).thumb(0x9002, &[0x8f6f, 0xe7fe]);
    let shown = signals(&scene, "on:9000t 9000 9004");
    assert!(matches!(shown[1], Signal::Waypoint(Waypoint { kind: WaypointKind::Isb, size: 4, .. })));
}

/// Spec: PFT-WPT-027.
#[test]
fn low_overhead_loops_are_no_branches() {
    let scene =
        Scene::new().thumb(0x9000, &[0xf00f, 0xc801, 0xe7fe]).with(|parameters| parameters.m_profile = true);
    assert_eq!(signals(&scene, "on:9000t 9000 9004").len(), 2);
}
