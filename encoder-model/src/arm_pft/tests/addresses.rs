//! Targets that are put together again from the packets are those of the stimulus, whatever the base after a
//! waypoint update is.

use proptest::prelude::*;
use traceproof_vectors::Address32;
use traceproof_vectors::arm::InstructionSet;
use traceproof_vectors::arm_pft::{
    CompressedAddress, Exception, ExceptionInformation, Packet, Parameters, Policy, Signal, State, Stimulus,
    Waypoint, WaypointKind,
};

use super::scene::encode;

/// What 10.2 leaves open, and whether the instruction set of an update counts.
#[derive(Clone, Copy)]
struct Base {
    update: bool,
    isa: bool,
}

/// Address and instruction set of a packet.
///
/// Spec: PFT-PKT-038 to 042 (4.5.4).
fn whole(address: CompressedAddress, base: (u32, InstructionSet)) -> (u32, InstructionSet) {
    let CompressedAddress { bits, bytes } = address;
    if bytes == 5 {
        return match bits >> 30 {
            1 => ((bits << 2) as u32, InstructionSet::A32),
            2 | 3 => ((bits << 1) as u32, InstructionSet::T32),
            _ => (bits as u32, InstructionSet::Jazelle),
        };
    }
    let shift = base.1.alignment_bits();
    let width = [6, 12, 19, 26][usize::from(bytes) - 1] + shift;
    (base.0 >> width << width | (bits as u32) << shift, base.1)
}

/// The targets of all branch address packets.
fn targets<'a>(packets: impl Iterator<Item = &'a Packet>, base: Base) -> Vec<State> {
    let mut last = State::default();
    let mut found = Vec::new();
    for packet in packets {
        match *packet {
            Packet::InstructionSync { address, non_secure, alt_isa, hyp, .. } => {
                let isa = match (address.0 & 1, alt_isa) {
                    (0, _) => InstructionSet::A32,
                    (_, false) => InstructionSet::T32,
                    (_, true) => InstructionSet::T32Ee,
                };
                last = State { address: Address32(address.0 & !1), isa, non_secure, hyp };
            }
            Packet::WaypointUpdate { address, information, .. } if base.update => {
                let (at, isa) = whole(address, (last.address.0, last.isa));
                last.address = Address32(at);
                if base.isa {
                    last.isa = if information.is_some() { InstructionSet::T32Ee } else { isa };
                }
            }
            Packet::BranchAddress { address, exception, .. } => {
                let (at, mut isa) = whole(address, (last.address.0, last.isa));
                if let Some(ExceptionInformation { alt_isa, non_secure, hyp, .. }) = exception {
                    if isa.is_thumb() {
                        isa = if alt_isa { InstructionSet::T32Ee } else { InstructionSet::T32 };
                    }
                    last.non_secure = non_secure;
                    last.hyp = hyp.unwrap_or(last.hyp);
                }
                last = State { address: Address32(at), isa, ..last };
                found.push(last);
            }
            _ => {}
        }
    }
    found
}

fn state() -> impl Strategy<Value = State> {
    use InstructionSet::{A32, T32, T32Ee};
    let address = prop_oneof![0x8000..0x8200_u32, 0..0x10_0000_u32, any::<u32>()];
    let isa = prop::sample::select(vec![A32, A32, T32, T32, T32Ee]);
    (address, isa, any::<[bool; 2]>()).prop_map(|(address, isa, [non_secure, hyp])| State {
        address: Address32(address & !((1 << isa.alignment_bits()) - 1)),
        isa,
        non_secure,
        hyp,
    })
}

fn happening() -> impl Strategy<Value = Signal> {
    let branch = (any::<[bool; 2]>(), state()).prop_map(|([link, exception_return], next)| {
        Signal::Waypoint(Waypoint {
            address: Address32(0x8000),
            isa: next.isa,
            size: 4,
            kind: WaypointKind::Indirect,
            link,
            exception_return,
            executed: true,
            next,
            previous: None,
        })
    });
    let exception = (2..512_u16, proptest::option::of(0x2000..0x2080_u32), state()).prop_map(
        |(number, last, handler)| {
            let last = last.map(|last| Address32(last * 4));
            Signal::Exception(Exception { number, last, handler })
        },
    );
    prop_oneof![branch, exception]
}

