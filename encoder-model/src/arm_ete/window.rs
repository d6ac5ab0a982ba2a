//! The steps of an execution that are not resolved (sheet 7.7).

use alloc::collections::VecDeque;

use traceproof_vectors::arm::{FlowInstruction, InstructionSet};
use traceproof_vectors::arm_ete::{P0, State};

use super::execution_error::ExecutionProblem;

/// A step that executed speculatively.
#[derive(Clone, Copy, Debug)]
pub(super) struct Record {
    /// The state before it.
    pub(super) at: State,
    /// Instructions between the latest P0 instruction or exception and it.
    pub(super) instructions: u32,
    /// The transaction before it, and whether its Start was traced.
    pub(super) transaction: Option<bool>,
    /// Uncommitted P0 elements that stand for it.
    pub(super) elements: u32,
    /// The P0 instruction that it is.
    pub(super) p0: Option<(P0, FlowInstruction)>,
}

impl Record {
    /// It would be not taken in the end, and cannot be.
    ///
    /// Spec: ETE-RNYNV-001.
    fn is_impossible(&self) -> bool {
        self.p0.is_some_and(|(p0, instruction)| {
            !p0.taken && !instruction.conditional && p0.isa == InstructionSet::A64
        })
    }
}

/// Unresolved steps, oldest first.
#[derive(Clone, Debug)]
pub(super) struct Window {
    records: VecDeque<Record>,
    /// The latest step that is resolved.
    resolved: Option<Record>,
    /// P0 elements of all of them.
    elements: u32,
    /// The most of these: one more commits the oldest.
    maxspec: u32,
}

impl Window {
    /// The most unresolved steps.
    pub(super) const MOST: usize = 1 << 20;

    pub(super) const fn new(maxspec: u32) -> Self {
        Self { records: VecDeque::new(), resolved: None, elements: 0, maxspec }
    }

    /// One more step. Without speculation it is resolved at once. Nothing is changed by an error.
    ///
    /// Spec: ETE-GLQPL-001, ETE-YKLRM-001.
    pub(super) fn push(&mut self, record: Record) -> Result<(), ExecutionProblem> {
        if self.maxspec == 0 {
            self.resolved = Some(record);
            return Ok(());
        }
        if self.records.len() >= Self::MOST {
            return Err(ExecutionProblem::TooMany { most: Self::MOST as u32 });
        }
        let surplus = (self.elements + record.elements).saturating_sub(self.maxspec);
        let mut left = surplus;
        for record in &self.records {
            if left > 0 && record.is_impossible() {
                return Err(ExecutionProblem::Unconditional);
            }
            left = left.saturating_sub(record.elements);
            if left == 0 {
                break;
            }
        }
        self.elements += record.elements;
        self.records.push_back(record);
        self.commit(surplus);
        Ok(())
    }

    /// P0 elements that no step stands for belong to the latest step.
    pub(super) fn add(&mut self, elements: u32, otherwise: Record) {
        if self.maxspec == 0 || elements == 0 {
            return;
        }
        if self.records.is_empty() {
            self.records.push_back(otherwise);
        }
        if let Some(record) = self.records.back_mut() {
            record.elements += elements;
            self.elements += elements;
        }
        self.commit(self.elements.saturating_sub(self.maxspec));
    }

    /// The oldest P0 elements are committed, and the steps resolved that have no others, with those before.
    pub(super) fn commit(&mut self, count: u32) {
        let mut left = count.min(self.elements);
        self.elements -= left;
        while left > 0
            && let Some(record) = self.records.front_mut()
        {
            let elements = left.min(record.elements);
            record.elements -= elements;
            left -= elements;
            if record.elements == 0 {
                self.resolved = self.records.pop_front();
            } else {
                // The Start is before its other elements (ETE-RKGLY-001).
                record.transaction = record.transaction.map(|_| true);
            }
        }
    }

    /// The youngest P0 elements never happened, and the steps that have no others. The oldest of these.
    pub(super) fn cancel(&mut self, count: u32) -> Option<Record> {
        let mut left = count.min(self.elements);
        self.elements -= left;
        let mut oldest = None;
        while left > 0
            && let Some(record) = self.records.back_mut()
        {
            let elements = left.min(record.elements);
            record.elements -= elements;
            left -= elements;
            if record.elements == 0 {
                oldest = self.records.pop_back();
            }
        }
        oldest
    }

    /// The P0 elements are lost.
    pub(super) fn lose(&mut self) {
        self.elements = 0;
        for record in &mut self.records {
            record.elements = 0;
        }
    }

    /// The oldest steps are resolved: how many P0 elements stand for them.
    pub(super) fn resolve(&mut self, steps: u32) -> Result<u32, ExecutionProblem> {
        let steps = self.check(steps)?;
        if self.records.iter().take(steps).any(Record::is_impossible) {
            return Err(ExecutionProblem::Unconditional);
        }
        let mut elements = 0;
        for record in self.records.drain(..steps) {
            elements += record.elements;
            self.resolved = Some(record);
        }
        self.elements -= elements;
        Ok(elements)
    }

    /// The oldest of the youngest steps.
    pub(super) fn oldest_of(&self, steps: u32) -> Result<Record, ExecutionProblem> {
        let steps = self.check(steps)?;
        let oldest = self.records.get(self.records.len() - steps);
        oldest.copied().ok_or(ExecutionProblem::TooFew { unresolved: 0 })
    }

    /// The youngest steps never happened: how many P0 elements stood for them.
    pub(super) fn squash(&mut self, steps: u32) -> u32 {
        let from = self.records.len().saturating_sub(steps as usize);
        let elements = self.records.drain(from..).map(|record| record.elements).sum();
        self.elements -= elements;
        elements
    }

    /// The youngest step, resolved or not.
    pub(super) fn youngest(&self) -> Option<&Record> {
        self.records.back().or(self.resolved.as_ref())
    }

    pub(super) fn youngest_mut(&mut self) -> Option<&mut Record> {
        self.records.back_mut().or(self.resolved.as_mut())
    }

    fn check(&self, steps: u32) -> Result<usize, ExecutionProblem> {
        let unresolved = self.records.len();
        let fits = steps > 0 && steps as usize <= unresolved;
        if fits {
            Ok(steps as usize)
        } else {
            Err(ExecutionProblem::TooFew { unresolved: unresolved as u32 })
        }
    }
}
