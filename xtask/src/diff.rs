//! `traceproof diff`: where two decoders disagree.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use traceproof_conformance::Subject;
use traceproof_conformance::differential::{self, Differences, Options};
use traceproof_conformance::family::{self, FamilyRules, Visitor};
use traceproof_conformance::report::differences as report;

use crate::baseline::read_baseline;
use crate::exit::{Exit, Failure, Outcome};
use crate::files::{check_apart, print, write};
use crate::progress::counter;
use crate::select::{Seeds, Select};
use crate::subjects::{Starting, files_of, named};

/// Compare two decoders on the wires of the cases, on generated streams, on both with one byte changed, and on streams
/// one after the other, also after a reset.
///
/// Compares what both claim and deliver. Disagreements are grouped by kind; the smallest stream of each kind is shrunk,
/// unit by unit, and shown with the first difference: the first subject on the left, the second on the right. Neither
/// side is the oracle: the specification decides.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  traceproof diff --subject reference --subject acme.toml --family arm-etm
  traceproof diff --subject reference --subject acme.toml --generated 10000 --json differences.json
  traceproof diff --subject reference --subject acme.toml --time 60 --findings findings")]
pub(crate) struct Arguments {
    #[command(flatten)]
    select: Select,
    /// The subjects to compare, given twice: reference, a peer, or a file; as for `conformance`.
    #[arg(long, value_name = "NAME|FILE.toml", required = true)]
    subject: Vec<String>,
    #[command(flatten)]
    seeds: Seeds,
    /// Take this long for each protocol: four fifths to compare, after all streams mutated ones, and the rest to shrink
    /// what was found. Default: until all streams are compared.
    #[arg(long, value_name = "SECONDS")]
    time: Option<u64>,
    /// Write the smallest stream of each kind to this directory, for `fuzz promote`.
    #[arg(long, value_name = "DIR")]
    findings: Option<PathBuf>,
    /// Known failures of the second subject (docs/baselines.md): names the findings that a kind may belong to, and says
    /// which ones were found again. Known kinds do not count for the exit code.
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,
    /// No streams with a byte changed.
    #[arg(long)]
    undamaged: bool,
    /// Write all results as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments) -> Outcome {
    let [first, second] = arguments.subject.as_slice() else {
        return Err(Failure::usage("--subject must be given twice"));
    };
    let subjects = [files_of(first), files_of(second)].concat();
    let mut inputs = vec![("--baseline", arguments.baseline.as_deref())];
    inputs.extend(subjects.iter().map(|file| ("--subject", Some(file.as_path()))));
    let outputs = [("--json", arguments.json.as_deref())];
    check_apart(&inputs, &outputs)?;
    arguments.select.suite.check_outputs(&outputs)?;
    let (first, second) = (named(first, &Starting::default())?, named(second, &Starting::default())?);
    let options = Options {
        directories: arguments.select.suite.directories()?,
        selection: arguments.select.selection()?,
        seeds: arguments.seeds.numbers(500)?,
        damage: !arguments.undamaged,
        time: arguments.time.map(Duration::from_secs),
        baseline: arguments.baseline.as_deref().map(|path| read_baseline(path, second.name())).transpose()?,
    };
    let mut all = Vec::new();
    for protocol in family::IMPLEMENTED {
        if options.selection.takes_protocol(protocol) {
            let compare = Compare { first: &first, second: &second, options: &options };
            all.extend(family::visit(protocol, compare).transpose()?.flatten());
        }
    }
    if let Some(path) = &arguments.json {
        let text = serde_json::to_string_pretty(&all).map_err(|error| Failure::file(path, error))?;
        write(path, text + "\n")?;
    }
    if let Some(directory) = &arguments.findings {
        save(directory, &all)?;
    }
    print(&report::report(&all, first.name(), second.name()))?;
    if all.iter().all(|differences| differences.compared == 0) {
        return Err(Failure::usage("there is no stream that both take"));
    }
    let known = all.iter().all(Differences::are_known);
    Ok(if known { Exit::Ok } else { Exit::Failed })
}

/// Writes the files of the smallest streams.
fn save(directory: &Path, all: &[Differences]) -> Result<(), Failure> {
    for cluster in all.iter().flat_map(|differences| &differences.clusters) {
        fs::create_dir_all(directory).map_err(|error| Failure::file(directory, error))?;
        let path = directory.join(differential::file_name(&cluster.kind));
        write(&path, &cluster.file)?;
    }
    Ok(())
}

struct Compare<'a> {
    first: &'a Subject,
    second: &'a Subject,
    options: &'a Options,
}

impl Visitor for Compare<'_> {
    type Output = Result<Option<Differences>, Failure>;

    fn visit<P: FamilyRules>(self) -> Self::Output {
        let Self { first, second, options } = self;
        if !(first.has_decoder::<P>() && second.has_decoder::<P>()) {
            return Ok(None);
        }
        let bar = counter(&format!("streams of {}", P::ID));
        let progress = |streams: usize| {
            if streams.is_multiple_of(50) {
                bar.set_position(streams as u64);
            }
        };
        let found = differential::differences::<P>(first, second, options, &progress);
        bar.finish_and_clear();
        found.map(Some).map_err(|errors| Failure::suite(&errors))
    }
}
