//! Arguments and exit code of `traceproof decode`.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use traceproof_conformance::family::FamilyRules;
use traceproof_conformance::listing::{self, Counts};
use traceproof_conformance::report::text::counted;
use traceproof_vectors::arm::{Framing, TraceId};
use traceproof_vectors::notation::parse_u64;
use traceproof_vectors::{Program, ProtocolId};

use crate::exit::{Exit, Failure};
use crate::files::{Target, check_apart};
use crate::limits::Limiting;

/// Decode a trace with the reference decoder.
///
/// Errors of the trace are lines of the output, at their position: `error: truncated at packet 3, byte 12.0`. Decoding
/// resumes at the next sync point; the exit code is then 1.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  traceproof decode --family riscv-etrace --elf program.elf trace.bin
  traceproof decode --family riscv-etrace --layer packets trace.bin
  traceproof decode --family itanium-pmu --text registers.txt
  cat trace.bin | traceproof decode --family riscv-etrace --elf program.elf --format jsonl -
  traceproof decode --family arm-etm --trace-id 2 --parameters etm.toml port.bin
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
    /// Only this source of a snapshot: its name, or its trace ID such as 0x10. May be repeated.
    #[arg(long, value_name = "NAME|ID")]
    pub(crate) source: Vec<String>,
    #[command(flatten)]
    pub(super) frames: Frames,
    /// Only packets or only events. Without code to follow: packets.
    #[arg(long, value_name = "LAYER")]
    layer: Option<Layer>,
    /// Columns for people, or one JSON object per line.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,
    /// The trace; `-` is the standard input. A directory with a snapshot.ini is an OpenCSD snapshot: every source is
    /// decoded, with its registers and the memory of its core.
    #[arg(default_value = "-")]
    pub(crate) input: PathBuf,
    /// Where to write; `-` is the standard output.
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    pub(crate) output: PathBuf,
}

/// A trace in the frames of a CoreSight formatter.
#[derive(Debug, Args)]
pub(super) struct Frames {
    /// The trace is in frames of 16 bytes of a CoreSight formatter (TPIU, ETB): decode this source of it.
    #[arg(long, value_name = "ID", value_parser = parse_trace_id, conflicts_with_all = ["text", "source"])]
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
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    Text,
    Jsonl,
}

impl Arguments {
    /// The output is none of the inputs.
    pub(super) fn check_files(&self) -> Result<(), Failure> {
        let input = (!self.input.is_dir()).then_some(self.input.as_path());
        if input.is_none() && is_inside(&self.output, &self.input) {
            let output = self.output.display();
            return Err(Failure::usage(format!(
                "--output {output} is a file of the snapshot; nothing was written"
            )));
        }
        let mut inputs = vec![("the trace", input)];
        inputs.extend(self.target.files());
        check_apart(&inputs, &[("--output", Some(&self.output))])
    }

    /// The layer to list over this program.
    pub(crate) fn layer<P: FamilyRules>(&self, program: &Program) -> Option<traceproof_vectors::Layer> {
        match self.layer {
            Some(Layer::Packets) => Some(traceproof_vectors::Layer::Packets),
            Some(Layer::Events) => Some(traceproof_vectors::Layer::Events),
            None if P::EVENTS_NEED_CODE && program.sections().is_empty() => {
                Some(traceproof_vectors::Layer::Packets)
            }
            None => None,
        }
    }

    pub(crate) const fn format(&self) -> listing::Format {
        match self.format {
            Format::Text => listing::Format::Text,
            Format::Jsonl => listing::Format::JsonLines,
        }
    }
}

/// Whether a file is there, in a directory or below.
fn is_inside(file: &Path, directory: &Path) -> bool {
    match (file.canonicalize(), directory.canonicalize()) {
        (Ok(file), Ok(directory)) => file.starts_with(directory),
        _ => false,
    }
}

/// The exit code for the counts of the listing.
pub(crate) fn exit_for(counts: Counts) -> Exit {
    if counts.errors == 0 {
        return Exit::Ok;
    }
    let errors = usize::try_from(counts.errors).unwrap_or(usize::MAX);
    let packets = usize::try_from(counts.packets).unwrap_or(usize::MAX);
    eprintln!("the trace has {} in {}", counted(errors, "error"), counted(packets, "packet"));
    Exit::Failed
}
