//! Asserts the rows of `docs/findings/opencsd-etmv3.md` for OpenCSD 1.8.0: the bytes of each row have the documented
//! effect. If this fails after an update, the row is outdated.

use traceproof_conformance::peers::opencsd::etmv3::{Body, Configuration};
use traceproof_conformance::peers::opencsd::{
    self, Answer, ElementKind, Host, HostCommand, Isa, Limits, PacketBody, Source, Stream,
};
use traceproof_vectors::{Program, Section};

const PLAIN: Configuration = Configuration {
    etmidr: 0x410c_f250,
    etmcr: 0,
    etmccer: 0x3440_08f2,
    etmtraceidr: 0x10,
    m_profile: false,
};
const DATA: Configuration = Configuration { etmcr: 0xc, ..PLAIN };
const CYCLES: Configuration = Configuration { etmcr: 0x1000, ..PLAIN };
const TIMES: Configuration = Configuration { etmcr: 0x1000_0000, ..PLAIN };

/// A-sync, I-sync: ARM, 0x8000.
const SYNC: [u8; 12] = [0, 0, 0, 0, 0, 0x80, 0x08, 0x21, 0, 0x80, 0, 0];

fn host() -> Host {
    let program = env!("CARGO_BIN_EXE_traceproof-opencsd").into();
    Host::new(HostCommand { program, arguments: Vec::new() }, Limits::default())
}

fn trace(bytes: &str) -> Vec<u8> {
    let rest = bytes.split_whitespace().map(|byte| u8::from_str_radix(byte, 16).expect("two digits"));
    SYNC.into_iter().chain(rest).collect()
}

/// The packets after the I-sync: their lengths and contents.
fn packets(configuration: Configuration, bytes: &str) -> Vec<(usize, Body)> {
    let (source, trace) = (Source::Etmv3(configuration), trace(bytes));
    let outcome = opencsd::packets(&mut host(), &Stream::new(&source, &trace)).expect("an answer");
    let packet = |packet: &opencsd::Packet| {
        let PacketBody::Etmv3(body) = packet.body.clone() else { panic!("another protocol") };
        (packet.bytes.len(), body)
    };
    outcome.packets().skip(2).map(packet).collect()
}

fn lengths(configuration: Configuration, bytes: &str) -> Vec<usize> {
    packets(configuration, bytes).into_iter().map(|(length, _)| length).collect()
}

/// What the decoder makes of the bytes: state and start of each range, and the other records. Nops in ARM state from
/// 0x8000 to 0x8fff; at 0x9000 `blx 0x9008`, a nop, and nops in Thumb state.
fn elements(configuration: Configuration, bytes: &str) -> (Vec<(Isa, u64)>, Vec<Answer>) {
    let words = |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let mut program = Program::new();
    let code = [0xe1a0_0000; 1024];
    let sections =
        [(0x8000, words(&code)), (0x9000, words(&[0xfa00_0000, 0xe1a0_0000, 0xbf00_bf00, 0xbf00_bf00]))];
    for (address, bytes) in sections {
        program.insert(Section::new(address, bytes, "")).expect("free");
    }
    let (source, trace) = (Source::Etmv3(configuration), trace(bytes));
    let outcome = opencsd::elements(&mut host(), &Stream::new(&source, &trace), &program).expect("an answer");
    let ranges = outcome.elements().filter_map(|element| match element.kind {
        ElementKind::Range { isa, start, .. } => Some((isa, start)),
        _ => None,
    });
    (ranges.collect(), outcome.records.clone())
}

fn starts(configuration: Configuration, bytes: &str) -> Vec<u64> {
    elements(configuration, bytes).0.into_iter().map(|(_, start)| start).collect()
}

