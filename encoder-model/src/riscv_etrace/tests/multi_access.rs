//! Data trace of multi-access instructions and compare-and-swap: worked examples to the byte, and what an encoder and a
//! hart make of such accesses.

use crate::riscv_etrace::{Defect, Hart, Retirement, write_payload};
use traceproof_vectors::Address;
use traceproof_vectors::riscv_etrace::{
    Atomic, AtomicAccess, AtomicData, AtomicOperation, AtomicRequest, Compression, Csr, CsrOperation,
    DataAccess, DataCompression, DataLayout, DataOptions, DataPacket, DataParameters, DataPolicy,
    DataResponse, Encapsulation, LoadData, LoadRequest, MemoryAccess, Modes, NormalEncapsulation,
    OfferedCompression, Packet, Parameters, Policy, ReportedAddress, ReportedData, Retire, Step, Stimulus,
    Transfer, Version,
};

use super::bench::{NOP, enable, encode, exception, hex, instruction, program, retire, small_program};

fn parameters(data: DataParameters) -> Parameters {
    let encapsulation = NormalEncapsulation { type_bits: 1, ..NormalEncapsulation::default() };
    Parameters {
        version: Version::V2_0_5,
        data: Some(data),
        encapsulation: Encapsulation::Normal(encapsulation),
        ..Parameters::default()
    }
}

fn unified(dtype_width_p: u8) -> DataParameters {
    DataParameters { layout: DataLayout::MmaCas, dtype_width_p, ..DataParameters::default() }
}

fn split() -> DataParameters {
    DataParameters { split: true, lrid_width_p: 2, ..unified(4) }
}

const NO_DATA: DataOptions =
    DataOptions { no_data: true, no_address: false, full_address: false, full_data: false };
const NO_ADDRESS: DataOptions = DataOptions { no_data: false, no_address: true, ..NO_DATA };

fn encoded(packet: DataPacket, data: DataParameters) -> Result<Vec<u8>, (&'static str, Defect)> {
    write_payload(&Packet::Data(packet), &parameters(data), Modes::default(), Compression::Minimal)
        .map_err(|error| (error.field, error.defect))
}

#[track_caller]
fn bytes(packet: DataPacket, data: DataParameters, expected: &str) {
    assert_eq!(encoded(packet, data), Ok(hex(expected)), "{packet:?}");
}

fn full(value: u128) -> Option<ReportedData> {
    Some(ReportedData::Full(value))
}

fn at(address: u64) -> Option<ReportedAddress> {
    Some(ReportedAddress::Full(address))
}

fn word(value: u128, address: u64, multi: bool) -> Transfer {
    Transfer { size: 2, unaligned: false, multi, data_len: 0, data: full(value), address: at(address) }
}

const SWAP: Atomic = Atomic {
    op: AtomicOperation::Swap,
    size: 2,
    op_len: 0,
    operand: Some(ReportedData::Full(5)),
    data_len: 0,
    data: Some(ReportedData::Full(6)),
    address: Some(ReportedAddress::Full(0x200)),
};

/// Y30 to Y36. RVET5-PKT-016, RVET5-PKT-017, RVET5-PKT-019.
#[test]
fn unified_packets() {
    let load = word(0x11, 0x100, false);
    bytes(DataPacket::Load(load), unified(1), "08 11 40");
    // The layout of version 2.0 has the same bits here.
    let ratified = DataParameters { layout: DataLayout::Ratified, ..unified(1) };
    bytes(DataPacket::Load(load), ratified, "08 11 40");
    bytes(DataPacket::Store(word(2, 0x200, true)), unified(2), "15 04 00 01");
    bytes(DataPacket::Load(word(3, 0x104, true)), unified(4), "21 0c 04 01");
    let failed = Atomic {
        op: AtomicOperation::CompareAndSwapFailure,
        operand: full(9),
        data: None,
        address: at(0x204),
        ..SWAP
    };
    bytes(DataPacket::Atomic(failed), unified(4), "9e 90 10 08");
    bytes(DataPacket::Atomic(SWAP), unified(4), "a2 50 80 01 20");
    let addresses = DataParameters { options: NO_DATA, ..unified(4) };
    let csr = Csr {
        op: CsrOperation::ReadWrite,
        data_len: 0,
        data: None,
        op_len: 0,
        operand: None,
        address: ReportedAddress::Full(0x340),
    };
    bytes(DataPacket::Csr(csr), addresses, "92 06");
    let failed = Atomic {
        op: AtomicOperation::ConditionalStoreFailure,
        operand: None,
        data: None,
        address: at(0x100),
        ..SWAP
    };
    bytes(DataPacket::Atomic(failed), addresses, "be 80 00");
}

