//! Bytes of single packets: 10.1 of the sheet, D of its additions.

use crate::arm_ete::{UnencodablePacket, write_packet};
use traceproof_vectors::arm::{ExceptionLevel, SecurityState};
use traceproof_vectors::arm_ete::{
    AddressField, Atoms, ConditionalResult, ContextField, Packet, Parameters, QElements, SubIsa,
    VariableField, Version,
};
use traceproof_vectors::{Address, Address32};

use super::hex;

use ExceptionLevel::{El0, El1, El2, El3};
use SecurityState::{NonSecure, Realm, Root, Secure};
use SubIsa::{Is0, Is1};

/// Configuration C1: ITE and TSMARK, too.
pub(super) fn c1() -> Parameters {
    Parameters {
        timestamp_markers: true,
        instrumentation: true,
        q_elements: QElements::Any,
        ..Parameters::default()
    }
}

/// Configuration C0.
pub(super) fn c0() -> Parameters {
    Parameters { commopt: false, maxspec: 78, ..c1() }
}

pub(super) fn v4() -> Parameters {
    Parameters { commopt: false, ..Parameters::etmv4(Version::Etmv4_6) }
}

fn bytes(packet: Packet, parameters: &Parameters) -> String {
    hex(&write_packet(&packet, parameters).expect("encodable"))
}

pub(super) fn refused(packet: Packet, parameters: &Parameters) -> &'static str {
    let Err(UnencodablePacket { field }) = write_packet(&packet, parameters) else {
        panic!("{packet:?} was written");
    };
    field
}

pub(super) fn field(bits: u64, bytes: u8) -> VariableField {
    VariableField { bits, bytes }
}

pub(super) fn short(sub_isa: SubIsa, bits: u32, bytes: u8) -> AddressField {
    AddressField::Short { sub_isa, bits: Address32(bits), bytes }
}

pub(super) fn bits_32(sub_isa: SubIsa, bits: u32) -> AddressField {
    AddressField::Bits32 { sub_isa, bits: Address32(bits), reserved: 0 }
}

pub(super) fn bits_64(sub_isa: SubIsa, bits: u64) -> AddressField {
    AddressField::Bits64 { sub_isa, bits: Address(bits), reserved: 0 }
}

pub(super) fn target(address: AddressField) -> Packet {
    Packet::TargetAddress { address, context: None }
}

pub(super) fn context(
    exception_level: ExceptionLevel,
    security: SecurityState,
    is_64_bit: bool,
) -> ContextField {
    ContextField { exception_level, security, is_64_bit, ..ContextField::default() }
}

pub(super) fn exception(number: u8, with_target: bool, address: Option<AddressField>) -> Packet {
    Packet::Exception { number, with_target, reserved: false, address, context: None }
}

pub(super) fn atoms(text: &str) -> Atoms {
    text.parse().expect("atoms")
}

/// Trace Info with these sections, each in as many bytes as given.
pub(super) fn trace_info(sections: [Option<(u64, u8)>; 4]) -> Packet {
    let [info, key, speculation, cycle_threshold] =
        sections.map(|section| section.map(|(bits, bytes)| field(bits, bytes)));
    Packet::TraceInfo { control_bytes: 1, reserved: 0, info, key, speculation, cycle_threshold }
}

