//! Asserts the rows of `docs/findings/opencsd-ptm.md` for OpenCSD 1.8.0: the bytes of each row have the documented
//! effect. If this fails after an update, the row is outdated.

use traceproof_conformance::peers::opencsd::ptm::{Body, Configuration};
use traceproof_conformance::peers::opencsd::{
    self, Answer, Element, ElementKind, Host, HostCommand, Isa, Limits, PacketBody, Source, Stream,
};
use traceproof_vectors::{Program, Section};

const PLAIN: Configuration = Configuration {
    etmidr: 0x411c_f312,
    etmcr: 0,
    etmccer: 0x34c0_1ac2,
    etmtraceidr: 0x10,
    m_profile: false,
};
const CYCLES: Configuration = Configuration { etmcr: 0x1000, ..PLAIN };
const CONTEXTS: Configuration = Configuration { etmcr: 0x4000, ..PLAIN };
const RETURNS: Configuration = Configuration { etmcr: 0x2000_0000, ..PLAIN };
/// As a Cortex-A9 has them.
const V1_0: Configuration = Configuration { etmidr: 0x411c_f301, etmccer: 0x8ea, ..PLAIN };

/// I-sync: ARM, 0x8000.
const IA: &str = "08 00 80 00 00 21";

const NOP: u32 = 0xe1a0_0000;
const LOOP: u32 = 0xeaff_fffe;
const RETURN: u32 = 0xe12f_ff1e;

fn host() -> Host {
    let program = env!("CARGO_BIN_EXE_traceproof-opencsd").into();
    Host::new(HostCommand { program, arguments: Vec::new() }, Limits::default())
}

fn hex(text: &str) -> Vec<u8> {
    text.split_whitespace().map(|byte| u8::from_str_radix(byte, 16).expect("two digits")).collect()
}

/// The bytes after an A-sync.
fn trace(bytes: &str) -> Vec<u8> {
    [0, 0, 0, 0, 0, 0x80].into_iter().chain(hex(&bytes.replace("IA", IA))).collect()
}

/// The packets after the A-sync: their lengths and contents.
fn packets(configuration: Configuration, bytes: &str) -> Vec<(usize, Body)> {
    let (source, trace) = (Source::Ptm(configuration), trace(bytes));
    let outcome = opencsd::packets(&mut host(), &Stream::new(&source, &trace)).expect("an answer");
    let packet = |packet: &opencsd::Packet| {
        let PacketBody::Ptm(body) = packet.body.clone() else { panic!("another protocol") };
        (packet.bytes.len(), body)
    };
    outcome.packets().skip(1).map(packet).collect()
}

/// The bytes of words.
fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// What the decoder makes of the bytes over the code, and the number of a fatal error.
fn reported(
    configuration: Configuration,
    bytes: &str,
    code: &[(u64, Vec<u8>)],
) -> (Vec<String>, Option<u32>) {
    let mut program = Program::new();
    for (address, bytes) in code {
        program.insert(Section::new(*address, bytes.clone(), "")).expect("free");
    }
    let (source, trace) = (Source::Ptm(configuration), trace(bytes));
    let outcome = opencsd::elements(&mut host(), &Stream::new(&source, &trace), &program).expect("an answer");
    let fatal = outcome.records.iter().find_map(|record| match record {
        Answer::Fault { error, response: 6.., .. } => Some(*error),
        _ => None,
    });
    (outcome.elements().filter_map(shown).collect(), fatal)
}

fn elements(configuration: Configuration, bytes: &str, code: &[(u64, Vec<u8>)]) -> Vec<String> {
    let (elements, fatal) = reported(configuration, bytes, code);
    assert_eq!(fatal, None);
    elements
}

/// An element in a few words; `None` for the first and last of each stream.
fn shown(element: &Element) -> Option<String> {
    let text = match &element.kind {
        ElementKind::NoSync { reason: 1 } | ElementKind::EndOfTrace { .. } => return None,
        ElementKind::TraceOn { reason } => format!("on {reason}"),
        ElementKind::Context(context) => {
            format!("context {:?} {:?} {:x?}", context.isa, context.security, context.context_id.unwrap_or(0))
        }
        ElementKind::Range { isa, start, end, last, .. } => {
            format!("{isa:?} {start:x} {end:x} {}", if last.executed { 'E' } else { 'N' })
        }
        ElementKind::NoMemory { address } => format!("no memory {address:x}"),
        ElementKind::Exception { number, return_address, .. } => {
            format!("exception {number} {:x?}", return_address.unwrap_or(0))
        }
        ElementKind::Timestamp { frequency_change } => {
            format!("time {:x} {frequency_change}", element.timestamp.unwrap_or(0))
        }
        other => format!("{other:?}"),
    };
    Some(element.cycles.map_or(text.clone(), |cycles| format!("{text} +{cycles}")))
}

const ON: [&str; 2] = ["on 0", "context Arm Secure 0"];

/// The elements after those of the first I-sync.
fn after_sync(configuration: Configuration, bytes: &str, code: &[(u64, Vec<u8>)]) -> Vec<String> {
    let elements = elements(configuration, &format!("IA {bytes}"), code);
    assert_eq!(elements[..2], ON);
    elements[2..].to_vec()
}

