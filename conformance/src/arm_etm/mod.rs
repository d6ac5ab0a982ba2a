//! What the runner must know about ARM ETM.

pub mod bench;
pub mod generate;
pub mod saboteurs;
mod sync_points;

use traceproof_decoder::arm_etm as decoder;
use traceproof_encoder_model::arm_etm::Encoder;
use traceproof_vectors::arm_etm::{Architecture, ArmEtm, Parameters, Stimulus};
use traceproof_vectors::case::CaseProtocol;
use traceproof_vectors::{self as vectors, Dissection, Program};

use crate::elf::{self, Machine};
use crate::family::FamilyRules;
use crate::generate::Generated;
use crate::relations::{Attempts, Broken, Stream};
use crate::saboteurs::Saboteur;
use generate::{Scenario, encode, round_trip, scenario, v1};

impl FamilyRules for ArmEtm {
    const FEATURES: &'static [&'static str] = &vectors::arm_etm::FEATURES;

    fn reference_decoder() -> Box<dyn vectors::Decoder<Self>> {
        Box::new(decoder::Decoder::default())
    }

    fn reference_encoder() -> Box<dyn vectors::Encoder<Self>> {
        Box::new(Encoder::default())
    }

    const SABOTEURS: &'static [Saboteur<Self>] = saboteurs::SABOTEURS;

    fn dissect(wire: &[u8], parameters: &Parameters, program: &Program) -> Vec<Dissection<Self>> {
        decoder::dissect(wire, parameters, program)
    }

    /// By the first byte: ETMv1, ETMv2, ETMv3, or ETMv3 without data trace, which is all that many decoders have.
    fn generate(entropy: &[u8]) -> Option<Generated<Self>> {
        match Made::of(entropy)? {
            Made::V1(made) => {
                let wire = v1::encode(&made).ok()?.wire;
                let program = made.program.code().ok()?;
                let v1::Scenario { parameters, policy, cycles: execution, .. } = made;
                Some(Generated { parameters, policy, program, execution, wire })
            }
            Made::Later(made) => {
                let wire = encode(&made).ok()?.log.wire;
                let program = made.program.code().ok()?;
                let Scenario { parameters, policy, cycles: execution, .. } = made;
                Some(Generated { parameters, policy, program, execution, wire })
            }
        }
    }

    fn confirm(entropy: &[u8]) -> Result<(), String> {
        let confirmed = match Made::of(entropy) {
            None => return Ok(()),
            Some(Made::V1(made)) => v1::round_trip(&made).map(drop),
            Some(Made::Later(made)) => round_trip(&made).map(drop),
        };
        confirmed.map_err(|failure| failure.to_string())
    }

    fn joins(stream: &Stream<'_, Self>, most: usize) -> Result<Attempts, Broken> {
        stream.joins(most)
    }

    fn recovers(stream: &Stream<'_, Self>, most: usize) -> Result<Attempts, Broken> {
        stream.recovers(most)
    }

    fn drive(
        execution: &<Self as CaseProtocol>::Execution,
        _: &Program,
        _: &Parameters,
        each: &mut dyn FnMut(&Stimulus),
    ) -> Result<(), String> {
        execution.iter().for_each(each);
        Ok(())
    }

    fn parameters_for(machine: Machine) -> Result<Parameters, String> {
        match machine.architecture {
            elf::Architecture::Arm => Ok(Parameters::default()),
            other => Err(format!("the ELF file is for {other}, not for ARM")),
        }
    }
}

/// A generated run, by the generator that made it.
enum Made {
    V1(v1::Scenario),
    Later(Scenario),
}

impl Made {
    /// What these bytes stand for; by the first one, for which architecture.
    fn of(entropy: &[u8]) -> Option<Self> {
        let (kind, entropy) = entropy.split_first()?;
        Some(match kind % 4 {
            0 => Self::V1(v1::scenario(entropy)),
            1 => Self::Later(scenario(entropy, Architecture::V2)),
            2 => Self::Later(scenario(entropy, Architecture::V3)),
            _ => {
                let mut made = scenario(entropy, Architecture::V3);
                let parameters = &mut made.parameters;
                (parameters.data_value, parameters.data_address) = (false, false);
                (parameters.data_only, parameters.bare_port) = (false, false);
                Self::Later(made)
            }
        })
    }
}
