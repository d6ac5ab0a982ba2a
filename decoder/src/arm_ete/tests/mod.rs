//! Worked examples of the fact sheet, faults, chunks, arbitrary streams.
//!
//! Expected values are those of the worked examples, or worked out by hand.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use traceproof_vectors::arm::{Context, SecurityState};
use traceproof_vectors::arm_ete::{
    ArmEte, ConditionalTrace, Event, Outcome, Parameters, QElements, TimestampOf, Version,
};
use traceproof_vectors::{
    Decoder as _, DecoderLimits, Entry, Fault, Log, MemorySpace, Place, Program, Section,
};

use super::Decoder;
use crate::arm::InstructionSet;

mod arbitrary;
mod elements;
mod etmv4;
mod faults;
mod flow;
mod packets;
mod streams;

/// An A-sync.
const ALIGN: &str = "00 00 00 00 00 00 00 00 00 00 00 80";

/// Bytes written as pairs of digits; `|` only separates packets.
fn bytes(text: &str) -> Vec<u8> {
    text.split_ascii_whitespace()
        .filter(|word| *word != "|")
        .map(|pair| u8::from_str_radix(pair, 16).expect("hexadecimal"))
        .collect()
}

/// Configuration C1 of the sheet, with everything that no packet is longer for.
fn c1() -> Parameters {
    Parameters {
        instrumentation: true,
        timestamp_markers: true,
        transactions: true,
        cycle_counting: true,
        timestamps: true,
        q_elements: QElements::Any,
        ..Parameters::default()
    }
}

/// Configuration C0 with this MAXSPEC: cycle counts carry commits.
fn c0(maxspec: u32) -> Parameters {
    Parameters { commopt: false, maxspec, ..c1() }
}

/// ETMv4 with all its packets.
fn v4(version: Version) -> Parameters {
    Parameters {
        commopt: false,
        maxspec: 8,
        cycle_counting: true,
        timestamps: true,
        data_trace: true,
        conditional_trace: ConditionalTrace::All,
        q_elements: QElements::Any,
        ..Parameters::etmv4(version)
    }
}

/// P of the sheet: Trace Info, Trace On, 0x1000 at EL1, Non-secure, A64.
const P: &str = "01 00 04 82 00 08 00 00 31";
/// The same with a cycle count threshold of 0x10.
const P_COUNTING: &str = "01 09 01 10 04 82 00 08 00 00 31";

const NOP: u32 = 0xd503_201f;
/// `b .`
const LOOP: u32 = 0x1400_0000;
/// `b.eq .`
const LOOP_IF: u32 = 0x5400_0000;
const RET: u32 = 0xd65f_03c0;
const BLR: u32 = 0xd63f_0000;
const ISB: u32 = 0xd503_3fdf;

/// Code in words at these addresses.
fn words(sections: &[(u64, &[u32])]) -> Program {
    let mut program = Program::new();
    for &(address, words) in sections {
        let bytes = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        program.insert(Section::new(address, bytes, "")).expect("free");
    }
    program
}

/// Code in half-words at this address.
fn halves(address: u64, halves: &[u16]) -> Program {
    let mut program = Program::new();
    let bytes = halves.iter().flat_map(|half| half.to_le_bytes()).collect();
    program.insert(Section::new(address, bytes, "")).expect("free");
    program
}

/// 0x1000: `b.eq .`, three times.
fn branches() -> Program {
    words(&[(0x1000, &[LOOP_IF, LOOP_IF, LOOP_IF])])
}

/// The code of D-24 to D-27: BL at 1000 to 1020, B at 100c to 1040, RET at 1024, B at 1044, RET at 4004.
fn call() -> Program {
    words(&[
        (0x1000, &[0x9400_0008, NOP, NOP, 0x1400_000d]),
        (0x1020, &[NOP, RET]),
        (0x1040, &[NOP, LOOP]),
        (0x4000, &[NOP, RET]),
    ])
}

fn returns(parameters: Parameters) -> Parameters {
    Parameters { return_stack: true, ..parameters }
}

/// What the bytes after an A-sync say: the same whole, byte by byte, with and without fast path.
fn log_within(limits: &DecoderLimits, parameters: &Parameters, program: &Program, text: &str) -> Log<ArmEte> {
    let wire = bytes(&format!("{ALIGN} {text}"));
    let run = |mut decoder: Decoder, chunk: usize| {
        decoder.set_limits(limits);
        decoder.begin(parameters, program).expect("possible");
        let mut log = Log::<ArmEte>::default();
        wire.chunks(chunk).for_each(|chunk| decoder.push(chunk, &mut log));
        decoder.finish(&mut log);
        log
    };
    let whole = run(Decoder::default(), wire.len());
    assert_eq!(run(Decoder::default(), 1).entries, whole.entries, "{text}");
    let slow = run(Decoder::default().without_fast_path(), 5);
    assert_eq!(slow.entries, whole.entries, "{text}");
    whole
}

