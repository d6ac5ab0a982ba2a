//! What the runner must know about ARM ETM.

use traceproof_decoder::arm_etm as decoder;
use traceproof_encoder_model::arm_etm::Encoder;
use traceproof_vectors::arm_etm::{ArmEtm, Parameters, Stimulus};
use traceproof_vectors::case::CaseProtocol;
use traceproof_vectors::{self as vectors, Dissection, Program};

use super::FamilyRules;
use crate::elf::{Architecture, Machine};
use crate::saboteurs::{self, Saboteur};

impl FamilyRules for ArmEtm {
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
            Architecture::Arm => Ok(Parameters::default()),
            other => Err(format!("the ELF file is for {other}, not for ARM")),
        }
    }
}
