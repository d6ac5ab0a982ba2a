//! Data trace: worked packets, and the meaning of sequences of them (ET 8).
//!
//! D-examples exist apart from this code; the other bytes are packed by hand, field by field, least significant bit
//! first.

use alloc::vec::Vec;
use alloc::{format, string::String};

use traceproof_vectors::riscv_etrace::{
    Atomic, AtomicData, AtomicOperation, AtomicRequest, Csr, CsrOperation, DataEvent, DataLayout,
    DataOptions, DataPacket, DataParameters, Encapsulation, Event, LoadData, LoadRequest,
    NormalEncapsulation, OfferedCompression, Packet, Parameters, ReportedAddress, ReportedData, RiscvEtrace,
    SiemensMessaging, Transfer, Xlen,
};
use traceproof_vectors::{Address, Decoder as _, Entry, Log, Place, Program};

use crate::riscv_etrace::data::DataDissector;
use crate::riscv_etrace::{Decoder, Payload, dissect};

use AtomicOperation::{CompareAndSwapFailure, ConditionalStoreFailure};
use ReportedAddress::{Delta, Full};

mod accesses;
mod mma_cas;
mod packets;

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

/// `i` before instruction trace, `d` before data trace.
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
fn summary(parameters: &Parameters, units: &[&str]) -> Vec<String> {
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
