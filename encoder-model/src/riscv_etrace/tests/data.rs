//! Data trace: worked examples to the byte, and what an encoder sends for accesses.

use crate::riscv_etrace::{write_packets, write_payload};
use traceproof_vectors::riscv_etrace::{
    Atomic, AtomicData, AtomicOperation, Compression, Csr, CsrOperation, DataAccess, DataCompression,
    DataOptions, DataPacket, DataParameters, DataPolicy, DataResponse, Encapsulation, LoadData, LoadRequest,
    MemoryAccess, Modes, NormalEncapsulation, Packet, Parameters, Policy, ReportedAddress, ReportedData,
    Step, Stimulus, Transfer,
};

use super::bench::{enable, encode, hex, retire, small_program};
use traceproof_vectors::Address;

fn parameters(data: DataParameters) -> Parameters {
    let encapsulation = NormalEncapsulation { type_bits: 1, ..NormalEncapsulation::default() };
    Parameters {
        data: Some(data),
        encapsulation: Encapsulation::Normal(encapsulation),
        ..Parameters::default()
    }
}

/// Everything that can be traced, over a split interface with 4 bits of `lrid`.
fn split() -> DataParameters {
    DataParameters { dtype_width_p: 4, lrid_width_p: 4, split: true, ..DataParameters::default() }
}

fn unified() -> DataParameters {
    DataParameters { split: false, ..split() }
}

fn payload(packet: DataPacket, data: DataParameters) -> Vec<u8> {
    write_payload(&Packet::Data(packet), &parameters(data), Modes::default(), Compression::Minimal)
        .expect("encodable")
}

const NO_DATA: DataOptions =
    DataOptions { no_data: true, no_address: false, full_address: false, full_data: false };
const NO_ADDRESS: DataOptions = DataOptions { no_data: false, no_address: true, ..NO_DATA };

fn full(value: u128) -> Option<ReportedData> {
    Some(ReportedData::Full(value))
}

fn at(address: u64) -> Option<ReportedAddress> {
    Some(ReportedAddress::Full(address))
}

fn apart(delta: i64) -> Option<ReportedAddress> {
    Some(ReportedAddress::Delta(delta))
}

const WORD: Transfer =
    Transfer { size: 2, unaligned: false, multi: false, data_len: 0, data: None, address: None };

/// D01 to D08: unified loads and stores of a 32-bit bus.
#[test]
fn loads_and_stores() {
    let plain = DataParameters::default();
    let both = |packet| payload(packet, plain);
    let load = DataPacket::Load;
    let store = DataPacket::Store;
    let d01 = Transfer { data_len: 3, data: full(0x1234_5678), address: at(0x2000_0010), ..WORD };
    assert_eq!(both(load(d01)), hex("c8 78 56 34 12 04 00 00 08"));
    let d02 = Transfer { data: Some(ReportedData::Xor(1)), address: apart(4), ..WORD };
    assert_eq!(both(store(d02)), hex("1a 01 01"));
    let d03 = Transfer { unaligned: true, data: full(0xffff_ffff), address: apart(-1), ..WORD };
    assert_eq!(both(store(d03)), hex("2b ff"));
    let d04 = Transfer { size: 0, data: full(0x80), address: at(0x2000_0013), ..WORD };
    assert_eq!(both(load(d04)), hex("00 e0 04 00 00 08"));
    let d05 = Transfer { size: 1, data_len: 1, data: full(0x80), address: apart(2), ..WORD };
    assert_eq!(both(load(d05)), hex("64 40 80 00"));

    let addresses = DataParameters { options: NO_DATA, ..plain };
    let d06 = Transfer { address: at(0x2000_0020), ..WORD };
    assert_eq!(payload(store(d06), addresses), hex("0a 01 00 00 01"));
    let d07 = Transfer { address: apart(-8), ..WORD };
    assert_eq!(payload(load(d07), addresses), hex("d8"));

    let values = DataParameters { options: NO_ADDRESS, ..plain };
    let d08 = Transfer { data: full(0xffff_ff80), ..WORD };
    assert_eq!(payload(load(d08), values), hex("08 e0"));
}

/// D10 to D12.
#[test]
fn split_loads() {
    let request = LoadRequest {
        size: 2,
        unaligned: false,
        multi: false,
        lrid: 5,
        address: ReportedAddress::Full(0x2000_0010),
    };
    assert_eq!(payload(DataPacket::LoadRequest(request), split()), hex("b0 10 00 00 20"));
    let data = LoadData { size: 2, lrid: 5, data: full(0x1234_5678) };
    assert_eq!(payload(DataPacket::LoadData(data), split()), hex("b4 c4 b3 a2 91 00"));
    let error = LoadData { data: None, ..data };
    assert_eq!(payload(DataPacket::LoadData(error), split()), hex("b4 00"));
}

