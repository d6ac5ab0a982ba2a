//! A capture taken apart, by architecture.

use alloc::vec::Vec;

use traceproof_vectors::arm_etm::{Architecture, ArmEtm, Parameters};
use traceproof_vectors::{Dissection, Program};

use super::{v1, v2, v3};

/// Takes a capture apart bit by bit, for display. Empty when the parameters are refused. The program gives the length
/// of data packets of ETMv1; nothing else needs it.
#[must_use]
pub fn dissect(wire: &[u8], parameters: &Parameters, program: &Program) -> Vec<Dissection<ArmEtm>> {
    match parameters.architecture {
        Architecture::V1 => v1::dissect(wire, parameters, program),
        Architecture::V2 => v2::dissect(wire, parameters),
        Architecture::V3 => v3::dissect(wire, parameters),
    }
}
