//! Packets, field by field.

use super::*;

/// D01 to D08.
#[test]
fn unified_loads_and_stores() {
    let full = |value| Some(ReportedData::Full(value));
    let plain = DataParameters::default();
    let both = with(plain);
    let addresses = no_data(plain);
    let data = no_address(plain);
    for (id, parameters, payload, packet) in [
        (
            "D01",
            &both,
            "c8 78 56 34 12 04 00 00 08",
            DataPacket::Load(Transfer {
                data_len: 3,
                data: full(0x1234_5678),
                address: Some(Full(0x2000_0010)),
                ..PLAIN
            }),
        ),
        (
            "D02",
            &both,
            "1a 01 01",
            DataPacket::Store(Transfer {
                data: Some(ReportedData::Xor(1)),
                address: Some(Delta(4)),
                ..PLAIN
            }),
        ),
        (
            "D03",
            &both,
            "2b ff",
            DataPacket::Store(Transfer {
                unaligned: true,
                data: full(0xffff_ffff),
                address: Some(Delta(-1)),
                ..PLAIN
            }),
        ),
        (
            "D04",
            &both,
            "00 e0 04 00 00 08",
            DataPacket::Load(Transfer {
                size: 0,
                data: full(0x80),
                address: Some(Full(0x2000_0013)),
                ..PLAIN
            }),
        ),
        (
            "D05",
            &both,
            "64 40 80 00",
            DataPacket::Load(Transfer {
                size: 1,
                data_len: 1,
                data: full(0x80),
                address: Some(Delta(2)),
                ..PLAIN
            }),
        ),
        (
            "D06",
            &addresses,
            "0a 01 00 00 01",
            DataPacket::Store(Transfer { address: Some(Full(0x2000_0020)), ..PLAIN }),
        ),
        ("D07", &addresses, "d8", DataPacket::Load(Transfer { address: Some(Delta(-8)), ..PLAIN })),
        ("D08", &data, "08 e0", DataPacket::Load(Transfer { data: full(0xffff_ff80), ..PLAIN })),
    ] {
        assert_eq!(read(parameters, &[payload]), Ok(packet), "{id}");
    }
}

/// D10 to D19. The request before D18 and D19: format 6, subtype 1, size 2, lrid 5, diff 0, op_len 0, operand 5,
/// address 0x400.
#[test]
fn split_accesses_atomics_and_csrs() {
    let full = |value| Some(ReportedData::Full(value));
    let all = DataParameters { dtype_width_p: 4, ..DataParameters::default() };
    let request = "8e 05 05 00 04";
    let (size, lrid) = (2, 5);
    let address = Full(0x1000);
    let csr = |op, data_len, data, op_len, operand, address| {
        DataPacket::Csr(Csr { op, data_len, data, op_len, operand, address })
    };
    let add = AtomicOperation::Add;
    let (set, write) = (CsrOperation::ReadSet, CsrOperation::ReadWrite);
    let failure = Atomic {
        op: ConditionalStoreFailure,
        size,
        op_len: 0,
        operand: None,
        data_len: 0,
        data: None,
        address: Some(address),
    };
    let unaligned = false;
    let split = with(split());
    for (id, parameters, payloads, packet) in [
        (
            "D10",
            &split,
            &["b0 10 00 00 20"][..],
            DataPacket::LoadRequest(LoadRequest {
                size,
                unaligned,
                multi: false,
                lrid,
                address: Full(0x2000_0010),
            }),
        ),
        (
            "D11",
            &split,
            &["b4 c4 b3 a2 91 00"],
            DataPacket::LoadData(LoadData { size, lrid, data: full(0x1234_5678) }),
        ),
        ("D12", &split, &["b4 00"], DataPacket::LoadData(LoadData { size, lrid, data: None })),
        ("D13", &with(all), &["85 00 30 18 10"], csr(write, 1, full(0x1800), 0, full(8), Full(0x300))),
        ("D14", &with(all), &["0d 04 78 0a"], csr(set, 0, full(2), 0, None, Full(0xf14))),
        ("D15", &no_data(all), &["4d 23"], csr(set, 0, None, 0, None, Full(0x342))),
        (
            "D16",
            &with(all),
            &["8e 50 c0 00 00 01"],
            DataPacket::Atomic(Atomic { op: add, operand: full(5), data: full(3), ..failure }),
        ),
        ("D17", &no_data(all), &["be 00 08"], DataPacket::Atomic(failure)),
        (
            "D18",
            &split,
            &[request, "2f 13 08"],
            DataPacket::AtomicData(AtomicData { size, lrid, data_len: 1, data: full(0x0102) }),
        ),
        (
            "D19",
            &split,
            &[request, "2f"],
            DataPacket::AtomicData(AtomicData { size, lrid, data_len: 0, data: None }),
        ),
    ] {
        assert_eq!(read(parameters, payloads), Ok(packet), "{id}");
    }
    let operand = ReportedData::Full(5);
    let expected = AtomicRequest { op: add, size, lrid, op_len: 0, operand, address: Some(address) };
    assert_eq!(read(&split, &[request]), Ok(DataPacket::AtomicRequest(expected)));
    // No request came before it.
    assert_eq!(read(&split, &["2f 13 08"]), Err(String::from("invalid-reference@3")));
    assert_eq!(read(&split, &[request, "2f", "2f"]), Err(String::from("invalid-reference@3")));
}