/// Y37 to Y40. RVET5-PKT-018, RVET5-PKT-020.
#[test]
fn split_packets() {
    let request = LoadRequest {
        size: 2,
        unaligned: false,
        multi: false,
        lrid: 2,
        address: ReportedAddress::Full(0x100),
    };
    bytes(DataPacket::LoadRequest(request), split(), "a0 80 00");
    let request = AtomicRequest {
        op: AtomicOperation::Swap,
        size: 2,
        lrid: 1,
        op_len: 0,
        operand: ReportedData::Full(5),
        address: at(0x200),
    };
    bytes(DataPacket::AtomicRequest(request), split(), "a2 41 01 20");
    bytes(DataPacket::LoadData(LoadData { size: 2, lrid: 1, data: full(0x1234) }), split(), "9b 34 12");
    bytes(DataPacket::LoadData(LoadData { size: 2, lrid: 2, data: None }), split(), "2b");
    // Without address: 2 | 8 << 2 | 2 << 6 | 1 << 8 | diff << 10 | 5 << 12, with 2 bits of `diff` whatever is offered.
    let bare = DataParameters {
        options: NO_ADDRESS,
        offered: OfferedCompression::Xor,
        compressed_operands: true,
        ..split()
    };
    let request = AtomicRequest { address: None, ..request };
    bytes(DataPacket::AtomicRequest(request), bare, "a2 51");
    let compressed = AtomicRequest { operand: ReportedData::Xor(5), ..request };
    bytes(DataPacket::AtomicRequest(compressed), bare, "a2 55");
    // A unified packet would have the same format code.
    let atomic = Atomic { address: None, ..SWAP };
    assert_eq!(encoded(DataPacket::Atomic(atomic), bare), Err(("format", Defect::Unexpected)));
}

/// The same with the packets of version 2.0, in its later release: formats 110 and 111 of three bits. RVET5-ENC-017.
#[test]
fn requests_without_address_in_the_old_layout() {
    let bare = DataParameters { layout: DataLayout::Ratified, options: NO_ADDRESS, ..split() };
    let request = AtomicRequest {
        op: AtomicOperation::Add,
        size: 2,
        lrid: 1,
        op_len: 0,
        operand: ReportedData::Full(5),
        address: None,
    };
    // 6 | 1 << 3 | 2 << 6 | 1 << 8 | 0 << 10 | 5 << 12.
    bytes(DataPacket::AtomicRequest(request), bare, "8e 51");
    // 7 | 1 << 3 | 2 << 5 | 0 << 7 | 3 << 9.
    let data = AtomicData { size: 2, lrid: 1, data_len: 0, data: full(3) };
    bytes(DataPacket::AtomicData(data), bare, "4f 06");
    let packet = Packet::Data(DataPacket::AtomicRequest(request));
    let earlier = Parameters { version: Version::V2_0, ..parameters(bare) };
    let refused = write_payload(&packet, &earlier, Modes::default(), Compression::Minimal);
    assert_eq!(refused.map_err(|error| error.field), Err("format"));
}

fn access(access: DataAccess) -> Step {
    Step::Stimulus(Stimulus::Data(Box::new(access)))
}

fn memory(address: u64, data: u128, multi: bool) -> MemoryAccess {
    MemoryAccess { address: Address(address), size: 2, data, lrid: None, multi, filtered: false }
}

fn atomic(op: AtomicOperation, lrid: Option<u16>) -> Step {
    let (address, operand, data) = (Address(0x200), 5, 6);
    access(DataAccess::Atomic(AtomicAccess { op, address, size: 2, operand, data, lrid, filtered: false }))
}

/// The data packets for accesses of the first traced instruction, whole.
fn traced(data: DataParameters, accesses: &[Step]) -> Vec<DataPacket> {
    coded(DataCompression::Full, data, accesses)
}

/// The data packets for accesses of the first traced instruction.
fn coded(compression: DataCompression, data: DataParameters, accesses: &[Step]) -> Vec<DataPacket> {
    let on = [Step::Stimulus(Stimulus::DataEnable(true)), enable(true), retire(0x1000)];
    let steps: Vec<Step> = on.iter().chain(accesses).chain(&[retire(0x1004)]).cloned().collect();
    let choice = DataPolicy { compression, ..DataPolicy::default() };
    let policy = Policy { data: choice, ..Policy::default() };
    let log = encode(&small_program(), &parameters(data), &policy, &steps);
    log.packets()
        .filter_map(|packet| match packet {
            Packet::Data(packet) => Some(*packet),
            _ => None,
        })
        .collect()
}

/// RVET5-ENC-016, RVET5-ENC-018: failures have their own code, and none where no table has them.
#[test]
fn accesses_have_their_codes() {
    let accesses = [
        access(DataAccess::Load(memory(0x104, 3, true))),
        access(DataAccess::Load(memory(0x104, 3, false))),
        atomic(AtomicOperation::CompareAndSwapFailure, None),
        atomic(AtomicOperation::Swap, None),
        atomic(AtomicOperation::ConditionalStoreFailure, None),
    ];
    let failure = Atomic { op: AtomicOperation::CompareAndSwapFailure, data: None, ..SWAP };
    let expected = [
        DataPacket::Load(word(3, 0x104, true)),
        DataPacket::Load(word(3, 0x104, false)),
        DataPacket::Atomic(failure),
        DataPacket::Atomic(SWAP),
    ];
    assert_eq!(traced(unified(4), &accesses), expected);
    // Without data both failures have a code, without addresses neither.
    let operations = |options| {
        traced(DataParameters { options, ..unified(4) }, &accesses[2..])
            .iter()
            .map(|packet| match packet {
                DataPacket::Atomic(atomic) => atomic.op,
                _ => panic!("{packet:?}"),
            })
            .collect::<Vec<_>>()
    };
    let swap = AtomicOperation::Swap;
    let failures = (AtomicOperation::CompareAndSwapFailure, AtomicOperation::ConditionalStoreFailure);
    assert_eq!(operations(NO_DATA), [failures.0, swap, failures.1]);
    assert_eq!(operations(NO_ADDRESS), [swap]);
}

