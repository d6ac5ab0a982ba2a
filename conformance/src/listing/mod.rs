//! Writes what a decoder or encoder delivers while it comes, as text or JSON Lines; memory does not grow.
//!
//! | question | place |
//! |---|---|
//! | Packets, events and faults as lines? | [`Listing`] |
//! | Executed instructions, as ranges or addresses? | [`InstructionListing`] |
//! | The text of each instruction, and its line of source? | [`CodeNotes`] |
//! | Where is the time spent, by call stack? | [`FoldedStacks`] |
//! | How many of what? | [`Statistics`] |
//! | Only a part of the trace? | [`Windowed`] |
//! | The output of an encoder as files? | [`WireFile`] |

mod columns;
mod folded;
mod instructions;
mod known_texts;
mod notes;
mod ranges;
mod recent;
mod statistics;
mod window;

use std::io::{self, Write};

use serde::Serialize;
use traceproof_vectors::{EncoderSink, Fault, Layer, Place, Sink};

use crate::family::FamilyRules;
use crate::line::write_line;
use crate::stream::StreamSink;
use columns::PlaceText;
use known_texts::{KnownTexts, number};
use recent::Recent;

pub use folded::FoldedStacks;
pub use instructions::{InstructionFormat, InstructionListing, Instructions};
pub use notes::CodeNotes;
pub use statistics::Statistics;
pub use window::{Window, Windowed};

/// How a listing is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// Columns for people: packet, byte.bit, kind, content. Faults are lines that start with `error:` or `warning:`.
    #[default]
    Text,
    /// One JSON object per line: `place` and one of `packet`, `event`, `fault`.
    JsonLines,
}

/// A sink that writes.
///
/// A sink cannot fail, so the first error of the writer is kept, and everything after it is dropped; look at
/// [`error`](Self::error) now and then.
#[derive(Debug)]
pub struct Listing<P: FamilyRules, W> {
    out: W,
    format: Format,
    /// Only this layer; `None` = everything.
    layer: Option<Layer>,
    /// Of the entry, for text.
    line: String,
    /// As it is written.
    row: Vec<u8>,
    place: PlaceText,
    /// Texts of events with instructions, which are most of the lines.
    events: KnownTexts<P::Event>,
    error: Option<io::Error>,
    counts: Counts,
    /// Index of the latest packet that could be read.
    latest: Option<u64>,
    /// The latest bytes, if the bytes of packets are listed.
    recent: Option<Recent>,
    /// The line of each packet in the file that it was imported from; empty of other traces.
    lines: Vec<u32>,
}

/// What went through a listing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Packets, listed or not.
    pub packets: u64,
    /// Events, listed or not.
    pub events: u64,
    /// Listed faults that are errors.
    pub errors: u64,
    /// Listed faults that are warnings.
    pub warnings: u64,
}

impl<P: FamilyRules, W: Write> Listing<P, W> {
    /// Lists the given layer, or everything. With the layer of packets, faults are those of packets that could not be
    /// read; otherwise all.
    pub const fn new(out: W, format: Format, layer: Option<Layer>) -> Self {
        let counts = Counts { packets: 0, events: 0, errors: 0, warnings: 0 };
        Self {
            out,
            format,
            layer,
            line: String::new(),
            row: Vec::new(),
            place: PlaceText::new(),
            events: KnownTexts::new(),
            error: None,
            counts,
            latest: None,
            recent: None,
            lines: Vec::new(),
        }
    }

    /// The same, with the bytes of each packet, from its first to its last one.
    #[must_use]
    pub fn with_bytes(mut self) -> Self {
        self.recent = Some(Recent::default());
        self
    }

    /// Names the line of the file that each packet was imported from, too.
    #[must_use]
    pub fn with_lines(self, lines: Vec<u32>) -> Self {
        Self { lines, ..self }
    }

    /// The writer's first error.
    pub const fn error(&self) -> Option<&io::Error> {
        self.error.as_ref()
    }

    /// What went through so far.
    pub const fn counts(&self) -> Counts {
        self.counts
    }

    /// Flushes the writer and returns the counts.
    ///
    /// # Errors
    ///
    /// The writer's first error.
    pub fn finish(mut self) -> io::Result<Counts> {
        match self.error.take() {
            Some(error) => Err(error),
            None => self.out.flush().map(|()| self.counts),
        }
    }

    /// Writes, unless that failed before.
    fn keep(&mut self, write: impl FnOnce(&mut Self) -> io::Result<()>) {
        if self.error.is_none() {
            self.error = write(self).err();
        }
    }

