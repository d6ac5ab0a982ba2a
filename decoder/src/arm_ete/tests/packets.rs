//! Bytes -> packets: section 10.1 of the sheet and rows D of the additions.

use alloc::format;
use alloc::vec;
use alloc::vec::Vec;
use core::ops::ControlFlow;

use traceproof_vectors::arm::{ExceptionLevel, SecurityState};
use traceproof_vectors::arm_ete::{
    AddressField, Atoms, ConditionalResult, ContextField, Packet, Parameters, SubIsa, VariableField, Version,
};
use traceproof_vectors::{Address, Address32, Fault, FaultClass, Place};

use super::{ALIGN, bytes, c0, c1, v4};
use crate::arm_ete::{Listener, PacketReader};

/// What a reader finds: packets and faults with their places.
#[derive(Debug, Default, PartialEq)]
struct Found {
    packets: Vec<(Place, Packet)>,
    faults: Vec<Fault>,
}

impl Listener for Found {
    fn packet(&mut self, place: Place, packet: &Packet) -> ControlFlow<()> {
        self.packets.push((place, *packet));
        ControlFlow::Continue(())
    }

    fn lost(&mut self, fault: &Fault) {
        self.faults.push(*fault);
    }

    fn cut(&mut self, fault: &Fault) {
        self.faults.push(*fault);
    }
}

/// What is in these bytes, whatever the chunks.
fn find(parameters: &Parameters, wire: &[u8]) -> Found {
    let run = |mut reader: PacketReader, chunk: usize| {
        let mut found = Found::default();
        wire.chunks(chunk).for_each(|chunk| reader.push(chunk, &mut found));
        reader.finish(&mut found);
        found
    };
    let reader = PacketReader::new(parameters).expect("possible");
    let whole = run(reader.clone(), wire.len());
    for chunk in 1..8 {
        assert_eq!(run(reader.clone(), chunk), whole, "{wire:02x?} by {chunk}");
    }
    assert_eq!(run(reader.without_fast_path(), 3), whole, "{wire:02x?}");
    whole
}

/// The packets after an A-sync; there are no faults.
pub(super) fn packets(parameters: &Parameters, text: &str) -> Vec<Packet> {
    let found = find(parameters, &bytes(&format!("{ALIGN} {text}")));
    assert_eq!(found.faults, [], "{text}");
    found.packets.iter().skip(1).map(|(_, packet)| *packet).collect()
}

/// The one packet that these bytes are.
fn packet(parameters: &Parameters, text: &str) -> Packet {
    let packets = packets(parameters, text);
    assert_eq!(packets.len(), 1, "{text}: {packets:?}");
    packets[0]
}

const fn field(bits: u64, bytes: u8) -> VariableField {
    VariableField { bits, bytes }
}

fn atoms(text: &str) -> Option<Atoms> {
    Some(text.parse().expect("atoms"))
}

fn info(
    info: Option<VariableField>,
    speculation: Option<VariableField>,
    cycle_threshold: Option<VariableField>,
) -> Packet {
    Packet::TraceInfo { control_bytes: 1, reserved: 0, info, key: None, speculation, cycle_threshold }
}

fn short(sub_isa: SubIsa, bits: u32, bytes: u8) -> AddressField {
    AddressField::Short { sub_isa, bits: Address32(bits), bytes }
}

fn low(sub_isa: SubIsa, bits: u32) -> AddressField {
    AddressField::Bits32 { sub_isa, bits: Address32(bits), reserved: 0 }
}

fn full(sub_isa: SubIsa, bits: u64) -> AddressField {
    AddressField::Bits64 { sub_isa, bits: Address(bits), reserved: 0 }
}

fn target(address: AddressField) -> Packet {
    Packet::TargetAddress { address, context: None }
}

fn exception(number: u8, with_target: bool, address: Option<AddressField>) -> Packet {
    Packet::Exception { number, with_target, reserved: false, address, context: None }
}

fn context(level: ExceptionLevel, security: SecurityState, is_64_bit: bool) -> ContextField {
    ContextField { exception_level: level, security, is_64_bit, ..ContextField::default() }
}

use ExceptionLevel::{El0, El1, El2, El3};
use SecurityState::{NonSecure, Realm, Root, Secure};
use SubIsa::{Is0, Is1};

