//! `traceproof baseline`: updates the list of a subject's known failures.

use std::fs;
use std::io;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use traceproof_conformance::baseline::{self, UNEXPLAINED};
use traceproof_conformance::generate::DEFAULT_GENERATED_PER_FAMILY;
use traceproof_conformance::report::text::counted;
use traceproof_conformance::{Options, run};

use crate::exit::{Exit, Failure, Outcome};
use crate::files::print;
use crate::program::invocation;
use crate::select::Select;
use crate::subjects::named;

/// Known failures of a subject.
#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    Update(Arguments),
}

/// Judge the subject and update its baseline to the outcome.
///
/// The file is edited in place: comments, order and reasons stay. Lines whose check passes or no longer exists are
/// removed, lines with another outcome are changed, and new failures are added at the end with the reason UNEXPLAINED.
/// Until you replace that reason, the baseline counts as stale.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  traceproof baseline update --subject acme.toml acme.baseline.toml
  traceproof conformance --subject acme.toml --baseline acme.baseline.toml")]
pub(crate) struct Arguments {
    #[command(flatten)]
    select: Select,
    /// The subject, as for `conformance`.
    #[arg(long, value_name = "NAME|FILE.toml")]
    subject: String,
    /// The baseline; created if it does not exist.
    #[arg(value_name = "FILE")]
    baseline: PathBuf,
}

pub(crate) fn run_verb(verb: &Verb) -> Outcome {
    let Verb::Update(Arguments { select, subject, baseline: path }) = verb;
    let before = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(Failure::file(path, error)),
    };
    let subject = named(subject, None)?;
    let options = Options {
        directories: select.suite.directories()?,
        selection: select.selection()?,
        generated: 0..DEFAULT_GENERATED_PER_FAMILY,
        programs: !select.is_narrow(),
        invocation: invocation(),
        ..Options::default()
    };
    let run = run(&subject, &options, &|_| {}).map_err(|errors| Failure::suite(&errors))?;
    let whole = !select.is_narrow() && select.family.is_empty();
    let update = baseline::update(&before, &run, whole)
        .map_err(|error| Failure::usage(format!("{}:{error}", path.display())))?;
    fs::write(path, &update.text).map_err(|error| Failure::file(path, error))?;
    let lists = [("added", &update.added), ("changed", &update.changed), ("removed", &update.removed)];
    let mut text = String::new();
    for (what, checks) in lists {
        text.extend(checks.iter().map(|check| format!("{what}: {check}\n")));
    }
    let [added, changed, removed] = lists.map(|(_, checks)| checks.len());
    text.push_str(&format!("{}: {added} added, {changed} changed, {removed} removed\n", path.display()));
    if added > 0 {
        text.push_str(&format!(
            "replace {UNEXPLAINED} by reason and finding of {}\n",
            counted(added, "check")
        ));
    }
    print(&text)?;
    Ok(Exit::Ok)
}
