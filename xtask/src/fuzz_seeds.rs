//! `traceproof fuzz-seeds`: fuzz corpora made from the shipped cases.

use std::path::PathBuf;

use clap::Args;
use traceproof_conformance::suite::Directories;
use traceproof_fuzz::{all_seeds, seeds};

use crate::exit::{Exit, Failure, Outcome};
use crate::files::print;

/// Write the seeds that the shipped cases give into the fuzz corpora.
///
/// Files with other names, such as inputs that the fuzzer found, stay as they are.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  traceproof fuzz-seeds
  cargo +nightly fuzz run riscv_etrace_flow -- -max_total_time=600")]
pub(crate) struct Arguments {
    /// Where the corpora are; as it stands, below the root of a checkout.
    #[arg(long, default_value = "fuzz/corpus")]
    corpus: PathBuf,
}

pub(crate) fn run(arguments: &Arguments) -> Outcome {
    let seeds = all_seeds(&Directories::default()).map_err(|errors| Failure::suite(&errors))?;
    let written =
        seeds::write(&arguments.corpus, &seeds).map_err(|error| Failure::file(&arguments.corpus, error))?;
    print(&format!("{written} seeds written to {}\n", arguments.corpus.display()))?;
    Ok(Exit::Ok)
}
