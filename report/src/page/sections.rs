//! The parts of the page that need no script, as data for its template.

use std::collections::BTreeMap;

use serde::Serialize;

use super::Inputs;
use crate::causes::Cause;
use crate::changes::{self, Change};
use crate::mutants::{ModuleRow, Mutant, Mutants};
use crate::outcome::Group;
use crate::results::{Row, Run};
use crate::tally::{self, Tally};

/// Largest number of causes with an example.
pub(super) const CAUSES: usize = 150;

/// Largest number of names of a list.
const NAMES: usize = 12;

/// Largest number of mutants that survived.
const SURVIVORS: usize = 500;

/// Largest number of changes of each kind.
const CHANGES: usize = 200;

#[derive(Serialize)]
pub(super) struct Subject<'a> {
    label: &'a str,
    argument: Option<&'a str>,
    harness: &'a str,
    suite: Option<&'a str>,
    incomplete: bool,
    cases: usize,
    programs: usize,
    failed: usize,
    tally: Tally,
    rate: Option<String>,
}

pub(super) fn subjects<'a>(runs: &'a [Run], labels: &'a [String]) -> Vec<Subject<'a>> {
    let subject = |(run, label): (&'a Run, &'a String)| {
        let tally = tally::of_run(run);
        let fails = |case: &&crate::results::Case| case.checks.iter().any(|check| check.outcome.is_failure());
        Subject {
            label,
            argument: run.subject.argument.as_deref(),
            harness: &run.harness,
            suite: run.suite.as_deref(),
            incomplete: run.incomplete,
            cases: run.cases.len(),
            programs: run.programs.len(),
            failed: run.cases.iter().filter(fails).count(),
            tally,
            rate: tally.rate(),
        }
    };
    runs.iter().zip(labels).map(subject).collect()
}

/// A row of a table with a tally for each subject.
#[derive(Serialize)]
pub(super) struct TallyRow {
    names: Vec<String>,
    cells: Vec<Cell>,
}

#[derive(Serialize)]
struct Cell {
    tally: Tally,
    rate: Option<String>,
    /// Shares of the judged checks in percent, for the bar.
    pass: u64,
    known: u64,
    fail: u64,
}

impl Cell {
    fn new(tally: Tally) -> Self {
        let share = |count: u64| (count * 100).checked_div(tally.judged()).unwrap_or(0);
        let visible = |count: u64| if count > 0 { share(count).max(4) } else { 0 };
        let (known, fail) = (visible(tally.known), visible(tally.fail));
        let pass = if tally.judged() > 0 { 100_u64.saturating_sub(known + fail) } else { 0 };
        Self { tally, rate: tally.rate(), pass, known, fail }
    }
}

pub(super) fn directions(runs: &[Run]) -> Vec<TallyRow> {
    rows(runs, |run| {
        let tallies = tally::by_direction(run).into_iter();
        tallies.map(|((protocol, direction), tally)| (vec![protocol, direction], tally)).collect()
    })
}

pub(super) fn folders(runs: &[Run]) -> Vec<TallyRow> {
    rows(runs, |run| tally::by_folder(run).into_iter().map(|(folder, tally)| (vec![folder], tally)).collect())
}

fn rows(runs: &[Run], tallies: impl Fn(&Run) -> Vec<(Vec<String>, Tally)>) -> Vec<TallyRow> {
    let mut rows: BTreeMap<Vec<String>, Vec<Tally>> = BTreeMap::new();
    for (index, run) in runs.iter().enumerate() {
        for (names, tally) in tallies(run) {
            let row = rows.entry(names).or_insert_with(|| vec![Tally::default(); runs.len()]);
            if let Some(slot) = row.get_mut(index) {
                *slot = tally;
            }
        }
    }
    let row = |(names, tallies): (Vec<String>, Vec<Tally>)| TallyRow {
        names,
        cells: tallies.into_iter().map(Cell::new).collect(),
    };
    rows.into_iter().map(row).collect()
}

#[derive(Serialize)]
pub(super) struct CauseView<'a> {
    subject: &'a str,
    protocol: &'a str,
    kind: &'a str,
    count: usize,
    example: Example<'a>,
    names: Vec<String>,
    more: usize,
}

#[derive(Serialize)]
struct Example<'a> {
    name: &'a str,
    direction: &'a str,
    /// Whether it is a case, which the script can show.
    is_case: bool,
    title: Option<&'a str>,
    sentence: String,
    place: Option<String>,
    packet: Option<&'a str>,
    rows: &'a [Row],
    command: String,
}

pub(super) fn causes<'a>(runs: &'a [Run], labels: &'a [String], all: &'a [Cause<'a>]) -> Vec<CauseView<'a>> {
    let view = |cause: &'a Cause<'a>| {
        let (run, label) = (runs.get(cause.run)?, labels.get(cause.run)?);
        let (names, more) = names(cause.failures.iter().map(|failure| failure.name.clone()));
        Some(CauseView {
            subject: label,
            protocol: cause.protocol,
            kind: &cause.kind,
            count: cause.failures.len(),
            example: example(run, cause)?,
            names,
            more,
        })
    };
    all.iter().take(CAUSES).filter_map(view).collect()
}

fn example<'a>(run: &'a Run, cause: &'a Cause<'a>) -> Option<Example<'a>> {
    let first = cause.failures.first()?;
    let case = run.cases.iter().find(|case| case.id == first.name && case.protocol() == cause.protocol);
    let program = || run.programs.iter().find(|program| program.name() == first.name);
    let command = match case {
        Some(case) => run.reproduce(case),
        None => program().map(|program| run.reproduce_program(program)).unwrap_or_default(),
    };
    Some(Example {
        name: &first.name,
        direction: first.direction,
        is_case: case.is_some(),
        title: case.map(|case| case.title.as_str()),
        sentence: first.outcome.sentence(),
        place: first.outcome.place.map(|place| place.to_string()),
        packet: first.outcome.packet.as_deref(),
        rows: &first.outcome.rows,
        command,
    })
}

