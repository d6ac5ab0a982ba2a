//! Asserts the rows of `docs/findings/opencsd-ete.md` for OpenCSD 1.8.0: the bytes of each row have the documented
//! effect. If this fails after an update, the row is outdated.

use traceproof_conformance::peers::opencsd::etmv4::{Body, Configuration, Profile};
use traceproof_conformance::peers::opencsd::{
    self, Element, ElementKind, Host, HostCommand, Limits, Packet, PacketBody, Source, Stream,
};
use traceproof_vectors::{Program, Section};

const ETE: Configuration = Configuration {
    trcidr0: 0x2840_0ea1,
    trcidr1: 0x4100_fff0,
    trcidr2: 0x1088,
    trcidr8: 0x0,
    trcdevarch: 0x4773_5a13,
    trcconfigr: 0x1,
    trctraceidr: 0x10,
    profile: Profile::A,
};
const RETURNS: Configuration = Configuration { trcconfigr: 0x1001, ..ETE };
const SPECULATION: Configuration = Configuration { trcidr0: 0x0840_0ea1, trcidr8: 0x8, ..ETE };
const SPECULATION_4: Configuration = Configuration { trcidr0: 0x0840_0ea1, trcidr8: 0x4, ..ETE };
const SPECULATION_RETURNS: Configuration =
    Configuration { trcidr0: 0x0840_0ea1, trcidr8: 0x8, trcconfigr: 0x1001, ..ETE };
const CYCLES: Configuration = Configuration { trcconfigr: 0x11, ..ETE };
const SPECULATION_CYCLES: Configuration =
    Configuration { trcidr0: 0x0840_0ea1, trcidr8: 0x8, trcconfigr: 0x11, ..ETE };
const MARKERS: Configuration = Configuration { trcidr0: 0x28c0_0ea1, trcconfigr: 0x801, ..ETE };
const ETE_1_0: Configuration = Configuration { trcdevarch: 0x4770_5a13, ..ETE };
const NO_IDS: Configuration = Configuration { trcidr2: 0x8, ..ETE };
const V4: Configuration = Configuration { trcidr1: 0x4100_0420, trcidr2: 0x8, trcdevarch: 0x0, ..ETE };
const V4_5: Configuration = Configuration { trcidr1: 0x4100_0450, ..V4 };
const V8M: Configuration = Configuration { trcidr1: 0x4100_0450, profile: Profile::V8M, ..V4 };
const MAXSPEC_2_31: Configuration = Configuration { trcidr8: 0x8000_0000, ..SPECULATION };
const V4_WFX: Configuration = Configuration { trcidr2: 0x8000_0008, ..V4 };
const CONDITIONAL: Configuration = Configuration { trcidr0: 0x2840_0ee1, trcconfigr: 0x701, ..V4 };

const NOP: u32 = 0xd503_201f;
const LOOP: u32 = 0x1400_0000;
const RET: u32 = 0xd65f_03c0;
const ERET: u32 = 0xd69f_03e0;
const WFI: u32 = 0xd503_207f;
const CBZ: u32 = 0x3400_0000;

/// Words by address.
type Code = &'static [(u64, &'static [u32])];

const LOOPS: Code = &[(0x1000, &[NOP, LOOP, NOP, LOOP, NOP, NOP, NOP, LOOP])];

/// A call from 0x1000 to 0x1020, which returns.
const CALL: Code =
    &[(0x1000, &[0x9400_0008, NOP, NOP, 0x1400_000d]), (0x1020, &[NOP, RET]), (0x1040, &[NOP, LOOP])];

/// A-sync.
const ALIGNMENT: &str = "00*11 80";

/// Trace Info, Trace On.
const START: &str = "01 00 04";

/// And 0x1000, A64 at EL1, Non-secure.
const AT_0X1000: &str = "01 00 04 82 00 08 00 00 31";

/// What AT_0X1000 becomes with the next P0 element.
const ON: [&str; 2] = ["on 0", "context Aarch64 0"];

/// A row, the trace unit, bytes after the A-sync (`S` is START, `P` AT_0X1000), code, elements (`..` is ON).
type Row = (&'static str, Configuration, &'static str, Code, &'static [&'static str]);

