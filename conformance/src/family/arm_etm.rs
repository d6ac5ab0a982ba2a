//! What the runner must know about ARM ETM.

use traceproof_decoder::arm_etm as decoder;
use traceproof_encoder_model::arm_etm::Encoder;
use traceproof_vectors::arm_etm::{Architecture, ArmEtm, Parameters, Stimulus};
use traceproof_vectors::case::CaseProtocol;
use traceproof_vectors::{self as vectors, Dissection, Program};

use super::FamilyRules;
use crate::elf::{self, Machine};
use crate::generate::arm_etm::{encode, scenario, v1};
use crate::saboteurs::{self, Saboteur};

impl FamilyRules for ArmEtm {
    const FEATURES: &'static [&'static str] = &vectors::arm_etm::FEATURES;

    fn reference_decoder() -> Box<dyn vectors::Decoder<Self>> {
        Box::new(decoder::Decoder::default())
    }

    fn reference_encoder() -> Box<dyn vectors::Encoder<Self>> {
        Box::new(Encoder::default())
    }

    const SABOTEURS: &'static [Saboteur<Self>] = saboteurs::arm_etm::SABOTEURS;

    fn dissect(wire: &[u8], parameters: &Parameters, program: &Program) -> Vec<Dissection<Self>> {
        decoder::dissect(wire, parameters, program)
    }

    /// By the first byte: ETMv1, ETMv2 or ETMv3.
    fn generate(entropy: &[u8]) -> Option<(Parameters, Program, Vec<u8>)> {
        let (kind, entropy) = entropy.split_first()?;
        let architecture = match kind % 3 {
            0 => {
                let scenario = v1::scenario(entropy);
                let wire = v1::encode(&scenario).ok()?.wire;
                return Some((scenario.parameters, scenario.program.code().ok()?, wire));
            }
            1 => Architecture::V2,
            _ => Architecture::V3,
        };
        let scenario = scenario(entropy, architecture);
        let wire = encode(&scenario).ok()?.log.wire;
        Some((scenario.parameters, scenario.program.code().ok()?, wire))
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
