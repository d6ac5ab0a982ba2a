//! Whatever the stimulus, the PTM sends packets that can be written, and no false A-sync.

use proptest::prelude::*;
use traceproof_vectors::Address32;
use traceproof_vectors::arm::InstructionSet;
use traceproof_vectors::arm_pft::{
    Exception, Packet, Parameters, Policy, Reason, Signal, State, Stimulus, Waypoint, WaypointKind,
};

use super::scene::{encode, rewritten};

fn parameters() -> impl Strategy<Value = Parameters> {
    (any::<[bool; 12]>(), prop::sample::select(vec![0, 1, 2, 4])).prop_map(|(flags, context_id_bytes)| {
        let [v1_1, cycles, broadcast, stamps, long, binary, stack, virtualization, vmid, rest @ ..] = flags;
        let [waypoints, stamped, m_profile] = rest;
        let virtualization = virtualization && v1_1 && !m_profile;
        Parameters {
            minor: v1_1.into(),
            cycle_accurate: cycles,
            context_id_bytes,
            branch_broadcast: broadcast && !stack,
            timestamps: stamps,
            timestamp_bits: if long && v1_1 { 64 } else { 48 },
            timestamp_binary: binary && v1_1,
            return_stack: stack,
            return_stack_depth: 16,
            vmid: vmid && virtualization,
            virtualization,
            barrier_waypoints: waypoints,
            barrier_timestamps: stamped,
            m_profile,
            thumbee: stamped && !m_profile,
        }
    })
}

fn policy() -> impl Strategy<Value = Policy> {
    let sizes = (0..40_u32, 0..4_u8, 1..=5_u8, 1..=5_u8, 0..=16_u8, 0..9_u8);
    let fifo = prop_oneof![Just((0, 0)), (0..50_u16, 0..8_u16)];
    (sizes, fifo, any::<[bool; 12]>()).prop_map(|(sizes, (fifo_bytes, port_bytes), flags)| {
        let (sync_period, sync_spacing, atoms_per_packet, min_address_bytes, return_stack_depth, pad_to) =
            sizes;
        let [
            trigger,
            alignment,
            wait,
            information,
            second,
            long,
            cycles,
            minimal,
            start,
            waypoints,
            isb,
            vmid,
        ] = flags;
        Policy {
            sync_period,
            sync_spacing,
            atoms_per_packet,
            flush_before_trigger: trigger,
            flush_before_alignment_sync: alignment,
            flush_at_wait: wait,
            min_address_bytes,
            always_exception_information: information,
            always_second_exception_byte: second,
            long_block_updates: long,
            cycles_in_timestamps: cycles,
            minimal_timestamps: minimal,
            timestamp_at_start: start,
            timestamp_waypoints: waypoints,
            return_stack_depth,
            broadcast_isb: isb,
            vmid_after_sync: vmid,
            pad_to,
            fifo_bytes,
            port_bytes,
            capture_from: 0,
        }
    })
}

fn state() -> impl Strategy<Value = State> {
    let address = prop_oneof![0..0x4000_u32, any::<u32>(), Just(0), Just(u32::MAX)];
    let isa = prop::sample::select(InstructionSet::ALL.to_vec());
    (address, isa, any::<[bool; 2]>()).prop_map(|(address, isa, [non_secure, hyp])| State {
        address: Address32(address),
        isa,
        non_secure,
        hyp,
    })
}

fn waypoint() -> impl Strategy<Value = Waypoint> {
    use WaypointKind::{Barrier, Direct, Indirect, Isb};
    let kind = prop::sample::select(vec![Direct, Indirect, Indirect, Isb, Barrier]);
    (state(), state(), kind, any::<[bool; 4]>(), any::<Option<u32>>()).prop_map(
        |(at, next, kind, [link, exception_return, executed, long], previous)| Waypoint {
            address: at.address,
            isa: at.isa,
            size: if long { 4 } else { 2 },
            kind,
            link,
            exception_return,
            executed,
            next,
            previous: previous.map(Address32),
        },
    )
}

fn signal() -> impl Strategy<Value = Signal> {
    let last = || any::<Option<u32>>().prop_map(|last| last.map(Address32));
    prop_oneof![
        2 => state().prop_map(Signal::Enable),
        1 => prop::sample::select(vec![
            Signal::Disable, Signal::Idle, Signal::ProhibitedEntry, Signal::Wait, Signal::Trigger,
            Signal::TimestampEvent, Signal::ClockChange, Signal::SyncRequest, Signal::Flush,
            Signal::TraceEnable(false), Signal::TraceEnable(true),
            Signal::Overflow(true), Signal::Overflow(false),
            Signal::NonSecure(true), Signal::NonSecure(false),
        ]),
        8 => waypoint().prop_map(Signal::Waypoint),
        2 => (0..=u16::MAX, last(), state())
            .prop_map(|(number, last, handler)| Signal::Exception(Exception { number, last, handler })),
        1 => last().prop_map(Signal::DebugEntry),
        1 => state().prop_map(Signal::DebugExit),
        1 => state().prop_map(Signal::ProhibitedExit),
        1 => state().prop_map(Signal::JazelleExit),
        1 => prop_oneof![Just(0), any::<u32>()].prop_map(Signal::ContextId),
        1 => any::<u8>().prop_map(Signal::Vmid),
    ]
}

fn stimulus() -> impl Strategy<Value = Stimulus> {
    let cycles = prop_oneof![0..40_u32, any::<u32>()];
    (cycles, any::<u64>(), signal()).prop_map(|(cycles, timestamp, signal)| Stimulus {
        cycles,
        timestamp,
        signal,
    })
}

/// Ends of five or more zeros and 80. Spec: PFT-ENC-055.
fn alignment_syncs(wire: &[u8]) -> usize {
    let mut zeros = 0;
    let mut found = 0;
    for byte in wire {
        found += usize::from(*byte == 0x80 && zeros >= 5);
        zeros = if *byte == 0 { zeros + 1 } else { 0 };
    }
    found
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn only_legal_packets(
        parameters in parameters(),
        policy in policy(),
        stimuli in prop::collection::vec(stimulus(), 0..80),
    ) {
        let log = encode(&parameters, &policy, &stimuli);
        prop_assert_eq!(&log.wire, &rewritten(&parameters, &log));
        let aligned = log.packets().filter(|packet| matches!(packet, Packet::AlignmentSync { .. })).count();
        prop_assert_eq!(alignment_syncs(&log.wire), aligned);
        let first = log.packets().next();
        let begins = first.is_none_or(|packet| matches!(packet, Packet::AlignmentSync { zeros: 5 }));
        prop_assert!(begins, "begins with {first:?}");
        for packet in log.packets() {
            match packet {
                Packet::InstructionSync { reason, hyp, .. } => {
                    prop_assert!(parameters.virtualization || !hyp);
                    prop_assert!(Reason::from_code(reason.code()).is_some());
                }
                Packet::ExceptionReturn => prop_assert!(parameters.has_exception_returns()),
                Packet::Vmid(_) => prop_assert!(parameters.vmid),
                Packet::Timestamp { .. } => prop_assert!(parameters.timestamps),
                Packet::ContextId { value } => prop_assert!(value.is_some()),
                _ => {}
            }
        }
    }
}
