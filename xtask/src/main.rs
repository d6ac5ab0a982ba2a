//! The command line of Traceproof: `traceproof <verb>`. One file per verb; arguments and printing only.
#![forbid(unsafe_code)]

mod adaptor;
mod baseline;
mod bench;
mod check_rtl;
mod ci;
mod code_notes;
mod conformance;
mod coverage;
mod crates;
mod decode;
mod diff;
mod encode;
mod exit;
mod explain;
mod export;
mod files;
mod fuzz;
mod fuzz_seeds;
mod import;
mod limits;
mod list;
mod mutants;
#[cfg(feature = "peer-opencsd")]
mod opencsd_host;
mod program;
mod programs;
mod progress;
mod report;
mod saboteurs;
mod select;
mod settings;
mod shell;
mod show;
mod smoke;
mod snapshot;
mod subjects;
mod suite;
mod vectors;

use std::panic;
use std::process::ExitCode;
use std::thread;

use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
use traceproof_conformance::visible;

use exit::{Exit, Failure};

/// Conformance tests for processor-trace decoders and encoders.
#[derive(Debug, Parser)]
#[command(name = "traceproof", version, max_term_width = 110)]
#[command(after_help = "Exit codes:
  0  success
  1  a check failed, or the trace has errors
  2  wrong arguments, an unreadable file, impossible parameters
  3  the subject cannot be started, or an internal error occurred
  4  a baseline is stale
  5  the suite itself is invalid

Examples:
  traceproof conformance
  traceproof conformance --filter etr-0042
  traceproof explain etr-0042
  traceproof decode --family riscv-etrace --elf program.elf trace.bin")]
struct Arguments {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    Conformance(conformance::Arguments),
    List(list::Arguments),
    Show(show::Arguments),
    Explain(explain::Arguments),
    Coverage(coverage::Arguments),
    Diff(diff::Arguments),
    Smoke(smoke::Arguments),
    #[command(subcommand)]
    Baseline(baseline::Verb),
    Decode(decode::Arguments),
    Encode(encode::Arguments),
    Settings(settings::Arguments),
    Programs(programs::Arguments),
    Saboteurs(saboteurs::Arguments),
    Mutants(mutants::Arguments),
    Export(export::Arguments),
    #[command(subcommand)]
    Fuzz(fuzz::Verb),
    FuzzSeeds(fuzz_seeds::Arguments),
    Bench(bench::Arguments),
    #[command(subcommand)]
    Vectors(vectors::Verb),
    CheckRtl(check_rtl::Arguments),
    #[command(subcommand)]
    Adaptor(adaptor::Verb),
    Ci(ci::Arguments),
    Completions(shell::Completions),
    #[command(name = "man")]
    Manual(shell::Manual),
    #[command(subcommand)]
    Report(report::Verb),
    #[cfg(feature = "peer-opencsd")]
    #[command(name = opencsd_host::VERB, hide = true)]
    OpencsdHost,
}

fn main() -> ExitCode {
    keep_subjects_quiet();
    #[cfg(feature = "peer-opencsd")]
    opencsd_host::name_this_executable();
    let arguments = match program::spell(Arguments::command())
        .try_get_matches()
        .and_then(|matches| Arguments::from_arg_matches(&matches))
    {
        Ok(arguments) => arguments,
        Err(error) => return not_run(&error),
    };
    let done = panic::catch_unwind(|| match &arguments.verb {
        Verb::Conformance(arguments) => conformance::run(arguments),
        Verb::List(arguments) => list::run(arguments),
        Verb::Show(arguments) => show::run(arguments),
        Verb::Explain(arguments) => explain::run(arguments),
        Verb::Coverage(arguments) => coverage::run(arguments),
        Verb::Diff(arguments) => diff::run(arguments),
        Verb::Smoke(arguments) => smoke::run(arguments),
        Verb::Baseline(verb) => baseline::run_verb(verb),
        Verb::Decode(arguments) => decode::run(arguments),
        Verb::Encode(arguments) => encode::run(arguments),
        Verb::Settings(arguments) => settings::run(arguments),
        Verb::Programs(arguments) => programs::run(arguments),
        Verb::Saboteurs(arguments) => saboteurs::run(arguments),
        Verb::Mutants(arguments) => mutants::run(arguments),
        Verb::Export(arguments) => export::run(arguments),
        Verb::Fuzz(verb) => fuzz::run(verb),
        Verb::FuzzSeeds(arguments) => fuzz_seeds::run(arguments),
        Verb::Bench(arguments) => bench::run(arguments),
        Verb::Vectors(verb) => vectors::run(verb),
        Verb::CheckRtl(arguments) => check_rtl::run(arguments),
        Verb::Adaptor(verb) => adaptor::run(verb),
        Verb::Ci(arguments) => ci::run(arguments),
        Verb::Completions(arguments) => shell::completions(Arguments::command(), arguments),
        Verb::Manual(arguments) => shell::manual(Arguments::command(), arguments),
        Verb::Report(verb) => report::run(verb),
        #[cfg(feature = "peer-opencsd")]
        Verb::OpencsdHost => opencsd_host::run(),
    });
    match done {
        Ok(Ok(exit)) => exit.into(),
        Ok(Err(Failure::Closed)) => Exit::Ok.into(),
        Ok(Err(Failure::Message { exit, message })) => {
            eprintln!("error: {}", visible::lines(&message));
            exit.into()
        }
        Err(_) => Exit::Broken.into(),
    }
}

/// Prints help, version or what is wrong with the arguments.
fn not_run(error: &clap::Error) -> ExitCode {
    let told = error.print().map_err(Failure::from);
    let meant = if error.use_stderr() { Exit::Usage } else { Exit::Ok };
    match told {
        Err(Failure::Message { exit, message }) => {
            eprintln!("error: {message}");
            exit.into()
        }
        Ok(()) | Err(Failure::Closed) => meant.into(),
    }
}

/// A subject that panics is a verdict in the report, not a message in between.
fn keep_subjects_quiet() {
    let usual = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        if thread::current().name() != Some(traceproof_conformance::THREAD_NAME) {
            usual(info);
        }
    }));
}