#[rustfmt::skip]
const FLOW: [Row; 45] = [
    ("ET-01", ETE, "P f7 06 01 70 f7", LOOPS, &["..", "1000-1008 E", "start again 5"]),
    ("ET-03", ETE, "P f7 00*12 80 01 00 82 00 08 00 00 31 f7", LOOPS, &["..", "1000-1008 E", "start again 5"]),
    ("ET-04", ETE, "P f7 00 03 71 04 82 00 08 00 00 31 f7", LOOPS, &["..", "1000-1008 E", "start again 4"]),
    ("ET-05", ETE, "P f7 33 f7", LOOPS, &["..", "1000-1008 E", "start again 5"]),
    ("ET-06", SPECULATION, "P b4 05 2e 01 f7 2d 01", LOOPS, &["start again 5"]),
    ("ET-07", RETURNS, "P f7 f7 82 00 08 00 00 31 f7", &[(0x1000, &[RET, LOOP])], &["..", "1000-1004 E", "start again 5"]),
    ("ET-08", SPECULATION_4, "P f7 0d 1f f7", LOOPS, &["..", "start again 5"]),
    ("ET-09", ETE, "P 7f f7", LOOPS, &["..", "event 15", "1000-1008 E"]),
    ("ET-10", ETE, "P f7 05 f7", LOOPS, &["..", "1000-1008 E", "start again 5"]),
    ("ET-11", ETE, "P f7", &[(0x1000, &[0xd69f_03e0, LOOP])], &["..", "1000-1004 E", "exception return"]),
    ("ET-12", CYCLES, "01 01 01 04 82 00 08 00 00 31 f7 0f f7 03 05 ff ff 3f f7", LOOPS, &["on 0", "context Aarch64 0", "1000-1008 E", "cycles +0", "1004-1008 E", "time 5 +4095", "1004-1008 E"]),
    ("ET-13", SPECULATION, "P f7 f7 09 01 05 00*7 2d 01 00 03", LOOPS, &["..", "1000-1008 E", "start again 4"]),
    ("ET-14", SPECULATION_RETURNS, "P f7 f6 30 f7 f7 2d 04", &[(0x1000, &[0x9400_0002, NOP, 0x9400_0002, RET, RET, LOOP, RET])], &["..", "1000-1004 E", "1008-100c E", "1010-1014 E", "100c-1010 E"]),
    ("ET-15", V4, "S 83 00 10 00 00 00 06 1d 96 01", &[(0x1000, &[0x8000_f3af, 0xbf00_bf00, 0xbf00_e7fe])], &["on 0", "context Thumb 0", "1000-100a E", "no memory 100a", "exception 14 at 1002"]),
    ("ET-16", SPECULATION, "P f7 0a f7 06 31 70 9a 00 08 00 00 f7 2d 04", LOOPS, &["..", "1000-1008 E", "transaction 1", "1004-1008 E", "transaction 3", "1000-1008 E"]),
    ("ET-18", V4, "S 82 00 08 00 00 00 f7", &[(0x1000, &[0xe160_006e, 0xeaff_fffe])], &["on 0", "context Arm 0", "1000-1008 E"]),
    ("ET-19", MARKERS, "P f7 02 05 88 02 06 f7", LOOPS, &["..", "1000-1008 E", "marker", "time 6", "1004-1008 E"]),
    ("ET-20", RETURNS, "P f7 f7 00*11 80 01 00 f7 82 10 08 00 00 31 f7", CALL, &["..", "1000-1004 E", "1020-1028 E", "context Aarch64 0", "1040-1048 E"]),
    ("ET-23", ETE, "S 85 00 08 00 00 00 00 ff ff 31 82 00 08 00 00 00 82 00 10 00 00 31 f7", &[(0x2000, &[LOOP]), (0xffff000000002000, &[LOOP])], &["on 0", "context Aarch64 0", "context Arm 0", "context Aarch64 0", "2000-2004 E"]),
    ("ET-24", ETE, "P f7", &[(0x1000, &[NOP, 0x0000_1234, LOOP])], &["..", "1000-100c E"]),
    ("ET-31", RETURNS, "P f7 f7 9a 00 20 00 00 f7 f7", &[(0x1000, &[0x9400_0400, NOP, LOOP]), (0x4000, &[NOP, RET])], &["..", "1000-1004 E", "no memory 2000", "4000-4008 E", "1004-100c E"]),
    ("ET-32", RETURNS, "P f7 f7 06 46 90 9a 00 20 00 00 f7 f7", &[(0x1000, &[0x9400_0008, NOP, NOP, 0x1400_000d]), (0x1020, &[NOP, RET]), (0x1040, &[NOP, LOOP]), (0x4000, &[NOP, RET])], &["..", "1000-1004 E", "1020-1028 E", "exception 3 at 1000", "4000-4008 E", "start again 5"]),
    ("ET-34", RETURNS, "P f7 f7 b4 03 f7", CALL, &["..", "1000-1004 E", "1020-1028 E", "100c-1010 E", "1004-1010 E"]),
    ("ET-38", ETE, "S 82 00 08 00 00 b1 05 00 00 00 f7 01 00 82 00 08 00 00 31 f7", LOOPS, &["on 0", "context Aarch64 5", "1000-1008 E", "context Aarch64 5", "1000-1008 E"]),
    ("ET-39", CYCLES, "01 09 01 10 04 82 00 08 00 00 31 14 0c 13 f7", LOOPS, &["on 0", "context Aarch64 0", "cycles +16", "cycles +19", "1000-1008 E"]),
    ("ET-41", CYCLES, "01 08 10 04 82 00 08 00 00 31 f7 12 f7", LOOPS, &["on 0", "context Aarch64 0", "1000-1008 E", "cycles +18", "1004-1008 E"]),
    ("ET-43", ETE, "P 05 f7", LOOPS, &["start again 5"]),
    ("ET-44", V8M, "S 07 f7", LOOPS, &["on 0", "exception return"]),
    ("ET-46", ETE, "P 06 1d 95 01", &[(0x1000, &[0xb400_0080, NOP, LOOP])], &["..", "1000-1004 E", "exception 14 at 1004"]),
    ("ET-51", ETE, "P ", LOOPS, &[]),
    ("ET-52", SPECULATION_CYCLES, "01 01 01 04 82 00 08 00 00 31 f7 f7 f7 0e 01 05 f7 2d 03", LOOPS, &["on 0", "context Aarch64 0", "1000-1008 E", "1004-1008 E", "1004-1008 E", "cycles +5", "1004-1008 E"]),
    ("ET-53", ETE, "P 06 1d 95 01 f7", LOOPS, &["..", "1000-1004 E", "exception 14 at 1004", "1004-1008 E"]),
    ("ET-51", V4, "P f7 07 00 05", &[(0x1000, &[ERET, NOP])], &["..", "1000-1004 E", "start again 3"]),
    ("ET-55", ETE, "P f6 f7", LOOPS, &["..", "1000-1008 N", "1008-1010 E"]),
    ("ET-57", ETE, "09 01 05 00*7 01 00 04 82 00 08 00 00 31 f7", LOOPS, &["on 0", "context Aarch64 0", "1000-1008 E"]),
    ("ET-57", V4_5, "71 01 00 04 82 00 08 00 00 30 f7", LOOPS, &["on 0", "context Aarch64 0", "1000-1008 E"]),
    ("ET-58", ETE, "P f7 9b 00 10 00 00 f7", LOOPS, &["..", "1000-1008 E", "1000-1008 E"]),
    ("ET-62", V4, "S 82 7f 7f ff ff 00 f7", &[(0xfffffffc, &[0xe320_f000]), (0x0, &[0xeaff_fffe])], &["on 0", "context Arm 0", "fffffffc-100000000 E", "no memory 100000000"]),
    ("ET-63", ETE, "P f7 06 1d 95 03", &[(0x1000, &[RET, NOP, NOP, LOOP])], &["..", "1000-1004 E", "1004-100c E", "exception 14 at 100c"]),
    ("ET-91", MAXSPEC_2_31, "P f7 2d 01", LOOPS, &["start again 5"]),
    ("ET-92", V4_WFX, "P f7", &[(0x1000, &[WFI, NOP, LOOP])], &["..", "1000-100c E"]),
    ("ET-93", V4, "P f6 06 01 95 03 9a 00 08 00 00 f7", &[(0x1000, &[CBZ, NOP, LOOP])], &["..", "1000-1004 N", "1004-100c E", "exception 0 at 100c", "1000-1004 E"]),
    ("ET-94", ETE, "S 85 7e 7f ff ff ff ff ff ff 31 f7", &[(0xffff_ffff_ffff_fff8, &[NOP, LOOP])], &["on 0", "context Aarch64 0", "no memory fffffffffffffff8"]),
    ("ET-98", SPECULATION, "P f6 06 1d 82 01 08 00 00 30 2e 01 f6 2d 02", &[(0x1000, &[CBZ, CBZ, CBZ, LOOP])], &["..", "1000-1004 N", "1004-1008 N"]),
    ("ET-64", ETE, "P f7 06 1d 70 f7", LOOPS, &["..", "1000-1008 E", "start again 5"]),
];

