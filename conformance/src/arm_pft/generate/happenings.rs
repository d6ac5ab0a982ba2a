//! How often things happen in an execution.

use traceproof_vectors::arm_pft::{Parameters, Policy};

use crate::generate::Entropy;

/// How often things happen, in 256 steps.
#[derive(Clone, Copy, Debug)]
#[allow(clippy::struct_excessive_bools, reason = "independent properties of a processor")]
pub(super) struct Happenings {
    /// An exception before the next instruction.
    pub(super) exceptions: u8,
    /// Debug state is entered.
    pub(super) debug: u8,
    /// A prohibited region begins.
    pub(super) prohibited: u8,
    /// TraceEnable changes.
    pub(super) filter: u8,
    /// The FIFO is full.
    pub(super) overflows: u8,
    /// Context ID and VMID change.
    pub(super) contexts: u8,
    /// The trigger occurs.
    pub(super) triggers: u8,
    /// Timestamp events and changes of the clock.
    pub(super) timestamps: u8,
    /// Periodic synchronisation is wanted.
    pub(super) synchronisations: u8,
    /// The trace port asks for all that is held.
    pub(super) flushes: u8,
    /// Returns do not lead back to where the call was, of 256.
    pub(super) strays: u8,
    /// Security state changes with exceptions and exception returns.
    pub(super) security: bool,
    /// Secure state is left by a write to SCR, too.
    pub(super) security_writes: bool,
    /// The program has T32EE code.
    pub(super) thumb_ee: bool,
    /// BXJ enters Jazelle state.
    pub(super) jazelle: bool,
    /// The program has a block of more than 4096 bytes.
    pub(super) long_block: bool,
    /// Cycles between steps are many now and then.
    pub(super) slow: bool,
}

impl Happenings {
    /// From a quiet execution to one in which everything happens.
    pub(super) fn generate(entropy: &mut Entropy<'_>, parameters: &Parameters) -> Self {
        let application = !parameters.m_profile;
        Self {
            exceptions: entropy.pick(&[0, 8, 40]),
            debug: entropy.pick(&[0, 0, 6]),
            prohibited: entropy.pick(&[0, 0, 6]),
            filter: entropy.pick(&[0, 0, 8, 32]),
            overflows: entropy.pick(&[0, 0, 0, 6]),
            contexts: entropy.pick(&[0, 8, 24]),
            triggers: entropy.pick(&[0, 0, 4]),
            timestamps: entropy.pick(&[0, 12]),
            synchronisations: entropy.pick(&[0, 4, 24]),
            flushes: entropy.pick(&[0, 12]),
            strays: entropy.pick(&[32, 0, 128]),
            security: entropy.chance(128) && application,
            security_writes: entropy.chance(40) && application,
            thumb_ee: entropy.chance(64) && application,
            jazelle: entropy.chance(40) && application,
            long_block: entropy.chance(16),
            slow: entropy.chance(64),
        }
    }
}

/// Random parameters that a PTM can have.
pub(super) fn parameters(entropy: &mut Entropy<'_>) -> Parameters {
    let minor = entropy.pick(&[1, 1, 0]);
    let v1_1 = minor == 1;
    let [accurate, broadcast, stamps, long, binary] = std::array::from_fn(|_| entropy.chance(112));
    let [stack, vmid, virtualization, barriers, barrier_stamps] =
        std::array::from_fn(|_| entropy.chance(112));
    let m_profile = entropy.chance(24);
    let virtualization = virtualization && v1_1 && !m_profile;
    Parameters {
        minor,
        cycle_accurate: accurate,
        context_id_bytes: entropy.pick(&[0, 1, 2, 4]),
        branch_broadcast: broadcast && !stack && entropy.chance(128),
        timestamps: stamps,
        timestamp_bits: if long && v1_1 { 64 } else { 48 },
        timestamp_binary: binary && v1_1,
        return_stack: stack,
        return_stack_depth: entropy.pick(&[16, 1, 2, 4, 16]),
        vmid: vmid && virtualization,
        virtualization,
        barrier_waypoints: barriers,
        barrier_timestamps: barrier_stamps,
        m_profile,
        // What the program is decides it.
        thumbee: false,
    }
}

/// Random choices of a PTM with these parameters.
pub(super) fn policy(entropy: &mut Entropy<'_>, parameters: &Parameters) -> Policy {
    let plain = Policy::default();
    if !entropy.chance(160) {
        let depth = plain.return_stack_depth.min(parameters.return_stack_depth);
        return Policy { sync_period: entropy.pick(&[0, 1024, 100]), return_stack_depth: depth, ..plain };
    }
    let [trigger, alignment, wait, information, second, long] = std::array::from_fn(|_| entropy.chance(64));
    let [cycles, full, waypoints, broadcast, vmid, start] = std::array::from_fn(|_| entropy.chance(64));
    let depth = entropy.pick(&[16, 1, 2, 0, 3]);
    Policy {
        sync_period: entropy.pick(&[0, 1024, 200, 64]),
        sync_spacing: entropy.pick(&[0, 0, 1, 2, 3]),
        atoms_per_packet: entropy.pick(&[5, 5, 1, 2, 3, 4]),
        flush_before_trigger: !trigger,
        flush_before_alignment_sync: !alignment,
        flush_at_wait: !wait,
        min_address_bytes: entropy.pick(&[1, 1, 1, 2, 3, 4, 5]),
        always_exception_information: information,
        always_second_exception_byte: second,
        long_block_updates: !long,
        cycles_in_timestamps: cycles,
        minimal_timestamps: !full,
        timestamp_at_start: start,
        timestamp_waypoints: !waypoints,
        return_stack_depth: depth.min(parameters.return_stack_depth),
        broadcast_isb: broadcast,
        vmid_after_sync: !vmid,
        pad_to: entropy.pick(&[0, 0, 4, 16]),
        // The smallest holds an A-sync and the longest I-sync.
        fifo_bytes: entropy.pick(&[0, 0, 0, 40, 64, 128]),
        port_bytes: entropy.pick(&[0, 1, 2, 4]),
        capture_from: entropy.pick(&[0, 0, 0, 0, 40, 200]),
    }
}
