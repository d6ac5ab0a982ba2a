//! How long the instruction at each half-word is, packed so that many of them are looked up at once.

use alloc::vec::Vec;

/// Two bits for each half-word: half-words of the instruction that starts there, 0 where none does.
#[derive(Clone, Debug, Default)]
pub(super) struct Lengths {
    words: Vec<u64>,
    count: usize,
}

/// Half-words that a word holds.
pub(super) const WINDOW: u32 = u64::BITS / 2;

impl Lengths {
    /// Appends the length of the instruction at the next half-word, in half-words (0 to 2).
    pub(super) fn push(&mut self, halfwords: u8) {
        let shift = 2 * (self.count % WINDOW as usize);
        if shift == 0 {
            self.words.push(0);
        }
        if let Some(word) = self.words.last_mut() {
            *word |= u64::from(halfwords & 3) << shift;
        }
        self.count += 1;
    }

    /// The lengths at the half-word `index` and the [`WINDOW`] - 1 behind it, the first in the lowest bits.
    #[inline]
    pub(super) fn window(&self, index: usize) -> u64 {
        let word = |index: usize| self.words.get(index).copied().unwrap_or(0);
        let (at, shift) = (index / WINDOW as usize, 2 * (index % WINDOW as usize));
        // Two shifts, because one by 64 is not defined.
        word(at) >> shift | (word(at + 1) << 1) << (63 - shift)
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
            for ahead in 0..WINDOW as usize {
                let expected = all.get(from + ahead).copied().unwrap_or(0);
                assert_eq!((window >> (2 * ahead)) as u8 & 3, expected, "{from} {ahead}");
            }
        }
    }
}
