//! `smoke`: is a subject fit to be judged?

use clap::Args;
use traceproof_conformance::smoke::{of_program, of_subject};

use crate::conformance::style;
use crate::exit::{Exit, Failure, Outcome};
use crate::files::print;
use crate::subjects::{self, Named, Starting};
use crate::suite::SuiteArgument;

/// Ask a subject what is needed to judge it at all, in less than two seconds: the first thing for a new adaptor.
///
/// Does it say hello, keep to the protocol tdut/2 also where the runner would not go, refuse what it does not claim, take
/// what it claims, and give the same twice and in pieces? A line for each probe; where one fails, what was sent, what came
/// and what to do. Whether it is right, `conformance` says.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  traceproof smoke --subject acme.toml
  traceproof smoke --subject reference")]
pub(crate) struct Arguments {
    /// Who is asked: reference; a program by the file that says how to start it (docs/adaptors.md); or an independent
    /// implementation such as riscv-etrace (in builds with `--features peers`).
    #[arg(long, value_name = "NAME|FILE.toml")]
    subject: String,
    #[command(flatten)]
    suite: SuiteArgument,
    #[command(flatten)]
    starting: Starting,
}

pub(crate) fn run(arguments: &Arguments) -> Outcome {
    let directories = arguments.suite.directories()?;
    let report = match subjects::find(&arguments.subject, &arguments.starting)? {
        Named::Program(file) => of_program(&file.command, &file.limits, &directories),
        Named::Here(subject) => of_subject(&subject, &directories),
    };
    let report = report.map_err(|errors| Failure::suite(&errors))?;
    print(&traceproof_conformance::report::smoke::report(&report, style()))?;
    Ok(if report.is_success() { Exit::Ok } else { Exit::Failed })
}
