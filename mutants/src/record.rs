//! The suite of a family without a mutant: which of its parts execute which mutants, and what each part costs.

use std::collections::{BTreeSet, VecDeque};
use std::ops::RangeInclusive;
use std::path::Path;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use serde::Deserialize;

use crate::error::Error;
use crate::outcome::Options;
use crate::worker::{CHECK_DEADLINE, Failure, Heard, Request, Worker};

/// A part may take this long without a mutant; it fails or ends long before.
const DEADLINE: Duration = Duration::from_secs(900);
/// How many times longer than without a mutant a part, or all of them, may take.
const SLOWER: u32 = 10;

/// A direction of a case, a generated execution, a sweep of opcodes, or the real programs.
#[derive(Debug)]
pub(crate) struct Part {
    /// Id of the case, with the direction.
    pub(crate) name: String,
    cost: Duration,
    /// Ascending.
    executed: Vec<RangeInclusive<usize>>,
    /// How many checks it has.
    applicable: usize,
}

impl Part {
    fn executes(&self, mutant: usize) -> bool {
        let after = self.executed.partition_point(|range| *range.end() < mutant);
        self.executed.get(after).is_some_and(|range| range.contains(&mutant))
    }

    /// How many mutants it executes.
    fn breadth(&self) -> usize {
        self.executed.iter().map(|range| range.end() - range.start() + 1).sum()
    }

    /// How long it may take with a mutant.
    pub(crate) fn deadline(&self) -> Duration {
        (self.cost * SLOWER).max(Duration::from_secs(CHECK_DEADLINE.into()))
    }
}

/// What was recorded of a family.
#[derive(Debug)]
pub(crate) struct Recorded {
    pub(crate) family: String,
    /// How long all parts took.
    pub(crate) took: Duration,
    pub(crate) parts: Vec<Part>,
    /// Indices of the parts, those first that are cheap and execute few mutants.
    order: Vec<usize>,
    /// All mutants that are executed.
    pub(crate) executed: BTreeSet<usize>,
    pub(crate) killers: Mutex<Killers>,
}

impl Recorded {
    /// Indices of the parts that execute the mutant: `first` if they do, then the cheap and specific ones.
    pub(crate) fn parts_of(&self, mutant: usize, first: &[usize]) -> Vec<usize> {
        let executes = |part: &&usize| self.parts.get(**part).is_some_and(|part| part.executes(mutant));
        let others = self.order.iter().filter(|part| !first.contains(part));
        first.iter().chain(others).filter(executes).copied().collect()
    }

    /// How long these parts may take with a mutant.
    pub(crate) fn deadline(&self, parts: &[usize]) -> Duration {
        parts.iter().filter_map(|part| self.parts.get(*part)).map(|part| part.cost).sum::<Duration>() * SLOWER
    }

    /// How many checks there are without these parts.
    pub(crate) fn applicable_without(&self, parts: &[usize]) -> usize {
        let of = |parts: &mut dyn Iterator<Item = &Part>| parts.map(|part| part.applicable).sum::<usize>();
        of(&mut self.parts.iter()) - of(&mut parts.iter().filter_map(|part| self.parts.get(*part)))
    }
}

/// A line of the recording process.
#[derive(Deserialize)]
#[serde(untagged)]
enum Line {
    Part {
        part: usize,
        name: String,
        micros: u64,
        executed: String,
        applicable: usize,
        failures: Vec<Failure>,
    },
    End {
        parts: usize,
    },
}

/// Runs the suite of the family without a mutant and records which are executed.
///
/// # Errors
///
/// The suite fails without a mutant, or the driver does not work.
pub(crate) fn record(driver: &Path, family: &str, options: &Options) -> Result<Recorded, Error> {
    let mut worker = Worker::start(driver, family, options)?;
    worker.ask(&Request::Record {})?;
    let failed = |what: &str| Error::Driver(format!("the suite of {family} {what} without a mutant"));
    let start = Instant::now();
    let mut parts = Vec::new();
    loop {
        let line = match worker.hear(DEADLINE)? {
            Heard::Line(line) => line,
            Heard::Crashed => return Err(failed("crashes")),
            Heard::TimedOut => return Err(failed("does not end")),
        };
        match serde_json::from_str(&line).map_err(|error| Error::Driver(format!("{error}: {line}")))? {
            Line::Part { failures, .. } if !failures.is_empty() => {
                let first = failures.first().map_or("", |failure| failure.case.as_str());
                return Err(failed(&format!("fails ({first})")));
            }
            Line::Part { part, name, micros, executed, applicable, .. } if part == parts.len() => {
                let executed = ranges(&executed).ok_or_else(|| Error::Driver(line.clone()))?;
                parts.push(Part { name, cost: Duration::from_micros(micros), executed, applicable });
            }
            Line::End { parts: count } if count == parts.len() => break,
            _ => return Err(Error::Driver(format!("the driver left out a part: {line}"))),
        }
    }
    if parts.iter().all(|part| part.applicable == 0) {
        return Err(failed("has no check"));
    }
    Ok(Recorded::new(family, start.elapsed(), parts))
}