/// A 64-bit hart has three bits of `data_len` and `op_len` in CSR packets: format 5, subtype 0, diff 0, data_len 7,
/// data 2^63, addr_msbs 0x0c, op_len 0, operand 1, addr_lsbs 1.
#[test]
fn wide_registers_and_buses() {
    let wide = DataParameters { dtype_width_p: 3, data_width_p: 64, ..DataParameters::default() };
    let parameters = Parameters { xlen: Xlen::Rv64, ..with(wide) };
    // Bits 7 to 9 length, 10 to 73 data, 74 to 79 top of the address, 80 to 82 length, 83 to 90 operand, 91 to 96 rest.
    let csr = Csr {
        op: CsrOperation::ReadWrite,
        data_len: 7,
        data: Some(ReportedData::Full(1 << 63)),
        op_len: 0,
        operand: Some(ReportedData::Full(1)),
        address: Full(0x301),
    };
    assert_eq!(read(&parameters, &["85 03 00 00 00 00 00 00 00 32 08 08"]), Ok(DataPacket::Csr(csr)));
    // Store: size 4 in three bits, diff 0, data_len 15 in four, data 2^127 from bit 11, address 1 from bit 139.
    let wide = with(DataParameters { data_width_p: 128, ..DataParameters::default() });
    let payload = format!("92 07{} 0c", " 00".repeat(15));
    let store = Transfer {
        size: 4,
        data_len: 15,
        data: Some(ReportedData::Full(1 << 127)),
        address: Some(Full(0x10)),
        ..PLAIN
    };
    assert_eq!(read(&wide, &[&payload]), Ok(DataPacket::Store(store)));
    // Two half-words at most: one bit of size.
    let narrow = no_data(DataParameters { data_width_p: 16, ..DataParameters::default() });
    let load = Transfer { size: 1, address: Some(Delta(-2)), ..PLAIN };
    assert_eq!(read(&narrow, &["fc"]), Ok(DataPacket::Load(load)));
}

/// One compression leaves one bit of `diff`: format 0, size 2, diff 1, data 2.
#[test]
fn a_single_compression_needs_one_bit() {
    for (offered, data) in [
        (OfferedCompression::Xor, ReportedData::Xor(2)),
        (OfferedCompression::Differential, ReportedData::Delta(2)),
    ] {
        let parameters = no_address(DataParameters { offered, ..DataParameters::default() });
        let load = Transfer { data: Some(data), ..PLAIN };
        assert_eq!(read(&parameters, &["58 00"]), Ok(DataPacket::Load(load)));
    }
    // Three bits of format, format 5, subtype 2, diff 1, data_len 0, data -1, addr_msbs 0x30, addr_lsbs 0.
    let offered = OfferedCompression::Differential;
    let parameters = with(DataParameters { offered, dtype_width_p: 3, ..DataParameters::default() });
    let csr = Csr {
        op: CsrOperation::ReadClear,
        data_len: 0,
        data: Some(ReportedData::Delta(-1)),
        op_len: 0,
        operand: None,
        address: Full(0xc00),
    };
    assert_eq!(read(&parameters, &["35 ff 30 00"]), Ok(DataPacket::Csr(csr)));
}

