//! The position of a decoder in the program, and the state that decides the next step.

use traceproof_vectors::riscv_etrace::{Modes, Parameters, RiscvEtrace};
use traceproof_vectors::{DecoderLimits, FaultClass, Place, Sink};

use super::jump_target_cache::JumpTargetCache;
use super::outcomes::Outcomes;
use super::predictor::Predictor;
use super::report::retired;
use super::return_stack::ReturnStack;
use super::slot::Slot;
use super::trouble::Trouble;

/// The state of a walk over the program.
///
/// `step` finds the successor of one instruction, `walk` goes from report to report.
#[derive(Clone, Debug, Default)]
pub(super) struct Walker {
    /// The latest reported instruction.
    pub(super) pc: u64,
    /// The instruction before it; equal to `pc` where none is known. Maintained in `sijump` mode only.
    pub(super) last_pc: u64,
    pub(super) outcomes: Outcomes,
    modes: Modes,
    pub(super) predictor: Predictor,
    pub(super) cache: JumpTargetCache,
    pub(super) returns: ReturnStack,
    pub(super) limits: DecoderLimits,
    pub(super) mask: u64,
    /// Returns may be sequentially inferable, because a 3-bit `itype` does not distinguish them from other jumps.
    pub(super) infers_returns: bool,
}

impl Walker {
    pub(super) fn new(parameters: &Parameters, limits: DecoderLimits) -> Self {
        let mut walker = Self {
            predictor: Predictor::new(parameters),
            cache: JumpTargetCache::new(parameters),
            returns: ReturnStack::new(parameters),
            limits,
            mask: parameters.address_mask(),
            infers_returns: parameters.itype_width_p < 4,
            ..Self::default()
        };
        walker.enter(parameters.modes);
        walker
    }

    /// The modes in force.
    #[inline]
    pub(super) const fn modes(&self) -> Modes {
        self.modes
    }

    /// These modes are in force from here on.
    pub(super) const fn enter(&mut self, modes: Modes) {
        // The instruction before is not kept up in other modes.
        if modes.sijump && !self.modes.sijump {
            self.forget_last();
        }
        self.modes = modes;
    }

    /// Clears everything that a synchronisation invalidates; `outcome` is that of a branch at the pc.
    pub(super) fn synchronise(&mut self, outcome: Option<bool>) {
        self.outcomes.clear();
        if let Some(taken) = outcome {
            self.outcomes.push(taken);
        }
        self.predictor.reset();
        self.cache.invalidate();
        self.returns.clear();
        self.forget_last();
    }

    /// No inference crosses this point. Spec: RVET-DEC-033 (ET 11).
    pub(super) const fn forget_last(&mut self) {
        self.last_pc = self.pc;
    }

    /// The address `distance` bytes after `address`.
    #[inline]
    pub(super) const fn offset(&self, address: u64, distance: u64) -> u64 {
        address.wrapping_add(distance) & self.mask
    }

    /// Reports the single instruction at the pc.
    pub(super) fn report_here<S>(&self, slot: &Slot, place: Place, sink: &mut S)
    where
        S: Sink<RiscvEtrace> + ?Sized,
    {
        let end = self.offset(self.pc, u64::from(slot.length));
        sink.event(place, &retired(self.pc, end, 1));
    }

    /// Spec: RVET-ENC-057 (ET 7.6.3): a reported depth distinguishes arrivals at the same address.
    #[inline]
    pub(super) fn is_depth(&self, depth: Option<u32>) -> bool {
        depth.is_none_or(|depth| depth == self.returns.depth())
    }

    /// At a target the only outcome left must be its own. Spec: RVET-DEC-014 (ET 11).
    pub(super) fn check_outcomes(&self, is_branch: bool) -> Result<(), Trouble> {
        match self.outcomes.len() {
            0 if is_branch => Err(Trouble::at(FaultClass::MissingOutcome, self.pc)),
            left if left == u64::from(is_branch) => Ok(()),
            _ => Err(Trouble::at(FaultClass::LeftoverOutcome, self.pc)),
        }
    }
}
