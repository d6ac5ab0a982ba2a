//! Failures that look alike, put together: a bug rarely fails one check alone.

use std::collections::BTreeMap;

use crate::run::{CaseResult, ProgramRun, Run};
use crate::verdict::{Direction, Verdict};

/// Failing checks of one protocol that differ from what was expected in the same way.
#[derive(Clone, Debug)]
pub struct Cause<'a> {
    /// The verdict, and of a failure what differs, without values: `fail: events: retire / fault missing-outcome`.
    pub kind: String,
    /// The checks, in the order of the run; never empty.
    pub failures: Vec<Failure<'a>>,
}

/// A check that failed.
#[derive(Clone, Copy, Debug)]
pub struct Failure<'a> {
    /// What was judged.
    pub of: Judged<'a>,
    /// The direction.
    pub direction: Direction,
    /// How it came out.
    pub verdict: &'a Verdict,
}

/// What a check was about.
#[derive(Clone, Copy, Debug)]
pub enum Judged<'a> {
    /// A case.
    Case(&'a CaseResult),
    /// A real program under a set of parameters.
    Program(&'a ProgramRun),
}

impl Judged<'_> {
    /// Id of the case, or program and set.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            Self::Case(case) => case.id.clone(),
            Self::Program(program) => program.name(),
        }
    }
}

/// The failing checks of a run by what they have in common, the most frequent first.
#[must_use]
pub fn causes(run: &Run) -> Vec<Cause<'_>> {
    let of_cases = run.failed().flat_map(|case| {
        case.failures().map(move |check| {
            let failure =
                Failure { of: Judged::Case(case), direction: check.direction, verdict: &check.verdict };
            (case.protocol, failure)
        })
    });
    let of_programs = run.failed_programs().map(|program| {
        let of = Judged::Program(program);
        (program.protocol, Failure { of, direction: Direction::RoundTrip, verdict: &program.verdict })
    });
    let mut groups: BTreeMap<(_, String), Vec<Failure<'_>>> = BTreeMap::new();
    for (protocol, failure) in of_cases.chain(of_programs) {
        groups.entry((protocol, kind(failure.verdict))).or_default().push(failure);
    }
    let mut causes: Vec<Cause<'_>> =
        groups.into_iter().map(|((_, kind), failures)| Cause { kind, failures }).collect();
    // Stable: what is equally frequent stays in the order of protocols and kinds.
    causes.sort_by_key(|cause| std::cmp::Reverse(cause.failures.len()));
    causes
}

fn kind(verdict: &Verdict) -> String {
    match verdict {
        Verdict::Fail(divergence) => format!("fail: {}", divergence.kind()),
        other => other.kind().name().to_owned(),
    }
}
