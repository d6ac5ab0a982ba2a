//! The position of a decoder in the program, and the state that decides the next step.

use traceproof_vectors::riscv_etrace::{Modes, Parameters, RiscvEtrace};
use traceproof_vectors::{DecoderLimits, FaultClass, Place, Sink};

use super::instruction::Class;
use super::jump_target_cache::JumpTargetCache;
use super::outcomes::Outcomes;
use super::predictor::Predictor;
use super::program_map::ProgramMap;
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
    /// Modes that were switched on or off since the latest synchronisation.
    switched: Switched,
    pub(super) predictor: Predictor,
    pub(super) cache: JumpTargetCache,
    pub(super) returns: ReturnStack,
    pub(super) limits: DecoderLimits,
    /// Instructions of the stream that were passed by predicted outcomes and inferred jumps.
    passed: u64,
    pub(super) mask: u64,
    /// Packets carry `irets`, not `irdepth`.
    irets: bool,
    /// Implicit returns since the latest report or branch. Spec: RVET5-DEC-009.
    implicit_returns: u32,
    /// Returns may be sequentially inferable, because a 3-bit `itype` does not distinguish them from other jumps.
    pub(super) infers_returns: bool,
}

/// Modes that have a state of their own.
#[derive(Clone, Copy, Debug, Default)]
struct Switched {
    implicit_return: bool,
    branch_prediction: bool,
    jump_target_cache: bool,
}

impl Walker {
    pub(super) fn new(parameters: &Parameters, limits: DecoderLimits) -> Self {
        let mut walker = Self {
            predictor: Predictor::new(parameters),
            cache: JumpTargetCache::new(parameters),
            returns: ReturnStack::new(parameters),
            limits,
            mask: parameters.address_mask(),
            irets: parameters.iret_ext,
            infers_returns: parameters.itype_width_p < 4,
            ..Self::default()
        };
        walker.enter(parameters.modes);
        walker
    }

    /// A stream begins: it has spent nothing.
    pub(super) const fn reset_work(&mut self) {
        self.passed = 0;
    }

    /// So many instructions were passed for what a packet of the byte at `place` left to prediction or inference; `None`
    /// if the stream has spent what its bytes allow.
    pub(super) const fn spend(&mut self, instructions: u64, place: Place) -> Option<()> {
        self.passed = self.passed.saturating_add(instructions);
        if self.passed > self.limits.passed(place.byte.saturating_add(1)) { None } else { Some(()) }
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
        self.switched.implicit_return |= modes.implicit_return != self.modes.implicit_return;
        self.switched.branch_prediction |= modes.branch_prediction != self.modes.branch_prediction;
        self.switched.jump_target_cache |= modes.jump_target_cache != self.modes.jump_target_cache;
        self.modes = modes;
    }

    /// Clears everything that a synchronisation invalidates; `outcome` is that of a branch at the pc. Return stack,
    /// predictor and cache are cleared unless the synchronisation keeps them; it does not keep that of a mode that was
    /// switched since the one before. Spec: RVET5-ENC-015; reading mode-change-renews-what-it-switches.
    pub(super) fn synchronise(&mut self, outcome: Option<bool>, keeps_state: bool) {
        self.outcomes.clear();
        if let Some(taken) = outcome {
            self.outcomes.push(taken);
        }
        let switched = core::mem::take(&mut self.switched);
        if !keeps_state || switched.branch_prediction {
            self.predictor.reset();
        }
        if !keeps_state || switched.jump_target_cache {
            self.cache.invalidate();
        }
        if !keeps_state || switched.implicit_return {
            self.returns.clear();
        }
        self.begin_report();
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

    /// The walk of another packet begins. Spec: RVET5-DEC-010.
    #[inline]
    pub(super) const fn begin_report(&mut self) {
        self.implicit_returns = 0;
    }

    /// Branches were left.
    #[inline]
    pub(super) const fn leave_branches(&mut self) {
        self.implicit_returns = 0;
    }

    /// What a packet with `irreport` refers to at the pc: the depth of the returns, or with `irets` how many were
    /// implicit.
    #[inline]
    pub(super) fn returns_so_far(&self) -> u32 {
        if self.irets { self.implicit_returns } else { self.returns.depth() }
    }

    /// The same after more branches.
    #[inline]
    pub(super) fn returns_after_branches(&self) -> u32 {
        if self.irets { 0 } else { self.returns.depth() }
    }

    /// Implicit returns that `irets` counts.
    pub(super) const fn counted_returns(&self) -> u32 {
        if self.irets { self.implicit_returns } else { 0 }
    }

    /// Spec: RVET-ENC-057 (ET 7.6.3), RVET5-DEC-007: what is reported distinguishes arrivals at the same address.
    #[inline]
    pub(super) fn is_depth(&self, depth: Option<u32>) -> bool {
        depth.is_none_or(|depth| depth == self.returns_so_far())
    }

    /// Whether a return at the pc is the one that a packet with this `irdepth` or `irets` reports. A call counter is
    /// never wrong, so no `irdepth` refers to a return then. Spec: RVET-DEC-036 (ET 11), RVET5-DEC-006.
    #[inline]
    pub(super) fn is_reported_return(&self, depth: Option<u32>) -> bool {
        (self.irets || self.returns.is_checked()) && depth == Some(self.returns_so_far())
    }

    /// An implicit return is left; it consumes its link.
    #[inline]
    pub(super) fn leave_implicit_return(&mut self) {
        self.returns.pop();
        self.implicit_returns = self.implicit_returns.saturating_add(1);
    }

    /// A return is left whose target was reported: what link it consumes. `failed`: it did not go there.
    /// Spec: RVET5-DEC-011; readings failed-return-pops, failed-return-does-not-pop.
    #[inline]
    pub(super) fn leave_reported_return(&mut self, failed: bool) -> Option<u64> {
        if self.modes.implicit_return && (self.irets || !failed) { self.returns.pop() } else { None }
    }

    /// The pc is left for a trap handler, or for what follows a chain of traps, without a walk. `failed`: if it is a
    /// return, it did not go where its call came from. A branch has executed, so its outcome is learnt (RVET-ENC-061).
    pub(super) fn leave_unwalked(&mut self, map: &ProgramMap, failed: bool) {
        let Some(slot) = map.locate(self.pc).map(|here| *map.slot(here)) else { return };
        if self.modes.branch_prediction
            && slot.class == Class::Branch
            && let Some(taken) = self.outcomes.take(&self.predictor, self.pc)
        {
            self.predictor.learn(self.pc, taken);
        }
        if !self.modes.implicit_return {
            return;
        }
        if slot.class == Class::Return {
            self.leave_reported_return(failed);
        } else if slot.class.is_call() {
            self.returns.push(self.offset(self.pc, u64::from(slot.length)));
        }
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
