//! The seeds that the cases of ARM ETE give.

use traceproof_conformance::generate::seeded;
use traceproof_conformance::suite::{Directories, Suite};
use traceproof_vectors::arm_ete::ArmEte;
use traceproof_vectors::case::{CaseFile, SuiteError};

use super::{flow, packets};
use crate::seeds::Seed;

/// Of all targets.
pub(super) fn all(directories: &Directories) -> Result<Vec<Seed>, Vec<SuiteError>> {
    Ok(of(&Suite::<ArmEte>::load(directories)?.files))
}

fn of(cases: &[CaseFile<ArmEte>]) -> Vec<Seed> {
    let mut seeds = Vec::new();
    for file in cases {
        let (id, wire, parameters) = (&file.case.id, &file.resolved.wire, &file.case.parameters);
        if let Some(input) = packets::input(parameters, wire) {
            seeds.push(("arm_ete_packets", id.clone(), input));
        }
        if let Some(input) = flow::input(parameters, &file.resolved.program, wire) {
            seeds.push(("arm_ete_flow", id.clone(), input));
        }
    }
    for seed in 0..32 {
        let length = 100 + 40 * usize::try_from(seed).unwrap_or(0);
        seeds.push(("arm_ete_round_trip", format!("seed-{seed:02}"), seeded(seed, length)));
    }
    seeds
}
