//! `traceproof bench`: throughput of the references, and of a peer where the build has one.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use serde::Serialize;
use traceproof_conformance::family::{
    self, Bench, BenchReport, BenchRequest, FamilyRules, Measurement, Memory, Visitor,
};
use traceproof_vectors::Family;

use crate::exit::{Exit, Failure, Outcome};
use crate::files::print;

/// Measure the throughput of the reference models of a family, and of a peer where the build has one.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  traceproof bench
  cargo run --release -p traceproof --features peers -- bench --json
  traceproof bench --workload mix.rv64gc memory --repetitions 100
  cargo run --release -p traceproof --features peers -- bench --family arm-etm --rounds 5")]
pub(crate) struct Arguments {
    /// The family; without it the first one that has workloads.
    #[arg(long, value_name = "FAMILY")]
    family: Option<Family>,
    /// Programs and traces whose name contains this text; without any, those that are large enough. May be repeated.
    #[arg(long, alias = "program", value_name = "TEXT")]
    workload: Vec<String>,
    /// Rounds per side; the median counts.
    #[arg(long, value_name = "N", default_value = "15")]
    rounds: usize,
    /// What to measure, e.g. instructions or packets; without any, everything. May be repeated.
    #[arg(long, value_name = "TASK")]
    task: Vec<String>,
    /// Directory of captures, for workloads that are made of them.
    #[arg(long, value_name = "DIRECTORY", default_value = "../shared/data/opencsd-snapshots")]
    captures: PathBuf,
    /// MiB of each trace that is generated or repeated.
    #[arg(long, value_name = "N", default_value = "64")]
    mebibytes: usize,
    /// Print JSON instead of a table.
    #[arg(long)]
    json: bool,
    #[command(subcommand)]
    verb: Option<Verb>,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Peak memory of decoding one program's trace many times over, as one stream.
    Memory {
        /// How many times.
        #[arg(long, value_name = "N", default_value = "1")]
        repetitions: u64,
    },
}

pub(crate) fn run(arguments: &Arguments) -> Outcome {
    let has_bench = |family: &Family| matches!(family::visit(*family, BenchOf), Some(Some(_)));
    let first = || family::families().into_iter().find(has_bench);
    let family = arguments.family.or_else(first).ok_or_else(|| Failure::usage("no family has workloads"))?;
    let bench = family::visit(family, BenchOf).ok_or_else(|| Failure::no_such_family(family))?;
    let bench = bench.ok_or_else(|| Failure::usage(format!("{family} has no workloads")))?;
    if let Some(unknown) =
        arguments.task.iter().find(|name| !bench.tasks.iter().any(|task| task.name == **name))
    {
        let known: Vec<&str> = bench.tasks.iter().map(|task| task.name).collect();
        return Err(Failure::usage(format!("no task is called `{unknown}`; known are {}", known.join(", "))));
    }
    let request = BenchRequest {
        rounds: arguments.rounds,
        workloads: arguments.workload.clone(),
        tasks: arguments.task.clone(),
        captures: arguments.captures.clone(),
        bytes: arguments.mebibytes.saturating_mul(1 << 20),
    };
    let text = match &arguments.verb {
        Some(Verb::Memory { repetitions }) => {
            let measure =
                bench.memory.ok_or_else(|| Failure::usage(format!("{family} has no such workload")))?;
            let memory =
                measure(&request, *repetitions).map_err(|error| Failure::usage(error.to_string()))?;
            if arguments.json { json(&memory)? } else { of_memory(&memory) }
        }
        None => {
            let report = (bench.run)(&request).map_err(|error| Failure::usage(error.to_string()))?;
            if arguments.json { json(&report)? } else { table(&report) }
        }
    };
    print(&text)?;
    Ok(Exit::Ok)
}

struct BenchOf;

impl Visitor for BenchOf {
    type Output = Option<Bench>;

    fn visit<P: FamilyRules>(self) -> Option<Bench> {
        P::BENCH
    }
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

fn table(report: &BenchReport) -> String {
    let peer = report.peer.as_deref().unwrap_or("no peer in this build");
    let mut text: String = report.skipped.iter().map(|reason| format!("NOT MEASURED: {reason}\n")).collect();
    text.push_str(&format!(
        "{}, medians of {} alternating rounds; peer: {peer}\n\n",
        report.family, report.rounds
    ));
    text.push_str(&format!(
        "{:<14}{:<20}{:>12}{:>12}{:>14}{:>14}{:>8}\n",
        "workload", "task", "units", "peer saw", "reference", "peer", "ratio"
    ));
    for row in &report.measurements {
        let Measurement { workload, task, units, reference, peer, peer_units, peer_agrees, ratio, .. } = row;
        let none = if *peer_agrees == Some(false) { "wrong result" } else { "-" };
        let peer = peer.map_or_else(|| none.to_owned(), mega);
        let ratio = ratio.map_or_else(|| String::from("-"), |ratio| format!("{ratio:.1}x"));
        let seen = peer_units.map_or_else(|| String::from("-"), |units| units.to_string());
        text.push_str(&format!(
            "{workload:<14}{:<20}{units:>12}{seen:>12}{:>14}{peer:>14}{ratio:>8}  {}/s\n",
            task.title,
            mega(*reference),
            task.unit
        ));
    }
    text
}

fn mega(per_second: f64) -> String {
    format!("{:.1} M", per_second / 1e6)
}
