//! Whatever the stimulus, the trace unit sends packets that can be written, in an order that the architecture allows.

use proptest::prelude::*;
use traceproof_vectors::Address;
use traceproof_vectors::arm::{Context, ExceptionLevel, InstructionSet, SecurityState};
use traceproof_vectors::arm_ete::{
    AddressChoice, Exception, P0, P0Kind, Packet, Parameters, Policy, QElements, Signal, State, Stimulus,
    TraceInfoSections, Version,
};

use super::legal::Legality;
use super::scene::{encode, rewritten};

fn parameters() -> impl Strategy<Value = Parameters> {
    let maxspec = prop::sample::select(vec![0, 0, 1, 2, 3, 8, 60, u32::MAX]);
    let version =
        prop::sample::select(vec![Version::Ete1_3, Version::Ete1_0, Version::Etmv4_6, Version::Etmv4_0]);
    (maxspec, version, any::<[bool; 14]>()).prop_map(|(maxspec, version, flags)| {
        let [commopt, commtrans, counting, stamps, markers, instrumentation, transactions, rest @ ..] = flags;
        let [ids, vmids, stack, broadcast, q, narrow, microcontroller] = rest;
        let ete = version.is_ete();
        let plain = if ete { Parameters::default() } else { Parameters::etmv4(version) };
        Parameters {
            version,
            commopt,
            commtrans,
            maxspec,
            cycle_counting: counting,
            timestamps: stamps,
            timestamp_markers: markers && matches!(version, Version::Ete1_3 | Version::Etmv4_6),
            instrumentation: instrumentation && ete,
            transactions: transactions && ete,
            context_ids: ids,
            vmids,
            vmid_bytes: if ete { 4 } else { u8::from(vmids) },
            return_stack: stack,
            branch_broadcast: broadcast,
            q_elements: if q && !broadcast { QElements::Any } else { QElements::None },
            address_bytes: if narrow && !ete { 4 } else { 8 },
            profile: match () {
                () if microcontroller && !ete => traceproof_vectors::arm::Profile::Microcontroller,
                () => plain.profile,
            },
            ..plain
        }
    })
}

fn policy() -> impl Strategy<Value = Policy> {
    use AddressChoice::{Bits32, Bits64, NoExactMatch, Shortest, TwoBytes};
    let forms = prop::sample::select(vec![Shortest, NoExactMatch, TwoBytes, Bits32, Bits64]);
    let sizes = (prop_oneof![Just(0), 20..200_u32], 0..4_u8, 11..20_u16, 0..3_u8, 1..=24_u8, 0..=15_u8);
    let fifo = prop_oneof![3 => Just((0, 0)), 1 => (30..80_u16, 1..8_u16)];
    let counts = (1..5_u16, prop::sample::select(vec![1, 4, 0xfff]), 0..9_u8, 0..4_u8);
    (sizes, forms, fifo, counts, any::<[bool; 20]>()).prop_map(|(sizes, addresses, fifo, counts, flags)| {
        let (sync_period, sync_spacing, sync_zeros, padded_groups, atoms_per_packet, return_stack_depth) =
            sizes;
        let (merged_commits, cycle_threshold, pad_to, q_blocks) = counts;
        let [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, source_addresses] = flags;
        Policy {
            sync_period,
            sync_while_inactive: a,
            sync_spacing,
            sync_zeros,
            trace_info: if r { TraceInfoSections::All } else { TraceInfoSections::Needed },
            padded_groups,
            atoms_per_packet,
            atoms_in_mispredicts: b,
            short_cancels: c,
            addresses,
            combined_contexts: d,
            context_same: e,
            redundant_contexts: f,
            explicit_ids: g,
            context_after_trace_on: h,
            combined_targets: i,
            contexts_in_exceptions: j,
            source_addresses,
            q_blocks,
            q_counts: k,
            q_addresses: l,
            return_stack_depth,
            cancel_empties_return_stack: m,
            merged_commits,
            short_cycle_counts: n,
            cycle_threshold,
            minimal_timestamps: o,
            timestamp_context_changes: p,
            timestamp_at_disable: s,
            merged_events: q,
            pad_to,
            fifo_bytes: fifo.0,
            port_bytes: fifo.1,
            capture_from: 0,
        }
    })
}

fn state() -> impl Strategy<Value = State> {
    let address = prop_oneof![4 => 0x1000..0x1040_u64, 1 => any::<u64>(), 1 => Just(0), 1 => Just(u64::MAX)];
    let isa = prop::sample::select(vec![
        InstructionSet::A64,
        InstructionSet::A64,
        InstructionSet::A32,
        InstructionSet::T32,
    ]);
    let level = prop::sample::select(ExceptionLevel::ALL.to_vec());
    let security = prop::sample::select(SecurityState::ALL.to_vec());
    let id = || prop_oneof![Just(None), Just(Some(5)), any::<u32>().prop_map(Some)];
    (address, isa, level, security, id(), id()).prop_map(
        |(address, isa, level, security, context_id, vmid)| State {
            address: Address(address & !1),
            isa,
            context: Context::default()
                .with_security(security)
                .with_exception_level(Some(level))
                .with_64_bit(isa == InstructionSet::A64)
                .with_context_id(context_id)
                .with_vmid(vmid),
        },
    )
}

