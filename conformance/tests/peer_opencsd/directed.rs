//! OpenCSD in its own process: what it reads, what it makes of a capture, and how it is held back.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

use flate2::read::GzDecoder;
use traceproof_conformance::peers::opencsd::etmv3::{Address, Body, Configuration, State};
use traceproof_conformance::peers::opencsd::{
    self, Answer, ElementKind, Framing, Host, HostCommand, HostError, Isa, LastInstruction, Layer, Limits,
    PacketBody, Source, Stream,
};
use traceproof_conformance::snapshot::Snapshot;
use traceproof_vectors::arm_etm::v3::ExceptionInformation;
use traceproof_vectors::arm_etm::{
    self, Architecture, ArmEtm, CompressedAddress, Event, Packet, Parameters, Reason,
};
use traceproof_vectors::{Address32, Decoder, Entry, FaultClass, Log, Program, Section};

fn host() -> Host {
    let program = env!("CARGO_BIN_EXE_traceproof-opencsd").into();
    Host::new(HostCommand { program, arguments: Vec::new() }, Limits::default())
}

/// ETMv3.5, original branch packets.
fn etmv3(etmcr: u32) -> Source {
    Source::Etmv3(Configuration {
        etmidr: 0x410c_f250,
        etmcr,
        etmccer: 0x3440_08f2,
        etmtraceidr: 0x10,
        m_profile: false,
    })
}

fn hex(text: &str) -> Vec<u8> {
    text.split_whitespace().map(|byte| u8::from_str_radix(byte, 16).expect("two digits")).collect()
}

/// The packets of a stream: offset, length, text.
fn read(source: &Source, text: &str) -> Vec<(u32, usize, Body)> {
    let trace = hex(text);
    let outcome = opencsd::packets(&mut host(), &Stream::new(source, &trace)).expect("an answer");
    assert_eq!(outcome.consumed, trace.len() as u64);
    let packet = |packet: &opencsd::Packet| {
        let PacketBody::Etmv3(body) = packet.body.clone() else { panic!("another protocol") };
        (packet.byte, packet.bytes.len(), body)
    };
    outcome.packets().map(packet).collect()
}

const SYNC: &str = "00 00 00 00 00 80 08 21 00 80 00 00";

#[test]
fn packets_come_with_place_and_fields() {
    let none = State { ns: false, hyp: false, alt_isa: false };
    let at = |value, bits| Address { value, bits, known: 32 };
    // Context ID of one byte; data address and value tracing.
    let packets =
        read(&etmv3(0x400c), "11 00 00 00 00 00 80 08 07 29 00 80 00 00 C8 83 01 6E 09 58 44 AA 76 06 7F");
    let i_sync = Body::ISync {
        reason: 1,
        address: Some(at(0x8000, 32)),
        isa: Isa::Arm,
        state: State { ns: true, ..none },
        context_id: Some(7),
        cycle_count: None,
        load_store_in_progress: false,
        next: None,
    };
    let branch = Body::Branch { address: at(0x8104, 15), isa: Isa::Arm, exception: None, state: None };
    assert_eq!(
        packets,
        [
            (0, 1, Body::NotSynchronised),
            (1, 6, Body::ASync),
            (7, 7, i_sync),
            (14, 1, Body::PHeader { format: 1, atoms: String::from("EEN"), cycles: 0 }),
            (15, 2, branch),
            (17, 2, Body::ContextId { value: 9 }),
            (19, 1, Body::OutOfOrderPlaceholder { tag: 2, address: None }),
            (20, 2, Body::OutOfOrderData { tag: 2, value: 0xaa }),
            (22, 1, Body::ExceptionExit),
            (23, 2, Body::NormalData { address: None, value: Some(0x7f) }),
        ]
    );
}

