//! Where a generator's decisions come from.

/// A finite supply of decisions. When the bytes are used up every decision is the simplest one (0), so
/// that every byte string stands for a scenario and truncating a string simplifies it.
#[derive(Clone, Debug)]
pub struct Entropy<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Entropy<'a> {
    /// Decides by `bytes`, from the first on.
    #[must_use]
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// Whether all bytes are used up.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.at >= self.bytes.len()
    }

    /// The next byte; 0 when there is none.
    pub fn byte(&mut self) -> u8 {
        let byte = self.bytes.get(self.at).copied().unwrap_or(0);
        self.at = self.at.saturating_add(1);
        byte
    }

    /// A number below `bound`; 0 when `bound` is 0.
    pub fn below(&mut self, bound: usize) -> usize {
        let raw = if bound <= 256 {
            usize::from(self.byte())
        } else {
            usize::from(self.byte()) << 8 | usize::from(self.byte())
        };
        raw.checked_rem(bound).unwrap_or(0)
    }

    /// True in about `numerator` of 256 cases; false when the bytes are used up.
    pub fn chance(&mut self, numerator: u8) -> bool {
        // Small bytes mean "no", so that shrinking removes what is unusual.
        self.byte() > 255 - numerator
    }

    /// One of the values; the first when the bytes are used up.
    ///
    /// # Panics
    ///
    /// When there is no value to choose from.
    pub fn pick<T: Copy>(&mut self, values: &[T]) -> T {
        values[self.below(values.len())]
    }

    /// A 64-bit number, low byte first.
    pub fn word(&mut self) -> u64 {
        u64::from_le_bytes(std::array::from_fn(|_| self.byte()))
    }
}

/// `length` bytes that depend only on `seed` (SplitMix64).
#[must_use]
pub fn seeded(seed: u64, length: usize) -> Vec<u8> {
    let mut state = seed;
    let mut bytes = Vec::with_capacity(length + 8);
    while bytes.len() < length {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = state;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bytes.extend_from_slice(&(word ^ (word >> 31)).to_le_bytes());
    }
    bytes.truncate(length);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn used_up_entropy_decides_for_the_simplest() {
        let mut entropy = Entropy::new(&[255, 255]);
        assert!(entropy.chance(1));
        assert_eq!(entropy.below(10), 5);
        assert!(entropy.is_empty());
        assert!(!entropy.chance(255));
        assert_eq!(entropy.below(1000), 0);
        assert_eq!(entropy.pick(&[7, 8]), 7);
        assert_eq!(entropy.word(), 0);
    }

    #[test]
    fn seeds_differ_and_repeat() {
        assert_eq!(seeded(1, 13), seeded(1, 13));
        assert_ne!(seeded(1, 13), seeded(2, 13));
        assert_eq!(seeded(1, 13).len(), 13);
    }
}
