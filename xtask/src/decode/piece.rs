//! A contiguous trace, as the arguments want it written.

use std::io::{Read, Write};

use traceproof_conformance::family::FamilyRules;
use traceproof_conformance::listing::{
    Counts, FoldedStacks, Format, InstructionListing, Instructions, Listing, Statistics, Windowed,
};
use traceproof_conformance::report::text::counted;
use traceproof_conformance::stream::{self, StreamSink};
use traceproof_conformance::symbols::Symbols;
use traceproof_vectors::{Decoder, Place, Program};

use super::arguments::{Arguments, What};
use crate::code_notes::Notes;
use crate::exit::Failure;

/// Decodes a trace, or the pieces of one.
pub(super) struct Pieces<'a, P: FamilyRules> {
    pub(super) arguments: &'a Arguments,
    pub(super) parameters: &'a P::Parameters,
    pub(super) program: &'a Program,
    what: What,
    statistics: Statistics,
    /// Of an imported log: the line of each packet.
    lines: Vec<u32>,
    /// Of the ELF files, where they are shown.
    symbols: Symbols,
    /// Of the code, where it is wanted.
    notes: Option<Notes>,
    decoder: Box<dyn Decoder<P>>,
}

/// What went wrong with a piece.
pub(super) enum Broken {
    /// The input cannot be read.
    Input(std::io::Error),
    Other(Failure),
}

impl From<std::io::Error> for Broken {
    fn from(error: std::io::Error) -> Self {
        Self::Other(error.into())
    }
}

impl<'a, P: FamilyRules> Pieces<'a, P> {
    pub(super) fn new(
        arguments: &'a Arguments,
        parameters: &'a P::Parameters,
        program: &'a Program,
    ) -> Result<Self, Failure> {
        let mut decoder = P::reference_decoder();
        decoder.set_limits(&arguments.limiting.limits());
        let what = arguments.what::<P>(program)?;
        let symbols = match what {
            What::Instructions(_) | What::Folded => arguments.target.symbols()?,
            What::Listing(..) | What::Statistics(_) => Symbols::default(),
        };
        let notes = arguments.noting.notes::<P>(parameters, &arguments.target)?;
        let (statistics, lines) = (Statistics::default(), Vec::new());
        Ok(Self { arguments, parameters, program, what, statistics, lines, symbols, notes, decoder })
    }

    /// With the line of the file that each packet was imported from.
    pub(super) fn with_lines(self, lines: Vec<u32>) -> Self {
        Self { lines, ..self }
    }

    /// Decodes the next piece and adds its counts.
    pub(super) fn decode(
        &mut self,
        input: &mut dyn Read,
        out: &mut dyn Write,
        total: &mut Counts,
    ) -> Result<(), Broken> {
        let refused = |refusal| Broken::Other(Failure::usage(format!("{refusal}")));
        self.decoder.begin(self.parameters, self.program).map_err(refused)?;
        let counts = match self.what {
            What::Listing(format, layer, raw) => {
                let lines = std::mem::take(&mut self.lines);
                let listing = Listing::<P, _>::new(out, format, layer).with_lines(lines);
                let listing = if raw { listing.with_bytes() } else { listing };
                self.read(input, listing)?.finish()?
            }
            What::Instructions(format) => {
                let (symbols, notes) = (std::mem::take(&mut self.symbols), self.notes.take());
                let mut listing = InstructionListing::new(out, format, self.program, &symbols);
                if let Some(notes) = &notes {
                    listing = listing.with_notes(notes);
                }
                let written = self.read(input, listing)?.finish()?;
                (self.symbols, self.notes) = (symbols, notes);
                noted(written)
            }
            What::Folded => {
                let symbols = std::mem::take(&mut self.symbols);
                let stacks = FoldedStacks::new(self.program, &symbols);
                let written = self.read(input, stacks)?.finish(out)?;
                self.symbols = symbols;
                noted(written)
            }
            What::Statistics(_) => {
                let mut statistics = std::mem::take(&mut self.statistics);
                statistics.begin_stream();
                self.statistics = self.read(input, statistics)?;
                return Ok(());
            }
        };
        add(total, counts);
        Ok(())
    }

    /// Writes what is known only after the last piece.
    pub(super) fn finish(&mut self, out: &mut dyn Write, total: &mut Counts) -> Result<(), Failure> {
        let What::Statistics(format) = self.what else { return Ok(()) };
        add(total, self.statistics.finish());
        match format {
            Format::Text => out.write_all(self.statistics.text().as_bytes())?,
            Format::JsonLines => {
                let line = serde_json::json!({ "statistics": self.statistics });
                writeln!(out, "{line}")?;
            }
        }
        Ok(out.flush()?)
    }

    /// Reads the whole input, or up to the end of the part that is listed.
    fn read<S: StreamSink<P>>(&mut self, input: &mut dyn Read, sink: S) -> Result<S, Broken> {
        let mut windowed = Windowed::new(self.arguments.window(), sink);
        stream::decode(self.decoder.as_mut(), input, &mut windowed).map_err(Broken::Input)?;
        let (sink, first) = windowed.into_parts();
        // Where every byte has a meaning, it is a transport header.
        let skips = P::SYNC_POINTS.is_some_and(|points| points.garbage.is_some());
        if let Some(Place { byte: skipped @ 1.., .. }) = first.filter(|_| skips) {
            let skipped = usize::try_from(skipped).unwrap_or(usize::MAX);
            eprintln!("note: {} before the first packet", counted(skipped, "byte"));
        }
        Ok(sink)
    }
}

/// The counts; a note says for how many instructions there is no address.
fn noted(written: Instructions) -> Counts {
    if written.unknown > 0 {
        let unknown = usize::try_from(written.unknown).unwrap_or(usize::MAX);
        eprintln!("note: the trace has no address for {}", counted(unknown, "instruction"));
    }
    written.counts
}

fn add(total: &mut Counts, counts: Counts) {
    total.packets += counts.packets;
    total.events += counts.events;
    total.errors += counts.errors;
    total.warnings += counts.warnings;
}