#[test]
fn elements_follow_the_program() {
    // nop; beq +8; nop; nop (a target); bx lr
    let code = [0xe1a0_0000_u32, 0x0a00_0000, 0xe1a0_0000, 0xe1a0_0000, 0xe12f_ff1e];
    let bytes = code.iter().flat_map(|word| word.to_le_bytes()).collect();
    let mut program = Program::new();
    program.insert(Section::new(0x8000, bytes, "")).expect("free");
    let source = etmv3(0);
    // E E (taken: 0x800c) E E, then the branch to 0x8104, where nothing is.
    let trace = hex(&format!("{SYNC} 90 83 01 84"));
    let outcome = opencsd::elements(&mut host(), &Stream::new(&source, &trace), &program).expect("an answer");
    assert_eq!((outcome.instructions, outcome.consumed), (4, 16));
    let kinds: Vec<_> = outcome.elements().map(|element| (element.byte, element.kind.clone())).collect();
    let range = |start, end, conditional, kind| ElementKind::Range {
        isa: Isa::Arm,
        start,
        end,
        instructions: (end - start) as u32 / 4,
        last: LastInstruction {
            executed: true,
            conditional,
            size: 4,
            kind,
            subtype: if kind == 2 { 4 } else { 0 },
        },
    };
    assert!(matches!(kinds[0], (0, ElementKind::NoSync { reason: 1 })));
    assert_eq!(kinds[1], (6, ElementKind::TraceOn { reason: 0 }));
    assert!(matches!(kinds[2], (6, ElementKind::Context(context)) if context.isa == Isa::Arm));
    let ranges: Vec<_> = kinds[3..7].iter().map(|(_, kind)| kind.clone()).collect();
    assert_eq!(
        ranges,
        [
            range(0x8000, 0x8004, false, 0),
            range(0x8004, 0x8008, true, 1),
            range(0x800c, 0x8010, false, 0),
            range(0x8010, 0x8014, false, 2),
        ]
    );
    assert_eq!(kinds[7].1, ElementKind::NoMemory { address: 0x8104 });
    assert!(matches!(kinds[8].1, ElementKind::EndOfTrace { .. }));
}

#[test]
fn frames_are_taken_apart() {
    // ID 0x10 in byte 0, then the A-sync and two trigger packets; the low bits of even bytes are in byte 15.
    let mut frame = hex("21 00 00 00 00 00 80 0C 0C 00 00 00 00 00 00 00");
    // After them the null source.
    frame[8] = 0x01;
    let source = etmv3(0);
    let stream = Stream { framing: Framing::Frames, ..Stream::new(&source, &frame) };
    let outcome = opencsd::packets(&mut host(), &stream).expect("an answer");
    let bodies: Vec<_> = outcome.packets().map(|packet| packet.body.clone()).collect();
    assert_eq!(bodies, [Body::ASync, Body::Trigger].map(PacketBody::Etmv3));
}

#[test]
fn what_the_library_refuses_is_said_and_the_process_goes_on() {
    let mut host = host();
    let trace = hex(SYNC);
    let data = etmv3(0xc);
    // The decoder, unlike the packet processor, takes no data trace.
    let refused = opencsd::elements(&mut host, &Stream::new(&data, &trace), &Program::new());
    let faults = refused.map(|outcome| outcome.records);
    assert!(
        matches!(faults.as_deref(), Ok([Answer::Fault { response: 6, error: 3, .. }])),
        "not initialised: {faults:?}"
    );
    let plain = etmv3(0);
    assert_eq!(
        opencsd::packets(&mut host, &Stream::new(&plain, &trace)).map(|outcome| outcome.packets).ok(),
        Some(2)
    );
}

#[test]
fn a_process_that_misbehaves_is_ended() {
    let source = etmv3(0);
    let trace = hex(SYNC);
    let ask = |program: &str, arguments: &[&str], limits: Limits| {
        let arguments = arguments.iter().map(|&argument| argument.to_owned()).collect();
        let mut host = Host::new(HostCommand { program: PathBuf::from(program), arguments }, limits);
        opencsd::packets(&mut host, &Stream::new(&source, &trace)).expect_err("no answer")
    };
    let limits = Limits { deadline: Duration::from_millis(300), ..Limits::default() };
    assert!(matches!(ask("/nonexistent/opencsd", &[], limits), HostError::Start(..)));
    assert!(matches!(ask("sleep", &["60"], limits), HostError::Deadline(_)));
    // The shell's child holds the pipe open; the whole group must go.
    assert!(matches!(ask("sh", &["-c", "sleep 60 & wait"], limits), HostError::Deadline(_)));
    assert!(matches!(ask("yes", &[], Limits::default()), HostError::Garbled));
    let died = ask("sh", &["-c", "kill -SEGV $$"], Limits::default());
    assert!(matches!(&died, HostError::Died(status) if status.contains("signal: 11")), "{died}");
    let record = r#"{"fault":{"byte":0,"source":null,"error":0,"response":0,"text":""}}"#;
    let talks = Limits { answers: 1 << 16, ..Limits::default() };
    assert!(matches!(ask("yes", &[record], talks), HostError::TooMuch));
}

