//! Judges mutants: which are executed by the suite, and which of these it detects.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde::Serialize;

use crate::child::{self, Ended};
use crate::compile::Built;
use crate::copy::Layout;
use crate::error::Error;
use crate::journal::Journal;
use crate::mutant::Mutant;
use crate::outcome::{Options, Outcome};
use crate::sample::sample;

/// A run without mutants may take this long; it fails or ends long before.
const CLEAN_DEADLINE: Duration = Duration::from_secs(1800);
/// How many times longer than without a mutant a run may take.
const SLOWER: u32 = 10;
/// Seconds that a check may take; without a mutant it takes milliseconds.
const CHECK_DEADLINE: u32 = 5;

/// A judged mutant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Judged {
    /// Its number.
    pub mutant: usize,
    /// What became of it.
    #[serde(flatten)]
    pub outcome: Outcome,
}

/// All of a run.
#[derive(Clone, Debug, Default)]
pub struct Judgement {
    /// Number of every mutant in the scope that compiles or not, before sampling.
    pub scope: Vec<usize>,
    /// Those that were judged.
    pub judged: Vec<Judged>,
    /// How long the suite takes without a mutant, by family.
    pub clean: BTreeMap<String, Duration>,
}

/// How far a run is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress<'a> {
    /// The suite of a family runs without a mutant.
    Clean(&'a str),
    /// So many of so many are judged.
    Judged(usize, usize),
}

/// The suite of one family, without a mutant.
struct Clean {
    family: String,
    took: Duration,
    executed: BTreeSet<usize>,
}