/// RVET5-ENC-019: its data do not travel, so no data are compared with them or with earlier ones. A compressed operand
/// is a base.
#[test]
fn a_failed_comparison_leaves_no_data_to_compare_with() {
    let load = access(DataAccess::Load(memory(0x104, 3, false)));
    let accesses = [load.clone(), atomic(AtomicOperation::CompareAndSwapFailure, None), load];
    let last = |compressed_operands| {
        let data = DataParameters { compressed_operands, ..unified(4) };
        match coded(DataCompression::Xor, data, &accesses)[..] {
            [_, _, DataPacket::Load(load)] => load.data,
            ref packets => panic!("{packets:?}"),
        }
    };
    assert_eq!(last(false), full(3));
    assert_eq!(last(true), Some(ReportedData::Xor(3 ^ 5)));
}

/// RVET5-ENC-017: a split atomic keeps its two packets without addresses; the load waits for its data.
#[test]
fn split_accesses_without_addresses() {
    let accesses = [
        access(DataAccess::Load(MemoryAccess { lrid: Some(1), ..memory(0x104, 0, true) })),
        atomic(AtomicOperation::Swap, Some(2)),
        Step::Stimulus(Stimulus::Response(DataResponse { lrid: 2, data: Some(6) })),
        Step::Stimulus(Stimulus::Response(DataResponse { lrid: 1, data: Some(3) })),
    ];
    let request = DataPacket::AtomicRequest(AtomicRequest {
        op: AtomicOperation::Swap,
        size: 2,
        lrid: 2,
        op_len: 0,
        operand: ReportedData::Full(5),
        address: None,
    });
    let load = |multi| DataPacket::Load(Transfer { address: None, ..word(3, 0, multi) });
    let options = NO_ADDRESS;
    let mma_cas = DataParameters { options, ..split() };
    let response = DataPacket::LoadData(LoadData { size: 2, lrid: 2, data: full(6) });
    assert_eq!(traced(mma_cas, &accesses), [request, response, load(true)]);
    // The old layout has no codes for multi-access instructions.
    let ratified = DataParameters { layout: DataLayout::Ratified, ..mma_cas };
    let response = DataPacket::AtomicData(AtomicData { size: 2, lrid: 2, data_len: 0, data: full(6) });
    let mut old = accesses;
    old[0] = access(DataAccess::Load(MemoryAccess { lrid: Some(1), ..memory(0x104, 0, false) }));
    assert_eq!(traced(ratified, &old), [request, response, load(false)]);
}

/// The cycles of an instruction with three accesses: addresses of what retires, with its notify request and `ctype`.
fn retired(version: Version, steps: &[Step]) -> Vec<(u64, bool, u8)> {
    let code = program(&[(0x1000, NOP), (0x1004, NOP), (0x3000, NOP)]);
    let parameters = Parameters { version, ..Parameters::default() };
    let mut cycles = Vec::new();
    Hart::new(&code, &parameters, Retirement::Single)
        .run(steps.iter().cloned(), &mut |stimulus| {
            if let Stimulus::Cycle(cycle) = stimulus {
                let blocks = cycle.blocks.iter().filter(|block| block.iretire > 0);
                cycles.extend(blocks.map(|block| (block.iaddr.0, block.notify, cycle.ctype)));
            }
        })
        .expect("there is code");
    cycles
}

/// Once, or once for each access: the trigger and the context change of the first access come with the retirement.
#[test]
fn instructions_with_several_accesses_retire() {
    let part = |notify, ctype| Step::Retire(Retire { partial: true, notify, ctype, ..instruction(0x1000) });
    let steps = [part(true, 2), part(false, 0), retire(0x1000), retire(0x1004)];
    let each = [(0x1000, true, 2), (0x1000, false, 0), (0x1000, false, 0), (0x1004, false, 0)];
    assert_eq!(retired(Version::V2_0, &steps), each);
    assert_eq!(retired(Version::V2_0_5, &steps), [(0x1000, true, 2), (0x1004, false, 0)]);
    // A trap in between: the instruction starts again, and its trigger with it.
    let steps = [part(true, 0), exception(5, 0x1000), retire(0x3000), part(false, 0), retire(0x1000)];
    assert_eq!(retired(Version::V2_0_5, &steps), [(0x3000, false, 0), (0x1000, false, 0)]);
}
