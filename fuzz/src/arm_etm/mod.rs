//! Properties of the ARM ETM codecs.

pub mod cycles;
pub mod presets;
pub mod round_trip;
mod seeds;
pub mod v1_cycles;
pub mod v3_flow;
pub mod v3_packets;

use crate::targets::{FamilyTargets, Target};

/// What is fuzzed.
pub const TARGETS: FamilyTargets = FamilyTargets {
    targets: &[
        Target {
            name: "arm_etm_v1_cycles",
            input: "constants, code, ETMv1 capture",
            property: "any ETMv1 capture over any program gives the same bounded results however it is cut",
            run: v1_cycles::run,
        },
        Target {
            name: "arm_etm_cycles",
            input: "constants, ETMv2 capture",
            property: "any ETMv2 capture gives the same bounded results however it is cut",
            run: cycles::run,
        },
        Target {
            name: "arm_etm_v3_packets",
            input: "constants, packets",
            property: "ETMv3 packets that are read are written as bytes that read as the same packets",
            run: v3_packets::run,
        },
        Target {
            name: "arm_etm_v3_flow",
            input: "constants, code, stream",
            property: "any ETMv3 stream over any program gives the same bounded results however it is cut",
            run: v3_flow::run,
        },
        Target {
            name: "arm_etm_round_trip",
            input: "architecture, entropy of the scenario generator",
            property: "any run that the macrocell model traces is reported by the decoder",
            run: round_trip::run,
        },
    ],
    seeds: seeds::all,
};
