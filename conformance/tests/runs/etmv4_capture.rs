//! Captures of real ETMv4 and of ETE models are decoded to what OpenCSD made of them: packet by packet, element by
//! element.
//!
//! The expected listings are one decoder's opinion. Where it is systematically another than the specification's, the
//! difference is named where it is allowed for, in [`words`], [`Compared`] and [`INVENTED`].

mod golden;
mod words;

use std::path::{Path, PathBuf};

use golden::Golden;
use traceproof_conformance::captures::Captured;
use traceproof_conformance::snapshot::{BufferFormat, Snapshot, Stream};
use traceproof_decoder::arm_ete::Decoder;
use traceproof_vectors::arm_ete::{ArmEte, Event};
use traceproof_vectors::{Decoder as _, Entry, Log, Protocol as _};
use words::Lister;

/// Captures, if they are at hand.
fn captures() -> Option<PathBuf> {
    let all = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data/opencsd-snapshots");
    if all.is_dir() {
        return Some(all);
    }
    eprintln!("SKIPPED: no capture of ETMv4 or ETE is decoded, because {} is not there", all.display());
    None
}

/// The trace of a source and what OpenCSD listed of it.
struct Capture {
    captured: Captured<ArmEte>,
    golden: Golden,
}

impl Capture {
    fn read(all: &Path, name: &str, snapshot: &Snapshot, stream: &Stream<'_>) -> Self {
        let captured = Captured::of(snapshot, stream).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(captured.bytes.faults.is_empty() && captured.bytes.pieces.len() == 1, "{name}");
        let id = stream.trace_id().unwrap_or_else(|error| panic!("{name}: {error}")).value();
        let has_frames = stream.buffer.expect("its buffer").format == BufferFormat::CoreSight;
        let golden = golden::read(all, name, (if has_frames { id } else { 0 }, id));
        Self { captured, golden }
    }

    fn wire(&self) -> &[u8] {
        &self.captured.bytes.pieces[0]
    }

    fn decode(&self) -> Log<ArmEte> {
        let mut decoder = Decoder::default();
        decoder.begin(&self.captured.parameters, &self.captured.program).expect("supported");
        let mut log = Log::default();
        decoder.push(self.wire(), &mut log);
        decoder.finish(&mut log);
        log
    }
}

/// How much was compared, and how often each systematic difference occurred.
#[derive(Debug, PartialEq, Eq)]
struct Compared {
    packets: usize,
    elements: usize,
    instructions: u64,
    /// Contexts that did not change, where a decoder need not report them.
    contexts: usize,
    /// Exception returns that OpenCSD adds after an ERET of ETE (O11).
    returns: usize,
    /// Missing code that OpenCSD reports again at the exception after it.
    missing: usize,
    /// Contexts of a failed transaction, which stay in effect and which OpenCSD drops.
    dropped: usize,
    /// Ranges that OpenCSD invents.
    invented: usize,
    /// N atoms of instructions that are always taken, of which OpenCSD says nothing.
    not_taken: usize,
}

impl Capture {
    /// Compares bytes, names and fields of all packets; gives their number.
    fn compare_packets(&self, log: &Log<ArmEte>, name: &str) -> usize {
        let packets: Vec<(usize, _)> = log
            .entries
            .iter()
            .filter_map(|(place, entry)| match entry {
                Entry::Packet(packet) => Some((usize::try_from(place.byte).expect("in memory"), packet)),
                _ => None,
            })
            .collect();
        let mut lister = Lister::new(&self.captured.parameters);
        let mut listed = self.golden.packets.iter();
        let ends = packets.iter().skip(1).map(|next| next.0).chain([self.wire().len()]);
        for ((start, packet), end) in packets.iter().zip(ends) {
            let bytes = &self.wire()[*start..end];
            let mut listed_bytes: Vec<u8> = Vec::new();
            for words in lister.packet(packet, bytes[0]) {
                let (more, text) = listed.next().unwrap_or_else(|| panic!("{name}: not listed: {words}"));
                assert_eq!(words, *text, "{name}: byte {start}");
                listed_bytes.extend(more);
            }
            assert!(listed_bytes == bytes || listed_bytes.is_empty(), "{name}: byte {start}: {packet:?}");
        }
        assert_eq!(listed.next(), None, "{name}");
        self.golden.packets.len()
    }

