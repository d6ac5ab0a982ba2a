//! Return addresses of branches with link.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use traceproof_vectors::arm::InstructionSet;

/// Where a call returns to (4.13).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Return {
    pub(super) address: u32,
    pub(super) isa: InstructionSet,
    pub(super) non_secure: bool,
}

/// The latest return addresses; the oldest one gives way where there is no room.
///
/// Spec: PFT-DEC-042, PFT-DEC-044 (4.13).
#[derive(Clone, Debug)]
pub(super) struct ReturnStack {
    /// A ring; entries before the first round are missing.
    entries: Vec<Return>,
    depth: usize,
    /// Index after the latest entry.
    top: usize,
    count: usize,
}

impl ReturnStack {
    pub(super) const fn new(depth: u8) -> Self {
        Self { entries: Vec::new(), depth: depth as usize, top: 0, count: 0 }
    }

    pub(super) const fn clear(&mut self) {
        (self.top, self.count) = (0, 0);
    }

    pub(super) fn push(&mut self, entry: Return) {
        if self.top == self.depth {
            self.top = 0;
        }
        match self.entries.get_mut(self.top) {
            Some(place) => *place = entry,
            // The ring is not full yet, so that `top` is its length.
            None => self.entries.push(entry),
        }
        self.top += 1;
        self.count = (self.count + 1).min(self.depth);
    }

    /// For people, the newest first.
    pub(super) fn shown(&self) -> impl Iterator<Item = String> {
        let place = |back: usize| (self.top + self.depth).checked_sub(back)?.checked_rem(self.depth);
        let entry = move |back| self.entries.get(place(back)?);
        (1..=self.count).filter_map(entry).map(|entry| format!("{:#x} {}", entry.address, entry.isa.name()))
    }

    pub(super) fn pop(&mut self) -> Option<Return> {
        self.count = self.count.checked_sub(1)?;
        if self.top == 0 {
            self.top = self.depth;
        }
        self.top -= 1;
        self.entries.get(self.top).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(address: u32) -> Return {
        Return { address, isa: InstructionSet::A32, non_secure: false }
    }

    /// As a vector of which the oldest entries are dropped.
    #[test]
    fn the_oldest_entry_gives_way() {
        for depth in [1, 2, 3, 16, 255] {
            let mut stack = ReturnStack::new(depth);
            let mut model: Vec<u32> = Vec::new();
            // Some order of pushes, pops and a few resets.
            for step in 0_u32..4000 {
                match step.wrapping_mul(0x9e37_79b9) >> 24 {
                    0 => {
                        stack.clear();
                        model.clear();
                    }
                    1..100 => assert_eq!(stack.pop().map(|entry| entry.address), model.pop()),
                    _ => {
                        stack.push(entry(step));
                        model.push(step);
                        if model.len() > depth.into() {
                            model.remove(0);
                        }
                    }
                }
            }
        }
    }
}
