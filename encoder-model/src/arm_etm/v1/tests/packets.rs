//! Bytes of single packets of ETMv1.

use crate::arm_etm::v1::{UnencodablePacket, write_packet};
use traceproof_vectors::arm_etm::v1::AddressReason;
use traceproof_vectors::arm_etm::{CompressedAddress, Packet, Parameters};

use super::{no_data, v1, values_only};
use crate::arm_etm::tests::hex;
use traceproof_vectors::Address32;

fn bytes(packet: Packet, parameters: &Parameters) -> String {
    hex(&write_packet(&packet, parameters).expect("encodable"))
}

fn full(address: u32, reason: AddressReason, jazelle: bool, context_id: Option<u32>) -> Packet {
    Packet::FullBranchAddress { address: Address32(address), reason, jazelle, context_id }
}

const fn address(bits: u64, bytes: u8) -> CompressedAddress {
    CompressedAddress { bits, bytes }
}

/// E1-01. ETM1-PKT-005, 008, 016 (5.5.4, 5.6.3).
#[test]
fn full_addresses_tell_reason_and_context_id() {
    let thumb = 0x8125;
    assert_eq!(bytes(full(thumb, AddressReason::TraceEnabled, false, None), &v1()), "A5 82 82 80 10");
    let context = Parameters { context_id_bytes: 2, ..v1() };
    let packet = full(thumb, AddressReason::TraceEnabled, false, Some(7));
    assert_eq!(bytes(packet, &context), "A5 82 82 80 10 07 00");
    // ETM1-PKT-016: a branch has none.
    assert_eq!(bytes(full(thumb, AddressReason::Branch, false, None), &context), "A5 82 82 80 00");
    // ETM1-PKT-018: nor has any before ETMv1.2.
    let old = Parameters { minor: 1, ..context };
    let packet = full(thumb, AddressReason::DebugExit, false, None);
    assert_eq!(bytes(packet, &old), "A5 82 82 80 30");
    // ETM1-PKT-007: J is bit 7; A[31:28] are below the reason.
    let java = Parameters { minor: 3, ..v1() };
    assert_eq!(bytes(full(0xf000_0003, AddressReason::Periodic, true, None), &java), "83 80 80 80 CF");
}

/// E1-02, E1-04. ETM1-PKT-004 (5.5.4), ETM1-DAT-002, 004, 005 (5.4).
#[test]
fn short_addresses_and_data() {
    assert_eq!(bytes(Packet::BranchAddress(address(0x1124, 2)), &v1()), "A4 22");
    assert_eq!(bytes(Packet::BranchAddress(address(0x0fff_ffff, 4)), &v1()), "FF FF FF 7F");
    assert_eq!(bytes(Packet::DataAddress(address(0, 1)), &v1()), "00");
    assert_eq!(bytes(Packet::DataAddress(address(0xf000_1004, 5)), &v1()), "84 A0 80 80 0F");
    assert_eq!(bytes(Packet::DataValue { bytes: 4, value: 0x9124 }, &v1()), "24 91 00 00");
    assert_eq!(bytes(Packet::DataValue { bytes: 2, value: 0xabcd }, &v1()), "CD AB");
    assert_eq!(bytes(Packet::DataValue { bytes: 1, value: 0xab }, &v1()), "AB");
}

#[test]
fn what_cannot_travel_is_blamed() {
    let context = Parameters { context_id_bytes: 1, ..v1() };
    let old = Parameters { minor: 1, ..v1() };
    let value = |bytes, value| Packet::DataValue { bytes, value };
    for (packet, parameters, field) in [
        (Packet::BranchAddress(address(0, 0)), v1(), "branch_address"),
        (Packet::BranchAddress(address(0x80, 1)), v1(), "branch_address"),
        (Packet::BranchAddress(address(0, 5)), v1(), "branch_address"),
        (full(0, AddressReason::Periodic, false, None), old, "reason"),
        (full(0, AddressReason::Branch, true, None), v1(), "jazelle"),
        (full(0, AddressReason::Branch, false, Some(0)), context.clone(), "context_id"),
        (full(0, AddressReason::Overflow, false, None), context.clone(), "context_id"),
        (full(0, AddressReason::Overflow, false, Some(0x100)), context, "context_id"),
        (full(0, AddressReason::Overflow, false, Some(0)), v1(), "context_id"),
        (Packet::DataAddress(address(1 << 32, 5)), v1(), "data_address"),
        (Packet::DataAddress(address(0, 1)), values_only(), "packet"),
        (value(3, 0), v1(), "bytes"),
        (value(1, 0x100), v1(), "value"),
        (value(4, 0), no_data(), "packet"),
        (Packet::ContextId { more: false, value: 0 }, v1(), "packet"),
        (Packet::Trigger, v1(), "packet"),
    ] {
        assert_eq!(write_packet(&packet, &parameters), Err(UnencodablePacket { field }), "{packet:?}");
    }
}