/// Rows 1 to 13 and 20, 21, 35 to 37.
#[test]
fn rows_of_state() {
    for (parameters, text, expected) in [
        (c1(), ALIGN, Packet::AlignmentSync { zeros: 11 }),
        (c1(), "00 00 00 00 00 00 00 00 00 00 00 00 00 80", Packet::AlignmentSync { zeros: 13 }),
        (c1(), "00 03", Packet::Discard),
        (c1(), "00 05", Packet::Overflow),
        (c1(), "01 00", info(None, None, None)),
        (c0(78), "01 09 01 16", info(Some(field(1, 1)), None, Some(field(0x16, 1)))),
        (
            c0(78),
            "01 0d 41 ac 0a 80 02",
            info(Some(field(0x41, 1)), Some(field(0x52c, 2)), Some(field(0x100, 2))),
        ),
        (c0(78), "01 04 03", info(None, Some(field(3, 1)), None)),
        (c1(), "02 d7 df 01", Packet::Timestamp { value: field(0x6fd7, 3), count: None }),
        (c1(), "02 05", Packet::Timestamp { value: field(5, 1), count: None }),
        (
            c1(),
            "02 92 cb 81 80 ff ff ff ff ff",
            Packet::Timestamp { value: field(0xffff_ffff_f000_6592, 9), count: None },
        ),
        (
            c0(78),
            "03 c5 c6 04 85 a8 03",
            Packet::Timestamp { value: field(0x12345, 3), count: Some(field(0xd405, 3)) },
        ),
        (c1(), "03 00 ff ff 7f", Packet::Timestamp { value: field(0, 1), count: Some(field(0x1f_ffff, 3)) }),
        (c1(), "88", Packet::TimestampMarker),
        (c1(), "04", Packet::TraceOn),
        (
            c1(),
            "09 01 88 77 66 55 44 33 22 11",
            Packet::Instrumentation { level: 1, reserved: 0, value: 0x1122_3344_5566_7788 },
        ),
        (c1(), "0a", Packet::TransactionStart),
        (c1(), "0b", Packet::TransactionCommit),
        (c1(), "70", Packet::Ignore),
        (c1(), "79", Packet::Event(9)),
        (c1(), "80", Packet::ContextSame),
    ] {
        assert_eq!(packet(&parameters, text), expected, "{text}");
    }
}

/// Rows 14 to 19, D-18 and D-17.
#[test]
fn exceptions() {
    let level = context(El0, NonSecure, true);
    let with = |number, with_target, address| {
        let context = Some(level);
        Packet::Exception { number, with_target, reserved: false, address: Some(address), context }
    };
    for (text, expected) in [
        ("06 1d 95 ff 10", exception(0xe, false, Some(short(Is0, 0x21fc, 2)))),
        ("06 05 82 00 08 40 00 30", with(2, false, low(Is0, 0x0040_1000))),
        ("06 44 90", exception(2, true, Some(AddressField::ExactMatch(0)))),
        ("06 58 90", exception(0xc, true, Some(AddressField::ExactMatch(0)))),
        ("06 01 70", exception(0, false, None)),
        ("06 40 70", exception(0, true, None)),
        ("06 31 70", exception(0x18, false, None)),
        ("06 70 70", exception(0x18, true, None)),
        ("06 01 95 01", exception(0, false, Some(short(Is0, 4, 1)))),
        ("06 35 90", exception(0x1a, false, Some(AddressField::ExactMatch(0)))),
        ("06 5c 82 01 08 00 00 30", with(0xe, true, low(Is0, 0x1004))),
        ("06 5c 86 01 08 00 00 00 00 00 80 30", with(0xe, true, full(Is1, 0x8000_0000_0000_0802))),
    ] {
        assert_eq!(packet(&c1(), text), expected, "{text}");
    }
}

