//! What the script of the page shows: every case, compressed and embedded as text.
//!
//! Cases and their sources are embedded once, however many subjects were judged. If the page would become larger than
//! its limit, examples of frequent causes are left out first; the page says what was left out.

use std::collections::BTreeMap;
use std::io::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::DeflateEncoder;
use serde::Serialize;

use super::clauses::{self, ClauseRow};
use crate::error::Error;
use crate::kills::Matrices;
use crate::outcome::KINDS;
use crate::results::{Case, Check, Evidence, Outcome, Place, Row, Run};

/// Largest number of bytes of the embedded text.
pub(super) const LIMIT: usize = 1_500_000;

/// How much of each cause is embedded; from everything to almost nothing.
const STEPS: [Detail; 6] = [
    Detail { evidence: usize::MAX, rows: usize::MAX, sources: true },
    Detail { evidence: 8, rows: usize::MAX, sources: true },
    Detail { evidence: 2, rows: usize::MAX, sources: true },
    Detail { evidence: 1, rows: 50, sources: true },
    Detail { evidence: 1, rows: 10, sources: false },
    Detail { evidence: 0, rows: 1, sources: false },
];

/// How much is embedded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Detail {
    /// Dissections of each cause.
    pub(super) evidence: usize,
    /// First differences of each cause.
    pub(super) rows: usize,
    /// The texts of cases.
    pub(super) sources: bool,
}

/// The embedded text, and how much of the results it has.
pub(super) struct Embedded {
    pub(super) text: String,
    pub(super) detail: Detail,
}

/// Everything that fits.
pub(super) fn embedded(runs: &[Run], labels: &[String], kills: Option<&Matrices>) -> Result<Embedded, Error> {
    let mut last = None;
    for detail in STEPS {
        let text = compressed(&data(runs, labels, kills, detail))?;
        let fits = text.len() <= LIMIT;
        last = Some(Embedded { text, detail });
        if fits {
            break;
        }
    }
    last.ok_or(Error::Nothing)
}

/// JSON, deflated without a header, in Base64.
fn compressed(data: &Data<'_>) -> Result<String, Error> {
    let json = serde_json::to_vec(data).map_err(|error| Error::json("data", &error))?;
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
    // A vector takes every byte.
    let bytes = encoder.write_all(&json).and_then(|()| encoder.finish()).unwrap_or_default();
    Ok(STANDARD.encode(bytes))
}

#[derive(Serialize)]
struct Data<'a> {
    subjects: &'a [String],
    /// Name, symbol and group of every verdict.
    kinds: BTreeMap<&'static str, (&'static str, &'static str)>,
    cases: Vec<CaseRow<'a>>,
    clauses: Vec<ClauseRow<'a>>,
    saboteurs: Vec<SaboteurRow<'a>>,
}

#[derive(Serialize)]
struct CaseRow<'a> {
    id: &'a str,
    protocol: &'a str,
    path: &'a str,
    title: &'a str,
    level: &'a str,
    polarity: &'a str,
    rev: u64,
    clauses: Vec<&'a str>,
    catches: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<&'a str>,
    /// For each subject; `null` where its run does not have the case.
    results: Vec<Option<ResultRow<'a>>>,
}

#[derive(Serialize)]
struct ResultRow<'a> {
    checks: Vec<CheckRow<'a>>,
    commands: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    evidence: Option<&'a Evidence>,
}

#[derive(Serialize)]
struct CheckRow<'a> {
    direction: &'a str,
    verdict: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cause: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    place: Option<Place>,
    #[serde(skip_serializing_if = "Option::is_none")]
    packet: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rows: Option<&'a [Row]>,
}

#[derive(Serialize)]
struct SaboteurRow<'a> {
    protocol: &'a str,
    name: &'a str,
    side: &'a str,
    bug: &'a str,
    source: &'a str,
    judged: u64,
    killers: Vec<&'a str>,
}

