//! `traceproof saboteurs`: whether the suite detects deliberate bugs.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use traceproof_conformance::report::kill_matrix;
use traceproof_conformance::saboteurs::matrix::{self, Options};

use crate::exit::{Exit, Failure, Outcome};
use crate::files::{check_apart, print, write};
use crate::progress::progress_bar;
use crate::select::Select;

/// Run decoders and encoders with deliberate bugs, and null subjects, through the cases.
///
/// Fails unless a case detects every bug, and no null subject passes a case that it must not pass.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  traceproof saboteurs
  traceproof saboteurs --family arm-etm --verbose
  traceproof saboteurs --matrix kills.json")]
pub(crate) struct Arguments {
    #[command(flatten)]
    select: Select,
    /// Also print which saboteurs each case detects.
    #[arg(long)]
    verbose: bool,
    /// Write the matrix as JSON.
    #[arg(long, value_name = "FILE")]
    matrix: Option<PathBuf>,
    /// Number of subjects in parallel; default: one per processor.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: Option<u16>,
    /// Seconds that one direction of one case may take.
    #[arg(long, value_name = "SECONDS", default_value = "10")]
    deadline: u64,
}

pub(crate) fn run(arguments: &Arguments) -> Outcome {
    let outputs = [("--matrix", arguments.matrix.as_deref())];
    check_apart(&[], &outputs)?;
    arguments.select.suite.check_outputs(&outputs)?;
    let options = Options {
        selection: arguments.select.selection()?,
        directories: arguments.select.suite.directories()?,
        jobs: arguments.jobs.map(usize::from),
        deadline: Duration::from_secs(arguments.deadline),
        until_known: false,
    };
    let bar = progress_bar("subjects");
    let matrices = matrix::run(&options, &|progress| {
        bar.set_length(progress.total as u64);
        bar.set_position(progress.done as u64);
    });
    bar.finish_and_clear();
    let matrices = matrices.map_err(|errors| Failure::suite(&errors))?;
    if matrices.families.iter().all(|matrix| matrix.cases == 0) {
        return Err(Failure::not_found("no case matches", "list"));
    }
    if let Some(path) = &arguments.matrix {
        let text = kill_matrix::json(&matrices).map_err(|error| Failure::file(path, error))?;
        write(path, text)?;
    }
    print(&kill_matrix::text(&matrices, arguments.verbose))?;
    Ok(if matrices.is_success() { Exit::Ok } else { Exit::Failed })
}