/// D13 to D15.
#[test]
fn csr_accesses() {
    let csr = |op, data_len, data, op_len, operand, address| {
        DataPacket::Csr(Csr { op, data_len, data, op_len, operand, address: ReportedAddress::Full(address) })
    };
    let d13 = csr(CsrOperation::ReadWrite, 1, full(0x1800), 0, full(8), 0x300);
    assert_eq!(payload(d13, unified()), hex("85 00 30 18 10"));
    let d14 = csr(CsrOperation::ReadSet, 0, full(2), 0, None, 0xf14);
    assert_eq!(payload(d14, unified()), hex("0d 04 78 0a"));
    let d15 = csr(CsrOperation::ReadSet, 0, None, 0, None, 0x342);
    assert_eq!(payload(d15, DataParameters { options: NO_DATA, ..unified() }), hex("4d 23"));
}

/// D16 to D19.
#[test]
fn atomics() {
    let add = Atomic {
        op: AtomicOperation::Add,
        size: 2,
        op_len: 0,
        operand: full(5),
        data_len: 0,
        data: full(3),
        address: at(0x1000),
    };
    assert_eq!(payload(DataPacket::Atomic(add), unified()), hex("8e 50 c0 00 00 01"));
    let failed = Atomic { op: AtomicOperation::ConditionalStoreFailure, operand: None, data: None, ..add };
    assert_eq!(
        payload(DataPacket::Atomic(failed), DataParameters { options: NO_DATA, ..unified() }),
        hex("be 00 08")
    );
    let data = AtomicData { size: 2, lrid: 5, data_len: 1, data: full(0x0102) };
    assert_eq!(payload(DataPacket::AtomicData(data), split()), hex("2f 13 08"));
    let error = AtomicData { data_len: 0, data: None, ..data };
    assert_eq!(payload(DataPacket::AtomicData(error), split()), hex("2f"));
}

#[test]
fn what_cannot_travel_is_refused() {
    let word = Transfer { data_len: 3, data: full(0x1234_5678), address: at(0x2000_0010), ..WORD };
    let field = |packet: DataPacket, data: DataParameters| {
        write_payload(&Packet::Data(packet), &parameters(data), Modes::default(), Compression::Minimal)
            .expect_err("not encodable")
            .field
    };
    let plain = DataParameters::default();
    let load = DataPacket::Load;
    assert_eq!(field(load(Transfer { size: 3, ..word }), plain), "size");
    assert_eq!(field(load(Transfer { multi: true, ..word }), plain), "format");
    assert_eq!(field(load(Transfer { address: None, ..word }), plain), "address");
    assert_eq!(field(load(Transfer { address: at(0x2000_0011), ..word }), plain), "address");
    assert_eq!(field(load(Transfer { address: at(1 << 32), ..word }), plain), "address");
    assert_eq!(field(load(Transfer { data: None, ..word }), plain), "data");
    assert_eq!(field(load(Transfer { data: full(1 << 32), ..word }), plain), "data");
    assert_eq!(field(load(Transfer { data_len: 2, ..word }), plain), "data_len");
    assert_eq!(field(load(Transfer { data: Some(ReportedData::Xor(1)), ..word }), plain), "diff");
    assert_eq!(field(load(word), split()), "format");
    let data = LoadData { size: 2, lrid: 16, data: None };
    assert_eq!(field(DataPacket::LoadData(data), split()), "lrid");
    assert_eq!(field(DataPacket::LoadData(data), unified()), "format");
    let packets = [Packet::Data(load(word))];
    let untyped = Parameters { data: Some(plain), ..Parameters::default() };
    assert!(write_packets(&packets, &untyped, &Policy::default()).is_err(), "no type distinguishes data");
}

fn access(access: DataAccess) -> Step {
    Step::Stimulus(Stimulus::Data(Box::new(access)))
}

fn memory(address: u64, size: u8, data: u128) -> MemoryAccess {
    MemoryAccess { address: Address(address), size, data, lrid: None, multi: false, filtered: false }
}

fn load(address: u64, size: u8, data: u128) -> Step {
    access(DataAccess::Load(memory(address, size, data)))
}

fn store(address: u64, size: u8, data: u128) -> Step {
    access(DataAccess::Store(memory(address, size, data)))
}

/// What an encoder sends between the first start packet and the end, as text: data packets as they are, others by
/// name.
fn summary(data: DataParameters, policy: DataPolicy, steps: &[Step]) -> Vec<String> {
    let on = [Step::Stimulus(Stimulus::DataEnable(true)), enable(true), retire(0x1000)];
    let steps: Vec<Step> = on.iter().chain(steps).cloned().collect();
    let policy = Policy { data: policy, ..Policy::default() };
    let log = encode(&small_program(), &parameters(data), &policy, &steps);
    log.packets()
        .map(|packet| match packet {
            Packet::Start { .. } => "start".to_owned(),
            Packet::Support { ienable, denable, dloss, doptions, .. } => {
                format!("support {}{}{} {doptions}", u8::from(*ienable), u8::from(*denable), u8::from(*dloss))
            }
            Packet::Data(DataPacket::Load(load)) => format_transfer("load", load),
            Packet::Data(DataPacket::Store(store)) => format_transfer("store", store),
            Packet::Data(DataPacket::LoadRequest(request)) => {
                format!("request {} {:?}", request.lrid, request.address)
            }
            Packet::Data(DataPacket::LoadData(data)) => {
                format!(
                    "data {} {}",
                    data.lrid,
                    data.data.map_or("error".to_owned(), |data| data.to_string())
                )
            }
            _ => "other".to_owned(),
        })
        .collect()
}

