//! Arguments and exit code of `traceproof decode`.

use std::ops::Range;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use traceproof_conformance::family::FamilyRules;
use traceproof_conformance::listing::{self, Counts, InstructionFormat, Window};
use traceproof_conformance::report::text::counted;
use traceproof_vectors::arm::{Framing, TraceId};
use traceproof_vectors::notation::parse_u64;
use traceproof_vectors::{Program, ProtocolId};

use crate::code_notes::Noting;
use crate::exit::{Exit, Failure};
use crate::files::{Target, check_apart, check_outside};
use crate::import::Import;
use crate::limits::Limiting;
use crate::subjects::{Starting, files_of};

/// Decode a trace with the reference decoder.
///
/// Errors of the trace are lines of the output, at their position: `error: truncated at packet 3, byte 12.0`. Decoding
/// resumes at the next sync point; the exit code is then 1.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  traceproof decode --family riscv-etrace --elf program.elf trace.bin
  traceproof decode --family riscv-etrace --layer packets --raw trace.bin
  traceproof decode --family riscv-etrace --elf program.elf --statistics trace.bin
  traceproof decode --family riscv-etrace --elf program.elf --disassemble --source-lines trace.bin
  traceproof decode --family riscv-etrace --elf program.elf --address 0x80000000..0x80000100 trace.bin
  traceproof decode --family itanium-pmu --text registers.txt
  cat trace.bin | traceproof decode --family riscv-etrace --elf program.elf --format jsonl -
  traceproof decode --family arm-ete-unit --import csv --layer events registers.csv
  traceproof decode --family arm-etm --trace-id 2 --parameters etm.toml port.bin
  traceproof decode --family riscv-etrace --elf program.elf --subject acme.toml trace.bin
  traceproof decode snapshot-directory --source ETM_0")]
pub(crate) struct Arguments {
    /// The protocol, e.g. riscv-etrace. A snapshot declares its protocols; there it selects sources.
    #[arg(long, value_name = "FAMILY")]
    pub(crate) family: Option<ProtocolId>,
    #[command(flatten)]
    pub(crate) target: Target,
    #[command(flatten)]
    pub(crate) limiting: Limiting,
    /// The trace is text: a transport unit per line, as in the `wire` of a case.
    #[arg(long)]
    pub(super) text: bool,
    #[command(flatten)]
    pub(super) import: Import,
    /// Only this source of a snapshot: its name, or its trace ID such as 0x10. May be repeated.
    #[arg(long, value_name = "NAME|ID")]
    pub(crate) source: Vec<String>,
    #[command(flatten)]
    pub(super) frames: Frames,
    /// Only packets, only events, or the executed instructions as ranges of consecutive addresses. Without code to
    /// follow: packets.
    #[arg(long, value_name = "LAYER")]
    layer: Option<Layer>,
    /// Columns for people; one JSON object per line; the address of each executed instruction as 8 bytes, least
    /// significant first (`pc`), which `encode --format pc` reads; or executed instructions by call stack (`folded`),
    /// with the symbols of --elf, for flame graphs.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,
    /// Also list the bytes of each packet.
    #[arg(long, conflicts_with = "statistics")]
    raw: bool,
    /// Instead of the listing: packets, bytes, events and faults by kind, bits per instruction, cycles and timestamps.
    #[arg(long, conflicts_with = "layer")]
    statistics: bool,
    #[command(flatten)]
    pub(super) noting: Noting,
    /// Where the trace has errors, do not look for a parameter without which it would have none.
    #[arg(long)]
    no_hints: bool,
    #[command(flatten)]
    part: Part,
    /// Decode with this subject, too, and show the packets around the first difference from the reference decoder;
    /// names as for `conformance`. The exit code is 1 if there is a difference.
    #[arg(long, value_name = "NAME|FILE.toml", conflicts_with_all = LISTING_OPTIONS)]
    pub(super) subject: Option<String>,
    #[command(flatten)]
    pub(super) starting: Starting,
    /// The trace; `-` is the standard input. A directory with a snapshot.ini is an OpenCSD snapshot: every source is
    /// decoded, with its registers and the memory of its core.
    #[arg(default_value = "-")]
    pub(crate) input: PathBuf,
    /// Where to write; `-` is the standard output.
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    pub(crate) output: PathBuf,
}