proptest! {
    /// Spec: PFT-ENC-005, 023 to 028, 064.
    #[test]
    fn targets_are_those_of_the_stimulus(
        start in state(),
        signals in prop::collection::vec(happening(), 0..40),
        min_address_bytes in 1..=5_u8,
        [always_exception_information, always_second_exception_byte] in any::<[bool; 2]>(),
    ) {
        let parameters = Parameters { virtualization: true, ..Parameters::default() };
        let policy = Policy {
            min_address_bytes,
            always_exception_information,
            always_second_exception_byte,
            ..Policy::default()
        };
        let signals: Vec<_> = core::iter::once(Signal::Enable(start)).chain(signals).collect();
        let stimuli: Vec<_> =
            signals.iter().map(|&signal| Stimulus { cycles: 0, timestamp: 0, signal }).collect();
        let expected: Vec<_> = signals
            .iter()
            .filter_map(|signal| match signal {
                Signal::Waypoint(waypoint) => Some(waypoint.next),
                Signal::Exception(exception) => Some(exception.handler),
                _ => None,
            })
            .collect();
        let log = encode(&parameters, &policy, &stimuli);
        for (update, isa) in [(false, false), (true, false), (true, true)] {
            prop_assert_eq!(&targets(log.packets(), Base { update, isa }), &expected);
        }
    }

    /// Every waypoint is an atom or a branch, and no cycle is lost. Spec: PFT-ENC-004 to 006, 013, 045.
    #[test]
    fn waypoints_and_cycles_are_conserved(
        steps in prop::collection::vec((0..100_u32, any::<[bool; 3]>(), 0..64_u32), 0..60),
        [cycle_accurate, timestamps, cycles_in_timestamps, return_stack] in any::<[bool; 4]>(),
        sync_period in 0..200_u32,
    ) {
        let parameters = Parameters { cycle_accurate, timestamps, return_stack, ..Parameters::default() };
        let policy = Policy { sync_period, cycles_in_timestamps, ..Policy::default() };
        let enable = Signal::Enable(State::default());
        let mut stimuli = vec![Stimulus { cycles: 3, timestamp: 0, signal: enable }];
        stimuli.extend(steps.iter().map(|&(cycles, [link, direct, executed], target)| Stimulus {
            cycles,
            timestamp: 0,
            signal: Signal::Waypoint(Waypoint {
                address: Address32(0x100),
                isa: InstructionSet::A32,
                size: 4,
                kind: if direct { WaypointKind::Direct } else { WaypointKind::Indirect },
                link,
                exception_return: false,
                executed,
                next: State { address: Address32(0x100 + 4 * (target & 3)), ..State::default() },
                previous: None,
            }),
        }));
        stimuli.push(Stimulus { cycles: 0, timestamp: 0, signal: Signal::Disable });
        let log = encode(&parameters, &policy, &stimuli);
        let (mut waypoints, mut cycles) = (0, 0);
        for packet in log.packets() {
            waypoints += match packet {
                Packet::Atoms { atoms, .. } => atoms.len(),
                Packet::BranchAddress { .. } => 1,
                _ => 0,
            };
            if let Packet::InstructionSync { cycle_count: Some(count), .. }
            | Packet::Atoms { cycle_count: Some(count), .. }
            | Packet::BranchAddress { cycle_count: Some(count), .. }
            | Packet::Timestamp { cycle_count: Some(count), .. } = packet
            {
                cycles += count.value;
            }
        }
        prop_assert_eq!(waypoints, steps.len());
        let passed = 3 + steps.iter().map(|(cycles, ..)| cycles).sum::<u32>();
        prop_assert_eq!(cycles, if cycle_accurate { passed } else { 0 });
    }
}
