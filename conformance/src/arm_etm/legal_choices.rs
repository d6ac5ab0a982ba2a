//! What may a macrocell do otherwise than the policy of a case says?
//!
//! Sizes of FIFO, port and capture, and the suppression of data, are configured or given by the hardware: what they
//! change is what a case is about.

use traceproof_vectors::arm_etm::{ArmEtm, Policy, TagChoice};

use crate::family::{EITHER, LegalChoice, legal_choices};

/// Cycles or bytes between synchronisations that are tried; 0 = never.
const PERIODS: [u32; 8] = [0, 64, 128, 256, 512, 1024, 2048, 4095];

pub(super) const LEGAL_CHOICES: &[LegalChoice<ArmEtm>] = legal_choices! {
    sync_period in PERIODS, "ETM2-SYN-001", "ETM3-SYN-015", "ETM3-SYN-017";
    pack_atoms in EITHER, "ETM3-PH-012";
    count_in_sync in EITHER, "ETM3-CC-003";
    tags in [TagChoice::Lowest, TagChoice::RoundRobin], "ETM2-LM-018", "ETM2-LM-026";
    minimal_values in EITHER, "ETM2-HDR-012";
    minimal_addresses in EITHER, "ETM2-DA-008";
};
