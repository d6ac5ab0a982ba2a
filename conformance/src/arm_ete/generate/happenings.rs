//! Random configurations, and how often things happen in an execution.

use traceproof_vectors::arm_ete::{AddressChoice, Parameters, Policy, QElements, TraceInfoSections, Version};

use crate::generate::Entropy;

/// How often things happen, of 256 places where they can.
#[derive(Clone, Copy, Debug)]
#[allow(clippy::struct_excessive_bools, reason = "independent properties of a processor")]
pub(super) struct Happenings {
    /// An exception before the next instruction.
    pub(super) exceptions: u8,
    /// Debug state is entered.
    pub(super) debug: u8,
    /// A prohibited region begins.
    pub(super) prohibited: u8,
    /// `ViewInst` changes.
    pub(super) filter: u8,
    /// The buffer is full.
    pub(super) overflows: u8,
    /// Context ID and VMID change at an ISB.
    pub(super) contexts: u8,
    /// Trace unit events.
    pub(super) events: u8,
    /// Requests of timestamps.
    pub(super) timestamps: u8,
    /// Periodic synchronization is wanted.
    pub(super) synchronisations: u8,
    /// The trace bus asks for all that is held.
    pub(super) flushes: u8,
    /// Returns do not lead back to where the call was.
    pub(super) strays: u8,
    /// The oldest P0 elements are resolved.
    pub(super) commits: u8,
    /// A branch is speculated wrongly.
    pub(super) mispredictions: u8,
    /// The youngest P0 elements are executed again.
    pub(super) cancels: u8,
    /// Regions of Q elements begin or end.
    pub(super) q_regions: u8,
    /// The processor has Root and Realm states.
    pub(super) realms: bool,
    /// All direct branches are broadcast, or some.
    pub(super) broadcast: u8,
    /// Cycles between steps are many now and then.
    pub(super) slow: bool,
}

impl Happenings {
    /// From a quiet execution to one in which everything happens.
    pub(super) fn generate(entropy: &mut Entropy<'_>, parameters: &Parameters, policy: &Policy) -> Self {
        let if_on = |on: bool, chance: u8| if on { chance } else { 0 };
        // Which P0 elements are lost is known where the stimulus says so, or where none is ever open.
        let closed = policy.fifo_bytes == 0;
        Self {
            exceptions: entropy.pick(&[0, 6, 24]),
            debug: entropy.pick(&[0, 0, 6]),
            prohibited: entropy.pick(&[0, 0, 6]),
            filter: entropy.pick(&[0, 0, 8, 32]),
            overflows: if_on(closed, entropy.pick(&[0, 0, 0, 8])),
            contexts: entropy.pick(&[0, 64, 200]),
            events: entropy.pick(&[0, 0, 12]),
            timestamps: entropy.pick(&[0, 12]),
            synchronisations: entropy.pick(&[0, 4, 16]),
            flushes: entropy.pick(&[0, 0, 8]),
            strays: entropy.pick(&[32, 0, 128]),
            commits: entropy.pick(&[100, 20, 200]),
            mispredictions: if_on(!policy.source_addresses, entropy.pick(&[0, 24, 96])),
            cancels: if_on(!policy.source_addresses, entropy.pick(&[0, 8, 24])),
            q_regions: if_on(parameters.q_elements != QElements::None, 60),
            realms: entropy.chance(128) && parameters.version >= Version::Ete1_2,
            broadcast: if_on(parameters.branch_broadcast, entropy.pick(&[255, 128])),
            slow: entropy.chance(128),
        }
    }
}

