//! `traceproof conformance`: the main job.

use std::fs;
use std::io::{IsTerminal, stdout};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use clap::Args;
use toml::value::Date;
use traceproof_conformance::baseline::{self, Stale};
use traceproof_conformance::family::{self, FamilyRules, Visitor};
use traceproof_conformance::generate::DEFAULT_GENERATED_PER_FAMILY;
use traceproof_conformance::journal::Journal;
use traceproof_conformance::report::{json, junit, text};
use traceproof_conformance::save::{self, Saving};
use traceproof_conformance::{
    Agreement, Direction, Options, Run, Subject, captures, details, run as run_suite,
};

use crate::baseline::read_baseline;
use crate::exit::{Exit, Failure, Outcome};
use crate::files::{check_apart, check_outside, print, read_parameters, write};
use crate::limits::Limiting;
use crate::program::invocation;
use crate::progress::{progress_bar, show};
use crate::report::page;
use crate::select::{Seeds, Select};
use crate::snapshot;
use crate::subjects::{Starting, files_of, named};

/// Judge the reference decoder and encoder model, or a peer, against the shipped cases and programs.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  traceproof conformance
  traceproof conformance --filter etr-0042
  traceproof conformance --filter '*/loop_labels/*' --level must
  traceproof conformance --filter '*/generated/*' --generated 5000 --seed 1000
  traceproof conformance --filter '*/opcodes/*'
  traceproof conformance --no-real-programs --json results.json --junit results.xml
  traceproof conformance --subject acme.toml --html report.html
  traceproof conformance --generated 100000 --json results.json --resume results.json.journal
  traceproof conformance --family riscv-etrace --parameters encoder.toml
  traceproof conformance --snapshot snapshot-directory
  traceproof conformance --subject acme.toml --family arm-etm
  traceproof conformance --subject acme.toml --save failures
  traceproof conformance --subject riscv-etrace")]
