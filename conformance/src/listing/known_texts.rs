//! Texts of the latest results. A program does the same things over and over, so most lines were written before.

use crate::family::Run;

/// How many texts are kept; a power of two.
pub(super) const KEPT: usize = 1 << 12;

/// The longest text that is kept, if nothing else is said: names of functions may have any length.
const LONGEST: usize = 256;

/// Texts of results, each found by a number that equal results share.
#[derive(Debug)]
pub(super) struct KnownTexts<T> {
    /// Empty until the first result comes.
    known: Vec<Option<(T, Vec<u8>)>>,
    /// A text that is too long to be kept.
    long: Vec<u8>,
    longest: usize,
}

impl<T: Clone + PartialEq> KnownTexts<T> {
    pub(super) const fn new() -> Self {
        Self { known: Vec::new(), long: Vec::new(), longest: LONGEST }
    }

    /// Keeps longer texts, too.
    pub(super) const fn set_longest(&mut self, longest: usize) {
        self.longest = longest;
    }

    /// The text of a result, which `write` appends if it is not known.
    pub(super) fn text<E>(
        &mut self,
        number: u64,
        result: &T,
        write: impl FnOnce(&mut Vec<u8>) -> Result<(), E>,
    ) -> Result<&[u8], E> {
        if self.known.is_empty() {
            self.known.resize_with(KEPT, || None);
        }
        let index = (number >> (64 - KEPT.trailing_zeros())) as usize;
        if !matches!(&self.known[index], Some((known, _)) if known == result) {
            // The buffer of the text that is replaced.
            let mut text = self.known[index].take().map_or_else(Vec::new, |(_, text)| text);
            text.clear();
            write(&mut text)?;
            if text.len() > self.longest {
                self.long = text;
                return Ok(&self.long);
            }
            self.known[index] = Some((result.clone(), text));
        }
        Ok(self.known[index].as_ref().map_or(&[], |(_, text)| text))
    }

    #[cfg(test)]
    pub(super) fn kept(&self) -> usize {
        self.known.iter().flatten().count()
    }
}

/// The number of a range, mixed by multiplication with a large odd one.
pub(super) fn number(run: Run) -> u64 {
    let (first, count) = (run.first.unwrap_or_default(), run.count);
    (first ^ count << 48).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}
