//! Data trace: worked packets, and what sequences of them say (ET 8).
//!
//! D-examples exist apart from this code; the other bytes are packed by hand, field by field, least significant bit first.

use alloc::vec::Vec;
use alloc::{format, string::String};

use traceproof_vectors::riscv_etrace::{
    Atomic, AtomicData, AtomicOperation, AtomicRequest, Csr, CsrOperation, DataEvent, DataLayout,
    DataOptions, DataPacket, DataParameters, Encapsulation, Event, LoadData, LoadRequest,
    NormalEncapsulation, OfferedCompression, Packet, Parameters, ReportedAddress, ReportedData, RiscvEtrace,
    SiemensMessaging, Transfer, Xlen,
};
use traceproof_vectors::{Address, Decoder as _, Entry, Log, Place, Program};

use super::super::data::DataDissector;
use super::super::{Decoder, Payload, dissect};

use AtomicOperation::{CompareAndSwapFailure, ConditionalStoreFailure};
use ReportedAddress::{Delta, Full};

const PLAIN: Transfer =
    Transfer { size: 2, unaligned: false, multi: false, data_len: 0, data: None, address: None };

/// Unified loads and stores; Siemens messages, so that payloads are whole bytes of the stream.
fn unified() -> Parameters {
    with(DataParameters::default())
}

/// Everything that a split interface can have.
fn split() -> DataParameters {
    DataParameters { split: true, dtype_width_p: 4, lrid_width_p: 4, ..DataParameters::default() }
}

fn with(data: DataParameters) -> Parameters {
    let encapsulation = Encapsulation::Siemens(SiemensMessaging::default());
    Parameters { encapsulation, data: Some(data), ..Parameters::default() }
}

fn no_data(data: DataParameters) -> Parameters {
    with(DataParameters { options: DataOptions { no_data: true, ..data.options }, ..data })
}

fn no_address(data: DataParameters) -> Parameters {
    with(DataParameters { options: DataOptions { no_address: true, ..data.options }, ..data })
}

fn bytes(text: &str) -> Vec<u8> {
    text.split_whitespace().map(|byte| u8::from_str_radix(byte, 16).expect("hex")).collect()
}

/// The last of these payloads.
fn read(parameters: &Parameters, payloads: &[&str]) -> Result<DataPacket, String> {
    let mut reader = DataDissector::new(parameters).expect("has data trace");
    let mut last = Err(String::from("nothing"));
    for payload in payloads {
        let payload = Payload::new(&bytes(payload)).expect("fits");
        let found = reader.read(Place::default(), &payload, &mut ());
        last = found.map_err(|fault| {
            format!("{}@{}", fault.class, 8 * fault.place.byte + u64::from(fault.place.bit))
        });
    }
    last
}

/// `i` in front of instruction trace, `d` in front of data trace.
fn wire(units: &[&str]) -> Vec<u8> {
    let mut wire = Vec::new();
    for unit in units {
        let (kind, payload) = unit.split_at(1);
        let payload = bytes(payload);
        wire.push(payload.len() as u8 + 1);
        wire.push(if kind == "d" { 0xc0 } else { 0x80 });
        wire.extend(payload);
    }
    wire
}

/// Data events, and faults as `class@packet:bit` with the bit counted from the payload's first.
fn story(parameters: &Parameters, units: &[&str]) -> Vec<String> {
    let wire = wire(units);
    let mut starts = Vec::new();
    let mut offset = 0;
    for unit in units {
        starts.push(8 * (offset as u64 + 2));
        offset += 2 + bytes(unit.split_at(1).1).len();
    }
    let mut decoder = Decoder::default();
    decoder.begin(parameters, &Program::new()).expect("supported");
    let mut log: Log<RiscvEtrace> = Log::default();
    decoder.push(&wire, &mut log);
    decoder.finish(&mut log);
    log.entries
        .iter()
        .filter_map(|(_, entry)| match entry {
            Entry::Event(Event::Data(event)) => Some(word(event)),
            Entry::Fault(fault) if fault.address.is_none() => {
                let place = fault.place;
                let bit = 8 * place.byte + u64::from(place.bit) - starts[place.packet as usize];
                Some(format!("{}@{}:{bit}", fault.class, place.packet))
            }
            _ => None,
        })
        .collect()
}