#[cfg(target_os = "linux")]
#[test]
fn memory_is_limited() {
    let program = env!("CARGO_BIN_EXE_traceproof-opencsd").into();
    let limits = Limits { memory: 64 << 20, ..Limits::default() };
    let mut host = Host::new(HostCommand { program, arguments: Vec::new() }, limits);
    let (source, small) = (etmv3(0), hex(SYNC));
    assert!(opencsd::packets(&mut host, &Stream::new(&source, &small)).is_ok());
    let large = vec![0x66; 80 << 20];
    let died = opencsd::packets(&mut host, &Stream::new(&source, &large));
    assert!(matches!(died, Err(HostError::Died(_))), "{:?}", died.map(|outcome| outcome.packets));
    let again = opencsd::packets(&mut host, &Stream::new(&source, &small));
    assert!(again.is_ok(), "the next question starts another process");
}

#[test]
fn timing_counts_without_records() {
    let source = etmv3(0);
    let trace = hex(&format!("{SYNC} 84 84 84"));
    let stream = Stream::new(&source, &trace);
    let outcome = opencsd::time(&mut host(), Layer::Packets, &stream, &Program::new(), 3).expect("an answer");
    assert_eq!((outcome.packets, outcome.times.len(), outcome.records.len()), (5, 3, 0));
}

/// Packets and elements of captures are those of OpenCSD's own packet lister, line by line, and the instructions are
/// those of another debugger. Without the captures the test prints a message.
#[test]
fn captures_decode_as_recorded() {
    let all = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data/opencsd-snapshots");
    if !all.is_dir() {
        eprintln!("SKIPPED: no capture is decoded, because {} is not there", all.display());
        return;
    }
    let snapshot = Snapshot::read(&all.join("tc2-etmv3-id10")).expect("good");
    let [buffer] = snapshot.buffers.as_slice() else { panic!("one buffer") };
    let device = snapshot.sources(buffer).next().expect("one source");
    let core = snapshot.core_of(&device.name).expect("its core");
    let source = opencsd::source(device, &core.model).expect("ETMv3");
    let trace = snapshot.trace(buffer).expect("there");
    let program = snapshot.program(core).expect("there");
    let stream = Stream { text: true, ..Stream::new(&source, &trace) };
    let mut host = host();
    let packets = opencsd::packets(&mut host, &stream).expect("an answer");
    let elements = opencsd::elements(&mut host, &stream, &program).expect("an answer");
    assert_eq!((packets.packets, elements.elements, elements.instructions), (8756, 11_737, 7205));

    let (golden_packets, golden_elements) = golden(&all.join("tc2-etmv3-id10.ppl.gz"));
    let text = |text: &Option<String>| text.as_deref().unwrap_or_default().trim().to_owned();
    let ours: Vec<_> =
        packets.packets().map(|packet| (packet.byte, packet.bytes.clone(), text(&packet.text))).collect();
    assert!(ours == golden_packets);
    let ours: Vec<_> = elements.elements().map(|element| (element.byte, text(&element.text))).collect();
    assert!(ours == golden_elements);

    let debugger = unpacked(&all.join("reference/tc2-etmv3-id10.ds5.tsv.gz"));
    let instructions = debugger.lines().filter(|line| line.starts_with("Instruction\t")).map(|line| {
        let address =
            line.split('\t').nth(2).and_then(|address| address.strip_prefix("S:0x")).expect("address");
        u64::from_str_radix(address, 16).expect("an address")
    });
    let starts = elements.elements().filter_map(|element| match element.kind {
        ElementKind::Range { start, .. } => Some(start),
        _ => None,
    });
    assert!(instructions.eq(starts), "one instruction per range, as the capture is cycle-accurate");

    let chunked = opencsd::packets(&mut host, &Stream { chunk: Some(7), ..stream }).expect("an answer");
    let synchronised = |outcome: &opencsd::Outcome| {
        let body = |packet: &&opencsd::Packet| packet.body != PacketBody::Etmv3(Body::NotSynchronised);
        outcome.packets().filter(body).cloned().collect::<Vec<_>>()
    };
    assert!(synchronised(&packets) == synchronised(&chunked));
    let mut kinds = BTreeMap::new();
    for packet in packets.packets() {
        let PacketBody::Etmv3(body) = &packet.body else { panic!("another protocol") };
        let kind = format!("{body:?}");
        let end = kind.find([' ', '{']).unwrap_or(kind.len());
        *kinds.entry(kind[..end].to_owned()).or_insert(0) += 1;
    }
    let expected =
        [("PHeader", 8323), ("ISync", 143), ("Branch", 190), ("NotSynchronised", 49), ("Timestamp", 36)];
    for (kind, count) in expected {
        assert_eq!(kinds.get(kind), Some(&count), "{kind}");
    }
}

