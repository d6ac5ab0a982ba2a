//! Numbers from a seed: SplitMix64, because the same seed must give the same pack everywhere and for ever.

/// A sequence of numbers.
#[derive(Clone, Debug)]
pub(super) struct Rng(u64);

impl Rng {
    pub(super) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(super) const fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ (word >> 31)
    }

    /// A number below `bound`; 0 when `bound` is 0.
    pub(super) fn below(&mut self, bound: usize) -> usize {
        if bound == 0 { 0 } else { usize::try_from(self.word() % bound as u64).unwrap_or(0) }
    }

    /// True in `share` of 256 times.
    pub(super) const fn chance(&mut self, share: u64) -> bool {
        self.word() >> 56 < share
    }

    /// One of these; `None` where there is none.
    pub(super) fn pick<T: Copy>(&mut self, list: &[T]) -> Option<T> {
        let index = self.below(list.len());
        list.get(index).copied()
    }
}
