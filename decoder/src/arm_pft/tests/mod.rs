//! Worked examples of the fact sheet, faults, chunks, arbitrary streams.
//!
//! Expected values are those of the worked examples, or worked out by hand.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use traceproof_vectors::arm;
use traceproof_vectors::arm_pft::{ArmPft, Event, Outcome, Parameters, Reason};
use traceproof_vectors::{
    Decoder as _, DecoderLimits, Entry, Fault, Log, MemorySpace, Place, Program, Section,
};

use super::Decoder;
use crate::arm::InstructionSet;

mod arbitrary;
mod classification;
mod contexts;
mod examples;
mod faults;
mod frequent;
mod packets;
mod streams;

/// An A-sync.
const ALIGN: &str = "00 00 00 00 00 80";
/// Trace on at 0x8000 in ARM state, Secure; the same Non-secure.
const ON: &str = "08 00 80 00 00 21";
const ON_NS: &str = "08 00 80 00 00 29";

const NOP: u32 = 0xe1a0_0000;
const LOOP: u32 = 0xeaff_fffe;
const BX_LR: u32 = 0xe12f_ff1e;

/// Bytes written as pairs of digits; `|` only separates packets.
fn bytes(text: &str) -> Vec<u8> {
    text.split_ascii_whitespace()
        .filter(|word| *word != "|")
        .map(|pair| u8::from_str_radix(pair, 16).expect("hexadecimal"))
        .collect()
}

/// Cycle-accurate, with Context IDs of so many bytes.
fn counting(context_id_bytes: u8) -> Parameters {
    Parameters { cycle_accurate: true, context_id_bytes, ..Parameters::default() }
}

/// Without cycle counts, with Context IDs of so many bytes.
fn context(context_id_bytes: u8) -> Parameters {
    Parameters { context_id_bytes, ..Parameters::default() }
}

/// With a return stack of so many entries.
fn returns(return_stack_depth: u8) -> Parameters {
    Parameters { return_stack: true, return_stack_depth, ..Parameters::default() }
}

fn virtualization() -> Parameters {
    Parameters { virtualization: true, vmid: true, ..Parameters::default() }
}

/// Words of ARM code at these addresses.
fn arm(sections: &[(u64, &[u32])]) -> Program {
    let mut program = Program::new();
    for &(address, words) in sections {
        let bytes = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        program.insert(Section::new(address, bytes, "")).expect("free");
    }
    program
}

/// Half-words of Thumb code added at this address.
fn with_thumb(mut program: Program, address: u64, halves: &[u16]) -> Program {
    let bytes = halves.iter().flat_map(|half| half.to_le_bytes()).collect();
    program.insert(Section::new(address, bytes, "")).expect("free");
    program
}

fn thumb(address: u64, halves: &[u16]) -> Program {
    with_thumb(Program::new(), address, halves)
}

/// What the bytes after an A-sync say: the same whole, byte by byte, with and without fast path.
fn log(parameters: &Parameters, program: &Program, text: &str) -> Log<ArmPft> {
    let wire = bytes(&format!("{ALIGN} {text}"));
    let run = |mut decoder: Decoder, chunk: usize| {
        decoder.begin(parameters, program).expect("possible");
        let mut log = Log::<ArmPft>::default();
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

/// The events and faults of [`log`] in words, see [`word`].
fn story(parameters: &Parameters, program: &Program, text: &str) -> String {
    let log = log(parameters, program, text);
    let words = log.entries.iter().filter_map(|(_, entry)| match entry {
        Entry::Packet(_) => None,
        Entry::Event(event) => Some(word(program, event)),
        Entry::Fault(fault) => Some(fault_word(fault)),
    });
    words.collect::<Vec<String>>().join(" ")
}

/// `class@byte.bit`, and the address. The A-sync has six bytes.
fn fault_word(fault: &Fault) -> String {
    let Fault { class, place: Place { byte, bit, .. }, address, .. } = fault;
    let address = address.map_or(String::new(), |address| format!("[{:x}]", address.0));
    format!("{class}@{byte}.{bit}{address}")
}

/// As in the sheet: `8008?`, `8008E`, `8008N` for each instruction; `t` Thumb, `x` ThumbEE, `n` Non-secure,
/// `h` Hyp; `Exc10@8008>8`; `On1`; the others by name.
fn word(program: &Program, event: &Event) -> String {
    let flags = |isa, non_secure, hyp| {
        let isa = match isa {
            arm::InstructionSet::T32 => "t",
            arm::InstructionSet::T32Ee => "x",
            arm::InstructionSet::Jazelle => "j",
            _ => "",
        };
        format!("{isa}{}{}", if non_secure { "n" } else { "" }, if hyp { "h" } else { "" })
    };
    match *event {
        Event::TraceOn { reason, .. } => match reason {
            Reason::Periodic => "On0".into(),
            Reason::TraceEnabled => "On1".into(),
            Reason::Overflow => "On2".into(),
            Reason::DebugExit => "On3".into(),
        },
        Event::Instructions { first, end, count, isa, non_secure, hyp, last } => {
            let (set, mut address) = (InstructionSet::of(isa).expect("code"), first.0);
            let flags = flags(isa, non_secure, hyp);
            let words: Vec<String> = (1..=count)
                .map(|index| {
                    let outcome = match last {
                        _ if index < count => '?',
                        Outcome::Unknown => '?',
                        Outcome::Executed => 'E',
                        Outcome::NotExecuted => 'N',
                    };
                    let word = format!("{address:x}{flags}{outcome}");
                    address = address.wrapping_add(length(program, set, address));
                    word
                })
                .collect();
            assert_eq!(address, end.0);
            words.join(" ")
        }
        Event::BranchTo { address, isa, non_secure, hyp } => {
            format!(">{:x}{}", address.0, flags(isa, non_secure, hyp))
        }
        Event::Exception { number, returns_to, address, isa, non_secure, hyp } => {
            let returns_to = returns_to.map_or("?".into(), |address| format!("{:x}", address.0));
            format!("Exc{number}@{returns_to}>{:x}{}", address.0, flags(isa, non_secure, hyp))
        }
        Event::ExceptionReturn => "ERet".into(),
        Event::Trigger => "Trigger".into(),
        Event::ContextId(value) => format!("cid{value:x}"),
        Event::Vmid(value) => format!("vmid{value:x}"),
        Event::Timestamp { value, clock_change } => {
            let value = value.map_or("?".into(), |value| format!("{value}"));
            format!("T{value}{}", if clock_change { "R" } else { "" })
        }
        Event::Cycles { count, total } => format!("+{count}={total}"),
        ref other => panic!("{other:?}"),
    }
}

/// Bytes of the instruction there, as it is seen in any space.
fn length(program: &Program, set: InstructionSet, address: u32) -> u32 {
    let byte = |offset: u32| {
        let address = u64::from(address.wrapping_add(offset));
        program.bytes_in(MemorySpace::ANY, address).and_then(|bytes| bytes.first().copied())
    };
    let code: Vec<u8> = (0..4).map_while(byte).collect();
    // Where spaces differ all words are ARM.
    if code.is_empty() { 4 } else { set.decode(&code, None).length.into() }
}

fn limited(steps: u64) -> DecoderLimits {
    DecoderLimits::default().with_steps(steps)
}
