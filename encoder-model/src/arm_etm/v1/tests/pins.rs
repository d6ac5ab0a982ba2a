//! Records of ETMv1: statuses, ports, APO, triggers.

use traceproof_vectors::arm_etm::{Isa, Parameters, Policy, Stimulus, Transfer};

use super::{branch_to, calm, direct, no_data, run, shown, started, v1, values_only};
use crate::arm_etm::tests::{And, encode, execute, hit, off, skip, store, wait};

fn thumb(mut cycle: Stimulus) -> Stimulus {
    if let Some(instruction) = &mut cycle.instruction {
        instruction.isa = Isa::Thumb;
    }
    cycle
}

/// E1-01. ETM1-SYN-007 (5.8.1), ETM1-PKT-003 (5.5.4), ETM1-APO-001, 008 (5.6.1).
#[test]
fn a_restart_is_three_records_ahead() {
    let cycles = started([execute(0x8124)]);
    assert_eq!(run(&v1(), &cycles), "BE* A4, IE 82, IE 82, IE 80, WT 10");
    let mut cycles = started([thumb(execute(0x8124))]);
    cycles[2].context_id = Some(0xabcd_0007);
    let context = Parameters { context_id_bytes: 2, ..v1() };
    assert_eq!(run(&context, &cycles), "BE* A5, IE 82, IE 82, IE 80, WT 10, WT 07, WT 00");
    // ETM1-PKT-018
    let old = Parameters { minor: 1, ..context };
    assert_eq!(run(&old, &cycles), "BE* A5, IE 82, IE 82, IE 80, WT 10");
    // What comes before a restart could be shown is lost.
    let cycles = [execute(0), execute(4), execute(8), execute(0x8124)];
    assert_eq!(run(&v1(), &cycles), "BE* A4, IE 82, IE 82, IE 80, WT 10");
    assert_eq!(run(&v1(), &cycles[..3]), "TD 00, TD 00, TD 00");
}

/// ETM1-PS-001, 002, 006, 009 (5.1, 5.4, 5.7.1).
#[test]
fn statuses_without_packets() {
    let seen = execute(0x8128).and(store(0x1000, 1));
    let cycles = started([
        execute(0x8124),
        seen.clone().unseen(),
        skip(0x812c),
        skip(0x8130).and(store(0x1000, 1)).branch(0x9000),
        wait(),
        direct(execute(0x8134), 0x9000),
    ]);
    let expected = "BE* A4, IE 82, IE 82, IE 80, IE 10, IN 00, IN 00, TD 00, IE 00";
    assert_eq!(run(&v1(), &cycles), expected);
    assert_eq!(run(&no_data(), &started([execute(0x8124), seen])), "BE* A4, IE 82, IE 82, IE 80, IE 10");
    // A coprocessor register transfer is no access to memory.
    let transfer = Transfer::new(0, traceproof_vectors::arm_etm::Access::Coprocessor, 0x5566);
    let cycles = started([execute(0x8124).and(transfer)]);
    assert_eq!(run(&v1(), &cycles), "BE* A4, IE 82, IE 82, IE 80, WT 10");
    let monitor = Parameters { monitor_cprt: true, ..v1() };
    let expected = "BE* A4, IE 82, IE 82, ID 80, WT 10, WT 66, WT 55, WT 00, WT 00";
    assert_eq!(run(&monitor, &cycles), expected);
    assert_eq!(
        run(&Parameters { data_value: false, ..monitor }, &cycles),
        "BE* A4, IE 82, IE 82, IE 80, WT 10"
    );
}

