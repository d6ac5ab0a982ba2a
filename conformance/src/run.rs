//! The results of a run as data: every report is made of this and of nothing else.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use traceproof_vectors::Family;
use traceproof_vectors::case::{Level, Polarity};

use crate::verdict::{Direction, Kind, Verdict};

/// Version of the results format. Raised when a field changes its meaning or goes away.
pub const SCHEMA: u32 = 1;

/// Everything that came out of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Run {
    /// Version of this format: 1.
    pub schema: u32,
    /// Version of the harness and of the shipped suites.
    pub harness: String,
    /// Who was judged.
    pub subject: SubjectName,
    /// One result per selected case, in the order of families and paths.
    pub cases: Vec<CaseResult>,
}

/// Who was judged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SubjectName {
    /// The subject's name.
    pub name: String,
    /// The subject's version.
    pub version: String,
}

/// What came out of one case.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CaseResult {
    /// The case's id.
    pub id: String,
    /// Revision of its expectation.
    pub rev: u32,
    /// The family.
    pub family: Family,
    /// The file, relative to the directory of suites, with `/`.
    pub path: String,
    /// The behaviour in a few words.
    pub title: String,
    /// How binding it is.
    pub level: Level,
    /// Whether the rule is kept or broken.
    pub polarity: Polarity,
    /// What the case proves.
    pub clauses: Vec<ClauseName>,
    /// Which bug it catches.
    pub catches: String,
    /// What came out, one for each direction that the case and the subject allow.
    pub checks: Vec<Check>,
}

/// A clause as reports show it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClauseName {
    /// The clause's id.
    pub id: String,
    /// What it requires.
    pub summary: String,
}

/// What came out of one direction of one case.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    /// The direction.
    pub direction: Direction,
    /// What came out.
    #[serde(flatten)]
    pub verdict: Verdict,
}

/// How many checks had which verdict.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally(BTreeMap<Kind, usize>);

impl Tally {
    /// How many had this verdict.
    #[must_use]
    pub fn of(&self, kind: Kind) -> usize {
        self.0.get(&kind).copied().unwrap_or(0)
    }

    /// How many checks there were.
    #[must_use]
    pub fn total(&self) -> usize {
        self.0.values().sum()
    }

    /// How many were judged: all but those that the subject does not claim to support.
    #[must_use]
    pub fn applicable(&self) -> usize {
        self.total() - self.of(Kind::Unsupported)
    }

    fn add(&mut self, kind: Kind) {
        *self.0.entry(kind).or_default() += 1;
    }
}

impl CaseResult {
    /// The checks that failed.
    pub fn failures(&self) -> impl Iterator<Item = &Check> {
        self.checks.iter().filter(|check| check.verdict.kind().is_failure())
    }

    /// Directory of the case within the suites, e.g. `riscv_etrace/branches`.
    #[must_use]
    pub fn folder(&self) -> &str {
        self.path.rsplit_once('/').map_or("", |(folder, _)| folder)
    }
}

impl Run {
    /// The cases with a failure.
    pub fn failed(&self) -> impl Iterator<Item = &CaseResult> {
        self.cases.iter().filter(|case| case.failures().next().is_some())
    }

    /// Whether checks passed and none failed. A run in which nothing was judged is no success.
    #[must_use]
    pub fn is_success(&self) -> bool {
        self.failed().next().is_none() && self.tally().applicable() > 0
    }

    /// Verdicts by family and direction; without what was not checked.
    #[must_use]
    pub fn tallies(&self) -> BTreeMap<(Family, Direction), Tally> {
        let mut tallies = BTreeMap::new();
        for case in &self.cases {
            for check in &case.checks {
                let tally: &mut Tally = tallies.entry((case.family, check.direction)).or_default();
                tally.add(check.verdict.kind());
            }
        }
        tallies
    }

    /// Verdicts over everything.
    #[must_use]
    pub fn tally(&self) -> Tally {
        let mut tally = Tally::default();
        for check in self.cases.iter().flat_map(|case| &case.checks) {
            tally.add(check.verdict.kind());
        }
        tally
    }
}
