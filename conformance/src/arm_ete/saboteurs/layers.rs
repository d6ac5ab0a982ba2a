//! The layers of the reference decoder, put together again with room for a bug: in how many bytes a packet has, in what
//! is read, in how it is followed, and in what is kept where it must be forgotten.

use core::ops::ControlFlow;
use std::collections::VecDeque;

use traceproof_decoder::arm_ete::{Analyzer, Listener, PacketReader};
use traceproof_vectors::arm_ete::{ArmEte, Event, Packet, Parameters, SubIsa};
use traceproof_vectors::{
    Capabilities, Decoder, DecoderLimits, Entry, Fault, FaultClass, Place, Program, Refusal, Sink,
};

use super::history::{self, History, address_of, bits_64};
use crate::family::JudgedProtocol;

/// What is wrong; by default nothing is.
pub(super) trait Bug {
    /// Changes a packet before it is reported and followed. Returns how many bytes after it are taken for part of it.
    fn read(&mut self, _packet: &mut Packet) -> usize {
        0
    }

    /// Follows a packet that was reported.
    fn follow(&mut self, packet: &Packet, followed: &mut Followed<'_>) {
        followed.packet(packet);
    }

    /// The bytes cannot be read. Returns whether the next byte is taken for a header all the same.
    fn lose(&mut self, analyzer: &mut Analyzer) -> bool {
        analyzer.lose_synchronisation();
        false
    }

    /// The stream starts again.
    fn reset(&mut self, analyzer: &mut Analyzer) {
        analyzer.lose_synchronisation();
    }

    /// The stream ends.
    fn finish(&mut self, _followed: &mut Followed<'_>) {}
}

/// No bug.
impl Bug for () {}

/// Makes a bug for a stream.
pub(super) type MakeBug = Box<dyn Fn(&Parameters, &Program) -> Box<dyn Bug>>;

/// The reference decoder with this bug.
pub(super) fn with(
    bug: impl Fn(&Parameters, &Program) -> Box<dyn Bug> + 'static,
) -> Box<dyn Decoder<ArmEte>> {
    with_parameters(|_| {}, |_| {}, bug)
}

/// The same, and reader and analyser have other parameters each.
pub(super) fn with_parameters(
    reader: fn(&mut Parameters),
    analyzer: fn(&mut Parameters),
    bug: impl Fn(&Parameters, &Program) -> Box<dyn Bug> + 'static,
) -> Box<dyn Decoder<ArmEte>> {
    Box::new(Layers { reader, analyzer, bug: Box::new(bug), stream: None })
}

/// A closure that changes packets where they are read.
pub(super) struct Reading<F>(pub(super) F);

impl<F: FnMut(&mut Packet) -> usize> Bug for Reading<F> {
    fn read(&mut self, packet: &mut Packet) -> usize {
        (self.0)(packet)
    }
}

/// A closure that follows packets.
pub(super) struct Following<F>(pub(super) F);

impl<F: FnMut(&Packet, &mut Followed<'_>)> Bug for Following<F> {
    fn follow(&mut self, packet: &Packet, followed: &mut Followed<'_>) {
        (self.0)(packet, followed);
    }
}

/// The analyser, and what it reports about one packet.
pub(super) struct Followed<'a> {
    analyzer: &'a mut Analyzer,
    pub(super) place: Place,
    results: Vec<(Place, Entry<ArmEte>)>,
    /// Synchronisation is lost.
    lost: bool,
    relative: &'a mut Relative,
}

/// What packets are relative to, as is right.
struct Relative {
    /// Before the packet that is followed, and after it.
    before: History,
    after: History,
    /// The analyser has another address history or context, so that packets are spelled out for it.
    is_other: bool,
}

impl Relative {
    fn new(parameters: &Parameters) -> Self {
        let history = History::new(parameters);
        Self { before: history.clone(), after: history, is_other: false }
    }

    fn take(&mut self, packet: &Packet) {
        self.before = self.after.clone();
        self.after.take(packet, history::NONE);
    }

    fn lose(&mut self) {
        self.after.lose();
        self.is_other = false;
    }
}

/// The bit of places of elements that are not reported.
const SILENT: u8 = u8::MAX;

