//! `cargo xtask mutants`: whether the suites detect changes of the reference decoders and encoder models.
#![forbid(unsafe_code)]

mod show;

use std::env;
use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use clap::{Parser, ValueEnum};
use indicatif::{ProgressBar, ProgressStyle};
use traceproof_mutants::{
    Error, Layout, Options, Outside, Progress, Report, Sought, Wanted, build, find, judge, read, read_planted,
};

/// Change the reference decoders and encoder models in one place at a time, and see whether the suite fails.
///
/// All mutants are compiled into one copy of the crates in target/mutants and switched on at run time; unit tests do
/// not count. The kinds of change are those of cargo-mutants. See docs/mutants.md.
#[derive(Debug, Parser)]
#[command(name = "mutants", bin_name = "cargo xtask mutants", max_term_width = 110)]
#[command(after_help = "Exit codes:
  0  done
  1  less than --minimum was detected, or the list of equivalents is wrong
  2  wrong arguments
  3  nothing could be judged

Examples:
  cargo xtask mutants --family arm-pft --sample 150 --seed 1
  cargo xtask mutants --family arm-ete --shared --module arm-ete-unit
  cargo xtask mutants --crate decoder --json mutants.json
  cargo xtask mutants --mutant 4ca98b3d85807f75
  cargo xtask mutants --planted mutants/planted/arm-pft-1.toml --count-kills
  cargo xtask mutants --minimum 95")]
struct Arguments {
    /// Only the modules of this family, judged by its suite. May be repeated.
    #[arg(long, value_name = "FAMILY")]
    family: Vec<String>,
    /// With --family: also what that family executes of the modules that families share. Another family may detect
    /// what survives there.
    #[arg(long, requires = "family")]
    shared: bool,
    /// Only mutants of this module, as the first column names it. May be repeated.
    #[arg(long, value_name = "MODULE")]
    module: Vec<String>,
    /// Only mutants of this crate.
    #[arg(long = "crate", value_name = "CRATE")]
    package: Vec<Package>,
    /// Only N mutants that compile, chosen at random; every file and every kind of change has its share.
    #[arg(long, value_name = "N")]
    sample: Option<NonZeroUsize>,
    /// Seed of the sample.
    #[arg(long, value_name = "N", default_value = "0")]
    seed: u64,
    /// Print the mutants; do not judge them.
    #[arg(long, conflicts_with_all = ["json", "count_kills", "minimum", "sample"])]
    list: bool,
    /// Only the mutant with this id, or the beginning of it: show the change and every check that fails. May be
    /// repeated.
    #[arg(long, value_name = "ID")]
    mutant: Vec<String>,
    /// Judge the bugs of this file instead of mutants, by the suites of --family or of all families that have one. May
    /// be repeated.
    #[arg(long, value_name = "FILE")]
    #[arg(conflicts_with_all = ["shared", "module", "package", "sample", "literals", "resume"])]
    planted: Vec<PathBuf>,
    /// Also change integer literals by one. cargo-mutants does not do that.
    #[arg(long)]
    literals: bool,
    /// Do not stop at the first failure, and name the mutants that only one case detects. Takes several times as long.
    #[arg(long)]
    count_kills: bool,
    /// Also run the real programs. Slow.
    #[arg(long)]
    real_programs: bool,
    /// Judge each mutant in a process in which no other one was active. The verdicts are the same; for experiments.
    #[arg(long)]
    fresh: bool,
    /// Go on with a run that was interrupted. Sources and suite must be the same.
    #[arg(long)]
    resume: bool,
    /// Fail if less than this percentage of the executed mutants is detected.
    #[arg(long, value_name = "PERCENT")]
    minimum: Option<f64>,
    /// Number of processes in parallel; default: one per processor.
    #[arg(long, value_name = "N")]
    jobs: Option<NonZeroUsize>,
    /// Write everything as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// The crates that are mutated.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Package {
    Decoder,
    EncoderModel,
}

/// A busy machine may make a run this slow.
const LEAST_DEADLINE: Duration = Duration::from_secs(30);

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    match run(&arguments) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(if matches!(error, Error::Usage(_)) { 2 } else { 3 })
        }
    }
}