fn word(event: &DataEvent) -> String {
    let some = |value: Option<u128>| value.map_or_else(|| String::from("-"), |value| format!("{value:x}"));
    let at = |address: Option<Address>| some(address.map(|address| address.0.into()));
    match *event {
        DataEvent::Load { address, size, data, multi } => {
            format!("L{size} {} {}{}", at(address), some(data), if multi { " multi" } else { "" })
        }
        DataEvent::Store { address, size, data, multi } => {
            format!("S{size} {} {}{}", at(address), some(data), if multi { " multi" } else { "" })
        }
        DataEvent::LoadRequest { lrid, address, size, .. } => format!("L{size}#{lrid} {address:x}"),
        DataEvent::LoadResponse { lrid, address, size, data } => {
            format!("l{size}#{lrid} {} {}", at(address), some(data))
        }
        DataEvent::Atomic { op, address, size, operand, data } => {
            format!("A{size} {op:?} {} {} {}", at(address), some(operand), some(data))
        }
        DataEvent::AtomicRequest { op, lrid, address, size, operand } => {
            format!("A{size}#{lrid} {op:?} {} {operand:x}", at(address))
        }
        DataEvent::AtomicResponse { op, lrid, address, size, data } => {
            format!("a{size}#{lrid} {op:?} {} {}", at(address), some(data))
        }
        DataEvent::Csr { op, address, operand, data } => {
            format!("C {op:?} {address:x} {} {}", some(operand), some(data))
        }
        DataEvent::Lost => String::from("lost"),
        ref other => panic!("{other:?} has no word"),
    }
}

/// Support with `ienable` and `denable`, and a start packet.
const ON: &str = "i1f 20";
const START: &str = "i73 00 04";

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

/// D10 to D19. The request in front of D18 and D19: format 6, subtype 1, size 2, lrid 5, diff 0, op_len 0, operand 5,
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
    // Nobody asked.
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

/// The draft's packets; see the fields beside each.
#[test]
fn packets_of_the_draft() {
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
    // resp 2, data 3. Behind a load of the same number, the same response is that load's.
    let split = with(DataParameters { layout, ..split() });
    let (request, response) = ("da6 05 05 00 04", "d5b 0e");
    assert_eq!(story(&split, &[ON, START, request, response]), ["A2#5 Add 1000 5", "a2#5 Add 1000 3"]);
    // Format 0, subformat 0, size 2, lrid 5, diff 0, address 0x400.
    assert_eq!(story(&split, &[ON, START, "d60 01 20", response]), ["L2#5 1000", "l2#5 1000 3"]);
    // Without address: format 2, subformat 9, size 2, lrid 5, diff 0 in two bits, operand 3.
    let request = AtomicRequest {
        op: AtomicOperation::Add,
        size: 2,
        lrid: 5,
        op_len: 0,
        operand: ReportedData::Full(3),
        address: None,
    };
    let split = no_address(DataParameters { layout, ..super::data::split() });
    assert_eq!(read(&split, &["a6 c5 00"]), Ok(DataPacket::AtomicRequest(request)));
}

/// D01, D02, D03, then differences that lead to an unaligned address of an aligned format.
#[test]
fn differences_are_of_the_previous_access_of_the_size() {
    let d01 = "dc8 78 56 34 12 04 00 00 08";
    let d02 = "d1a 01 01";
    assert_eq!(
        story(&unified(), &[ON, START, d01, d02, "d2b ff", d02, d02, d01, d02]),
        [
            "L2 20000010 12345678",
            "S2 20000014 12345679",
            "S2 20000013 ffffffff",
            // The address is behind 16 bits; the fault is told once.
            "contradiction@5:16",
            "L2 20000010 12345678",
            "S2 20000014 12345679",
        ]
    );
    // D04; then diff 3: +2 and +1, -1 and 0. Words have bases of their own.
    assert_eq!(
        story(&unified(), &[ON, START, "d00 e0 04 00 00 08", "db0 40", "df0 3f", d02]),
        ["L0 20000013 80", "L0 20000014 82", "L0 20000014 81", "not-synchronised@5:4"]
    );
}

#[test]
fn a_synchronisation_packet_starts_over() {
    let d01 = "dc8 78 56 34 12 04 00 00 08";
    let d02 = "d1a 01 01";
    // Not before the first one.
    assert_eq!(story(&unified(), &[ON, d01, START, d01]), ["not-synchronised@1:0", "L2 20000010 12345678"]);
    // Start, and trap (thaddr = 0 at 0x1008).
    for packet in [START, "i77 11 00 03"] {
        assert_eq!(
            story(&unified(), &[ON, START, d01, packet, d02, d02, d01, d02]),
            ["L2 20000010 12345678", "not-synchronised@4:4", "L2 20000010 12345678", "S2 20000014 12345679"]
        );
    }
    // `denable` without `ienable` (bit 4) is one.
    assert_eq!(story(&unified(), &["i0f 20", d01]), ["L2 20000010 12345678"]);
    assert_eq!(story(&unified(), &["i0f 00", d01]), ["not-synchronised@1:0"]);
}

