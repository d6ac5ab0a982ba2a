//! What may a trace unit do otherwise than the policy of a case says?
//!
//! Full timestamps, cycle thresholds and the sizes of buffer and capture are configured, so they are no choice.

use traceproof_vectors::arm_ete::{AddressChoice, ArmEte, Policy, TraceInfoSections};

use crate::family::{EITHER, LegalChoice, legal_choices};

/// Bytes between synchronizations that are tried; 0 = never.
const PERIODS: [u32; 6] = [0, 256, 512, 1024, 2048, 4096];

/// Every form of an address.
const ADDRESSES: [AddressChoice; 5] = [
    AddressChoice::Shortest,
    AddressChoice::NoExactMatch,
    AddressChoice::TwoBytes,
    AddressChoice::Bits32,
    AddressChoice::Bits64,
];

/// Every set of sections.
const SECTIONS: [TraceInfoSections; 3] =
    [TraceInfoSections::Needed, TraceInfoSections::Info, TraceInfoSections::All];

pub(super) const LEGAL_CHOICES: &[LegalChoice<ArmEte>] = legal_choices! {
    sync_period in PERIODS, "ETE-SVGNN-001", "ETE-VMPYW-001";
    sync_while_inactive in EITHER, "ETE-DLPYX-001";
    sync_spacing in 0..=8, "ETE-SVGNN-001";
    sync_zeros in 11..=15, "ETE-PKT-SYNC-003";
    trace_info in SECTIONS, "ETE-PKT-TI-002";
    padded_groups in 0..=4, "ETE-PKT-ENC-001";
    atoms_per_packet in 1..=24, "ETE-ENC-ATM-002";
    atoms_in_mispredicts in EITHER, "ETE-PKT-MIS-001", "ETE-PKT-CAN-002";
    short_cancels in EITHER, "ETE-PKT-CAN-001", "ETE-PKT-CAN-003";
    addresses in ADDRESSES, "ETE-ENC-ADR-003";
    combined_contexts in EITHER;
    context_same in EITHER, "ETE-PKT-CTX-002";
    redundant_contexts in EITHER, "ETE-MHFJB-001";
    explicit_ids in EITHER, "ETE-PKT-CTX-002";
    context_after_trace_on in EITHER, "ETE-TJLYH-001";
    combined_targets in EITHER;
    contexts_in_exceptions in EITHER;
    source_addresses in EITHER, "ETE-TZZRH-001", "ETE-DCHPQ-001";
    q_blocks in 0..=4, "ETE-FZTZP-001";
    q_counts in EITHER;
    q_addresses in EITHER;
    return_stack_depth in 0..=15, "ETE-HNDJJ-001";
    cancel_empties_return_stack in EITHER, "ETE-FVRPZ-001";
    merged_commits in [1, 2, 3, 4, 8, 16, u16::MAX], "ETE-VNYMN-001";
    short_cycle_counts in EITHER, "ETE-PKT-ENC-001";
    minimal_timestamps in EITHER, "ETE-PKT-TS-001", "ETE-PKT-ENC-001";
    timestamp_context_changes in EITHER, "ETE-CKNFV-001";
    timestamp_at_disable in EITHER, "ETE-YYWTR-001", "ETE-SZNMB-001";
    merged_events in EITHER, "ETE-PKT-EVT-001";
    pad_to in [0, 4, 8, 16], "ETE-PKT-IGN-001";
};
