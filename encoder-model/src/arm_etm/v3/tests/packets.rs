//! Bytes of single packets of ETMv3.

use crate::arm_etm::v3::{UnencodablePacket, write_packet};
use traceproof_vectors::arm_etm::v3::{ExceptionInformation, InByteException, VariableField};
use traceproof_vectors::arm_etm::{Architecture, CompressedAddress, Packet, Parameters, Reason};

use crate::arm_etm::tests::hex;
use traceproof_vectors::Address32;

fn v3() -> Parameters {
    Parameters {
        architecture: Architecture::V3,
        minor: 5,
        timestamps: true,
        vmid: true,
        virtualization: true,
        ..Parameters::default()
    }
}

fn alternative() -> Parameters {
    Parameters { alternative_branches: true, m_profile: true, ..v3() }
}

fn accurate() -> Parameters {
    Parameters { cycle_accurate: true, ..v3() }
}

fn bytes(packet: Packet, parameters: &Parameters) -> String {
    hex(&write_packet(&packet, parameters).expect("encodable"))
}

const fn address(bits: u64, bytes: u8) -> CompressedAddress {
    CompressedAddress { bits, bytes }
}

const fn field(bits: u64, bytes: u8) -> VariableField {
    VariableField { bits, bytes }
}

fn branch(bits: u64, bytes: u8) -> Packet {
    Packet::BranchAddress(address(bits, bytes))
}

fn sync(cycle_count: Option<VariableField>, reason: Reason, address: u32) -> Packet {
    Packet::InstructionSync {
        cycle_count,
        context_id: None,
        reason,
        jazelle: false,
        non_secure: false,
        alt_isa: false,
        hyp: false,
        address: Some(Address32(address)),
        under_lsm: None,
    }
}

/// E3-01, E3-02: real silicon.
#[test]
fn instruction_syncs_of_silicon() {
    let first = sync(Some(field(3_214_978, 4)), Reason::TraceEnabled, 0xc000_caa1);
    assert_eq!(bytes(first, &accurate()), "70 82 9D C4 01 21 A1 CA 00 C0");
    assert_eq!(bytes(sync(None, Reason::Periodic, 0xc002_115d), &accurate()), "08 01 5D 11 02 C0");
}

/// Every bit of the information byte (ETM3-ISY-003), and the address under a load or store.
#[test]
fn information_byte() {
    let packet = |jazelle, non_secure, alt_isa, hyp, under_lsm| Packet::InstructionSync {
        cycle_count: None,
        context_id: Some(0x1234),
        reason: Reason::DebugExit,
        jazelle,
        non_secure,
        alt_isa,
        hyp,
        address: Some(Address32(0x8000)),
        under_lsm,
    };
    let parameters = Parameters { context_id_bytes: 2, ..v3() };
    for (packet, expected) in [
        (packet(true, false, false, false, None), "08 34 12 71 00 80 00 00"),
        (packet(false, true, false, false, None), "08 34 12 69 00 80 00 00"),
        (packet(false, false, true, false, None), "08 34 12 65 00 80 00 00"),
        (packet(false, false, false, true, None), "08 34 12 63 00 80 00 00"),
        (packet(false, false, false, false, Some(address(1, 1))), "08 34 12 E1 00 80 00 00 03"),
    ] {
        assert_eq!(bytes(packet, &parameters), expected);
    }
}

/// E3-03, E3-04: real silicon. `B7 FD D6 01`: 0x1ADF5B from bit 1 on, so that [5:0] = 1B, then 7D, 56, 01.
#[test]
fn branches_of_silicon() {
    assert_eq!(bytes(branch(0x001a_df5b, 4), &v3()), "B7 FD D6 01");
    // D7 BA 86 DB 0D: 2B | 3A << 6 | 06 << 13 | 5B << 20 | 0D << 27.
    let arm = 0x2b | 0x3a << 6 | 0x06 << 13 | 0x5b << 20 | 0x0d << 27;
    assert_eq!(bytes(branch(arm, 5), &v3()), "D7 BA 86 DB 0D");
    let thumb = 0x3b | 0x1f << 6 | 0x69 << 13 | 0x34 << 20 | 0x1b << 27;
    assert_eq!(bytes(branch(thumb, 5), &v3()), "F7 9F E9 B4 1B");
}

