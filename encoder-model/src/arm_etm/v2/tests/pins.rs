//! The pins follow from the packets: whatever happens, a second and simpler FIFO must explain every record.

use std::collections::VecDeque;

use proptest::prelude::*;
use traceproof_vectors::arm_etm::v2::Pipestat;
use traceproof_vectors::arm_etm::{
    Access, ArmEtm, BranchTarget, Instruction, Isa, MissReturn, Packet, Parameters, Phantom, Policy,
    Position, Stimulus, TagChoice, Transfer,
};
use traceproof_vectors::{Address32, Log};

use crate::arm_etm::tests::{And, cycles, encode, execute, has_data, off, records, store, unit_bytes, units};

/// Walks the records with the units that the packets form, and compares every TRACEPKT and every WT or TD.
struct Explanation {
    units: VecDeque<Vec<Packet>>,
    parameters: Parameters,
    /// What the FIFO holds, in pieces as wide as leaves in one step: nibbles for a 4-bit port, otherwise bytes.
    fifo: VecDeque<u8>,
    /// What TRACEPKT still has to carry of a TFO value.
    tfo_value: VecDeque<u16>,
}

impl Explanation {
    fn new(log: &Log<ArmEtm>, parameters: &Parameters) -> Self {
        Self {
            units: units(log).into(),
            parameters: parameters.clone(),
            fifo: VecDeque::new(),
            tfo_value: VecDeque::new(),
        }
    }

    fn fill(&mut self, expect_tfo: bool) {
        let unit = self.units.pop_front().expect("a unit for this status");
        let is_tfo = matches!(unit.as_slice(), [Packet::TraceFifoOffset { .. }]);
        assert_eq!(is_tfo, expect_tfo, "{unit:?}");
        for byte in unit_bytes(&unit, &self.parameters) {
            match self.parameters.port_width {
                4 => self.fifo.extend([byte & 0xf, byte >> 4]),
                _ => self.fifo.push_back(byte),
            }
        }
    }

    fn announce(&mut self) {
        let bytes = match self.parameters.port_width {
            4 => self.fifo.len() / 2,
            _ => self.fifo.len(),
        } as u16;
        assert!(
            self.parameters.port_width != 4 || self.fifo.len().is_multiple_of(2),
            "a byte is halfway out"
        );
        self.tfo_value = match self.parameters.port_width {
            4 => [bytes >> 4 << 1 | 1, 0, bytes & 0xf].into(),
            _ => [(bytes & 0xf) << 4 | bytes >> 4 << 1 | 1].into(),
        };
        self.fill(true);
    }

    /// What TRACEPKT must be in a cycle of this status; `available` may leave.
    fn tracepkt(&mut self, status: Pipestat, available: usize) -> u16 {
        if let Some(lane) = self.tfo_value.pop_front() {
            return lane;
        }
        if status == Pipestat::Td {
            return if self.parameters.cycle_accurate { 0xf } else { 0 };
        }
        let lanes = if self.parameters.port_width == 16 { 2 } else { 1 };
        (0..lanes.min(available))
            .fold(0, |value, lane| value | u16::from(self.fifo.pop_front().expect("available")) << (8 * lane))
    }

    fn check(mut self, log: &Log<ArmEtm>) {
        let parameters = self.parameters.clone();
        for (index, cycle) in cycles(log, &parameters).into_iter().enumerate() {
            let is_trigger = cycle.pipestat == Pipestat::Tr;
            let status = if is_trigger {
                Pipestat::from_code(cycle.tracepkt as u8).expect("a status")
            } else {
                cycle.pipestat
            };
            let before = self.fifo.len();
            let idle = if parameters.cycle_accurate { 0xf } else { 0 };
            if status == Pipestat::Td && (is_trigger || cycle.tracepkt != idle) {
                self.announce();
            } else if has_data(status) {
                self.fill(false);
            } else if status == Pipestat::Td {
                assert_eq!(before, 0, "record {index}: TD although bytes wait");
            } else if status == Pipestat::Wt && !is_trigger {
                assert_ne!(before, 0, "record {index}: WT although nothing waits");
            }
            let available = if parameters.fifo_latency == 0 { self.fifo.len() } else { before };
            if !is_trigger {
                let expected = self.tracepkt(status, available);
                assert_eq!(cycle.tracepkt, expected, "record {index}: {status}");
            }
        }
        assert!(self.units.is_empty() && self.fifo.is_empty() && self.tfo_value.is_empty());
    }
}

fn transfer() -> impl Strategy<Value = Transfer> {
    let access = prop_oneof![
        Just(Access::Store),
        Just(Access::Hit),
        Just(Access::Coprocessor),
        (0..6u32).prop_map(Access::Miss),
    ];
    let position = prop_oneof![
        Just(Position::Only),
        Just(Position::First),
        Just(Position::Middle),
        Just(Position::Last),
    ];
    let value = prop_oneof![Just(0), 0..0x200u64, any::<u64>()];
    let address = prop_oneof![0x4000..0x4100u32, any::<u32>()];
    (address, access, value, any::<bool>(), position).prop_map(|(address, access, value, wide, position)| {
        Transfer { wide, position, ..Transfer::new(address, access, value) }
    })
}