/// E1-02. ETM1-PKT-001, 002, 009 (5.2, 5.5.4).
#[test]
fn branches_on_every_port() {
    let cycles = started([execute(0x8124).branch(0x9124)]);
    assert_eq!(run(&v1(), &cycles), "BE* A4, IE 82, IE 82, BE 80, IE 10, IE* A4, WT 22");
    let narrow = Parameters { port_width: 4, ..v1() };
    let expected = "BE* 4, IE A, IE 2, BE 8, IE 2, IE 8, WT 0, WT 8, WT 0, WT 1, WT* 4, WT A, WT 2, WT 2";
    assert_eq!(run(&narrow, &cycles), expected);
    let wide = Parameters { port_width: 16, ..v1() };
    assert_eq!(run(&wide, &cycles), "BE* 82A4, IE 8082, IE 0010, BE* 22A4");
    // A byte stays for one cycle at least.
    let slow = Parameters { fifo_latency: 1, ..wide };
    assert_eq!(run(&slow, &cycles), "BE 0000, IE* 82A4, IE 8082, BE 0010, IE* 22A4");
    // Direct branches are output in branch broadcast mode only (ETM1-PS-008).
    let cycles = started([direct(execute(0x8124), 0x9124)]);
    assert_eq!(run(&v1(), &cycles), "BE* A4, IE 82, IE 82, IE 80, WT 10");
    let broadcast = Parameters { branch_broadcast: true, ..v1() };
    assert_eq!(run(&broadcast, &cycles), "BE* A4, IE 82, IE 82, BE 80, IE 10, IE* A4, WT 22");
}

/// Reading `etm1-address-starts-a-cycle`.
#[test]
fn an_address_starts_in_the_low_half_of_a_wide_port() {
    let aborted = Transfer { size: 1, ..hit(0x1000, 0x7f) };
    let cycles = started([execute(0x8124).and(aborted).branch(0x9124)]);
    let wide = Parameters { port_width: 16, ..values_only() };
    assert_eq!(run(&wide, &cycles), "BE* 82A4, IE 8082, IE 0010, BD 007F, IE* 22A4");
}

/// E1-04. ETM1-PS-005, 007 (5.4, 5.7.1), ETM1-DAT-001 to 005 (5.4).
#[test]
fn a_load_to_pc() {
    let cycles = started([
        execute(0x8124).and(hit(0x1004, 0x11)),
        execute(0x8128).and(hit(0x1000, 0x9124)).branch(0x9124),
    ]);
    let expected = "BE* A4, IE 82, IE 82, ID 80, BD 10, IE 84, IE A0, WT 80, WT 80, WT 00, WT 11, WT 00, WT 00, \
                    WT 00, WT 00, WT 24, WT 91, WT 00, WT 00, WT* A4, WT 22";
    assert_eq!(run(&v1(), &cycles), expected);
}

/// A store, a branch into Thumb state, an instruction there: 80 80 82 80 10; 80 80 80 80 04 34 12 00 00; 81 02.
#[test]
fn a_short_run() {
    let cycles = started([
        execute(0x8000).and(store(0x4000_0000, 0x1234)),
        branch_to(execute(0x8004), 0x8100, Isa::Thumb),
        wait(),
        wait(),
        thumb(execute(0x8100)),
    ]);
    let expected = "BE* 80, IE 80, IE 82, ID 80, BE 10, IE 80, IE 80, IE 80, WT 80, WT 04, WT 34, WT 12, WT 00, WT 00, WT* 81, \
                    WT 02";
    assert_eq!(run(&v1(), &cycles), expected);
}

/// E1-03. ETM1-APO-002, 005 (5.6.1): the branch address of the abandoned branch still leaves.
#[test]
fn a_branch_in_an_apo_record_abandons_the_one_before() {
    let cycles = started([execute(0x8124).branch(0x9124), execute(0x9124).branch(0x18)]);
    let expected = "BE* A4, IE 82, IE 82, BE 80, BE 10, ID* A4, IE 22, WT* 98, WT 80, WT 00";
    assert_eq!(run(&v1(), &cycles), expected);
    // What outputs no address cannot be there.
    let cycles = started([execute(0x8124).branch(0x9124), execute(0x9124).and(store(0, 1)), skip(0x9128)]);
    assert_eq!(run(&v1(), &cycles), "BE* A4, IE 82, IE 82, BE 80, IE 10, IE* A4, WT 22");
}