fn format_transfer(name: &str, transfer: &Transfer) -> String {
    let data = transfer.data.map_or("-".to_owned(), |data| format!("{data}/{}", transfer.data_len));
    match transfer.address {
        Some(ReportedAddress::Full(address)) => format!("{name} {address:#x} {data}"),
        Some(ReportedAddress::Delta(delta)) => format!("{name} {delta:+} {data}"),
        None => format!("{name} - {data}"),
    }
}

#[test]
fn the_first_access_of_each_size_is_whole() {
    let steps = [
        load(0x2000_0010, 2, 0x1234_5678),
        store(0x2000_0014, 2, 0x1234_5679),
        load(0x2000_0013, 0, 0x80),
        load(0x2000_0014, 2, 0x1234_5679),
        retire(0x1004),
    ];
    let policy = DataPolicy { compression: DataCompression::Xor, ..DataPolicy::default() };
    // The support packet for data alone and that for both; the packets of an instruction precede its data.
    assert_eq!(
        summary(DataParameters::default(), policy, &steps),
        [
            "support 010 0",
            "support 110 0",
            "start",
            "load 0x20000010 0x12345678/3",
            "store +4 ^0x1/0",
            "load 0x20000013 0x80/0",
            "load +0 ^0x0/0",
            "other",
            "support 110 0",
        ]
    );
}

#[test]
fn loss_starts_data_over() {
    let steps = [
        load(0x2000_0010, 2, 1),
        retire(0x1004),
        Step::Stimulus(Stimulus::DataTransport(false)),
        load(0x2000_0014, 2, 1),
        retire(0x1008),
        Step::Stimulus(Stimulus::DataTransport(true)),
        retire(0x100c),
        load(0x2000_0018, 2, 1),
    ];
    let policy = DataPolicy { compression: DataCompression::Differential, ..DataPolicy::default() };
    assert_eq!(
        summary(DataParameters::default(), policy, &steps)[2..],
        [
            "start",
            "load 0x20000010 0x1/0",
            "support 111 0",
            // The packets of the last instruction come first.
            "other",
            "support 110 0",
            "load 0x20000018 0x1/0",
        ]
        .map(str::to_owned)
    );
}

/// The support packet that reports lost data packets is lost itself: the next one that travels reports them.
#[test]
fn loss_is_reported_by_a_support_packet_that_travels() {
    let steps = [
        Step::Stimulus(Stimulus::DataTransport(false)),
        load(0x2000_0010, 2, 1),
        retire(0x1004),
        Step::Stimulus(Stimulus::Transport(false)),
        retire(0x1008),
        Step::Stimulus(Stimulus::DataTransport(true)),
        retire(0x100c),
        Step::Stimulus(Stimulus::Transport(true)),
        retire(0x2000),
        load(0x2000_0014, 2, 1),
    ];
    let reported = summary(DataParameters::default(), DataPolicy::default(), &steps);
    let losses: Vec<_> = reported.iter().filter(|line| line.starts_with("support 111")).collect();
    assert_eq!(losses.len(), 1, "{reported:?}");
}

#[test]
fn responses_follow_their_requests() {
    let request =
        |lrid, address| access(DataAccess::Load(MemoryAccess { lrid: Some(lrid), ..memory(address, 2, 0) }));
    let response = |lrid, data| Step::Stimulus(Stimulus::Response(DataResponse { lrid, data }));
    let steps = [
        request(1, 0x2000_0010),
        request(2, 0x2000_0020),
        // The packets of the instruction are not out yet.
        response(2, Some(7)),
        retire(0x1004),
        response(1, None),
        response(1, Some(9)),
    ];
    let policy = DataPolicy { compression: DataCompression::Full, ..DataPolicy::default() };
    assert_eq!(
        summary(split(), policy, &steps)[2..],
        [
            "start",
            "request 1 Full(536870928)",
            "request 2 Full(536870944)",
            "data 2 0x7",
            "data 1 error",
            "other",
            "support 110 0"
        ]
        .map(str::to_owned)
    );
}

#[test]
fn options_shape_packets_from_their_support_packet_on() {
    let steps = [
        load(0x2000_0010, 2, 1),
        retire(0x1004),
        Step::Stimulus(Stimulus::DataOptions(NO_DATA)),
        retire(0x1008),
        load(0x2000_0014, 2, 1),
        Step::Stimulus(Stimulus::DataEnable(false)),
        retire(0x100c),
        load(0x2000_0018, 2, 1),
    ];
    let policy = DataPolicy { compression: DataCompression::FullData, ..DataPolicy::default() };
    assert_eq!(
        summary(DataParameters::default(), policy, &steps)[2..],
        [
            "start",
            "load 0x20000010 0x1/0",
            "support 110 2",
            "load +4 -",
            "support 100 2",
            "other",
            "support 100 2",
        ]
        .map(str::to_owned)
    );
}
