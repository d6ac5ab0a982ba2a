//! A whole scenario: parameters, policy, program and execution.

use std::fmt;

use traceproof_vectors::arm_pft::{Action, Parameters, Policy, Step};

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
    pub steps: Vec<Step>,
}

/// The scenario that `bytes` stand for.
#[must_use]
pub fn scenario(bytes: &[u8]) -> Scenario {
    let entropy = &mut Entropy::new(bytes);
    let parameters = happenings::parameters(entropy);
    let policy = happenings::policy(entropy, &parameters);
    let happenings = Happenings::generate(entropy, &parameters);
    let parameters = Parameters { thumbee: happenings.thumb_ee, ..parameters };
    let length = entropy.pick(&[60, 20, 240, 600]);
    let program = GeneratedProgram::generate(entropy, &parameters, &happenings);
    let steps = Walk::run(&program, entropy, happenings, &parameters, length);
    Scenario { parameters, policy, program, steps }
}

/// A listing for people.
impl fmt::Display for Scenario {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:?}", self.parameters)?;
        writeln!(f, "{:?}", self.policy)?;
        for section in &self.program.sections {
            // A long block has nothing to show.
            for item in section.iter().take(64) {
                let (address, isa, opcode) = (item.address, item.isa, item.opcode);
                writeln!(f, "{address} {isa} {opcode:08x} {:?}", item.kind)?;
            }
        }
        for (index, step) in self.steps.iter().enumerate() {
            write!(f, "{index}: +{} @{:x} ", step.cycles, step.timestamp)?;
            match step.action {
                Action::Execute(execute) => {
                    let skipped = if execute.skipped { " skipped" } else { "" };
                    write!(f, "{}{skipped}", execute.address)?;
                    if let Some(to) = execute.to {
                        write!(f, " -> {} {} ns {} hyp {}", to.address, to.isa, to.non_secure, to.hyp)?;
                    }
                    writeln!(f)?;
                }
                other => writeln!(f, "{other:x?}")?,
            }
        }
        Ok(())
    }
}
