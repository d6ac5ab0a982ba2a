//! Worked examples, synchronisation, data, faults and arbitrary captures.
//!
//! Expected values are those of the worked examples, or worked out by hand.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use traceproof_vectors::arm_etm::v1::{Cycle, Pipestat};
use traceproof_vectors::arm_etm::{Architecture, ArmEtm, Event, Isa, Parameters, Reason, Value};
use traceproof_vectors::{Decoder as _, Entry, Log, Program, Section};

use super::Decoder;

mod arbitrary;
mod data;
mod examples;
mod exceptions;
mod faults;
mod synchronisation;

/// ETMv1.2 on an 8-bit port, with all data.
fn etm() -> Parameters {
    Parameters { architecture: Architecture::V1, minor: 2, ..Parameters::default() }
}

/// Records separated by `;`: status (`A0` to `A3` for 0 to 3, `??` for one that is none), `*` for TRACESYNC, TRACEPKT
/// (`--` for one that carries nothing); `3x` before a record repeats it.
fn wire(parameters: &Parameters, text: &str) -> Vec<u8> {
    let mut wire = Vec::new();
    for record in text.split(';').map(str::trim) {
        let (count, record) = match record.split_once("x ") {
            Some((count, record)) => (count.parse().expect("a count"), record),
            None => (1_usize, record),
        };
        let (name, tracepkt) = record.split_once(' ').expect("status and TRACEPKT");
        let tracepkt = u16::from_str_radix(&tracepkt.trim().replace('-', "0"), 16).expect("TRACEPKT");
        let (name, tracesync) = name.strip_suffix('*').map_or((name, false), |name| (name, true));
        let apo = ["A0", "A1", "A2", "A3"].iter().position(|apo| *apo == name);
        let code = apo.map(|code| code as u8).or(name.parse().ok().map(Pipestat::code));
        let pipestat = code.and_then(Pipestat::from_code);
        let cycle = Cycle { pipestat: pipestat.unwrap_or(Pipestat::Ie), tracesync, tracepkt };
        let mut bytes = cycle.to_bytes(parameters);
        if pipestat.is_none() {
            assert_eq!(name, "??");
            bytes[0] |= 0xf0;
        }
        for _ in 0..count {
            wire.extend(&bytes[..Cycle::size(parameters)]);
        }
    }
    wire
}

/// Words of code from 0x8000 on.
fn arm(words: &[u32]) -> Program {
    arm_at(0x8000, words)
}

fn arm_at(address: u64, words: &[u32]) -> Program {
    let bytes = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let mut program = Program::new();
    program.insert(Section::new(address, bytes, "")).expect("no overlap");
    program
}

const MOV: u32 = 0xe1a0_0000;
const BX: u32 = 0xe12f_ff16;
const LDR: u32 = 0xe591_0000;

/// A restart at 0x8000, ARM state: records 0 to 4, bytes 0 to 9, packet 0.
const ENABLED: &str = "BE* 80; A0 80; A0 82; WT 80; WT 10";

fn decode(parameters: &Parameters, program: &Program, wire: &[u8]) -> Log<ArmEtm> {
    let mut decoder = Decoder::default();
    decoder.begin(parameters, program).expect("parameters are supported");
    let mut log = Log::default();
    decoder.push(wire, &mut log);
    decoder.finish(&mut log);
    log
}

/// Events and faults as text; see [`word`].
fn format_log(log: &Log<ArmEtm>) -> String {
    let words: Vec<String> = log
        .entries
        .iter()
        .filter_map(|(_, entry)| match entry {
            Entry::Packet(_) => None,
            Entry::Event(event) => Some(word(event)),
            Entry::Fault(fault) => {
                let place = fault.place;
                let address = fault.address.map_or(String::new(), |address| format!("[{address:x}]"));
                Some(format!("{}@{}:{}.{}{address}", fault.class, place.packet, place.byte, place.bit))
            }
        })
        .collect();
    words.join(" ")
}

fn summary(parameters: &Parameters, program: &Program, text: &str) -> String {
    format_log(&decode(parameters, program, &wire(parameters, text)))
}

/// [`summary`] after [`ENABLED`], without the output of that.
fn enabled(parameters: &Parameters, program: &Program, text: &str) -> String {
    let summary = summary(parameters, program, &format!("{ENABLED}; {text}"));
    let rest = summary.strip_prefix("sync0:enabled:Arm:8000").expect("the restart");
    rest.trim_start().into()
}

/// Exception: its kind with record, `:` vector, `@` instruction; `maybe`: a possible one; `#first..last:ignored`.
///
/// Instruction `E`, `N` with its record and `:` address; trigger `TR`; `#transfer@record[address]=value`; `open` with a
/// record.
fn word(event: &Event) -> String {
    match *event {
        Event::InstructionAt { cycle, address, isa, executed } => {
            let state = match isa {
                Isa::Arm => "",
                Isa::Thumb => "t",
                Isa::ThumbEe => "ee",
                Isa::Jazelle => "j",
            };
            let address = address.map_or("?".into(), |address| format!("{address:x}"));
            format!("{}{cycle}:{state}{address}", if executed { "E" } else { "N" })
        }
        Event::Trigger { when } => format!("TR{when}"),
        Event::Synchronisation { cycle, reason, address, isa, context_id, lsm: None } => {
            let reason = match reason {
                Reason::Periodic => "periodic",
                Reason::TraceEnabled => "enabled",
                Reason::Overflow => "overflow",
                Reason::DebugExit => "debug",
            };
            let context = context_id.map_or(String::new(), |id| format!(":context={id:x}"));
            format!("sync{cycle}:{reason}:{isa:?}:{address:x}{context}")
        }
        Event::Exception { cycle, kind, vector, at, cancelled } => {
            let at = at.map_or(String::new(), |at| format!("@{at:x}"));
            let back = cancelled.map_or(String::new(), |cycle| format!("!{cycle}"));
            format!("{kind:?}{cycle}:{vector:x}{at}{back}")
        }
        Event::PossibleException { cycle, vector } => format!("maybe{cycle}:{vector:x}"),
        Event::IgnoredTransfers { first, last } => format!("#{first}..{last}:ignored"),
        Event::Branch { cycle, address, isa } => format!("branch{cycle}:{isa:?}:{address:x}"),
        Event::ContextId { when, value } => format!("context{when}:{value:x}"),
        Event::Transfer { transfer, when, address, value, big_endian: false } => {
            let address = address.map_or(String::new(), |address| format!("[{address}]"));
            match value {
                Value::Known(value) => format!("#{transfer}@{when}{address}={value:x}"),
                Value::Off => format!("#{transfer}@{when}{address}"),
                _ => format!("{event:?}"),
            }
        }
        Event::Incomplete { when } => format!("open{when}"),
        _ => format!("{event:?}"),
    }
}
