//! ETMv3: VMID, data-only mode, exceptions without information.

use traceproof_vectors::Address32;
use traceproof_vectors::arm_etm::v3::{ExceptionInformation, InByteException};
use traceproof_vectors::arm_etm::{
    Access, BranchTarget, CompressedAddress, Exception, Packet, Parameters, Policy, Stimulus, Transfer,
};

use super::cycles::{accurate, v3, wire};
use crate::arm_etm::tests::{And, execute, hex, interrupt, off, skip, store, wait};
use crate::arm_etm::v3::{UnencodablePacket, write_packet};

fn with_vmid() -> Parameters {
    Parameters { vmid: true, ..v3() }
}

fn written(vmid: u8, cycle: Stimulus) -> Stimulus {
    Stimulus { vmid: Some(vmid), ..cycle }
}

/// D-15. ETM3-VMID-001, 003: after every I-sync, also the reset value.
#[test]
fn d_15_a_vmid_follows_every_i_sync() {
    let plain = Policy { sync_period: 0, ..Policy::default() };
    assert_eq!(wire(&with_vmid(), &plain, &[execute(0x8000)]), "08 21 00 80 00 00 3C 00 84");
    let cycles = [written(5, off()), execute(0x8000), off(), execute(0x9000)];
    assert_eq!(wire(&with_vmid(), &plain, &cycles), "08 21 00 80 00 00 3C 05 84 08 21 00 90 00 00 3C 05 84");
    // A period that every I-sync ends by itself.
    let each = Policy { sync_period: 1, ..plain };
    assert_eq!(
        wire(&with_vmid(), &each, &[written(5, execute(0x8000)), execute(0x8004)]),
        "08 21 00 80 00 00 3C 00 84 3C 05 00 00 00 00 00 80 08 01 04 80 00 00 3C 05 84"
    );
    // The cycle count stands between.
    let counted = Parameters { vmid: true, ..accurate() };
    let policy = Policy { count_in_sync: false, ..plain };
    let expected = "08 21 00 80 00 00 04 00 3C 00 84";
    assert_eq!(wire(&counted, &policy, &[execute(0x8000)]), expected);
}

/// ETM3-VMID-002, 003: changes only; a reset is one.
#[test]
fn changes_of_the_vmid() {
    let reset = |cycle| Stimulus { reset: true, ..cycle };
    let cycles = [
        written(5, execute(0x8000)),
        written(5, execute(0x8004)),
        reset(interrupt(execute(0x8008), 8, 0)),
        execute(0),
    ];
    let policy = Policy { sync_period: 0, ..Policy::default() };
    assert_eq!(
        wire(&with_vmid(), &policy, &cycles),
        "08 21 00 80 00 00 3C 00 84 3C 05 88 3C 00 81 80 80 80 48 10 84"
    );
    let data_only = Parameters { data_only: true, ..with_vmid() };
    let cycles = [written(5, wait()), reset(wait()), reset(wait())];
    assert_eq!(wire(&data_only, &policy, &cycles), "08 21 3C 00 3C 05 3C 00");
    // Written in the cycle of a reset.
    assert_eq!(wire(&data_only, &policy, &[reset(written(5, wait()))]), "08 21 3C 00 3C 05");
    assert_eq!(wire(&v3(), &policy, &[written(5, execute(0x8000))]), "08 21 00 80 00 00 84");
}

/// ETM3-DO-001 (7.4.10): no branch, P-header, exception exit, Data suppressed; D-sync goes on.
#[test]
fn data_only_has_no_instruction_packets() {
    let parameters = Parameters { data_only: true, branch_broadcast: true, ..v3() };
    let policy = Policy { suppress_below: u8::MAX, sync_period: 22, ..Policy::default() };
    let cycles = [
        execute(0x8000).and(store(0x4000_0000, 1)),
        interrupt(execute(0x8004), 14, 0x18),
        skip(0x18).and(store(0x4000_0004, 2)),
        execute(0x1c).branch(0x8004).and(store(0x4000_0008, 3)),
    ];
    // A-sync 6, I-sync 2, data 7, data 3: 18. 3 more: 21. Then 22 is not reached.
    assert_eq!(wire(&parameters, &policy, &cycles), "08 21 26 80 80 80 80 04 01 26 04 02 26 08 03");
    let shorter = Policy { sync_period: 18, ..policy };
    assert_eq!(
        wire(&parameters, &shorter, &cycles),
        "08 21 26 80 80 80 80 04 01 26 04 02 00 00 00 00 00 80 08 01 26 88 80 80 80 04 03"
    );
}