/// The events and faults in words, see [`word`].
fn story_within(limits: &DecoderLimits, parameters: &Parameters, program: &Program, text: &str) -> String {
    let log = log_within(limits, parameters, program, text);
    let words = log.entries.iter().filter_map(|(_, entry)| match entry {
        Entry::Packet(_) => None,
        Entry::Event(event) => Some(word(program, event)),
        Entry::Fault(fault) => Some(fault_word(fault)),
    });
    words.collect::<Vec<String>>().join(" ")
}

fn story(parameters: &Parameters, program: &Program, text: &str) -> String {
    story_within(&DecoderLimits::default(), parameters, program, text)
}

/// The same after P, without what P says.
fn after_p(parameters: &Parameters, program: &Program, text: &str) -> String {
    let story = story(parameters, program, &format!("{P} {text}"));
    story.strip_prefix("Info On 1ns64").expect("P").trim_start().into()
}

/// `class@byte.bit`, and the address. The A-sync has 12 bytes, P nine.
fn fault_word(fault: &Fault) -> String {
    let Fault { class, place: Place { byte, bit, .. }, address, .. } = fault;
    let address = address.map_or(String::new(), |address| format!("[{:x}]", address.0));
    format!("{class}@{byte}.{bit}{address}")
}

/// As in the sheet: `1008?`, `1008E`, `1008N` for each instruction; `Exc14@1004`; a context is its exception level,
/// security state and 64 or 32; the others by name.
fn word(program: &Program, event: &Event) -> String {
    match *event {
        Event::Instructions { first, end, count, isa, last } => {
            let (set, mut address) = (InstructionSet::of(isa).expect("code"), first.0);
            let mask = if set == InstructionSet::A64 { u64::MAX } else { u32::MAX.into() };
            let words: Vec<String> = (1..=count)
                .map(|index| {
                    let outcome = match last {
                        _ if index < count => '?',
                        Outcome::Passed => '?',
                        Outcome::Taken => 'E',
                        Outcome::NotTaken => 'N',
                    };
                    let word = format!("{address:x}{outcome}");
                    address = address.wrapping_add(length(program, set, address)) & mask;
                    word
                })
                .collect();
            assert_eq!(address, end.0);
            words.join(" ")
        }
        Event::TraceInfo { .. } => "Info".into(),
        Event::TraceOn => "On".into(),
        Event::Context(context) => context_word(&context),
        Event::UnknownPath { count } => format!("Q{}", number(count)),
        Event::Mispredict => "Mis".into(),
        Event::Exception { number, returns_to, fault_pending } => {
            let returns_to = returns_to.map_or("?".into(), |address| format!("{:x}", address.0));
            format!("Exc{number}@{returns_to}{}", if fault_pending { "P" } else { "" })
        }
        Event::ExceptionReturn => "ERet".into(),
        Event::FunctionReturn => "FRet".into(),
        Event::TransactionStart => "Start".into(),
        Event::TransactionCommit => "Commit".into(),
        Event::TransactionFailure => "Fail".into(),
        Event::Cycles { count, total } => format!("+{}={total}", number(count)),
        Event::Timestamp { value, cycles, of } => {
            let value = value.map_or("?".into(), |value| format!("{value}"));
            let cycles = cycles.map_or(String::new(), |cycles| format!("/{cycles}"));
            let of = match of {
                TimestampOf::Latest => "",
                TimestampOf::Marker => "m",
                TimestampOf::BeforeTrace => "b",
            };
            format!("T{value}{cycles}{of}")
        }
        Event::TimestampMarker => "Mark".into(),
        Event::Event { number } => format!("Ev{number}"),
        Event::Instrumentation { exception_level, value } => format!("I{exception_level}={value:x}"),
        Event::DataSyncMarker { number } => {
            format!("Dsm{}", number.map_or(String::new(), |n| format!("{n}")))
        }
        Event::Overflow => "Ovf".into(),
        Event::Discard => "Dis".into(),
        ref other => panic!("{other:?}"),
    }
}

fn number(number: Option<u32>) -> String {
    number.map_or("?".into(), |number| format!("{number}"))
}

fn context_word(context: &Context) -> String {
    let security = match context.security {
        SecurityState::Secure => "s",
        SecurityState::NonSecure => "ns",
        SecurityState::Root => "root",
        SecurityState::Realm => "realm",
    };
    let level = context.exception_level.expect("always").number();
    let id = |letter, id: Option<u32>| {
        id.filter(|id| *id != 0).map_or(String::new(), |id| format!("{letter}{id:x}"))
    };
    let (vmid, context_id) = (id('v', context.vmid), id('c', context.context_id));
    format!("{level}{security}{}{vmid}{context_id}", if context.is_64_bit { 64 } else { 32 })
}

/// Bytes of the instruction there, as it is seen in any space.
fn length(program: &Program, set: InstructionSet, address: u64) -> u64 {
    let byte = |offset: u64| {
        let address = address.wrapping_add(offset);
        program.bytes_in(MemorySpace::ANY, address).and_then(|bytes| bytes.first().copied())
    };
    let code: Vec<u8> = (0..4).map_while(byte).collect();
    if code.is_empty() { 4 } else { set.decode(&code, None).length.into() }
}
