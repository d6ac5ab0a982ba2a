//! `traceproof fuzz`: fuzzing decoders of other repositories.

mod init;
mod minimize;
mod promote;

use std::path::Path;

use clap::Subcommand;
use traceproof_vectors::bounded;

use crate::exit::{Failure, Outcome};

/// Fuzz your decoder against the reference decoder (docs/fuzz-your-decoder.md).
#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    Init(init::Arguments),
    Promote(promote::Arguments),
    Minimize(minimize::Arguments),
}

pub(crate) fn run(verb: &Verb) -> Outcome {
    match verb {
        Verb::Init(arguments) => init::run(arguments),
        Verb::Promote(arguments) => promote::run(arguments),
        Verb::Minimize(arguments) => minimize::run(arguments),
    }
}

/// The bytes of the file of a stream.
fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    bounded::read(path, bounded::TOML).map_err(|error| Failure::file(path, error))
}
