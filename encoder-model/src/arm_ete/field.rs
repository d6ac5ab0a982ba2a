//! Fields: how long each is at most, and in how many bytes the policy has it.

use traceproof_vectors::arm_ete::{Policy, SubIsa, VariableField};

use crate::arm::ByteField;

/// The most bytes of each field of variable length.
pub(super) mod longest {
    /// COMMIT, CANCEL, Q COUNT, SPEC, KEY.
    pub(in super::super) const WORD: u8 = 5;
    /// COUNT of cycles.
    pub(in super::super) const CYCLES: u8 = 3;
    /// CYCT.
    pub(in super::super) const THRESHOLD: u8 = 2;
    /// A timestamp.
    pub(in super::super) const TIMESTAMP: u8 = 9;
    /// PLCTL and INFO.
    pub(in super::super) const CONTROL: u8 = 4;
    /// RESULT and KEY of a conditional result.
    pub(in super::super) const RESULT: u8 = 6;
}

/// The lowest address bit that travels.
pub(super) const fn lowest_bit(sub_isa: SubIsa) -> u32 {
    match sub_isa {
        SubIsa::Is0 => 2,
        SubIsa::Is1 => 1,
    }
}

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
