//! ETMv1: exceptions, from the worked examples D-01 to D-07.

use traceproof_vectors::arm_etm::v1::AddressReason;
use traceproof_vectors::arm_etm::{Isa, Packet, Parameters, Policy, Stimulus, VectorBase};

use super::{calm, no_data, packets, run, started, v1};
use crate::arm_etm::tests::{And, encode, execute, hex, interrupt, skip, store, wait};
use crate::arm_etm::v1::write_packet;

fn thumb(mut cycle: Stimulus) -> Stimulus {
    if let Some(instruction) = &mut cycle.instruction {
        instruction.isa = Isa::Thumb;
    }
    cycle
}

/// The packets after those of the restart, as bytes.
fn after_restart(parameters: &Parameters, cycles: impl IntoIterator<Item = Stimulus>) -> String {
    let packets = packets(parameters, &calm(), &started(cycles));
    let bytes: Vec<_> = packets
        .iter()
        .skip(1)
        .map(|packet| hex(&write_packet(packet, parameters).expect("encodable")))
        .collect();
    bytes.join(" | ")
}

/// D-01. ETM1-EXC-002: the interrupted instruction takes the status BE, and is executed after the return. APO records
/// have code 0, IE.
#[test]
fn d_01_irq() {
    let cycles = started([
        execute(0x8000),
        interrupt(execute(0x8004), 14, 0x18),
        wait(),
        wait(),
        execute(0x18),
        execute(0x1c).branch(0x8004),
        wait(),
        wait(),
        execute(0x8004),
    ]);
    let expected = "BE* 80, IE 80, IE 82, IE 80, BE 10, IE* 98, IE 80, IE 00, BE* 84, IE 80, IE 02, IE 00";
    assert_eq!(run(&no_data(), &cycles), expected);
}

/// D-02: the vector travels whole; where the table is, only decoders need to know.
#[test]
fn d_02_high_vectors() {
    let irq = || [interrupt(execute(0x8000), 14, 0xffff_0018)];
    for hivecs in [VectorBase::Low, VectorBase::High, VectorBase::Unknown] {
        assert_eq!(after_restart(&Parameters { hivecs, ..no_data() }, irq()), "98 80 FC FF 0F", "{hivecs:?}");
    }
}

/// D-03. ETM1-EXC-005, 006: BD with the data of the aborted store, which are the base of the next data address.
#[test]
fn d_03_data_abort() {
    let aborted = || interrupt(execute(0x8000).and(store(0x3000, 0x99)), 12, 0x10);
    let handler = || [wait(), wait(), execute(0x10).branch(0x8000), wait(), wait()];
    let cycles = || {
        let mut cycles = vec![aborted()];
        cycles.extend(handler());
        cycles.push(execute(0x8000).and(store(0x3004, 1)));
        cycles
    };
    assert_eq!(
        after_restart(&v1(), cycles()),
        "80 E0 80 80 00 | 99 00 00 00 | 90 80 00 | 80 80 02 | 04 | 01 00 00 00"
    );
    let log = run(&v1(), &started([aborted()]));
    assert!(log.starts_with("BE* 80, IE 80, IE 82, BD 80, IE 10, IE 80, WT E0"), "{log}");
    assert_eq!(after_restart(&no_data(), cycles()), "90 80 00 | 80 80 02");
    assert!(run(&no_data(), &started([aborted()])).starts_with("BE* 80, IE 80, IE 82, BE 80"));
}

/// D-04, D-05. ETM1-EXC-003, 004, 010, 011.
#[test]
fn d_04_d_05_vectors() {
    for (number, vector, expected) in [
        (8, 0x00, "80 80 00"),
        (9, 0x04, "84 80 00"),
        (10, 0x08, "88 80 00"),
        (11, 0x0c, "8C 80 00"),
        (12, 0x10, "90 80 00"),
        (14, 0x18, "98 80 00"),
        (15, 0x1c, "9C 80 00"),
    ] {
        assert_eq!(after_restart(&no_data(), [interrupt(execute(0x8000), number, vector)]), expected);
    }
    assert_eq!(after_restart(&no_data(), [execute(0x8000).branch(0x14)]), "94 80 00");
    let svc = [interrupt(execute(0x8004), 10, 0x8), wait(), wait(), execute(0x8).branch(0x8008)];
    assert_eq!(after_restart(&no_data(), svc), "88 80 00 | 88 80 02");
}

/// D-06. ETM1-EXC-008: a restart at a vector has the reason of any restart.
#[test]
fn d_06_restart_at_a_vector() {
    let restart = packets(&no_data(), &calm(), &started([execute(0x18)]));
    let bytes: Vec<_> =
        restart.iter().map(|packet| write_packet(packet, &no_data()).expect("encodable")).collect();
    assert_eq!(bytes.iter().map(|bytes| hex(bytes)).collect::<Vec<_>>(), ["98 80 80 80 10"]);
}

/// D-07. ETM1-EXC-009: the vector is in ARM state, bit 0 is 0.
#[test]
fn d_07_from_thumb_state() {
    assert_eq!(after_restart(&no_data(), [thumb(interrupt(execute(0x8124), 14, 0x18))]), "98 80 00");
}

/// An exception is indirect whatever the stimulus calls it, and needs no condition that passed.
#[test]
fn an_exception_always_has_an_address() {
    let mut direct = interrupt(execute(0x8000), 14, 0x18);
    if let Some(target) = direct.instruction.as_mut().and_then(|instruction| instruction.branch.as_mut()) {
        target.direct = true;
    }
    for cycle in [direct, interrupt(skip(0x8000), 14, 0x18)] {
        let cycles = started([cycle]);
        assert_eq!(run(&no_data(), &cycles), "BE* 80, IE 80, IE 82, BE 80, IE 10, IE* 98, WT 80, WT 00");
    }
    // Without exception the branch of an instruction that is not executed is none.
    assert_eq!(run(&no_data(), &started([skip(0x8000).branch(0x18)])), "BE* 80, IE 80, IE 82, IN 80, WT 10");
}

/// A Context ID and a full address that are due go with the branch to the vector. ETM1-PKT-017, ETM1-SYN-001.
#[test]
fn what_is_due_goes_with_an_exception() {
    let parameters = Parameters { context_id_bytes: 1, ..no_data() };
    let written = Stimulus { context_id: Some(7), ..execute(0x8000) };
    let exception = || interrupt(execute(0x8004), 14, 0x18);
    assert_eq!(after_restart(&parameters, [written, exception()]), "98 80 80 80 40 07");
    // The restart is in record 0, the exception in record 5.
    let cycles = started([execute(0x8000), execute(0x8004), interrupt(execute(0x8008), 14, 0x18)]);
    for (sync_period, expected) in [(5, Some(AddressReason::Periodic)), (6, None)] {
        let log = encode(&no_data(), &Policy { sync_period, ..Policy::default() }, &cycles);
        let reason = log.packets().skip(1).find_map(|packet| match packet {
            Packet::FullBranchAddress { reason, .. } => Some(*reason),
            _ => None,
        });
        assert_eq!(reason, expected, "{sync_period}");
    }
}