/// E3-06, E3-07.
#[test]
fn exceptions() {
    let packet = |at, information| Packet::ExceptionBranch { address: at, information };
    let irq = ExceptionInformation { number: 14, ..ExceptionInformation::default() };
    let cancelled = ExceptionInformation { cancel: true, non_secure: true, ..irq };
    // ARM 0x18 is 6; byte 5 is 01001000.
    assert_eq!(bytes(packet(address(6 | 1 << 30, 5), cancelled), &v3()), "8D 80 80 80 48 3D");
    // Thumb 0x8124 is 0x4092: [5:0] = 12, [11:6] = 02.
    assert_eq!(bytes(packet(address(0x92, 2), irq), &alternative()), "A5 42 1C");
    let wide = |number, resume| ExceptionInformation { number, hyp: Some(false), resume, ..irq };
    // Thumb 0x200 is 0x100: 00, 04, 00.
    assert_eq!(bytes(packet(address(0x100, 3), wide(19, None)), &alternative()), "81 84 40 86 01");
    assert_eq!(bytes(packet(address(0x100, 3), wide(24, Some(3))), &alternative()), "81 84 40 90 81 43");
    let short = ExceptionInformation { number: 5, resume: Some(3), ..irq };
    assert_eq!(bytes(packet(address(0x100, 3), short), &alternative()), "81 84 40 8A 43");
    // 13 | 01 << 7 ... with A[28] in byte 4: the same bytes are refused in the alternative scheme.
    let far = branch(0x09 | 0x01 << 6 | 0x01 << 13 | 0x40 << 20, 4);
    assert_eq!(bytes(far, &v3()), "93 81 81 40");
    assert_eq!(write_packet(&far, &alternative()), Err(UnencodablePacket { field: "branch_address" }));
}

/// ETM3-BR-006: `1 C eee aaa` in byte 5.
#[test]
fn exception_inside_byte_5() {
    let exception = InByteException { code: 1, cancel: true };
    let packet = Packet::InByteExceptionBranch { address: address(6 | 0b101 << 27, 5), exception };
    assert_eq!(bytes(packet, &v3()), "8D 80 80 80 CD");
    assert_eq!(write_packet(&packet, &alternative()), Err(UnencodablePacket { field: "packet" }));
}

/// E3-08, E3-09.
#[test]
fn data() {
    let placeholder = |first, address| Packet::LoadMissOccurred { more: false, first, tag: 1, address };
    assert_eq!(bytes(placeholder(true, Some(address(0x2000_0100, 5))), &v3()), "74 80 82 80 80 02");
    assert_eq!(bytes(placeholder(false, None), &v3()), "54");
    let data = Packet::LoadMissData { more: false, tag: 1, ss: 3, value: 0x1122_3344 };
    assert_eq!(bytes(data, &v3()), "2C 44 33 22 11");
    let normal = |address, ss, value| Packet::NormalData {
        more: false,
        first: true,
        address: Some(address),
        ss,
        value: Some(value),
    };
    assert_eq!(bytes(normal(address(4, 1), 0, 0), &v3()), "22 04");
    let big_endian = normal(address(1 << 32 | 0x1234_5678, 5), 1, 0xab);
    assert_eq!(bytes(big_endian, &v3()), "26 F8 AC D1 91 11 AB");
    let not_traced = |first, address| Packet::ValueNotTraced { more: false, first, address };
    assert_eq!(bytes(not_traced(true, Some(address(0x100, 2))), &v3()), "7A 80 02");
    assert_eq!(bytes(not_traced(false, None), &v3()), "6A");
}

/// E3-10.
#[test]
fn timestamps() {
    let packet = |clock_change, value| Packet::Timestamp { clock_change, value };
    let full = packet(false, field(0x82_f9d0_cd3d, 9));
    assert_eq!(bytes(full, &v3()), "42 BD 9A C3 CE AF 90 80 80 00");
    assert_eq!(bytes(packet(true, field(0xf5f, 2)), &v3()), "46 DF 1E");
    assert_eq!(bytes(packet(false, field(u64::MAX, 9)), &v3()), "42 FF FF FF FF FF FF FF FF FF");
    let short = Parameters { timestamp_bits: 48, ..v3() };
    let full = packet(false, field(0x1234_5678_9abc, 7));
    assert_eq!(bytes(full, &short), "42 BC B5 E2 B3 C5 C6 04");
    let wrong = Err(UnencodablePacket { field: "value" });
    assert_eq!(write_packet(&packet(false, field(1 << 48, 7)), &short), wrong);
    assert_eq!(write_packet(&packet(false, field(0, 8)), &short), wrong);
}

/// The rest of the header map (ETM3-HDR-001).
#[test]
fn other_packets() {
    let m_profile = Parameters { context_id_bytes: 1, ..alternative() };
    for (packet, expected) in [
        (Packet::AlignmentSync { zeros: 5 }, "00 00 00 00 00 80"),
        (Packet::Trigger, "0C"),
        (Packet::StoreFailed, "50"),
        (Packet::DataSuppressed, "62"),
        (Packet::Ignore, "66"),
        (Packet::ExceptionExit, "76"),
        (Packet::ExceptionEntry, "7E"),
        (Packet::Vmid(0xa5), "3C A5"),
        (Packet::ContextId { more: false, value: 7 }, "6E 07"),
        (Packet::PHeader(0xc8), "C8"),
    ] {
        assert_eq!(bytes(packet, &m_profile), expected);
    }
    assert_eq!(bytes(Packet::CycleCount(field(7695, 2)), &accurate()), "04 8F 3C");
}

