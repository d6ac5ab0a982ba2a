//! What came out: a table by family and crate, the survivors, and all of it as JSON.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use comfy_table::{CellAlignment, Table, presets};
use serde::Serialize;

use crate::compile::Built;
use crate::equivalent::{self, Equivalent};
use crate::judge::{Judged, Judgement};
use crate::mutant::Mutant;
use crate::outcome::Outcome;
use crate::outside::Outside;
use crate::planted::Bug;
use crate::worker::Failure;

/// Numbers of mutants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// That compile.
    pub viable: usize,
    /// That do not compile.
    pub unviable: usize,
    /// Of the viable ones, that were judged.
    pub judged: usize,
    /// Whose place the suite does not execute.
    pub not_executed: usize,
    /// That a check detects, or the end of the process.
    pub killed: usize,
    /// That do not end in time.
    pub timed_out: usize,
    /// That nothing detects.
    pub survived: usize,
    /// That nothing can detect, because they change no behaviour.
    pub equivalent: usize,
    /// That nothing detects in code that no verdict depends on.
    pub outside: usize,
    /// Of those killed, that only one case detects.
    pub fragile: usize,
}

impl Counts {
    fn add(&mut self, other: &Self) {
        self.viable += other.viable;
        self.unviable += other.unviable;
        self.judged += other.judged;
        self.not_executed += other.not_executed;
        self.killed += other.killed;
        self.timed_out += other.timed_out;
        self.survived += other.survived;
        self.equivalent += other.equivalent;
        self.outside += other.outside;
        self.fragile += other.fragile;
    }

    /// Percentage of the executed ones that are detected; equivalent ones do not count.
    #[must_use]
    pub fn of_executed(&self) -> Option<f64> {
        percentage(self.killed + self.timed_out, self.killed + self.timed_out + self.survived)
    }

    /// Percentage of all judged ones that are detected; equivalent ones and those outside do not count.
    #[must_use]
    pub fn of_judged(&self) -> Option<f64> {
        percentage(self.killed + self.timed_out, self.judged - self.equivalent - self.outside)
    }
}

fn percentage(part: usize, whole: usize) -> Option<f64> {
    (whole > 0).then(|| 100.0 * part as f64 / whole as f64)
}

/// What came out.
#[derive(Debug)]
pub struct Report<'a> {
    built: &'a Built,
    judgement: &'a Judgement,
    /// Whether kills were counted.
    counted: bool,
    /// Reasons by number.
    equivalent: BTreeMap<usize, String>,
    /// Entries of the list that no mutant has.
    pub stale: Vec<Equivalent>,
    /// Code that no verdict depends on.
    outside: Vec<Outside>,
}

impl<'a> Report<'a> {
    /// The report; `list` has the mutants that change no behaviour.
    #[must_use]
    pub fn new(built: &'a Built, judgement: &'a Judgement, list: &[Equivalent], counted: bool) -> Self {
        let (equivalent, stale) = equivalent::find(list, &built.found.mutants);
        Self { built, judgement, counted, equivalent, stale, outside: Vec::new() }
    }

    /// The same, with code that no verdict depends on.
    #[must_use]
    pub fn with_outside(self, outside: Vec<Outside>) -> Self {
        Self { outside, ..self }
    }

    /// Entries of code that has no mutants.
    #[must_use]
    pub fn empty_outside(&self) -> Vec<&Outside> {
        let mutants = &self.built.found.mutants;
        self.outside.iter().filter(|entry| !mutants.iter().any(|mutant| entry.has(mutant))).collect()
    }

    /// The reason why no verdict depends on a mutant, unless the suite detects it.
    fn outside(&self, mutant: &Mutant, outcome: &Outcome) -> Option<&str> {
        let entry = self.outside.iter().find(|entry| entry.has(mutant))?;
        (!outcome.is_killed()).then_some(entry.reason.as_str())
    }

