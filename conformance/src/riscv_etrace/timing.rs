//! Context and time of an ingress cycle.

use traceproof_vectors::riscv_etrace::{Cycle, RiscvEtrace, Stimulus};

use crate::family::{Timing, TimingOf};

/// Those of cycles; other stimulus has none.
pub(super) const TIMING: TimingOf<RiscvEtrace> = TimingOf { get, set };

const fn get(stimulus: &Stimulus) -> Option<Timing> {
    match stimulus {
        Stimulus::Cycle(Cycle { context, time, .. }) => Some(Timing { context: *context, time: *time }),
        _ => None,
    }
}

const fn set(stimulus: &mut Stimulus, timing: Timing) {
    if let Stimulus::Cycle(cycle) = stimulus {
        (cycle.context, cycle.time) = (timing.context, timing.time);
    }
}