pub(crate) struct Arguments {
    #[command(flatten)]
    select: Select,
    #[command(flatten)]
    seeds: Seeds,
    /// Only this direction: decode, chunks, join, garbage, encode, write or round-trip. May be repeated.
    #[arg(long, value_name = "DIRECTION", conflicts_with = "snapshot")]
    direction: Vec<Direction>,
    /// The subject: reference; a program in any language that implements tdut/2, by the file that describes how to
    /// start it (docs/adaptors.md); or an independent implementation such as riscv-etrace (in builds with `--features
    /// peers`).
    #[arg(long, value_name = "NAME|FILE.toml", default_value = "reference")]
    subject: String,
    #[command(flatten)]
    limiting: Limiting,
    #[command(flatten)]
    starting: Starting,
    /// Also run the shipped programs through encoder and decoder, with every parameter set. The default, unless cases
    /// are selected; then filters also match program/set.
    #[arg(long, overrides_with = "no_real_programs")]
    real_programs: bool,
    /// Only the cases.
    #[arg(long)]
    no_real_programs: bool,
    /// Without the sweeps of opcodes, executions of every encoding of a table (docs/opcode-sweeps.md). They are also
    /// left out with `--generated 0`.
    #[arg(long)]
    no_opcodes: bool,
    /// Run the real programs with the parameters of this file only: a TOML file of parameters by the specification's
    /// names, or of discovered attributes. The cases have their own parameters. Needs one --family.
    #[arg(long, value_name = "FILE")]
    parameters: Option<PathBuf>,
    /// Instead of cases, judge the decoder on the captures of an OpenCSD snapshot, a directory with a snapshot.ini:
    /// they must decode without errors, and metamorphic relations must hold (any split into chunks, a reset, decoding
    /// from a sync point, garbage before one). May be repeated.
    #[arg(long, value_name = "DIRECTORY", conflicts_with_all = ["suite", "filter", "level", "clause", "parameters", "real_programs", "jobs", "generated", "seed"])]
    snapshot: Vec<PathBuf>,
    /// Only this source of the snapshot: its name, or its trace ID such as 0x10. May be repeated.
    #[arg(long, value_name = "NAME|ID", requires = "snapshot")]
    source: Vec<String>,
    /// Number of cases in parallel; default: one per processor.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: Option<u16>,
    /// Seconds that one direction of one case may take in this process; programs have the deadlines of their file.
    #[arg(long, value_name = "SECONDS", default_value = "10")]
    deadline: u64,
    /// How far encoders must agree with the cases: exact (their bytes), legal (or bytes of another choice that the
    /// specification leaves to encoders) or semantic (or the reference decoder reports the same execution).
    #[arg(long, value_name = "AGREEMENT", default_value = "legal", conflicts_with = "snapshot")]
    require: Agreement,
    /// Judge everything N times. A check with different outcomes has the verdict flaky, which is a failure; a check is
    /// never retried until it passes.
    #[arg(
        long,
        value_name = "N",
        default_value = "1",
        hide_default_value = true,
        conflicts_with = "snapshot"
    )]
    repeat: NonZeroUsize,
    /// Stop at the first case that fails.
    #[arg(long, conflicts_with_all = ["snapshot", "baseline"])]
    fail_fast: bool,
    /// Known failures of the subject: a TOML file (docs/baselines.md). They do not count as failures; a known failure
    /// that passes or has another outcome makes the baseline stale (exit code 4).
    #[arg(long, value_name = "FILE", conflicts_with = "snapshot")]
    baseline: Option<PathBuf>,
    /// Show every failure, instead of one example of each cause.
    #[arg(long)]
    every_failure: bool,
    /// Keep the bytes of failing checks: for each case and each real program a folder in this directory with the
    /// expected wire, the output of the subject's encoder and decoder, parameters, case and verdict; and an index.json.
    /// The directory must be empty or not exist.
    #[arg(long, value_name = "DIRECTORY", conflicts_with = "snapshot")]
    save: Option<PathBuf>,
    /// Go on with the results in this file, JSON Lines, which gets those of this run as they come. A run that is
    /// killed leaves it; the same command with --resume judges only what it lacks. It is removed at the end. Without
    /// this option and with --json, it is the file of --json with `.journal` after its name.
    #[arg(long, value_name = "FILE", conflicts_with = "snapshot")]
    resume: Option<PathBuf>,
    /// Write the results as JSON, for `report`: verdicts, the texts of the cases, clauses, and dissections of some
    /// failures of each cause.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write the results as one HTML file (docs/report.md); `report html` has more options.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Write the results as JUnit XML.
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments) -> Outcome {
    check_files(arguments)?;
    let subject = named(&arguments.subject, &arguments.starting)?.with_limits(arguments.limiting.collected());
    if let Some(directory) = &arguments.save {
        // Fails before a long run, not after it.
        save::prepare(directory).map_err(|error| Failure::usage(error.to_string()))?;
    }
    let mut run = if arguments.snapshot.is_empty() {
        judge_suite(&subject, arguments)?
    } else {
        judge_snapshots(&subject, arguments)?
    };
    let stale = match &arguments.baseline {
        Some(path) => apply(path, &mut run, arguments)?,
        None => Vec::new(),
    };
    let saved = arguments.save.as_deref().map(|path| save(path, &run, &subject, arguments)).transpose()?;
    write_results(&run, &subject, arguments)?;
    if let Some(path) = &arguments.junit {
        write(path, &junit::report(&run).map_err(|error| Failure::file(path, error))?)?;
    }
    end_journal(&run, arguments)?;
    let report = if arguments.every_failure { text::report_of_every_failure } else { text::report };
    print(&report(&run, style()))?;
    if let Some(saved) = saved {
        print(&saved)?;
    }
    for entry in &stale {
        print(&format!("stale: {entry}\n"))?;
    }
    Ok(ending(&run, &stale))
}

/// The outputs are none of the inputs.
fn check_files(arguments: &Arguments) -> Result<(), Failure> {
    let (subject, journal) = (files_of(&arguments.subject), journal_path(arguments));
    let mut inputs = vec![
        ("--baseline", arguments.baseline.as_deref()),
        ("--parameters", arguments.parameters.as_deref()),
    ];
    inputs.extend(subject.iter().map(|file| ("--subject", Some(file.as_path()))));
    let outputs = [
        ("--json", arguments.json.as_deref()),
        ("--junit", arguments.junit.as_deref()),
        ("--html", arguments.html.as_deref()),
        ("--resume", journal.as_deref()),
        arguments.starting.output(),
    ];
    check_apart(&inputs, &outputs)?;
    for directory in &arguments.snapshot {
        check_outside("--snapshot", directory, &outputs)?;
    }
    arguments.select.suite.check_outputs(&outputs)
}