/// Options that a comparison with a subject does not have.
const LISTING_OPTIONS: [&str; 12] = [
    "disassemble",
    "source_lines",
    "raw",
    "statistics",
    "layer",
    "format",
    "import",
    "trace_id",
    "source",
    "packets",
    "bytes",
    "address",
];

/// A part of a trace. Everything before it is decoded, too.
#[derive(Clone, Debug, Args)]
struct Part {
    /// Only these packets, e.g. 100..120.
    #[arg(long, value_name = "FIRST..END", value_parser = parse_range)]
    packets: Option<Range<u64>>,
    /// Only packets that begin at these bytes of the trace, e.g. 0x1000..0x2000.
    #[arg(long, value_name = "FIRST..END", value_parser = parse_range)]
    bytes: Option<Range<u64>>,
    /// Only executed instructions at these addresses, e.g. 0x80000000..0x80000100, and errors.
    #[arg(long, value_name = "LOW..HIGH", value_parser = parse_range)]
    address: Option<Range<u64>>,
}

fn parse_range(text: &str) -> Result<Range<u64>, String> {
    match text.split_once("..").map(|(first, end)| (parse_u64(first), parse_u64(end))) {
        Some((Some(first), Some(end))) if first < end => Ok(first..end),
        _ => Err(format!(
            "`{text}` is no range, such as 100..120 or 0x1000..0x2000; the end is not part of it"
        )),
    }
}