impl Followed<'_> {
    /// Follows this packet.
    pub(super) fn packet(&mut self, packet: &Packet) {
        if self.relative.is_other {
            self.packet_at(self.place, &self.relative.before.spelled(packet));
        } else {
            self.packet_at(self.place, packet);
        }
        self.relative.is_other &= !matches!(packet, Packet::TraceInfo { .. });
    }

    /// What is followed from here on is spelled out.
    pub(super) fn spell_out(&mut self) {
        self.relative.is_other = true;
    }

    /// A Target Address that is not in the stream.
    pub(super) fn insert(&mut self, point: (u64, SubIsa)) {
        self.spell_out();
        self.silent(&Packet::TargetAddress { address: bits_64(point), context: None });
    }

    /// The address of a packet.
    pub(super) fn point_of(&self, packet: &Packet) -> Option<(u64, SubIsa)> {
        let mut packet = *packet;
        address_of(&mut packet).map(|address| self.relative.before.point(*address))
    }

    /// Follows this packet, whose own elements are not reported.
    pub(super) fn silent(&mut self, packet: &Packet) {
        self.packet_at(Place { bit: SILENT, ..self.place }, packet);
    }

    fn packet_at(&mut self, place: Place, packet: &Packet) {
        if !self.lost {
            let mut results = Results(Vec::new());
            self.lost = self.analyzer.packet(place, packet, &mut results).is_break();
            self.results.append(&mut results.0);
        }
    }

    /// Reports an event of its own.
    pub(super) fn event(&mut self, event: Event) {
        self.results.push((self.place, Entry::Event(event)));
    }

    /// The packet costs synchronisation.
    pub(super) fn lose(&mut self, class: FaultClass) {
        self.results.push((self.place, Entry::Fault(Fault::new(class, self.place))));
        self.analyzer.lose_synchronisation();
        self.lost = true;
    }

    /// Reports only those of the results so far.
    pub(super) fn retain(&mut self, mut keeps: impl FnMut(Place, &Entry<ArmEte>) -> bool) {
        self.results.retain(|(place, entry)| keeps(*place, entry));
    }

    /// Reports of the events so far only these.
    pub(super) fn retain_events(&mut self, mut keeps: impl FnMut(&Event) -> bool) {
        self.retain(|_, entry| if let Entry::Event(event) = entry { keeps(event) } else { true });
    }

    /// The events so far.
    pub(super) fn events(&mut self) -> impl Iterator<Item = &mut Event> {
        self.results.iter_mut().filter_map(|(_, entry)| match entry {
            Entry::Event(event) => Some(event),
            _ => None,
        })
    }

    /// Changes the events so far, given their places.
    pub(super) fn patch(&mut self, mut change: impl FnMut(Place, &mut Event)) {
        for (place, entry) in &mut self.results {
            if let Entry::Event(event) = entry {
                change(*place, event);
            }
        }
    }

    /// Whether a fault was reported.
    pub(super) fn has_fault(&self) -> bool {
        self.results
            .iter()
            .any(|(_, entry)| matches!(entry, Entry::Fault(fault) if !fault.class.is_warning()))
    }
}

struct Results(Vec<(Place, Entry<ArmEte>)>);

impl Results {
    fn push(&mut self, place: Place, entry: Entry<ArmEte>) {
        if place.bit != SILENT {
            self.0.push((place, entry));
        }
    }
}

impl Sink<ArmEte> for Results {
    fn packet(&mut self, place: Place, packet: &Packet) {
        self.push(place, Entry::Packet(*packet));
    }

    fn event(&mut self, place: Place, event: &Event) {
        self.push(place, Entry::Event(*event));
    }

    fn fault(&mut self, fault: &Fault) {
        self.push(fault.place, Entry::Fault(*fault));
    }
}

struct Layers {
    reader: fn(&mut Parameters),
    analyzer: fn(&mut Parameters),
    bug: MakeBug,
    stream: Option<Stream>,
}

struct Stream {
    parameters: Parameters,
    program: Program,
    reader: PacketReader,
    analyzer: Analyzer,
    bug: Box<dyn Bug>,
    relative: Relative,
    shift: Shift,
    /// Bytes that are taken for part of the packet before them.
    skipped: usize,
    offset: u64,
}

/// How much further the stream is than the reader.
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

/// What makes a reader that searches take the next byte for a header.
const ALIGNMENT: [u8; 12] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x80];

impl Stream {
    /// The next byte is a header.
    fn align(&mut self) {
        self.reader.push(&ALIGNMENT, &mut Silence);
        self.shift.bytes -= ALIGNMENT.len() as i64;
        self.shift.packets -= 1;
    }

    fn byte(&mut self, byte: u8, sink: &mut dyn Sink<ArmEte>) {
        self.offset += 1;
        let mut waiting = VecDeque::from([byte]);
        // A byte is read twice at most: at a fault whose byte may be a header.
        while let Some(byte) = waiting.pop_front() {
            if self.skipped > 0 {
                self.skipped -= 1;
                self.shift.bytes += 1;
                continue;
            }
            let (mut more, mut goes_on) = (0, None);
            let mut reporter = Reporter {
                analyzer: &mut self.analyzer,
                bug: &mut *self.bug,
                relative: &mut self.relative,
                shift: self.shift,
                sink,
                more: &mut more,
                goes_on: &mut goes_on,
            };
            self.reader.push(&[byte], &mut reporter);
            if let Some(fault) = goes_on {
                let is_header = fault.place.byte + 1 < self.offset;
                self.align();
                if is_header {
                    self.shift.bytes -= 1;
                    waiting.push_front(byte);
                }
            }
            self.skipped = more;
        }
    }
}

