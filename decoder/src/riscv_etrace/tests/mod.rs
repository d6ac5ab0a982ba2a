//! Worked examples, sequences, faults and arbitrary bytes.
//!
//! Expected values are those of the worked examples, or worked out by hand with [`pack`].

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use traceproof_vectors::riscv_etrace::{Epc, Event, Parameters, RiscvEtrace, StopReason};
use traceproof_vectors::{Decoder as _, Entry, Fault, Log, Place, Program, Sink};

use super::program_map::tests::program as parcels;
use super::{Decoder, Instructions, ProgramMap};

mod arbitrary;
mod data;
mod encapsulation;
mod examples;
mod fast_path;
mod faults;
mod modes;
mod sequences;
mod version_205;

/// Bytes written as pairs of digits.
fn bytes(text: &str) -> Vec<u8> {
    text.split_ascii_whitespace().map(|pair| u8::from_str_radix(pair, 16).expect("hexadecimal")).collect()
}

/// Every payload with its header.
fn frame(payloads: &[&str]) -> Vec<u8> {
    let mut wire = Vec::new();
    for payload in payloads {
        let payload = bytes(payload);
        wire.push(payload.len() as u8);
        wire.extend(payload);
    }
    wire
}

/// A payload, as hexadecimal text, from `(value, width)` fields, first field lowest, filled up with its top bit.
fn pack(fields: &[(u64, u32)]) -> String {
    let mut bits: Vec<bool> =
        fields.iter().flat_map(|&(value, width)| (0..width).map(move |bit| value >> bit & 1 != 0)).collect();
    while !bits.len().is_multiple_of(8) {
        bits.push(*bits.last().expect("at least one field"));
    }
    let byte = |bits: &[bool]| bits.iter().rev().fold(0_u8, |byte, &bit| byte << 1 | u8::from(bit));
    bits.chunks(8).map(|bits| format!("{:02x} ", byte(bits))).collect()
}

/// A program of 32-bit instructions at each address.
fn program(sections: &[(u64, &[u32])]) -> Program {
    let halves: Vec<(u64, Vec<u16>)> = sections
        .iter()
        .map(|&(address, code)| (address, code.iter().flat_map(|&i| [i as u16, (i >> 16) as u16]).collect()))
        .collect();
    let sections: Vec<(u64, &[u16])> =
        halves.iter().map(|(address, code)| (*address, code.as_slice())).collect();
    parcels(&sections)
}

const NOP: u32 = 0x0000_0013;
/// `jalr x0, 0(x10)`
const JUMP: u32 = 0x0005_0067;
/// `jalr x0, 0(x1)`
const RET: u32 = 0x0000_8067;
const MRET: u32 = 0x3020_0073;
/// `beq x0, x0, .`
const LOOP: u32 = 0x0000_0063;
/// `jal x0, .`
const STAY: u32 = 0x0000_006f;

fn decode(parameters: &Parameters, program: &Program, wire: &[u8]) -> Log<RiscvEtrace> {
    let mut decoder = Decoder::default();
    decoder.begin(parameters, program).expect("parameters are supported");
    let mut log = Log::default();
    decoder.push(wire, &mut log);
    decoder.finish(&mut log);
    log
}

/// The reports of the decoder as text: addresses of retired instructions, `P` privilege, `C` imprecise context, `E`
/// exception `@` EPC, `I` interrupt, `t` time, `end`, `lost`, and faults as `class@packet:byte.bit`.
fn summary(parameters: &Parameters, program: &Program, payloads: &[&str]) -> String {
    summary_of(&ProgramMap::new(program, parameters), &decode(parameters, program, &frame(payloads)))
}

fn summary_of(map: &ProgramMap, log: &Log<RiscvEtrace>) -> String {
    let mut single: Log<RiscvEtrace> = Log::default();
    let mut instructions = Instructions::new(map, &mut single);
    for (place, entry) in &log.entries {
        match entry {
            Entry::Packet(packet) => instructions.packet(*place, packet),
            Entry::Event(event) => instructions.event(*place, event),
            Entry::Fault(fault) => instructions.fault(fault),
        }
    }
    let words: Vec<String> = single.entries.iter().filter_map(|(_, entry)| word(entry)).collect();
    words.join(" ")
}

fn word(entry: &Entry<RiscvEtrace>) -> Option<String> {
    Some(match entry {
        Entry::Packet(_) => return None,
        Entry::Event(Event::Retire { first, count: 1, .. }) => format!("{first:x}"),
        Entry::Event(Event::Retire { first, end, count }) => format!("{first:x}..{end:x}*{count}"),
        Entry::Event(Event::Trap { interrupt: true, cause, .. }) => format!("I{cause}"),
        Entry::Event(Event::Trap { cause, epc: Epc::At(epc), .. }) => format!("E{cause}@{epc:x}"),
        Entry::Event(Event::Trap { cause, .. }) => format!("E{cause}@?"),
        Entry::Event(Event::Context { privilege, precise: true, .. }) => format!("P{privilege}"),
        Entry::Event(Event::Context { privilege, .. }) => format!("C{privilege}"),
        Entry::Event(Event::Time { time }) => format!("t{time}"),
        Entry::Event(Event::Data(data)) => format!("{data:?}"),
        Entry::Event(Event::Stop { reason: StopReason::Ended }) => String::from("end"),
        Entry::Event(Event::Stop { reason: StopReason::Lost }) => String::from("lost"),
        Entry::Event(other) => panic!("{other:?} has no word"),
        Entry::Fault(Fault { class, place: Place { packet, byte, bit }, .. }) => {
            format!("{class}@{packet}:{byte}.{bit}")
        }
    })
}