fn p0() -> impl Strategy<Value = P0> {
    use P0Kind::{Direct, ExceptionReturn, Indirect, Isb, LoadStore};
    let kind =
        prop::sample::select(vec![Direct, Direct, Indirect, Indirect, Isb, ExceptionReturn, LoadStore]);
    (state(), state(), kind, any::<[bool; 4]>(), any::<u32>()).prop_map(
        |(at, next, kind, [link, taken, long, broadcast], instructions)| P0 {
            address: at.address,
            isa: at.isa,
            size: if long { 4 } else { 2 },
            kind,
            link,
            taken,
            next,
            instructions,
            broadcast,
        },
    )
}

fn inserted() -> impl Strategy<Value = Packet> {
    prop_oneof![
        (0..8_u8).prop_map(Packet::UnnumberedDataSyncMarker),
        (0..9_u8).prop_map(Packet::NumberedDataSyncMarker),
        Just(Packet::FunctionReturn),
        Just(Packet::ConditionalFlush),
        any::<u16>().prop_map(Packet::ConditionalResult3),
        Just(Packet::TraceOn),
    ]
}

fn signal() -> impl Strategy<Value = Signal> {
    prop_oneof![
        2 => state().prop_map(Signal::Enable),
        4 => prop::sample::select(vec![
            Signal::Disable, Signal::Idle, Signal::ProhibitedEntry, Signal::TransactionStart, Signal::TransactionStart,
            Signal::TransactionCommit, Signal::TimestampRequest, Signal::SyncRequest, Signal::Flush,
            Signal::ViewInst(false), Signal::ViewInst(true), Signal::ViewInst(true), Signal::Overflow(true),
            Signal::Overflow(false), Signal::Overflow(false), Signal::QRegion(true), Signal::QRegion(false),
        ]),
        16 => p0().prop_map(Signal::P0),
        3 => (0..0x20_u16, state(), state(), any::<bool>()).prop_map(|(number, returns_to, handler, fault_pending)| {
            Signal::Exception(Exception { number, returns_to, handler, instructions: 1, fault_pending })
        }),
        1 => state().prop_map(|state| Signal::Context(state.context)),
        4 => (0..6_u32).prop_map(Signal::Commit),
        2 => (0..6_u32, state()).prop_map(|(count, next)| Signal::Cancel { count, next }),
        1 => state().prop_map(Signal::Mispredict),
        1 => state().prop_map(Signal::Redirect),
        1 => state().prop_map(Signal::TransactionFailure),
        1 => (0..6_u8).prop_map(Signal::Event),
        1 => (0..=u64::MAX >> 40).prop_map(instrumentation),
        1 => state().prop_map(Signal::ProhibitedExit),
        1 => state().prop_map(Signal::DebugExit),
        1 => inserted().prop_map(Signal::Insert),
    ]
}

fn instrumentation(value: u64) -> Signal {
    Signal::Instrumentation { exception_level: ExceptionLevel::El0, value }
}

fn stimulus() -> impl Strategy<Value = Stimulus> {
    let cycles = prop_oneof![8 => 0..40_u32, 1 => any::<u32>()];
    (cycles, any::<u64>(), signal()).prop_map(|(cycles, timestamp, signal)| Stimulus {
        cycles,
        timestamp,
        signal,
    })
}

/// Ends of eleven or more zeros and 80.
fn alignment_syncs(wire: &[u8]) -> usize {
    let mut zeros = 0;
    let mut found = 0;
    for byte in wire {
        found += usize::from(*byte == 0x80 && zeros >= 11);
        zeros = if *byte == 0 { zeros + 1 } else { 0 };
    }
    found
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn only_legal_packets(
        parameters in parameters(),
        policy in policy(),
        start in state(),
        stimuli in prop::collection::vec(stimulus(), 0..100),
    ) {
        let source_addresses = policy.source_addresses && parameters.version.is_ete();
        let policy = Policy { source_addresses, ..policy };
        let enable = Stimulus { cycles: 0, timestamp: 0, signal: Signal::Enable(start) };
        let stimuli: Vec<_> = core::iter::once(enable).chain(stimuli).collect();
        let log = encode(&parameters, &policy, &stimuli);
        prop_assert_eq!(&log.wire, &rewritten(&parameters, &log));
        let aligned = log.packets().filter(|packet| matches!(packet, Packet::AlignmentSync { .. })).count();
        prop_assert_eq!(alignment_syncs(&log.wire), aligned);
        let mut legality = Legality::new(&parameters);
        for (index, packet) in log.packets().enumerate() {
            let result = legality.check(packet);
            prop_assert!(result.is_ok(), "packet {}: {:?}: {}", index, packet, result.unwrap_err());
        }
    }
}
