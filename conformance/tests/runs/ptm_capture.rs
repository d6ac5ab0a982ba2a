//! Captures of real PTMs are decoded to what OpenCSD made of them: packet by packet, instruction by
//! instruction.
//!
//! The expected listings are one decoder's opinion. Where it is systematically another than the
//! specification's, the difference is named where it is allowed for, in [`golden`] and [`words`], and counted
//! in [`Compared`]; see also `docs/findings/opencsd-ptm.md`.

mod golden;
mod words;

use std::path::{Path, PathBuf};

use golden::{Element, Listed};
use traceproof_conformance::Subject;
use traceproof_conformance::captures::Captured;
use traceproof_conformance::relations::{Attempts, Stream};
use traceproof_conformance::snapshot::{BufferFormat, Snapshot};
use traceproof_decoder::arm_pft::Decoder;
use traceproof_vectors::arm_pft::{ArmPft, Event, Packet, Parameters};
use traceproof_vectors::{Decoder as _, Entry, Log, Place, Protocol as _};
use words::Lister;

/// Captures, if they are at hand.
fn captures() -> Option<PathBuf> {
    let all = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data/opencsd-snapshots");
    if all.is_dir() {
        return Some(all);
    }
    eprintln!("SKIPPED: no real PTM capture is decoded, because {} is not there", all.display());
    None
}

/// The trace of a PTM and what OpenCSD listed of it.
struct Capture {
    captured: Captured<ArmPft>,
    listed: Vec<Listed>,
    /// Where the listing places each byte.
    indexes: Vec<u64>,
}

impl Capture {
    fn read(all: &Path, name: &str, source: &str) -> Self {
        let snapshot = Snapshot::read(&all.join(name)).unwrap_or_else(|error| panic!("{error}"));
        let mut streams = snapshot.streams().filter(|stream| stream.source.name == source);
        let stream = streams.next().expect("the source");
        let captured = Captured::of(&snapshot, &stream).unwrap_or_else(|error| panic!("{error}"));
        assert!(captured.bytes.faults.is_empty() && captured.bytes.pieces.len() == 1, "{source}");
        let wire = captured.bytes.pieces[0].clone();
        let buffer = stream.buffer.expect("its buffer");
        let id = stream.trace_id().unwrap_or_else(|error| panic!("{error}"));
        let has_frames = buffer.format == BufferFormat::CoreSight;
        let listed = golden::read(all, name, (if has_frames { id.value() } else { 0 }, id.value()));
        let indexes = if has_frames {
            let buffer = snapshot.trace(buffer).unwrap_or_else(|error| panic!("{error}"));
            let (bytes, indexes) = golden::indexes(&buffer, id);
            assert_eq!(bytes, wire);
            indexes
        } else {
            (0..wire.len() as u64).collect()
        };
        Self { captured, listed, indexes }
    }

    fn wire(&self) -> &[u8] {
        &self.captured.bytes.pieces[0]
    }

    fn decode(&self) -> Log<ArmPft> {
        let mut decoder = Decoder::default();
        decoder.begin(&self.captured.parameters, &self.captured.program).expect("supported");
        let mut log = Log::default();
        decoder.push(self.wire(), &mut log);
        decoder.finish(&mut log);
        log
    }
}

/// How much was compared, and how often each difference occurred.
#[derive(Debug, Default, PartialEq, Eq)]
struct Compared {
    /// Packets that are listed before the first A-sync, where nothing is decoded, and the bytes of the source
    /// in them.
    searched: (usize, usize),
    packets: usize,
    elements: usize,
    ranges: usize,
    instructions: u64,
    exceptions: usize,
    timestamps: usize,
    missing_code: usize,
    trace_on: usize,
    contexts: usize,
    waypoint_updates: usize,
    /// Cycle counts after the first I-sync, and their sum.
    cycles: (usize, u64),
    /// Those that OpenCSD drops, because it has no element for them.
    dropped_cycles: (usize, u64),
    /// Packets before the first I-sync, of which only bytes and names are compared.
    before_sync: usize,
    /// Periodic I-syncs without element.
    silent_syncs: usize,
    /// Branches of which no element says where they lead to, after missing code.
    silent_branches: usize,
}

/// A packet and what it caused, with its place.
struct Reported<'a> {
    byte: usize,
    packet: &'a Packet,
    rest: Vec<&'a (Place, Entry<ArmPft>)>,
}

fn reported(log: &Log<ArmPft>) -> Vec<Reported<'_>> {
    let mut reported: Vec<Reported<'_>> = Vec::new();
    for entry in &log.entries {
        if let (place, Entry::Packet(packet)) = entry {
            let byte = usize::try_from(place.byte).expect("in memory");
            reported.push(Reported { byte, packet, rest: Vec::new() });
        } else {
            reported.last_mut().expect("a packet").rest.push(entry);
        }
    }
    reported
}

