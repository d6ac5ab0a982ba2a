//! Worked examples, registers, formulas, logs, faults and arbitrary bytes.
//!
//! Expected values are those of the worked examples and of published dumps, or worked out by hand.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use traceproof_vectors::itanium_pmu::{
    AccessKind, DataMiss, Event, Instruction, InstructionMiss, ItaniumPmu, Parameters, Register, SyllableType,
};
use traceproof_vectors::{Address, Decoder as _, Entry, Log, Program};

use super::{Decoder, Registers};

mod arbitrary;
mod bundles;
mod codec;
mod examples;
mod explained;
mod faults;
mod followed;
mod formulas;
mod notices;

const M: SyllableType = SyllableType::M;
const I: SyllableType = SyllableType::I;
const F: SyllableType = SyllableType::F;
const B: SyllableType = SyllableType::B;

fn register(name: &str) -> Register {
    name.parse().expect("a register")
}

/// Registers with these values and 0 everywhere else.
fn registers(values: &[(&str, u64)]) -> Registers {
    let mut registers = Registers::default();
    for (name, value) in values {
        registers.write(register(name), *value);
    }
    registers
}

/// PSR with a privilege level and some bits.
const fn psr(cpl: u64, bits: u64) -> u64 {
    cpl << 32 | bits
}
const UP: u64 = 1 << 2;
const SP: u64 = 1 << 20;
const PP: u64 = 1 << 21;
const DB: u64 = 1 << 24;
const IS: u64 = 1 << 34;

const fn syllable(itype: SyllableType, enco: u64) -> Instruction {
    Instruction { ip: Address(0), slot: 0, itype, enco, retired: true, squashed: false }
}

/// Bytes 0 to 7 and 8 to 15.
fn record(low: u64, high: u64) -> Vec<u8> {
    [low.to_le_bytes(), high.to_le_bytes()].concat()
}

fn access_register(kind: u64, name: &str, value: u64) -> Vec<u8> {
    let register = register(name);
    record(kind | (register.class as u64) << 8 | u64::from(register.index) << 16, value)
}

fn reset() -> Vec<u8> {
    record(0, 0)
}
fn write(name: &str, value: u64) -> Vec<u8> {
    access_register(1, name, value)
}
fn read(name: &str, value: u64) -> Vec<u8> {
    access_register(2, name, value)
}
fn undefined(name: &str) -> Vec<u8> {
    access_register(3, name, 0)
}
/// A retired instruction.
fn instruction(ip: u64, slot: u64, itype: SyllableType, enco: u64) -> Vec<u8> {
    record(4 | (slot | 4 | (itype as u64) << 4) << 8 | enco << 16, ip)
}
fn access(kind: AccessKind, address: u64) -> Vec<u8> {
    record(5 | (kind as u64) << 8, address)
}
fn instruction_cache_miss(ip: u64, latency: u64) -> Vec<u8> {
    record(6 | latency << 32, ip)
}
fn instruction_tlb_miss(ip: u64, resolution: u64) -> Vec<u8> {
    record(7 | resolution << 8, ip)
}
fn data_cache_miss(latency: u64) -> Vec<u8> {
    record(8 | latency << 32, 0)
}
fn data_tlb_miss(level: u64) -> Vec<u8> {
    record(9 | level << 8, 0)
}
fn occurrence(es: u64, umask: u64, count: u64) -> Vec<u8> {
    record(10 | es << 8 | umask << 16 | count << 24, 0)
}
fn cycle() -> Vec<u8> {
    record(11, 0)
}
fn tags(bits: u64) -> Vec<u8> {
    record(12 | bits << 8, 0)
}
fn data_tag(tag: u64) -> Vec<u8> {
    record(13 | tag << 8, 0)
}
fn interrupt() -> Vec<u8> {
    record(14, 0)
}

fn decode(parameters: &Parameters, wire: &[u8]) -> Log<ItaniumPmu> {
    let mut decoder = Decoder::default();
    decoder.begin(parameters, &Program::new()).expect("parameters are supported");
    let mut log = Log::default();
    decoder.push(wire, &mut log);
    decoder.finish(&mut log);
    log
}

/// Events and faults of a log as text; see [`word`].
fn summary(parameters: &Parameters, records: &[Vec<u8>]) -> String {
    let log = decode(parameters, &records.concat());
    let words = log.entries.iter().filter_map(|(_, entry)| match entry {
        Entry::Packet(_) => None,
        Entry::Event(event) => Some(word(event)),
        Entry::Fault(fault) => {
            let place = fault.place;
            Some(format!("{}@{}:{}.{}", fault.class, place.packet, place.byte % 16, place.bit))
        }
    });
    words.collect::<Vec<_>>().join(" ")
}

fn strict(records: &[Vec<u8>]) -> String {
    summary(&Parameters::default(), records)
}

fn lenient(records: &[Vec<u8>]) -> String {
    summary(&Parameters { strict: false, ..Parameters::default() }, records)
}

/// `tags:` IBRRangeTag, Tag(PMC8), Tag(PMC9); `data:` DBRRangeMatch, DBRRangeTag; `counter+increment=count`; and so on.
fn word(event: &Event) -> String {
    match *event {
        Event::Tags(tags) => {
            format!("tags:{}{}{}", u8::from(tags.range), u8::from(tags.pmc8), u8::from(tags.pmc9))
        }
        Event::DataTag { matched, tag } => format!("data:{}{}", u8::from(matched), u8::from(tag)),
        Event::Count { counter, increment, count } => format!("{counter}+{increment}={count:x}"),
        Event::Overflow { counter } => format!("overflow{counter}"),
        Event::Freeze => "freeze".into(),
        Event::Interrupt => "interrupt".into(),
        Event::InstructionMiss(miss) => format!("took:{}", instruction_miss(&miss)),
        Event::DataMiss(miss) => format!("took:{}", data_miss(&miss)),
        Event::InstructionEar(None) | Event::DataEar(None) => "none".into(),
        Event::InstructionEar(Some(miss)) => format!("read:{}", instruction_miss(&miss)),
        Event::DataEar(Some(miss)) => format!("read:{}", data_miss(&miss)),
        Event::Notice { register, notice } => format!("{register}:{notice:?}"),
        ref other => panic!("{other:?} has no word"),
    }
}

fn instruction_miss(miss: &InstructionMiss) -> String {
    let latency = miss.latency.map_or(String::new(), |latency| format!(":{latency}"));
    let tlb = miss.tlb.map_or(String::new(), |tlb| format!(":{tlb:?}"));
    format!("{:x}{latency}{tlb}", miss.line)
}

fn data_miss(miss: &DataMiss) -> String {
    let latency = miss.latency.map_or(String::new(), |latency| format!(":{latency}"));
    let level = miss.level.map_or(String::new(), |level| format!(":{level:?}"));
    format!("{:x}@{:x}.{}{latency}{level}", miss.address, miss.bundle, miss.slot)
}
