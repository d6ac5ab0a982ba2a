//! The layers of the reference decoder, put together again with room for a bug: in how many bytes a packet
//! has, in what is read, in how it is followed, and in what is kept where it must be forgotten.

use std::collections::VecDeque;

use traceproof_decoder::arm_pft::{Flow, Listener, PacketReader};
use traceproof_vectors::arm_pft::{ArmPft, Event, Packet, Parameters};
use traceproof_vectors::{
    Capabilities, Decoder, DecoderLimits, Entry, Fault, FaultClass, Place, Program, Protocol, Recovery,
    Refusal, Sink,
};

use crate::family::JudgedProtocol;

/// What is wrong; by default nothing is.
pub(super) trait Bug {
    /// Whether the first byte of the stream is taken for a header.
    fn is_aligned_at_once(&self) -> bool {
        false
    }

    /// Changes a packet before it is reported and followed. Returns how many bytes after it are taken for
    /// part of it; if negative, how many of its own are not.
    fn read(&mut self, _packet: &mut Packet) -> isize {
        0
    }

    /// Follows a packet that was reported.
    fn follow(&mut self, packet: &Packet, followed: &mut Followed<'_>) {
        followed.packet(packet);
    }

    /// Changes a result; `None` = it is not reported.
    fn report(&mut self, entry: Entry<ArmPft>) -> Option<Entry<ArmPft>> {
        Some(entry)
    }

    /// The bytes cannot be read. Returns whether the next byte is taken for a header all the same.
    fn lose(&mut self, flow: &mut Flow) -> bool {
        flow.lose_synchronisation();
        false
    }

    /// The stream starts again.
    fn reset(&mut self, flow: &mut Flow) {
        flow.reset();
    }
}

/// No bug.
impl Bug for () {}

/// Makes a bug for a stream.
pub(super) type MakeBug = fn(&Parameters, &Program) -> Box<dyn Bug>;

/// The reference decoder with this bug.
pub(super) fn with(bug: MakeBug) -> Box<dyn Decoder<ArmPft>> {
    Box::new(Layers { bug, stream: None })
}

/// A closure that changes packets where they are read.
pub(super) struct Reading<F>(pub(super) F);

impl<F: FnMut(&mut Packet) -> isize> Bug for Reading<F> {
    fn read(&mut self, packet: &mut Packet) -> isize {
        (self.0)(packet)
    }
}

/// The flow, and what it reports about one packet.
pub(super) struct Followed<'a> {
    flow: &'a mut Flow,
    place: Place,
    results: Vec<Entry<ArmPft>>,
}

impl Followed<'_> {
    /// Follows this packet; whether no fault of it costs the flow.
    pub(super) fn packet(&mut self, packet: &Packet) -> bool {
        let mut results = Results(Vec::new());
        self.flow.packet(self.place, packet, &mut results);
        let is_lost = |entry: &Entry<ArmPft>| match entry {
            Entry::Fault(fault) => ArmPft::recovery(fault.class) == Recovery::FlowLost,
            _ => false,
        };
        let follows = !results.0.iter().any(is_lost);
        self.results.append(&mut results.0);
        follows
    }

    /// Follows this packet, of which nothing is reported.
    pub(super) fn silent(&mut self, packet: &Packet) {
        self.flow.packet(self.place, packet, &mut ());
    }

    /// Reports an event of its own, after the oddities of the packet and before its events.
    pub(super) fn event_before_others(&mut self, event: Event) {
        let is_event = |entry: &Entry<ArmPft>| matches!(entry, Entry::Event(_));
        let at = self.results.iter().position(is_event).unwrap_or(self.results.len());
        self.results.insert(at, Entry::Event(event));
    }

    /// Reports a fault of the packet as a whole.
    pub(super) fn fault(&mut self, class: FaultClass) {
        self.results.push(Entry::Fault(Fault::new(class, self.place)));
    }

    /// Reports only those of the results so far.
    pub(super) fn retain(&mut self, keeps: impl FnMut(&Entry<ArmPft>) -> bool) {
        self.results.retain(keeps);
    }

    /// Changes the events so far.
    pub(super) fn patch(&mut self, mut change: impl FnMut(&mut Event)) {
        for entry in &mut self.results {
            if let Entry::Event(event) = entry {
                change(event);
            }
        }
    }
}

struct Results(Vec<Entry<ArmPft>>);

impl Sink<ArmPft> for Results {
    fn packet(&mut self, _: Place, packet: &Packet) {
        self.0.push(Entry::Packet(*packet));
    }

    fn event(&mut self, _: Place, event: &Event) {
        self.0.push(Entry::Event(*event));
    }

    fn fault(&mut self, fault: &Fault) {
        self.0.push(Entry::Fault(*fault));
    }
}

struct Layers {
    bug: MakeBug,
    stream: Option<Stream>,
}

struct Stream {
    parameters: Parameters,
    program: Program,
    reader: PacketReader,
    flow: Flow,
    bug: Box<dyn Bug>,
    shift: Shift,
    /// Bytes that are taken for part of the packet before them.
    skipped: usize,
    /// The latest bytes that were read.
    latest: VecDeque<u8>,
    /// Bytes of the stream so far.
    offset: u64,
}

/// How much further the stream is than the reader: bytes that were skipped, less those that it read twice or
/// that are not in the stream.
#[derive(Clone, Copy, Default)]
struct Shift {
    bytes: i64,
    packets: i64,
}

impl Shift {
    fn place(self, place: Place) -> Place {
        let byte = place.byte.saturating_add_signed(self.bytes);
        Place { packet: place.packet.saturating_add_signed(self.packets), byte, ..place }
    }
}

