//! Packets that cannot travel unchanged.

use traceproof_vectors::Address32;
use traceproof_vectors::arm::{ExceptionLevel, SecurityState};
use traceproof_vectors::arm_ete::{
    AddressField, ConditionalResult, ContextField, Packet, Parameters, SubIsa, Version,
};

use super::packets::{
    atoms, bits_32, bits_64, c0, c1, context, exception, field, refused, short, target, trace_info, v4,
};

use ExceptionLevel::El1;
use SecurityState::NonSecure;
use SubIsa::{Is0, Is1};

/// ETE-PKT-CFG-001, ETE-PKT-RSV-001.
#[test]
fn reserved_headers_are_not_written() {
    let old = Parameters::etmv4(Version::Etmv4_1);
    for (packet, parameters, wrong) in [
        (exception(2, false, Some(AddressField::ExactMatch(0))), v4(), "version"),
        (Packet::TransactionStart, v4(), "version"),
        (Packet::TransactionCommit, v4(), "version"),
        (Packet::SourceAddress(AddressField::ExactMatch(0)), v4(), "version"),
        (Packet::FunctionReturn, old.clone(), "version"),
        (Packet::BranchFutureFlush, old.clone(), "version"),
        (Packet::Ignore, old, "version"),
        (
            Packet::Instrumentation { level: 0, reserved: 0, value: 0 },
            Parameters::default(),
            "instrumentation",
        ),
        (Packet::TimestampMarker, Parameters::default(), "timestamp_markers"),
        (Packet::Q { address: None, count: None }, Parameters::default(), "q_elements"),
        (Packet::CycleCount2 { large: false, commit: 0, count: 0 }, c1(), "commopt"),
        (Packet::CycleCount3 { commit: 1, count: 0 }, c1(), "commopt"),
    ] {
        assert_eq!(refused(packet, &parameters), wrong, "{packet:?}");
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let exact = Some(AddressField::ExactMatch(0));
    let el1 = context(El1, NonSecure, true);
    let with_context = |number, address, context| Packet::Exception {
        number,
        with_target: false,
        reserved: false,
        address,
        context: Some(context),
    };
    let timestamp = |value, count| Packet::Timestamp { value, count };
    for (packet, wrong) in [
        (Packet::AlignmentSync { zeros: 10 }, "zeros"),
        (Packet::AlignmentSync { zeros: u64::MAX }, "zeros"),
        (trace_info([Some((0x80, 1)), None, None, None]), "info"),
        (trace_info([None, Some((0, 6)), None, None]), "key"),
        (trace_info([None, None, Some((0, 0)), None]), "speculation"),
        (trace_info([None, None, None, Some((1 << 15, 2))]), "cycle_threshold"),
        (timestamp(field(0, 0), None), "value"),
        (timestamp(field(0, 10), None), "value"),
        (timestamp(field(1 << 56, 8), None), "value"),
        (timestamp(field(0, 1), Some(field(1 << 22, 3))), "count"),
        (exception(32, false, exact), "number"),
        (exception(0x18, false, exact), "address"),
        (exception(2, false, None), "address"),
        (with_context(2, exact, el1), "context"),
        (with_context(0, None, el1), "context"),
        (Packet::Instrumentation { level: 4, reserved: 0, value: 0 }, "level"),
        (Packet::Instrumentation { level: 0, reserved: 1, value: 0 }, "reserved"),
        (Packet::CycleCount1 { commit: None, count: None }, "commit"),
        (Packet::CycleCount1 { commit: Some(field(0, 1)), count: Some(field(1 << 22, 3)) }, "count"),
        (Packet::CycleCount2 { large: true, commit: 16, count: 0 }, "commit"),
        (Packet::CycleCount2 { large: true, commit: 0, count: 16 }, "count"),
        (Packet::CycleCount3 { commit: 4, count: 0 }, "commit"),
        (Packet::CycleCount3 { commit: 0, count: 4 }, "count"),
        (Packet::Commit(field(0, 1)), "count"),
        (Packet::Commit(field(1 << 32, 5)), "count"),
        (Packet::Cancel1 { count: field(0, 2), mispredict: true }, "count"),
        (Packet::Cancel2 { atoms: Some(atoms("NE")) }, "atoms"),
        (Packet::Mispredict { atoms: Some(atoms("EEE")) }, "atoms"),
        (Packet::Cancel3 { atom: false, count: 1 }, "count"),
        (Packet::Cancel3 { atom: false, count: 6 }, "count"),
        (Packet::Event(0), "events"),
        (Packet::Event(16), "events"),
        (target(AddressField::ExactMatch(3)), "address"),
        (target(short(Is0, 0x202, 2)), "address"),
        (target(short(Is0, 0x200, 1)), "address"),
        (target(short(Is1, 0x1_0000, 2)), "address"),
        (target(short(Is1, 0, 3)), "address"),
        (target(bits_32(Is0, 2)), "address"),
        (target(bits_64(Is1, 1)), "address"),
        (target(AddressField::Bits32 { sub_isa: Is1, bits: Address32(0), reserved: 2 }), "address"),
        (Packet::TargetAddress { address: short(Is0, 0, 1), context: Some(el1) }, "context"),
        (Packet::Q { address: Some(bits_64(Is0, 0)), count: Some(field(1, 1)) }, "address"),
        (Packet::Q { address: exact, count: None }, "count"),
        (Packet::Q { address: None, count: Some(field(1, 6)) }, "count"),
    ] {
        assert_eq!(refused(packet, &c0()), wrong, "{packet:?}");
    }
}

#[test]
fn what_does_not_fit_is_refused_in_etmv4() {
    let el1 = context(El1, NonSecure, true);
    let id = ContextField { vmid: Some(0x100), ..el1 };
    let v4_exception = |number, fault_pending, reserved| Packet::ExceptionV4 {
        number,
        with_target: false,
        fault_pending,
        reserved,
    };
    let result = |result, bits, bytes| Packet::ConditionalResult1 {
        first: ConditionalResult { implied: false, result, key: field(bits, bytes) },
        second: None,
    };
    for (packet, wrong) in [
        (v4_exception(0x20, None, 0), "number"),
        (v4_exception(0x400, Some(false), 0), "number"),
        (v4_exception(1, None, 0x80), "reserved"),
        (v4_exception(1, Some(true), 0x20), "reserved"),
        (Packet::Context(id), "vmid"),
        (Packet::Context(ContextField { context_id: Some(1), ..el1 }), "context_id"),
        (Packet::NumberedDataSyncMarker(8), "number"),
        (Packet::UnnumberedDataSyncMarker(5), "atoms"),
        (Packet::ConditionalInstruction2(3), "code"),
        (Packet::ConditionalInstruction3 { count: 64, repeated: false, reserved: false }, "count"),
        (Packet::ConditionalResult2 { by_two: true, token: 3 }, "token"),
        (Packet::ConditionalResult4(3), "token"),
        (Packet::ConditionalResult3(0x1000), "tokens"),
        (result(16, 0, 1), "first"),
        (result(0, 8, 1), "first"),
        (result(0, 0, 0), "first"),
        (result(0, 0, 7), "first"),
        (result(0, 1 << 39, 6), "first"),
    ] {
        assert_eq!(refused(packet, &Parameters { vmid_bytes: 1, ..v4() }), wrong, "{packet:?}");
    }
}