    /// The beginning of a line: the place, the line of an imported log, the bytes of a packet.
    fn begin(&mut self, place: Place, is_packet: bool) -> io::Result<()> {
        let line = self.line_of(place);
        let bytes =
            self.recent.as_mut().map(|recent| if is_packet { recent.from(place) } else { String::new() });
        let row = &mut self.row;
        row.clear();
        match self.format {
            Format::Text => {
                row.extend_from_slice(self.place.columns(place).as_bytes());
                if let Some(line) = line {
                    write!(row, "line {line:<6} ")?;
                }
                if let Some(bytes) = bytes {
                    write!(row, "{bytes:<23} ")?;
                }
            }
            Format::JsonLines => {
                row.extend_from_slice(self.place.json(place).as_bytes());
                if let Some(bytes) = bytes.filter(|_| is_packet) {
                    row.extend_from_slice(br#","bytes":"#);
                    serde_json::to_writer(&mut *row, &bytes)?;
                }
                if let Some(line) = line {
                    row.extend_from_slice(br#","line":"#);
                    row.extend_from_slice(itoa::Buffer::new().format(line).as_bytes());
                }
            }
        }
        Ok(())
    }

    fn line_of(&self, place: Place) -> Option<u32> {
        usize::try_from(place.packet).ok().and_then(|packet| self.lines.get(packet).copied())
    }

    fn write_packet(&mut self, place: Place, packet: &P::Packet) -> io::Result<()> {
        self.begin(place, true)?;
        append(&mut self.row, &mut self.line, self.format, "packet", packet)?;
        self.out.write_all(&self.row)
    }

    fn write_event(&mut self, place: Place, event: &P::Event) -> io::Result<()> {
        self.begin(place, false)?;
        let Self { out, format, line, row, events, .. } = self;
        match P::INSTRUCTIONS.and_then(|instructions| (instructions.run)(event)) {
            Some(run) => {
                let write = |text: &mut Vec<u8>| append(text, line, *format, "event", event);
                row.extend_from_slice(events.text(number(run), event, write)?);
            }
            None => append(row, line, *format, "event", event)?,
        }
        out.write_all(row)
    }

    fn write_fault(&mut self, fault: &Fault) -> io::Result<()> {
        if self.format == Format::Text {
            let line = self.line_of(fault.place).map(|line| format!(" (line {line})")).unwrap_or_default();
            return writeln!(self.out, "{}: {fault}{line}", severity(fault));
        }
        self.begin(fault.place, false)?;
        append(&mut self.row, &mut self.line, self.format, "fault", fault)?;
        self.out.write_all(&self.row)
    }
}

/// Appends a result and the end of its line: in columns, or as a member of an object that has begun.
fn append<T: Serialize>(
    row: &mut Vec<u8>,
    line: &mut String,
    format: Format,
    kind: &str,
    result: &T,
) -> io::Result<()> {
    match format {
        Format::Text => {
            row.extend_from_slice(kind.as_bytes());
            row.resize(row.len() + "packet ".len() - kind.len(), b' ');
            line.clear();
            write_line(line, result);
            row.extend_from_slice(line.as_bytes());
            row.push(b'\n');
        }
        Format::JsonLines => {
            for text in [",\"", kind, "\":"] {
                row.extend_from_slice(text.as_bytes());
            }
            serde_json::to_writer(&mut *row, result)?;
            row.extend_from_slice(b"}\n");
        }
    }
    Ok(())
}

/// The word for a fault's severity.
#[must_use]
pub const fn severity(fault: &Fault) -> &'static str {
    if fault.class.is_warning() { "warning" } else { "error" }
}

impl<P: FamilyRules, W: Write> Sink<P> for Listing<P, W> {
    fn packet(&mut self, place: Place, packet: &P::Packet) {
        self.counts.packets += 1;
        self.latest = Some(place.packet);
        if self.layer != Some(Layer::Events) {
            self.keep(|listing| listing.write_packet(place, packet));
        }
    }

    fn event(&mut self, place: Place, event: &P::Event) {
        self.counts.events += 1;
        if self.layer != Some(Layer::Packets) {
            self.keep(|listing| listing.write_event(place, event));
        }
    }

    fn fault(&mut self, fault: &Fault) {
        if self.layer == Some(Layer::Packets) && self.latest >= Some(fault.place.packet) {
            return;
        }
        let count =
            if fault.class.is_warning() { &mut self.counts.warnings } else { &mut self.counts.errors };
        *count += 1;
        self.keep(|listing| listing.write_fault(fault));
    }
}

impl<P: FamilyRules, W: Write> StreamSink<P> for Listing<P, W> {
    fn follows_bytes(&self) -> bool {
        self.recent.is_some()
    }

    fn bytes(&mut self, bytes: &[u8]) {
        if let Some(recent) = &mut self.recent {
            recent.push(bytes);
        }
    }

    fn is_done(&self) -> bool {
        self.error.is_some()
    }
}

/// Writes the bytes of an encoder to one writer and, if wanted, its packets as JSON Lines to another.
#[derive(Debug)]
pub struct WireFile<W, L> {
    wire: W,
    packets: Option<L>,
    error: Option<io::Error>,
    /// Bytes so far.
    bytes: u64,
    /// Packets so far.
    count: u64,
}

impl<W: Write, L: Write> WireFile<W, L> {
    /// Bytes go to `wire`, packets to `packets`.
    pub const fn new(wire: W, packets: Option<L>) -> Self {
        Self { wire, packets, error: None, bytes: 0, count: 0 }
    }