/// No packet is longer.
const LONGEST: usize = 15;
/// What makes a reader that searches take the next byte for a header.
const ALIGNMENT: [u8; 6] = [0, 0, 0, 0, 0, 0x80];

impl Stream {
    fn start(&mut self) {
        if self.bug.is_aligned_at_once() {
            self.align();
        }
    }

    /// The next byte is a header.
    fn align(&mut self) {
        self.reader.push(&ALIGNMENT, &mut Silence);
        self.shift.bytes -= ALIGNMENT.len() as i64;
        self.shift.packets -= 1;
    }

    fn byte(&mut self, byte: u8, sink: &mut dyn Sink<ArmPft>) {
        self.offset += 1;
        let mut waiting = VecDeque::from([byte]);
        // Of every packet at least the header is not read again, so that this ends.
        while let Some(byte) = waiting.pop_front() {
            if self.skipped > 0 {
                self.skipped -= 1;
                self.shift.bytes += 1;
                continue;
            }
            if self.latest.len() == LONGEST {
                self.latest.pop_front();
            }
            self.latest.push_back(byte);
            let (mut more, mut goes_on) = (0, None);
            let mut reporter = Reporter {
                flow: &mut self.flow,
                bug: &mut *self.bug,
                shift: self.shift,
                sink,
                more: &mut more,
                goes_on: &mut goes_on,
            };
            self.reader.push(&[byte], &mut reporter);
            if let Some(fault) = goes_on {
                // The byte that ends zeros which are no A-sync is a header.
                let is_header = byte != 0x80 && fault.place.byte + 1 < self.offset;
                self.align();
                if is_header {
                    self.shift.bytes -= 1;
                    waiting.push_front(byte);
                }
            }
            self.skipped = usize::try_from(more).unwrap_or(0);
            let again = more.min(0).unsigned_abs().min(self.latest.len());
            self.shift.bytes -= again as i64;
            for _ in 0..again {
                waiting.extend(self.latest.pop_back());
                waiting.rotate_right(1);
            }
        }
    }
}

/// Takes nothing.
struct Silence;

impl Listener for Silence {
    fn packet(&mut self, _: Place, _: &Packet) {}
    fn lost(&mut self, _: &Fault) {}
    fn cut(&mut self, _: &Fault) {}
}

struct Reporter<'a> {
    flow: &'a mut Flow,
    bug: &'a mut dyn Bug,
    shift: Shift,
    sink: &'a mut dyn Sink<ArmPft>,
    /// What [`Bug::read`] returned.
    more: &'a mut isize,
    /// A fault after which the next byte is a header.
    goes_on: &'a mut Option<Fault>,
}

impl Reporter<'_> {
    fn report(&mut self, place: Place, entry: Entry<ArmPft>) {
        match self.bug.report(entry) {
            Some(Entry::Packet(packet)) => self.sink.packet(place, &packet),
            Some(Entry::Event(event)) => self.sink.event(place, &event),
            Some(Entry::Fault(fault)) => self.sink.fault(&fault),
            None => {}
        }
    }
}

impl Listener for Reporter<'_> {
    fn packet(&mut self, place: Place, packet: &Packet) {
        let (place, mut packet) = (self.shift.place(place), *packet);
        *self.more = self.bug.read(&mut packet);
        self.report(place, Entry::Packet(packet));
        let mut followed = Followed { flow: self.flow, place, results: Vec::new() };
        self.bug.follow(&packet, &mut followed);
        for entry in followed.results {
            self.report(place, entry);
        }
    }

    fn lost(&mut self, fault: &Fault) {
        let fault = fault.at(self.shift.place(fault.place));
        self.report(fault.place, Entry::Fault(fault));
        if self.bug.lose(self.flow) {
            *self.goes_on = Some(fault);
        }
    }

    fn cut(&mut self, fault: &Fault) {
        let fault = fault.at(self.shift.place(fault.place));
        self.report(fault.place, Entry::Fault(fault));
        self.flow.lose_synchronisation();
    }
}

impl Decoder<ArmPft> for Layers {
    fn capabilities(&self) -> Capabilities {
        ArmPft::reference_decoder().capabilities()
    }

    fn begin(&mut self, parameters: &Parameters, program: &Program) -> Result<(), Refusal> {
        self.stream = None;
        let mut stream = Stream {
            reader: PacketReader::new(parameters)?,
            flow: Flow::new(parameters, program, &DecoderLimits::default()),
            bug: (self.bug)(parameters, program),
            parameters: parameters.clone(),
            program: program.clone(),
            shift: Shift::default(),
            skipped: 0,
            latest: VecDeque::new(),
            offset: 0,
        };
        stream.start();
        self.stream = Some(stream);
        Ok(())
    }

    fn push(&mut self, chunk: &[u8], sink: &mut dyn Sink<ArmPft>) {
        if let Some(stream) = &mut self.stream {
            chunk.iter().for_each(|&byte| stream.byte(byte, sink));
        }
    }

    fn finish(&mut self, sink: &mut dyn Sink<ArmPft>) {
        let Some(stream) = &mut self.stream else { return };
        let mut reporter = Reporter {
            flow: &mut stream.flow,
            bug: &mut *stream.bug,
            shift: stream.shift,
            sink,
            more: &mut 0,
            goes_on: &mut None,
        };
        stream.reader.finish(&mut reporter);
    }

    fn reset(&mut self) {
        let Some(stream) = &mut self.stream else { return };
        stream.reader.reset();
        stream.bug.reset(&mut stream.flow);
        stream.bug = (self.bug)(&stream.parameters, &stream.program);
        (stream.shift, stream.skipped, stream.offset) = (Shift::default(), 0, 0);
        stream.latest.clear();
        stream.start();
    }
}
