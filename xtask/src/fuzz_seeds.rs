//! `cargo xtask fuzz-seeds`: the fuzz corpora, made anew from the shipped cases.

use std::path::PathBuf;

use clap::Args;
use traceproof_conformance::suite::{Directories, Suite};
use traceproof_fuzz::seeds;
use traceproof_vectors::arm_etm::ArmEtm;
use traceproof_vectors::itanium_pmu::ItaniumPmu;
use traceproof_vectors::riscv_etrace::RiscvEtrace;

use crate::exit::{Exit, Failure, Outcome};
use crate::files::print;

/// Write the seeds that the shipped cases give into the fuzz corpora.
///
/// Files with other names, such as minimised findings, stay as they are.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  cargo xtask fuzz-seeds
  cargo +nightly fuzz run riscv_etrace_flow -- -max_total_time=600")]
pub(crate) struct Arguments {
    /// Where the corpora are.
    #[arg(long, default_value = concat!(env!("CARGO_MANIFEST_DIR"), "/../fuzz/corpus"))]
    corpus: PathBuf,
}

pub(crate) fn run(arguments: &Arguments) -> Outcome {
    let directories = Directories::default();
    let suite = Suite::<RiscvEtrace>::load(&directories).map_err(|errors| Failure::suite(&errors))?;
    let mut seeds = seeds::from_cases(&suite.files);
    let suite = Suite::<ArmEtm>::load(&directories).map_err(|errors| Failure::suite(&errors))?;
    seeds.extend(seeds::from_arm_etm_cases(&suite.files));
    let suite = Suite::<ItaniumPmu>::load(&directories).map_err(|errors| Failure::suite(&errors))?;
    seeds.extend(seeds::from_itanium_pmu_cases(&suite.files));
    let written =
        seeds::write(&arguments.corpus, &seeds).map_err(|error| Failure::file(&arguments.corpus, error))?;
    print(&format!("{written} seeds written to {}\n", arguments.corpus.display()))?;
    Ok(Exit::Ok)
}