/// Rows 1 to 13 of 10.1; D-09, D-10, D-19, D-20.
#[test]
fn synchronization_and_time() {
    let timestamp = |value, count| Packet::Timestamp { value, count };
    for (packet, expected) in [
        (Packet::AlignmentSync { zeros: 11 }, "00 00 00 00 00 00 00 00 00 00 00 80"),
        (Packet::Discard, "00 03"),
        (Packet::Overflow, "00 05"),
        (trace_info([None; 4]), "01 00"),
        (trace_info([Some((1, 1)), None, None, Some((0x16, 1))]), "01 09 01 16"),
        (
            trace_info([Some((0x41, 1)), None, Some((0x52c, 2)), Some((0x100, 2))]),
            // PLCTL[3:0] = 1101.
            "01 0d 41 ac 0a 80 02",
        ),
        (trace_info([None, None, Some((3, 1)), None]), "01 04 03"),
        (
            trace_info([Some((0x41, 1)), Some((0x85, 2)), Some((0x12c, 2)), Some((0xf81, 2))]),
            "01 0f 41 85 01 ac 02 81 1f",
        ),
        (trace_info([None, None, Some((2, 1)), Some((0x10, 1))]), "01 0c 02 10"),
        (timestamp(field(0x6fd7, 3), None), "02 d7 df 01"),
        (timestamp(field(5, 1), None), "02 05"),
        (timestamp(field(0xffff_ffff_f000_6592, 9), None), "02 92 cb 81 80 ff ff ff ff ff"),
        (timestamp(field(0x2f1_50c0, 7), None), "02 c0 a1 c5 97 80 80 00"),
        (timestamp(field(0x1_2345, 3), Some(field(0xd405, 3))), "03 c5 c6 04 85 a8 03"),
        (timestamp(field(0x85, 2), Some(field(0, 1))), "03 85 01 00"),
        (timestamp(field(0, 1), Some(field(0xf_ffff, 3))), "03 00 ff ff 3f"),
        (timestamp(field(0, 1), Some(field(0x1f_ffff, 3))), "03 00 ff ff 7f"),
        (Packet::TimestampMarker, "88"),
        (Packet::TraceOn, "04"),
        (Packet::Ignore, "70"),
        (Packet::Event(0b1001), "79"),
        (Packet::Event(0b1111), "7f"),
        (Packet::TransactionStart, "0a"),
        (Packet::TransactionCommit, "0b"),
        (
            Packet::Instrumentation { level: 1, reserved: 0, value: 0x1122_3344_5566_7788 },
            "09 01 88 77 66 55 44 33 22 11",
        ),
        (Packet::Instrumentation { level: 3, reserved: 0xfc, value: 0 }, "09 ff 00 00 00 00 00 00 00 00"),
    ] {
        assert_eq!(bytes(packet, &c0()), expected, "{packet:?}");
    }
    let continued = Packet::TraceInfo {
        control_bytes: 2,
        reserved: 0x90,
        info: Some(field(0x81, 2)),
        key: None,
        speculation: None,
        cycle_threshold: None,
    };
    assert_eq!(bytes(continued, &c0()), "01 91 01 81 01");
}

/// Rows 14 to 19 of 10.1; D-16 to D-18, D-29.
#[test]
fn exceptions() {
    let with_context = Packet::Exception {
        number: 2,
        with_target: false,
        reserved: false,
        address: Some(bits_32(Is0, 0x0040_1000)),
        context: Some(context(El0, NonSecure, true)),
    };
    for (packet, expected) in [
        (exception(0xe, false, Some(short(Is0, 0x21fc, 2))), "06 1d 95 ff 10"),
        (with_context, "06 05 82 00 08 40 00 30"),
        (exception(2, true, Some(AddressField::ExactMatch(0))), "06 44 90"),
        (exception(0xc, true, Some(AddressField::ExactMatch(0))), "06 58 90"),
        (exception(0, false, None), "06 01 70"),
        (exception(0, true, None), "06 40 70"),
        (exception(0x18, false, None), "06 31 70"),
        (exception(0x18, true, None), "06 70 70"),
        (exception(0, false, Some(short(Is0, 4, 1))), "06 01 95 01"),
        (exception(0x1a, false, Some(AddressField::ExactMatch(0))), "06 35 90"),
    ] {
        assert_eq!(bytes(packet, &c1()), expected, "{packet:?}");
    }
    let v4_exception = |number, fault_pending, reserved| Packet::ExceptionV4 {
        number,
        with_target: false,
        fault_pending,
        reserved,
    };
    assert_eq!(bytes(v4_exception(0x208, Some(true), 0), &v4()), "06 91 30");
    assert_eq!(bytes(v4_exception(0x10, None, 0), &v4()), "06 21");
    assert_eq!(bytes(v4_exception(0x3ff, Some(false), 0xc0), &v4()), "06 bf df");
    let with_target = Packet::ExceptionV4 { number: 2, with_target: true, fault_pending: None, reserved: 0 };
    assert_eq!(bytes(with_target, &v4()), "06 44");
}