/// ETM3-DO-001: nor can they be written.
#[test]
fn data_only_refuses_instruction_packets() {
    let parameters = Parameters { data_only: true, ..v3() };
    let address = CompressedAddress { bits: 0x6 | 0x08 << 27, bytes: 5 };
    let information = ExceptionInformation { number: 14, ..ExceptionInformation::default() };
    for packet in [
        Packet::PHeader(0x84),
        Packet::BranchAddress(address),
        Packet::ExceptionBranch { address, information },
        Packet::InByteExceptionBranch {
            address: CompressedAddress { bits: 0x6, bytes: 5 },
            exception: InByteException { code: 1, cancel: false },
        },
        Packet::DataSuppressed,
    ] {
        assert_eq!(
            write_packet(&packet, &parameters),
            Err(UnencodablePacket { field: "packet" }),
            "{packet:?}"
        );
        assert!(write_packet(&packet, &v3()).is_ok(), "{packet:?}");
    }
}

/// D-11. ETM3-EXC-013: a branch to a vector is a branch.
#[test]
fn d_11_vector_without_information() {
    let cycles = [execute(0x8000).branch(0x18)];
    assert_eq!(wire(&v3(), &Policy::default(), &cycles), "08 21 00 80 00 00 84 8D 80 00");
}

/// D-12. ETM3-EXC-014: the exception inside byte 5.
#[test]
fn d_12_exceptions_inside_byte_5() {
    let parameters = Parameters { minor: 0, ..v3() };
    for (target, code, cancel, expected) in [
        (0x4, 0, false, "83 80 80 80 80"),
        (0x10, 0, true, "89 80 80 80 C0"),
        (0xffff_0004_u32, 0, false, "83 80 FE FF 87"),
        (0x18, 1, false, "8D 80 80 80 88"),
    ] {
        let address = CompressedAddress { bits: u64::from(target >> 2), bytes: 5 };
        let packet = Packet::InByteExceptionBranch { address, exception: InByteException { code, cancel } };
        let bytes = write_packet(&packet, &parameters).expect("encodable");
        assert_eq!(hex(&bytes), expected);
    }
}

/// D-13. ETM3-EXC-015, 016: a synchronous abort that is traced is cancelled; of an asynchronous one both are legal.
#[test]
fn d_13_data_aborts() {
    let aborted = |number, cancel| {
        let mut cycle = execute(0x8000);
        if let Some(instruction) = &mut cycle.instruction {
            let exception = Some(Exception { number, cancel, resume: None });
            instruction.branch =
                Some(BranchTarget { address: Address32(0x10), exception, ..BranchTarget::default() });
        }
        cycle
    };
    for (number, cancel, expected) in [(12, true, "38"), (4, false, "08"), (4, true, "28")] {
        assert_eq!(
            wire(&v3(), &Policy::default(), &[aborted(number, cancel)]),
            format!("08 21 00 80 00 00 84 89 80 80 80 48 {expected}")
        );
    }
    // Its data are traced before the branch that cancels it.
    let load = aborted(12, true).and(Transfer::new(0x3000, Access::Hit, 0x99));
    assert_eq!(
        wire(&v3(), &Policy::default(), &[load]),
        "08 21 00 80 00 00 84 26 80 E0 80 80 00 99 89 80 80 80 48 38"
    );
}

/// D-14. ETM-DBG-001, ETM3-EXC-019: an interrupt first thing after debug state.
#[test]
fn d_14_debug_exit_into_an_interrupt() {
    let debug = Stimulus { debug: true, ..execute(0x9000) };
    let policy = Policy { sync_period: 0, ..Policy::default() };
    let begin = "08 21 00 80 00 00 84";
    assert_eq!(
        wire(&v3(), &policy, &[execute(0x8000), debug.clone(), execute(0x18)]),
        format!("{begin} 08 61 18 00 00 00 84")
    );
    let mut placeholder = interrupt(execute(0x8004), 14, 0x18);
    if let Some(exception) = placeholder
        .instruction
        .as_mut()
        .and_then(|one| one.branch.as_mut())
        .and_then(|to| to.exception.as_mut())
    {
        exception.cancel = true;
    }
    assert_eq!(
        wire(&v3(), &policy, &[execute(0x8000), debug, placeholder, execute(0x18)]),
        format!("{begin} 08 61 04 80 00 00 84 8D 80 80 80 48 3C 84")
    );
}