/// ETMv3.5 without data trace.
fn parameters() -> Parameters {
    Parameters {
        architecture: Architecture::V3,
        minor: 5,
        data_value: false,
        data_address: false,
        ..Parameters::default()
    }
}

/// What the adaptor makes of a stream.
fn decode(
    mut decoder: opencsd::arm_etm::Decoder,
    parameters: &Parameters,
    program: &Program,
    wire: &[u8],
) -> Log<ArmEtm> {
    let program_path = env!("CARGO_BIN_EXE_traceproof-opencsd").into();
    opencsd::set_command(HostCommand { program: program_path, arguments: Vec::new() });
    decoder.begin(parameters, program).expect("accepted");
    let mut log = Log::default();
    let (first, rest) = wire.split_at(wire.len() / 2);
    decoder.push(first, &mut log);
    decoder.push(rest, &mut log);
    decoder.finish(&mut log);
    log
}

#[test]
fn the_subject_speaks_the_contract() {
    let bytes = [0xe1a0_0000_u32; 4].iter().flat_map(|word| word.to_le_bytes()).collect();
    let mut program = Program::new();
    program.insert(Section::new(0x8000, bytes, "")).expect("free");
    let parameters = Parameters { cycle_accurate: true, context_id_bytes: 1, ..parameters() };
    // I-sync with 5 cycles and Context ID 7; WWWE, WE; IRQ with cancel, NS, to 0x18.
    let wire = hex("00 00 00 00 00 80 70 05 07 21 00 80 00 00 E8 84 8D 80 80 80 48 3D 10");
    let log = decode(opencsd::arm_etm::Decoder::new(), &parameters, &program, &wire);
    let exception = ExceptionInformation { number: 14, cancel: true, non_secure: true, ..Default::default() };
    let isa = arm_etm::Isa::Arm;
    let atom = |address, executed, cycles| {
        Entry::Event(Event::Atom { address, isa, executed, cycles: Some(cycles) })
    };
    let entries: Vec<_> = log.entries.iter().map(|(place, entry)| (place.byte, entry.clone())).collect();
    let places: Vec<_> = log.entries.iter().map(|(place, _)| place.packet).collect();
    assert_eq!(places, [0, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5]);
    assert_eq!(entries[0], (0, Entry::Packet(Packet::AlignmentSync { zeros: 5 })));
    assert_eq!(entries[2], (6, Entry::Event(Event::Gap { cycles: Some(5) })));
    assert!(matches!(
        entries[1],
        (
            6,
            Entry::Packet(Packet::InstructionSync {
                context_id: Some(7),
                address: Some(Address32(0x8000)),
                reason: Reason::TraceEnabled,
                ..
            })
        )
    ));
    assert_eq!(
        entries[4..6],
        [(14, Entry::Packet(Packet::PHeader(0xe8))), (14, atom(Some(Address32(0x8000)), true, 3))]
    );
    assert_eq!(
        entries[6..8],
        [(15, Entry::Packet(Packet::PHeader(0x84))), (15, atom(Some(Address32(0x8004)), true, 1))]
    );
    let address = CompressedAddress { bits: 0x18 >> 2 | 0b1000 << 27, bytes: 5 };
    assert_eq!(
        entries[8..10],
        [
            (16, Entry::Packet(Packet::ExceptionBranch { address, information: exception })),
            (16, Entry::Event(Event::BranchTo { address: Address32(0x18), isa, exception: Some(exception) })),
        ]
    );
    assert!(matches!(entries[10].1, Entry::Fault(fault) if fault.class == FaultClass::ReservedEncoding));
}

