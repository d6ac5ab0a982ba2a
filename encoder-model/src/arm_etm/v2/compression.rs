//! How instruction addresses are shortened.

use traceproof_vectors::arm_etm::{CompressedAddress, Isa};

use super::conventions::{EXCEPTION_BIT, address_shift, state_marker};
use crate::arm_etm::compression::{LONGEST, groups, low_mask};

/// Base of branch addresses: the instruction address that was output last.
///
/// Spec: ETM2-BR-003, ETM2-TFO-020 (6.7).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct InstructionBase {
    address: u32,
    isa: Isa,
}

impl InstructionBase {
    pub(super) const fn new(address: u32, isa: Isa) -> Self {
        Self { address, isa }
    }

    /// The address as it travels; it becomes the base.
    ///
    /// Spec: ETM2-BR-002, 004, 007 (6.7).
    pub(super) fn compress(&mut self, address: u32, isa: Isa, minimal: bool) -> CompressedAddress {
        let shift = address_shift(isa);
        let full = u64::from(address >> shift);
        let changed = (self.address ^ address) >> shift;
        // The first byte has six address bits, the others seven.
        let bytes = if !minimal || isa != self.isa { LONGEST } else { groups(changed, 6) };
        *self = Self { address, isa };
        let bits = match bytes {
            LONGEST => full | state_marker(isa),
            fewer => full & low_mask(u32::from(fewer) * 7 - 1),
        };
        CompressedAddress { bits, bytes }
    }

    /// The address with the exception bit, which has five bytes. Spec: ETM2-EXC-007 (6.8.1).
    pub(super) fn exception(&mut self, address: u32, isa: Isa) -> CompressedAddress {
        let CompressedAddress { bits, bytes } = self.compress(address, isa, false);
        CompressedAddress { bits: bits | EXCEPTION_BIT, bytes }
    }
}
