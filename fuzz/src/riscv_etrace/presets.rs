//! Parameter sets that the first byte of a raw fuzz input chooses from.

use traceproof_vectors::riscv_etrace::{Modes, Parameters, Xlen};

/// The parameter set number `index`; every number means one.
#[must_use]
pub fn preset(index: u8) -> Parameters {
    let base = Parameters::default();
    match index % 8 {
        0 => base,
        1 => Parameters { xlen: Xlen::Rv64, iaddress_width_p: 64, ecause_width_p: 6, ..base },
        2 => Parameters { modes: Modes { full_address: true, ..Modes::default() }, ..base },
        3 => Parameters { nocontext_p: false, context_width_p: 32, ..base },
        4 => Parameters { notime_p: false, time_width_p: 40, nocontext_p: false, context_width_p: 8, ..base },
        5 => Parameters { iaddress_lsb_p: 2, privilege_width_p: 3, ..base },
        6 => Parameters {
            bpred_size_p: 4,
            cache_size_p: 5,
            f0s_width_p: 1,
            return_stack_size_p: 3,
            call_counter_size_p: 0,
            ..base
        },
        _ => Parameters { xlen: Xlen::Rv64, iaddress_width_p: 40, iaddress_lsb_p: 1, ..base },
    }
}

/// The number of the preset that equals `parameters`.
#[must_use]
pub fn number_of(parameters: &Parameters) -> Option<u8> {
    (0..8).find(|&index| preset(index) == *parameters)
}