/// The first names, each once, and the number of others.
fn names(all: impl Iterator<Item = String>) -> (Vec<String>, usize) {
    let mut names: Vec<String> = Vec::new();
    for name in all {
        if names.last() != Some(&name) {
            names.push(name);
        }
    }
    let more = names.len().saturating_sub(NAMES);
    names.truncate(NAMES);
    (names, more)
}

/// A module with the share of its mutants that is detected.
#[derive(Serialize)]
pub(super) struct Module<'a> {
    #[serde(flatten)]
    row: &'a ModuleRow,
    rate: Option<String>,
}

pub(super) fn modules(mutants: &Mutants) -> Vec<Module<'_>> {
    mutants.rows.iter().map(|row| Module { row, rate: row.of_executed() }).collect()
}

/// Mutants that nothing detects, as many as are shown, and the number of others.
#[derive(Default, Serialize)]
pub(super) struct Survivors<'a> {
    rows: Vec<Survivor<'a>>,
    more: usize,
}

#[derive(Serialize)]
struct Survivor<'a> {
    id: &'a str,
    place: String,
    function: &'a str,
    change: &'a str,
    text: &'a str,
}

pub(super) fn survivors(mutants: &Mutants) -> Survivors<'_> {
    let more = mutants.survivors().count().saturating_sub(SURVIVORS);
    Survivors { rows: mutants.survivors().take(SURVIVORS).map(survivor).collect(), more }
}

fn survivor(Mutant { id, file, line, function, change, text, .. }: &Mutant) -> Survivor<'_> {
    Survivor { id, place: format!("{file}:{line}"), function, change, text }
}

#[derive(Serialize)]
pub(super) struct Known<'a> {
    subject: &'a str,
    /// Whether the checks pass, so that the baseline is stale.
    passes: bool,
    reason: &'a str,
    finding: &'a str,
    count: usize,
    names: Vec<String>,
    more: usize,
}

/// Known failures by their reasons, the most frequent first; then those that pass.
pub(super) fn known<'a>(runs: &'a [Run], labels: &'a [String]) -> Vec<Known<'a>> {
    let mut groups: BTreeMap<(usize, bool, &str, &str), Vec<String>> = BTreeMap::new();
    for (index, run) in runs.iter().enumerate() {
        for judged in run.judged() {
            let passes = judged.outcome.verdict == "unexpected-pass";
            if passes || judged.outcome.kind().group == Group::Known {
                let key = (index, passes, judged.outcome.reason.as_str(), judged.outcome.finding.as_str());
                groups.entry(key).or_default().push(format!("{} {}", judged.name, judged.direction));
            }
        }
    }
    let group =
        |((index, passes, reason, finding), checks): ((usize, bool, &'a str, &'a str), Vec<String>)| {
            let count = checks.len();
            let (names, more) = names(checks.into_iter());
            let subject = labels.get(index).map_or("", String::as_str);
            Known { subject, passes, reason, finding, count, names, more }
        };
    let mut all: Vec<Known<'a>> = groups.into_iter().map(group).collect();
    all.sort_by_key(|known| (known.passes, std::cmp::Reverse(known.count)));
    all
}

#[derive(Serialize)]
pub(super) struct Changes {
    before: String,
    after: String,
    groups: Vec<ChangeGroup>,
}

#[derive(Serialize)]
struct ChangeGroup {
    title: &'static str,
    count: usize,
    rows: Vec<ChangeRow>,
    more: usize,
}

#[derive(Serialize)]
struct ChangeRow {
    name: String,
    direction: String,
    before: String,
    after: String,
}

/// The differences to the earlier run.
pub(super) fn changes(inputs: Inputs<'_>) -> Option<Changes> {
    let (before, after) = (inputs.earlier?, inputs.later()?);
    let all = changes::changes(before, after);
    let groups = Change::ALL.into_iter().filter_map(|change| {
        let of_kind: Vec<_> = all.iter().filter(|changed| changed.change == change).collect();
        let shown = |outcome: Option<&crate::results::Outcome>| {
            outcome.map_or_else(|| String::from("-"), crate::results::Outcome::signature)
        };
        let row = |changed: &&changes::Changed<'_>| ChangeRow {
            name: changed.name.clone(),
            direction: changed.direction.to_owned(),
            before: shown(changed.before),
            after: shown(changed.after),
        };
        (!of_kind.is_empty()).then(|| ChangeGroup {
            title: change.title(),
            count: of_kind.len(),
            rows: of_kind.iter().take(CHANGES).map(row).collect(),
            more: of_kind.len().saturating_sub(CHANGES),
        })
    });
    let label = |run: &Run| format!("{}, suite {}", run.label(), run.harness);
    Some(Changes { before: label(before), after: label(after), groups: groups.collect() })
}