/// The library takes no memory of less than 4 bytes; sections that touch are one.
#[test]
fn code_in_small_sections_is_joined_or_refused() {
    let section = |address: u64, bytes: &[u8]| Section::new(address, bytes.to_vec(), "");
    let program = |sections: &[Section]| {
        let mut program = Program::new();
        sections.iter().for_each(|section| program.insert(section.clone()).expect("free"));
        program
    };
    // movs r0, r0 twice in Thumb state, each a section, followed by two one-byte sections and another one.
    let split = [
        section(0x8000, &[0x00, 0x46]),
        section(0x8002, &[0x00, 0x46]),
        section(0x8004, &[0x00]),
        section(0x8005, &[0x46]),
        section(0x8006, &[0x00, 0x46]),
    ];
    let wire = hex("00 00 00 00 00 80 08 21 01 80 00 00 8C");
    let log = decode(opencsd::arm_etm::Decoder::new(), &parameters(), &program(&split), &wire);
    let atoms: Vec<_> = log
        .events()
        .filter_map(|event| match event {
            Event::Atom { address, .. } => Some(address.map(u32::from)),
            _ => None,
        })
        .collect();
    assert_eq!(atoms, [Some(0x8000), Some(0x8002), Some(0x8004)]);
    assert_eq!(log.faults().count(), 0);

    // Two bytes that are an instruction get two more; half an instruction of four does not.
    let half = section(0x8000, &[0x00, 0xf0]);
    for refused in
        [&[half.clone()][..], &split[..3], &[section(0x8001, &[0; 5])], &[half, section(0x9000, &[0; 8])]]
    {
        let begun = opencsd::arm_etm::Decoder::new().begin(&parameters(), &program(refused));
        assert!(
            begun.is_err_and(|refusal| refusal.to_string().contains("less than 4 bytes")),
            "{refused:x?}"
        );
        // A packet reader needs no code.
        let begun = opencsd::arm_etm::Decoder::packets_only().begin(&parameters(), &program(refused));
        assert_eq!(begun.err().map(|refusal| refusal.to_string()), None);
    }
}

/// Without any code an atom whose address is known still has it, and that there is none is no fault.
#[test]
fn without_code_the_first_address_is_reported() {
    let wire = hex(&format!("{SYNC} C8 83 01 84"));
    let log = decode(opencsd::arm_etm::Decoder::new(), &parameters(), &Program::new(), &wire);
    let isa = arm_etm::Isa::Arm;
    let atom = |address, executed| Event::Atom { address, isa, executed, cycles: None };
    let atoms: Vec<_> = log.events().filter(|event| matches!(event, Event::Atom { .. })).copied().collect();
    assert_eq!(
        atoms,
        [
            atom(Some(Address32(0x8000)), true),
            atom(None, true),
            atom(None, false),
            atom(Some(Address32(0x8104)), true)
        ]
    );
    assert_eq!(log.faults().count(), 0);
}

