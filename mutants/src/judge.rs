//! Judges mutants: which are executed by the suite, and which of these it detects.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use serde::Serialize;

use crate::compile::Built;
use crate::copy::Layout;
use crate::error::Error;
use crate::journal::Journal;
use crate::mutant::{Mutant, Operator};
use crate::outcome::{Options, Outcome};
use crate::record::{Recorded, record};
use crate::sample::sample;
use crate::worker::{self, Answer, Failure, Heard, Request, Workers};

/// At most so many checks are named that execute a survivor.
const NAMED: usize = 20;

/// A judged mutant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Judged {
    /// Its number.
    pub mutant: usize,
    /// What became of it.
    #[serde(flatten)]
    pub outcome: Outcome,
    /// Checks that execute a survivor, the most specific ones first; at most twenty.
    pub executed_by: Vec<String>,
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
    let all = worker::families(&built.driver)?;
    if let Some(unknown) = options.families.iter().find(|family| !all.contains(family)) {
        return Err(Error::Usage(format!("no family `{unknown}`; there are {}", all.join(", "))));
    }
    let planted = built.found.mutants.iter().any(|mutant| mutant.operator == Operator::Planted);
    let selected = |family: &&String| {
        options.families.contains(family)
            || options.families.is_empty() && (!planted || may_execute(family, &built.found.mutants, &all))
    };
    let families: Vec<&String> = all.iter().filter(selected).collect();
    let clean = in_parallel(options.jobs, &families, &|| (), &|(), family| {
        progress(Progress::Clean(family));
        record(&built.driver, family, options)
    })?;
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
    let done = AtomicUsize::new(0);
    let one = |workers: &mut Workers<'_>, number: &usize| {
        let mutant = built.found.mutants.get(*number);
        let outcome = match mutant.map(|mutant| (mutant, journal.known(mutant))) {
            None => Outcome::NotExecuted,
            Some((_, Some(outcome))) => outcome,
            Some((mutant, None)) => {
                let outcome = judge_one(workers, options, &clean, *number, mutant)?;
                journal.add(mutant, &outcome)?;
                outcome
            }
        };
        progress(Progress::Judged(done.fetch_add(1, Ordering::Relaxed) + 1, taken.len()));
        let executed_by = match outcome {
            Outcome::Survived => executed_by(&clean, *number),
            _ => Vec::new(),
        };
        Ok(Judged { mutant: *number, outcome, executed_by })
    };
    let workers = || Workers::new(&built.driver, options);
    let judged = in_parallel(options.jobs, &taken, &workers, &one)?;
    let clean = clean.into_iter().map(|clean| (clean.family, clean.took)).collect();
    Ok(Judgement { scope, judged, clean })
}

/// Whether a mutant is in a module of the family, or in one that is of no family.
fn may_execute(family: &str, mutants: &[Mutant], families: &[String]) -> bool {
    let is_of = |module: &str, family: &str| {
        module.strip_prefix(family).is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
    };
    mutants
        .iter()
        .map(Mutant::module)
        .any(|module| is_of(module, family) || !families.iter().any(|family| is_of(module, family)))
}

/// The names of checks that execute the mutant.
fn executed_by(clean: &[Recorded], mutant: usize) -> Vec<String> {
    let parts = |clean: &'_ Recorded| {
        let names = clean.parts_of(mutant, &[]).into_iter().filter_map(|part| clean.parts.get(part));
        names.map(|part| part.name.clone()).take(NAMED).collect::<Vec<_>>()
    };
    clean.iter().flat_map(parts).take(NAMED).collect()
}

/// The mutants of the selected families and crates.
fn scope(mutants: &[Mutant], options: &Options, families: &[String], clean: &[Recorded]) -> Vec<usize> {
    let of_family = |mutant: usize, module: &str| {
        options.families.is_empty()
            || mutants.get(mutant).is_some_and(|mutant| mutant.operator == Operator::Planted)
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
                && any(&options.ids, &|id| mutant.is_named(id))
        })
        .map(|(number, _)| number)
        .collect()
}

