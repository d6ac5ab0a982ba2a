//! The generator as a part of the family.

use traceproof_vectors::Program;
use traceproof_vectors::arm_ete_unit::ArmEteUnit;

use super::{Scenario, agree, log, scenario, writing};
use crate::family::{Generated, Generator, nothing_more};

/// Any software, and what then happens.
pub(in crate::arm_ete_unit) const GENERATOR: Generator<ArmEteUnit> =
    Generator { generate, confirm, examine: nothing_more, examine_once: writing::read_back };

fn generate(entropy: &[u8]) -> Option<Generated<ArmEteUnit>> {
    let scenario = scenario(entropy);
    let wire = log(&scenario).ok()?.wire;
    let Scenario { parameters, policy, stimulus: execution } = scenario;
    Some(Generated { parameters, policy, program: Program::new(), execution, wire })
}

fn confirm(entropy: &[u8]) -> Result<(), String> {
    agree(&scenario(entropy)).map(drop).map_err(|disagreement| disagreement.to_string())
}