/// The elements that OpenCSD should list for a packet, and its cycle count.
fn expected(lister: &mut Lister, reported: &Reported<'_>) -> (Vec<String>, Option<u32>) {
    let (mut elements, mut count, mut runs) = (Vec::new(), None, Vec::new());
    // A run of instructions may come in pieces.
    let joined = |runs: &mut Vec<Event>, lister: &mut Lister| -> Vec<String> {
        ArmPft::canonical(std::mem::take(runs)).iter().flat_map(|run| lister.event(run)).collect()
    };
    for (_, entry) in &reported.rest {
        match entry {
            Entry::Event(event @ Event::Instructions { .. }) => runs.push(*event),
            Entry::Event(event) => {
                elements.extend(joined(&mut runs, lister));
                elements.extend(lister.event(event));
                if let Event::Cycles { count: cycles, .. } = event {
                    count = Some(*cycles);
                }
            }
            Entry::Fault(fault) => {
                elements.extend(joined(&mut runs, lister));
                elements.push(words::fault(fault));
            }
            Entry::Packet(_) => unreachable!("one packet"),
        }
    }
    elements.extend(joined(&mut runs, lister));
    (elements, count)
}

impl Compared {
    fn packet(&mut self, lister: &mut Lister, reported: &Reported<'_>, listed: &Listed, what: &str) {
        let text = lister.packet(reported.packet);
        if lister.synchronised {
            assert_eq!(text, listed.text, "{what}");
        } else {
            let name = |text: &str| text.split(" : ").next().map(str::to_owned);
            assert_eq!(name(&text), name(&listed.text), "{what}");
            assert!(reported.rest.is_empty(), "{what}");
            self.before_sync += 1;
        }
        // Where decoding begins and ends.
        let is_frame = |text: &str| text.starts_with("NO_SYNC") || text.starts_with("EO_TRACE");
        let elements: Vec<&Element> =
            listed.elements.iter().filter(|element| !is_frame(&element.text)).collect();
        let texts: Vec<&str> = elements.iter().map(|element| element.text.as_str()).collect();
        let (expected, count) = expected(lister, reported);
        assert_eq!(texts, expected, "{what}");
        self.count(&elements, count);
        self.packets += 1;
        self.waypoint_updates += usize::from(matches!(reported.packet, Packet::WaypointUpdate { .. }));
        for (_, entry) in &reported.rest {
            match entry {
                Entry::Event(Event::BranchTo { .. }) => self.silent_branches += 1,
                Entry::Event(Event::TraceOn { .. }) if texts.is_empty() => self.silent_syncs += 1,
                _ => {}
            }
        }
    }

    /// Counts the elements of a packet and compares their cycle counts.
    fn count(&mut self, elements: &[&Element], count: Option<u32>) {
        for Element { text, cycles } in elements {
            let (name, rest) = text.split_once('(').expect("a name");
            let number = match name {
                "INSTR_RANGE" => {
                    let number = rest.split_once("num_i(").and_then(|(_, rest)| rest.split_once(')'));
                    self.instructions += number.expect("a number").0.parse::<u64>().expect("a number");
                    &mut self.ranges
                }
                "TRACE_ON" => &mut self.trace_on,
                "EXCEPTION" => &mut self.exceptions,
                "TIMESTAMP" => &mut self.timestamps,
                "PE_CONTEXT" => &mut self.contexts,
                "ADDR_NACC" => &mut self.missing_code,
                other => panic!("in none of the captures: {other}"),
            };
            *number += 1;
            let expected = count.filter(|_| !matches!(name, "PE_CONTEXT" | "ADDR_NACC"));
            assert_eq!(*cycles, expected, "{text}");
        }
        if let Some(count) = count {
            let has_count = elements.iter().any(|element| element.cycles.is_some());
            let dropped = [&mut self.cycles, &mut self.dropped_cycles];
            for (number, sum) in dropped.into_iter().take(if has_count { 1 } else { 2 }) {
                *number += 1;
                *sum += u64::from(count);
            }
        }
    }
}

impl Capture {
    /// Compares what the lister passed over before the first A-sync. `foreign`: a byte that it shows at this
    /// index, and that is in no frame of the source.
    fn searched(&self, foreign: Option<(u64, u8)>) -> (usize, usize) {
        let (mut packets, mut byte, mut foreign_bytes) = (0, 0, 0);
        for listed in self.listed.iter().take_while(|listed| listed.text.starts_with("NOTSYNC")) {
            let mut bytes = listed.bytes.as_slice();
            // While it searches, the lister may show a byte from elsewhere in memory, and its index is wrong,
            // too.
            if let Some((last, before)) = bytes.split_last()
                && foreign == Some((listed.idx, *last))
            {
                bytes = before;
                foreign_bytes += 1;
            } else {
                assert_eq!(listed.idx, self.indexes[byte], "{}", listed.text);
            }
            assert_eq!(self.wire()[byte..][..bytes.len()], *bytes, "NOTSYNC at Idx {}", listed.idx);
            byte += bytes.len();
            packets += 1;
        }
        assert_eq!(foreign_bytes, usize::from(foreign.is_some()));
        (packets, byte)
    }