/// Rows 22 to 34 of 10.1; D-02, D-06 to D-08.
#[test]
fn commits_cancels_and_cycles() {
    let large = |large, commit, count| Packet::CycleCount2 { large, commit, count };
    let full = |commit: Option<(u64, u8)>, count: Option<(u64, u8)>| Packet::CycleCount1 {
        commit: commit.map(|(bits, bytes)| field(bits, bytes)),
        count: count.map(|(bits, bytes)| field(bits, bytes)),
    };
    let cancel = |bits, bytes, mispredict| Packet::Cancel1 { count: field(bits, bytes), mispredict };
    let mispredict = |text: Option<&str>| Packet::Mispredict { atoms: text.map(atoms) };
    let cancel_2 = |text: Option<&str>| Packet::Cancel2 { atoms: text.map(atoms) };
    for (packet, expected) in [
        (large(false, 3, 10), "0c 3a"),
        (large(true, 15, 3), "0d f3"),
        (large(true, 12, 5), "0d c5"),
        (full(Some((133, 2)), Some((0x484, 2))), "0e 85 01 84 09"),
        (full(Some((0, 1)), Some((5, 1))), "0e 00 05"),
        (full(Some((3, 1)), None), "0f 03"),
        (Packet::CycleCount3 { commit: 2, count: 3 }, "1b"),
        (Packet::Commit(field(133, 2)), "2d 85 01"),
        (Packet::Commit(field(5, 2)), "2d 85 00"),
        (Packet::Commit(field(0xf_ffff_ffff, 5)), "2d ff ff ff ff ff"),
        (cancel(3, 1, false), "2e 03"),
        (cancel(129, 2, true), "2f 81 01"),
        (mispredict(None), "30"),
        (mispredict(Some("E")), "31"),
        (mispredict(Some("EE")), "32"),
        (mispredict(Some("N")), "33"),
        (cancel_2(None), "34"),
        (cancel_2(Some("E")), "35"),
        (cancel_2(Some("EE")), "36"),
        (cancel_2(Some("N")), "37"),
        (Packet::Cancel3 { atom: false, count: 2 }, "38"),
        (Packet::Cancel3 { atom: true, count: 3 }, "3b"),
        (Packet::Cancel3 { atom: true, count: 5 }, "3f"),
    ] {
        assert_eq!(bytes(packet, &c0()), expected, "{packet:?}");
    }
    for (packet, expected) in [
        (large(true, 15, 3), "0d f3"),
        (full(None, Some((0x484, 2))), "0e 84 09"),
        (full(None, None), "0f"),
        (Packet::CycleCount3 { commit: 0, count: 2 }, "12"),
    ] {
        assert_eq!(bytes(packet, &c1()), expected, "{packet:?}");
    }
}

