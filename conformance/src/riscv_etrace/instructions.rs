//! Instructions and times in events.

use traceproof_vectors::riscv_etrace::{Event, RiscvEtrace, Xlen};

use crate::elf::{Architecture, Machine};
use crate::family::{Clock, Encoding, Instructions, Run};

pub(super) const INSTRUCTIONS: Instructions<RiscvEtrace> = Instructions {
    machine: |parameters| {
        let bits = if parameters.xlen == Xlen::Rv32 { 32 } else { 64 };
        Machine { architecture: Architecture::Riscv, bits }
    },
    run: |event| match *event {
        Event::Retire { first, end, count } => {
            Some(Run { first: Some(first.0), end: Some(end.0), count, encoding: Encoding::Riscv })
        }
        _ => None,
    },
    clock: |event| match *event {
        Event::Time { time } => Some(Clock::Time(time)),
        _ => None,
    },
};