    fn mutant(&self, number: usize) -> Option<&'a Mutant> {
        self.built.found.mutants.get(number)
    }

    fn with(&self, wanted: impl Fn(&Judged) -> bool) -> Vec<(&'a Mutant, &'a Judged)> {
        let judged = self.judgement.judged.iter().filter(|judged| wanted(judged));
        judged.filter_map(|judged| Some((self.mutant(judged.mutant)?, judged))).collect()
    }

    /// Mutants that nothing detects although something could.
    #[must_use]
    pub fn survivors(&self) -> Vec<&'a Mutant> {
        let survived =
            |it: &Judged| it.outcome == Outcome::Survived && !self.equivalent.contains_key(&it.mutant);
        self.with(survived)
            .into_iter()
            .filter(|(mutant, judged)| self.outside(mutant, &judged.outcome).is_none())
            .map(|(mutant, _)| mutant)
            .collect()
    }

    /// Mutants that are said to change no behaviour, and are detected.
    #[must_use]
    pub fn refuted(&self) -> Vec<&'a Mutant> {
        let refuted = |it: &Judged| it.outcome.is_killed() && self.equivalent.contains_key(&it.mutant);
        self.with(refuted).into_iter().map(|(mutant, _)| mutant).collect()
    }

    /// Numbers by module and crate.
    #[must_use]
    pub fn counts(&self) -> BTreeMap<(&'a str, &'a str), Counts> {
        let mut rows: BTreeMap<(&str, &str), Counts> = BTreeMap::new();
        for &number in &self.judgement.scope {
            let Some(mutant) = self.mutant(number) else { continue };
            let row = rows.entry((mutant.module(), mutant.package())).or_default();
            let unviable = self.built.unviable.contains(&number);
            *(if unviable { &mut row.unviable } else { &mut row.viable }) += 1;
        }
        for (mutant, judged) in self.with(|_| true) {
            let row = rows.entry((mutant.module(), mutant.package())).or_default();
            row.judged += 1;
            row.fragile += usize::from(self.counted && judged.outcome.only_case().is_some());
            *match &judged.outcome {
                _ if self.outside(mutant, &judged.outcome).is_some() => &mut row.outside,
                Outcome::NotExecuted => &mut row.not_executed,
                Outcome::Survived if self.equivalent.contains_key(&judged.mutant) => &mut row.equivalent,
                Outcome::Survived => &mut row.survived,
                Outcome::Killed { .. } | Outcome::Crashed => &mut row.killed,
                Outcome::TimedOut => &mut row.timed_out,
            } += 1;
        }
        rows
    }

    /// The sum of all rows.
    #[must_use]
    pub fn total(&self) -> Counts {
        self.counts().values().fold(Counts::default(), |mut total, row| {
            total.add(row);
            total
        })
    }

    /// Table and lists as text.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = self.table();
        let mut list = |title: &str, lines: Vec<String>| {
            if !lines.is_empty() {
                let _ = write!(text, "\n{title}\n");
                lines.iter().for_each(|line| {
                    let _ = writeln!(text, "  {line}");
                });
            }
        };
        let line = |mutant: &Mutant| format!("{} {mutant}", mutant.id);
        let lines = |mutants: Vec<&Mutant>| mutants.into_iter().map(line).collect();
        list("survived:", lines(self.survivors()));
        let idle: BTreeMap<(&str, &str), usize> = self
            .with(|it| it.outcome == Outcome::NotExecuted)
            .iter()
            .filter(|(mutant, judged)| self.outside(mutant, &judged.outcome).is_none())
            .fold(BTreeMap::new(), |mut idle, (mutant, _)| {
                *idle.entry((mutant.file.as_str(), mutant.function.as_str())).or_default() += 1;
                idle
            });
        list(
            "not executed, by function:",
            idle.iter().map(|((file, function), count)| format!("{file}: {function}: {count}")).collect(),
        );
        if self.counted {
            let fragile = self.with(|it| it.outcome.only_case().is_some());
            let line = |(mutant, it): &(&Mutant, &Judged)| {
                format!("{}: {} {mutant}", it.outcome.only_case().unwrap_or_default(), mutant.id)
            };
            list("detected by a single case:", fragile.iter().map(line).collect());
        }
        list("in the list of equivalents, but detected:", lines(self.refuted()));
        let stale =
            self.stale.iter().map(|it| format!("{}: {}: {} in {}", it.file, it.change, it.text, it.function));
        list("in the list of equivalents, but not in the source:", stale.collect());
        let empty = self.empty_outside().into_iter().map(|it| {
            it.function
                .as_ref()
                .map_or_else(|| it.file.clone(), |function| format!("{}: {function}", it.file))
        });
        list("in the list of code outside, but without mutants:", empty.collect());
        text
    }

    /// What became of each planted bug, file by file: numbers, a line for each with the first check that detects it,
    /// and for those that nothing detects why they are bugs.
    #[must_use]
    pub fn bugs(&self, bugs: &[Bug]) -> String {
        let outcomes: BTreeMap<usize, &Outcome> =
            self.judgement.judged.iter().map(|judged| (judged.mutant, &judged.outcome)).collect();
        let mut text = String::new();
        let numbered: Vec<(usize, &Bug)> = bugs.iter().enumerate().collect();
        for of_file in numbered.chunk_by(|(_, first), (_, second)| first.list == second.list) {
            let mut table = Table::new();
            table.load_style(presets::NOTHING);
            table.set_header(["bug", "clause", "outcome", "detected by"]);
            let mut more = String::new();
            let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
            for &(number, bug) in of_file {
                let Bug { name, clause, why, .. } = bug;
                let outcome = match outcomes.get(&number) {
                    None if self.built.unviable.contains(&number) => "unviable",
                    None => continue,
                    Some(outcome) => outcome.name(),
                };
                *counts.entry(outcome).or_default() += 1;
                let detected = outcomes.get(&number).map_or_else(String::new, |it| self.detected_by(it));
                table.add_row([name.clone(), clause.clone(), outcome.to_owned(), detected]);
                if outcome == "unviable" {
                    let error = self.built.errors.get(&number).map_or("", String::as_str);
                    let _ = write!(more, "\n{name} does not compile:\n{error}");
                } else if matches!(outcome, "survived" | "not executed") {
                    let _ = write!(more, "\n{name} ({clause}), {outcome}: {why}\n");
                }
            }
            let numbers: Vec<String> = counts.iter().map(|(name, count)| format!("{count} {name}")).collect();
            let list = of_file.first().map_or("", |(_, bug)| bug.list.as_str());
            let _ = writeln!(text, "{list}: {}", numbers.join(", "));
            for line in table.lines() {
                let _ = writeln!(text, "{}", line.trim_end());
            }
            text.push_str(&more);
            text.push('\n');
        }
        text
    }

    fn detected_by(&self, outcome: &Outcome) -> String {
        match outcome {
            Outcome::Crashed => String::from("the process crashes"),
            Outcome::Killed { failures } => self.first_of(failures),
            _ => String::new(),
        }
    }

    fn first_of(&self, failures: &[Failure]) -> String {
        let first = failures.first().map_or_else(String::new, |it| format!("{} {}", it.case, it.direction));
        let cases: BTreeSet<&str> = failures.iter().map(|failure| failure.case.as_str()).collect();
        if self.counted { format!("{first}; {} cases", cases.len()) } else { first }
    }

    fn table(&self) -> String {
        let mut table = Table::new();
        table.load_style(presets::NOTHING);
        let mut headings = vec!["module", "crate", "viable", "unviable", "judged", "not executed", "killed"];
        headings.extend(["timeout", "survived", "equivalent", "outside"]);
        headings.extend(self.counted.then_some("fragile"));
        headings.extend(["% of executed", "% of judged"]);
        table.set_header(&headings);
        for (index, _) in headings.iter().enumerate() {
            if let Some(column) = table.column_mut(index) {
                column.set_padding((u16::from(index > 0), 1));
                if index > 1 {
                    column.set_cell_alignment(CellAlignment::Right);
                }
            }
        }
        let rows = self.counts();
        for ((module, package), counts) in &rows {
            table.add_row(self.row(module, package, counts));
        }
        if rows.len() > 1 {
            table.add_row(self.row("all", "", &self.total()));
        }
        table.lines().map(|line| format!("{}\n", line.trim_end())).collect()
    }

    fn row(&self, module: &str, package: &str, counts: &Counts) -> Vec<String> {
        let Counts { viable, unviable, judged, not_executed, killed, timed_out, .. } = counts;
        let mut row = vec![module.to_owned(), package.to_owned()];
        row.extend([viable, unviable, judged, not_executed, killed, timed_out].map(ToString::to_string));
        row.extend([counts.survived, counts.equivalent, counts.outside].map(|count| count.to_string()));
        row.extend(self.counted.then(|| counts.fragile.to_string()));
        let share =
            |share: Option<f64>| share.map_or_else(|| String::from("-"), |share| format!("{share:.1}"));
        row.extend([share(counts.of_executed()), share(counts.of_judged())]);
        row
    }

    /// Everything as JSON.
    ///
    /// # Errors
    ///
    /// None that this data has.
    pub fn json(&self) -> serde_json::Result<String> {
        let mutants = self.with(|_| true).into_iter().map(|(mutant, judged)| JudgedMutant {
            mutant,
            outcome: &judged.outcome,
            equivalent: self.equivalent.get(&judged.mutant).map(String::as_str),
            outside: self.outside(mutant, &judged.outcome),
            executed_by: &judged.executed_by,
        });
        let rows =
            self.counts().into_iter().map(|((module, package), counts)| Row { module, package, counts });
        let families: BTreeSet<&str> = self.judgement.clean.keys().map(String::as_str).collect();
        serde_json::to_string_pretty(&Whole {
            schema: 1,
            families,
            skipped: self.built.found.skipped,
            rows: rows.collect(),
            mutants: mutants.collect(),
        })
    }
}

#[derive(Serialize)]
struct Whole<'a> {
    schema: u32,
    families: BTreeSet<&'a str>,
    skipped: crate::find::Skipped,
    rows: Vec<Row<'a>>,
    mutants: Vec<JudgedMutant<'a>>,
}

#[derive(Serialize)]
struct Row<'a> {
    module: &'a str,
    #[serde(rename = "crate")]
    package: &'a str,
    #[serde(flatten)]
    counts: Counts,
}

#[derive(Serialize)]
struct JudgedMutant<'a> {
    #[serde(flatten)]
    mutant: &'a Mutant,
    #[serde(flatten)]
    outcome: &'a Outcome,
    #[serde(skip_serializing_if = "Option::is_none")]
    equivalent: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    outside: Option<&'a str>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    executed_by: &'a [String],
}
