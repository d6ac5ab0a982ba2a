//! A run in the light of a baseline.

use std::collections::BTreeMap;
use std::fmt;

use toml::value::Date;

use super::{Baseline, Known, Signature, UNEXPLAINED};
use crate::run::Run;
use crate::verdict::{Direction, Verdict};

/// An entry that does not hold any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stale {
    /// What the baseline says.
    pub entry: Signature,
    /// What is wrong with it.
    pub why: Staleness,
}

/// What is wrong with an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Staleness {
    /// The check passes.
    Passes,
    /// It comes out otherwise.
    Otherwise(String),
    /// There is no such check: no such case or direction, or the subject does not claim what it needs.
    Unmatched,
    /// The day has passed.
    Expired(String),
    /// Nobody has said yet why.
    Unexplained,
}

impl fmt::Display for Stale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}  ", self.entry)?;
        match &self.why {
            Staleness::Passes => f.write_str("passes now"),
            Staleness::Otherwise(outcome) => write!(f, "comes out otherwise: {outcome}"),
            Staleness::Unmatched => f.write_str("is no check of this run"),
            Staleness::Expired(day) => write!(f, "expired on {day}"),
            Staleness::Unexplained => f.write_str("has no reason or finding yet"),
        }
    }
}

/// Turns what the baseline knows into [`Verdict::ExpectedFailure`], what passes in spite of it into [`Verdict::UnexpectedPass`], and says
/// which entries are stale. `today` decides what has expired.
///
/// With `whole`, entries for checks that the run does not have are stale; without, the run was of some cases only.
pub fn apply(run: &mut Run, baseline: &Baseline, today: Date, whole: bool) -> Vec<Stale> {
    let mut entries: BTreeMap<(&str, Direction), (&Signature, &Known)> = baseline
        .known
        .iter()
        .flat_map(|known| known.checks.iter().map(move |check| (check, known)))
        .map(|(check, known)| ((check.id.as_str(), check.direction), (check, known)))
        .collect();
    let mut stale = Vec::new();
    for case in &mut run.cases {
        for check in &mut case.checks {
            let Some((entry, known)) = entries.get(&(case.id.as_str(), check.direction)).copied() else {
                continue;
            };
            if matches!(check.verdict, Verdict::Unsupported { .. }) {
                // Left in the table: nothing was checked.
                continue;
            }
            entries.remove(&(case.id.as_str(), check.direction));
            let found = Signature::new(&case.id, check.direction, &check.verdict);
            let why = if check.verdict == Verdict::Pass {
                check.verdict = Verdict::UnexpectedPass { reason: known.reason.clone() };
                Staleness::Passes
            } else if found != *entry {
                Staleness::Otherwise(found.outcome)
            } else if let Some(day) = known.expires.as_ref().and_then(|day| day.date)
                && day < today
            {
                Staleness::Expired(day.to_string())
            } else if known.reason == UNEXPLAINED || known.finding == UNEXPLAINED {
                Staleness::Unexplained
            } else {
                check.verdict = Verdict::ExpectedFailure {
                    outcome: found.outcome,
                    reason: known.reason.clone(),
                    finding: known.finding.clone(),
                };
                continue;
            };
            stale.push(Stale { entry: entry.clone(), why });
        }
    }
    if whole {
        let rest = entries.into_values();
        stale.extend(rest.map(|(entry, _)| Stale { entry: entry.clone(), why: Staleness::Unmatched }));
    }
    stale
}
