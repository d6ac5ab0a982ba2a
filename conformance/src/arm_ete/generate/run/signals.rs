//! What happens beside instructions: events, timestamps, synchronization, and whether there is trace at all.

use traceproof_vectors::arm_ete::Signal;

use super::{Mode, Walk};

impl Walk<'_, '_> {
    /// What has nothing to do with instructions.
    pub(super) fn asynchronous(&mut self) {
        // The resources are paused in a prohibited region, and nothing happens in Debug state.
        if self.mode == Mode::Running && self.entropy.chance(self.happenings.events) {
            let number = self.entropy.byte() & 3;
            self.signal(Signal::Event(number));
        }
        if self.mode == Mode::Running && self.entropy.chance(self.happenings.timestamps) {
            self.signal(Signal::TimestampRequest);
        }
        if self.entropy.chance(self.happenings.synchronisations) {
            self.signal(Signal::SyncRequest);
        }
        if self.entropy.chance(self.happenings.flushes) {
            self.signal(Signal::Flush);
        }
        let resolvable = self.open.saturating_sub(self.wrong.unwrap_or(0));
        if resolvable > 0 && self.entropy.chance(self.happenings.commits) {
            let most = usize::try_from(resolvable).unwrap_or(usize::MAX).min(255);
            let count = 1 + self.entropy.below(most) as u32;
            self.commit(count);
        }
        if self.wrong.is_none() && self.mode == Mode::Running {
            self.cancel();
        }
        let likely = if self.overflow { 64 } else { self.happenings.overflows };
        if self.wrong.is_none() && self.entropy.chance(likely) {
            self.overflow ^= true;
            self.lose();
            self.signal(Signal::Overflow(self.overflow));
        }
    }

    /// What is uncommitted is lost; a transaction has to be traced again.
    fn lose(&mut self) {
        self.open = 0;
        self.history.clear();
        self.start_is_traced = false;
    }

    /// What decides whether the next block is traced.
    pub(super) fn tracing(&mut self) {
        if self.wrong.is_some() {
            return;
        }
        if self.entropy.chance(self.happenings.filter) {
            self.view_inst ^= true;
            self.history.clear();
            self.signal(Signal::ViewInst(self.view_inst));
        }
        if self.entropy.chance(self.happenings.q_regions) {
            self.q_region ^= true;
            self.signal(Signal::QRegion(self.q_region));
        }
        if self.mode != Mode::Running || self.now.transaction.is_some() {
            return;
        }
        if self.entropy.chance(self.happenings.prohibited) {
            self.history.clear();
            self.mode = Mode::Prohibited;
            self.signal(Signal::ProhibitedEntry);
        } else if self.entropy.chance(self.happenings.debug) {
            self.debug_halt();
        }
    }

    /// Debug state or the prohibited region ends, perhaps elsewhere.
    pub(super) fn leave(&mut self) {
        if self.entropy.chance(128) {
            self.now.at = self.anywhere(|_| true);
            self.change_state();
        }
        let here = self.here();
        let signal =
            if self.mode == Mode::Debug { Signal::DebugExit(here) } else { Signal::ProhibitedExit(here) };
        self.mode = Mode::Running;
        self.begin_block();
        self.signal(signal);
    }

    /// Whether P0 elements are generated.
    pub(super) fn is_traced(&self) -> bool {
        self.view_inst && !self.overflow && self.mode == Mode::Running
    }

    /// A P0 element that began with this block, if it can be executed again.
    pub(super) fn element(&mut self, block: Option<super::Machine>) {
        if !self.is_traced() {
            return;
        }
        if self.now.transaction.is_some() && !self.start_is_traced {
            self.transaction_start_element();
        }
        self.count(block);
    }

    /// One more open P0 element; the oldest is committed where the depth is exceeded.
    pub(super) fn count(&mut self, block: Option<super::Machine>) {
        self.open = self.open.saturating_add(1).min(self.parameters.maxspec);
        self.history.push(block);
        let kept = usize::try_from(self.open).unwrap_or(usize::MAX).min(16);
        let surplus = self.history.len().saturating_sub(kept);
        self.history.drain(..surplus);
        if let Some(wrong) = &mut self.wrong {
            *wrong += 1;
        }
    }

    /// The oldest P0 elements are resolved.
    pub(super) fn commit(&mut self, count: u32) {
        self.open -= count;
        let kept = usize::try_from(self.open).unwrap_or(usize::MAX);
        let surplus = self.history.len().saturating_sub(kept);
        self.history.drain(..surplus);
        self.signal(Signal::Commit(count));
    }
}
