//! Properties of Itanium event qualification.

pub mod qualification;
pub mod registers;
mod seeds;

use crate::targets::{FamilyTargets, Target};

/// What is fuzzed.
pub const TARGETS: FamilyTargets = FamilyTargets {
    targets: &[
        Target {
            name: "itanium_pmu_registers",
            input: "options, log",
            property: "any log gives the same bounded results however it is cut; registers that are read come back",
            run: registers::run,
        },
        Target {
            name: "itanium_pmu_qualification",
            input: "entropy of the scenario generator",
            property: "whatever is programmed and happens, model and oracle work the same out",
            run: qualification::run,
        },
    ],
    seeds: seeds::all,
};
