//! Runs OpenCSD in a second process of this executable, under a hidden verb.

use std::env;
use std::io;

use traceproof_conformance::peers::opencsd::{self, HostCommand};

use crate::exit::{Exit, Failure, Outcome};

/// The verb; hidden, because users never type it.
pub(crate) const VERB: &str = "opencsd-host";

/// Host processes are started from this executable.
pub(crate) fn name_this_executable() {
    if let Ok(program) = env::current_exe() {
        opencsd::set_command(HostCommand { program, arguments: vec![VERB.to_owned()] });
    }
}

/// Answers questions until there are none.
pub(crate) fn run() -> Outcome {
    match opencsd::serve(io::stdin().lock(), io::stdout().lock()) {
        Ok(()) => Ok(Exit::Ok),
        Err(error) => Err(Failure::Message { exit: Exit::Broken, message: error.to_string() }),
    }
}