    fn elements(&self, log: &Log<ArmEte>) -> Vec<String> {
        let lister = Lister::new(&self.captured.parameters);
        // Faults stand between events, of which canonical forms are made.
        let (mut words, mut events) = (Vec::new(), Vec::new());
        let flush = |events: &mut Vec<Event>, words: &mut Vec<String>| {
            let events = ArmEte::canonical(std::mem::take(events));
            words.extend(events.iter().filter_map(|event| lister.event(event)));
        };
        for (_, entry) in &log.entries {
            match entry {
                Entry::Event(event) => events.push(*event),
                Entry::Fault(fault) => {
                    flush(&mut events, &mut words);
                    words.push(words::fault(fault));
                }
                Entry::Packet(_) => {}
            }
        }
        flush(&mut events, &mut words);
        words
    }
}

impl Capture {
    /// Compares all elements in their order.
    fn compare_elements(&self, log: &Log<ArmEte>, name: &str) -> Compared {
        let is_ete = self.captured.parameters.version.is_ete();
        let mut compared = Compared { elements: self.golden.elements.len(), ..NOTHING };
        let mut ours = self.elements(log).into_iter().peekable();
        let (mut context, mut latest) = ("", "");
        for listed in &self.golden.elements {
            while ours.next_if(|words| words.starts_with("fault illegal-in-state")).is_some() {
                compared.not_taken += 1;
            }
            if listed == "transaction fail" && ours.next_if(|words| words.starts_with("context")).is_some() {
                compared.dropped += 1;
            }
            let is_context = listed.starts_with("context");
            let skipped = match ours.peek() {
                Some(words) if words == listed => None,
                _ if is_context && context == listed => Some(&mut compared.contexts),
                _ if is_ete && listed == "exception return" => Some(&mut compared.returns),
                _ if latest == listed && listed.starts_with("no code") => Some(&mut compared.missing),
                _ if INVENTED.contains(&(name, listed.as_str())) => Some(&mut compared.invented),
                words => panic!("{name}: {words:?} after {latest}, listed: {listed}"),
            };
            match skipped {
                Some(number) => *number += 1,
                None => _ = ours.next(),
            }
            if is_context {
                context = listed;
            }
            latest = listed;
        }
        assert_eq!(ours.next(), None, "{name}");
        let instructions = |event: &Event| match event {
            Event::Instructions { count, .. } => *count,
            _ => 0,
        };
        compared.instructions = log.events().map(instructions).sum();
        compared
    }
}

/// Ranges that OpenCSD invents where the address is unknown (ETE-DEC-AN-006).
///
/// - `ete_ip`: a taken indirect branch, no address, then an exception: OpenCSD goes on after the branch, up to the
///   return address.
/// - `ete_spec_2`: an exception, no address, then a committed atom: OpenCSD goes on at the return address (A26).
const INVENTED: [(&str, &str); 2] =
    [("ete_ip", "range 0x1aa948..0x1b37f4 9131 A32 E"), ("ete_spec_2", "range 0x2709c..0x270a0 1 A64 E")];

/// Compares a source of a snapshot, of its first buffer.
fn compare(all: &Path, name: &str, source: &str) -> Compared {
    let snapshot = Snapshot::read(&all.join(name)).unwrap_or_else(|error| panic!("{error}"));
    let first = snapshot.buffers.first().map(|buffer| buffer.name.as_str());
    let is_it = |stream: &Stream<'_>| {
        stream.source.name == source && stream.buffer.map(|buffer| buffer.name.as_str()) == first
    };
    let mut stream = snapshot.streams().find(is_it).unwrap_or_else(|| panic!("{name}: {source}"));
    if name == "event_test" {
        // The image that it names is not there, and no instruction is traced.
        stream.core = None;
    }
    let capture = Capture::read(all, name, &snapshot, &stream);
    let log = capture.decode();
    let packets = capture.compare_packets(&log, name);
    if name == "init-short-addr" {
        // Listed without elements.
        return Compared { packets, ..NOTHING };
    }
    Compared { packets, ..capture.compare_elements(&log, name) }
}

const NOTHING: Compared = Compared {
    packets: 0,
    elements: 0,
    instructions: 0,
    contexts: 0,
    returns: 0,
    missing: 0,
    dropped: 0,
    invented: 0,
    not_taken: 0,
};

