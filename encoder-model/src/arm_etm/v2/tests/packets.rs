//! Bytes of single packets.

use crate::arm_etm::v2::{UnencodablePacket, write_packet};
use traceproof_vectors::arm_etm::{CompressedAddress, Packet, Parameters, Reason};

use crate::arm_etm::tests::hex;
use traceproof_vectors::Address32;

fn bytes(packet: Packet, parameters: &Parameters) -> String {
    hex(&write_packet(&packet, parameters).expect("encodable"))
}

const fn data_address(bits: u64, bytes: u8) -> Option<CompressedAddress> {
    Some(CompressedAddress { bits, bytes })
}

fn plain() -> Parameters {
    Parameters::default()
}

fn without_addresses() -> Parameters {
    Parameters { data_address: false, ..plain() }
}

/// LM-01, LM-03.
#[test]
fn placeholders() {
    let with_address = |more, tag, address| Packet::LoadMissOccurred { more, first: true, tag, address };
    let full = with_address(false, 1, data_address(0x8000_1234, 5));
    assert_eq!(bytes(full, &plain()), "74 B4 A4 80 80 08");
    for (tag, without_a, with_a) in [(0, "50", "70"), (1, "54", "74"), (2, "58", "78"), (3, "5C", "7C")] {
        let middle = Packet::LoadMissOccurred { more: false, first: false, tag, address: None };
        assert_eq!(bytes(middle, &plain()), without_a);
        assert_eq!(bytes(with_address(false, tag, None), &without_addresses()), with_a);
    }
    for (tag, expected) in [(0, "D0"), (1, "D4"), (2, "D8"), (3, "DC")] {
        let more = Packet::LoadMissOccurred { more: true, first: false, tag, address: None };
        assert_eq!(bytes(more, &plain()), expected);
    }
}

/// LM-04.
#[test]
fn miss_data() {
    for (tag, ss, value, expected) in [
        (1, 3, 0xdead_beef, "2C EF BE AD DE"),
        (2, 0, 0, "40"),
        (3, 1, 0x7f, "64 7F"),
        (3, 2, 0x1234, "68 34 12"),
        (1, 1, 0xff, "24 FF"),
        (1, 2, 0x100, "28 00 01"),
        (1, 3, 0x10000, "2C 00 00 01 00"),
        (0, 1, 0x55, "04 55"),
        (1, 3, 5, "2C 05 00 00 00"),
    ] {
        assert_eq!(bytes(Packet::LoadMissData { more: false, tag, ss, value }, &plain()), expected);
    }
}

/// Every header of the table of 4.12.1, with C = 1.
#[test]
fn headers_with_c() {
    for (tag, expected) in [
        (0, ["80", "84", "88", "8C"]),
        (1, ["A0", "A4", "A8", "AC"]),
        (2, ["C0", "C4", "C8", "CC"]),
        (3, ["E0", "E4", "E8", "EC"]),
    ] {
        for (ss, expected) in (0..).zip(expected) {
            let written = bytes(Packet::LoadMissData { more: true, tag, ss, value: 0 }, &plain());
            assert_eq!(written.get(..2), Some(expected));
        }
    }
    assert_eq!(bytes(Packet::ValueNotTraced { more: false, first: false, address: None }, &plain()), "6A");
    assert_eq!(bytes(Packet::ValueNotTraced { more: true, first: false, address: None }, &plain()), "EA");
}

/// E2-01.
#[test]
fn normal_data() {
    let packet = |more, first, address, ss, value| Packet::NormalData { more, first, address, ss, value };
    let short = packet(false, true, data_address(4, 1), 2, Some(0x1234));
    assert_eq!(bytes(short, &plain()), "2A 04 34 12");
    assert_eq!(bytes(packet(false, false, None, 0, Some(0)), &plain()), "02");
    let full = packet(true, true, data_address(0x1234_5678, 5), 3, Some(0xdead_beef));
    assert_eq!(bytes(full, &plain()), "AE F8 AC D1 91 01 EF BE AD DE");
    let address_only = Parameters { data_value: false, ..plain() };
    assert_eq!(bytes(packet(false, true, data_address(4, 1), 0, None), &address_only), "22 04");
}

/// E2-02.
#[test]
fn context_ids() {
    for (context_id_bytes, more, value, expected) in
        [(1, false, 0x42, "6E 42"), (2, true, 0x1234, "EE 34 12"), (4, false, 0xa1b2_c3d4, "6E D4 C3 B2 A1")]
    {
        let parameters = Parameters { context_id_bytes, ..plain() };
        assert_eq!(bytes(Packet::ContextId { more, value }, &parameters), expected);
    }
}

/// E2-04.
#[test]
fn tfo_packets() {
    let with_context = Parameters { context_id_bytes: 1, ..plain() };
    let packet = |reason, context_id, address, under_lsm| Packet::TraceFifoOffset {
        reason,
        jazelle: false,
        context_id,
        address,
        under_lsm,
    };
    let periodic = packet(Reason::Periodic, Some(7), Address32(0x8125), None);
    assert_eq!(bytes(periodic, &with_context), "00 07 25 81 00 00");
    let under_lsm = packet(Reason::TraceEnabled, None, Address32(0x8000), data_address(4, 1));
    assert_eq!(bytes(under_lsm, &plain()), "A0 00 80 00 00 09");
}

#[test]
fn what_cannot_travel_is_refused() {
    let placeholder = |first, tag, address| Packet::LoadMissOccurred { more: false, first, tag, address };
    let data = |ss, value| Packet::LoadMissData { more: false, tag: 1, ss, value };
    let branch = |bits, bytes| Packet::BranchAddress(CompressedAddress { bits, bytes });
    for (packet, parameters, field) in [
        (placeholder(true, 4, data_address(0, 1)), plain(), "tag"),
        (placeholder(true, 1, None), plain(), "address"),
        (placeholder(false, 1, data_address(0, 1)), plain(), "address"),
        (placeholder(true, 1, data_address(0, 1)), without_addresses(), "address"),
        (placeholder(true, 1, data_address(0x80, 1)), plain(), "address"),
        (placeholder(true, 1, data_address(1 << 32, 5)), plain(), "address"),
        (placeholder(true, 1, data_address(0, 6)), plain(), "address"),
        (data(1, 0x100), plain(), "ss"),
        (data(4, 0), plain(), "ss"),
        (Packet::ContextId { more: false, value: 0 }, plain(), "packet"),
        (
            Packet::ContextId { more: false, value: 0x100 },
            Parameters { context_id_bytes: 1, ..plain() },
            "value",
        ),
        (branch(0x40, 1), plain(), "branch_address"),
        (branch(0, 5), plain(), "branch_address"),
        (branch(1 << 32, 5), plain(), "branch_address"),
    ] {
        assert_eq!(write_packet(&packet, &parameters), Err(UnencodablePacket { field }), "{packet:?}");
    }
    // Java state came with architecture 2.1.
    let java = Parameters { minor: 1, ..plain() };
    assert!(write_packet(&branch(1 << 32, 5), &java).is_ok());
}
