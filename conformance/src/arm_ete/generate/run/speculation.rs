//! Wrong speculation, and transactions.

use traceproof_vectors::arm_ete::{Signal, State};

use super::{Instruction, Kind, Machine, Walk};

impl Walk<'_, '_> {
    /// Whether this P0 instruction is speculated wrongly.
    pub(super) fn speculates(&mut self, item: &Instruction, taken: bool) -> bool {
        let may = self.wrong.is_none() && self.parameters.maxspec > 0 && self.is_traced();
        let is_branch = matches!(item.kind, Kind::Direct { .. } | Kind::Indirect { .. });
        may && is_branch && self.entropy.chance(self.happenings.mispredictions) && (taken || item.conditional)
    }

    /// A branch is speculated to go elsewhere; some blocks are executed there, and taken back.
    pub(super) fn misprediction(&mut self, item: &Instruction, taken: bool, right: Machine) {
        let redirected = taken && matches!(item.kind, Kind::Indirect { .. }) && self.entropy.chance(128);
        let outcome = taken == redirected;
        let wrong = self.after(item, outcome);
        let is_code = wrong.at.index < self.program.sections[wrong.at.section].len();
        let next = State { address: item.end(), isa: item.isa, ..self.here() };
        self.show(item, outcome, if is_code { self.state_of(&wrong) } else { next });
        self.now = wrong;
        self.begin_block();
        if is_code {
            self.wrong_path();
        }
        let state = self.state_of(&right);
        if let Some(count) = self.wrong.take().filter(|count| *count > 0) {
            self.take_back(count);
            self.signal(Signal::Cancel { count, next: state });
        }
        self.start_is_traced &= right.transaction.is_some();
        self.now = right;
        self.begin_block();
        let corrections = if redirected { 1 } else { self.entropy.pick(&[1, 1, 1, 3]) };
        for _ in 0..corrections {
            self.signal(if redirected { Signal::Redirect(state) } else { Signal::Mispredict(state) });
        }
    }

    /// Some blocks, as long as none of them need be committed. What synchronizes the context ends it.
    fn wrong_path(&mut self) {
        let most = self.parameters.maxspec.min(6);
        let wanted = self.entropy.below(1 + most as usize) as u32;
        self.wrong = Some(0);
        for _ in 0..40 {
            let item = *self.program.at(self.now.at);
            let start = u32::from(!self.parameters.commtrans && item.kind == Kind::TransactionStart);
            let elements = 1 + start + u32::from(self.now.transaction.is_some());
            let speculative = match item.kind {
                Kind::Plain | Kind::Instrumentation => true,
                Kind::Direct { .. } | Kind::Indirect { .. } | Kind::TransactionStart => {
                    self.wrong.unwrap_or(0) + elements <= wanted
                }
                _ => false,
            };
            if !speculative {
                break;
            }
            self.asynchronous();
            if item.is_p0(self.parameters) {
                let taken = !(item.conditional && self.entropy.chance(128));
                let after = self.after(&item, taken);
                self.retire(&item, taken, after);
            } else {
                self.advance();
            }
        }
    }

    /// The youngest P0 elements are no longer there.
    fn take_back(&mut self, count: u32) {
        self.open -= count;
        let kept = self.history.len().saturating_sub(count as usize);
        self.history.truncate(kept);
    }

    /// Blocks that were executed are executed again, or an exception comes instead (R_KDTVX).
    pub(super) fn cancel(&mut self) {
        let known = self.history.len().min(self.open as usize);
        if known == 0 || !self.is_traced() || !self.entropy.chance(self.happenings.cancels) {
            return;
        }
        let count = 1 + self.entropy.below(known);
        let Some(Some(machine)) = self.history.get(self.history.len() - count).cloned() else { return };
        self.start_is_traced &= machine.transaction.is_some();
        self.take_back(count as u32);
        self.now = machine;
        self.begin_block();
        let within = self.entropy.chance(64);
        while within && self.program.at(self.now.at).kind == Kind::Plain && self.entropy.chance(160) {
            self.advance();
        }
        let next = self.here();
        self.signal(Signal::Cancel { count: count as u32, next });
        if within {
            self.exception(0xe);
        }
    }

    /// TSTART was executed.
    pub(super) fn start_transaction(&mut self) {
        if self.now.transaction.is_some() {
            self.now.nested = self.now.nested.saturating_add(1);
            return;
        }
        let after = self.now.clone();
        self.now.transaction = Some(Box::new(after));
        self.now.nested = 0;
        if self.is_traced() {
            self.transaction_start_element();
        } else {
            self.start_is_traced = false;
        }
        self.begin_block();
        self.signal(Signal::TransactionStart);
    }

    /// The Start element of a transaction, which is a P0 element or not (R_CTLXL).
    pub(super) fn transaction_start_element(&mut self) {
        self.start_is_traced = true;
        if !self.parameters.commtrans {
            self.count(None);
        }
    }

    /// TCOMMIT is executed.
    pub(super) fn commit_transaction(&mut self) {
        self.advance();
        if self.now.nested > 0 {
            self.now.nested -= 1;
            return;
        }
        self.end_transaction();
        self.signal(Signal::TransactionCommit);
    }

    /// The transaction fails; execution goes on after its TSTART.
    pub(super) fn fail_transaction(&mut self) {
        let Some(machine) = self.now.transaction.take() else { return };
        self.now = *machine;
        self.end_transaction();
        self.begin_block();
        self.signal(Signal::TransactionFailure(self.here()));
    }

    /// Nothing before it is executed again.
    fn end_transaction(&mut self) {
        self.now.transaction = None;
        self.start_is_traced = false;
        self.history.clear();
        self.block = None;
    }
}
