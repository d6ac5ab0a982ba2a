//! Properties of the code that the ARM families share.

pub mod formatter;

use crate::targets::{FamilyTargets, Target};

/// What is fuzzed.
pub const TARGETS: FamilyTargets = FamilyTargets {
    targets: &[Target {
        name: "arm_formatter",
        input: "framing and policy, formatted stream",
        property: "any formatted stream gives the same bounded results however it is cut; what the formatter sends comes back",
        run: formatter::run,
    }],
    seeds: |_| {
        Ok(formatter::seeds().into_iter().map(|(name, bytes)| ("arm_formatter", name, bytes)).collect())
    },
};