    /// Flushes and returns the number of packets and bytes.
    ///
    /// # Errors
    ///
    /// The first error of a writer.
    pub fn finish(mut self) -> io::Result<(u64, u64)> {
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        self.wire.flush()?;
        if let Some(packets) = &mut self.packets {
            packets.flush()?;
        }
        Ok((self.count, self.bytes))
    }
}

impl<P: FamilyRules, W: Write, L: Write> EncoderSink<P> for WireFile<W, L> {
    fn packet(&mut self, packet: &P::Packet) {
        self.count += 1;
        if let (None, Some(out)) = (&self.error, &mut self.packets) {
            let written = serde_json::to_writer(&mut *out, packet).map_err(io::Error::from);
            if let Err(error) = written.and_then(|()| out.write_all(b"\n")) {
                self.error = Some(error);
            }
        }
    }

    fn wire(&mut self, bytes: &[u8]) {
        self.bytes += bytes.len() as u64;
        if self.error.is_none()
            && let Err(error) = self.wire.write_all(bytes)
        {
            self.error = Some(error);
        }
    }
}

#[cfg(test)]
mod tests {
    use traceproof_vectors::Address;

    use super::*;
    use traceproof_vectors::FaultClass;
    use traceproof_vectors::riscv_etrace::{Event, Packet, ReportedAddress, RiscvEtrace};

    fn listed(format: Format, layer: Option<Layer>) -> String {
        let mut out = Vec::new();
        let mut listing = Listing::<RiscvEtrace, _>::new(&mut out, format, layer);
        let sink: &mut dyn Sink<RiscvEtrace> = &mut listing;
        let place = Place { packet: 3, byte: 12, bit: 0 };
        let address = ReportedAddress::Delta(4);
        let packet =
            Packet::Address { address, notify: false, updiscon: true, irreport: false, irdepth: 0, irets: 0 };
        sink.packet(place, &packet);
        sink.event(place, &Event::Retire { first: Address(0x1000), end: Address(0x1004), count: 1 });
        sink.fault(&Fault::new(FaultClass::Suspicious, place).with_address(Some(Address(0x1000))));
        let place = Place { packet: 4, byte: 14, bit: 2 };
        sink.fault(&Fault::new(FaultClass::Truncated, place));
        let counts = listing.finish().expect("memory is writable");
        // The first fault is about the flow, not about a packet.
        let warnings = u64::from(layer != Some(Layer::Packets));
        assert_eq!(counts, Counts { packets: 1, events: 1, errors: 1, warnings });
        String::from_utf8(out).expect("text")
    }

    #[test]
    fn listings_are_text_or_json_lines() {
        insta::assert_snapshot!("text", listed(Format::Text, None));
        insta::assert_snapshot!("json_lines", listed(Format::JsonLines, None));
        insta::assert_snapshot!("only_packets", listed(Format::Text, Some(Layer::Packets)));
        insta::assert_snapshot!("only_events", listed(Format::Text, Some(Layer::Events)));
    }

    /// Packets, events and faults of an imported log name its line; those after its last record have none.
    #[test]
    fn lines_of_an_imported_log_are_named() {
        let mut listed = Vec::new();
        for format in [Format::Text, Format::JsonLines] {
            let mut listing =
                Listing::<RiscvEtrace, _>::new(&mut listed, format, None).with_lines(vec![7, 90]);
            let sink: &mut dyn Sink<RiscvEtrace> = &mut listing;
            let place = |packet| Place { packet, byte: 4 * packet, bit: 0 };
            sink.event(place(0), &Event::Time { time: 1 });
            sink.fault(&Fault::new(FaultClass::Truncated, place(1)));
            sink.event(place(2), &Event::Time { time: 2 });
            assert_eq!(listing.finish().expect("memory is writable").events, 2);
        }
        let expected = "       0          0.0 line 7      event  time time=0x1\n\
            error: truncated at packet 1, byte 4.0 (line 90)\n\
            \x20      2          8.0 event  time time=0x2\n\
            {\"place\":{\"packet\":0,\"byte\":0,\"bit\":0},\"line\":7,\"event\":{\"time\":{\"time\":\"0x1\"}}}\n";
        let listed = String::from_utf8(listed).expect("text");
        assert!(listed.starts_with(expected), "{listed}");
        let lines: Vec<&str> = listed.lines().skip(4).collect();
        assert!(lines[0].contains("\"line\":90,\"fault\"") && !lines[1].contains("\"line\""), "{listed}");
    }

    struct Closed;

    impl Write for Closed {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::BrokenPipe.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn the_first_error_of_the_writer_is_kept() {
        let mut listing = Listing::<RiscvEtrace, _>::new(Closed, Format::JsonLines, None);
        Sink::event(&mut listing, Place::default(), &Event::Time { time: 1 });
        assert_eq!(listing.error().map(io::Error::kind), Some(io::ErrorKind::BrokenPipe));
        assert!(listing.finish().is_err());
    }
}