/// The sources with listings. `a55-test-tpiu` is not one of them: its stream is damaged, the image that it names is not
/// there, and after a reserved header OpenCSD lists what is no packet (E13). The N atoms of instructions that are
/// always taken in `juno_r1_1` are not the decoder's fault: the memory image is not that of the kernel that was traced.
/// In the image 925 of 983 addresses after missing code, which are mostly return addresses, do not follow a call.
const SOURCES: [(&str, &str, Compared); 26] = [
    (
        "001-ack_test",
        "ETE_0_s1",
        Compared {
            packets: 10_215,
            elements: 23_064,
            instructions: 90_654,
            contexts: 86,
            returns: 90,
            ..NOTHING
        },
    ),
    ("a57_single_step", "CSETM_0", Compared { packets: 9, elements: 5, instructions: 1, ..NOTHING }),
    ("armv8_1m_branches", "etm_0", Compared { packets: 14, elements: 35, instructions: 209, ..NOTHING }),
    ("ete-bc-instr", "ETE_0_s1", Compared { packets: 8, elements: 6, instructions: 10, ..NOTHING }),
    ("ete-wfet", "ETE_0_s1", Compared { packets: 76, elements: 191, instructions: 718, ..NOTHING }),
    (
        "ete_ip",
        "ETE_0_s1",
        Compared {
            packets: 308,
            elements: 722,
            instructions: 6611,
            contexts: 3,
            returns: 6,
            invented: 1,
            ..NOTHING
        },
    ),
    (
        "ete_mem",
        "ETE_0_s1",
        Compared { packets: 1057, elements: 2046, instructions: 9122, contexts: 2, returns: 15, ..NOTHING },
    ),
    (
        "ete_spec_1",
        "ETE_0_s1",
        Compared { packets: 76, elements: 68, instructions: 254, contexts: 1, ..NOTHING },
    ),
    (
        "ete_spec_2",
        "ETE_0_s1",
        Compared { packets: 73, elements: 73, instructions: 261, contexts: 1, invented: 1, ..NOTHING },
    ),
    ("event_test", "ETE_0_s1", Compared { packets: 2, elements: 1, ..NOTHING }),
    ("init-short-addr", "CSETM_0", Compared { packets: 29, ..NOTHING }),
    (
        "juno-uname-002",
        "ETM_3",
        Compared { packets: 57_581, elements: 22_102, instructions: 31_566, contexts: 4, ..NOTHING },
    ),
    (
        "juno_r1_1",
        "ETM_0",
        Compared {
            packets: 29_236,
            elements: 14_491,
            instructions: 38_212,
            contexts: 1,
            missing: 16,
            not_taken: 1301,
            ..NOTHING
        },
    ),
    (
        "juno_r1_1",
        "ETM_1",
        Compared { packets: 248, elements: 105, instructions: 225, not_taken: 5, ..NOTHING },
    ),
    ("juno_r1_1", "ETM_2", Compared { packets: 3, ..NOTHING }),
    (
        "juno_r1_1",
        "ETM_3",
        Compared { packets: 305, elements: 140, instructions: 342, not_taken: 6, ..NOTHING },
    ),
    (
        "juno_r1_1",
        "ETM_5",
        Compared { packets: 1258, elements: 656, instructions: 1467, missing: 2, not_taken: 71, ..NOTHING },
    ),
    (
        "maxspec0_commopt1",
        "ETE_0_s1",
        Compared { packets: 2416, elements: 2016, instructions: 6759, contexts: 6, returns: 9, ..NOTHING },
    ),
    (
        "pauth_lr",
        "ETE_0_s1",
        Compared { packets: 80, elements: 103, instructions: 436, contexts: 3, ..NOTHING },
    ),
    (
        "src_addr",
        "ETE_0_s1",
        Compared { packets: 1983, elements: 3227, instructions: 12_625, contexts: 3, returns: 6, ..NOTHING },
    ),
    ("ss_ib_el1ns", "ETE_0_s1", Compared { packets: 8, elements: 4, instructions: 5, ..NOTHING }),
    ("tme_simple", "ETE_0_s1", Compared { packets: 48, elements: 54, instructions: 225, ..NOTHING }),
    ("tme_tcancel", "ETE_0_s1", Compared { packets: 7, elements: 3, dropped: 1, ..NOTHING }),
    (
        "trace_file_vmid",
        "ETE_0_s1",
        Compared { packets: 3137, elements: 7079, instructions: 29_127, contexts: 7, returns: 24, ..NOTHING },
    ),
    ("ts_bit64_set", "ETE_0_s1", Compared { packets: 369, elements: 446, instructions: 611, ..NOTHING }),
    (
        "ts_marker",
        "ETE_0_s1",
        Compared { packets: 552, elements: 677, instructions: 1050, contexts: 2, ..NOTHING },
    ),
];

#[test]
fn captures_are_decoded_as_listed() {
    let Some(all) = captures() else { return };
    for (name, source, expected) in SOURCES {
        assert_eq!(compare(&all, name, source), expected, "{name}/{source}");
    }
}
