//! Instructions and clocks in events.

use traceproof_vectors::arm::InstructionSet;
use traceproof_vectors::arm_etm::{ArmEtm, Event, Isa};

use crate::elf::{Architecture, Machine};
use crate::family::{Clock, Encoding, Instructions, Run};

/// An instruction whose condition failed counts: execution passed it.
pub(super) const INSTRUCTIONS: Instructions<ArmEtm> = Instructions {
    machine: |_| Machine { architecture: Architecture::Arm, bits: 32 },
    run: |event| match *event {
        // ETMv2 does not report where they are; a folded branch is one, too.
        Event::Instruction { .. } => Some(Run::one(None, Encoding::Arm(InstructionSet::A32))),
        Event::InstructionAt { address, isa, .. } | Event::Atom { address, isa, .. } => {
            Some(Run::one(address.map(|address| address.0.into()), Encoding::Arm(set(isa))))
        }
        _ => None,
    },
    clock: |event| match *event {
        Event::Instruction { cycle, .. } | Event::InstructionAt { cycle, .. } => Some(Clock::Cycle(cycle)),
        Event::Atom { cycles: Some(cycles), .. } | Event::Gap { cycles: Some(cycles) } => {
            Some(Clock::Cycles(cycles))
        }
        Event::Timestamp { value: Some(value), .. } => Some(Clock::Time(value)),
        _ => None,
    },
};

const fn set(isa: Isa) -> InstructionSet {
    match isa {
        Isa::Arm => InstructionSet::A32,
        Isa::Thumb => InstructionSet::T32,
        Isa::ThumbEe => InstructionSet::T32Ee,
        Isa::Jazelle => InstructionSet::Jazelle,
    }
}
