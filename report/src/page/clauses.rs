//! The clauses of the judged families, with the cases that cite them.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::results::{Cited, Clause, Run};

/// A clause; its cases are in the rows of cases.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct ClauseRow<'a> {
    id: &'a str,
    family: &'a str,
    scope: &'a str,
    level: &'a str,
    source: &'a str,
    summary: &'a str,
    /// Whether a wire can violate it: then a negative case is wanted, too.
    violable: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    untestable: Option<&'a str>,
}

/// The registries of all runs, each clause once; of results without registries, the clauses that cases cite.
pub(super) fn rows(runs: &[Run]) -> Vec<ClauseRow<'_>> {
    let mut rows = Vec::new();
    let mut known = BTreeSet::new();
    for clause in runs.iter().flat_map(|run| &run.clauses) {
        if known.insert(clause.id.as_str()) {
            rows.push(of_registry(clause));
        }
    }
    let mut cited: BTreeMap<&str, (&str, &Cited)> = BTreeMap::new();
    for case in runs.iter().flat_map(|run| &run.cases) {
        for clause in &case.clauses {
            cited.entry(&clause.id).or_insert((&case.family, clause));
        }
    }
    let missing = cited.into_values().filter(|(_, clause)| !known.contains(clause.id.as_str()));
    rows.extend(missing.map(|(family, clause)| ClauseRow {
        id: &clause.id,
        family,
        scope: "",
        level: "",
        source: "",
        summary: &clause.summary,
        violable: false,
        untestable: None,
    }));
    rows
}

fn of_registry(clause: &Clause) -> ClauseRow<'_> {
    ClauseRow {
        id: &clause.id,
        family: &clause.family,
        scope: &clause.scope,
        level: &clause.level,
        source: &clause.source,
        summary: &clause.summary,
        violable: clause.violable,
        untestable: clause.untestable.as_deref(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn clauses_without_a_case_are_there_and_none_is_there_twice() {
        let runs = [sample::small("acme"), sample::small("other")];
        let ids: Vec<&str> = rows(&runs).iter().map(|row| row.id).collect();
        assert_eq!(ids, ["RVET-PKT-001", "RVET-PKT-002"]);
    }

    #[test]
    fn results_without_registries_have_the_clauses_that_cases_cite() {
        let mut run = sample::small("acme");
        run.clauses.clear();
        let runs = [run];
        let rows = rows(&runs);
        assert_eq!(rows.len(), 1);
        assert_eq!((rows[0].id, rows[0].summary, rows[0].scope), ("RVET-PKT-001", "what it requires", ""));
    }
}
