//! The PTM's return stack (4.13).

use alloc::collections::VecDeque;

use traceproof_vectors::arm_pft::State;

/// Return addresses of branches with link, the newest last.
#[derive(Debug)]
pub(super) struct ReturnStack {
    entries: VecDeque<State>,
    depth: usize,
}

impl ReturnStack {
    /// A depth of 0 never matches.
    pub(super) fn new(depth: u8) -> Self {
        Self { entries: VecDeque::new(), depth: depth.into() }
    }

    /// A full stack drops its oldest entry. Spec: PFT-ENC-029, 032 (4.13).
    pub(super) fn push(&mut self, entry: State) {
        if self.depth == 0 {
            return;
        }
        if self.entries.len() >= self.depth {
            self.entries.pop_front();
        }
        self.entries.push_back(entry);
    }

    /// Takes the top if it is this, and otherwise leaves the stack alone. Spec: PFT-ENC-030, 031 (4.13).
    pub(super) fn pop_matching(&mut self, target: State) -> bool {
        let matches = self.entries.back() == Some(&target);
        if matches {
            self.entries.pop_back();
        }
        matches
    }

    pub(super) fn clear(&mut self) {
        self.entries.clear();
    }
}
