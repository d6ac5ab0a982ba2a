//! Instructions and clocks in events.

use traceproof_vectors::arm_pft::{ArmPft, Event};

use crate::elf::{Architecture, Machine};
use crate::family::{Clock, Encoding, Instructions, Run};

pub(super) const INSTRUCTIONS: Instructions<ArmPft> = Instructions {
    machine: |_| Machine { architecture: Architecture::Arm, bits: 32 },
    run: |event| match *event {
        Event::Instructions { first, end, count, isa, .. } => {
            let (first, end) = (Some(first.0.into()), Some(end.0.into()));
            Some(Run { first, end, count, encoding: Encoding::Arm(isa) })
        }
        _ => None,
    },
    clock: |event| match *event {
        Event::Cycles { count, .. } => Some(Clock::Cycles(count.into())),
        Event::Timestamp { value: Some(value), .. } => Some(Clock::Time(value)),
        _ => None,
    },
};
