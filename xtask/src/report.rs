//! `traceproof report`: pages, summaries and comparisons of results.

use std::fs;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use traceproof_report::changes::{self, Change};
use traceproof_report::{Error, Inputs, Matrices, Mutants, Performance, Run, badge, html, markdown, merge};
use traceproof_vectors::bounded;

use crate::exit::{Exit, Failure, Outcome};
use crate::files::{check_apart, print, read_text, write};

/// Make pages and summaries of results, compare them, merge them.
///
/// Results are files that `conformance --json` wrote.
#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    Html(Html),
    Markdown(Markdown),
    Badge(Badge),
    Diff(Diff),
    Merge(Merge),
    Open(Open),
}

/// Write one HTML file: subjects and cases, failures by cause, clauses, charts.
///
/// The file needs no network and no other file. The same results give the same bytes.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  traceproof report html results.json -o report.html
  traceproof report html acme.json other.json --earlier acme-before.json -o report.html
  traceproof report html results.json --saboteurs kills.json --performance bench.json -o report.html")]
pub(crate) struct Html {
    #[command(flatten)]
    sources: Sources,
    /// The file to write; `-` is the standard output.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
}

/// Print a summary in Markdown, e.g. for the summary of a CI job.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  traceproof report markdown results.json >> \"$GITHUB_STEP_SUMMARY\"
  traceproof report markdown results.json --earlier before.json")]
pub(crate) struct Markdown {
    #[command(flatten)]
    sources: Sources,
    /// Write to this file.
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    output: PathBuf,
}

/// Print a badge (SVG) with the number of checks that pass.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  traceproof report badge results.json -o badge.svg")]
pub(crate) struct Badge {
    /// The results.
    results: PathBuf,
    /// Write to this file.
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    output: PathBuf,
}

/// Compare two runs: new failures, failures with another outcome, fixed checks.
///
/// Exit code 1 if the later run has new failures or failures with another outcome.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  traceproof report diff before.json after.json")]
pub(crate) struct Diff {
    /// The results of the earlier run.
    before: PathBuf,
    /// The results of the later run.
    after: PathBuf,
    /// Largest number of checks of each kind.
    #[arg(long, value_name = "N", default_value = "50")]
    limit: usize,
}

/// Merge the results of the parts of one run (`conformance --shard`).
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  traceproof report merge part-1.json part-2.json part-3.json -o results.json")]
pub(crate) struct Merge {
    /// The results of the parts: of one subject, suite and version.
    #[arg(required = true)]
    parts: Vec<PathBuf>,
    /// The file to write; `-` is the standard output.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
}

/// Show a page in the browser.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  traceproof report open report.html
  traceproof report open results.json")]
pub(crate) struct Open {
    /// A page (`.html`), or results, of which a page is made in the directory for temporary files.
    #[arg(required = true)]
    files: Vec<PathBuf>,
}

/// What a page or a summary is made of.
#[derive(Debug, Args)]
struct Sources {
    /// The results, a file for each subject.
    #[arg(required = true)]
    results: Vec<PathBuf>,
    /// Results of an earlier run, to show what changed.
    #[arg(long, value_name = "FILE")]
    earlier: Option<PathBuf>,
    /// The kill matrix that `saboteurs --matrix` wrote.
    #[arg(long, value_name = "FILE")]
    saboteurs: Option<PathBuf>,
    /// What `cargo xtask mutants --json` wrote.
    #[arg(long, value_name = "FILE")]
    mutants: Option<PathBuf>,
    /// Measurements that `bench --json` printed. May be repeated.
    #[arg(long, value_name = "FILE")]
    performance: Vec<PathBuf>,
}

/// The files of [`Sources`], read.
struct Read {
    runs: Vec<Run>,
    earlier: Option<Run>,
    kills: Option<Matrices>,
    mutants: Option<Mutants>,
    performance: Vec<Performance>,
}

impl Sources {
    /// Every file that is read.
    fn files(&self) -> impl Iterator<Item = &PathBuf> {
        self.results
            .iter()
            .chain(&self.earlier)
            .chain(&self.saboteurs)
            .chain(&self.mutants)
            .chain(&self.performance)
    }

    fn read(&self) -> Result<Read, Failure> {
        Ok(Read {
            runs: self.results.iter().map(|path| results(path)).collect::<Result<_, _>>()?,
            earlier: self.earlier.as_deref().map(results).transpose()?,
            mutants: self.mutants.as_deref().map(|path| parsed(path, Mutants::parse)).transpose()?,
            kills: self.saboteurs.as_deref().map(|path| parsed(path, Matrices::parse)).transpose()?,
            performance: self
                .performance
                .iter()
                .map(|path| parsed(path, Performance::parse))
                .collect::<Result<_, _>>()?,
        })
    }
}

