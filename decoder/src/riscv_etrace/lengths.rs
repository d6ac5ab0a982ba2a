//! How long the instruction at each half-word is, packed so that many of them are looked up at once.

use alloc::vec::Vec;

/// Two bits for each half-word: half-words of the instruction that starts there, 0 where none does.
#[derive(Clone, Debug, Default)]
pub(super) struct Lengths {
    /// One for every [`STEP`] half-words: those in the low half, the next ones above them. So each word but the first
    /// begins with what the one before ends with, and whatever is looked for, one word has it and enough after it.
    words: Vec<u64>,
    count: usize,
}

/// Half-words from one word to the next.
const STEP: usize = 16;

impl Lengths {
    /// Appends the length of the instruction at the next half-word, in half-words (0 to 2).
    pub(super) fn push(&mut self, halfwords: u8) {
        let shift = 2 * (self.count % STEP);
        if shift == 0 {
            self.words.push(0);
        }
        let length = u64::from(halfwords & 3) << shift;
        let mut latest = self.words.iter_mut().rev();
        if let Some(word) = latest.next() {
            *word |= length;
        }
        if let Some(before) = latest.next() {
            *before |= length << (2 * STEP);
        }
        self.count += 1;
    }

    /// The lengths at the half-word `index` and at least [`STEP`] after it, the first in the lowest bits.
    #[inline(always)]
    pub(super) fn window(&self, index: usize) -> u64 {
        self.words.get(index / STEP).map_or(0, |word| word >> (2 * (index % STEP)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_begins_anywhere() {
        let pattern = [1_u8, 2, 0, 2, 1, 1, 0];
        let mut lengths = Lengths::default();
        let all: Vec<u8> = pattern.iter().copied().cycle().take(100).collect();
        all.iter().for_each(|&length| lengths.push(length));
        for from in 0..110 {
            let window = lengths.window(from);
            for ahead in 0..=STEP {
                let expected = all.get(from + ahead).copied().unwrap_or(0);
                assert_eq!((window >> (2 * ahead)) as u8 & 3, expected, "{from} {ahead}");
            }
        }
    }
}