/// A trace in the frames of a CoreSight formatter.
#[derive(Debug, Args)]
pub(super) struct Frames {
    /// The trace is in frames of 16 bytes of a CoreSight formatter (TPIU, ETB): decode this source of it.
    #[arg(long, value_name = "ID", value_parser = parse_trace_id, conflicts_with_all = ["text", "import", "source"])]
    pub(super) trace_id: Option<TraceId>,
    /// What lies between the frames: nothing, full synchronisation packets, half-word ones as well.
    #[arg(long, value_name = "FRAMING", default_value = "memory", requires = "trace_id")]
    pub(super) framing: FramingName,
    /// The byte at which the first frame begins, without synchronisation packets. Otherwise the first byte from which
    /// on frames have the fewest faults.
    #[arg(long, value_name = "BYTE", requires = "trace_id")]
    pub(super) first_frame: Option<usize>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum FramingName {
    Memory,
    Normal,
    Continuous,
}

impl FramingName {
    pub(super) const fn framing(self) -> Framing {
        match self {
            Self::Memory => Framing::Memory,
            Self::Normal => Framing::Normal,
            Self::Continuous => Framing::Continuous,
        }
    }
}

fn parse_trace_id(text: &str) -> Result<TraceId, String> {
    let id = parse_u64(text).and_then(|id| TraceId::new(u8::try_from(id).ok()?));
    id.ok_or_else(|| format!("`{text}` is no trace ID: 0 to 0x7f"))
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Layer {
    Packets,
    Events,
    Instructions,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    Text,
    Jsonl,
    Pc,
    Folded,
}

/// What is written of a trace.
#[derive(Clone, Copy, Debug)]
pub(super) enum What {
    /// Packets, events and faults; with the bytes of packets.
    Listing(listing::Format, Option<traceproof_vectors::Layer>, bool),
    Instructions(InstructionFormat),
    /// Instructions by call stack.
    Folded,
    /// Statistics, as JSON or not.
    Statistics(listing::Format),
}

impl Arguments {
    /// The outputs are none of the inputs.
    pub(super) fn check_files(&self) -> Result<(), Failure> {
        let outputs = [("--output", Some(self.output.as_path())), self.starting.output()];
        let input = (!self.input.is_dir()).then_some(self.input.as_path());
        if input.is_none() {
            check_outside("the snapshot", &self.input, &outputs)?;
        }
        let subject = self.subject.as_deref().map(files_of).unwrap_or_default();
        let mut inputs = vec![("the trace", input)];
        inputs.extend(self.target.files());
        inputs.extend(subject.iter().map(|file| ("--subject", Some(file.as_path()))));
        check_apart(&inputs, &outputs)
    }

    /// What to write for a trace of this program.
    pub(super) fn what<P: FamilyRules>(&self, program: &Program) -> Result<What, Failure> {
        use traceproof_vectors::Layer::{Events, Packets};
        let format = self.format();
        let without_code = P::EVENTS_NEED_CODE && program.sections().is_empty();
        let layer = self.layer.or_else(|| self.noting.is_given().then_some(Layer::Instructions));
        let lists_instructions = matches!(layer, Some(Layer::Instructions)) && !self.statistics;
        if self.noting.is_given() && !lists_instructions {
            return Err(Failure::usage(
                "--disassemble and --source-lines list instructions: --layer instructions",
            ));
        }
        let instructions = match (self.format, layer) {
            (Format::Pc, None | Some(Layer::Instructions)) => Some(InstructionFormat::Addresses),
            (Format::Pc | Format::Folded, _) if self.noting.is_given() => {
                return Err(Failure::usage("--disassemble and --source-lines are text or jsonl"));
            }
            (Format::Pc | Format::Folded, Some(Layer::Packets | Layer::Events)) => {
                return Err(Failure::usage("--format pc and folded have no packets or events"));
            }
            (Format::Text, Some(Layer::Instructions)) => Some(InstructionFormat::Text),
            (Format::Jsonl, Some(Layer::Instructions)) => Some(InstructionFormat::JsonLines),
            (_, _) => None,
        };
        let folded = self.format == Format::Folded;
        if (folded || instructions.is_some() || self.part.address.is_some())
            && (P::INSTRUCTIONS.is_none() || without_code)
        {
            let missing = if without_code { "--elf or --section is missing" } else { "traces none" };
            return Err(Failure::usage(format!("there are no addresses of instructions: {missing}")));
        }
        Ok(match (instructions, layer) {
            (_, _) if folded && !self.statistics && !self.raw => What::Folded,
            (Some(_), _) if self.statistics => {
                return Err(Failure::usage("--statistics are text or jsonl"));
            }
            (Some(_), _) if self.raw => return Err(Failure::usage("--raw lists the bytes of packets")),
            (Some(format), _) => What::Instructions(format),
            (None, _) if self.statistics => What::Statistics(format),
            (None, Some(Layer::Packets)) => What::Listing(format, Some(Packets), self.raw),
            (None, Some(_)) => What::Listing(format, Some(Events), self.raw),
            (None, None) if without_code => What::Listing(format, Some(Packets), self.raw),
            (None, None) => What::Listing(format, None, self.raw),
        })
    }

    pub(super) const fn format(&self) -> listing::Format {
        match self.format {
            Format::Text | Format::Pc | Format::Folded => listing::Format::Text,
            Format::Jsonl => listing::Format::JsonLines,
        }
    }

    /// Whether errors are followed by the parameters without which there would be none.
    pub(super) fn has_hints(&self) -> bool {
        !self.no_hints && self.format == Format::Text
    }

    /// Whether the output is binary.
    pub(super) fn is_binary(&self) -> bool {
        self.format == Format::Pc
    }

    /// Whether the output has lines for people or programs about sources and pieces, not only what is asked for.
    pub(super) const fn has_headers(&self) -> bool {
        matches!(self.format, Format::Text | Format::Jsonl)
    }

    /// The part to list.
    pub(super) fn window(&self) -> Window {
        let Part { packets, bytes, address } = self.part.clone();
        Window { packets, bytes, addresses: address }
    }
}

/// The exit code for the counts of the listing.
pub(crate) fn exit_for(counts: Counts) -> Exit {
    if counts.errors == 0 {
        return Exit::Ok;
    }
    let errors = usize::try_from(counts.errors).unwrap_or(usize::MAX);
    let packets = usize::try_from(counts.packets).unwrap_or(usize::MAX);
    eprintln!("the trace has {}; {} could be read", counted(errors, "error"), counted(packets, "packet"));
    if counts.packets < counts.errors {
        eprintln!(
            "hint: is it a trace of this --family, and are --parameters those of its encoder (docs/parameters.md)? A \
             trace in frames needs --trace-id, a text --text"
        );
    }
    Exit::Failed
}
