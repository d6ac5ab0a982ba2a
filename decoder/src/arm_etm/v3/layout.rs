//! The parameters that determine where packets end.

use traceproof_vectors::arm_etm::Parameters;

/// The parameters that determine where packets end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    pub(super) bare_port: bool,
    pub(super) alternative: bool,
    pub(super) data_only: bool,
    pub(super) data_address: bool,
    pub(super) data_value: bool,
    pub(super) context_id_bytes: u8,
    pub(super) timestamp_bits: u8,
}

impl Layout {
    pub(super) const fn new(parameters: &Parameters) -> Self {
        Self {
            bare_port: parameters.bare_port,
            alternative: parameters.alternative_branches,
            data_only: parameters.data_only,
            data_address: parameters.data_address,
            data_value: parameters.data_value,
            context_id_bytes: parameters.context_id_bytes,
            timestamp_bits: parameters.timestamp_bits,
        }
    }
}
