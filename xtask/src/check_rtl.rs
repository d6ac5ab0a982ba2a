//! `traceproof check-rtl`: what a trace encoder in hardware answered.

use std::io::{self, Write as _};

use traceproof_rtl::Problem;
use traceproof_rtl::verbs::{self, Done};

pub(crate) use traceproof_rtl::verbs::CheckRtlArguments as Arguments;

use crate::exit::{Exit, Failure, Outcome};

pub(crate) fn run(arguments: &Arguments) -> Outcome {
    outcome(verbs::check_rtl(arguments))
}

/// Prints what a verb has to say.
pub(crate) fn outcome(done: Result<Done, Problem>) -> Outcome {
    let done = done.map_err(|problem| Failure::usage(problem.to_string()))?;
    io::stdout().write_all(done.text.as_bytes()).map_err(|_| Failure::Closed)?;
    Ok(if done.passed { Exit::Ok } else { Exit::Failed })
}
