//! The modes as the parameters give them.

use traceproof_vectors::riscv_etrace::{Modes, Parameters, TrapVectors};

/// The modes as the parameters give them.
#[derive(Clone, Copy, Debug)]
pub(in crate::riscv_etrace) struct Hart {
    predictor: bool,
    cache: bool,
    returns: bool,
    /// `itype` has 4 bits, so that the encoder knows calls and returns from other jumps.
    itype: bool,
    sijump: bool,
    pub(in crate::riscv_etrace) vectors: Option<TrapVectors>,
    /// Bit of the `index` field (RVET-PKT-042).
    pub(in crate::riscv_etrace) index_bit: u32,
    pub(in crate::riscv_etrace) mask: u64,
    pub(in crate::riscv_etrace) resync_disabled_keeps_state: bool,
}

impl Hart {
    pub(in crate::riscv_etrace) fn new(parameters: &Parameters) -> Self {
        Self {
            predictor: parameters.bpred_size_p > 0,
            cache: parameters.cache_size_p > 0,
            returns: parameters.return_stack_size_p > 0 || parameters.call_counter_size_p > 0,
            itype: parameters.itype_width_p == 4,
            sijump: parameters.sijump_p,
            vectors: parameters.trap_vectors,
            index_bit: 2 + u32::from(parameters.f0s_width_p),
            mask: parameters.address_mask(),
            resync_disabled_keeps_state: parameters.resync_disabled_keeps_state,
        }
    }

    /// Whether the hardware has what these modes need; if not, what is missing.
    ///
    /// Spec: RVET-DEC-026, RVET-ENC-059 (ET 4.2).
    pub(in crate::riscv_etrace) fn honours(&self, modes: Modes) -> Result<(), &'static str> {
        let needs = [
            (modes.branch_prediction, self.predictor, "bpred_size_p"),
            (modes.jump_target_cache, self.cache, "cache_size_p"),
            (modes.implicit_return, self.returns, "return_stack_size_p"),
            (modes.implicit_return, self.itype, "itype_width_p"),
            (modes.sijump, self.sijump, "sijump_p"),
            (modes.implicit_exception, self.vectors.is_some(), "trap_vectors"),
        ];
        match needs.into_iter().find(|&(on, there, _)| on && !there) {
            Some((_, _, parameter)) => Err(parameter),
            None => Ok(()),
        }
    }
}