#[test]
fn timestamps_and_counts() {
    // OP-01
    assert_eq!(after_sync(V1_0, "42 9C 84 80 80 80 80 00", &[]), ["time 21c false"]);
    let code = [(0x8000, words(&[RETURN])), (0x8010, words(&[LOOP]))];
    // OP-02
    let counted = elements(CYCLES, "IA 84 88 8C 09 14 8C", &code);
    assert_eq!(counted, ["on 0 +1", ON[1], "Arm 8000 8004 E +2", "Arm 8010 8014 E +3"]);
    // OP-03
    let code = [(0x8000, words(&[NOP])), (0x18, words(&[LOOP]))];
    let counted = elements(CYCLES, "IA 84 B2 8C C8 01 8D 80 00 04 94", &code);
    assert_eq!(counted, ["on 0 +1", ON[1], "Arm 8000 8004 E", "no memory 8004", "Arm 18 1c E +5"]);
    // OP-15
    assert_eq!(after_sync(PLAIN, "46 49", &[]), ["time 49 false"]);
    // OP-23
    assert_eq!(after_sync(PLAIN, "42 49", &[]), ["time 49 false"]);
}

#[test]
fn synchronisation() {
    let code = [(0x8000, words(&[LOOP, LOOP]))];
    // OP-05
    assert_eq!(elements(PLAIN, "08 00 80 00 00 01", &[]), ON);
    // OP-06, OP-60
    let silent = after_sync(PLAIN, "84 08 04 80 00 00 01 84", &code);
    assert_eq!(silent, ["Arm 8000 8004 E", "Arm 8004 8008 E"]);
    // OP-07, OP-62
    assert_eq!(after_sync(PLAIN, "08 00 80 00 00 69 84", &code), ["on 2", "Arm 8000 8004 E"]);
    // OP-08
    let context = elements(CONTEXTS, "IA 41 84 08 00 80 00 00 01 42 6E 42 84", &code);
    assert_eq!(context, ["on 0", "context Arm Secure 41", "Arm 8000 8004 E", "Arm 8000 8004 E"]);
    // OP-20
    let bytes = format!("84 {}80 08 00 80 00 00 01 84", "00 ".repeat(20));
    assert_eq!(after_sync(PLAIN, &bytes, &code), ["Arm 8000 8004 E", "NoSync { reason: 0 }"]);
}

#[test]
fn instructions() {
    // OP-04
    let code = [(0x8000, words(&[0x01a0_0000, LOOP]))];
    assert_eq!(after_sync(PLAIN, "72 01 84", &code), ["Arm 8000 8004 E", "Arm 8004 8008 E"]);
    // OP-09
    let code = [(0x8000, words(&[NOP, RETURN])), (0x8010, words(&[LOOP]))];
    assert_eq!(after_sync(PLAIN, "89 40 01 84", &code), ["exception 0 8000", "Arm 8010 8014 E"]);
    // OP-10
    let code = [(0x10000, hex("08 bf 00 f0 02 e8 fe e7"))];
    let thumb = elements(PLAIN, "08 01 00 01 00 21 86 84", &code);
    assert_eq!(thumb[2], "Thumb 10000 10006 N");
    assert!(thumb[3].starts_with("Arm 10006") || thumb[3] == "no memory 10006", "{}", thumb[3]);
    // OP-11
    let code = [(0x10000, hex("00 bf 00 bf 00 bf fe e7"))];
    let thumb = elements(PLAIN, "08 01 00 01 00 21 84", &code);
    assert_eq!(thumb[2..], ["Thumb 10000 10006 E", "no memory 10006"]);
    // OP-12
    let code = [(0x8000, words(&[NOP, LOOP, NOP, LOOP]))];
    assert_eq!(
        after_sync(PLAIN, "72 03 8C", &code),
        ["Arm 8000 8008 E", "Arm 8004 8008 N", "Arm 8008 8010 E"]
    );
    // OP-13
    let code = [(0x8000, words(&[LOOP])), (0, words(&[LOOP]))];
    assert_eq!(after_sync(PLAIN, "81 80 80 80 48 02 84", &code), ["exception 1 8000", "Arm 0 4 E"]);
    // OP-14
    let code = [(0x8000, words(&[0xeb00_0002, LOOP])), (0x8010, words(&[RETURN]))];
    let without = Configuration { etmcr: 0x2000_0000, ..V1_0 };
    let followed = ["Arm 8000 8004 E", "Arm 8010 8014 E", "Arm 8004 8008 E"];
    assert_eq!(after_sync(without, "84 84 84", &code), followed[..2]);
    assert_eq!(after_sync(RETURNS, "84 84 84", &code), followed);
}

