//! A whole scenario: parameters, policy, program and run.

use std::fmt;

use traceproof_vectors::arm_etm::{Architecture, Parameters, Policy, Stimulus, VectorBase};

use super::GeneratedProgram;
use super::run::{Happenings, Walk};
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
    /// The run.
    pub cycles: Vec<Stimulus>,
}

/// The scenario that `bytes` stand for.
#[must_use]
pub fn scenario(bytes: &[u8]) -> Scenario {
    let entropy = &mut Entropy::new(bytes);
    let parameters = parameters(entropy);
    let policy = Policy {
        // The smallest holds a full address with a Context ID of four bytes.
        fifo_size: entropy.pick(&[64, 9, 14, 24, 255]),
        sync_period: entropy.pick(&[0, 100, 17, 37, 400]),
        minimal_addresses: !entropy.chance(48),
        ..Policy::default()
    };
    let happenings = happenings(entropy, &parameters);
    let program = GeneratedProgram::generate(entropy);
    let length = entropy.pick(&[60, 240, 600]);
    let cycles = Walk::run(&program, entropy, happenings, parameters.hivecs, length);
    Scenario { parameters, policy, program, cycles }
}

fn parameters(entropy: &mut Entropy<'_>) -> Parameters {
    let (data_value, data_address) =
        entropy.pick(&[(true, true), (true, true), (true, false), (false, true), (false, false)]);
    let [coprocessor, broadcast, accurate, late] = std::array::from_fn(|_| entropy.chance(96));
    Parameters {
        architecture: Architecture::V1,
        minor: entropy.pick(&[2, 3, 0, 1]),
        port_width: entropy.pick(&[8, 16, 4]),
        data_value,
        data_address,
        monitor_cprt: coprocessor,
        branch_broadcast: broadcast,
        context_id_bytes: entropy.pick(&[0, 1, 2, 4]),
        cycle_accurate: accurate,
        fifo_latency: u8::from(late),
        hivecs: entropy.pick(&[VectorBase::Low, VectorBase::Low, VectorBase::High, VectorBase::Unknown]),
        ..Parameters::default()
    }
}

/// From a quiet run to one in which everything happens.
fn happenings(entropy: &mut Entropy<'_>, parameters: &Parameters) -> Happenings {
    Happenings {
        filter: entropy.pick(&[0, 8, 32]),
        view: entropy.pick(&[0, 10, 40]),
        exceptions: entropy.pick(&[0, 6, 30]),
        vectors: entropy.pick(&[0, 24]),
        abandoned: entropy.pick(&[0, 12, 40, 0, 24, 90, 250]),
        debug: entropy.pick(&[0, 0, 6]),
        contexts: entropy.pick(&[0, 8]),
        triggers: entropy.pick(&[0, 8, 60]),
        waits: entropy.pick(&[20, 100, 0]),
        java: if parameters.has_jazelle() { entropy.pick(&[0, 160]) } else { 0 },
    }
}

/// A listing for people.
impl fmt::Display for Scenario {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:?}", self.parameters)?;
        writeln!(f, "{:?}", self.policy)?;
        for item in
            self.program.arm.iter().chain(&self.program.thumb).chain(self.program.vectors.iter().flatten())
        {
            writeln!(f, "{:#x}: {:?} {:x?}", item.address, item.isa, item.kind)?;
        }
        for (index, cycle) in self.cycles.iter().enumerate() {
            write!(f, "{index}:")?;
            for (set, name) in [
                (cycle.trace_enable, "trace"),
                (cycle.view_data, "view"),
                (cycle.debug, "debug"),
                (cycle.trigger, "trigger"),
            ] {
                write!(f, "{}{}", if set { " " } else { "" }, if set { name } else { "" })?;
            }
            if let Some(at) = &cycle.instruction {
                write!(f, " {:#x} {:?} executed {} {:x?}", at.address, at.isa, at.executed, at.branch)?;
            }
            for transfer in &cycle.transfers {
                write!(f, " [{:#x} {:?} {:#x}]", transfer.address, transfer.access, transfer.value)?;
            }
            writeln!(f, "{}", cycle.context_id.map_or_else(String::new, |id| format!(" context {id:#x}")))?;
        }
        Ok(())
    }
}
