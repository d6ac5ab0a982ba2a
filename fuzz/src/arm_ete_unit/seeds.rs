//! The seeds that the cases of the trace unit give.

use traceproof_conformance::generate::seeded;
use traceproof_conformance::suite::{Directories, Suite};
use traceproof_vectors::arm_ete_unit::ArmEteUnit;
use traceproof_vectors::case::{CaseFile, SuiteError};

use super::log;
use crate::seeds::Seed;

/// Of all targets.
pub(super) fn all(directories: &Directories) -> Result<Vec<Seed>, Vec<SuiteError>> {
    Ok(of(&Suite::<ArmEteUnit>::load(directories)?.files))
}

fn of(cases: &[CaseFile<ArmEteUnit>]) -> Vec<Seed> {
    let mut seeds: Vec<Seed> = cases
        .iter()
        .filter_map(|file| {
            let input = log::input(&file.case.parameters, &file.resolved.wire)?;
            Some(("arm_ete_unit_log", file.case.id.clone(), input))
        })
        .collect();
    for seed in 0..32 {
        let length = 400 + 60 * usize::try_from(seed).unwrap_or(0);
        seeds.push(("arm_ete_unit_agreement", format!("seed-{seed:02}"), seeded(seed, length)));
    }
    seeds
}
