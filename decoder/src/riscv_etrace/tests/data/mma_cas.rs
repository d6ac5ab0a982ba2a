//! Packets of the MMA/CAS extension, and what version 2.0.5 changes in the others.

use super::*;
use traceproof_vectors::riscv_etrace::Version;

/// Y30 to Y36.
#[test]
fn unified_packets() {
    let full = |value| Some(ReportedData::Full(value));
    let of = |dtype_width_p| DataParameters {
        layout: DataLayout::MmaCas,
        dtype_width_p,
        ..DataParameters::default()
    };
    let atomic = |op, operand, data, address| {
        DataPacket::Atomic(Atomic {
            op,
            size: 2,
            op_len: 0,
            operand,
            data_len: 0,
            data,
            address: Some(address),
        })
    };
    let access =
        |multi, data, address| Transfer { multi, data: full(data), address: Some(Full(address)), ..PLAIN };
    let csr = Csr {
        op: CsrOperation::ReadWrite,
        data_len: 0,
        data: None,
        op_len: 0,
        operand: None,
        address: Full(0x340),
    };
    for (id, parameters, payload, packet) in [
        ("Y30", with(of(1)), "08 11 40", DataPacket::Load(access(false, 0x11, 0x100))),
        ("Y31", with(of(2)), "15 04 00 01", DataPacket::Store(access(true, 2, 0x200))),
        ("Y32", with(of(4)), "21 0c 04 01", DataPacket::Load(access(true, 3, 0x104))),
        ("Y33", with(of(4)), "9e 90 10 08", atomic(CompareAndSwapFailure, full(9), None, Full(0x204))),
        ("Y34", with(of(4)), "a2 50 80 01 20", atomic(AtomicOperation::Swap, full(5), full(6), Full(0x200))),
        ("Y35", no_data(of(4)), "92 06", DataPacket::Csr(csr)),
        ("Y36", no_data(of(4)), "be 80 00", atomic(ConditionalStoreFailure, None, None, Full(0x100))),
    ] {
        assert_eq!(read(&parameters, &[payload]), Ok(packet), "{id}");
    }
}

/// Y37 to Y40: `lrid` has 2 bits. The data phase of a load and of an atomic are one packet.
#[test]
fn split_packets() {
    let data = DataParameters { lrid_width_p: 2, layout: DataLayout::MmaCas, ..split() };
    let parameters = with(data);
    let (size, unaligned, multi) = (2, false, false);
    let (load, atomic) = ("a0 80 00", "a2 41 01 20");
    let request = LoadRequest { size, unaligned, multi, lrid: 2, address: Full(0x100) };
    assert_eq!(read(&parameters, &[load]), Ok(DataPacket::LoadRequest(request)), "Y37");
    let request = AtomicRequest {
        op: AtomicOperation::Swap,
        size,
        lrid: 1,
        op_len: 0,
        operand: ReportedData::Full(5),
        address: Some(Full(0x200)),
    };
    assert_eq!(read(&parameters, &[atomic]), Ok(DataPacket::AtomicRequest(request)), "Y38");
    let response = LoadData { size, lrid: 1, data: Some(ReportedData::Full(0x1234)) };
    assert_eq!(read(&parameters, &[atomic, "9b 34 12"]), Ok(DataPacket::LoadData(response)), "Y39");
    let error = LoadData { size, lrid: 2, data: None };
    assert_eq!(read(&parameters, &[load, "2b"]), Ok(DataPacket::LoadData(error)), "Y40");
}

/// RVET5-DEC-018: subformats 0 to 3 are no atomic and no CSR access; a diff of 2 has no meaning without address.
#[test]
fn reserved_codes() {
    let data = DataParameters { layout: DataLayout::MmaCas, dtype_width_p: 4, ..DataParameters::default() };
    for dtype in 0..4 {
        let payload = format!("{:02x} 00", 0b10 | dtype << 2);
        assert!(read(&with(data), &[&payload]).is_err(), "{dtype}");
    }
    // Format 0, subformat 0 (load), size 2, diff 2.
    assert!(read(&no_address(data), &["a0 00"]).is_err());
    // Format 2, subformat 8 (swap), size 2, lrid 0, diff 2, split.
    let split = DataParameters { layout: DataLayout::MmaCas, lrid_width_p: 2, ..split() };
    assert!(read(&no_address(split), &["a2 08"]).is_err());
}

/// RVET5-ENC-017: without address, atomics of a split interface come in two packets in version 2.0.5 whatever the
/// layout.
#[test]
fn split_atomics_without_address() {
    let data_trace = DataParameters { lrid_width_p: 2, ..split() };
    let old = no_address(data_trace);
    let new = Parameters { version: Version::V2_0_5, ..old.clone() };
    // Format 6, subtype 1 (add), size 2, lrid 1, diff 0 (two bits), operand 5 in 32 bits.
    let request = "8e 51 00";
    let expected = AtomicRequest {
        op: AtomicOperation::Add,
        size: 2,
        lrid: 1,
        op_len: 0,
        operand: ReportedData::Full(5),
        address: None,
    };
    let requested = Ok(DataPacket::AtomicRequest(expected));
    assert_ne!(read(&old, &[request]), requested);
    assert_eq!(read(&new, &[request]), requested);
    // Format 7, lrid 1, resp 2 (full), data_len 0, data 0x3f.
    let response = "4f 7e";
    let data = AtomicData { size: 2, lrid: 1, data_len: 0, data: Some(ReportedData::Full(0x3f)) };
    assert_eq!(read(&new, &[request, response]), Ok(DataPacket::AtomicData(data)));
    assert!(read(&old, &[response]).is_err());
    // Loads have no response there, nor have atomics without data.
    assert!(read(&new, &["4c 7e"]).is_err());
    let without_data = Parameters { version: Version::V2_0_5, ..no_data(data_trace) };
    assert!(read(&without_data, &[request, response]).is_err());
}
