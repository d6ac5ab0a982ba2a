//! Properties of the trace unit of ARM ETE.

pub mod agreement;
pub mod log;
mod seeds;

use crate::targets::{FamilyTargets, Target};

/// What is fuzzed.
pub const TARGETS: FamilyTargets = FamilyTargets {
    targets: &[
        Target {
            name: "arm_ete_unit_log",
            input: "options, log",
            property: "any log gives the same bounded results however it is cut; records that are read come back",
            run: log::run,
        },
        Target {
            name: "arm_ete_unit_agreement",
            input: "entropy of the scenario generator",
            property: "whatever software does and the unit chooses, the checker finds that a trace unit did it",
            run: agreement::run,
        },
    ],
    seeds: seeds::all,
};