/// Rows 22 to 34, D-06 to D-08.
#[test]
fn counts_commits_and_cancels() {
    let count1 = |commit, count| Packet::CycleCount1 { commit, count };
    let count2 = |large, commit, count| Packet::CycleCount2 { large, commit, count };
    let count3 = |commit, count| Packet::CycleCount3 { commit, count };
    let cancel1 = |count, mispredict| Packet::Cancel1 { count, mispredict };
    for (parameters, text, expected) in [
        (c0(78), "0c 3a", count2(false, 3, 10)),
        (c0(78), "0d f3", count2(true, 15, 3)),
        (c0(4), "0d c5", count2(true, 12, 5)),
        (c1(), "0d f3", count2(true, 15, 3)),
        (c1(), "0d 03", count2(true, 0, 3)),
        (c0(78), "0e 85 01 84 09", count1(Some(field(133, 2)), Some(field(0x484, 2)))),
        (c0(78), "0e 00 05", count1(Some(field(0, 1)), Some(field(5, 1)))),
        (c0(78), "0f 03", count1(Some(field(3, 1)), None)),
        (c1(), "0e 84 09", count1(None, Some(field(0x484, 2)))),
        (c1(), "0f", count1(None, None)),
        (c0(78), "1b", count3(2, 3)),
        (c1(), "12", count3(0, 2)),
        (c0(78), "2d 85 01", Packet::Commit(field(133, 2))),
        (c0(78), "2d 85 00", Packet::Commit(field(5, 2))),
        (c0(78), "2d ff ff ff ff ff", Packet::Commit(field(0xf_ffff_ffff, 5))),
        (c0(78), "2e 03", cancel1(field(3, 1), false)),
        (c0(78), "2f 81 01", cancel1(field(129, 2), true)),
        (c0(78), "30", Packet::Mispredict { atoms: None }),
        (c0(78), "31", Packet::Mispredict { atoms: atoms("E") }),
        (c0(78), "32", Packet::Mispredict { atoms: atoms("EE") }),
        (c0(78), "33", Packet::Mispredict { atoms: atoms("N") }),
        (c0(78), "34", Packet::Cancel2 { atoms: None }),
        (c0(78), "35", Packet::Cancel2 { atoms: atoms("E") }),
        (c0(78), "37", Packet::Cancel2 { atoms: atoms("N") }),
        (c0(78), "38", Packet::Cancel3 { atom: false, count: 2 }),
        (c0(78), "3b", Packet::Cancel3 { atom: true, count: 3 }),
        (c0(78), "3e", Packet::Cancel3 { atom: false, count: 5 }),
    ] {
        assert_eq!(packet(&parameters, text), expected, "{text}");
    }
}

/// Rows 38 to 42, D-33.
#[test]
fn contexts() {
    let ids = |context, vmid, context_id| ContextField { vmid, context_id, ..context };
    for (text, expected) in [
        ("81 d1 78 56 34 12 ef be 00 00", ids(context(El1, Secure, true), Some(0x1234_5678), Some(0xbeef))),
        (
            "81 f1 04 03 02 01 0d 0c 0b 0a",
            ids(context(El1, NonSecure, true), Some(0x0102_0304), Some(0x0a0b_0c0d)),
        ),
        ("81 b1 06 00 00 00", ids(context(El1, NonSecure, true), None, Some(6))),
        ("81 3a", context(El2, Realm, true)),
        ("81 1b", context(El3, Root, true)),
        ("81 32", context(El2, NonSecure, true)),
        ("81 2a", context(El2, Realm, false)),
        ("81 11", context(El1, Secure, true)),
        ("81 39", context(El1, Realm, true)),
        ("81 04", ContextField { reserved: true, ..context(El0, Secure, false) }),
    ] {
        assert_eq!(packet(&c1(), text), Packet::Context(expected), "{text}");
    }
    // Sizes decide: reading `ete-flags-without-bytes`.
    let none = Parameters { vmid_bytes: 0, ..v4(Version::Etmv4_4) };
    let expected = ids(context(El1, NonSecure, true), Some(0), Some(0));
    assert_eq!(packet(&none, "81 f1"), Packet::Context(expected));
    let two = Parameters { vmid_bytes: 2, context_id_bytes: 4, ..v4(Version::Etmv4_4) };
    let expected = ids(context(El1, NonSecure, true), Some(0x0201), Some(0x0605_0403));
    assert_eq!(packet(&two, "81 f1 01 02 03 04 05 06"), Packet::Context(expected));
    let address = low(Is1, 0x8000_ff10);
    let expected = Packet::TargetAddress { address, context: Some(context(El0, NonSecure, false)) };
    assert_eq!(packet(&c1(), "83 08 ff 00 80 20"), expected);
    let address = full(Is0, 0xffff_0000_0808_0400);
    let expected = Packet::TargetAddress { address, context: Some(context(El1, NonSecure, true)) };
    assert_eq!(packet(&c1(), "85 00 02 08 08 00 00 ff ff 31"), expected);
}

