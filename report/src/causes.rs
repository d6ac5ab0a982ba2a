//! Failures that look alike, put together: a bug rarely fails one check alone.

use std::collections::BTreeMap;

use crate::results::{Judged, Run};

/// Failing checks of one subject and protocol that differ from what was expected in the same way.
#[derive(Clone, Debug)]
pub struct Cause<'a> {
    /// Index of the run.
    pub run: usize,
    /// The protocol.
    pub protocol: &'a str,
    /// What they have in common; see [`Outcome::cause`](crate::results::Outcome::cause).
    pub kind: String,
    /// The checks, in the order of the run; never empty.
    pub failures: Vec<Judged<'a>>,
}

/// The failures of all runs, the most frequent cause first.
#[must_use]
pub fn causes(runs: &[Run]) -> Vec<Cause<'_>> {
    let mut all: Vec<Cause<'_>> =
        runs.iter().enumerate().flat_map(|(index, run)| of_run(index, run)).collect();
    // Stable: what is equally frequent stays in the order of subjects, protocols and kinds.
    all.sort_by_key(|cause| std::cmp::Reverse(cause.failures.len()));
    all
}

fn of_run(index: usize, run: &Run) -> Vec<Cause<'_>> {
    let mut groups: BTreeMap<(&str, String), Vec<Judged<'_>>> = BTreeMap::new();
    for judged in run.judged().filter(|judged| judged.outcome.is_failure()) {
        groups.entry((judged.protocol, judged.outcome.cause())).or_default().push(judged);
    }
    let cause = |((protocol, kind), failures)| Cause { run: index, protocol, kind, failures };
    groups.into_iter().map(cause).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn failures_of_one_kind_are_one_cause_and_the_most_frequent_is_first() {
        let runs = [sample::small("acme"), sample::small("other")];
        let causes = causes(&runs);
        let shown: Vec<(usize, &str, &str, usize)> = causes
            .iter()
            .map(|cause| (cause.run, cause.protocol, cause.kind.as_str(), cause.failures.len()))
            .collect();
        let fail = "fail: events: retire / fault missing-outcome";
        assert_eq!(
            shown,
            [
                (0, "riscv_etrace", fail, 2),
                (1, "riscv_etrace", fail, 2),
                (0, "arm_etm", "crash", 1),
                (1, "arm_etm", "crash", 1),
            ]
        );
        assert_eq!(causes[0].failures[0].name, "etr-0002");
    }
}
