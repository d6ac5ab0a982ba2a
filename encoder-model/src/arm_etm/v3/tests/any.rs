//! ETMv3: whatever the stimulus, the macrocell sends legal packets and nothing else.

use crate::arm_etm::v3::write_packet;
use proptest::prelude::*;
use traceproof_vectors::arm_etm::{
    Access, Architecture, BranchTarget, Exception, Instruction, Isa, MissReturn, Packet, Parameters, Phantom,
    Policy, Position, Stimulus, TagChoice, Transfer,
};

use crate::arm_etm::tests::{encode, encode_unended};
use traceproof_vectors::Address32;

fn parameters() -> impl Strategy<Value = Parameters> {
    (0..=5_u8, any::<[bool; 16]>(), prop::sample::select(vec![0, 1, 2, 4])).prop_map(
        |(minor, flags, context_id_bytes)| {
            let [value, address, cprt, filter, broadcast, accurate, alternative, single, ..] = flags;
            let [.., only, stamps, long, gray, vmid, virtualization, m_profile, _] = flags;
            Parameters {
                architecture: Architecture::V3,
                minor,
                data_value: value,
                data_address: address,
                monitor_cprt: cprt,
                filter_cprt: filter,
                branch_broadcast: broadcast,
                cycle_accurate: accurate,
                alternative_branches: alternative && minor >= 4,
                thumb32_single: single,
                data_only: only && minor >= 1 && !accurate,
                timestamps: stamps && minor >= 5,
                timestamp_bits: if long { 64 } else { 48 },
                timestamp_gray: gray,
                vmid: vmid && minor >= 5,
                virtualization: virtualization && minor >= 5,
                m_profile: m_profile && minor >= 4,
                context_id_bytes,
                ..Parameters::default()
            }
        },
    )
}

fn policy() -> impl Strategy<Value = Policy> {
    (64..=255_u8, 0..40_u32, 1..8_u8, any::<u8>(), any::<[bool; 6]>()).prop_map(
        |(
            fifo_size,
            sync_period,
            port_bytes,
            suppress_below,
            [suppress, pack, inside, round, values, short],
        )| {
            Policy {
                fifo_size,
                sync_period,
                port_bytes,
                suppress_below: if suppress { suppress_below } else { 0 },
                pack_atoms: pack,
                count_in_sync: inside,
                tags: if round { TagChoice::RoundRobin } else { TagChoice::Lowest },
                minimal_values: values,
                minimal_addresses: short,
                ..Policy::default()
            }
        },
    )
}

fn isa() -> impl Strategy<Value = Isa> {
    prop::sample::select(vec![Isa::Arm, Isa::Thumb, Isa::ThumbEe, Isa::Jazelle])
}

fn target() -> impl Strategy<Value = BranchTarget> {
    let exception = (any::<u16>(), any::<bool>(), any::<Option<u8>>())
        .prop_map(|(number, cancel, resume)| Exception { number, cancel, resume });
    (any::<u32>(), isa(), any::<bool>(), prop::option::of(exception)).prop_map(
        |(address, isa, direct, exception)| BranchTarget {
            address: Address32(address),
            isa,
            direct,
            exception,
        },
    )
}

fn instruction() -> impl Strategy<Value = Instruction> {
    let phantom = (any::<u32>(), any::<bool>())
        .prop_map(|(address, taken)| Phantom { address: Address32(address), taken });
    (any::<u32>(), isa(), any::<[bool; 3]>(), prop::option::of(phantom), prop::option::of(target())).prop_map(
        |(address, isa, [executed, exception_return, thumb32], phantom, branch)| Instruction {
            address: Address32(address),
            isa,
            executed,
            phantom,
            branch,
            exception_return,
            thumb32,
        },
    )
}

fn transfer() -> impl Strategy<Value = Transfer> {
    let access = prop_oneof![
        Just(Access::Store),
        Just(Access::Hit),
        Just(Access::Coprocessor),
        (0..6_u32).prop_map(Access::Miss)
    ];
    let position =
        prop::sample::select(vec![Position::Only, Position::First, Position::Middle, Position::Last]);
    (any::<u32>(), access, any::<u64>(), position, any::<[bool; 3]>()).prop_map(
        |(address, access, value, position, [wide, big_endian, failed])| Transfer {
            size: 4,
            address: Address32(address),
            access,
            value,
            wide,
            position,
            big_endian,
            failed,
        },
    )
}

fn stimulus() -> impl Strategy<Value = Stimulus> {
    let returns = (0..6_u32, any::<u64>()).prop_map(|(miss, value)| MissReturn { miss, value });
    (
        any::<[bool; 11]>(),
        any::<u64>(),
        any::<Option<u8>>(),
        prop::option::of(instruction()),
        prop::collection::vec(transfer(), 0..4),
        prop::collection::vec(returns, 0..3),
        any::<Option<u32>>(),
    )
        .prop_map(|(flags, timestamp, vmid, instruction, transfers, returns, context_id)| {
            let [off, view_data, debug, reset, trigger, non_secure, hyp, event, change, entry, rare] = flags;
            Stimulus {
                trace_enable: !(off && rare),
                view_data,
                debug: debug && off && rare,
                reset: reset && off && rare,
                trigger: trigger && rare,
                non_secure,
                hyp,
                timestamp,
                timestamp_event: event && rare,
                clock_change: change,
                vmid,
                exception_entry: entry && rare,
                instruction,
                transfers,
                returns,
                context_id,
            }
        })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Every packet can travel, no code is reserved (ETM3-ENC-005), and the wire is the packets one after the other.
    #[test]
    fn the_wire_is_the_packets(
        parameters in parameters(),
        policy in policy(),
        cycles in prop::collection::vec(stimulus(), 0..60),
    ) {
        let log = encode(&parameters, &policy, &cycles);
        let mut expected = Vec::new();
        for packet in log.packets() {
            prop_assert_ne!(packet, &Packet::PHeader(0x80));
            match write_packet(packet, &parameters) {
                Ok(bytes) => expected.extend(bytes),
                Err(error) => return Err(TestCaseError::fail(format!("{error}: {packet:x?}"))),
            }
        }
        prop_assert_eq!(&log.wire, &expected);
        // Deterministic.
        prop_assert_eq!(encode(&parameters, &policy, &cycles).wire, expected);
    }

    /// A bare port carries the same bytes, apart from triggers.
    #[test]
    fn a_bare_port_carries_the_same_bytes(
        parameters in parameters(),
        policy in policy(),
        mut cycles in prop::collection::vec(stimulus(), 0..40),
    ) {
        cycles.iter_mut().for_each(|cycle| cycle.trigger = false);
        let bare = Parameters { bare_port: true, ..parameters };
        let records = encode_unended(&bare, &policy, &cycles).wire;
        let trace: Vec<u8> =
            records.chunks(2).filter(|record| record[0] == 0).map(|record| record[1]).collect();
        prop_assert_eq!(encode_unended(&parameters, &policy, &cycles).wire, trace);
    }
}