/// Rows 43 to 52: the bits that travel; what address it is follows from the history.
#[test]
fn addresses() {
    for (text, expected) in [
        ("91", AddressField::ExactMatch(1)),
        ("95 21", short(Is0, 0x84, 1)),
        ("95 81 10", short(Is0, 0x2004, 2)),
        ("96 81 10", short(Is1, 0x1002, 2)),
        ("96 05", short(Is1, 0xa, 1)),
        ("9a 01 09 00 00", low(Is0, 0x1204)),
        ("9a 21 7f 34 12", low(Is0, 0x1234_fe84)),
        ("9b 21 ff 34 12", low(Is1, 0x1234_ff42)),
        ("9d 21 02 34 12 78 56 bc 9a", full(Is0, 0x9abc_5678_1234_0484)),
        ("9e 21 81 34 12 00 00 80 ff", full(Is1, 0xff80_0000_1234_8142)),
        ("9a 81 89 00 00", AddressField::Bits32 { sub_isa: Is0, bits: Address32(0x1204), reserved: 3 }),
        ("9b 81 80 00 00", AddressField::Bits32 { sub_isa: Is1, bits: Address32(0x8002), reserved: 1 }),
    ] {
        assert_eq!(packet(&c1(), text), target(expected), "{text}");
    }
    for (text, expected) in [
        ("b1", AddressField::ExactMatch(1)),
        ("b4 48", short(Is0, 0x120, 1)),
        ("b5 c8 22", short(Is1, 0x2290, 2)),
        ("b6 31 03 06 00", low(Is0, 0x606c4)),
        ("b7 31 83 06 00", low(Is1, 0x68362)),
        ("b8 31 03 06 00 00 00 80 ff", full(Is0, 0xff80_0000_0006_06c4)),
        ("b9 31 03 06 00 00 00 80 ff", full(Is1, 0xff80_0000_0006_0362)),
    ] {
        assert_eq!(packet(&c1(), text), Packet::SourceAddress(expected), "{text}");
    }
    for (text, address, count) in [
        ("a0 05", Some(AddressField::ExactMatch(0)), Some(field(5, 1))),
        ("a5 86 1c 03", Some(short(Is0, 0x3818, 2)), Some(field(3, 1))),
        ("a6 06 03", Some(short(Is1, 0xc, 1)), Some(field(3, 1))),
        ("aa 34 3f 06 00 03", Some(low(Is0, 0x67ed0)), Some(field(3, 1))),
        ("ab 34 3f 06 00 03", Some(low(Is1, 0x63f68)), Some(field(3, 1))),
        ("ac 85 01", None, Some(field(133, 2))),
        ("af", None, None),
    ] {
        assert_eq!(packet(&c1(), text), Packet::Q { address, count }, "{text}");
    }
}

/// Rows D-09, D-29, D-30, D-31.
#[test]
fn packets_of_etmv4() {
    let exception = |number, with_target, fault_pending| Packet::ExceptionV4 {
        number,
        with_target,
        fault_pending,
        reserved: 0,
    };
    let result =
        |implied, result, bits, bytes| ConditionalResult { implied, result, key: field(bits, bytes) };
    for (text, expected) in [
        (
            "01 0f 41 85 01 ac 02 81 1f",
            Packet::TraceInfo {
                control_bytes: 1,
                reserved: 0,
                info: Some(field(0x41, 1)),
                key: Some(field(0x85, 2)),
                speculation: Some(field(0x12c, 2)),
                cycle_threshold: Some(field(0xf81, 2)),
            },
        ),
        (
            "01 91 81 03 85 02",
            Packet::TraceInfo {
                control_bytes: 3,
                reserved: 0x10 | 1 << 7 | 3 << 14,
                info: Some(field(0x105, 2)),
                key: None,
                speculation: None,
                cycle_threshold: None,
            },
        ),
        ("06 91 30", exception(0x208, false, Some(true))),
        ("06 21", exception(0x10, false, None)),
        ("05", Packet::FunctionReturn),
        ("07", Packet::ExceptionReturn),
        ("08", Packet::Resynchronization),
        ("00 07", Packet::BranchFutureFlush),
        ("25", Packet::NumberedDataSyncMarker(5)),
        ("2b", Packet::UnnumberedDataSyncMarker(3)),
        ("6d 05", Packet::ConditionalInstruction3 { count: 2, repeated: true, reserved: false }),
        ("42", Packet::ConditionalInstruction2(2)),
        ("5a 34", Packet::ConditionalResult3(0xa34)),
        (
            "68 92 05 13",
            Packet::ConditionalResult1 {
                first: result(false, 2, 0x29, 2),
                second: Some(result(false, 3, 1, 1)),
            },
        ),
        ("6f 71", Packet::ConditionalResult1 { first: result(true, 1, 7, 1), second: None }),
        (
            "6e f1 ff ff ff ff ff",
            Packet::ConditionalResult1 { first: result(false, 1, 0x7f_ffff_ffff, 6), second: None },
        ),
        ("6c 85 01", Packet::ConditionalInstruction1(field(0x85, 2))),
        ("43", Packet::ConditionalFlush),
        ("4e", Packet::ConditionalResult2 { by_two: true, token: 2 }),
        ("45", Packet::ConditionalResult4(1)),
    ] {
        assert_eq!(packet(&v4(Version::Etmv4_5), text), expected, "{text}");
    }
    let m: Vec<_> = packets(&v4(Version::Etmv4_2), "06 91 30 | 96 01");
    assert_eq!(m, [exception(0x208, false, Some(true)), target(short(Is1, 2, 1))]);
}

