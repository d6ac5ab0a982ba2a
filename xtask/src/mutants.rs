//! `cargo xtask mutants`: starts the crate `mutants` of the checkout, which is not part of this program.

use std::env;
use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

use clap::Args;

use crate::exit::{Exit, Failure, Outcome};

/// Change the reference models in one place at a time, and see whether the suite fails (only in a checkout).
#[derive(Debug, Args)]
#[command(disable_help_flag = true)]
pub(crate) struct Arguments {
    /// See `--help`.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENTS")]
    arguments: Vec<OsString>,
}

pub(crate) fn run(arguments: &Arguments) -> Outcome {
    // Both are set by `cargo run`.
    let (Some(package), Some(cargo)) = (env::var_os("CARGO_MANIFEST_DIR"), env::var_os("CARGO")) else {
        return Err(Failure::usage("mutants works only in a checkout of Traceproof"));
    };
    // Not in the directory of the package: paths among the arguments are those of the user.
    let status = Command::new(cargo)
        .args(["run", "--quiet", "--release", "--package", "traceproof-mutants", "--manifest-path"])
        .arg(Path::new(&package).join("Cargo.toml"))
        .arg("--")
        .args(&arguments.arguments)
        .status()
        .map_err(|error| Failure::usage(format!("cargo cannot be started: {error}")))?;
    Ok(match status.code() {
        Some(0) => Exit::Ok,
        Some(1) => Exit::Failed,
        Some(2) => Exit::Usage,
        _ => Exit::Broken,
    })
}