#[test]
fn lost_packets_are_told_and_start_over() {
    let d01 = "dc8 78 56 34 12 04 00 00 08";
    assert_eq!(
        story(&unified(), &[ON, START, d01, "i1f 60", "d1a 01 01", d01]),
        ["L2 20000010 12345678", "lost", "not-synchronised@4:4", "L2 20000010 12345678"]
    );
}

/// The support packets are 1f 20 with `no_data` in bit 16, and with `no_address` in bit 15.
#[test]
fn options_change_the_packets() {
    let d01 = "dc8 78 56 34 12 04 00 00 08";
    let (d06, d07, d08) = ("d0a 01 00 00 01", "dd8", "d08 e0");
    assert_eq!(
        story(&unified(), &[ON, START, "i1f 20 01", d06, d07, ON, "d1a 01 01", d01]),
        // Addresses went on, data did not.
        ["S2 20000020 -", "L2 20000018 -", "not-synchronised@6:4", "L2 20000010 12345678"]
    );
    assert_eq!(
        // With diff 2, an address alone is missing: format 2, size 2, diff 2, data_len 0, data 1, address 1.
        story(&unified(), &[ON, START, d01, "i1f a0 00", d08, ON, "d2a 01 01", "d1a 01 01", d01]),
        ["L2 20000010 12345678", "L2 - ffffff80", "not-synchronised@6:4", "L2 20000010 12345678"]
    );
    assert_eq!(
        story(&unified(), &[ON, START, "i1f a0 01", d01, ON, d01]),
        ["unsupported-mode@2:0", "L2 20000010 12345678"]
    );
}

/// Responses find their requests, and take part in compression in the order in which they come.
#[test]
fn responses_belong_to_requests() {
    let (d10, d11, d12) = ("db0 10 00 00 20", "db4 c4 b3 a2 91 00", "db4 00");
    let split = with(split());
    assert_eq!(
        story(&split, &[ON, START, d10, d11, d12, d10, d10, d12]),
        [
            "L2#5 20000010",
            "l2#5 20000010 12345678",
            "contradiction@4:5",
            "L2#5 20000010",
            "contradiction@6:5",
            "L2#5 20000010",
            "l2#5 20000010 -",
        ]
    );
    // Size 0: format 4, size 0, lrid 5, resp 2, data 1.
    assert_eq!(story(&split, &[ON, START, d10, "da4 0c"]), ["L2#5 20000010", "contradiction@3:3"]);
    // Resp 1 (XOR 1): format 4, size 2, lrid 5, resp 1, data 1. The error in between changes nothing.
    let exclusive = "db4 0a";
    assert_eq!(
        story(&split, &[ON, START, d10, d11, d10, d12, d10, exclusive])[4..],
        ["L2#5 20000010", "l2#5 20000010 12345679"]
    );
    assert_eq!(story(&split, &[ON, START, d10, exclusive]), ["L2#5 20000010", "not-synchronised@3:9"]);
    // Lost packets may have been requests.
    assert_eq!(
        story(&split, &[ON, START, d10, "i1f 60", d11]),
        ["L2#5 20000010", "lost", "contradiction@4:5"]
    );
    let request = "d8e 05 05 00 04";
    assert_eq!(
        story(&split, &[ON, START, request, "d2f 13 08", request, "d2f", request, d11]),
        [
            "A2#5 Add 1000 5",
            "a2#5 Add 1000 102",
            "A2#5 Add 1000 5",
            "a2#5 Add 1000 -",
            "A2#5 Add 1000 5",
            // The ratified packets have another one for atomics.
            "contradiction@7:5",
        ]
    );
}

#[test]
fn csrs_and_atomics_are_reported() {
    let all = DataParameters { dtype_width_p: 4, ..DataParameters::default() };
    // D13, D14, D16; then diff 1 of a CSR, data XOR 1, compared with the word of D16: format 5, subtype 1, diff 1,
    // data_len 0, data 1, addr_msbs 0x3c, addr_lsbs 0x14.
    assert_eq!(
        story(
            &with(all),
            &[ON, START, "d85 00 30 18 10", "d0d 04 78 0a", "d8e 50 c0 00 00 01", "d2d 02 78 0a"]
        ),
        ["C ReadWrite 300 8 1800", "C ReadSet f14 - 2", "A2 Add 1000 5 3", "C ReadSet f14 - 2"]
    );
    // D15, then diff 1 and +1: format 5, subtype 1, diff 1, addr_msbs 0, addr_lsbs 1; and D17.
    assert_eq!(
        story(&no_data(all), &["i1f 20 01", START, "d4d 23", "d2d 10", "dbe 00 08"]),
        ["C ReadSet 342 - -", "C ReadSet 343 - -", "A2 ConditionalStoreFailure 1000 - -",]
    );
}

