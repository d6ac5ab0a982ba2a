//! How many checks had which outcome.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::outcome::Group;
use crate::results::{Outcome, Run};

/// Numbers of checks by what their verdicts mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// Passed.
    pub pass: u64,
    /// Failed.
    pub fail: u64,
    /// Failed as the baseline says.
    pub known: u64,
    /// Not judged.
    pub skip: u64,
}

impl Tally {
    /// Counts one more.
    pub fn add(&mut self, outcome: &Outcome) {
        match outcome.kind().group {
            Group::Pass => self.pass += 1,
            Group::Fail => self.fail += 1,
            Group::Known => self.known += 1,
            Group::Skipped => self.skip += 1,
        }
    }

    /// All that were judged.
    #[must_use]
    pub const fn judged(&self) -> u64 {
        self.pass + self.fail + self.known
    }

    /// Passed in percent of what was judged, rounded down to a tenth so that 100.0 means all.
    #[must_use]
    pub fn rate(&self) -> Option<String> {
        let tenths = (self.pass * 1000).checked_div(self.judged())?;
        Some(format!("{}.{} %", tenths / 10, tenths % 10))
    }
}

/// All checks of a run.
#[must_use]
pub fn of_run(run: &Run) -> Tally {
    let mut tally = Tally::default();
    for judged in run.judged() {
        tally.add(judged.outcome);
    }
    tally
}

/// By protocol and direction.
#[must_use]
pub fn by_direction(run: &Run) -> BTreeMap<(String, String), Tally> {
    let mut tallies: BTreeMap<(String, String), Tally> = BTreeMap::new();
    for judged in run.judged() {
        tallies
            .entry((judged.protocol.to_owned(), judged.direction.to_owned()))
            .or_default()
            .add(judged.outcome);
    }
    tallies
}

/// By family and scope of the clauses that a case cites; a check counts once in each scope.
#[must_use]
pub fn by_scope(run: &Run) -> BTreeMap<(String, String), Tally> {
    let scopes: BTreeMap<&str, (&str, &str)> = run
        .clauses
        .iter()
        .map(|clause| (clause.id.as_str(), (clause.family.as_str(), clause.scope.as_str())))
        .collect();
    let mut tallies: BTreeMap<(String, String), Tally> = BTreeMap::new();
    for case in &run.cases {
        let mut cited: Vec<(&str, &str)> =
            case.clauses.iter().filter_map(|clause| scopes.get(clause.id.as_str()).copied()).collect();
        cited.sort_unstable();
        cited.dedup();
        for (family, scope) in cited {
            let tally = tallies.entry((family.to_owned(), scope.to_owned())).or_default();
            for check in &case.checks {
                tally.add(&check.outcome);
            }
        }
    }
    tallies
}

/// By directory of the suite.
#[must_use]
pub fn by_folder(run: &Run) -> BTreeMap<String, Tally> {
    let mut tallies: BTreeMap<String, Tally> = BTreeMap::new();
    for case in &run.cases {
        let tally = tallies.entry(case.folder().to_owned()).or_default();
        for check in &case.checks {
            tally.add(&check.outcome);
        }
    }
    tallies
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn checks_are_counted_by_what_they_mean() {
        let run = sample::small("acme");
        let tally = of_run(&run);
        assert_eq!(tally, Tally { pass: 2, fail: 3, known: 1, skip: 1 });
        assert_eq!(tally.rate().as_deref(), Some("33.3 %"));
        assert_eq!(Tally::default().rate(), None);
        assert_eq!(Tally { pass: 9999, fail: 1, ..Tally::default() }.rate().as_deref(), Some("99.9 %"));
    }

    #[test]
    fn a_scope_has_the_checks_of_the_cases_that_cite_it() {
        let tallies = by_scope(&sample::small("acme"));
        let only = Tally { pass: 1, fail: 3, known: 1, skip: 1 };
        assert_eq!(tallies, [((String::from("riscv_etrace"), String::from("packets")), only)].into());
        let folders = by_folder(&sample::small("acme"));
        assert_eq!(folders["arm_etm/branches"], Tally { pass: 0, fail: 1, known: 1, skip: 1 });
    }
}
