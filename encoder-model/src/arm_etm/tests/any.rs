//! Any stimulus, possible or not; ETMv1 and ETMv2 send nothing but legal packets for it.

use proptest::prelude::*;
use traceproof_vectors::Address32;
use traceproof_vectors::arm_etm::{
    Access, Architecture, BranchTarget, Exception, Instruction, Isa, MissReturn, Packet, Parameters, Phantom,
    Policy, Position, Stimulus, Transfer,
};

use super::encode;
use crate::arm_etm::{v1, v2};

fn isa() -> impl Strategy<Value = Isa> {
    prop::sample::select(vec![Isa::Arm, Isa::Thumb, Isa::ThumbEe, Isa::Jazelle])
}

fn target() -> impl Strategy<Value = BranchTarget> {
    let exception = (prop_oneof![0..16_u16, any::<u16>()], any::<bool>(), any::<Option<u8>>())
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

pub(crate) fn stimulus() -> impl Strategy<Value = Stimulus> {
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

fn parameters(architecture: Architecture) -> impl Strategy<Value = Parameters> {
    let width = prop::sample::select(vec![4, 8, 16]);
    let context = prop::sample::select(vec![0, 1, 2, 4]);
    (width, context, any::<[bool; 8]>()).prop_map(move |(port_width, context_id_bytes, flags)| {
        let [data_value, data_address, monitor_cprt, branch_broadcast, cycle_accurate, slow, java, newest] =
            flags;
        // ETMv2.0 has no Java state, and no way to output it.
        let (oldest, latest) = if architecture == Architecture::V1 { (0, 3) } else { (1, 1) };
        Parameters {
            architecture,
            minor: if newest { latest } else { oldest },
            port_width,
            data_value,
            data_address,
            monitor_cprt,
            branch_broadcast,
            context_id_bytes,
            cycle_accurate,
            fifo_latency: slow.into(),
            tfo_jazelle: java && architecture == Architecture::V2,
            ..Parameters::default()
        }
    })
}

fn policy() -> impl Strategy<Value = Policy> {
    (9..=111_u8, 0..40_u32, any::<bool>()).prop_map(|(fifo_size, sync_period, minimal_addresses)| Policy {
        fifo_size,
        sync_period,
        minimal_addresses,
        ..Policy::default()
    })
}

/// Whether a branch address has the exception bit (PC-15).
fn has_exception_bit(packet: &Packet) -> bool {
    matches!(packet, Packet::BranchAddress(address) if address.bits >> 33 == 1)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn packets_of_etmv1_can_travel(
        parameters in parameters(Architecture::V1),
        policy in policy(),
        cycles in prop::collection::vec(stimulus(), 0..60),
    ) {
        let log = encode(&parameters, &policy, &cycles);
        for packet in log.packets() {
            prop_assert!(v1::write_packet(packet, &parameters).is_ok(), "{packet:x?}");
        }
        prop_assert_eq!(&encode(&parameters, &policy, &cycles).wire, &log.wire);
    }

    /// Nor is the exception bit set without an exception of its kind (ETM2-EXC-003 to 005).
    #[test]
    fn packets_of_etmv2_can_travel(
        parameters in parameters(Architecture::V2),
        policy in policy(),
        cycles in prop::collection::vec(stimulus(), 0..60),
    ) {
        let log = encode(&parameters, &policy, &cycles);
        for packet in log.packets() {
            prop_assert!(v2::write_packet(packet, &parameters).is_ok(), "{packet:x?}");
        }
        prop_assert_eq!(&encode(&parameters, &policy, &cycles).wire, &log.wire);
        let exceptions = cycles
            .iter()
            .filter_map(|cycle| cycle.instruction?.branch?.exception)
            .filter(|exception| matches!(exception.number, 4 | 8 | 9 | 11 | 14 | 15));
        prop_assert!(log.packets().filter(|packet| has_exception_bit(packet)).count() <= exceptions.count());
    }
}
