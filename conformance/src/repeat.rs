//! Does a check come out the same each time?
//!
//! A subject whose verdicts change without a cause is as wrong in the good runs as in the bad ones. So nothing is tried
//! again until it passes: a check that is judged several times has one verdict only if all are the same, see
//! [`Verdict::Flaky`].

use std::collections::BTreeMap;

use crate::baseline::outcome;
use crate::run::ProgramRun;
use crate::verdict::{Seen, Verdict};

/// The verdict of a check that was judged several times. Failures are the same if the first difference is at the same
/// place.
pub(crate) fn settled(first: Verdict, others: impl IntoIterator<Item = Verdict>) -> Verdict {
    let seen_in =
        |verdict: &Verdict| Seen { outcome: outcome(verdict), times: 1, example: verdict.to_string() };
    let mut seen = vec![seen_in(&first)];
    for verdict in others {
        let new = seen_in(&verdict);
        match seen.iter_mut().find(|seen| seen.outcome == new.outcome) {
            Some(seen) => seen.times += 1,
            None => seen.push(new),
        }
    }
    if seen.len() == 1 { first } else { Verdict::Flaky { seen } }
}

/// The real programs of several runs as one: the first, with the verdicts of all, followed by what only others have.
pub(crate) fn settled_programs(runs: Vec<Vec<ProgramRun>>) -> Vec<ProgramRun> {
    let mut settled: Vec<(ProgramRun, Vec<Verdict>)> = Vec::new();
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    for run in runs.into_iter().flatten() {
        let place = *places.entry(run.name()).or_insert(settled.len());
        match settled.get_mut(place) {
            Some((_, others)) => others.push(run.verdict),
            None => settled.push((run, Vec::new())),
        }
    }
    let verdict = |(run, others): (ProgramRun, Vec<Verdict>)| {
        let verdict = self::settled(run.verdict.clone(), others);
        ProgramRun { verdict, ..run }
    };
    settled.into_iter().map(verdict).collect()
}

#[cfg(test)]
mod tests {

    use super::*;
    use crate::verdict::Divergence;

    fn fail(index: usize, got: &str) -> Verdict {
        Verdict::Fail(Divergence { index, ..Divergence::sentence("events", got.to_owned()) })
    }

    #[test]
    fn only_what_is_the_same_each_time_is_a_verdict() {
        assert_eq!(settled(Verdict::Pass, []), Verdict::Pass);
        assert_eq!(settled(Verdict::Pass, [Verdict::Pass, Verdict::Pass]), Verdict::Pass);
        // The values may differ: where, not what, is the signature.
        assert_eq!(settled(fail(3, "a"), [fail(3, "b")]), fail(3, "a"));
        let flaky = settled(Verdict::Pass, [fail(3, "a"), fail(4, "a"), fail(3, "b")]);
        let Verdict::Flaky { seen } = &flaky else { panic!("{flaky}") };
        let counted: Vec<(&str, usize)> =
            seen.iter().map(|seen| (seen.outcome.as_str(), seen.times)).collect();
        assert_eq!(counted, [("pass", 1), ("fail events 3", 2), ("fail events 4", 1)]);
        assert_eq!(
            flaky.to_string(),
            "not the same each time: 1 of 4 times pass, 2 of 4 times fail events 3, 1 of 4 times fail events 4"
        );
    }

    #[test]
    fn programs_are_compared_by_name() {
        let run = |set: &str, verdict: Verdict| ProgramRun {
            protocol: crate::ProtocolName(traceproof_vectors::ProtocolId::ArmEtm),
            program: String::from("mix"),
            set: set.to_owned(),
            instructions: 7,
            traps: 0,
            packets: 0,
            bytes: 0,
            verdict,
        };
        let settled = settled_programs(vec![
            vec![run("a", Verdict::Pass), run("b", Verdict::Pass)],
            // In whatever order they end.
            vec![run("b", fail(0, "x")), run("a", Verdict::Pass), run("c", fail(0, "x"))],
        ]);
        let kinds: Vec<&str> = settled.iter().map(|run| run.verdict.kind().name()).collect();
        assert_eq!(kinds, ["pass", "flaky", "fail"]);
    }
}