fn instruction() -> impl Strategy<Value = Instruction> {
    let isa = || prop_oneof![4 => Just(Isa::Arm), 1 => Just(Isa::Thumb), 1 => Just(Isa::Jazelle)];
    let branch = (any::<u32>(), isa(), any::<bool>()).prop_map(|(address, isa, direct)| BranchTarget {
        address: Address32(address),
        isa,
        direct,
        exception: None,
    });
    let phantom = (any::<u32>(), any::<bool>())
        .prop_map(|(address, taken)| Phantom { address: Address32(address), taken });
    (
        0x8000..0x8100u32,
        isa(),
        prop::bool::weighted(0.9),
        prop::option::weighted(0.1, phantom),
        prop::option::weighted(0.2, branch),
    )
        .prop_map(|(address, isa, executed, phantom, branch)| Instruction {
            address: Address32(address),
            isa,
            executed,
            phantom,
            branch,
            ..Instruction::default()
        })
}

fn stimulus() -> impl Strategy<Value = Stimulus> {
    let returns = (0..6u32, any::<u64>()).prop_map(|(miss, value)| MissReturn { miss, value });
    (
        (
            prop::bool::weighted(0.9),
            prop::bool::weighted(0.8),
            prop::bool::weighted(0.02),
            prop::bool::weighted(0.01),
        ),
        prop::bool::weighted(0.05),
        prop::option::weighted(0.6, instruction()),
        prop::collection::vec(transfer(), 0..2),
        prop::collection::vec(returns, 0..2),
        prop::option::weighted(0.03, any::<u32>()),
    )
        .prop_map(|(levels, trigger, instruction, transfers, returns, context_id)| {
            let (trace_enable, view_data, debug, reset) = levels;
            Stimulus {
                trace_enable,
                view_data,
                debug,
                reset,
                trigger,
                instruction,
                transfers,
                returns,
                context_id,
                ..Stimulus::default()
            }
        })
}

fn parameters() -> impl Strategy<Value = Parameters> {
    (
        prop::sample::select(vec![4u8, 8, 16]),
        any::<[bool; 5]>(),
        prop::sample::select(vec![0u8, 1, 2, 4]),
        0..2u8,
    )
        .prop_map(|(port_width, flags, context_id_bytes, fifo_latency)| {
            let [data_value, data_address, monitor_cprt, branch_broadcast, cycle_accurate] = flags;
            Parameters {
                minor: 1,
                port_width,
                data_value,
                data_address,
                monitor_cprt,
                branch_broadcast,
                context_id_bytes,
                cycle_accurate,
                fifo_latency,
                ..Parameters::default()
            }
        })
}

fn policy() -> impl Strategy<Value = Policy> {
    (1..=Policy::MAX_FIFO_SIZE, prop_oneof![Just(0u32), 1..40u32], any::<[bool; 4]>()).prop_map(
        |(fifo_size, sync_period, [round, tag_zero, minimal_values, minimal_addresses])| Policy {
            fifo_size,
            sync_period,
            tags: if round { TagChoice::RoundRobin } else { TagChoice::Lowest },
            tag_zero,
            minimal_values,
            minimal_addresses,
            ..Policy::default()
        },
    )
}

proptest! {
    #[test]
    fn packets_explain_the_pins(
        parameters in parameters(),
        policy in policy(),
        stimulus in prop::collection::vec(stimulus(), 0..80),
    ) {
        let log = encode(&parameters, &policy, &stimulus);
        Explanation::new(&log, &parameters).check(&log);
    }
}

#[test]
fn a_16_bit_port_takes_two_bytes_at_a_time() {
    let parameters = Parameters { port_width: 16, ..Parameters::default() };
    let log = encode(&parameters, &Policy::default(), &[off(), execute(0x8000).and(store(0x4000, 0x42))]);
    let expected = "TD 0001, DE 0020, WT 0080, WT 2600, WT 8080, WT 8081, WT 4200";
    assert_eq!(records(&log, &parameters).join(", "), expected);
}

#[test]
fn a_4_bit_port_takes_halves_and_three_cycles_for_a_tfo_value() {
    let parameters = Parameters { port_width: 4, ..Parameters::default() };
    let cycles = [off(), execute(0x8000), execute(0x8004).trigger(), execute(0x8008), execute(0x800c)];
    let log = encode(&parameters, &Policy::default(), &cycles);
    // The trigger shifts the lower half of the TFO value by one cycle.
    let expected = "TD 1, IE 0, TR 0, IE 0, IE 0, WT 2, WT 0, WT 0, WT 0, WT 8, WT 0, WT 0, WT 0, WT 0";
    assert_eq!(records(&log, &parameters).join(", "), expected);
}

#[test]
fn a_slow_fifo_keeps_bytes_for_a_cycle() {
    let parameters = Parameters { fifo_latency: 1, ..Parameters::default() };
    let mut cycles = vec![off(), execute(0x8000)];
    cycles.extend(std::iter::repeat_n(execute(0x8004), 5));
    cycles.push(execute(0x8008).and(store(0x4000, 0x42)));
    let log = encode(&parameters, &Policy::default(), &cycles);
    let expected = "TD 01, IE 20, IE 00, IE 80, IE 00, IE 00, IE 00, DE 00, WT 26, WT 80, WT 80, WT 81, WT 80, WT 00, WT 42";
    assert_eq!(records(&log, &parameters).join(", "), expected);
}
