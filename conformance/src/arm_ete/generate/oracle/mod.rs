//! The expected report of an execution, by rules that use the execution and the program but no packets.
//!
//! The `timeline` is what of the execution is traced, speculation and transactions resolved. A decoder's events are
//! followed through it. Where the architecture leaves open what a trace unit sends, all places at which the report can
//! be are followed, and a report is wrong when none is left. When synchronization is sent, where a Trace Info stands
//! and which commits have a cycle count is the trace unit's choice; what they say is not.

mod clock;
mod follow;
mod marks;
mod timeline;

#[cfg(test)]
mod tests;

use std::fmt;

use traceproof_vectors::arm_ete::{ArmEte, Event};
use traceproof_vectors::{Log, Protocol};

use self::follow::Judge;
use super::Scenario;

/// The first difference between the execution and the report.
#[derive(Clone, Debug)]
pub struct Mismatch {
    /// The stimulus.
    pub step: usize,
    /// What should have come.
    pub expected: String,
    /// What came.
    pub got: String,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "step {}: expected {}, got {}", self.step, self.expected, self.got)
    }
}

/// The amount of reported events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs, reason = "their names say it")]
pub struct Returned {
    pub instructions: u64,
    pub not_taken: u64,
    pub trace_infos: u64,
    pub trace_ons: u64,
    pub contexts: u64,
    pub unknown_paths: u64,
    pub exceptions: u64,
    pub transactions: u64,
    pub failed_transactions: u64,
    pub cycles: u64,
    pub timestamps: u64,
    pub events: u64,
    pub instrumentations: u64,
    pub overflows: u64,
    pub discards: u64,
}

/// Whether a decoder's log is what an execution must produce.
///
/// # Errors
///
/// The first difference.
pub fn judge(scenario: &Scenario, log: &Log<ArmEte>) -> Result<Returned, Mismatch> {
    let end = scenario.stimuli.len();
    if let Some(fault) = log.faults().next() {
        let got = fault.to_string();
        return Err(Mismatch { step: end, expected: "no faults".into(), got });
    }
    judge_events(scenario, log.events().copied().collect())
}

/// The same of events alone.
///
/// # Errors
///
/// The first difference.
pub fn judge_events(scenario: &Scenario, events: Vec<Event>) -> Result<Returned, Mismatch> {
    let timeline = timeline::timeline(scenario).map_err(|expected| Mismatch {
        step: 0,
        expected,
        got: "a step elsewhere".into(),
    })?;
    let mut judge = Judge::new(scenario, &timeline);
    ArmEte::canonical(events).iter().try_for_each(|event| judge.event(event))?;
    judge.finish()
}

/// How many P0 elements each stimulus makes, cancelled ones included.
///
/// # Errors
///
/// Where the execution leaves the program, which would be a fault of the generator.
pub(super) fn elements_of_steps(scenario: &Scenario) -> Result<Vec<u32>, String> {
    let mut counts = vec![0; scenario.stimuli.len()];
    for element in timeline::timeline(scenario)?.elements.iter().skip(1) {
        counts[element.step] += 1;
    }
    Ok(counts)
}
