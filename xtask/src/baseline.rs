//! `traceproof baseline`: updates the list of a subject's known failures.

use std::io;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use traceproof_conformance::baseline::{self, Baseline, BaselineError, NewCause, Signature, UNEXPLAINED};
use traceproof_conformance::generate::DEFAULT_GENERATED_PER_FAMILY;
use traceproof_conformance::report::text::counted;
use traceproof_conformance::{Options, run};
use traceproof_vectors::bounded;

use crate::exit::{Exit, Failure, Outcome};
use crate::files::{check_apart, print, read_text, write};
use crate::program::invocation;
use crate::progress::{progress_bar, show};
use crate::select::Select;
use crate::subjects::{Starting, files_of, named};

/// Known failures of a subject.
#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    Update(Arguments),
}

/// Judge the subject and update its baseline to the outcome.
///
/// The file is edited in place: comments, order and reasons stay. Lines whose check passes or no longer exists are
/// removed, lines with another outcome are changed, and new failures are added at the end with the reason UNEXPLAINED,
/// one entry for each cause. Until you replace that reason, the baseline counts as stale.
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

/// The baseline of a subject of this name.
pub(crate) fn read_baseline(path: &Path, subject: &str) -> Result<Baseline, Failure> {
    let text = read_text(path, bounded::TOML)?;
    let baseline =
        Baseline::parse(&text).map_err(|error| Failure::usage(format!("{}:{error}", path.display())))?;
    if baseline.subject != subject {
        let of = &baseline.subject;
        return Err(Failure::usage(format!(
            "{} is the baseline of `{of}`, not of `{subject}`",
            path.display()
        )));
    }
    Ok(baseline)
}

pub(crate) fn run_verb(verb: &Verb) -> Outcome {
    let Verb::Update(Arguments { select, subject, baseline: path }) = verb;
    let files = files_of(subject);
    let inputs: Vec<_> = files.iter().map(|file| ("--subject", Some(file.as_path()))).collect();
    check_apart(&inputs, &[("the baseline", Some(path))])?;
    let before = match bounded::read_to_string(path, bounded::TOML) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(Failure::file(path, error)),
    };
    let wrong = |error: BaselineError| Failure::usage(format!("{}:{error}", path.display()));
    if !before.trim().is_empty() {
        // Before the suite is judged.
        Baseline::parse(&before).map_err(wrong)?;
    }
    let subject = named(subject, &Starting::default())?;
    let options = Options {
        directories: select.suite.directories()?,
        selection: select.selection()?,
        generated: 0..DEFAULT_GENERATED_PER_FAMILY,
        opcodes: true,
        programs: !select.is_narrow(),
        invocation: invocation(),
        ..Options::default()
    };
    let bar = progress_bar("cases");
    let run = run(&subject, &options, &|progress| show(&bar, progress));
    bar.finish_and_clear();
    let run = run.map_err(|errors| Failure::suite(&errors))?;
    let whole = !select.is_narrow() && select.family.is_empty();
    let update = baseline::update(&before, &run, whole).map_err(wrong)?;
    write(path, &update.text)?;
    let mut text = added(&update.causes);
    for (what, checks) in [("changed", &update.changed), ("removed", &update.removed)] {
        text.push_str(&rows(what, checks));
    }
    let [added, changed, removed] = [&update.added, &update.changed, &update.removed].map(Vec::len);
    text.push_str(&format!("{}: {added} added, {changed} changed, {removed} removed\n", path.display()));
    if added > 0 {
        let (causes, checks) = (counted(update.causes.len(), "cause"), counted(added, "check"));
        text.push_str(&format!("replace {UNEXPLAINED} by reason and finding of {causes}, {checks}\n"));
    }
    print(&text)?;
    Ok(Exit::Ok)
}

/// Maximum number of causes, and of lines of a list, so that the output is short even for hundreds of checks.
const SHOWN: usize = 24;

/// New failures by cause, with an example each.
fn added(causes: &[NewCause]) -> String {
    let mut text = String::new();
    for NewCause { kind, checks } in causes.iter().take(SHOWN) {
        text.push_str(&format!("added: {}  {kind}\n", counted(checks.len(), "check")));
        text.extend(checks.first().map(|example| format!("  such as {example}\n")));
    }
    text.extend(more(causes.len()).map(|more| format!("added: {}\n", counted(more, "other cause"))));
    text
}

/// The first lines of a list.
fn rows(what: &str, checks: &[Signature]) -> String {
    let mut text: String = checks.iter().take(SHOWN).map(|check| format!("{what}: {check}\n")).collect();
    text.extend(more(checks.len()).map(|more| format!("{what}: {}\n", counted(more, "other check"))));
    text
}

/// Number of items of a list that are not shown, if any.
fn more(count: usize) -> Option<usize> {
    count.checked_sub(SHOWN).filter(|more| *more > 0)
}
