//! A run in the light of a baseline.

use std::collections::BTreeMap;
use std::fmt;

use toml::value::Date;

use super::{Baseline, Known, Signature, UNEXPLAINED};
use crate::run::{Check, Run};
use crate::verdict::{Direction, Verdict};

/// An entry that does not hold any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stale {
    /// The entry of the baseline.
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
    /// The reason is still missing.
    Unexplained,
}

impl Stale {
    /// Whether the run has the check, so that its verdict is one of a failure.
    #[must_use]
    pub const fn is_of_the_run(&self) -> bool {
        !matches!(self.why, Staleness::Unmatched)
    }
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

/// Changes known failures to [`Verdict::ExpectedFailure`] and known failures that pass to [`Verdict::UnexpectedPass`],
/// and returns the stale entries. `today` decides which entries have expired.
///
/// With `whole`, entries for checks that the run does not have are stale; without, the run was of some cases only.
pub fn apply(run: &mut Run, baseline: &Baseline, today: Date, whole: bool) -> Vec<Stale> {
    let mut entries: BTreeMap<(String, Direction), (&Signature, &Known)> = baseline
        .known
        .iter()
        .flat_map(|known| known.checks.iter().map(move |check| (check, known)))
        .map(|(check, known)| ((check.id.clone(), check.direction), (check, known)))
        .collect();
    let mut stale = Vec::new();
    for (id, direction, verdict) in run.checks_mut() {
        // What is not judged stays in the table: it is no check of this run.
        if matches!(verdict, Verdict::Unsupported { .. }) {
            continue;
        }
        if let Some((entry, known)) = entries.remove(&(id, direction))
            && let Some(why) = settle(entry, known, verdict, Some(today))
        {
            stale.push(Stale { entry: entry.clone(), why });
        }
    }
    if whole {
        let rest = entries.into_values();
        stale.extend(rest.map(|(entry, _)| Stale { entry: entry.clone(), why: Staleness::Unmatched }));
    }
    stale
}

/// As [`apply`], of one check, whatever the day.
pub fn expect(baseline: &Baseline, id: &str, check: &mut Check) {
    let listed = baseline.known.iter().find_map(|known| {
        let entry = known.checks.iter().find(|entry| entry.id == id && entry.direction == check.direction)?;
        Some((entry, known))
    });
    if let Some((entry, known)) = listed
        && !matches!(check.verdict, Verdict::Unsupported { .. })
    {
        settle(entry, known, &mut check.verdict, None);
    }
}

/// Changes a verdict that the baseline lists; returns the reason if its entry is stale.
fn settle(entry: &Signature, known: &Known, verdict: &mut Verdict, today: Option<Date>) -> Option<Staleness> {
    let found = Signature::new(&entry.id, entry.direction, verdict);
    if verdict.kind().is_pass() {
        *verdict = Verdict::UnexpectedPass { reason: known.reason.clone() };
        return Some(Staleness::Passes);
    }
    if found != *entry {
        return Some(Staleness::Otherwise(found.outcome));
    }
    let last = known.expires.as_ref().and_then(|day| day.date);
    if let (Some(last), Some(today)) = (last, today)
        && last < today
    {
        return Some(Staleness::Expired(last.to_string()));
    }
    if known.reason == UNEXPLAINED || known.finding == UNEXPLAINED {
        return Some(Staleness::Unexplained);
    }
    *verdict = Verdict::ExpectedFailure {
        outcome: found.outcome,
        reason: known.reason.clone(),
        finding: known.finding.clone(),
    };
    None
}