#[test]
fn packets_of_the_processor() {
    // OP-20
    let zeros = packets(PLAIN, &format!("IA 84 {}80 84", "00 ".repeat(20)));
    let bad = |(_, body): &&(usize, Body)| matches!(body, Body::BadSequence { .. });
    assert_eq!(zeros.iter().filter(bad).count(), 2);
    // OP-21
    let atoms = |bytes| match packets(PLAIN, bytes).pop() {
        Some((1, Body::Atoms { atoms, .. })) => atoms,
        other => panic!("{other:?}"),
    };
    assert_eq!((atoms("IA 80"), atoms("IA 82")), (String::from("E"), String::from("N")));
    // OP-22
    assert!(matches!(packets(PLAIN, "IA 6E")[1..], [(1, Body::ContextId { value: 0 })]));
    // OP-63
    assert!(
        matches!(packets(PLAIN, "FF 26")[..], [(2, Body::Branch { address, .. })] if address.value == 0x137e)
    );
    // OP-66
    assert!(matches!(packets(PLAIN, "IA 1C 84")[1..], [(1, Body::Reserved), (1, Body::Atoms { .. })]));
}

#[test]
fn instruction_sets() {
    // OP-16
    let code = [(0x10000, hex("00 bf fe e7"))];
    let started = ["on 0", "context ThumbEe Secure 0"];
    assert_eq!(elements(PLAIN, "08 01 00 01 00 25 84", &code), started);
    // OP-17
    let isa = |bytes| match packets(PLAIN, bytes).pop() {
        Some((_, Body::Branch { isa, .. })) => isa,
        other => panic!("{other:?}"),
    };
    assert_eq!(isa("08 01 00 01 00 25 03"), Isa::Thumb);
    assert_eq!(isa("08 01 00 01 00 21 81 80 80 80 50 56 81 80 80 80 10"), Isa::ThumbEe);
    // OP-33
    let code = [(0x8000, words(&[LOOP]))];
    let jazelle = after_sync(PLAIN, "F3 D9 A2 A3 22 84", &code);
    assert_eq!(jazelle[0], "Arm 8000 8004 E");
    assert!(jazelle.len() == 2 && jazelle[1].starts_with("no memory"), "{jazelle:?}");
    // OP-34
    let code = [(0x8000, words(&[0xe160_006e]))];
    assert_eq!(after_sync(PLAIN, "81 01", &code), ["Arm 8000 8004 E", "no memory 8004"]);
    // OP-35
    let code = [(0x10000, hex("0f f0 0b c0 fe e7 00 00"))];
    assert_eq!(elements(PLAIN, "08 01 00 01 00 21 84", &code)[2..], ["Thumb 10000 10004 E"]);
    // OP-36
    let code = [(0xffff_fffc, words(&[NOP])), (0, words(&[LOOP]))];
    let wrapped = elements(PLAIN, "08 FC FF FF FF 21 84", &code);
    assert_eq!(wrapped[2..], ["Arm fffffffc 100000000 E", "no memory 100000000"]);
}

#[test]
fn errors_of_the_flow() {
    // OP-18
    let code = [(0x8000, words(&[LOOP])), (0x8020, words(&[LOOP]))];
    assert_eq!(after_sync(PLAIN, "11 84", &code), ["Arm 8000 8004 E", "Arm 8020 8024 E"]);
    // OP-19
    let code = [(0x8000, words(&[RETURN]))];
    let (elements, fatal) = reported(RETURNS, "IA 84 08 00 80 00 00 01 84", &code);
    assert_eq!((elements, fatal), (ON.map(String::from).to_vec(), Some(28)));
    // OP-30
    assert_eq!(after_sync(PLAIN, "88 09", &code), ["Arm 8000 8004 E"]);
    // OP-31
    let (elements, _) = reported(CYCLES, "08 00 80 00 00 41 F0 17", &[]);
    assert_eq!(elements[0], "on 1 +380");
    // OP-32
    let code = [(0x8000, words(&[0xeb00_0002, LOOP])), (0x8010, words(&[0x1bff_fffe, RETURN]))];
    let calls = format!("IA {} 86 {}", "84 ".repeat(17), "84 ".repeat(17));
    let (elements, fatal) = reported(RETURNS, &calls, &code);
    let returns = elements.iter().filter(|element| *element == "Arm 8014 8018 E").count();
    assert_eq!((returns, fatal), (16, Some(28)));
}

#[test]
fn packets_that_there_are_not() {
    // OP-20: sixteen zeros at the start.
    let source = Source::Ptm(PLAIN);
    let trace: Vec<u8> = [0; 16].into_iter().chain(hex(&format!("80 {IA} 84"))).collect();
    let outcome = opencsd::packets(&mut host(), &Stream::new(&source, &trace)).expect("an answer");
    assert!(outcome.packets().all(|packet| packet.body == PacketBody::Ptm(Body::NotSynchronised)));
    // OP-25
    let plain = Configuration { etmccer: 0x30c0_1ac2, ..PLAIN };
    assert!(matches!(packets(plain, "IA 3C 05")[1..], [(2, Body::Vmid { value: 5 })]));
    assert!(matches!(packets(V1_0, "IA 76")[1..], [(1, Body::ExceptionReturn)]));
    // OP-26
    let low = packets(PLAIN, "08 02 80 00 00 21");
    assert!(matches!(low[..], [(6, Body::ISync { address, .. })] if address.value == 0x8002));
}
