//! The verbs for hardware as a program of their own; `traceproof` has the same ones.
#![forbid(unsafe_code)]

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use traceproof_rtl::verbs::{CheckRtlArguments, VectorsVerb, check_rtl, vectors};

/// Stimulus packs for trace encoders in hardware, and the judge of what they answer.
#[derive(Debug, Parser)]
#[command(name = "traceproof-rtl", version, max_term_width = 110)]
struct Arguments {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Stimulus packs.
    #[command(subcommand)]
    Vectors(VectorsVerb),
    CheckRtl(CheckRtlArguments),
}

fn main() -> ExitCode {
    let done = match &Arguments::parse().verb {
        Verb::Vectors(verb) => vectors(verb),
        Verb::CheckRtl(arguments) => check_rtl(arguments),
    };
    match done {
        Ok(done) => {
            print!("{}", done.text);
            ExitCode::from(u8::from(!done.passed))
        }
        Err(problem) => {
            eprintln!("error: {problem}");
            ExitCode::from(2)
        }
    }
}