/// Writes the results with their details as JSON and as a page, if wanted.
fn write_results(run: &Run, subject: &Subject, arguments: &Arguments) -> Result<(), Failure> {
    let Arguments { json, html, .. } = arguments;
    let Some(first) = json.as_ref().or(html.as_ref()) else { return Ok(()) };
    let deadline = Duration::from_secs(arguments.deadline);
    let bar = progress_bar("dissections");
    let details =
        details::of(run, subject, &arguments.select.suite.directories()?, deadline, &|done, all| {
            bar.set_length(all as u64);
            bar.set_position(done as u64);
        });
    bar.finish_and_clear();
    let details = details.map_err(|errors| Failure::suite(&errors))?;
    let text = json::detailed(run, &details).map_err(|error| Failure::file(first, error))?;
    if let Some(path) = json {
        write(path, &text)?;
    }
    if let Some(path) = html {
        write(path, &page(&text).map_err(|error| Failure::file(path, error))?)?;
    }
    Ok(())
}

/// Saves the failures; returns a line with their number.
fn save(directory: &Path, run: &Run, subject: &Subject, arguments: &Arguments) -> Result<String, Failure> {
    let directories = arguments.select.suite.directories()?;
    let deadline = Duration::from_secs(arguments.deadline);
    let saving = Saving { directory, run, directories: &directories, deadline };
    let count = save::failures(&saving, subject).map_err(|error| Failure::usage(error.to_string()))?;
    Ok(format!("saved: {} in {}\n", text::counted(count, "folder"), directory.display()))
}

/// A stale baseline has another exit code than failures outside of the baseline.
fn ending(run: &Run, stale: &[Stale]) -> Exit {
    let failures = run.tally().failures() + run.program_tally().failures();
    let spoken_of = stale.iter().filter(|entry| entry.is_of_the_run()).count();
    match stale {
        [] if run.is_success() => Exit::Ok,
        [_, ..] if failures <= spoken_of && !run.incomplete => Exit::Stale,
        _ => Exit::Failed,
    }
}

/// Applies the subject's baseline to the run.
fn apply(path: &Path, run: &mut Run, arguments: &Arguments) -> Result<Vec<Stale>, Failure> {
    let baseline = read_baseline(path, &run.subject.name)?;
    let everything = arguments.seeds.numbers(DEFAULT_GENERATED_PER_FAMILY)?
        == (0..DEFAULT_GENERATED_PER_FAMILY)
        && !arguments.no_real_programs
        && !arguments.no_opcodes;
    let narrow = arguments.select.is_narrow()
        || !(arguments.select.family.is_empty() && arguments.direction.is_empty());
    let whole = everything && !narrow && arguments.parameters.is_none() && !run.incomplete;
    Ok(baseline::apply(run, &baseline, today(), whole))
}

/// The day in UTC.
fn today() -> Date {
    let now = time::OffsetDateTime::now_utc().date();
    Date { year: u16::try_from(now.year()).unwrap_or(0), month: u8::from(now.month()), day: now.day() }
}

/// The captures of all snapshots in one run.
fn judge_snapshots(subject: &Subject, arguments: &Arguments) -> Result<Run, Failure> {
    let mut all: Option<Run> = None;
    for directory in &arguments.snapshot {
        let snapshot = snapshot::read(directory)?;
        let streams = snapshot::select(&snapshot, &arguments.source, &arguments.select.family)?;
        let mut run = captures::run(
            subject,
            &snapshot,
            &streams,
            &invocation(),
            Duration::from_secs(arguments.deadline),
        )
        .map_err(|(source, error)| Failure::usage(format!("{}: {source}: {error}", directory.display())))?;
        match &mut all {
            Some(all) => {
                all.cases.append(&mut run.cases);
                all.foreign_sources.append(&mut run.foreign_sources);
            }
            None => all = Some(run),
        }
    }
    all.ok_or_else(|| Failure::usage("no snapshot"))
}

/// The file that gets results as they come, if there is one.
fn journal_path(arguments: &Arguments) -> Option<PathBuf> {
    let Arguments { resume, json, snapshot, fail_fast, .. } = arguments;
    if resume.is_some() {
        return resume.clone();
    }
    let json = json.as_ref().filter(|_| snapshot.is_empty() && !fail_fast)?;
    let plain = json.as_os_str() != "-" && (json.is_file() || !json.exists());
    let mut name = json.file_name().filter(|_| plain)?.to_owned();
    name.push(".journal");
    Some(json.with_file_name(name))
}

