//! `traceproof bench`: how fast, beside a peer where the build has one.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use serde::Serialize;
use traceproof_conformance::arm_etm::bench::{Etmv3Measurement, Etmv3Report, etmv3};
use traceproof_conformance::riscv_etrace::bench::{self, Measurement, Memory, Options, Report, Task};

use crate::exit::{Exit, Failure, Outcome};
use crate::files::print;

/// Measure the throughput of the reference models on the large shipped programs.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  traceproof bench
  traceproof bench --json
  traceproof bench --program mix.rv64gc memory --repetitions 100
  traceproof bench --rounds 5 etmv3")]
pub(crate) struct Arguments {
    /// Programs whose name contains this text; without any, those of at least 100 000 instructions. May be repeated.
    #[arg(long, value_name = "TEXT")]
    program: Vec<String>,
    /// Rounds per side; the median counts.
    #[arg(long, value_name = "N", default_value = "15")]
    rounds: usize,
    /// What to measure; without any, everything. May be repeated.
    #[arg(long, value_name = "TASK")]
    task: Vec<Wanted>,
    /// Print JSON instead of a table.
    #[arg(long)]
    json: bool,
    #[command(subcommand)]
    verb: Option<Verb>,
}

/// The tasks as a person asks for them.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Wanted {
    /// Bytes to every program counter.
    Instructions,
    /// Bytes to ranges of instructions.
    Ranges,
    /// Bytes to packets.
    Packets,
    /// Ingress port to bytes.
    Encode,
}

impl From<Wanted> for Task {
    fn from(wanted: Wanted) -> Self {
        match wanted {
            Wanted::Instructions => Self::DecodeInstructions,
            Wanted::Ranges => Self::DecodeRanges,
            Wanted::Packets => Self::ReadPackets,
            Wanted::Encode => Self::Encode,
        }
    }
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Peak memory of decoding one program's trace many times over, as one stream.
    Memory {
        /// How many times.
        #[arg(long, value_name = "N", default_value = "1")]
        repetitions: u64,
    },
    /// ETMv3 instead: a real capture, if it is at hand, and a generated trace, beside OpenCSD where the build has it.
    Etmv3 {
        /// Directory of the captures.
        #[arg(long, value_name = "DIRECTORY", default_value = "../shared/data/opencsd-snapshots")]
        captures: PathBuf,
        /// MiB of each trace.
        #[arg(long, value_name = "N", default_value = "64")]
        mebibytes: usize,
    },
}

pub(crate) fn run(arguments: &Arguments) -> Outcome {
    let text = match &arguments.verb {
        Some(Verb::Memory { repetitions }) => {
            let memory = bench::memory(&arguments.program, *repetitions).map_err(failure)?;
            if arguments.json { json(&memory)? } else { of_memory(&memory) }
        }
        Some(Verb::Etmv3 { captures, mebibytes }) => {
            let report = etmv3(arguments.rounds, captures, mebibytes.saturating_mul(1 << 20))
                .map_err(|error| Failure::usage(error.to_string()))?;
            if arguments.json { json(&report)? } else { of_etmv3(&report) }
        }
        None => {
            let tasks = arguments.task.iter().copied().map(Task::from).collect();
            let options = Options { rounds: arguments.rounds, programs: arguments.program.clone(), tasks };
            let report = bench::run(&options).map_err(failure)?;
            if arguments.json { json(&report)? } else { table(&report) }
        }
    };
    print(&text)?;
    Ok(Exit::Ok)
}

fn failure(error: bench::BenchError) -> Failure {
    Failure::usage(error.to_string())
}

fn json(value: &impl Serialize) -> Result<String, Failure> {
    let text = serde_json::to_string_pretty(value).map_err(|error| Failure::usage(error.to_string()))?;
    Ok(text + "\n")
}

fn of_memory(memory: &Memory) -> String {
    let shown = |kib: Option<u64>| kib.map_or_else(|| String::from("unknown"), |kib| format!("{kib} KiB"));
    format!(
        "{}: {} instructions decoded; peak memory {} before, {} after\n",
        memory.program,
        memory.instructions,
        shown(memory.before_kib),
        shown(memory.after_kib)
    )
}

fn table(report: &Report) -> String {
    let peer = report.peer.as_deref().unwrap_or("no peer in this build");
    let mut text = format!("medians of {} alternating rounds; peer: {peer}\n\n", report.rounds);
    text.push_str(&format!(
        "{:<14}{:<20}{:>12}{:>14}{:>14}{:>8}\n",
        "program", "task", "units", "reference", "peer", "ratio"
    ));
    for Measurement { program, task, units, reference, peer, peer_agrees, ratio } in &report.measurements {
        let none = if *peer_agrees == Some(false) { "wrong result" } else { "-" };
        let peer = peer.map_or_else(|| none.to_owned(), mega);
        let ratio = ratio.map_or_else(|| String::from("-"), |ratio| format!("{ratio:.1}x"));
        text.push_str(&format!(
            "{program:<14}{:<20}{units:>12}{:>14}{peer:>14}{ratio:>8}  {}\n",
            task.name(),
            mega(*reference),
            task.unit()
        ));
    }
    text
}

fn of_etmv3(report: &Etmv3Report) -> String {
    let peer = report.peer.as_deref().unwrap_or("no peer in this build");
    let mut text: String = report.skipped.iter().map(|reason| format!("NOT MEASURED: {reason}\n")).collect();
    text.push_str(&format!("medians of {} alternating rounds; peer: {peer}\n\n", report.rounds));
    text.push_str(&format!(
        "{:<12}{:<14}{:>10}{:>12}{:>12}{:>16}{:>16}{:>8}\n",
        "trace", "level", "MB", "units", "peer saw", "reference", "peer", "ratio"
    ));
    for row in &report.measurements {
        let Etmv3Measurement { workload, level, bytes, units, reference, peer, peer_units, ratio } = row;
        let shown = |rate: &f64| format!("{:.1} MB/s", rate / 1e6);
        text.push_str(&format!(
            "{workload:<12}{:<14}{:>10.1}{units:>12}{:>12}{:>16}{:>16}{:>8}\n",
            level.name(),
            *bytes as f64 / 1e6,
            peer_units.map_or_else(|| String::from("-"), |units| units.to_string()),
            shown(reference),
            peer.as_ref().map_or_else(|| String::from("-"), shown),
            ratio.map_or_else(|| String::from("-"), |ratio| format!("{ratio:.1}x")),
        ));
    }
    text
}

fn mega(per_second: f64) -> String {
    format!("{:.1} M", per_second / 1e6)
}
