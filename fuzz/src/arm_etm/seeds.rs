//! The seeds that the cases of ARM ETM give.

use traceproof_conformance::generate::seeded;
use traceproof_conformance::suite::{Directories, Suite};
use traceproof_vectors::arm_etm::{Architecture, ArmEtm};
use traceproof_vectors::case::{CaseFile, SuiteError};

use super::{presets, v1_cycles, v3_flow, v3_packets};
use crate::seeds::Seed;

/// Of all targets.
pub(super) fn all(directories: &Directories) -> Result<Vec<Seed>, Vec<SuiteError>> {
    Ok(of(&Suite::<ArmEtm>::load(directories)?.files))
}

fn of(cases: &[CaseFile<ArmEtm>]) -> Vec<Seed> {
    let mut seeds = Vec::new();
    for file in cases {
        let (id, wire, parameters) = (&file.case.id, &file.resolved.wire, &file.case.parameters);
        if parameters.architecture == Architecture::V2
            && let Some(constants) = presets::v2_constants(parameters)
        {
            seeds.push(("arm_etm_cycles", id.clone(), [&constants[..], wire].concat()));
        }
        if parameters.architecture == Architecture::V1
            && let Some(input) = v1_cycles::input(parameters, &file.resolved.program, wire)
        {
            seeds.push(("arm_etm_v1_cycles", id.clone(), input));
        }
        if parameters.architecture != Architecture::V3 {
            continue;
        }
        if let Some(input) = v3_packets::input(parameters, wire) {
            seeds.push(("arm_etm_v3_packets", id.clone(), input));
        }
        if let Some(input) = v3_flow::input(parameters, &file.resolved.program, wire) {
            seeds.push(("arm_etm_v3_flow", id.clone(), input));
        }
    }
    for seed in 0..32_u8 {
        // Every architecture has short and long ones.
        let bytes = [vec![seed], seeded(seed.into(), 100 + 40 * usize::from(seed))].concat();
        seeds.push(("arm_etm_round_trip", format!("seed-{seed:02}"), bytes));
    }
    seeds
}
