//! What of the parameters decides where packets end.

use traceproof_vectors::arm_pft::Parameters;

use crate::arm::FieldLayout;

/// What of the parameters decides where packets end.
///
/// Spec: PFT-CFG-001, PFT-CFG-002, PFT-CFG-005, PFT-CFG-014.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    pub(super) cycle_accurate: bool,
    pub(super) context_id_bytes: u8,
    pub(super) timestamp: FieldLayout,
}

impl Layout {
    pub(super) fn new(parameters: &Parameters) -> Self {
        Self {
            cycle_accurate: parameters.cycle_accurate,
            context_id_bytes: parameters.context_id_bytes,
            timestamp: if parameters.timestamp_bits == 48 {
                FieldLayout::TIMESTAMP_48
            } else {
                FieldLayout::TIMESTAMP_64
            },
        }
    }
}
