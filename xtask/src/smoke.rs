//! `smoke`: whether a subject can be judged.

use clap::Args;
use traceproof_conformance::smoke::{of_program, of_subject};

use crate::conformance::style;
use crate::exit::{Exit, Failure, Outcome};
use crate::files::{check_apart, print};
use crate::subjects::{self, Named, Starting, files_of};
use crate::suite::SuiteArgument;

/// Check in less than two seconds whether a subject can be judged: the first check of a new adaptor.
///
/// Does it answer `hello`, follow the protocol tdut/2 also in situations that a run does not cause, refuse what it does
/// not claim, accept what it claims, and give the same results when a stream is repeated or split? Prints a line for
/// each probe; a failed probe shows what was sent, what was received and what to do. Correctness is judged by
/// `conformance`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  traceproof smoke --subject acme.toml
  traceproof smoke --subject reference")]
pub(crate) struct Arguments {
    /// The subject: reference; a program, by the file that describes how to start it (docs/adaptors.md); or an
    /// independent implementation such as riscv-etrace (in builds with `--features peers`).
    #[arg(long, value_name = "NAME|FILE.toml")]
    subject: String,
    #[command(flatten)]
    suite: SuiteArgument,
    #[command(flatten)]
    starting: Starting,
}

pub(crate) fn run(arguments: &Arguments) -> Outcome {
    let files = files_of(&arguments.subject);
    let inputs: Vec<_> = files.iter().map(|file| ("--subject", Some(file.as_path()))).collect();
    let outputs = [arguments.starting.output()];
    check_apart(&inputs, &outputs)?;
    arguments.suite.check_outputs(&outputs)?;
    let directories = arguments.suite.directories()?;
    let report = match subjects::find(&arguments.subject, &arguments.starting)? {
        Named::Program(file) => of_program(&file.command, &file.limits, &directories),
        Named::Here(subject) => of_subject(&subject, &directories),
    };
    let report = report.map_err(|errors| Failure::suite(&errors))?;
    print(&traceproof_conformance::report::smoke::report(&report, style()))?;
    Ok(if report.is_success() { Exit::Ok } else { Exit::Failed })
}
