//! What changed between two runs.

use std::collections::BTreeMap;

use crate::results::{Outcome, Run};

/// What became of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Change {
    /// It fails, and did not before.
    NewFailure,
    /// It failed before, in another way.
    OtherFailure,
    /// It failed, and does not any more.
    Fixed,
    /// Neither outcome is a failure, such as a check that is judged now and was not before.
    OtherOutcome,
    /// Only the later run has it.
    Added,
    /// Only the earlier run has it.
    Removed,
}

impl Change {
    /// Every change, in the order of reports.
    pub const ALL: [Self; 6] =
        [Self::NewFailure, Self::OtherFailure, Self::Fixed, Self::OtherOutcome, Self::Added, Self::Removed];

    /// The heading in reports.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::NewFailure => "new failures",
            Self::OtherFailure => "failures with another outcome",
            Self::Fixed => "fixed",
            Self::OtherOutcome => "other outcomes",
            Self::Added => "only in the later run",
            Self::Removed => "only in the earlier run",
        }
    }
}

/// A check whose outcome changed.
#[derive(Clone, Debug)]
pub struct Changed<'a> {
    /// What became of it.
    pub change: Change,
    /// Id of the case, or program and set.
    pub name: String,
    /// The direction.
    pub direction: &'a str,
    /// The outcome of the earlier run.
    pub before: Option<&'a Outcome>,
    /// The outcome of the later run.
    pub after: Option<&'a Outcome>,
}

/// The checks with different outcomes, by change, then by name and direction.
#[must_use]
pub fn changes<'a>(before: &'a Run, after: &'a Run) -> Vec<Changed<'a>> {
    let mut checks: BTreeMap<(String, &str), [Option<&Outcome>; 2]> = BTreeMap::new();
    for (side, run) in [before, after].into_iter().enumerate() {
        for judged in run.judged() {
            let entry = checks.entry((judged.name, judged.direction)).or_default();
            if let Some(slot) = entry.get_mut(side) {
                *slot = Some(judged.outcome);
            }
        }
    }
    let changed = |((name, direction), [before, after]): ((String, &'a str), [Option<&'a Outcome>; 2])| {
        let change = change(before, after)?;
        Some(Changed { change, name, direction, before, after })
    };
    let mut all: Vec<Changed<'a>> = checks.into_iter().filter_map(changed).collect();
    all.sort_by_key(|changed| changed.change);
    all
}

fn change(before: Option<&Outcome>, after: Option<&Outcome>) -> Option<Change> {
    let (before, after) = match (before, after) {
        (Some(before), Some(after)) => (before, after),
        (None, Some(after)) => {
            return Some(if after.is_failure() { Change::NewFailure } else { Change::Added });
        }
        (Some(_), None) => return Some(Change::Removed),
        (None, None) => return None,
    };
    match (before.is_failure(), after.is_failure()) {
        (false, true) => Some(Change::NewFailure),
        (true, false) => Some(Change::Fixed),
        (true, true) => (before.signature() != after.signature()).then_some(Change::OtherFailure),
        (false, false) => (before.verdict != after.verdict).then_some(Change::OtherOutcome),
    }
}

/// The changes as text: counts, then the checks of each kind, at most `limit` of them.
#[must_use]
pub fn text(before: &Run, after: &Run, limit: usize) -> String {
    let all = changes(before, after);
    let mut text = format!("before: {}, suite {}\n", before.label(), before.harness);
    text.push_str(&format!("after:  {}, suite {}\n", after.label(), after.harness));
    for change in Change::ALL {
        let of_kind: Vec<&Changed<'_>> = all.iter().filter(|changed| changed.change == change).collect();
        if of_kind.is_empty() {
            continue;
        }
        text.push_str(&format!("\n{}: {}\n", change.title(), of_kind.len()));
        for changed in of_kind.iter().take(limit) {
            text.push_str(&format!("  {} {}: {}\n", changed.name, changed.direction, changed.outcomes()));
        }
        if let Some(more) = of_kind.len().checked_sub(limit).filter(|more| *more > 0) {
            text.push_str(&format!("  and {more} more\n"));
        }
    }
    if all.is_empty() {
        text.push_str("\nno check has another outcome\n");
    }
    text
}

impl Changed<'_> {
    /// Both outcomes, in one line.
    #[must_use]
    pub fn outcomes(&self) -> String {
        let shown = |outcome: Option<&Outcome>| outcome.map_or_else(|| String::from("-"), Outcome::signature);
        format!("{} → {}", shown(self.before), shown(self.after))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn every_change_is_found_once() {
        let before = sample::small("acme");
        let mut after = before.clone();
        after.cases[0].checks[0].outcome = before.cases[3].checks[0].outcome.clone(); // passed, crashes
        after.cases[1].checks[0].outcome = before.cases[0].checks[0].outcome.clone(); // failed, passes
        after.cases[2].checks[0].outcome.index = 9; // failed elsewhere
        after.cases[4].checks[0].outcome.verdict = String::from("pass"); // was not judged
        after.cases[5].id = String::from("etm-0009"); // removed, added
        let all = changes(&before, &after);
        let shown: Vec<(Change, &str)> =
            all.iter().map(|changed| (changed.change, changed.name.as_str())).collect();
        assert_eq!(
            shown,
            [
                (Change::NewFailure, "etr-0001"),
                (Change::OtherFailure, "etr-0003"),
                (Change::Fixed, "etr-0002"),
                (Change::OtherOutcome, "etm-0002"),
                (Change::Added, "etm-0009"),
                (Change::Removed, "etm-0003"),
            ]
        );
        let text = text(&before, &after, 10);
        assert!(text.contains("new failures: 1\n  etr-0001 decode: pass → crash\n"), "{text}");
        assert!(
            text.contains("  etr-0003 decode: fail events 3 at 2/12.0 → fail events 9 at 2/12.0\n"),
            "{text}"
        );
    }

    #[test]
    fn a_run_does_not_differ_from_itself() {
        let run = sample::small("acme");
        assert!(changes(&run, &run).is_empty());
        assert!(text(&run, &run, 10).ends_with("no check has another outcome\n"));
    }

    #[test]
    fn long_lists_are_cut_and_say_so() {
        let before = sample::small("acme");
        let mut after = before.clone();
        after.cases.clear();
        let text = text(&before, &after, 2);
        assert!(text.contains("only in the earlier run: 6\n"), "{text}");
        assert!(text.ends_with("  and 4 more\n"), "{text}");
    }
}
