//! The modes of the hardware.

use traceproof_vectors::riscv_etrace::{Modes, Parameters};

/// These modes, as far as they are available.
pub(super) const fn restrict(modes: Modes, available: Modes) -> Modes {
    Modes {
        implicit_return: modes.implicit_return && available.implicit_return,
        implicit_exception: modes.implicit_exception && available.implicit_exception,
        full_address: modes.full_address && available.full_address,
        jump_target_cache: modes.jump_target_cache && available.jump_target_cache,
        branch_prediction: modes.branch_prediction && available.branch_prediction,
        sijump: modes.sijump && available.sijump,
    }
}

/// Spec: RVET-DISC-003, RVET-DISC-008, RVET-ENC-059, RVET-ENC-075 (ET 10, 4.2, 3.2.3).
pub(super) const fn available(parameters: &Parameters) -> Modes {
    Modes {
        implicit_return: (parameters.return_stack_size_p > 0 || parameters.call_counter_size_p > 0)
            && parameters.itype_width_p == 4,
        implicit_exception: parameters.trap_vectors.is_some(),
        full_address: true,
        jump_target_cache: parameters.cache_size_p > 0,
        branch_prediction: parameters.bpred_size_p > 0,
        sijump: parameters.sijump_p,
    }
}
