//! The return stack of the trace unit (sheet 7.6).

use alloc::collections::VecDeque;

use super::history::Location;

/// Return addresses of calls, youngest last.
///
/// It is always the top of that of a decoder which has resolved all that was sent: what the decoder may push and this
/// one does not, empties it.
///
/// Spec: ETE-ENC-RS-001, ETE-HNDJJ-001.
#[derive(Debug)]
pub(super) struct ReturnStack {
    entries: VecDeque<Location>,
    depth: usize,
    /// Between Trace Info and the completion of context and address. Spec: ETE-GZSSX-001.
    pub(super) closed: bool,
    /// How often it was emptied: what was done before cannot be undone.
    epoch: u32,
}

/// What an element did to the return stack.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct StackUse {
    epoch: u32,
    pub(super) pushed: bool,
    popped: Option<Location>,
}

impl ReturnStack {
    pub(super) fn new(depth: u8) -> Self {
        Self { entries: VecDeque::new(), depth: depth.into(), closed: false, epoch: 0 }
    }

    /// Spec: ETE-SBZJB-001.
    pub(super) fn clear(&mut self) {
        self.entries.clear();
        self.epoch = self.epoch.wrapping_add(1);
    }

    /// Nothing was done.
    pub(super) const fn unused(&self) -> StackUse {
        StackUse { epoch: self.epoch, pushed: false, popped: None }
    }

    /// A branch with link was traced taken. Spec: ETE-HFCTC-001, ETE-ZKTHK-001.
    pub(super) fn push(&mut self, usage: &mut StackUse, location: Location) {
        if self.closed {
            return;
        }
        usage.pushed = true;
        self.insert(location);
    }

    fn insert(&mut self, location: Location) {
        if self.depth > 0 {
            if self.entries.len() == self.depth {
                self.entries.pop_front();
            }
            self.entries.push_back(location);
        }
    }

    /// Whether a decoder finds this target on its stack; then it is used up.
    ///
    /// Spec: ETE-QHSBN-001, ETE-SLDXR-001.
    pub(super) fn pop_matching(&mut self, usage: &mut StackUse, target: Location) -> bool {
        let matches = self.entries.back() == Some(&target);
        if matches {
            usage.popped = self.entries.pop_back();
        }
        matches
    }

    /// The target was another one, or the instruction was not taken: no decoder pops for it.
    ///
    /// Spec: ETE-YMRGB-001, ETE-ZCCBS-001, ETE-FFXPW-001.
    pub(super) fn undo_pop(&mut self, usage: &mut StackUse) {
        if let Some(popped) = usage.popped.take()
            && usage.epoch == self.epoch
        {
            self.insert(popped);
        }
    }

    /// The element was cancelled. Those after it were undone before.
    ///
    /// Spec: ETE-FVRPZ-001, ETE-DEC-RS-011.
    pub(super) fn undo(&mut self, mut usage: StackUse) {
        self.undo_pop(&mut usage);
        if usage.pushed && usage.epoch == self.epoch {
            self.entries.pop_back();
        }
    }
}