fn data<'a>(runs: &'a [Run], labels: &'a [String], kills: Option<&'a Matrices>, detail: Detail) -> Data<'a> {
    let mut cases: Vec<CaseRow<'a>> = Vec::new();
    let mut known: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for (subject, run) in runs.iter().enumerate() {
        let mut budget = Budget { detail, evidence: BTreeMap::new(), rows: BTreeMap::new() };
        for case in &run.cases {
            let index = *known.entry((case.protocol(), case.id.as_str())).or_insert_with(|| {
                cases.push(case_row(case, runs.len()));
                cases.len() - 1
            });
            let Some(row) = cases.get_mut(index) else { continue };
            if row.source.is_none() && detail.sources {
                row.source = run.details.get(&case.id).and_then(|detail| detail.source.as_deref());
            }
            if let Some(result) = row.results.get_mut(subject) {
                *result = Some(budget.result(run, case));
            }
        }
    }
    Data {
        subjects: labels,
        kinds: KINDS.iter().map(|kind| (kind.name, (kind.symbol, kind.group.name()))).collect(),
        cases,
        clauses: clauses::rows(runs),
        saboteurs: kills.map(saboteurs).unwrap_or_default(),
    }
}

fn case_row(case: &Case, subjects: usize) -> CaseRow<'_> {
    CaseRow {
        id: &case.id,
        protocol: case.protocol(),
        path: &case.path,
        title: &case.title,
        level: &case.level,
        polarity: &case.polarity,
        rev: case.rev,
        clauses: case.clauses.iter().map(|clause| clause.id.as_str()).collect(),
        catches: &case.catches,
        source: None,
        results: std::iter::repeat_with(|| None).take(subjects).collect(),
    }
}

/// What is still embedded of each cause of one run.
struct Budget {
    detail: Detail,
    evidence: BTreeMap<String, usize>,
    rows: BTreeMap<String, usize>,
}

impl Budget {
    fn result<'a>(&mut self, run: &'a Run, case: &'a Case) -> ResultRow<'a> {
        let checks: Vec<CheckRow<'a>> = case.checks.iter().map(|check| self.check(check)).collect();
        let cause = checks.iter().find_map(|check| check.cause.clone());
        let evidence = run.details.get(&case.id).and_then(|detail| detail.evidence.as_ref());
        let evidence = evidence.filter(|_| {
            takes(&mut self.evidence, cause.as_deref().unwrap_or_default(), self.detail.evidence)
        });
        let mut commands = Vec::new();
        if cause.is_some() {
            commands.push(run.reproduce(case));
        }
        // A piece of a capture, `source/buffer/piece`, is nothing that `explain` finds.
        if !case.id.contains('/') {
            commands.push(run.about_subject(run.command("explain", &case.id)));
        }
        ResultRow { checks, commands, evidence }
    }

    fn check<'a>(&mut self, check: &'a Check) -> CheckRow<'a> {
        let Outcome { verdict, place, packet, rows, .. } = &check.outcome;
        let cause = check.outcome.is_failure().then(|| check.outcome.cause());
        let text = (verdict != "pass").then(|| check.outcome.sentence());
        let shown =
            !rows.is_empty() && takes(&mut self.rows, cause.as_deref().unwrap_or_default(), self.detail.rows);
        CheckRow {
            direction: &check.direction,
            verdict: check.outcome.kind().name,
            text,
            cause,
            place: *place,
            packet: packet.as_deref(),
            rows: shown.then_some(rows.as_slice()),
        }
    }
}

/// Whether there is room for one more of this cause; counts it.
fn takes(counts: &mut BTreeMap<String, usize>, cause: &str, limit: usize) -> bool {
    let count = counts.entry(cause.to_owned()).or_default();
    *count += 1;
    *count <= limit
}

fn saboteurs(kills: &Matrices) -> Vec<SaboteurRow<'_>> {
    let mut rows = Vec::new();
    for matrix in &kills.families {
        rows.extend(matrix.saboteurs.iter().map(|saboteur| SaboteurRow {
            protocol: matrix.protocol(),
            name: &saboteur.name,
            side: &saboteur.side,
            bug: &saboteur.bug,
            source: &saboteur.source,
            judged: saboteur.judged,
            killers: saboteur.killers.iter().map(|killer| killer.case.as_str()).collect(),
        }));
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cause_has_as_many_examples_as_fit() {
        let mut counts = BTreeMap::new();
        let taken: Vec<bool> = ["a", "a", "b", "a"].map(|cause| takes(&mut counts, cause, 2)).into();
        assert_eq!(taken, [true, true, true, false]);
        assert!(!takes(&mut counts, "c", 0));
    }
}
