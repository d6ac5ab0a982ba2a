//! The executed instructions of any family: ranges of consecutive ones, or the address of each.

use std::io::{self, Write};

use traceproof_vectors::{Fault, Place, Program, Sink};

use super::columns::PlaceText;
use super::notes::CodeNotes;
use super::ranges::KnownRanges;
use super::{Counts, severity};
use crate::family::{FamilyRules, Run};
use crate::stream::StreamSink;
use crate::symbols::Symbols;

/// How instructions are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InstructionFormat {
    /// A line for each range, as [`Format::Text`](super::Format::Text) has it.
    Text,
    /// A JSON object for each range, with `place` and `instructions`.
    JsonLines,
    /// The address of each instruction as eight bytes, least significant byte first. Faults are not written.
    Addresses,
}

/// What went through an [`InstructionListing`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Instructions {
    /// As of a [`Listing`](super::Listing); events are those with instructions.
    pub counts: Counts,
    /// Instructions whose address the trace does not carry.
    pub unknown: u64,
}

/// A sink that writes instructions. Where an execution goes on at the next address, it is one range, however the
/// decoder reports it.
#[derive(Debug)]
pub struct InstructionListing<'a, W> {
    out: W,
    format: InstructionFormat,
    program: &'a Program,
    /// The range that may go on, and the place of its beginning.
    open: Option<(Place, Run)>,
    place: PlaceText,
    ranges: KnownRanges<'a>,
    /// Lines or addresses that are written next.
    row: Vec<u8>,
    error: Option<io::Error>,
    written: Instructions,
}

impl<'a, W: Write> InstructionListing<'a, W> {
    /// Instructions of this program; ranges name the function of their first instruction, if there is a symbol.
    pub fn new(out: W, format: InstructionFormat, program: &'a Program, symbols: &'a Symbols) -> Self {
        Self {
            out,
            format,
            program,
            open: None,
            place: PlaceText::new(),
            ranges: KnownRanges::new(format, program, symbols),
            row: Vec::new(),
            error: None,
            written: Instructions::default(),
        }
    }

    /// The same, with what is known of each instruction of a range.
    #[must_use]
    pub fn with_notes(mut self, notes: &'a dyn CodeNotes) -> Self {
        self.ranges = self.ranges.with_notes(notes);
        self
    }

    /// Writes the last range and flushes the writer.
    ///
    /// # Errors
    ///
    /// The writer's first error.
    pub fn finish(mut self) -> io::Result<Instructions> {
        self.close();
        match self.error {
            Some(error) => Err(error),
            None => self.out.flush().map(|()| self.written),
        }
    }

    fn run(&mut self, place: Place, run: Run) {
        if self.format == InstructionFormat::Addresses {
            self.row.clear();
            let (row, out, error) = (&mut self.row, &mut self.out, &mut self.error);
            self.written.unknown += run.addresses(self.program, &mut |address| {
                row.extend_from_slice(&address.to_le_bytes());
                // An event may stand for any number of instructions.
                if row.len() >= ROW {
                    put(out, error, row);
                    row.clear();
                }
            });
            put(out, error, row);
            return;
        }
        if run.first.is_none() {
            self.written.unknown += run.count;
        }
        let run = Run { end: run.end_in(self.program), ..run };
        if let Some((_, open)) = &mut self.open
            && (open.end, open.encoding) == (run.first, run.encoding)
        {
            open.end = run.end;
            open.count += run.count;
            return;
        }
        self.close();
        self.open = Some((place, run));
    }

    /// Writes the range that was open.
    fn close(&mut self) {
        let Some((place, run)) = self.open.take() else { return };
        let place = match self.format {
            InstructionFormat::Addresses => return,
            InstructionFormat::Text => self.place.columns(place),
            InstructionFormat::JsonLines => self.place.json(place),
        };
        self.row.clear();
        self.row.extend_from_slice(place.as_bytes());
        self.row.extend_from_slice(self.ranges.text(run));
        put(&mut self.out, &mut self.error, &self.row);
    }

    fn write_fault(&mut self, fault: &Fault) {
        self.row.clear();
        let written = match self.format {
            InstructionFormat::Addresses => return,
            InstructionFormat::Text => writeln!(self.row, "{}: {fault}", severity(fault)),
            InstructionFormat::JsonLines => {
                self.row.extend_from_slice(self.place.json(fault.place).as_bytes());
                self.row.extend_from_slice(br#","fault":"#);
                let written = serde_json::to_writer(&mut self.row, fault);
                self.row.extend_from_slice(b"}\n");
                written.map_err(io::Error::from)
            }
        };
        match written {
            Ok(()) => put(&mut self.out, &mut self.error, &self.row),
            Err(error) => self.error = self.error.take().or(Some(error)),
        }
    }
}

/// Bytes of addresses that are collected at most.
const ROW: usize = 1 << 14;

/// Writes, unless that failed before.
fn put(out: &mut impl Write, error: &mut Option<io::Error>, bytes: &[u8]) {
    if error.is_none() {
        *error = out.write_all(bytes).err();
    }
}

impl<P: FamilyRules, W: Write> Sink<P> for InstructionListing<'_, W> {
    fn packet(&mut self, _: Place, _: &P::Packet) {
        self.written.counts.packets += 1;
    }

