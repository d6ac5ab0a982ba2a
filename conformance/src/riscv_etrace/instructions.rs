//! Instructions and times in events.

use traceproof_vectors::riscv_etrace::{Event, RiscvEtrace};

use crate::family::{Clock, Encoding, Instructions, Run};

pub(super) const INSTRUCTIONS: Instructions<RiscvEtrace> = Instructions {
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
