//! Return addresses of branches with link.

use alloc::format;
use alloc::string::String;

use super::super::element::CodePoint;

/// Entries of a decoder's return stack (ETE-XSVZC-001).
const DEPTH: usize = traceproof_vectors::arm_ete::Parameters::RETURN_STACK_DEPTH as usize;

/// The latest return addresses; the oldest one gives way where there is no room.
///
/// Spec: ETE-DEC-RS-001, ETE-DEC-RS-002, ETE-XSVZC-001.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReturnStack {
    /// A ring.
    entries: [CodePoint; DEPTH],
    /// Index of the latest entry, if there is one.
    top: usize,
    count: usize,
}

impl ReturnStack {
    pub(super) fn new() -> Self {
        Self { entries: [CodePoint::default(); DEPTH], top: 0, count: 0 }
    }

    pub(super) const fn clear(&mut self) {
        self.count = 0;
    }

    #[inline]
    pub(super) fn push(&mut self, entry: CodePoint) {
        self.top = if self.top + 1 < DEPTH { self.top + 1 } else { 0 };
        if let Some(place) = self.entries.get_mut(self.top) {
            *place = entry;
        }
        self.count = (self.count + 1).min(DEPTH);
    }

    /// For people, the newest first.
    pub(super) fn shown(&self) -> impl Iterator<Item = String> {
        let entry = |back: usize| self.entries.get((self.top + DEPTH).checked_sub(back)? % DEPTH);
        let point = |point: &CodePoint| format!("{:#x} {:?}", point.address, point.sub_isa);
        (0..self.count).filter_map(entry).map(point)
    }

    #[inline]
    pub(super) fn pop(&mut self) -> Option<CodePoint> {
        self.count = self.count.checked_sub(1)?;
        let entry = self.entries.get(self.top).copied();
        self.top = self.top.checked_sub(1).unwrap_or(DEPTH - 1);
        entry
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    /// As a vector of which the oldest entries are dropped.
    #[test]
    fn the_oldest_entry_gives_way() {
        let mut stack = ReturnStack::new();
        let mut model: Vec<u64> = Vec::new();
        // Some order of pushes, pops and a few resets.
        for step in 0_u32..4000 {
            match step.wrapping_mul(0x9e37_79b9) >> 24 {
                0 => {
                    stack.clear();
                    model.clear();
                }
                1..100 => assert_eq!(stack.pop().map(|entry| entry.address), model.pop()),
                _ => {
                    stack.push(CodePoint { address: step.into(), ..CodePoint::default() });
                    model.push(step.into());
                    if model.len() > 15 {
                        model.remove(0);
                    }
                }
            }
        }
    }
}
