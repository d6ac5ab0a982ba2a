//! `cargo xtask decode`: a trace as text.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use traceproof_conformance::family::{self, FamilyRules, Visitor};
use traceproof_conformance::listing::{self, Listing};
use traceproof_conformance::report::text::counted;
use traceproof_conformance::stream;
use traceproof_vectors::Family;

use crate::exit::{Exit, Failure, Outcome};
use crate::files::{Target, create, open};

/// Decode a trace with the reference decoder.
///
/// Errors of the trace are lines of the output, where they happened: `error: truncated at packet 3, byte 12.0`.
/// Decoding goes on at the next synchronisation point; the exit code is 1 then.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  cargo xtask decode --family riscv-etrace --elf program.elf trace.bin
  cargo xtask decode --family riscv-etrace --layer packets trace.bin
  cat trace.bin | cargo xtask decode --family riscv-etrace --elf program.elf --format jsonl -")]
pub(crate) struct Arguments {
    /// The protocol, e.g. riscv-etrace.
    #[arg(long, value_name = "FAMILY")]
    family: Family,
    #[command(flatten)]
    target: Target,
    /// Only packets or only events. Without code to follow: packets.
    #[arg(long, value_name = "LAYER")]
    layer: Option<Layer>,
    /// Columns for people, or one JSON object per line.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,
    /// The trace; `-` is the standard input.
    #[arg(default_value = "-")]
    input: PathBuf,
    /// Where to write; `-` is the standard output.
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    output: PathBuf,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Layer {
    Packets,
    Events,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    Text,
    Jsonl,
}

pub(crate) fn run(arguments: &Arguments) -> Outcome {
    family::visit(arguments.family, Decode(arguments))
        .unwrap_or_else(|| Err(Failure::no_such_family(arguments.family)))
}

struct Decode<'a>(&'a Arguments);

impl Visitor for Decode<'_> {
    type Output = Outcome;

    fn visit<P: FamilyRules>(self) -> Outcome {
        let Arguments { target, layer, format, input, output, .. } = self.0;
        let (program, parameters) = target.load::<P>()?;
        let layer = match layer {
            Some(Layer::Packets) => Some(traceproof_vectors::Layer::Packets),
            Some(Layer::Events) => Some(traceproof_vectors::Layer::Events),
            None if program.sections().is_empty() => Some(traceproof_vectors::Layer::Packets),
            None => None,
        };
        let format = match format {
            Format::Text => listing::Format::Text,
            Format::Jsonl => listing::Format::JsonLines,
        };
        let mut decoder = P::reference_decoder();
        decoder.begin(&parameters, &program).map_err(|refusal| Failure::usage(refusal.to_string()))?;
        let mut input_file = open(input)?;
        let mut listing = Listing::new(create(output)?, format, layer);
        stream::decode::<P, _>(decoder.as_mut(), &mut input_file, &mut listing)
            .map_err(|error| Failure::file(input, error))?;
        let counts = listing.finish()?;
        if counts.errors == 0 {
            return Ok(Exit::Ok);
        }
        let errors = usize::try_from(counts.errors).unwrap_or(usize::MAX);
        let packets = usize::try_from(counts.packets).unwrap_or(usize::MAX);
        eprintln!("the trace has {} in {}", counted(errors, "error"), counted(packets, "packet"));
        Ok(Exit::Failed)
    }
}
