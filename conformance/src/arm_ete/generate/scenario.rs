//! A whole scenario: parameters, policy, program and execution.

use std::fmt;

use traceproof_vectors::arm_ete::{Parameters, Policy, Stimulus};

use super::GeneratedProgram;
use super::happenings::{self, Happenings};
use super::run::Walk;
use crate::generate::Entropy;

/// Everything that a round trip needs.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// What encoder and decoder know.
    pub parameters: Parameters,
    /// The encoder's choices.
    pub policy: Policy,
    /// The code.
    pub program: GeneratedProgram,
    /// The execution.
    pub stimuli: Vec<Stimulus>,
}

/// The scenario that `bytes` stand for.
#[must_use]
pub fn scenario(bytes: &[u8]) -> Scenario {
    let entropy = &mut Entropy::new(bytes);
    let parameters = happenings::parameters(entropy);
    let policy = happenings::policy(entropy, &parameters);
    let happenings = Happenings::generate(entropy, &parameters, &policy);
    let length = entropy.pick(&[60, 20, 240, 600]);
    let program = GeneratedProgram::generate(entropy, &parameters);
    let stimuli = Walk::run(&program, entropy, happenings, (&parameters, &policy), length);
    Scenario { parameters, policy, program, stimuli }
}

/// A listing for people.
impl fmt::Display for Scenario {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:?}", self.parameters)?;
        writeln!(f, "{:?}", self.policy)?;
        for item in self.program.sections.iter().flatten() {
            let (address, isa, opcode) = (item.address, item.isa, item.opcode);
            writeln!(f, "{address} {isa} {opcode:08x} {:x?}", item.kind)?;
        }
        for (index, step) in self.stimuli.iter().enumerate() {
            writeln!(f, "{index}: +{} @{:x} {:x?}", step.cycles, step.timestamp, step.signal)?;
        }
        Ok(())
    }
}