impl Recorded {
    fn new(family: &str, took: Duration, parts: Vec<Part>) -> Self {
        let mut order: Vec<(u128, usize)> = parts
            .iter()
            .enumerate()
            .map(|(index, part)| (part.cost.as_micros() * part.breadth() as u128, index))
            .collect();
        order.sort_unstable();
        let executed = parts.iter().flat_map(|part| part.executed.iter().cloned()).flatten().collect();
        let order = order.into_iter().map(|(_, index)| index).collect();
        Self { family: family.to_owned(), took, parts, order, executed, killers: Mutex::default() }
    }
}

/// Numbers and `first-last`.
fn ranges(text: &str) -> Option<Vec<RangeInclusive<usize>>> {
    let range = |word: &str| {
        let (first, last) = word.split_once('-').unwrap_or((word, word));
        Some(first.parse().ok()?..=last.parse().ok()?)
    };
    text.split_whitespace().map(range).collect()
}

/// The parts that failed last for mutants of the same function or file: they are likely to fail for the next.
#[derive(Debug, Default)]
pub(crate) struct Killers {
    of_function: VecDeque<((String, String), usize)>,
}

/// So many are remembered, and so many are tried.
const REMEMBERED: usize = 2000;
const TRIED: usize = 24;

impl Killers {
    pub(crate) fn add(&mut self, file: &str, function: &str, part: usize) {
        let entry = ((file.to_owned(), function.to_owned()), part);
        self.of_function.retain(|other| *other != entry);
        self.of_function.push_front(entry);
        self.of_function.truncate(REMEMBERED);
    }

    /// Those of the function, the last one first, then those of the file.
    pub(crate) fn of(&self, file: &str, function: &str) -> Vec<usize> {
        let of_file = || self.of_function.iter().filter(|((of, _), _)| of == file);
        let (same, other): (Vec<_>, Vec<_>) = of_file().partition(|((_, of), _)| of == function);
        let mut parts = Vec::new();
        for (_, part) in same.into_iter().chain(other) {
            if !parts.contains(part) {
                parts.push(*part);
            }
        }
        parts.truncate(TRIED);
        parts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(name: &str, micros: u64, executed: &str) -> Part {
        let executed = ranges(executed).expect("ranges");
        Part { name: name.to_owned(), cost: Duration::from_micros(micros), executed, applicable: 1 }
    }

    #[test]
    fn cheap_and_specific_parts_are_first_after_those_that_failed_before() {
        let parts = vec![
            part("broad", 10, "0-99"),
            part("dear", 1000, "7"),
            part("specific", 10, "3 5-8"),
            part("other", 1, "9"),
        ];
        let recorded = Recorded::new("numbers", Duration::ZERO, parts);
        let names = |mutant, first: &[usize]| {
            let parts = recorded.parts_of(mutant, first);
            parts.iter().map(|part| recorded.parts[*part].name.as_str()).collect::<Vec<_>>()
        };
        assert_eq!(names(7, &[]), ["specific", "broad", "dear"]);
        assert_eq!(names(7, &[3, 1]), ["dear", "specific", "broad"]);
        assert_eq!(names(4, &[]), ["broad"]);
        assert_eq!(names(100, &[0]), [""; 0]);
        assert_eq!(recorded.executed.len(), 100);
        assert_eq!(recorded.applicable_without(&[0, 2]), 2);
        assert_eq!(recorded.deadline(&[0, 1]), Duration::from_micros(10_100));
    }

    #[test]
    fn killers_of_the_function_come_before_those_of_the_file() {
        let mut killers = Killers::default();
        for (file, function, part) in
            [("a", "f", 1), ("a", "g", 2), ("a", "f", 3), ("b", "f", 4), ("a", "f", 1), ("a", "g", 3)]
        {
            killers.add(file, function, part);
        }
        assert_eq!(killers.of("a", "f"), [1, 3, 2]);
        assert_eq!(killers.of("a", "h"), [3, 1, 2]);
        assert_eq!(killers.of("c", "f"), [0; 0]);
    }
}
