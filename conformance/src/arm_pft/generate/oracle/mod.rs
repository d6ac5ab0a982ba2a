//! The expected report of an execution, by rules that use the execution and the program but no packets.
//!
//! The `timeline` is what of the execution is traced. A decoder's events are followed through it;
//! where the architecture leaves open what a PTM sends (how much was lost in its FIFO, when it sends a
//! trigger), all places at which the report can be are followed, and a report is wrong when none is left.

mod clock;
mod follow;
mod timeline;

#[cfg(test)]
mod tests;

use std::fmt;

use traceproof_vectors::Log;
use traceproof_vectors::arm_pft::{ArmPft, Event};

use self::follow::Judge;
use super::Scenario;

/// The first difference between the execution and the report.
#[derive(Clone, Debug)]
pub struct Mismatch {
    /// The step of the execution.
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
pub struct Returned {
    /// Instructions.
    pub instructions: u64,
    /// Waypoints that were not executed.
    pub not_executed: u64,
    /// Exceptions, without entries to Debug state.
    pub exceptions: u64,
    /// Exception returns.
    pub exception_returns: u64,
    /// I-syncs that are not periodic.
    pub starts: u64,
    /// I-syncs after overflow.
    pub overflows: u64,
    /// I-syncs after Debug state.
    pub debug_exits: u64,
    /// Periodic I-syncs.
    pub periodic: u64,
    /// Changes of Context ID and VMID.
    pub contexts: u64,
    /// Timestamps with a value.
    pub timestamps: u64,
    /// Cycle counts.
    pub cycles: u64,
    /// Triggers.
    pub triggers: u64,
}

/// Whether a decoder's log is what an execution must produce.
///
/// # Errors
///
/// The first difference.
pub fn judge(scenario: &Scenario, log: &Log<ArmPft>) -> Result<Returned, Mismatch> {
    let end = scenario.steps.len();
    if let Some(fault) = log.faults().next() {
        let got = fault.to_string();
        return Err(Mismatch { step: end, expected: "no faults".into(), got });
    }
    let events: Vec<Event> = log.events().copied().collect();
    judge_events(scenario, &events)
}

/// The same of events alone.
///
/// # Errors
///
/// The first difference.
pub fn judge_events(scenario: &Scenario, events: &[Event]) -> Result<Returned, Mismatch> {
    let items = timeline::timeline(scenario).map_err(|expected| Mismatch {
        step: 0,
        expected,
        got: "a step elsewhere".into(),
    })?;
    let mut judge = Judge::new(scenario, &items);
    events.iter().try_for_each(|event| judge.event(event))?;
    judge.finish()
}