fn host() -> Host {
    let program = env!("CARGO_BIN_EXE_traceproof-opencsd").into();
    Host::new(HostCommand { program, arguments: Vec::new() }, Limits::default())
}

fn trace(bytes: &str) -> Vec<u8> {
    let text = format!("{ALIGNMENT} {bytes}").replace('S', START).replace('P', AT_0X1000);
    let repeated = |group: &str| {
        let (byte, count) = group.split_once('*').unwrap_or((group, "1"));
        vec![u8::from_str_radix(byte, 16).expect("two digits"); count.parse().expect("a number")]
    };
    text.split_whitespace().flat_map(repeated).collect()
}

fn elements(configuration: Configuration, bytes: &str, code: Code) -> Vec<String> {
    let mut program = Program::new();
    for (address, words) in code {
        let bytes = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        program.insert(Section::new(*address, bytes, "")).expect("free");
    }
    let (source, trace) = (Source::Etmv4(configuration), trace(bytes));
    let outcome = opencsd::elements(&mut host(), &Stream::new(&source, &trace), &program).expect("an answer");
    outcome.elements().filter_map(shown).collect()
}

/// An element in a few words; `None` for the first and last of each stream.
fn shown(element: &Element) -> Option<String> {
    let text = match &element.kind {
        ElementKind::NoSync { reason: 1 } | ElementKind::EndOfTrace { .. } => return None,
        ElementKind::NoSync { reason } => format!("start again {reason}"),
        ElementKind::TraceOn { reason } => format!("on {reason}"),
        ElementKind::Context(context) => {
            format!("context {:?} {:x}", context.isa, context.context_id.unwrap_or(0))
        }
        ElementKind::Range { start, end, last, .. } => {
            format!("{start:x}-{end:x} {}", if last.executed { 'E' } else { 'N' })
        }
        ElementKind::NoMemory { address } => format!("no memory {address:x}"),
        ElementKind::Exception { number, return_address, .. } => {
            format!("exception {number} at {:x}", return_address.unwrap_or(0))
        }
        ElementKind::ExceptionReturn => String::from("exception return"),
        ElementKind::Timestamp { .. } => format!("time {:x}", element.timestamp.unwrap_or(0)),
        ElementKind::CycleCount => String::from("cycles"),
        ElementKind::Event { number, .. } => format!("event {number}"),
        ElementKind::Marker { .. } => String::from("marker"),
        ElementKind::Transaction { kind } => format!("transaction {kind}"),
        other => format!("{other:?}"),
    };
    Some(element.cycles.map_or(text.clone(), |cycles| format!("{text} +{cycles}")))
}