#[test]
fn the_packet_reader_takes_data() {
    let parameters = Parameters { data_value: true, data_address: true, ..parameters() };
    let wire = hex(&format!("{SYNC} 26 34 5A 58 44 AA 6A"));
    let mut refuses = opencsd::arm_etm::Decoder::new();
    assert!(refuses.begin(&parameters, &Program::new()).is_err());
    let log = decode(opencsd::arm_etm::Decoder::packets_only(), &parameters, &Program::new(), &wire);
    let address = Some(CompressedAddress { bits: 0x34, bytes: 1 });
    let packets: Vec<_> = log.packets().skip(2).copied().collect();
    assert_eq!(
        packets,
        [
            Packet::NormalData { more: false, first: true, address, ss: 1, value: Some(0x5a) },
            Packet::LoadMissOccurred { more: false, first: false, tag: 2, address: None },
            Packet::LoadMissData { more: false, tag: 2, ss: 1, value: 0xaa },
            Packet::ValueNotTraced { more: false, first: false, address: None },
        ]
    );
    assert_eq!(log.events().count(), 0);
}

/// Through the adaptor, too, addresses, cycles and conditions are those of another debugger.
#[test]
fn a_capture_comes_through_the_adaptor() {
    let all = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data/opencsd-snapshots");
    if !all.is_dir() {
        eprintln!("SKIPPED: no capture is decoded, because {} is not there", all.display());
        return;
    }
    let snapshot = Snapshot::read(&all.join("tc2-etmv3-id10")).expect("good");
    let trace = snapshot.trace(&snapshot.buffers[0]).expect("there");
    let program = snapshot.program(&snapshot.devices[0]).expect("there");
    let parameters =
        Parameters { cycle_accurate: true, timestamps: true, virtualization: true, ..parameters() };
    let log = decode(opencsd::arm_etm::Decoder::new(), &parameters, &program, &trace);
    assert_eq!(log.faults().count(), 0);
    assert_eq!(log.packets().count(), 8756 - 49);
    let debugger = unpacked(&all.join("reference/tc2-etmv3-id10.ds5.tsv.gz"));
    let expected: Vec<_> = debugger
        .lines()
        .filter(|line| line.starts_with("Instruction\t"))
        .map(|line| {
            let fields: Vec<_> = line.split('\t').collect();
            let address = fields[2].strip_prefix("S:0x").expect("an address");
            let address = u32::from_str_radix(address, 16).expect("an address");
            (
                Some(address),
                fields[4].parse::<u64>().ok(),
                fields.get(7).is_none_or(|failed| failed.trim() != "fail"),
            )
        })
        .collect();
    let atoms: Vec<_> = log
        .events()
        .filter_map(|event| match event {
            Event::Atom { address, cycles, executed, .. } => {
                Some((address.map(u32::from), *cycles, *executed))
            }
            _ => None,
        })
        .collect();
    assert_eq!(atoms.len(), 7205);
    for (index, (ours, theirs)) in atoms.iter().zip(&expected).enumerate() {
        assert_eq!(ours, theirs, "instruction {index}");
    }
}

type GoldenPacket = (u32, Vec<u8>, String);

/// The packets (offset, bytes, text) and elements (offset, text) of a packet lister's output.
fn golden(path: &Path) -> (Vec<GoldenPacket>, Vec<(u32, String)>) {
    let (mut packets, mut elements) = (Vec::new(), Vec::new());
    for line in unpacked(path).lines() {
        let Some((index, rest)) = line.strip_prefix("Idx:").and_then(|line| line.split_once("; ID:")) else {
            continue;
        };
        let index = index.parse().expect("an offset");
        let (_, rest) = rest.split_once(';').expect("a source");
        match rest.trim().strip_prefix('[').and_then(|rest| rest.split_once("];")) {
            Some((bytes, text)) => {
                let bytes = bytes.split_whitespace().filter_map(|byte| byte.strip_prefix("0x"));
                let bytes = bytes.map(|byte| u8::from_str_radix(byte, 16).expect("a byte")).collect();
                packets.push((index, bytes, text.trim().to_owned()));
            }
            None => elements.push((index, rest.trim().to_owned())),
        }
    }
    (packets, elements)
}

fn unpacked(path: &Path) -> String {
    let mut text = String::new();
    GzDecoder::new(File::open(path).expect("there")).read_to_string(&mut text).expect("text");
    text
}