    fn compare(&self, foreign: Option<(u64, u8)>) -> Compared {
        let log = self.decode();
        let reported = reported(&log);
        let elements = self.listed.iter().map(|listed| listed.elements.len()).sum();
        let mut compared = Compared { searched: self.searched(foreign), elements, ..Compared::default() };
        let listed = self.listed.get(compared.searched.0..).unwrap_or_default();
        let mut lister = Lister::new(&self.captured.parameters);
        let ends = reported.iter().skip(1).map(|next| next.byte).chain([self.wire().len()]);
        for (index, (reported, end)) in reported.iter().zip(ends).enumerate() {
            let listed = listed.get(index).unwrap_or_else(|| panic!("not listed: {:?}", reported.packet));
            let what = format!("packet at Idx {}: {}", listed.idx, listed.text);
            assert_eq!(listed.bytes, self.wire()[reported.byte..end], "{what}");
            assert_eq!(listed.idx, self.indexes[reported.byte], "{what}");
            compared.packet(&mut lister, reported, listed, &what);
        }
        assert_eq!(listed.len(), compared.packets);
        let total = log.events().filter_map(|event| match event {
            Event::Cycles { total, .. } => Some(*total),
            _ => None,
        });
        assert_eq!(total.last().unwrap_or(0), compared.cycles.1);
        compared
    }
}

/// Whole decode and late decoders agree at every A-sync, and chunks change nothing.
fn joins(capture: &Capture) -> (Attempts, Attempts) {
    let subject = Subject::reference();
    let Captured { parameters, program, .. } = &capture.captured;
    let stream = Stream::<ArmPft> { subject: &subject, parameters, program, wire: capture.wire() };
    stream.repeats(None).unwrap_or_else(|broken| panic!("{broken}"));
    let joins = stream.joins(usize::MAX).unwrap_or_else(|broken| panic!("{broken}"));
    (joins, stream.recovers(usize::MAX).unwrap_or_else(|broken| panic!("{broken}")))
}

const fn attempts(points: usize, compared: usize) -> Attempts {
    Attempts { points, compared }
}

/// Two PTMs of Cortex-A9 cores, PFTv1.0, cycle-accurate. Their sums are those of the captures' list of
/// contents: 1,832 packets with those of the search, 1,689 elements, 7,545 instructions. All seven A-syncs
/// are inside the stream, so that joining is judged at each.
#[test]
fn cortex_a9_is_decoded_as_listed() {
    let Some(all) = captures() else { return };
    let parameters = Parameters { cycle_accurate: true, timestamps: true, ..Parameters::v1_0() };
    let first = Capture::read(&all, "Snowball", "PTM_0");
    assert_eq!(first.captured.parameters, parameters);
    let expected = Compared {
        searched: (66, 977),
        packets: 960,
        elements: 940,
        ranges: 683,
        instructions: 3968,
        exceptions: 4,
        timestamps: 14,
        missing_code: 40,
        trace_on: 192,
        contexts: 5,
        waypoint_updates: 4,
        cycles: (945, 3_526_134),
        dropped_cycles: (57, 2607),
        before_sync: 4,
        silent_syncs: 3,
        silent_branches: 37,
    };
    assert_eq!(first.compare(None), expected);
    assert_eq!(joins(&first), (attempts(4, 4), attempts(4, 4)));
    let second = Capture::read(&all, "Snowball", "PTM_1");
    assert_eq!(second.captured.parameters, parameters);
    let expected = Compared {
        searched: (57, 659),
        packets: 749,
        elements: 749,
        ranges: 569,
        instructions: 3577,
        timestamps: 7,
        missing_code: 34,
        trace_on: 132,
        contexts: 5,
        cycles: (743, 127_680),
        dropped_cycles: (36, 2324),
        before_sync: 1,
        silent_syncs: 2,
        silent_branches: 33,
        ..Compared::default()
    };
    assert_eq!(second.compare(Some((4670, 0x0f))), expected);
    assert_eq!(joins(&second), (attempts(3, 3), attempts(3, 3)));
}

/// A Cortex-A15, PFTv1.1 with return stack: secure single steps and short runs. Its only A-sync is the first
/// byte, so that there is none to join at.
#[test]
fn cortex_a15_is_decoded_as_listed() {
    let Some(all) = captures() else { return };
    let capture = Capture::read(&all, "trace_cov_a15", "PTM_0_2");
    let parameters = Parameters { return_stack: true, virtualization: true, ..Parameters::default() };
    assert_eq!(capture.captured.parameters, parameters);
    let expected = Compared {
        packets: 11,
        elements: 27,
        ranges: 20,
        instructions: 57,
        exceptions: 2,
        trace_on: 2,
        contexts: 1,
        before_sync: 1,
        ..Compared::default()
    };
    assert_eq!(capture.compare(None), expected);
    assert_eq!(joins(&capture), (attempts(1, 0), attempts(1, 1)));
}