impl Read {
    fn inputs(&self) -> Inputs<'_> {
        Inputs {
            runs: &self.runs,
            earlier: self.earlier.as_ref(),
            kills: self.kills.as_ref(),
            mutants: self.mutants.as_ref(),
            performance: &self.performance,
        }
    }
}

pub(crate) fn run(verb: &Verb) -> Outcome {
    match verb {
        Verb::Html(Html { sources, output }) => {
            write_apart(sources.files(), output, &made(html(sources.read()?.inputs()))?)?;
        }
        Verb::Markdown(Markdown { sources, output }) => {
            write_apart(sources.files(), output, &made(markdown(sources.read()?.inputs()))?)?;
        }
        Verb::Badge(Badge { results: path, output }) => {
            write_apart([path], output, &made(badge(&results(path)?))?)?;
        }
        Verb::Diff(arguments) => return diff(arguments),
        Verb::Merge(Merge { parts, output }) => {
            let texts = parts.iter().map(|path| text(path)).collect::<Result<Vec<_>, _>>()?;
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            let merged = merge(&texts).map_err(|error| named_part(parts, error))?;
            write_apart(parts, output, &merged)?;
        }
        Verb::Open(Open { files }) => show_in_browser(files)?,
    }
    Ok(Exit::Ok)
}

/// The page of one run, from the text of its results.
pub(crate) fn page(results: &str) -> Result<String, Error> {
    html(Inputs { runs: &[Run::parse(results)?], ..Inputs::default() })
}

fn diff(arguments: &Diff) -> Outcome {
    let (before, after) = (results(&arguments.before)?, results(&arguments.after)?);
    print(&changes::text(&before, &after, arguments.limit))?;
    let is_worse = |change| matches!(change, Change::NewFailure | Change::OtherFailure);
    let worse = changes::changes(&before, &after).iter().any(|changed| is_worse(changed.change));
    Ok(if worse { Exit::Failed } else { Exit::Ok })
}

/// Opens a page, or makes one that stays when the program ends.
fn show_in_browser(files: &[PathBuf]) -> Result<(), Failure> {
    let is_page = |path: &PathBuf| path.extension().is_some_and(|end| end == "html" || end == "htm");
    let page = match files {
        [page] if is_page(page) => fs::canonicalize(page).map_err(|error| Failure::file(page, error))?,
        files => {
            let runs = files.iter().map(|path| results(path)).collect::<Result<Vec<_>, _>>()?;
            let text = made(html(Inputs { runs: &runs, ..Inputs::default() }))?;
            let failed = |error| Failure::usage(format!("the page cannot be written: {error}"));
            let file =
                tempfile::Builder::new().prefix("traceproof-").suffix(".html").tempfile().map_err(failed)?;
            let (_, path) = file.keep().map_err(|error| failed(error.error))?;
            write(&path, &text)?;
            path
        }
    };
    print(&format!("{}\n", page.display()))?;
    open::that(&page).map_err(|error| Failure::usage(format!("no browser can be started: {error}")))
}

/// With the name of the file in place of its number.
fn named_part(parts: &[PathBuf], error: Error) -> Failure {
    match error {
        Error::Parts { part, message } => match parts.get(part) {
            Some(path) => Failure::file(path, message),
            None => Failure::usage(message),
        },
        other => Failure::usage(other.to_string()),
    }
}

fn made(result: Result<String, Error>) -> Result<String, Failure> {
    result.map_err(|error| Failure::usage(error.to_string()))
}

fn text(path: &Path) -> Result<String, Failure> {
    read_text(path, bounded::LISTING)
}

/// Writes what was made of these files.
fn write_apart<'a>(
    inputs: impl IntoIterator<Item = &'a PathBuf>,
    output: &Path,
    text: &str,
) -> Result<(), Failure> {
    let inputs: Vec<_> = inputs.into_iter().map(|path| ("the input", Some(path.as_path()))).collect();
    check_apart(&inputs, &[("--output", Some(output))])?;
    write(output, text)
}

fn parsed<T>(path: &Path, parse: fn(&str) -> Result<T, Error>) -> Result<T, Failure> {
    // The message of an error in JSON begins with line and column.
    parse(&text(path)?).map_err(|error| match error {
        Error::Json { .. } => Failure::usage(format!("{}:{error}", path.display())),
        other => Failure::file(path, other),
    })
}

fn results(path: &Path) -> Result<Run, Failure> {
    parsed(path, Run::parse)
}