/// Rows 37 to 42 of 10.1; D-32, D-33.
#[test]
fn contexts() {
    let ids = |context: ContextField, vmid, context_id| {
        Packet::Context(ContextField { vmid, context_id, ..context })
    };
    for (packet, expected) in [
        (Packet::ContextSame, "80"),
        (ids(context(El1, Secure, true), Some(0x1234_5678), Some(0xbeef)), "81 d1 78 56 34 12 ef be 00 00"),
        (Packet::Context(context(El2, Realm, true)), "81 3a"),
        (Packet::Context(context(El3, Root, true)), "81 1b"),
        (
            ids(context(El1, NonSecure, true), Some(0x0102_0304), Some(0x0a0b_0c0d)),
            "81 f1 04 03 02 01 0d 0c 0b 0a",
        ),
        (ids(context(El1, NonSecure, true), None, Some(6)), "81 b1 06 00 00 00"),
        (Packet::Context(context(El2, Realm, false)), "81 2a"),
        (Packet::Context(ContextField { reserved: true, ..context(El0, Secure, false) }), "81 04"),
        (
            Packet::TargetAddress {
                address: bits_32(Is1, 0x8000_ff10),
                context: Some(context(El0, NonSecure, false)),
            },
            // A[7:1], A[15:8], A[23:16], A[31:24].
            "83 08 ff 00 80 20",
        ),
        (
            Packet::TargetAddress {
                address: bits_64(Is0, 0xffff_0000_0808_0400),
                context: Some(context(El1, NonSecure, true)),
            },
            "85 00 02 08 08 00 00 ff ff 31",
        ),
    ] {
        assert_eq!(bytes(packet, &c1()), expected, "{packet:?}");
    }
    let small = Parameters { vmid_bytes: 1, ..v4() };
    assert_eq!(bytes(ids(context(El1, NonSecure, true), Some(9), Some(0)), &small), "81 f1 09");
}

/// Rows 43 to 52 of 10.1; D-14, D-15, D-35.
#[test]
fn addresses() {
    let q = |address, count: Option<(u64, u8)>| Packet::Q {
        address,
        count: count.map(|(bits, bytes)| field(bits, bytes)),
    };
    for (packet, expected) in [
        (target(bits_32(Is0, 0x1204)), "9a 01 09 00 00"),
        (target(AddressField::ExactMatch(1)), "91"),
        (target(short(Is0, 0x84, 1)), "95 21"),
        (target(short(Is0, 0x2004, 2)), "95 81 10"),
        (target(short(Is1, 0x1002, 2)), "96 81 10"),
        (target(short(Is0, 0x210, 2)), "95 84 01"),
        (target(short(Is1, 0xa, 1)), "96 05"),
        (target(bits_32(Is0, 0x1234_fe84)), "9a 21 7f 34 12"),
        (target(bits_32(Is1, 0x1234_ff42)), "9b 21 ff 34 12"),
        (target(bits_64(Is0, 0x9abc_5678_1234_0484)), "9d 21 02 34 12 78 56 bc 9a"),
        (target(bits_64(Is1, 0xff80_0000_1234_8142)), "9e 21 81 34 12 00 00 80 ff"),
        (q(Some(AddressField::ExactMatch(0)), Some((5, 1))), "a0 05"),
        (q(Some(short(Is0, 0x3818, 2)), Some((3, 1))), "a5 86 1c 03"),
        (q(Some(bits_32(Is0, 0x0006_7ed0)), Some((3, 1))), "aa 34 3f 06 00 03"),
        (q(Some(bits_32(Is1, 0x0006_7ed0)), Some((3, 1))), "ab 68 7e 06 00 03"),
        (q(Some(AddressField::ExactMatch(2)), Some((255, 2))), "a2 ff 01"),
        (q(None, Some((133, 2))), "ac 85 01"),
        (q(None, None), "af"),
        (Packet::SourceAddress(AddressField::ExactMatch(1)), "b1"),
        (Packet::SourceAddress(short(Is0, 0x120, 1)), "b4 48"),
        (Packet::SourceAddress(short(Is1, 0x2290, 2)), "b5 c8 22"),
        (Packet::SourceAddress(bits_32(Is0, 0x0006_06c4)), "b6 31 03 06 00"),
        (Packet::SourceAddress(bits_32(Is1, 0x0006_06c4)), "b7 62 06 06 00"),
        (Packet::SourceAddress(bits_64(Is0, 0xff80_0000_0006_06c4)), "b8 31 03 06 00 00 00 80 ff"),
        (Packet::SourceAddress(bits_64(Is1, 0xff80_0000_0006_06c4)), "b9 62 06 06 00 00 00 80 ff"),
        (target(AddressField::Bits32 { sub_isa: Is0, bits: Address32(0), reserved: 3 }), "9a 80 80 00 00"),
        (
            target(AddressField::Bits64 { sub_isa: Is1, bits: Address(0), reserved: 1 }),
            "9e 80 00 00 00 00 00 00 00",
        ),
    ] {
        assert_eq!(bytes(packet, &c1()), expected, "{packet:?}");
    }
}

