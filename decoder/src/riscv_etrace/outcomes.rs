//! The branch outcomes that packets reported and that are not yet walked over (ET 7.7, 7.8).

use super::predictor::Predictor;

/// A queue of outcomes: explicit ones, then correct predictions, then at most one wrong prediction.
///
/// Predictions are resolved when their branch is reached. Between packets at most one outcome is left, that
/// of the branch at the current pc, and it is explicit (see [`settle`](Self::settle)). So the queue never needs
/// more than 32 explicit outcomes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Outcomes {
    /// Oldest in bit 0; 0 = taken. Spec: RVET-PKT-033 (ET 7.7).
    explicit: u64,
    explicit_count: u32,
    /// Branches whose prediction is right. Spec: RVET-DEC-040 (ET 7.8).
    predicted: u64,
    /// The branch after those, whose prediction is wrong.
    mispredicted: bool,
}

impl Outcomes {
    #[inline]
    pub(super) const fn len(&self) -> u64 {
        self.explicit_count as u64 + self.predicted + self.mispredicted as u64
    }

    #[inline]
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Appends the low `count` (at most 31) bits of `map`. Spec: RVET-PKT-034 (ET 7.7).
    #[inline]
    pub(super) fn append(&mut self, map: u32, count: u32) {
        debug_assert!(self.predicted == 0 && !self.mispredicted, "a settled queue");
        let significant = u64::from(map) & ((1 << count) - 1);
        self.explicit |= significant << self.explicit_count;
        // Unreachable in a settled queue; a full one must not overflow either.
        self.explicit_count = (self.explicit_count + count).min(u64::BITS - 1);
    }

    /// For people, the oldest first.
    pub(super) fn shown(&self) -> impl Iterator<Item = &'static str> {
        let explicit = self.explicit;
        let word = move |bit: u32| if explicit >> bit & 1 == 0 { "taken" } else { "not taken" };
        let as_predicted = (self.predicted > 0).then_some("as predicted");
        let otherwise = self.mispredicted.then_some("not as predicted");
        (0..self.explicit_count).map(word).chain(as_predicted).chain(otherwise)
    }

    /// Appends one outcome.
    #[inline]
    pub(super) fn push(&mut self, taken: bool) {
        self.append(u32::from(!taken), 1);
    }

    /// Appends `count` right predictions and maybe a wrong one.
    pub(super) fn predict(&mut self, count: u64, mispredicted: bool) {
        self.predicted = count;
        self.mispredicted = mispredicted;
    }

    /// The oldest outcome, if it is explicit: whether the branch is taken.
    pub(super) fn peek(&self) -> Option<bool> {
        (self.explicit_count > 0).then_some(self.explicit & 1 == 0)
    }

    /// Whether no outcome depends on a prediction.
    #[inline]
    pub(super) const fn is_explicit(&self) -> bool {
        self.predicted == 0 && !self.mispredicted
    }

    /// Whether the oldest outcome depends on a prediction.
    #[inline]
    pub(super) const fn next_is_predicted(&self) -> bool {
        self.explicit_count == 0 && !self.is_explicit()
    }

    /// The explicit outcomes, oldest in bit 0, 0 = taken; and how many there are.
    #[inline]
    pub(super) const fn explicit(&self) -> (u64, u32) {
        (self.explicit, self.explicit_count)
    }

    /// Puts back what is left of [`explicit`](Self::explicit).
    #[inline]
    pub(super) const fn set_explicit(&mut self, explicit: u64, count: u32) {
        self.explicit = explicit;
        self.explicit_count = count;
    }

    /// Consumes the oldest outcome for the branch at `address`. Spec: RVET-DEC-010, RVET-DEC-041.
    #[inline]
    pub(super) fn take(&mut self, predictor: &Predictor, address: u64) -> Option<bool> {
        if self.explicit_count > 0 {
            let taken = self.explicit & 1 == 0;
            self.explicit >>= 1;
            self.explicit_count -= 1;
            return Some(taken);
        }
        if self.predicted > 0 {
            self.predicted -= 1;
            return Some(predictor.predict(address));
        }
        core::mem::take(&mut self.mispredicted).then(|| !predictor.predict(address))
    }

    /// Makes the outcome that is left, that of the branch at `address`, explicit.
    #[inline]
    pub(super) fn settle(&mut self, predictor: &Predictor, address: u64) {
        if (self.predicted > 0 || self.mispredicted)
            && let Some(taken) = self.take(predictor, address)
        {
            self.clear();
            self.push(taken);
        }
    }
}
