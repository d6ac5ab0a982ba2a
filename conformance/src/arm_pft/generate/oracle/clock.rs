//! Cycles, timestamps and triggers of an execution.

use traceproof_vectors::arm_pft::{Action, Signal, Step};

use super::timeline::{Item, What};

/// When steps happen.
pub(super) struct Clock {
    /// Cycles up to each step, that of the step included.
    cycles: Vec<u64>,
    /// The timestamp counter at each step.
    counter: Vec<u64>,
    /// Steps in which the clock frequency changed.
    changes: Vec<usize>,
    /// Steps in which the trigger occurred, the PTM being enabled.
    pub(super) triggers: Vec<usize>,
}

impl Clock {
    pub(super) fn new(steps: &[Step]) -> Self {
        let mut now = 0;
        let cycles = steps.iter().map(|step| {
            now += u64::from(step.cycles);
            now
        });
        let cycles = cycles.collect();
        let is_enable = |step: &Step| matches!(step.action, Action::Signal(Signal::Enable(_)));
        let enabled = steps.iter().position(is_enable).unwrap_or(steps.len());
        let steps_of = |signal: Signal| {
            let is_one = move |step: &usize| steps[*step].action == Action::Signal(signal);
            (enabled..steps.len()).filter(is_one).collect()
        };
        Self {
            cycles,
            counter: steps.iter().map(|step| step.timestamp).collect(),
            changes: steps_of(Signal::ClockChange),
            triggers: steps_of(Signal::Trigger),
        }
    }

    pub(super) fn cycles(&self, step: usize) -> u64 {
        self.cycles.get(step).copied().unwrap_or_default()
    }

    pub(super) fn counter(&self, step: usize) -> u64 {
        self.counter.get(step).or(self.counter.last()).copied().unwrap_or_default()
    }

    /// Whether the clock changed in one of the steps after `after` and before `before`.
    pub(super) fn changes_between(&self, after: usize, before: usize) -> bool {
        self.changes.iter().any(|&step| after < step && step < before)
    }

    /// Whether a trigger occurred while tracing was on.
    pub(super) fn is_triggered(&self, items: &[Item]) -> bool {
        let is_edge = |item: &&Item| matches!(item.what, What::Start { .. } | What::Stop { .. });
        let is_on = |&step: &usize| {
            let latest = items.iter().filter(is_edge).take_while(|item| item.step < step).last();
            latest.is_some_and(|item| matches!(item.what, What::Start { .. }))
        };
        self.triggers.iter().any(is_on)
    }
}

/// The step of the next thing from `at` on that makes packets of its own, after `skipped` waypoints.
pub(super) fn next_step(items: &[Item], at: usize, skipped: usize) -> usize {
    let makes_packets = |item: &&Item| match item.what {
        What::Instruction { executed, .. } => executed.is_some(),
        What::Exception { .. } | What::Start { .. } => true,
        What::Return | What::Stop { .. } => false,
    };
    let mut rest = items.get(at..).unwrap_or_default().iter().filter(makes_packets);
    rest.nth(skipped).map_or(usize::MAX, |item| item.step)
}