/// With `compressed_operands`, the operand comes before the data: D16 has operand 5 and data 3; then diff 1: operand XOR 1
/// of 3, data XOR 1 of that.
#[test]
fn operands_may_be_compressed() {
    let all = DataParameters { dtype_width_p: 4, compressed_operands: true, ..DataParameters::default() };
    // Format 6, subtype 1, size 2, diff 1, op_len 0, operand 1, data_len 0, data 1, address 1.
    let next = "d8e 11 40 40";
    let d16 = "d8e 50 c0 00 00 01";
    assert_eq!(story(&with(all), &[ON, START, d16, next]), ["A2 Add 1000 5 3", "A2 Add 1004 2 3"]);
    let plain = DataParameters { compressed_operands: false, ..all };
    assert_eq!(story(&with(plain), &[ON, START, d16, next]), ["A2 Add 1000 5 3", "A2 Add 1004 1 2"]);
}

/// Source 5 is instruction trace, source 6 data trace, whatever the type; there is none here.
#[test]
fn data_trace_may_have_a_source_of_its_own() {
    let normal = NormalEncapsulation { src_id_bits: 8, src_id: 5, ..NormalEncapsulation::default() };
    let data = DataParameters { source: Some(6), ..DataParameters::default() };
    let encapsulation = Encapsulation::Normal(normal);
    let parameters = Parameters { encapsulation, data: Some(data), ..Parameters::default() };
    let wire = [3, 5, 0x73, 0, 4, 1, 6, 0x08, 2, 7, 0x1a, 0x01, 2, 6, 0x0c, 0];
    let packets: Vec<_> =
        dissect(&wire, &parameters).into_iter().map(|dissection| dissection.packet).collect();
    assert!(matches!(packets[0], Some(Ok(Packet::Start { .. }))));
    let zero = Transfer { data: Some(ReportedData::Full(0)), address: Some(Full(0)), ..PLAIN };
    assert_eq!(packets[1], Some(Ok(Packet::Data(DataPacket::Load(zero)))));
    assert_eq!(packets[2], None);
    assert!(matches!(packets[3], Some(Err(_))));
}

/// Whatever comes, in whatever pieces: the same entries, and no panic.
#[test]
fn arbitrary_payloads_are_harmless() {
    let plain = DataParameters::default();
    let draft = DataLayout::MmaCas;
    let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = move || {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        (seed >> 24) as u8
    };
    for data in [
        plain,
        split(),
        DataParameters { dtype_width_p: 4, data_width_p: 128, daddress_width_p: 64, ..plain },
        DataParameters { layout: draft, data_width_p: 64, compressed_operands: true, ..split() },
        DataParameters { layout: draft, dtype_width_p: 2, data_width_p: 8, daddress_width_p: 1, ..plain },
        DataParameters { offered: OfferedCompression::Xor, data_width_p: 128, lrid_width_p: 12, ..split() },
    ] {
        let parameters = Parameters { xlen: Xlen::Rv64, ..with(data) };
        let mut stream = wire(&[ON, START]);
        for _ in 0..3000 {
            let length = 1 + random() % 30;
            stream.push(length + 1);
            let support = random() % 16 == 0;
            stream.push(if support { 0x80 } else { 0xc0 });
            for index in 0..length {
                // Support packets of every kind, or anything.
                stream.push(if support && index == 0 { 0x1f } else { random() });
            }
        }
        let decode = |chunk: usize| {
            let mut decoder = Decoder::default();
            decoder.begin(&parameters, &Program::new()).expect("supported");
            let mut log: Log<RiscvEtrace> = Log::default();
            stream.chunks(chunk).for_each(|chunk| decoder.push(chunk, &mut log));
            decoder.finish(&mut log);
            log.entries
        };
        let whole = decode(stream.len());
        assert_eq!(whole, decode(7));
        assert!(whole.iter().any(|(_, entry)| matches!(entry, Entry::Packet(Packet::Data(_)))));
        assert_eq!(dissect(&stream, &parameters).len(), 3002);
    }
}