fn open_journal(
    subject: &Subject,
    options: &Options,
    arguments: &Arguments,
) -> Result<Option<Journal>, Failure> {
    let Some(path) = journal_path(arguments) else { return Ok(None) };
    let journal = match arguments.resume {
        Some(_) => Journal::resume(&path, subject, options),
        None => Journal::create(&path, subject, options),
    };
    let journal = journal.map_err(|error| Failure::file(&path, error))?;
    if journal.known() > 0 {
        let known = text::counted(journal.known(), "result");
        eprintln!("note: {known} from {}", path.display());
    }
    Ok(Some(journal))
}

/// Removes the file of a run that came to its end; of another, says how to go on with it.
fn end_journal(run: &Run, arguments: &Arguments) -> Result<(), Failure> {
    let Some(path) = journal_path(arguments).filter(|path| path.is_file()) else { return Ok(()) };
    if run.incomplete {
        eprintln!("note: the same command with --resume {} finishes this run", path.display());
        return Ok(());
    }
    fs::remove_file(&path).map_err(|error| Failure::file(&path, error))
}

fn judge_suite(subject: &Subject, arguments: &Arguments) -> Result<Run, Failure> {
    let parameters = arguments.parameters.as_deref().map(|path| parameters(path, arguments)).transpose()?;
    let asked = arguments.real_programs || parameters.is_some();
    let generated = arguments.seeds.numbers(DEFAULT_GENERATED_PER_FAMILY)?;
    let mut options = Options {
        directories: arguments.select.suite.directories()?,
        selection: arguments.select.selection()?,
        directions: arguments.direction.clone(),
        opcodes: !arguments.no_opcodes && !generated.is_empty(),
        generated,
        programs: !arguments.no_real_programs && (asked || !arguments.select.is_narrow()),
        parameters,
        jobs: arguments.jobs.map(usize::from),
        deadline: Duration::from_secs(arguments.deadline),
        require: arguments.require,
        repeat: arguments.repeat,
        invocation: invocation(),
        stop: stopped_by_hand()?,
        fail_fast: arguments.fail_fast,
        journal: None,
    };
    options.journal = open_journal(subject, &options, arguments)?.map(Arc::new);
    let bar = progress_bar("cases");
    let run = run_suite(subject, &options, &|progress| show(&bar, progress));
    bar.finish_and_clear();
    let run = run.map_err(|errors| Failure::suite(&errors))?;
    if let Some(journal) = &options.journal {
        journal.finish().map_err(|error| Failure::usage(format!("results cannot be kept: {error}")))?;
    }
    if run.cases.is_empty() && run.programs.is_empty() {
        return Err(Failure::not_found("no case matches", "list"));
    }
    Ok(run)
}

/// The text of a parameter file that is valid for the selected family.
fn parameters(path: &Path, arguments: &Arguments) -> Result<String, Failure> {
    let [family] = arguments.select.family.as_slice() else {
        return Err(Failure::usage("--parameters needs one --family, whose parameters they are"));
    };
    family::visit(*family, Parameters(path)).unwrap_or_else(|| Err(Failure::no_such_family(*family)))
}

struct Parameters<'a>(&'a Path);

impl Visitor for Parameters<'_> {
    type Output = Result<String, Failure>;

    fn visit<P: FamilyRules>(self) -> Self::Output {
        let (text, _) = read_parameters::<P>(self.0)?;
        Ok(text)
    }
}

/// Set by the first Ctrl-C or SIGTERM, which ends the run with the results so far; the second one ends the program.
fn stopped_by_hand() -> Result<Arc<AtomicBool>, Failure> {
    let stop = Arc::new(AtomicBool::new(false));
    let set = Arc::clone(&stop);
    ctrlc::set_handler(move || {
        if set.swap(true, Ordering::Relaxed) {
            process::exit(130);
        }
        eprintln!("stopping: running cases are finished and reported; press Ctrl-C again to exit at once");
    })
    .map_err(|error| Failure::usage(format!("Ctrl-C cannot be watched: {error}")))?;
    Ok(stop)
}

/// Colours where the reader's terminal has them.
pub(crate) fn style() -> text::Style {
    let wanted = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    text::Style { colour: wanted && stdout().is_terminal() }
}
