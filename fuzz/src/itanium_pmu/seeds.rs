//! The seeds that the cases of Itanium event qualification give.

use traceproof_conformance::generate::seeded;
use traceproof_conformance::suite::{Directories, Suite};
use traceproof_vectors::case::{CaseFile, SuiteError};
use traceproof_vectors::itanium_pmu::ItaniumPmu;

use super::registers;
use crate::seeds::Seed;

/// Of all targets.
pub(super) fn all(directories: &Directories) -> Result<Vec<Seed>, Vec<SuiteError>> {
    Ok(of(&Suite::<ItaniumPmu>::load(directories)?.files))
}

fn of(cases: &[CaseFile<ItaniumPmu>]) -> Vec<Seed> {
    let mut seeds: Vec<Seed> = cases
        .iter()
        .filter_map(|file| {
            let input = registers::input(&file.case.parameters, &file.resolved.wire)?;
            Some(("itanium_pmu_registers", file.case.id.clone(), input))
        })
        .collect();
    for seed in 0..32 {
        let length = 400 + 60 * usize::try_from(seed).unwrap_or(0);
        let bytes = seeded(seed, length);
        seeds.push(("itanium_pmu_qualification", format!("seed-{seed:02}"), bytes));
    }
    seeds
}