/// Judges the mutants.
///
/// # Errors
///
/// The suite fails without a mutant, the driver does not work, or the options select nothing.
pub fn judge(
    layout: &Layout,
    built: &Built,
    options: &Options,
    progress: &(dyn Fn(Progress<'_>) + Sync),
) -> Result<Judgement, Error> {
    let all = child::families(&built.driver)?;
    if let Some(unknown) = options.families.iter().find(|family| !all.contains(family)) {
        return Err(Error::Usage(format!("no family `{unknown}`; there are {}", all.join(", "))));
    }
    let selected = |family: &&String| options.families.is_empty() || options.families.contains(family);
    let mut clean = Vec::new();
    for family in all.iter().filter(selected) {
        progress(Progress::Clean(family));
        clean.push(run_clean(layout, built, options, family)?);
    }
    let scope = scope(&built.found.mutants, options, &all, &clean);
    if scope.is_empty() {
        return Err(Error::Usage(String::from("no mutant is selected")));
    }
    let viable: Vec<usize> = scope.iter().copied().filter(|it| !built.unviable.contains(it)).collect();
    let taken = match options.sample {
        Some((count, seed)) => sample(&built.found.mutants, &viable, count, seed),
        None => viable,
    };
    let journal = Journal::open(&layout.directory.join("judged.jsonl"), options)?;
    let one = |number: usize| match built.found.mutants.get(number) {
        Some(mutant) => match journal.known(mutant) {
            Some(outcome) => Ok(outcome),
            None => {
                let outcome = judge_one(built, options, &clean, number)?;
                journal.add(mutant, &outcome)?;
                Ok(outcome)
            }
        },
        None => Ok(Outcome::NotExecuted),
    };
    let judged = judge_all(options.jobs, &taken, &one, progress)?;
    let clean = clean.into_iter().map(|clean| (clean.family, clean.took)).collect();
    Ok(Judgement { scope, judged, clean })
}

/// Runs the suite without a mutant and records which are executed.
fn run_clean(layout: &Layout, built: &Built, options: &Options, family: &str) -> Result<Clean, Error> {
    let file = layout.directory.join(format!("executed-{family}.txt"));
    let mut arguments = arguments(family, options);
    arguments.push(format!("executed={}", file.display()));
    let start = Instant::now();
    let failed = |what: &str| Error::Driver(format!("the suite of {family} {what} without a mutant"));
    match child::judge(&built.driver, &arguments, CLEAN_DEADLINE)? {
        Ended::Judged { failures } if failures.is_empty() => {}
        Ended::Judged { failures } => {
            let first = failures.first().map_or("", |failure| failure.case.as_str());
            return Err(failed(&format!("fails ({first})")));
        }
        Ended::Crashed => return Err(failed("crashes")),
        Ended::TimedOut => return Err(failed("does not end")),
    }
    let took = start.elapsed();
    let executed = numbers(&file)?;
    Ok(Clean { family: family.to_owned(), took, executed })
}

fn numbers(path: &Path) -> Result<BTreeSet<usize>, Error> {
    let text = fs::read_to_string(path).map_err(|error| Error::file(path, error))?;
    text.lines().map(|line| line.parse().map_err(|error| Error::content(path, error))).collect()
}

fn arguments(family: &str, options: &Options) -> Vec<String> {
    let mut arguments = vec![String::from("run"), family.to_owned(), format!("deadline={CHECK_DEADLINE}")];
    if options.real_programs {
        arguments.push(String::from("real-programs"));
    }
    arguments
}

/// The mutants of the selected families and crates.
fn scope(mutants: &[Mutant], options: &Options, families: &[String], clean: &[Clean]) -> Vec<usize> {
    let of_family = |mutant: usize, module: &str| {
        options.families.is_empty()
            || options.families.iter().any(|family| family == module)
            || (options.shared
                && !families.iter().any(|family| family == module)
                && clean.iter().any(|clean| clean.executed.contains(&mutant)))
    };
    let any = |list: &[String], takes: &dyn Fn(&String) -> bool| list.is_empty() || list.iter().any(takes);
    mutants
        .iter()
        .enumerate()
        .filter(|(number, mutant)| {
            of_family(*number, mutant.module())
                && any(&options.modules, &|module| module == mutant.module())
                && any(&options.packages, &|package| package == mutant.package())
                && any(&options.ids, &|id| mutant.id.starts_with(id.as_str()))
        })
        .map(|(number, _)| number)
        .collect()
}

/// Judges these mutants, several at a time.
fn judge_all(
    jobs: usize,
    taken: &[usize],
    judge: &(dyn Fn(usize) -> Result<Outcome, Error> + Sync),
    progress: &(dyn Fn(Progress<'_>) + Sync),
) -> Result<Vec<Judged>, Error> {
    let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let results = Mutex::new(Ok(Vec::new()));
    let work = || {
        while let Some(&mutant) = taken.get(next.fetch_add(1, Ordering::Relaxed)) {
            let one = judge(mutant);
            progress(Progress::Judged(done.fetch_add(1, Ordering::Relaxed) + 1, taken.len()));
            let Ok(mut results) = results.lock() else { return };
            match (&mut *results, one) {
                (Ok(judged), Ok(outcome)) => judged.push(Judged { mutant, outcome }),
                (Ok(_), Err(error)) => {
                    *results = Err(error);
                    return;
                }
                (Err(_), _) => return,
            }
        }
    };
    thread::scope(|scope| {
        for _ in 0..jobs.max(1) {
            scope.spawn(work);
        }
    });
    let mut judged = results.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner())?;
    judged.sort_by_key(|judged| judged.mutant);
    Ok(judged)
}

/// Judges a mutant by the families that execute it, until one detects it.
fn judge_one(built: &Built, options: &Options, clean: &[Clean], mutant: usize) -> Result<Outcome, Error> {
    let mut outcome = Outcome::NotExecuted;
    for clean in clean.iter().filter(|clean| clean.executed.contains(&mutant)) {
        outcome = judge_once(built, options, clean, mutant)?;
        // A busy or suspended machine is no detection.
        if outcome == Outcome::TimedOut {
            outcome = judge_once(built, options, clean, mutant)?;
        }
        if outcome.is_killed() {
            break;
        }
    }
    Ok(outcome)
}

fn judge_once(built: &Built, options: &Options, clean: &Clean, mutant: usize) -> Result<Outcome, Error> {
    let mut arguments = arguments(&clean.family, options);
    arguments.push(format!("mutant={mutant}"));
    if options.count_kills {
        arguments.push(String::from("every-failure"));
    }
    let deadline = (clean.took * SLOWER).max(options.least_deadline);
    Ok(match child::judge(&built.driver, &arguments, deadline)? {
        Ended::Judged { failures } if failures.is_empty() => Outcome::Survived,
        Ended::Judged { failures } if failures.iter().all(|failure| failure.kind == "timeout") => {
            Outcome::TimedOut
        }
        Ended::Judged { failures } => Outcome::Killed { failures },
        Ended::Crashed => Outcome::Crashed,
        Ended::TimedOut => Outcome::TimedOut,
    })
}