    fn event(&mut self, place: Place, event: &P::Event) {
        if let Some(run) = P::INSTRUCTIONS.and_then(|instructions| (instructions.run)(event)) {
            self.written.counts.events += 1;
            self.run(place, run);
        }
    }

    fn fault(&mut self, fault: &Fault) {
        let counts = &mut self.written.counts;
        *if fault.class.is_warning() { &mut counts.warnings } else { &mut counts.errors } += 1;
        self.close();
        self.write_fault(fault);
    }
}

impl<P: FamilyRules, W: Write> StreamSink<P> for InstructionListing<'_, W> {
    fn follows_bytes(&self) -> bool {
        false
    }

    fn bytes(&mut self, _: &[u8]) {}

    fn is_done(&self) -> bool {
        self.error.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::symbols::Symbol;
    use traceproof_vectors::arm_etm::{ArmEtm, Event, Isa};
    use traceproof_vectors::{Address32, FaultClass, Section};

    fn atom(address: Option<u32>, isa: Isa) -> Event {
        Event::Atom { address: address.map(Address32), isa, executed: true, cycles: None }
    }

    /// Two words of A32, a T32 instruction of 32 bits and one of 16, one whose address is unknown.
    fn written(format: InstructionFormat) -> (Vec<u8>, Instructions) {
        let mut program = Program::new();
        program.insert(Section::new(0x100, vec![0x00, 0xf0, 0x00, 0xf8, 0x00, 0xbf], "")).expect("free");
        let symbol = Symbol { address: 0x8000, size: 4, name: String::from("reset") };
        let (mut out, symbols) = (Vec::new(), Symbols::from_iter([symbol]));
        let mut listing = InstructionListing::new(&mut out, format, &program, &symbols);
        let sink: &mut dyn Sink<ArmEtm> = &mut listing;
        let events = [
            atom(Some(0x8000), Isa::Arm),
            atom(Some(0x8004), Isa::Arm),
            atom(Some(0x100), Isa::Thumb),
            Event::Trigger { when: 1 },
            atom(Some(0x104), Isa::Thumb),
            atom(None, Isa::Thumb),
        ];
        for (packet, event) in (0..).zip(&events) {
            sink.event(Place { packet, byte: 2 * packet, bit: 0 }, event);
        }
        sink.fault(&Fault::new(FaultClass::Truncated, Place { packet: 6, byte: 12, bit: 0 }));
        let instructions = listing.finish().expect("memory is writable");
        (out, instructions)
    }

    #[test]
    fn instructions_of_atoms_are_joined_to_ranges() {
        let (out, instructions) = written(InstructionFormat::Text);
        let counts = Counts { packets: 0, events: 5, errors: 1, warnings: 0 };
        assert_eq!(instructions, Instructions { counts, unknown: 1 });
        let expected =
            "       0          0.0 instructions first=0x8000 end=0x8008 count=2 encoding=a32 function=reset
       2          4.0 instructions first=0x100 end=0x106 count=2 encoding=t32
       5         10.0 instructions count=1 encoding=t32
error: truncated at packet 6, byte 12.0
";
        assert_eq!(String::from_utf8(out).expect("text"), expected);
    }

    #[test]
    fn ranges_are_json_lines() {
        let (out, _) = written(InstructionFormat::JsonLines);
        let text = String::from_utf8(out).expect("text");
        let first = r#"{"place":{"packet":0,"byte":0,"bit":0},"instructions":{"first":"0x8000","end":"0x8008","count":2,"encoding":"a32","function":"reset"}}"#;
        assert_eq!(text.lines().next(), Some(first));
        assert_eq!(text.lines().count(), 4);
    }

    #[test]
    fn addresses_are_words_of_eight_bytes() {
        let (out, instructions) = written(InstructionFormat::Addresses);
        let words: Vec<u64> =
            out.chunks(8).map(|word| u64::from_le_bytes(word.try_into().expect("eight"))).collect();
        assert_eq!(words, [0x8000, 0x8004, 0x100, 0x104]);
        assert_eq!(instructions.unknown, 1);
    }
}
