//! Fields of variable length, in as many bytes as the policy says.

use traceproof_vectors::arm_ete::{Policy, VariableField};

use crate::arm::ByteField;

/// In as few bytes as the number needs.
pub(super) fn shortest(bits: u64, longest: u8) -> VariableField {
    let bytes = ByteField::number(7 * u32::from(longest)).fewest_bytes(bits, 0);
    VariableField { bits, bytes: bytes as u8 }
}

/// With the padded groups of the policy, as far as the field has room. Spec: ETE-PKT-ENC-001.
pub(super) fn padded(bits: u64, longest: u8, policy: &Policy) -> VariableField {
    let VariableField { bytes, .. } = shortest(bits, longest);
    VariableField { bits, bytes: bytes.saturating_add(policy.padded_groups).min(longest) }
}