/// Random parameters that a trace unit can have.
pub(super) fn parameters(entropy: &mut Entropy<'_>) -> Parameters {
    use Version::{Ete1_0, Ete1_1, Ete1_2, Ete1_3, Etmv4_0, Etmv4_2, Etmv4_3, Etmv4_4, Etmv4_6};
    let versions = [Ete1_3, Ete1_3, Ete1_2, Ete1_1, Ete1_0, Etmv4_4, Etmv4_2, Etmv4_0, Etmv4_6, Etmv4_3];
    let version = entropy.pick(&versions);
    // Around 15 and 16 cycle counts of format 2 begin to have a large commit.
    let maxspec = entropy.pick(&[0, 4, 1, 2, 3, 8, 14, 15, 16, 17, 60, 0, 0xffff_fffe, 0xffff_ffff]);
    let [commopt, commtrans, wfx, cycles, stamps, ids, vmids] = std::array::from_fn(|_| entropy.chance(128));
    let [markers, instrumentation, transactions, stack, broadcast, q] =
        std::array::from_fn(|_| entropy.chance(112));
    let plain = Parameters {
        version,
        commopt,
        commtrans: commtrans && maxspec != 0,
        maxspec,
        // Whether older units can have it, no text at hand says (ET-92).
        wfx_is_p0: wfx && version >= Etmv4_3,
        cycle_counting: cycles,
        cycle_count_bits: entropy.pick(&[12, 20, 16, 13, 19]),
        timestamps: stamps,
        context_ids: ids,
        vmids,
        return_stack: stack,
        branch_broadcast: broadcast && entropy.chance(96),
        ..Parameters::default()
    };
    // Q elements change what is counted in commits, and no transaction begins within them.
    let q = if q && !plain.branch_broadcast && plain.maxspec == 0 && version >= Etmv4_3 {
        entropy.pick(&[QElements::Any, QElements::Count])
    } else {
        QElements::None
    };
    if version.is_ete() {
        Parameters {
            vmid_bytes: entropy.pick(&[4, 0]),
            timestamp_markers: markers && version >= Ete1_1,
            instrumentation: instrumentation && version >= Ete1_3,
            transactions: transactions && q == QElements::None,
            q_elements: q,
            ..plain
        }
    } else {
        Parameters {
            vmid_bytes: entropy.pick(&[0, 1, 2, 4]),
            context_id_bytes: entropy.pick(&[4, 0]),
            address_bytes: entropy.pick(&[8, 4]),
            timestamp_bits: entropy.pick(&[64, 48]),
            timestamp_markers: markers && version >= Etmv4_6,
            commtrans: false,
            q_elements: q,
            ..plain
        }
    }
}

/// Random choices of a trace unit with these parameters.
pub(super) fn policy(entropy: &mut Entropy<'_>, parameters: &Parameters) -> Policy {
    let plain = Policy {
        cycle_threshold: entropy.pick(&[1, 4, 16, 2, 0xffe, 0xfff]),
        q_blocks: if parameters.q_elements == QElements::None { 0 } else { entropy.pick(&[4, 1, 255]) },
        ..Policy::default()
    };
    if !entropy.chance(160) {
        return Policy { sync_period: entropy.pick(&[0, 4096, 100]), ..plain };
    }
    let ete = parameters.version.is_ete();
    let policy = Policy {
        sync_period: entropy.pick(&[0, 1024, 200, 64]),
        sync_while_inactive: entropy.chance(64),
        sync_spacing: entropy.pick(&[0, 0, 1, 2, 3]),
        sync_zeros: entropy.pick(&[11, 11, 12, 40]),
        trace_info: entropy.pick(&[
            TraceInfoSections::Needed,
            TraceInfoSections::Info,
            TraceInfoSections::All,
        ]),
        padded_groups: entropy.pick(&[0, 0, 1, 9]),
        atoms_per_packet: entropy.pick(&[24, 24, 1, 2, 3, 4, 5, 6, 22, 23]),
        addresses: entropy.pick(&[
            AddressChoice::Shortest,
            AddressChoice::NoExactMatch,
            AddressChoice::TwoBytes,
            AddressChoice::Bits32,
            AddressChoice::Bits64,
        ]),
        source_addresses: ete && entropy.chance(48),
        q_counts: !entropy.chance(64),
        q_addresses: !entropy.chance(64),
        return_stack_depth: entropy.pick(&[15, 1, 2, 0, 3, 14]),
        merged_commits: entropy.pick(&[1, 2, 8, 0xffff]),
        fifo_bytes: if parameters.maxspec == 0 && !parameters.transactions {
            entropy.pick(&[0, 0, 0, 60, 100])
        } else {
            0
        },
        port_bytes: entropy.pick(&[0, 1, 2, 4]),
        pad_to: if parameters.version >= Version::Etmv4_3 { entropy.pick(&[0, 0, 4, 16]) } else { 0 },
        ..plain
    };
    switches(entropy, policy)
}

/// The choices between two.
fn switches(entropy: &mut Entropy<'_>, mut policy: Policy) -> Policy {
    let choices = [
        &mut policy.atoms_in_mispredicts,
        &mut policy.short_cancels,
        &mut policy.combined_contexts,
        &mut policy.context_same,
        &mut policy.redundant_contexts,
        &mut policy.explicit_ids,
        &mut policy.context_after_trace_on,
        &mut policy.combined_targets,
        &mut policy.contexts_in_exceptions,
        &mut policy.cancel_empties_return_stack,
        &mut policy.short_cycle_counts,
        &mut policy.minimal_timestamps,
        &mut policy.timestamp_context_changes,
        &mut policy.merged_events,
    ];
    for choice in choices {
        *choice ^= entropy.chance(64);
    }
    policy
}