/// E1-03. ETM1-APO-003 (5.6.1). Branches in consecutive records with five packets each: before the one in record 3 + m
/// are 1 + m addresses, of which (m + 2) / 5 + 1 have begun.
#[test]
fn offsets_above_14_are_15() {
    let policy = Policy { fifo_size: 255, minimal_addresses: false, ..calm() };
    for (m, first, second) in [(16, "ID", "WT"), (17, "IN", "WT"), (19, "WT", "WT"), (20, "WT", "WT")] {
        let mut cycles = started((0..=m).map(|_| execute(0x8124).branch(0x8124)));
        cycles.extend([off(), off()]);
        let records = shown(&encode(&v1(), &policy, &cycles), &v1());
        let status = |index: usize| records[index].split(['*', ' ']).next().expect("a status");
        assert_eq!((status(3 + m), status(4 + m), status(5 + m)), ("BE", first, second), "{m}");
    }
}

/// ETM1-SYN-007 (5.8.1): the FIFO is not empty, and an older address is in it.
#[test]
fn a_restart_after_what_has_not_left() {
    let mut cycles = started([execute(0x8124).and(store(0, 0x4433_2211)).branch(0x9124)]);
    cycles.extend([off(), off(), off(), wait(), wait(), execute(0x9124)]);
    let expected = "BE* A4, IE 82, IE 82, BD 80, IE 10, IE 11, BE 22, ID 33, IE 44, IE* A4, WT 22, WT* A4, WT A2, WT 82, \
                    WT 80, WT 10";
    assert_eq!(run(&values_only(), &cycles), expected);
}

/// ETM1-PS-010, 012 (5.3, 6.1.7), ETM1-APO-007 (5.6.1).
#[test]
fn triggers_are_never_late() {
    assert_eq!(run(&v1(), &[off(), off().trigger(), off()]), "TD 00, TR 03, TD 00");
    let at = |index: usize| {
        let mut cycles = started([execute(0x8124).branch(0x9124), off(), off(), off()]);
        cycles[index].trigger = true;
        run(&v1(), &cycles)
    };
    assert_eq!(at(0), "TR 04, IE* A4, IE 82, BE 82, IE 80, IE 10, WT* A4, WT 22");
    assert_eq!(at(2), "BE* A4, IE 82, TR 00, BE 82, IE 80, IE 10, WT* A4, WT 22");
    assert_eq!(at(3), "BE* A4, IE 82, IE 82, TR 04, IE 80, IE 10, WT* A4, WT 22");
    assert_eq!(at(6), "BE* A4, IE 82, IE 82, BE 80, IE 10, IE* A4, TR 03, WT 22");
    // The halves of a byte around it.
    let narrow = Parameters { port_width: 4, ..v1() };
    let cycles = started([execute(0x8124).trigger()]);
    assert_eq!(run(&narrow, &cycles), "BE* 4, IE A, IE 2, TR 0, WT 8, WT 2, WT 8, WT 0, WT 8, WT 0, WT 1");
}

/// ETM1-SYN-009 (5.4): TRACEPKT of TD is TraceEnable in cycle-accurate mode.
#[test]
fn empty_cycles_that_are_to_be_kept() {
    let cycles = [wait(), off(), wait()];
    assert_eq!(run(&v1(), &cycles), "TD 00, TD 00, TD 00");
    let accurate = Parameters { cycle_accurate: true, ..v1() };
    assert_eq!(run(&accurate, &cycles), "TD 01, TD 00, TD 01");
}

/// ETM1-PKT-011 (5.11): into Java state and out of it all five packets.
#[test]
fn java_state() {
    let java = Parameters { minor: 3, ..v1() };
    let cycles = started([branch_to(execute(0x8124), 0x8121, Isa::Jazelle)]);
    let expected = "BE* A4, IE 82, IE 82, BE 80, IE 10, IE* A1, WT 82, WT 82, WT 80, WT 80";
    assert_eq!(run(&java, &cycles), expected);
}

#[test]
fn a_capture_may_begin_late() {
    let policy = Policy { capture_from: 3, ..calm() };
    let log = encode(&v1(), &policy, &started([execute(0x8124)]));
    assert_eq!(shown(&log, &v1()), ["IE 80", "WT 10"]);
    assert_eq!(log.packets().count(), 1);
}
