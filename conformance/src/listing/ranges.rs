//! Ranges of instructions as text. A program runs the same ranges over and over, so the latest texts are kept.

use std::convert::Infallible;
use std::io::Write as _;

use traceproof_vectors::Program;
use traceproof_vectors::notation::HexText;

use super::InstructionFormat;
use super::known_texts::{KnownTexts, number};
use super::notes::{CodeNotes, noted};
use crate::family::Run;
use crate::symbols::Symbols;

/// The longest text that is kept with notes: a dozen instructions are usual.
const LONGEST_WITH_NOTES: usize = 2_048;

/// Writes ranges, and remembers them.
#[derive(Debug)]
pub(super) struct KnownRanges<'a> {
    format: InstructionFormat,
    program: &'a Program,
    symbols: &'a Symbols,
    notes: Option<&'a dyn CodeNotes>,
    known: KnownTexts<Run>,
}

impl<'a> KnownRanges<'a> {
    pub(super) const fn new(format: InstructionFormat, program: &'a Program, symbols: &'a Symbols) -> Self {
        Self { format, program, symbols, notes: None, known: KnownTexts::new() }
    }

    /// Explains each instruction.
    pub(super) const fn with_notes(mut self, notes: &'a dyn CodeNotes) -> Self {
        self.notes = Some(notes);
        self.known.set_longest(LONGEST_WITH_NOTES);
        self
    }

    /// What follows the place in the line of a range, its end included.
    pub(super) fn text(&mut self, run: Run) -> &[u8] {
        let Self { format, program, symbols, notes, .. } = *self;
        let written: Result<_, Infallible> = self.known.text(number(run), &run, |text| {
            let notes = notes.map(|notes| noted(run, program, notes, format)).unwrap_or_default();
            match format {
                InstructionFormat::JsonLines => json(text, run, symbols, &notes),
                InstructionFormat::Text | InstructionFormat::Addresses => {
                    columns(text, run, symbols);
                    text.extend_from_slice(&notes);
                }
            }
            Ok(())
        });
        match written {
            Ok(text) => text,
            Err(never) => match never {},
        }
    }
}

/// `instructions first=… end=… count=… encoding=… function=…`.
fn columns(text: &mut Vec<u8>, Run { first, end, count, encoding }: Run, symbols: &Symbols) {
    text.extend_from_slice(b"instructions");
    for (name, address) in [(" first=", first), (" end=", end)] {
        if let Some(address) = address {
            text.extend_from_slice(name.as_bytes());
            text.extend_from_slice(HexText::new(address).as_bytes());
        }
    }
    text.extend_from_slice(b" count=");
    text.extend_from_slice(itoa::Buffer::new().format(count).as_bytes());
    text.extend_from_slice(b" encoding=");
    text.extend_from_slice(encoding.name().as_bytes());
    if let Some(function) = first.and_then(|first| symbols.name(first)) {
        text.extend_from_slice(b" function=");
        text.extend_from_slice(function.as_bytes());
    }
    text.push(b'\n');
}

/// The same as a member of an object that has begun, and the end of the object; `notes` are further members.
fn json(text: &mut Vec<u8>, Run { first, end, count, encoding }: Run, symbols: &Symbols, notes: &[u8]) {
    text.extend_from_slice(br#","instructions":{"#);
    for (name, address) in [("first", first), ("end", end)] {
        if let Some(address) = address {
            // A vector cannot fail to be written to.
            let _ = write!(text, r#""{name}":"{}","#, HexText::new(address).as_str());
        }
    }
    let _ = write!(text, r#""count":{count},"encoding":"{}""#, encoding.name());
    if let Some(function) = first.and_then(|first| symbols.name(first)) {
        let _ = write!(text, r#","function":{}"#, serde_json::Value::from(function));
    }
    text.extend_from_slice(notes);
    text.extend_from_slice(b"}}\n");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::family::Encoding;
    use crate::listing::known_texts::KEPT;
    use crate::symbols::Symbol;

    fn run(first: u64, count: u64) -> Run {
        Run { first: Some(first), end: Some(first + 4 * count), count, encoding: Encoding::Riscv }
    }

    /// More ranges than are kept, twice, so that some replace others: each has its own text.
    #[test]
    fn a_kept_range_is_that_range() {
        let symbols = Symbols::from_iter([Symbol { address: 0, size: 0, name: String::from("f") }]);
        let program = Program::new();
        let mut known = KnownRanges::new(InstructionFormat::Text, &program, &symbols);
        for number in (0..2 * KEPT as u64).chain(0..2 * KEPT as u64) {
            let (first, count) = (4 * (number / 3) + 4, number % 3 + 1);
            let end = first + 4 * count;
            let expected = format!(
                "instructions first={first:#x} end={end:#x} count={count} encoding=riscv function=f+{first:#x}\n"
            );
            let text = known.text(run(first, count));
            assert_eq!(String::from_utf8_lossy(text), expected);
        }
        assert!(known.known.kept() > KEPT / 2);
    }

    #[test]
    fn long_names_are_written_but_not_kept() {
        let name = "f\"".repeat(256);
        let symbols = Symbols::from_iter([Symbol { address: 0x10, size: 0, name: name.clone() }]);
        let program = Program::new();
        let mut known = KnownRanges::new(InstructionFormat::JsonLines, &program, &symbols);
        for _ in 0..2 {
            let text = known.text(run(0x10, 1)).to_vec();
            let object = [b"{\"place\":0", text.as_slice()].concat();
            let read: serde_json::Value = serde_json::from_slice(&object).expect("an object");
            assert_eq!(read["instructions"]["function"], serde_json::json!(name));
            assert_eq!(read["instructions"]["end"], "0x14");
        }
        assert_eq!(known.known.kept(), 0);
    }
}
