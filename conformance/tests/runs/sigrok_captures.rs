//! Captures of two Cortex-M3 (ETMv3.4) that come through a TPIU and a UART are taken apart and decoded. Counts and
//! vectors are those of independent decoders and of a script.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use traceproof_decoder::arm::{Deformatter, FrameListener, Run};
use traceproof_decoder::arm_etm::Decoder;
use traceproof_vectors::arm::Framing;
use traceproof_vectors::arm_etm::v3::ExceptionInformation;
use traceproof_vectors::arm_etm::{Architecture, ArmEtm, Event, Packet, Parameters};
use traceproof_vectors::{Address32, Decoder as _, Entry, Fault, FaultClass, Log, Place, Program, Section};

/// The captures, if they are at hand.
fn captures() -> Option<PathBuf> {
    let all = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data/sigrok-arm-trace");
    if all.is_dir() {
        return Some(all);
    }
    eprintln!("SKIPPED: no capture of a Cortex-M3 is decoded, because {} is not there", all.display());
    None
}

fn read(all: &Path, file: &str) -> Vec<u8> {
    std::fs::read(all.join(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
}

/// What a TPIU sent, by source.
#[derive(Default)]
struct Streams {
    bytes: BTreeMap<u8, Vec<u8>>,
    faults: Vec<FaultClass>,
}

impl FrameListener for Streams {
    fn data(&mut self, run: Run<'_>) {
        self.bytes.entry(run.id.value()).or_default().extend(run.bytes);
    }

    fn fault(&mut self, fault: &Fault) {
        self.faults.push(fault.class);
    }
}

/// Frames that follow each other without synchronisation packets; idle gaps of the line show that one begins at
/// `first`.
fn frames(uart: &[u8], first: usize) -> Streams {
    let mut streams = Streams::default();
    let mut deformatter = Deformatter::new(Framing::Memory);
    deformatter.push(&uart[first..], &mut streams);
    deformatter.finish(&mut streams);
    streams
}

fn decode(wire: &[u8], program: &Program) -> Log<ArmEtm> {
    let parameters = Parameters {
        architecture: Architecture::V3,
        minor: 4,
        data_value: false,
        data_address: false,
        alternative_branches: true,
        thumb32_single: true,
        m_profile: true,
        ..Parameters::default()
    };
    let mut decoder = Decoder::default();
    decoder.begin(&parameters, program).expect("supported");
    let mut log = Log::default();
    decoder.push(wire, &mut log);
    decoder.finish(&mut log);
    assert_eq!(log.faults().next(), None);
    log
}

fn count(log: &Log<ArmEtm>, wanted: fn(&Packet) -> bool) -> usize {
    log.packets().filter(|packet| wanted(packet)).count()
}

/// E and N atoms of all P-headers (IHI 0014Q 7.3.1, not cycle-accurate).
fn atoms(log: &Log<ArmEtm>) -> (u32, u32) {
    let each = log.packets().map(|packet| match *packet {
        Packet::PHeader(header) if header & 0x83 == 0x80 => {
            (u32::from(header >> 2 & 0xf), u32::from(header >> 6 & 1))
        }
        Packet::PHeader(header) if header & 0xf3 == 0x82 => {
            let not_executed = (header & 0x0c).count_ones();
            (2 - not_executed, not_executed)
        }
        _ => (0, 0),
    });
    each.fold((0, 0), |(executed, not), (e, n)| (executed + e, not + n))
}

/// Bytes at which these packets begin.
fn places(log: &Log<ArmEtm>, wanted: fn(&Packet) -> bool) -> Vec<u64> {
    let place = |(place, entry): &(Place, Entry<ArmEtm>)| match entry {
        Entry::Packet(packet) if wanted(packet) => Some(place.byte),
        _ => None,
    };
    log.entries.iter().filter_map(place).collect()
}

const fn is_a_sync(packet: &Packet) -> bool {
    matches!(packet, Packet::AlignmentSync { .. })
}

const fn is_i_sync(packet: &Packet) -> bool {
    matches!(packet, Packet::InstructionSync { .. })
}

const fn is_branch(packet: &Packet) -> bool {
    matches!(packet, Packet::BranchAddress(_) | Packet::ExceptionBranch { .. })
}

const fn is_p_header(packet: &Packet) -> bool {
    matches!(packet, Packet::PHeader(_))
}

#[test]
fn eight_sessions_of_an_stm32() {
    let Some(all) = captures() else { return };
    let streams = frames(&read(&all, "stm32f105.uart"), 0);
    assert_eq!(streams.faults, []);
    let lengths: Vec<(u8, usize)> = streams.bytes.iter().map(|(id, bytes)| (*id, bytes.len())).collect();
    // ITM, ETM, and a byte for each trigger of the formatter.
    assert_eq!(lengths, [(1, 2_619), (2, 760), (0x7d, 8)]);
    let wire = &streams.bytes[&2];
    assert_eq!(*wire, read(&all, "stm32f105.etm"));
    let mut program = Program::new();
    let code = read(&all, "stm32f105.code-0x08000000.bin");
    program.insert(Section::new(Address32(0x0800_0000), code, "code")).expect("one section");
    let log = decode(wire, &program);
    assert_eq!((count(&log, is_a_sync), count(&log, is_i_sync)), (8, 8));
    assert_eq!((count(&log, is_p_header), count(&log, is_branch)), (376, 264));
    assert_eq!(atoms(&log), (1_104, 96));
    let executed = |wanted: bool| {
        let is = |event: &&Event| match **event {
            Event::Atom { executed, address: Some(_), .. } => executed == wanted,
            _ => false,
        };
        log.events().filter(is).count()
    };
    // All of them have addresses.
    assert_eq!((executed(true), executed(false)), (1_104, 96));
    assert_eq!(log.events().filter(|event| matches!(event, Event::Trigger { .. })).count(), 8);
}

#[test]
fn interrupts_of_an_lpc1769() {
    let Some(all) = captures() else { return };
    let streams = frames(&read(&all, "lpc1769.uart"), 5);
    // The capture ends inside a frame.
    assert_eq!(streams.faults, [FaultClass::Truncated]);
    let wire = &streams.bytes[&2];
    assert_eq!(*wire, read(&all, "lpc1769.etm"));
    let log = decode(wire, &Program::new());
    assert_eq!(log.packets().count(), 32_623);
    assert_eq!((count(&log, is_p_header), count(&log, is_branch)), (24_729, 6_747));
    assert_eq!(count(&log, |packet| matches!(packet, Packet::ExceptionExit)), 1_063);
    assert_eq!(atoms(&log), (227_130, 10_593));

    // The period counts bytes, and its parts are half a period apart (ETM3-SYN-015, ETM3-SYN-018).
    let (alignments, synchronisations) = (places(&log, is_a_sync), places(&log, is_i_sync));
    assert_eq!((alignments.len(), synchronisations.len()), (42, 42));
    assert_eq!(alignments[0], 803);
    assert!(
        alignments.windows(2).all(|pair| (1_019..=1_025).contains(&(pair[1] - pair[0]))),
        "{alignments:?}"
    );
    let apart = alignments.iter().zip(&synchronisations).map(|(alignment, after)| after - alignment);
    assert!(apart.clone().all(|bytes| (509..=517).contains(&bytes)), "{:?}", apart.collect::<Vec<_>>());

    // Every exception number has one vector.
    let mut vectors = BTreeMap::new();
    for event in log.events() {
        if let Event::BranchTo {
            address,
            exception: Some(ExceptionInformation { number: number @ 1.., .. }),
            ..
        } = event
        {
            *vectors.entry((*number, address.0)).or_insert(0) += 1;
        }
    }
    let expected = [
        (1, 0xa564, 952),
        (2, 0xa3b4, 9),
        (3, 0x9de4, 19),
        (14, 0xa448, 2),
        (38, 0xb588, 59),
        (45, 0xa48c, 8),
    ];
    assert_eq!(
        vectors,
        expected.into_iter().map(|(number, vector, times)| ((number, vector), times)).collect()
    );
}