#[test]
fn flow() {
    // OE-01
    assert_eq!(starts(PLAIN, "84 8D 80 80 80 48 3D"), [0_u64; 0]);
    assert_eq!(starts(PLAIN, "88 8D 80 80 80 48 3D"), [0x8000, 0x8004]);
    assert_eq!(starts(PLAIN, "84 84 8D 80 80 80 48 3D"), [0x8000, 0x8004]);
    // OE-02
    let within = [(Isa::Arm, 0x9000), (Isa::Thumb, 0x9008), (Isa::Thumb, 0x900a)];
    let across = [(Isa::Arm, 0x9000), (Isa::Arm, 0x9008), (Isa::Arm, 0x900c)];
    assert_eq!(elements(PLAIN, "08 21 00 90 00 00 8C").0, within);
    assert_eq!(elements(PLAIN, "08 21 00 90 00 00 84 84 84").0, across);
    // OE-03
    let (_, records) = elements(PLAIN, "00 00 00 00 00 00 80 08 01 00 80 00 00 84");
    assert!(matches!(records.last(), Some(Answer::Fault { byte: 12, error: 19, response: 9, .. })));
    // OE-04
    let (ranges, records) = elements(PLAIN, "84 84 83 80 80 80 00 84");
    assert_eq!(ranges.iter().map(|(_, start)| *start).collect::<Vec<_>>(), [0x8000, 0x8004, 0x8000]);
    assert!(!records.iter().any(|record| matches!(record, Answer::Fault { .. })));
    // OE-05
    let (_, records) = elements(DATA, "84");
    assert!(matches!(records.as_slice(), [Answer::Fault { error: 3, response: 6, .. }]));
    // OE-06
    assert!(
        matches!(packets(PLAIN, "83")[..], [(1, Body::Branch { address, .. })] if address.value == 0x8000)
    );
    assert!(matches!(packets(TIMES, "42 85")[..], [(2, Body::Timestamp { value: 0, bits: 0 })]));
    // OE-07
    let (_, records) = elements(TIMES, "46 03");
    let flag = records.iter().find_map(|record| match record {
        Answer::Element(element) => match element.kind {
            ElementKind::Timestamp { frequency_change } => Some(frequency_change),
            _ => None,
        },
        _ => None,
    });
    assert_eq!(flag, Some(false));
    // OE-09
    let last = |bytes: usize| {
        let mut program = Program::new();
        let code = [0x00, 0xbf].repeat(4)[..bytes].to_vec();
        program.insert(Section::new(0x8000, code, "")).expect("free");
        let (source, trace) = (Source::Etmv3(PLAIN), trace("08 21 01 80 00 00 8C"));
        let outcome =
            opencsd::elements(&mut host(), &Stream::new(&source, &trace), &program).expect("an answer");
        (
            outcome.instructions,
            outcome.elements().any(|element| element.kind == ElementKind::NoMemory { address: 0x8004 }),
        )
    };
    assert_eq!((last(6), last(8)), ((2, true), (3, false)));
    // OE-10
    assert!(matches!(
        packets(PLAIN, "08 31 03 83 00 00")[..],
        [(6, Body::ISync { address: Some(address), isa: Isa::Jazelle, .. })] if address.value == 0x8302
    ));
    // OE-11: ldr.w, nop, nop
    let mut program = Program::new();
    let bytes = vec![0xd1, 0xf8, 0x00, 0x00, 0x00, 0xbf, 0x00, 0xbf];
    program.insert(Section::new(0xa100, bytes, "")).expect("free");
    for etmidr in [0x410c_f250, 0x4108_f250] {
        let source = Source::Etmv3(Configuration { etmidr, ..PLAIN });
        let trace = trace("08 21 01 A1 00 00 88");
        let outcome =
            opencsd::elements(&mut host(), &Stream::new(&source, &trace), &program).expect("an answer");
        assert_eq!(outcome.instructions, 2, "{etmidr:x}");
    }
    // OE-08
    let gray = Configuration { etmccer: 0x2440_08f2, ..TIMES };
    assert!(matches!(packets(gray, "42 03")[..], [(2, Body::Timestamp { value: 3, .. })]));
}

/// Exceptions that the decoder reports; `None` if the process died.
fn exceptions(bytes: &str) -> Option<usize> {
    let mut program = Program::new();
    let code = [0xe1a0_0000_u32; 1024].iter().flat_map(|word| word.to_le_bytes()).collect();
    program.insert(Section::new(0x8000, code, "")).expect("free");
    let (source, trace) = (Source::Etmv3(PLAIN), trace(bytes));
    let outcome = opencsd::elements(&mut host(), &Stream::new(&source, &trace), &program).ok()?;
    let is_exception = |element: &&opencsd::Element| matches!(element.kind, ElementKind::Exception { .. });
    Some(outcome.elements().filter(is_exception).count())
}

#[test]
fn cancelled_twice() {
    // OE-71: IRQ, then FIQ
    assert_eq!(exceptions("84 8D 80 80 80 48 3C 8F 80 80 80 48 1E 84"), Some(2));
    assert_eq!(exceptions("84 8D 80 80 80 48 3C 8F 80 80 80 48 3E 84"), Some(1));
    // OE-72
    assert_eq!(exceptions("88 8C 84 89 80 80 80 C0 89 80 80 80 C0 84"), None);
    assert_eq!(exceptions("88 8C 84 89 80 80 80 C0 84 89 80 80 80 C0 84"), Some(0));
}

#[test]
fn memory_that_nobody_wrote() {
    // OE-12: what the third of eight atoms left in the element. What a new element holds cannot be asserted.
    for state in ["31 00", "25 01"] {
        let (ranges, _) = elements(PLAIN, &format!("A0 08 {state} 80 00 00 84"));
        assert_eq!((ranges.len(), ranges.last()), (9, Some(&(Isa::Arm, 0x8008))), "{state}");
    }
    // OE-14: the state of the I-sync before the last.
    let vmid = Configuration { etmcr: 0x4000_0000, ..PLAIN };
    let (_, records) = elements(vmid, "08 21 01 90 00 00 08 21 00 80 00 00 94 3C 05");
    let contexts = records.iter().filter_map(|record| match record {
        Answer::Element(element) => match element.kind {
            ElementKind::Context(context) => Some((context.isa, context.vmid)),
            _ => None,
        },
        _ => None,
    });
    assert_eq!(contexts.collect::<Vec<_>>().last(), Some(&(Isa::Thumb, Some(5))));
}

