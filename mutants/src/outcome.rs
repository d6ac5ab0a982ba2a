//! What is asked about mutants, and what becomes of one.

use std::collections::BTreeSet;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::worker::Failure;

/// Which mutants to judge, and how.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Only these families, by their module names; empty = all, and what they share.
    pub families: Vec<String>,
    /// Whether also what the families execute of the code that families share.
    pub shared: bool,
    /// Only these modules; empty = all.
    pub modules: Vec<String>,
    /// Only mutants of these crates; empty = all.
    pub packages: Vec<String>,
    /// Only so many, chosen with this seed.
    pub sample: Option<(usize, u64)>,
    /// Only mutants whose id begins with one of these; empty = all.
    pub ids: Vec<String>,
    /// Goes on after the first failure, to count the cases that detect a mutant.
    pub count_kills: bool,
    /// Whether the real programs are part of the suite.
    pub real_programs: bool,
    /// Takes over what the last run has judged; sources and suite must be the same.
    pub resume: bool,
    /// Each mutant has a process of its own, in which no other one was active.
    pub fresh: bool,
    /// Processes at a time.
    pub jobs: usize,
    /// A mutant may always take this long, and ten times as long as the same checks without it.
    pub least_deadline: Duration,
}

/// What became of a mutant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "outcome")]
pub enum Outcome {
    /// The suite does not execute the place.
    NotExecuted,
    /// The suite passes.
    Survived,
    /// A check fails.
    Killed {
        /// The checks; without [`Options::count_kills`] those of the first case.
        failures: Vec<Failure>,
    },
    /// The process that judged it was ended by a signal.
    Crashed,
    /// A check, or the run, did not end in time.
    TimedOut,
}

impl Outcome {
    /// The name in tables.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::NotExecuted => "not executed",
            Self::Survived => "survived",
            Self::Killed { .. } | Self::Crashed => "killed",
            Self::TimedOut => "timeout",
        }
    }

    /// Whether the suite detects the mutant.
    #[must_use]
    pub const fn is_killed(&self) -> bool {
        matches!(self, Self::Killed { .. } | Self::Crashed | Self::TimedOut)
    }

    /// The only case that detects the mutant, if there is one; known only with [`Options::count_kills`].
    #[must_use]
    pub fn only_case(&self) -> Option<&str> {
        let Self::Killed { failures } = self else { return None };
        let cases: BTreeSet<&str> = failures.iter().map(|failure| failure.case.as_str()).collect();
        if cases.len() == 1 { cases.into_iter().next() } else { None }
    }
}
