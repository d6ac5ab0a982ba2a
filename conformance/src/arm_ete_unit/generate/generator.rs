//! The generator as a part of the family.

use traceproof_vectors::Program;
use traceproof_vectors::arm_ete_unit::ArmEteUnit;

use super::{Scenario, agree, dissected, log, scenario, settings, writing};
use crate::family::{Generated, Generator};
use crate::generate::Entropy;

/// Any software, and what then happens; and register values for any wish.
pub(in crate::arm_ete_unit) const GENERATOR: Generator<ArmEteUnit> =
    Generator { generate, confirm, examine, examine_once };

fn generate(entropy: &[u8]) -> Option<Generated<ArmEteUnit>> {
    let scenario = scenario(entropy);
    let wire = log(&scenario).ok()?.wire;
    let Scenario { parameters, policy, stimulus: execution } = scenario;
    Some(Generated { parameters, policy, program: Program::new(), execution, wire })
}

fn confirm(entropy: &[u8]) -> Result<(), String> {
    agree(&scenario(entropy)).map(drop).map_err(|disagreement| disagreement.to_string())
}

fn examine(entropy: &[u8]) -> Result<(), String> {
    dissected::judge(&scenario(entropy), &mut Entropy::new(entropy))?;
    settings::examine(entropy)
}

fn examine_once() -> Result<(), String> {
    writing::read_back()?;
    settings::defaults()
}