/// Rows 53 and 54 of 10.1, and every header of 5.10.
#[test]
fn every_atom_header_stands_for_one_list() {
    for (text, expected) in [
        ("E", "f7"),
        ("N", "f6"),
        ("NN", "d8"),
        ("EN", "d9"),
        ("NE", "da"),
        ("EE", "db"),
        ("NNN", "f8"),
        ("ENN", "f9"),
        ("NEN", "fa"),
        ("EEN", "fb"),
        ("NNE", "fc"),
        ("ENE", "fd"),
        ("NEE", "fe"),
        ("EEE", "ff"),
        ("NEEE", "dc"),
        ("NNNN", "dd"),
        ("NENE", "de"),
        ("ENEN", "df"),
        ("NEEEE", "f5"),
        ("NNNNN", "d5"),
        ("NENEN", "d6"),
        ("ENENE", "d7"),
    ] {
        assert_eq!(bytes(Packet::Atoms(atoms(text)), &c1()), expected, "{text}");
    }
    for count in 0..=20_u8 {
        let run = |last: char| {
            let mut text = "E".repeat(usize::from(count) + 3);
            text.push(last);
            Packet::Atoms(atoms(&text))
        };
        assert_eq!(bytes(run('E'), &c1()), hex(&[0xc0 + count]));
        assert_eq!(bytes(run('N'), &c1()), hex(&[0xe0 + count]));
    }
    for text in ["EENE", "NEEN", "EENEE", "NNNNNN", "NEEEEE", "ENENEN"] {
        assert_eq!(refused(Packet::Atoms(atoms(text)), &c1()), "atoms");
    }
}

/// D-30, D-31, and the rows of 2.3.
#[test]
fn packets_of_etmv4_only() {
    let result =
        |implied, result, bits, bytes| ConditionalResult { implied, result, key: field(bits, bytes) };
    let one = |first| Packet::ConditionalResult1 { first, second: None };
    for (packet, expected) in [
        (Packet::FunctionReturn, "05"),
        (Packet::ExceptionReturn, "07"),
        (Packet::Resynchronization, "08"),
        (Packet::BranchFutureFlush, "00 07"),
        (Packet::NumberedDataSyncMarker(5), "25"),
        (Packet::UnnumberedDataSyncMarker(3), "2b"),
        (Packet::UnnumberedDataSyncMarker(4), "2c"),
        (Packet::ConditionalInstruction3 { count: 2, repeated: true, reserved: false }, "6d 05"),
        (Packet::ConditionalInstruction3 { count: 63, repeated: false, reserved: true }, "6d fe"),
        (Packet::ConditionalInstruction2(2), "42"),
        (Packet::ConditionalResult3(0xa34), "5a 34"),
        (
            Packet::ConditionalResult1 {
                first: result(false, 2, 0x29, 2),
                second: Some(result(false, 3, 1, 1)),
            },
            "68 92 05 13",
        ),
        (
            Packet::ConditionalResult1 {
                first: result(true, 0, 0, 1),
                second: Some(result(true, 0xf, 0x7f_ffff_ffff, 6)),
            },
            "6b 00 ff ff ff ff ff ff",
        ),
        (one(result(true, 1, 7, 1)), "6f 71"),
        (one(result(false, 1, 7, 2)), "6e f1 00"),
        (Packet::ConditionalInstruction1(field(0x85, 2)), "6c 85 01"),
        (Packet::ConditionalFlush, "43"),
        (Packet::ConditionalResult4(2), "46"),
        (Packet::ConditionalResult2 { by_two: false, token: 2 }, "4a"),
        (Packet::ConditionalResult2 { by_two: true, token: 0 }, "4c"),
    ] {
        assert_eq!(bytes(packet, &v4()), expected, "{packet:?}");
        assert_eq!(refused(packet, &c0()), "version", "{packet:?}");
    }
}
