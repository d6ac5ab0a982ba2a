//! Limits of the work that one packet may cause (RVET-DEC-046, RVET-DEC-048, RVET-DEC-051).

use traceproof_vectors::DecoderLimits;

use super::slot::Slot;

/// The steps of a walk since the latest outcome, and whether it loops.
#[derive(Clone, Copy, Default)]
pub(super) struct Effort {
    steps: u64,
    /// In an infinite loop of inferable jumps: those that are not yet followed.
    fresh_jumps: Option<u32>,
    inference: Inference,
}

/// What a walk without a closer look has spent.
#[derive(Clone, Copy, Default)]
pub(super) struct StepBudget {
    /// Instructions since the latest outcome.
    pub(super) steps: u64,
    /// That was consumed on this way.
    pub(super) outcome: bool,
}

/// The latest noted inferred jump; looks for the same one in the same situation (Brent's cycle detection).
#[derive(Clone, Copy, Default)]
struct Inference {
    noted: Option<Jump>,
    /// Shallowest return stack since.
    shallowest: u32,
    /// Inferred jumps since.
    since: u32,
    /// Inferred jumps after which another one is noted.
    patience: u32,
}

/// A jump that was inferred from what ran before it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Jump {
    pub(super) from: u64,
    pub(super) to: u64,
    /// Depth of the return stack after it.
    pub(super) depth: u32,
    /// Implicit returns up to there, as far as the packet counts them.
    pub(super) returns: u32,
}

impl Effort {
    /// This many instructions were passed.
    #[inline]
    pub(super) fn pass(&mut self, instructions: u32) {
        self.steps += u64::from(instructions);
    }

    /// Instructions since the latest outcome.
    #[inline]
    pub(super) const fn steps(&self) -> u64 {
        self.steps
    }

    /// Continues after a walk without further checks.
    #[inline]
    pub(super) fn resume(&mut self, spent: StepBudget) {
        if spent.outcome {
            *self = Self::default();
        }
        self.steps = spent.steps;
    }

    /// An inferable jump is about to be followed; `None` if the walk does not end (RVET-DEC-046). Steps are looked at
    /// only here and where a jump is inferred, so that a straight run is never cut. A loop of inferable jumps is
    /// recognised earlier: none of them is followed twice without an outcome in between.
    #[inline]
    pub(super) fn jump(&mut self, slot: &Slot, limits: DecoderLimits) -> Option<()> {
        if self.steps > limits.steps {
            return None;
        }
        if slot.laps() > 0 {
            let fresh = self.fresh_jumps.get_or_insert(slot.laps());
            *fresh = fresh.checked_sub(1)?;
        }
        Some(())
    }

    /// An inferred jump is about to be followed; `None` if the walk does not end.
    ///
    /// The same jump at the same depth repeats for ever if the stack below was not touched in between, and no return
    /// was counted.
    pub(super) fn infer(&mut self, jump: Jump, limits: DecoderLimits) -> Option<()> {
        let inference = &mut self.inference;
        inference.shallowest = inference.shallowest.min(jump.depth);
        let repeats = inference.noted == Some(jump) && inference.shallowest >= jump.depth;
        if repeats || self.steps > limits.steps {
            return None;
        }
        inference.since += 1;
        if inference.since > inference.patience {
            let patience = 2 * inference.patience + 1;
            *inference = Inference { noted: Some(jump), shallowest: jump.depth, since: 0, patience };
        }
        Some(())
    }

    /// The oldest return address was lost, so no earlier situation repeats.
    pub(super) fn forget_bottom(&mut self) {
        self.inference.shallowest = 0;
    }
}