/// The byte at fault, counted after the A-sync.
#[test]
fn what_cannot_be_read() {
    use FaultClass::{ReservedEncoding, Truncated};
    for (parameters, text, class, byte) in [
        (c1(), "05", ReservedEncoding, 0),
        (c1(), "6c", ReservedEncoding, 0),
        (c1(), "93", ReservedEncoding, 0),
        (c1(), "99", ReservedEncoding, 0),
        (c1(), "a3 00", ReservedEncoding, 0),
        (c1(), "ba", ReservedEncoding, 0),
        (c1(), "14", ReservedEncoding, 0),
        (c1(), "0c 13", ReservedEncoding, 0),
        (Parameters { instrumentation: false, ..c1() }, "09", ReservedEncoding, 0),
        (Parameters { timestamp_markers: false, ..c1() }, "88", ReservedEncoding, 0),
        (c1(), "00 07", ReservedEncoding, 1),
        (c1(), "00 80", ReservedEncoding, 1),
        (c1(), "00 00 03", ReservedEncoding, 2),
        (c1(), "00 00 00 00 00 00 00 00 00 00 80", ReservedEncoding, 10),
        (c1(), "00 00 00 00 00 00 00 00 00 00 00 00 81", ReservedEncoding, 12),
        (c1(), "06 1c 90", ReservedEncoding, 1),
        (c1(), "06 5d 90", ReservedEncoding, 1),
        (c1(), "06 31 90", ReservedEncoding, 2),
        (c1(), "06 1d 70", ReservedEncoding, 2),
        (c1(), "06 1d b0", ReservedEncoding, 2),
        (c1(), "06 1d 81 00", ReservedEncoding, 2),
        (v4(Version::Etmv4_4), "06 1c", ReservedEncoding, 1),
        (v4(Version::Etmv4_4), "00 07", ReservedEncoding, 1),
        (c0(8), "2d 00", ReservedEncoding, 1),
        (c0(8), "2e 80 00", ReservedEncoding, 1),
        // Only bits above the field.
        (c0(8), "2f 80 80 80 80 30", ReservedEncoding, 1),
        (c0(4), "0d bf", ReservedEncoding, 1),
        (c0(4), "0d 1f", ReservedEncoding, 1),
        (c1(), "00", Truncated, 0),
        (c1(), "00 00 00", Truncated, 0),
        (c1(), "04 82 00 08", Truncated, 1),
        (c1(), "06 1d", Truncated, 0),
        (c1(), "02 80 80", Truncated, 0),
    ] {
        let found = find(&parameters, &bytes(&format!("{ALIGN} {text}")));
        let packet = if text.starts_with("04") { 2 } else { 1 };
        let place = Place { packet, byte: 12 + byte, bit: 0 };
        assert_eq!(found.faults, [Fault::new(class, place)], "{text}");
    }
}

/// Reading `ete-search-begins-at-the-fault`: the zero of a commit is the first of an A-sync.
#[test]
fn the_search_begins_at_the_fault() {
    let zeros = "00 00 00 00 00 00 00 00 00 00";
    let found = find(&c0(8), &bytes(&format!("{ALIGN} 2d 00 {zeros} 80 f7 00 03 80 04")));
    let place = |packet, byte| Place { packet, byte, bit: 0 };
    assert_eq!(found.faults.iter().map(|fault| fault.place).collect::<Vec<_>>(), [place(1, 13)]);
    let packets: Vec<_> = found.packets.into_iter().skip(1).collect();
    let expected = vec![
        (place(2, 13), Packet::AlignmentSync { zeros: 11 }),
        (place(3, 25), Packet::Atoms(Atoms::one(true))),
        (place(4, 26), Packet::Discard),
        (place(5, 28), Packet::ContextSame),
        (place(6, 29), Packet::TraceOn),
    ];
    assert_eq!(packets, expected);
}

/// Before the first A-sync bytes belong to no packet; of more than 11 zeros the last ones do.
#[test]
fn bytes_before_an_a_sync_are_skipped() {
    let found = find(&c1(), &bytes(&format!("05 00 00 80 00 {ALIGN} 04")));
    let place = |packet, byte| Place { packet, byte, bit: 0 };
    let sync = (place(0, 5), Packet::AlignmentSync { zeros: 11 });
    assert_eq!(found.packets, [sync, (place(1, 17), Packet::TraceOn)]);
    assert_eq!(found.faults, []);
}
