//! ETMv3: whatever the stimulus, the macrocell sends legal packets and nothing else.

use crate::arm_etm::v3::write_packet;
use proptest::prelude::*;
use traceproof_vectors::arm_etm::{Architecture, Packet, Parameters, Policy, TagChoice};

use crate::arm_etm::tests::any::stimulus;
use crate::arm_etm::tests::{encode, encode_unended};

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
