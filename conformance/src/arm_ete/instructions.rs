//! Instructions and clocks in events.

use traceproof_vectors::arm::InstructionSet;
use traceproof_vectors::arm_ete::{ArmEte, Event};

use crate::elf::{Architecture, Machine};
use crate::family::{Clock, Encoding, Instructions, Run};

pub(super) const INSTRUCTIONS: Instructions<ArmEte> = Instructions {
    machine: |_| Machine { architecture: Architecture::Aarch64, bits: 64 },
    run: |event| match *event {
        Event::Instructions { first, end, count, isa, .. } => {
            Some(Run { first: Some(first.0), end: Some(end.0), count, encoding: Encoding::Arm(isa) })
        }
        // Where they are is not traced.
        Event::UnknownPath { count: Some(count) } => Some(Run {
            first: None,
            end: None,
            count: count.into(),
            encoding: Encoding::Arm(InstructionSet::A64),
        }),
        _ => None,
    },
    clock: |event| match *event {
        Event::Cycles { count: Some(count), .. } => Some(Clock::Cycles(count.into())),
        Event::Timestamp { value: Some(value), .. } => Some(Clock::Time(value)),
        _ => None,
    },
};
