//! What the runner must know about Itanium event qualification.

pub mod generate;
mod reasons;
pub mod saboteurs;

use traceproof_decoder::itanium_pmu as decoder;
use traceproof_encoder_model::itanium_pmu::Encoder;
use traceproof_vectors::case::CaseProtocol;
use traceproof_vectors::itanium_pmu::{ItaniumPmu, Parameters, Stimulus};
use traceproof_vectors::{self as vectors, Dissection, Program};

use crate::elf::{Architecture, Machine};
use crate::family::FamilyRules;
use crate::generate::Generated;
use crate::saboteurs::Saboteur;
use generate::{Scenario, agree, log, scenario};

impl FamilyRules for ItaniumPmu {
    const FEATURES: &'static [&'static str] = &vectors::itanium_pmu::FEATURES;

    fn reference_decoder() -> Box<dyn vectors::Decoder<Self>> {
        Box::new(decoder::Decoder::default())
    }

    fn reference_encoder() -> Box<dyn vectors::Encoder<Self>> {
        Box::new(Encoder::default())
    }

    fn dissect(wire: &[u8], parameters: &Parameters, program: &Program) -> Vec<Dissection<Self>> {
        decoder::dissect(wire, parameters, program)
    }

    fn reasons(wire: &[u8], parameters: &Parameters, _: &Program) -> Vec<(u64, String)> {
        reasons::reasons(wire, parameters)
    }

    fn generate(entropy: &[u8]) -> Option<Generated<Self>> {
        let scenario = scenario(entropy);
        let wire = log(&scenario).ok()?.wire;
        let Scenario { parameters, policy, stimulus: execution } = scenario;
        Some(Generated { parameters, policy, program: Program::new(), execution, wire })
    }

    fn confirm(entropy: &[u8]) -> Result<(), String> {
        agree(&scenario(entropy)).map(drop).map_err(|disagreement| disagreement.to_string())
    }

    const EVENTS_NEED_CODE: bool = false;
    const SABOTEURS: &'static [Saboteur<Self>] = saboteurs::SABOTEURS;

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
            Architecture::Itanium => Ok(Parameters::default()),
            other => Err(format!("the ELF file is for {other}, not for Itanium")),
        }
    }
}