/// E3-11.
#[test]
fn data_only_sync() {
    let parameters = Parameters { data_only: true, context_id_bytes: 1, ..v3() };
    let Packet::InstructionSync { .. } = sync(None, Reason::TraceEnabled, 0) else { unreachable!() };
    let packet = Packet::InstructionSync {
        cycle_count: None,
        context_id: Some(7),
        reason: Reason::TraceEnabled,
        jazelle: false,
        non_secure: false,
        alt_isa: false,
        hyp: false,
        address: None,
        under_lsm: None,
    };
    assert_eq!(bytes(packet, &parameters), "08 07 21");
    let wrong = Err(UnencodablePacket { field: "address" });
    assert_eq!(write_packet(&packet, &Parameters { data_only: false, ..parameters }), wrong);
}

/// All 64 P-headers, by the reserved ones of ETM3-PH-004 and ETM3-PH-010.
#[test]
fn reserved_p_headers() {
    for header in 0x80..=0xff {
        let second_format = header & 0b11 == 0b10;
        let plain = header & 0b11 == 0b00 || header & 0b1111_0011 == 0b1000_0010;
        let accurate_too = header == 0x92 || header == 0x96;
        for (parameters, legal) in [(v3(), plain), (accurate(), plain || second_format && accurate_too)] {
            assert_eq!(
                write_packet(&Packet::PHeader(header), &parameters).is_ok(),
                legal,
                "{header:#x} {}",
                parameters.cycle_accurate
            );
        }
    }
}

#[test]
fn what_cannot_travel_is_refused() {
    let placeholder = |tag| Packet::LoadMissOccurred { more: false, first: false, tag, address: None };
    let old = Parameters { minor: 3, timestamps: false, vmid: false, virtualization: false, ..v3() };
    let information = |number| ExceptionInformation { number, ..ExceptionInformation::default() };
    let exception = |at, number| Packet::ExceptionBranch { address: at, information: information(number) };
    let tfo = Packet::TraceFifoOffset {
        reason: Reason::Periodic,
        jazelle: false,
        context_id: None,
        address: Address32(0),
        under_lsm: None,
    };
    let no_values = Parameters { data_value: false, ..v3() };
    for (packet, parameters, field) in [
        (placeholder(0), v3(), "tag"),
        (placeholder(4), v3(), "tag"),
        (Packet::LoadMissData { more: false, tag: 0, ss: 0, value: 0 }, v3(), "tag"),
        (Packet::LoadMissData { more: true, tag: 1, ss: 0, value: 0 }, v3(), "more"),
        (Packet::LoadMissData { more: false, tag: 1, ss: 0, value: 0 }, no_values.clone(), "packet"),
        (Packet::StoreFailed, no_values, "packet"),
        (Packet::DataSuppressed, Parameters { data_value: false, data_address: false, ..v3() }, "packet"),
        (Packet::CycleCount(field(1, 1)), v3(), "packet"),
        (Packet::CycleCount(field(1 << 32, 5)), accurate(), "cycle_count"),
        (Packet::CycleCount(field(0x80, 1)), accurate(), "cycle_count"),
        (sync(Some(field(1, 1)), Reason::Overflow, 0), v3(), "cycle_count"),
        (Packet::Timestamp { clock_change: false, value: field(0, 1) }, old.clone(), "packet"),
        (Packet::Vmid(0), old.clone(), "packet"),
        (Packet::ExceptionExit, Parameters { minor: 4, ..old.clone() }, "packet"),
        (Packet::ExceptionExit, old, "packet"),
        (Packet::ExceptionEntry, v3(), "packet"),
        (Packet::AlignmentSync { zeros: 4 }, v3(), "zeros"),
        (Packet::AlignmentSync { zeros: u64::MAX }, v3(), "zeros"),
        (Packet::ContextId { more: false, value: 0 }, v3(), "packet"),
        (exception(address(0, 1), 1), alternative(), "address"),
        (exception(address(0, 4), 1), v3(), "address"),
        (exception(address(0, 5), 1), v3(), "address"),
        (exception(address(1 << 30, 5), 16), v3(), "information"),
        (branch(0, 5), v3(), "branch_address"),
        (branch(0x1000, 2), alternative(), "branch_address"),
        (tfo, v3(), "packet"),
    ] {
        assert_eq!(write_packet(&packet, &parameters), Err(UnencodablePacket { field }), "{packet:?}");
    }
}
