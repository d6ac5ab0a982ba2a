//! Where executed instructions begin: whether one begins inside of another.

use std::collections::HashMap;

/// Half-words of a page.
const PAGE: usize = 1 << 11;

/// An instruction begins at this half-word.
const FIRST: u8 = 1;
/// An executed instruction has its second half-word here.
const SECOND: u8 = 2;

/// The half-words of executed instructions. Memory grows with the code that is executed, not with the execution.
#[derive(Debug, Default)]
pub(super) struct Starts {
    pages: Vec<[u8; PAGE]>,
    /// Index of the page with this number.
    index: HashMap<u64, usize>,
    /// Number and index of the latest page.
    latest: Option<(u64, usize)>,
}

impl Starts {
    /// Adds an instruction of 4 bytes (`long`) or 2. `false` if it begins inside of another executed one, or another
    /// one begins inside of it; then nothing is added.
    pub(super) fn add(&mut self, address: u64, long: bool) -> bool {
        let second = address.wrapping_add(2);
        if *self.half(address) & SECOND != 0 || (long && *self.half(second) & FIRST != 0) {
            return false;
        }
        *self.half(address) |= FIRST;
        if long {
            *self.half(second) |= SECOND;
        }
        true
    }

    fn half(&mut self, address: u64) -> &mut u8 {
        let half = address >> 1;
        let number = half / PAGE as u64;
        let page = match self.latest {
            Some((latest, page)) if latest == number => page,
            _ => {
                let new = self.pages.len();
                let page = *self.index.entry(number).or_insert(new);
                if page == new {
                    self.pages.push([0; PAGE]);
                }
                self.latest = Some((number, page));
                page
            }
        };
        &mut self.pages[page][(half % PAGE as u64) as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_do_not_overlap() {
        let mut starts = Starts::default();
        // Over the end of a page, and around the end of the address space.
        for first in [0x1000, 0x1ffe, u64::MAX - 1] {
            assert!(starts.add(first, true), "{first:#x}");
            assert!(starts.add(first, true), "it is executed again");
            assert!(!starts.add(first.wrapping_add(2), false), "inside");
            assert!(!starts.add(first.wrapping_sub(2), true), "around its beginning");
            assert!(starts.add(first.wrapping_sub(2), false));
            assert!(starts.add(first.wrapping_add(4), false));
        }
    }
}
