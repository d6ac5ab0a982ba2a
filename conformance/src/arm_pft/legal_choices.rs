//! What may a PTM do otherwise than the policy of a case says?
//!
//! The shortest form of addresses and timestamps is demanded (PFT-ENC-023, PFT-ENC-053), so it is no choice; sizes of
//! FIFO and capture are what a case is about, or unlimited.

use traceproof_vectors::arm_pft::{ArmPft, Policy};

use crate::family::{EITHER, LegalChoice, legal_choices};

/// Bytes between synchronisations that are tried; 0 = never.
const PERIODS: [u32; 9] = [0, 32, 64, 128, 256, 512, 1024, 2048, 4096];

pub(super) const LEGAL_CHOICES: &[LegalChoice<ArmPft>] = legal_choices! {
    sync_period in PERIODS, "PFT-CFG-015", "PFT-ENC-056";
    sync_spacing in 0..=8, "PFT-ENC-043", "PFT-ENC-057";
    atoms_per_packet in 1..=5, "PFT-ENC-007";
    flush_before_trigger in EITHER, "PFT-DEC-081";
    flush_before_alignment_sync in EITHER, "PFT-ENC-008";
    flush_at_wait in EITHER, "PFT-ENC-049";
    always_exception_information in EITHER, "PFT-ENC-027";
    always_second_exception_byte in EITHER, "PFT-PKT-071";
    long_block_updates in EITHER, "PFT-ENC-021";
    cycles_in_timestamps in EITHER, "PFT-ENC-058";
    timestamp_at_start in EITHER, "PFT-ENC-052";
    timestamp_waypoints in EITHER;
    return_stack_depth in 0..=Policy::default().return_stack_depth, "PFT-ENC-060";
    broadcast_isb in EITHER, "PFT-ENC-050";
    vmid_after_sync in EITHER, "PFT-ENC-062";
    pad_to in [0, 4, 8, 16], "PFT-DEC-016";
};