/// Takes nothing.
struct Silence;

impl Listener for Silence {
    fn packet(&mut self, _: Place, _: &Packet) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    fn lost(&mut self, _: &Fault) {}
    fn cut(&mut self, _: &Fault) {}
}

struct Reporter<'a> {
    analyzer: &'a mut Analyzer,
    bug: &'a mut dyn Bug,
    relative: &'a mut Relative,
    shift: Shift,
    sink: &'a mut dyn Sink<ArmEte>,
    /// What [`Bug::read`] returned.
    more: &'a mut usize,
    /// A fault after which the next byte is a header.
    goes_on: &'a mut Option<Fault>,
}

impl Reporter<'_> {
    /// Reports what comes of this.
    fn follow(
        &mut self,
        place: Place,
        take: impl FnOnce(&mut dyn Bug, &mut Followed<'_>),
    ) -> ControlFlow<()> {
        let (analyzer, relative) = (&mut *self.analyzer, &mut *self.relative);
        let mut followed = Followed { analyzer, place, results: Vec::new(), lost: false, relative };
        take(self.bug, &mut followed);
        let Followed { results, lost, .. } = followed;
        if lost {
            self.relative.lose();
        }
        for (place, entry) in results {
            match entry {
                Entry::Packet(packet) => self.sink.packet(place, &packet),
                Entry::Event(event) => self.sink.event(place, &event),
                Entry::Fault(fault) => self.sink.fault(&fault),
            }
        }
        if lost { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

impl Listener for Reporter<'_> {
    fn packet(&mut self, place: Place, packet: &Packet) -> ControlFlow<()> {
        let (place, mut packet) = (self.shift.place(place), *packet);
        *self.more = self.bug.read(&mut packet);
        self.sink.packet(place, &packet);
        self.relative.take(&packet);
        self.follow(place, |bug, followed| bug.follow(&packet, followed))
    }

    fn lost(&mut self, fault: &Fault) {
        let fault = fault.at(self.shift.place(fault.place));
        self.sink.fault(&fault);
        self.relative.lose();
        if self.bug.lose(self.analyzer) {
            *self.goes_on = Some(fault);
        }
    }

    fn cut(&mut self, fault: &Fault) {
        let fault = fault.at(self.shift.place(fault.place));
        self.sink.fault(&fault);
        self.analyzer.lose_synchronisation();
    }
}

impl Decoder<ArmEte> for Layers {
    fn capabilities(&self) -> Capabilities {
        ArmEte::reference_decoder().capabilities()
    }

    fn begin(&mut self, parameters: &Parameters, program: &Program) -> Result<(), Refusal> {
        self.stream = None;
        PacketReader::new(parameters)?;
        let changed = |change: fn(&mut Parameters)| {
            let mut changed = parameters.clone();
            change(&mut changed);
            // What no hardware has is left as it is.
            if changed.check().is_ok() { changed } else { parameters.clone() }
        };
        let limits = DecoderLimits::default();
        self.stream = Some(Stream {
            reader: PacketReader::new(&changed(self.reader))?,
            analyzer: Analyzer::new(&changed(self.analyzer), program, &limits),
            bug: (self.bug)(parameters, program),
            relative: Relative::new(parameters),
            parameters: parameters.clone(),
            program: program.clone(),
            shift: Shift::default(),
            skipped: 0,
            offset: 0,
        });
        Ok(())
    }

    fn push(&mut self, chunk: &[u8], sink: &mut dyn Sink<ArmEte>) {
        if let Some(stream) = &mut self.stream {
            chunk.iter().for_each(|&byte| stream.byte(byte, sink));
        }
    }

    fn finish(&mut self, sink: &mut dyn Sink<ArmEte>) {
        let Some(stream) = &mut self.stream else { return };
        let mut reporter = Reporter {
            analyzer: &mut stream.analyzer,
            bug: &mut *stream.bug,
            relative: &mut stream.relative,
            shift: stream.shift,
            sink,
            more: &mut 0,
            goes_on: &mut None,
        };
        let _ = reporter.follow(Place::default(), |bug, followed| bug.finish(followed));
        stream.reader.finish(&mut reporter);
    }

    fn reset(&mut self) {
        let Some(stream) = &mut self.stream else { return };
        stream.reader.reset();
        stream.bug.reset(&mut stream.analyzer);
        stream.bug = (self.bug)(&stream.parameters, &stream.program);
        stream.relative = Relative::new(&stream.parameters);
        (stream.shift, stream.skipped, stream.offset) = (Shift::default(), 0, 0);
    }
}