#[test]
fn reserved_codes_have_a_place() {
    let plain = DataParameters::default();
    let all = DataParameters { dtype_width_p: 4, ..plain };
    let csrs = DataParameters { dtype_width_p: 3, ..plain };
    for (parameters, payload, fault) in [
        (with(plain), "0c", "reserved-encoding@2"),
        (with(all), "04", "reserved-encoding@0"),
        (with(all), "07", "reserved-encoding@0"),
        (with(csrs), "06", "reserved-encoding@0"),
        (with(DataParameters { split: true, ..plain }), "05", "reserved-encoding@0"),
        (with(DataParameters { split: true, ..plain }), "07", "reserved-encoding@0"),
        (with(all), "1d", "reserved-encoding@3"),
        (with(all), "be 00 08", "reserved-encoding@3"),
        (with(all), "45 00", "reserved-encoding@5"),
        (no_address(plain), "28", "reserved-encoding@4"),
        (no_data(split()), "b4 00", "illegal-in-state@0"),
        (no_address(split()), "2f", "illegal-in-state@0"),
        (no_data(plain), "0a 01 00 00 01 00", "overlong@37"),
    ] {
        assert_eq!(read(&parameters, &[payload]), Err(String::from(fault)), "{payload}");
    }
}

/// The packets of the MMA/CAS extension; see the fields beside each.
#[test]
fn packets_of_the_mma_cas_extension() {
    let layout = DataLayout::MmaCas;
    let plain = DataParameters { layout, ..DataParameters::default() };
    let full = |value| Some(ReportedData::Full(value));
    // No format at all: subformat 0 and so on as D01.
    let load = Transfer { data_len: 3, data: full(0x1234_5678), address: Some(Full(0x2000_0010)), ..PLAIN };
    assert_eq!(read(&with(plain), &["c8 78 56 34 12 04 00 00 08"]), Ok(DataPacket::Load(load)));
    // Format 1 in one bit, subformat 2, size 2, diff 1, address -2.
    let multi = no_data(DataParameters { dtype_width_p: 2, ..plain });
    let store = Transfer { multi: true, address: Some(Delta(-8)), ..PLAIN };
    assert_eq!(read(&multi, &["b5"]), Ok(DataPacket::Store(store)));
    let all = DataParameters { dtype_width_p: 4, ..plain };
    let failure = Atomic {
        op: CompareAndSwapFailure,
        size: 2,
        op_len: 0,
        operand: full(5),
        data_len: 0,
        data: None,
        address: Some(Full(0x1000)),
    };
    // Format 2, subformat 7, size 2, diff 0, op_len 0, operand 5, address 0x400.
    assert_eq!(read(&with(all), &["9e 50 00 40"]), Ok(DataPacket::Atomic(failure)));
    assert_eq!(read(&no_address(all), &["9e 50 00 40"]), Err(String::from("reserved-encoding@2")));
    // Format 2, subformat 15, size 2, diff 0, address 0x400.
    let conditional = Atomic { op: ConditionalStoreFailure, operand: None, ..failure };
    assert_eq!(read(&no_data(all), &["be 00 08"]), Ok(DataPacket::Atomic(conditional)));
    assert_eq!(read(&with(all), &["be 00 08"]), Err(String::from("reserved-encoding@2")));
    assert_eq!(read(&with(all), &["0e"]), Err(String::from("reserved-encoding@2")));
    // Format 2, subformat 9, size 2, lrid 5, diff 0, op_len 0, operand 5, address 0x400; then format 3, size 2, lrid 5,
    // resp 2, data 3. After a load of the same number, the same response is that load's.
    let split = with(DataParameters { layout, ..split() });
    let (request, response) = ("da6 05 05 00 04", "d5b 0e");
    assert_eq!(summary(&split, &[ON, START, request, response]), ["A2#5 Add 1000 5", "a2#5 Add 1000 3"]);
    // Format 0, subformat 0, size 2, lrid 5, diff 0, address 0x400.
    assert_eq!(summary(&split, &[ON, START, "d60 01 20", response]), ["L2#5 1000", "l2#5 1000 3"]);
    // Without address: format 2, subformat 9, size 2, lrid 5, diff 0 in two bits, operand 3.
    let request = AtomicRequest {
        op: AtomicOperation::Add,
        size: 2,
        lrid: 5,
        op_len: 0,
        operand: ReportedData::Full(3),
        address: None,
    };
    let split = no_address(DataParameters { layout, ..super::split() });
    assert_eq!(read(&split, &["a6 c5 00"]), Ok(DataPacket::AtomicRequest(request)));
}