fn run(arguments: &Arguments) -> Result<bool, Error> {
    let root = checkout()?;
    let mut layout = Layout::of_checkout(&root);
    let sought = if arguments.planted.is_empty() {
        Sought::Mutants(Wanted { literals: arguments.literals })
    } else {
        layout = layout.for_planted();
        let bugs: Result<Vec<_>, _> = arguments.planted.iter().map(|path| read_planted(path)).collect();
        Sought::Planted(bugs?.concat())
    };
    let options = options(arguments);
    if arguments.list {
        let found = find(&layout, &sought)?;
        show::list(&found, &options);
        return Ok(true);
    }
    let bar = ProgressBar::new_spinner();
    let built = build(&layout, &sought, &|text| bar.set_message(text.to_owned()));
    bar.finish_and_clear();
    let built = built?;
    let bar = ProgressBar::new(0);
    if let Ok(style) = ProgressStyle::with_template("{bar:40} {pos}/{len} mutants {msg} {eta}") {
        bar.set_style(style);
    }
    let judgement = judge(&layout, &built, &options, &|progress| match progress {
        Progress::Clean(family) => bar.set_message(format!("the suite of {family} without a mutant")),
        Progress::Judged(done, total) => {
            bar.set_message("");
            bar.set_length(total as u64);
            bar.set_position(done as u64);
        }
    });
    bar.finish_and_clear();
    let judgement = judgement?;
    let (list, outside) = match &sought {
        Sought::Mutants(_) => {
            (read(&root.join("mutants/equivalent.toml"))?, Outside::read(&root.join("mutants/outside.toml"))?)
        }
        Sought::Planted(_) => Default::default(),
    };
    let report = Report::new(&built, &judgement, &list, options.count_kills).with_outside(outside);
    if !arguments.mutant.is_empty() {
        show::mutants(&layout, &built, &judgement);
    }
    print!("{}", report.text());
    if let Sought::Planted(bugs) = &sought {
        print!("\n{}", report.bugs(bugs));
    }
    if let Some(path) = &arguments.json {
        let text = report.json().map_err(|error| content(path, &error))?;
        fs::write(path, text).map_err(|error| Error::File { path: path.clone(), error })?;
    }
    let enough = match (arguments.minimum, report.total().of_executed()) {
        (Some(minimum), Some(share)) => share >= minimum,
        (Some(_), None) => false,
        (None, _) => true,
    };
    Ok(enough && report.refuted().is_empty() && report.stale.is_empty() && report.empty_outside().is_empty())
}

fn content(path: &Path, error: &serde_json::Error) -> Error {
    Error::Content { path: path.to_owned(), message: error.to_string() }
}

fn options(arguments: &Arguments) -> Options {
    let processors = thread::available_parallelism().map_or(1, NonZeroUsize::get);
    Options {
        families: arguments.family.iter().map(|family| family.replace('-', "_")).collect(),
        shared: arguments.shared,
        modules: arguments.module.iter().map(|module| module.replace('-', "_")).collect(),
        packages: arguments
            .package
            .iter()
            .filter_map(|package| Some(package.to_possible_value()?.get_name().to_owned()))
            .collect(),
        sample: arguments.sample.map(|count| (count.get(), arguments.seed)),
        ids: arguments.mutant.clone(),
        // A mutant that is shown has all of its failures.
        count_kills: arguments.count_kills || !arguments.mutant.is_empty(),
        real_programs: arguments.real_programs,
        resume: arguments.resume,
        fresh: arguments.fresh,
        jobs: arguments.jobs.map_or(processors, NonZeroUsize::get),
        least_deadline: LEAST_DEADLINE,
    }
}

/// The checkout that this program belongs to, or the one around the current directory.
fn checkout() -> Result<PathBuf, Error> {
    let own = env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
    let current = env::current_dir().ok();
    let is_checkout = |path: &Path| ["decoder", "encoder-model"].iter().all(|it| path.join(it).is_dir());
    own.iter()
        .chain(&current)
        .flat_map(|path| path.ancestors())
        .find(|path| is_checkout(path))
        .map(Path::to_owned)
        .ok_or_else(|| Error::Usage(String::from("mutants needs a checkout of Traceproof")))
}
