//! The logic of the fuzz targets.
//!
//! One file per property; each has a plain `run(&[u8])` that panics when the property does not hold. The binaries in
//! `fuzz_targets/` only pass libFuzzer's bytes to it, so everything here builds, and runs on seeds and regressions, on
//! the stable toolchain under `cargo test`.
#![forbid(unsafe_code)]

pub mod arm;
pub mod arm_ete;
pub mod arm_ete_unit;
pub mod arm_etm;
pub mod arm_pft;
pub mod itanium_pmu;
pub mod pieces;
pub mod riscv_etrace;
pub mod seeds;
pub mod targets;

use traceproof_conformance::suite::Directories;
use traceproof_vectors::case::SuiteError;

pub use targets::{FamilyTargets, Target};

/// Every family, and the shared code of the ARM families: the only list in this crate that names them.
pub const FAMILIES: &[FamilyTargets] = &[
    riscv_etrace::TARGETS,
    arm::TARGETS,
    arm_etm::TARGETS,
    arm_pft::TARGETS,
    arm_ete::TARGETS,
    arm_ete_unit::TARGETS,
    itanium_pmu::TARGETS,
];

/// Every target.
pub fn targets() -> impl Iterator<Item = &'static Target> {
    FAMILIES.iter().flat_map(|family| family.targets)
}

/// The seeds of every target.
///
/// # Errors
///
/// What is wrong with the cases.
pub fn all_seeds(directories: &Directories) -> Result<Vec<seeds::Seed>, Vec<SuiteError>> {
    let mut seeds = Vec::new();
    for family in FAMILIES {
        seeds.append(&mut (family.seeds)(directories)?);
    }
    Ok(seeds)
}
