//! Where the next A-sync ends: those of ETMv3, PFT and ETE differ only in how many zeros they have.

/// Zeros before the 80 of an A-sync of ETMv3 and PFT, at least.
pub(crate) const ZEROS: u64 = 5;

/// The last byte of an A-sync.
pub(crate) const END: u8 = 0x80;

/// A search for an A-sync, whatever the chunks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Search {
    /// Stream offset where the search began.
    pub(crate) start: u64,
    /// Zeros that an A-sync has, at least.
    pub(crate) least: u64,
    /// Zeros directly before the next byte.
    pub(crate) zeros: u64,
    /// Stream offset of the first of them.
    pub(crate) first_zero: u64,
}

impl Search {
    pub(crate) const fn from(offset: u64) -> Self {
        Self::for_zeros(ZEROS, offset)
    }

    /// For an A-sync with so many zeros at least, 1 or more.
    pub(crate) const fn for_zeros(least: u64, offset: u64) -> Self {
        Self { start: offset, least, zeros: 0, first_zero: offset }
    }

    /// Looks through the bytes from stream offset `offset` on. `Some`: so many bytes go up to the end of an A-sync, and
    /// `zeros` and `first_zero` are its own; `None`: there is no end of an A-sync in them.
    ///
    /// Spec: ETM3-SYN-001, ETM3-SYN-003, ETM3-SYN-005 (7.10.4); PFT-PKT-004, PFT-PKT-006 (4.5.1).
    pub(crate) fn look(&mut self, offset: u64, bytes: &[u8]) -> Option<usize> {
        let (mut at, least) = (0, self.least as usize);
        if self.zeros > 0 {
            at = zeros_from(bytes, 0);
            self.zeros += at as u64;
            let end = *bytes.get(at)?;
            at += 1;
            if end == END && self.zeros >= self.least {
                return Some(at);
            }
            self.zeros = 0;
        }
        // The byte before `at` is not zero or not there. So many zeros in a row have one at each place as far apart.
        while let Some(&probe) = bytes.get(at + least - 1) {
            if probe != 0 {
                at += least;
                continue;
            }
            let probed = at + least - 1;
            let first = probed - zeros_before(bytes, at, probed);
            let zeros_end = probed + zeros_from(bytes, probed);
            (self.zeros, self.first_zero) = ((zeros_end - first) as u64, offset + first as u64);
            let end = *bytes.get(zeros_end)?;
            at = zeros_end + 1;
            if end == END && self.zeros >= self.least {
                return Some(at);
            }
            self.zeros = 0;
        }
        let zeros = zeros_before(bytes, at, bytes.len());
        (self.zeros, self.first_zero) = (zeros as u64, offset + (bytes.len() - zeros) as u64);
        None
    }
}

/// How many zeros there are from `at` on.
fn zeros_from(bytes: &[u8], at: usize) -> usize {
    bytes.iter().skip(at).take_while(|byte| **byte == 0).count()
}

/// How many zeros there are directly before `to`, back to `from`.
fn zeros_before(bytes: &[u8], from: usize, to: usize) -> usize {
    let bytes = bytes.get(from..to).unwrap_or_default();
    bytes.iter().rev().take_while(|byte| **byte == 0).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;
    use proptest::prelude::*;

    /// The end, the zeros and the first of them, looked for byte by byte.
    fn simple(least: usize, bytes: &[u8]) -> Option<(usize, u64, u64)> {
        (0..bytes.len()).find_map(|at| {
            let zeros = bytes[..at].iter().rev().take_while(|byte| **byte == 0).count();
            (bytes[at] == 0x80 && zeros >= least).then_some((at + 1, zeros as u64, (at - zeros) as u64))
        })
    }

    proptest! {
        #[test]
        fn every_cut_finds_the_first_one(
            bytes in proptest::collection::vec(prop_oneof![20 => Just(0_u8), 2 => Just(0x80), 1 => Just(7)], 0..60),
            cut in 1..60_usize,
            least in 1..12_usize,
        ) {
            let mut search = Search::for_zeros(least as u64, 0);
            let mut read = 0;
            let found = bytes.chunks(cut).find_map(|chunk| {
                let end = search.look(read as u64, chunk).map(|end| read + end);
                read += chunk.len();
                end
            });
            prop_assert_eq!(found.map(|end| (end, search.zeros, search.first_zero)), simple(least, &bytes));
        }
    }

    #[test]
    fn a_long_way_is_no_obstacle() {
        let mut bytes: Vec<u8> = [0x7, 0, 0, 0, 0].repeat(1000);
        bytes.extend([0, 0x80, 0x84]);
        assert_eq!(Search::from(0).look(0, &bytes), Some(5002));
    }
}
