//! Properties of the ARM ETE codecs.

pub mod flow;
pub mod packets;
pub mod presets;
pub mod round_trip;
mod seeds;

use crate::targets::{FamilyTargets, Target};

/// What is fuzzed.
pub const TARGETS: FamilyTargets = FamilyTargets {
    targets: &[
        Target {
            name: "arm_ete_packets",
            input: "constants, packets",
            property: "ETE packets that are read are written as the bytes that they were read from",
            run: packets::run,
        },
        Target {
            name: "arm_ete_flow",
            input: "constants, code, stream",
            property: "any ETE stream over any program gives the same bounded results however it is cut, \
                       with and without fast path",
            run: flow::run,
        },
        Target {
            name: "arm_ete_round_trip",
            input: "entropy of the scenario generator",
            property: "any execution that the trace unit model traces is reported by the decoder",
            run: round_trip::run,
        },
    ],
    seeds: seeds::all,
};