#[test]
fn in_front_of_a_faulty_byte() {
    // OE-13
    assert_eq!(starts(PLAIN, "84 16"), [0_u64; 0]);
    assert_eq!(starts(PLAIN, "84 66 16"), [0x8000]);
    assert_eq!(starts(PLAIN, "84 84 16"), [0x8000, 0x8004]);
    assert_eq!(starts(PLAIN, "88 16"), [0x8000, 0x8004]);
    // OE-67
    let (ranges, records) = elements(PLAIN, "84 16 84 00 00 00 00 00 80 08 01 04 80 00 00 84");
    assert!(ranges.is_empty());
    assert!(matches!(records.last(), Some(Answer::Fault { byte: 13, response: 9, .. })));
}

#[test]
fn instruction_packets() {
    // OE-20
    assert!(matches!(&packets(PLAIN, "92")[..], [(1, Body::PHeader { atoms, .. })] if atoms == "EE"));
    assert!(matches!(&packets(PLAIN, "C2")[..], [(1, Body::PHeader { atoms, .. })] if atoms == "EE"));
    assert!(matches!(&packets(CYCLES, "9A")[..], [(1, Body::PHeader { atoms, .. })] if atoms == "E"));
    // OE-21
    assert!(
        matches!(&packets(CYCLES, "80")[..], [(1, Body::PHeader { atoms, cycles: 0, .. })] if atoms.is_empty())
    );
    // OE-22
    assert_eq!(lengths(TIMES, "42 80 80 80 80 80 80 80 80 80 84 84"), [12]);
    // OE-23
    let low = packets(PLAIN, "08 A1 00 10 00 00 03 84");
    assert!(matches!(low[0], (6, Body::ISync { load_store_in_progress: false, .. })));
    assert!(matches!(low[1], (1, Body::Branch { .. })));
    let high = packets(PLAIN, "08 A1 00 10 00 80 03 84");
    assert!(matches!(high[0], (7, Body::ISync { load_store_in_progress: true, .. })));
    // OE-24
    assert!(matches!(packets(PLAIN, "6E 84 84")[..], [(2, Body::ContextId { value: 0 }), (1, _)]));
    // OE-25
    let alternative = Configuration { etmidr: 0x411c_f250, ..PLAIN };
    assert_eq!(lengths(alternative, "81 80 80 80 80 80 80 80 01 84"), [9, 1]);
    // OE-26
    assert_eq!(lengths(PLAIN, "83 80 80 80 48 BD A0 C0 84 84"), [10]);
    // OE-28
    let thumb = packets(PLAIN, "08 21 01 80 00 00 A5 82 82 80 98 84");
    assert!(
        matches!(&thumb[1], (5, Body::Branch { exception: Some(it), isa: Isa::Arm, .. }) if it.number == 3)
    );
    // OE-29
    assert!(matches!(packets(CYCLES, "04 80 80 80 80 10")[..], [(6, Body::CycleCount { .. })]));
    assert!(matches!(packets(PLAIN, "08 20 00 90 00 00")[..], [(6, Body::ISync { .. })]));
    // OE-27
    assert!(matches!(packets(PLAIN, "42 03")[..], [(2, Body::Timestamp { .. })]));
    assert!(matches!(packets(PLAIN, "3C 03")[..], [(2, Body::Vmid { .. })]));
    assert!(matches!(packets(PLAIN, "04 03")[..], [(2, Body::CycleCount { .. })]));
    // OE-30
    let number = packets(alternative, "81 50 81 27");
    assert!(matches!(&number[..], [(4, Body::Branch { exception: Some(it), .. })] if it.number == 0));
    // OE-31
    let without = Configuration { etmccer: 0x3040_08f2, ..PLAIN };
    let hyp = packets(without, "83 80 80 80 48 81 20 08 01 00 80 00 00");
    assert!(matches!(hyp[1], (6, Body::ISync { state, .. }) if state.hyp));
    // OE-32
    let (source, trace) = (Source::Etmv3(Configuration { etmcr: 0x4000_0000, ..PLAIN }), trace("3C 05"));
    let stream = Stream { text: true, ..Stream::new(&source, &trace) };
    let outcome = opencsd::packets(&mut host(), &stream).expect("an answer");
    let text = outcome.packets().last().and_then(|packet| packet.text.clone());
    assert_eq!(text.as_deref(), Some("VMID : VMID change.; VMID=0x\u{5}"));
}

#[test]
fn data_packets() {
    // OE-40
    let read = packets(DATA, "26 B4 24 5A 84");
    assert!(matches!(
        read[..],
        [(4, Body::NormalData { address: Some(address), value: Some(0x24) }), (1, _)] if address.bits == 7
    ));
    // OE-41
    assert_eq!(lengths(DATA, "22 34 84 84 84 84"), [6]);
    // OE-42
    let addresses_only = Configuration { etmcr: 8, ..PLAIN };
    assert!(matches!(packets(addresses_only, "26 34 84 84")[..], [(3, Body::NormalData { .. }), (1, _)]));
    // OE-43
    let read = packets(DATA, "08 31 00 80 00 00 26 40 5A 03");
    assert!(matches!(read[2], (1, Body::Branch { address, .. }) if address.value == 0x8041));
}
