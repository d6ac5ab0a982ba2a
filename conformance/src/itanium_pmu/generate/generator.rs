//! The generator as a part of the family.

use traceproof_vectors::Program;
use traceproof_vectors::itanium_pmu::ItaniumPmu;

use super::{Scenario, agree, log, scenario, settings};
use crate::family::{Generated, Generator};

/// Any programming and what then happens, and register values for any wish.
pub(in crate::itanium_pmu) const GENERATOR: Generator<ItaniumPmu> =
    Generator { generate, confirm, examine: settings::examine, examine_once: settings::examine_once };

fn generate(entropy: &[u8]) -> Option<Generated<ItaniumPmu>> {
    let scenario = scenario(entropy);
    let wire = log(&scenario).ok()?.wire;
    let Scenario { parameters, policy, stimulus: execution } = scenario;
    Some(Generated { parameters, policy, program: Program::new(), execution, wire })
}

fn confirm(entropy: &[u8]) -> Result<(), String> {
    agree(&scenario(entropy)).map(drop).map_err(|disagreement| disagreement.to_string())
}
