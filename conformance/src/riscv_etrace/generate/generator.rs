//! The generator as a part of the family.

use traceproof_vectors::riscv_etrace::RiscvEtrace;

use super::{Scenario, Scope, dissected, encode, retirement, round_trip, scenario};
use crate::family::{Generated, Generator};

/// By the first byte: core, any optional modes, or data trace.
pub(in crate::riscv_etrace) const GENERATOR: Generator<RiscvEtrace> =
    Generator { generate, confirm, examine, examine_once: || Ok(()) };

fn generate(entropy: &[u8]) -> Option<Generated<RiscvEtrace>> {
    let scenario = named(entropy)?;
    let wire = encode(&scenario, retirement(&scenario)).ok()?.wire;
    let program = scenario.program.code().ok()?;
    let Scenario { parameters, policy, steps, .. } = scenario;
    Some(Generated { parameters, policy, program, execution: steps, wire })
}

fn confirm(entropy: &[u8]) -> Result<(), String> {
    let scenario = named(entropy).ok_or("these bytes stand for no scenario")?;
    round_trip(&scenario).map(drop).map_err(|failure| failure.to_string())
}

fn examine(entropy: &[u8]) -> Result<(), String> {
    let scenario = named(entropy).ok_or("these bytes stand for no scenario")?;
    dissected::judge(&scenario, entropy)
}

/// The scenario that these bytes stand for; by the first one, what it is about.
fn named(entropy: &[u8]) -> Option<Scenario> {
    let (kind, entropy) = entropy.split_first()?;
    let scope = [Scope::Core, Scope::Modes, Scope::Data][usize::from(kind % 3)];
    Some(scenario(entropy, scope))
}