/// Does the work for all of these, several at a time, each thread with a state of its own; results in the same order.
fn in_parallel<T: Sync, S, R: Send>(
    jobs: usize,
    all: &[T],
    state: &(dyn Fn() -> S + Sync),
    work: &(dyn Fn(&mut S, &T) -> Result<R, Error> + Sync),
) -> Result<Vec<R>, Error> {
    let next = AtomicUsize::new(0);
    let results = Mutex::new(Ok(Vec::new()));
    let run = || {
        let mut state = state();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = all.get(index) else { return };
            let one = work(&mut state, item);
            let mut results = results.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            match (&mut *results, one) {
                (Ok(done), Ok(result)) => done.push((index, result)),
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
            scope.spawn(run);
        }
    });
    let mut done = results.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner())?;
    done.sort_by_key(|(index, _)| *index);
    Ok(done.into_iter().map(|(_, result)| result).collect())
}

/// Judges a mutant by the families that execute it, until one detects it.
fn judge_one(
    workers: &mut Workers<'_>,
    options: &Options,
    clean: &[Recorded],
    number: usize,
    mutant: &Mutant,
) -> Result<Outcome, Error> {
    let mut outcome = Outcome::NotExecuted;
    for clean in clean.iter().filter(|clean| clean.executed.contains(&number)) {
        if options.fresh {
            workers.end(&clean.family);
        }
        outcome = judge_once(workers, options, clean, number, mutant)?;
        // A busy or suspended machine is no detection.
        if outcome == Outcome::TimedOut {
            outcome = judge_once(workers, options, clean, number, mutant)?;
        }
        if outcome.is_killed() {
            break;
        }
    }
    Ok(outcome)
}

fn judge_once(
    workers: &mut Workers<'_>,
    options: &Options,
    clean: &Recorded,
    number: usize,
    mutant: &Mutant,
) -> Result<Outcome, Error> {
    let lock = || clean.killers.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let first = lock().of(&mutant.file, &mutant.function);
    let parts = clean.parts_of(number, &first);
    let deadline = clean.deadline(&parts).max(options.least_deadline);
    let timed = |part: &usize| {
        let deadline = clean.parts.get(*part).map_or(Duration::ZERO, |part| part.deadline());
        (*part, u64::try_from(deadline.as_millis()).unwrap_or(u64::MAX))
    };
    let every = options.count_kills;
    let request = Request::Judge { mutant: number, every, parts: parts.iter().map(timed).collect() };
    let mut again = false;
    loop {
        let line = match workers.ask(&clean.family, &request, deadline)? {
            Heard::Line(line) => line,
            Heard::Crashed => return Ok(Outcome::Crashed),
            Heard::TimedOut => return Ok(Outcome::TimedOut),
        };
        let answer: Answer =
            serde_json::from_str(&line).map_err(|error| Error::Driver(format!("{error}: {line}")))?;
        if answer.ends || answer.unsound {
            workers.end(&clean.family);
        }
        // Once more in a process in which no other mutant was active: then it is this one that leaves something.
        if !answer.unsound || again {
            if let Some(part) = answer.part {
                lock().add(&mutant.file, &mutant.function, part);
            }
            return Ok(outcome_of(answer, clean.applicable_without(&parts)));
        }
        again = true;
    }
}

/// What an answer means, if there are so many checks that do not execute the mutant.
fn outcome_of(answer: Answer, others: usize) -> Outcome {
    let Answer { mut failures, applicable, .. } = answer;
    if failures.is_empty() && applicable + others == 0 {
        let text = |text: &str| text.to_owned();
        let (case, direction) = (text("-"), text("-"));
        failures.push(Failure { case, direction, kind: text("suite"), message: text("no check applies") });
    }
    if failures.is_empty() {
        Outcome::Survived
    } else if failures.iter().all(|failure| failure.kind == "timeout") {
        Outcome::TimedOut
    } else {
        Outcome::Killed { failures }
    }
}