#[test]
fn flow() {
    for (row, configuration, bytes, code, expected) in FLOW {
        let got = elements(configuration, bytes, code);
        let expected: Vec<&str> = match expected {
            ["..", rest @ ..] => ON.into_iter().chain(rest.iter().copied()).collect(),
            all => all.to_vec(),
        };
        assert_eq!(got, expected, "{row}");
    }
}

/// ET-95: an instruction of two bytes is read with the two bytes after it.
#[test]
fn an_instruction_of_two_bytes_needs_four() {
    let source = Source::Etmv4(ETE);
    let trace = trace("S 83 00 10 00 00 20 f7");
    // NOP, BX LR.
    let code = [0x00, 0xbf, 0x70, 0x47, 0x00, 0x00];
    for (length, expected) in [(4, "no memory 1002"), (6, "1000-1004 E")] {
        let mut program = Program::new();
        program.insert(Section::new(0x1000, code[..length].to_vec(), "")).expect("free");
        let outcome =
            opencsd::elements(&mut host(), &Stream::new(&source, &trace), &program).expect("an answer");
        assert_eq!(outcome.elements().filter_map(shown).last().as_deref(), Some(expected));
    }
}

/// The packets after the A-sync and AT_0X1000: their lengths and contents.
fn packets(configuration: Configuration, bytes: &str) -> Vec<(usize, Body)> {
    let (source, trace) = (Source::Etmv4(configuration), trace(bytes));
    let outcome = opencsd::packets(&mut host(), &Stream::new(&source, &trace)).expect("an answer");
    let packet = |packet: &Packet| {
        let PacketBody::Etmv4(body) = packet.body.clone() else { panic!("another protocol") };
        (packet.bytes.len(), body)
    };
    let before = if bytes.starts_with('P') { 4 } else { 1 };
    outcome.packets().skip(before).map(packet).collect()
}

