//! Where instructions start, in the order of straight code, so that all those of a range are found at once.

use alloc::vec::Vec;

/// The instructions that are met from the first half-word of a contiguous piece of code on.
///
/// Code that is entered in the middle of one of them meets others, which are not here.
#[derive(Clone, Debug, Default)]
pub(super) struct Starts {
    /// Address of the first half-word.
    first: u64,
    /// The addresses at which the instructions start, in this order. Half-words without instruction are here too.
    order: Vec<u64>,
    /// For each half-word its position in `order`; [`ABSENT`] where no instruction that is met starts.
    positions: Vec<u32>,
}

/// Longer than any `order`.
const ABSENT: u32 = u32::MAX;

impl Starts {
    pub(super) const NONE: Self = Self { first: 0, order: Vec::new(), positions: Vec::new() };

    /// Of code at `first`; `lengths` are those of the instructions at each half-word, in half-words, 0 where none is.
    pub(super) fn new(first: u64, lengths: impl Iterator<Item = u8>) -> Self {
        let mut starts = Self { first, ..Self::default() };
        let mut next = 0;
        for (index, halfwords) in (0..ABSENT).zip(lengths) {
            let met = index == next;
            starts.positions.push(if met && halfwords > 0 { starts.order.len() as u32 } else { ABSENT });
            if met {
                starts.order.push(first.wrapping_add(2 * u64::from(index)));
                next = index.saturating_add(halfwords.max(1).into());
            }
        }
        starts
    }

    /// The addresses of the `count` instructions from the address `first` to before the address `end`, and `end` after
    /// them; `None` where these are not exactly as many or not all here.
    #[inline(always)]
    pub(super) fn between(&self, first: u64, end: u64, count: u64) -> Option<&[u64]> {
        // Rotated, an odd distance is beyond any length.
        let index = first.wrapping_sub(self.first).rotate_right(1);
        let position = *self.positions.get(index as usize)?;
        let starts = self.order.get(position as usize..)?;
        if *starts.get(count as usize)? != end {
            return None;
        }
        starts.get(..=count as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_has_its_starts_where_all_are_met() {
        // The half-word 4 has no instruction. The second half of each long instruction looks like one.
        let starts = Starts::new(0x1000, [1, 2, 1, 1, 0, 2, 1, 1, 0].into_iter());
        let between =
            |first: u64, end: u64, count| starts.between(first.wrapping_add(0x1000), end + 0x1000, count);
        assert_eq!(between(0, 8, 3), Some([0x1000, 0x1002, 0x1006, 0x1008].as_slice()));
        assert_eq!(between(2, 6, 1), Some([0x1002, 0x1006].as_slice()));
        assert_eq!(between(6, 8, 1), Some([0x1006, 0x1008].as_slice()));
        assert_eq!(between(10, 16, 2), Some([0x100a, 0x100e, 0x1010].as_slice()));
        // Another number of instructions.
        assert_eq!(between(0, 8, 2), None);
        assert_eq!(between(0, 8, 4), None);
        assert_eq!(between(0, 8, u64::MAX), None);
        // From within an instruction, to within one, from where none is, over a gap, at odd addresses, elsewhere.
        assert_eq!(between(4, 8, 2), None);
        assert_eq!(between(0, 4, 2), None);
        assert_eq!(between(8, 10, 1), None);
        assert_eq!(between(6, 14, 2), None);
        assert_eq!(between(1, 8, 3), None);
        assert_eq!(between(0, 9, 3), None);
        assert_eq!(between(18, 20, 1), None);
        assert_eq!(between(0_u64.wrapping_sub(2), 2, 2), None);
    }
}
