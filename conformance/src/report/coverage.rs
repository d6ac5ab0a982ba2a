//! Which clauses are covered, and which are proven, as tables.

use std::fmt::Write as _;

use super::table::{render, table};
use crate::coverage::proof::{Proof, Proven};
use crate::coverage::{ClauseCoverage, Coverage, State};

/// How many clauses of each scope are in which state.
#[must_use]
pub fn summary(coverage: &Coverage) -> String {
    let mut totals = table(&[
        "scope",
        ">clauses",
        ">covered",
        ">no negative",
        ">missing",
        ">untestable",
        ">provisional",
        ">cases",
    ]);
    for scope in coverage.scopes() {
        let entries: Vec<&ClauseCoverage> =
            coverage.clauses.iter().filter(|entry| entry.clause.scope == scope).collect();
        let count = |state: State| entries.iter().filter(|entry| entry.state == state).count().to_string();
        let mut cases: Vec<&String> =
            entries.iter().flat_map(|entry| entry.positive.iter().chain(&entry.negative)).collect();
        cases.sort_unstable();
        cases.dedup();
        totals.add_row([
            scope.to_owned(),
            entries.len().to_string(),
            count(State::Covered),
            count(State::NoNegative),
            count(State::Missing),
            count(State::Untestable),
            entries.iter().filter(|entry| !entry.clause.provisional.is_empty()).count().to_string(),
            cases.len().to_string(),
        ]);
    }
    format!("{}\n{}{}", coverage.family, render(&totals, ""), provisional(coverage))
}

/// How many cases depend on readings that no primary source confirms.
fn provisional(coverage: &Coverage) -> String {
    if coverage.provisional.is_empty() {
        return String::new();
    }
    let readings: Vec<String> =
        coverage.provisional.iter().map(|(reading, cases)| format!("{reading} {}", cases.len())).collect();
    let mut cases: Vec<&String> = coverage.provisional.values().flatten().collect();
    cases.sort_unstable();
    cases.dedup();
    format!(
        "provisional: {} on readings that no primary source confirms ({})\n",
        if cases.len() == 1 { "1 case depends".to_owned() } else { format!("{} cases depend", cases.len()) },
        readings.join(", ")
    )
}

/// One line per clause: state, number of cases, what it requires.
#[must_use]
pub fn clauses<'a>(entries: impl IntoIterator<Item = &'a ClauseCoverage>) -> String {
    let mut lines = table(&["clause", "scope", "level", "state", ">positive", ">negative", "requirement"]);
    let mut empty = true;
    for entry in entries {
        empty = false;
        lines.add_row([
            entry.clause.id.clone(),
            entry.clause.scope.clone(),
            format!("{:?}", entry.clause.level).to_lowercase(),
            entry.state.name().to_owned(),
            entry.positive.len().to_string(),
            entry.negative.len().to_string(),
            format!("{} ({})", entry.clause.summary, entry.clause.source),
        ]);
    }
    if empty { String::new() } else { render(&lines, "") }
}

/// Everything about one clause.
#[must_use]
pub fn clause(entry: &ClauseCoverage) -> String {
    let mut out = format!("{}  {}\n", entry.clause.id, entry.clause.summary);
    let _ = writeln!(
        out,
        "  {}, {:?}, scope {}, {}",
        entry.clause.source,
        entry.clause.level,
        entry.clause.scope,
        entry.state.name()
    );
    if let Some(reason) = &entry.clause.untestable {
        let _ = writeln!(out, "  untestable: {reason}");
    }
    if !entry.clause.provisional.is_empty() {
        let _ = writeln!(
            out,
            "  provisional: no primary source confirms {}",
            entry.clause.provisional.join(", ")
        );
    }
    for (polarity, cases) in [("positive", &entry.positive), ("negative", &entry.negative)] {
        if !cases.is_empty() {
            let _ = writeln!(out, "  {polarity}: {}", cases.join(" "));
        }
    }
    out
}

/// How many clauses with cases are proven, of each scope.
#[must_use]
pub fn proof_summary(coverage: &Coverage, proofs: &[Proven<'_>]) -> String {
    let mut totals = table(&["scope", ">cited", ">proven", ">fragile", ">cited only", ">no saboteur"]);
    for scope in coverage.scopes() {
        let of_scope: Vec<Proof> = proofs
            .iter()
            .filter(|proven| proven.entry.clause.scope == scope)
            .map(|found| found.proof)
            .collect();
        let count = |proof: Proof| of_scope.iter().filter(|found| **found == proof).count().to_string();
        let counts = Proof::ALL.map(count);
        totals.add_row([scope.to_owned(), of_scope.len().to_string()].into_iter().chain(counts));
    }
    format!("\n{}", render(&totals, ""))
}

/// One line for each of them that is not proven or fragile: its cases, and the saboteurs that name it.
#[must_use]
pub fn unproven(proofs: &[Proven<'_>]) -> String {
    let mut lines = table(&["clause", "proof", ">cases", "saboteurs", "requirement"]);
    let mut empty = true;
    for Proven { entry, proof, saboteurs } in proofs.iter().filter(|found| found.proof != Proof::Proven) {
        empty = false;
        let names: Vec<&str> = saboteurs.iter().map(|(name, _)| *name).collect();
        lines.add_row([
            entry.clause.id.clone(),
            proof.name().to_owned(),
            (entry.positive.len() + entry.negative.len()).to_string(),
            names.join(" "),
            entry.clause.summary.clone(),
        ]);
    }
    if empty { String::new() } else { format!("\n{}", render(&lines, "")) }
}

/// Which kills prove a clause.
#[must_use]
pub fn proof(proven: &Proven<'_>) -> String {
    let mut out = format!("  {}\n", proven.proof.name());
    for (saboteur, killers) in &proven.saboteurs {
        let cases = if killers.is_empty() { "no case that cites it".to_owned() } else { killers.join(" ") };
        let _ = writeln!(out, "  saboteur {saboteur}: killed by {cases}");
    }
    out
}