#[test]
fn packets_that_are_read_otherwise() {
    // ET-02: the address of a PE Reset is one byte.
    let reset = packets(ETE, "P 06 01 95 01 f7");
    assert_eq!(reset, [(3, Body::PeReset), (2, Body::Incomplete)]);
    // ET-08
    assert!(matches!(
        packets(SPECULATION_4, "P f7 0d 1f")[1..],
        [(2, Body::CycleCount { commit: Some(0xffff_fff6), .. })]
    ));
    // ET-17, and that 07 is reserved.
    assert_eq!(
        packets(ETE_1_0, "P 88 07"),
        [(1, Body::TimestampMarker), (1, Body::ReservedForConfiguration)]
    );
    // ET-21: a section that bit 4 of PLCTL announces.
    assert!(matches!(packets(ETE, "01 10 04 f7")[0], (3, Body::TraceInfo { .. })));
    // ET-22: eight bytes.
    assert_eq!(packets(SPECULATION, "P 2d 81 80 80 80 80 80 00"), [(8, Body::Commit { count: 1 })]);
    // ET-33: one byte too many.
    assert!(matches!(packets(NO_IDS, "P 81 f1 f7 f7")[0], (3, Body::Context { .. })));
    // ET-43: the packet processor reads on.
    assert!(matches!(packets(ETE, "P 05 f7")[..], [(1, Body::Reserved), (1, Body::Atoms { .. })]));
    // ET-45
    assert!(matches!(packets(ETE, "P 06 9d 95 01 f7")[0], (3, Body::Exception { number: 0x2ae, .. })));
    // ET-54
    assert!(matches!(packets(ETE, "P 06 1c 95 01")[0], (2, Body::Exception { interpretation: 0, .. })));
    // ET-56
    assert!(matches!(
        packets(SPECULATION, "P f7 2d 00 2e 00")[1..],
        [(2, Body::Commit { count: 0 }), (2, Body::Cancel { count: 0, .. })]
    ));
    // ET-59, ET-60
    assert!(matches!(packets(V4_5, "P 00 07")[..], [(2, Body::BadSequence { .. })]));
    assert_eq!(packets(V4_5, "P 08"), [(1, Body::Reserved)]);
}

/// ET-25: no text has the key of a conditional instruction of format 1.
#[test]
fn the_key_of_a_conditional_instruction_is_lost() {
    let source = Source::Etmv4(CONDITIONAL);
    let text = |bytes: &str| {
        let trace = trace(bytes);
        let stream = Stream { text: true, ..Stream::new(&source, &trace) };
        let outcome = opencsd::packets(&mut host(), &stream).expect("an answer");
        outcome.packets().last().and_then(|packet| packet.text.clone()).expect("a text")
    };
    assert_eq!(text("6c 01"), text("6c 02"));
}

/// ET-26: the place of a Q element without address is read from memory that is free.
#[test]
fn the_place_of_a_q_element_is_garbage() {
    let source = Source::Etmv4(Configuration { trcidr0: ETE.trcidr0 | 3 << 15, ..ETE });
    let trace = trace("P f7 ac 02 95 0a f7");
    let outcome = opencsd::elements(&mut host(), &Stream::new(&source, &trace), &Program::new());
    // A place beyond the trace, or the process is gone.
    let is_garbage = outcome.is_err()
        || outcome.is_ok_and(|outcome| {
            let mut q =
                outcome.elements().filter(|it| matches!(it.kind, ElementKind::RangeWithoutPath { .. }));
            q.all(|element| element.byte != 22)
        });
    assert!(is_garbage);
}
