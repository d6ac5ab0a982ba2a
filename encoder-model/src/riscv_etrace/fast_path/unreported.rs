//! What instructions that need no packet change.

use traceproof_vectors::riscv_etrace::{Itype, SyncMode};

use crate::riscv_etrace::branches::{Branches, MAP_SIZE};
use crate::riscv_etrace::items::Retired;
use crate::riscv_etrace::resync::{Resync, State};
use crate::riscv_etrace::tracer::{Flow, Tracer};

impl Retired {
    /// Whether a decoder always knows where it goes on, given the outcomes of branches.
    #[inline]
    pub(super) const fn is_inferable(&self) -> bool {
        is_inferable(self.itype)
    }
}

/// Whether a decoder always knows where an instruction of this type goes on, given the outcomes of branches.
#[inline]
pub(super) const fn is_inferable(itype: Itype) -> bool {
    matches!(
        itype,
        Itype::Nothing
            | Itype::BranchTaken
            | Itype::BranchNotTaken
            | Itype::InferableCall
            | Itype::InferableJump
            | Itype::OtherInferableJump
    )
}

impl Branches {
    /// [`record`](Self::record) for a branch that is not predicted and leaves room for another one; `false` if it is
    /// none, and then nothing has happened.
    #[inline]
    pub(super) const fn record_unreported(&mut self, taken: bool) -> bool {
        if self.predictor.is_some() || self.count + 1 >= MAP_SIZE {
            return false;
        }
        self.map |= (!taken as u32) << self.count;
        self.count += 1;
        true
    }
}

impl Resync {
    /// Whether the limit is still not reached with an item `ticks` after the item before.
    #[inline]
    pub(super) fn keeps_counting(&self, ticks: u64) -> bool {
        let off = self.counts == SyncMode::Off;
        self.state == State::Counting && (off || self.count.saturating_add(ticks) < self.limit)
    }

    /// An item arrives with which it [keeps counting](Self::keeps_counting).
    #[inline]
    pub(super) const fn count(&mut self, ticks: u64) {
        self.count = self.count.saturating_add(ticks);
    }
}

impl Tracer {
    /// Whether an instruction at this level just continues the trace, and calls are not counted.
    pub(super) fn goes_on(&self, privilege: u8) -> bool {
        let previous = &self.previous;
        let continues = previous.qualified && !previous.is_trap() && previous.privilege == privilege;
        continues && !self.lost && !self.restart && self.returns.is_none()
    }

    /// Deals with an ordinary instruction between others as [`item`](Self::item) does, if it gets no packet; `false` if
    /// it may get one, and then nothing has happened.
    #[inline]
    pub(super) fn pass(&mut self, retired: &Retired, ticks: u64) -> bool {
        if !self.resync.keeps_counting(ticks) {
            return false;
        }
        if let Some(taken) = retired.taken() {
            if !self.branches.record_unreported(taken) {
                return false;
            }
        } else if !retired.is_inferable() {
            self.leave_unreported(retired);
        }
        self.resync.count(ticks);
        true
    }

    /// An uninferable discontinuity that gets no packet is left.
    #[inline(never)]
    fn leave_unreported(&mut self, retired: &Retired) {
        self.flow = self.flow_after(retired, false);
    }

    /// Whether the item before leads to the one at hand as a decoder expects.
    #[inline]
    pub(super) fn is_followed(&self) -> bool {
        self.flow == Flow::Inferable
    }
}
