//! What the harness knows of Itanium event qualification.

mod dissected;
mod field_clauses;
pub mod generate;
mod reasons;
#[cfg(feature = "saboteurs")]
pub mod saboteurs;

use traceproof_encoder_model::itanium_pmu::Encoder;
use traceproof_vectors::case::CaseProtocol;
use traceproof_vectors::itanium_pmu::{ItaniumPmu, Parameters, Policy, Stimulus};
use traceproof_vectors::{self as vectors, Program};

use crate::elf::{Architecture, Machine};
use crate::family::{self, FamilyRules};

impl FamilyRules for ItaniumPmu {
    fn reference_encoder() -> Box<dyn vectors::Encoder<Self>> {
        Box::new(Encoder::default())
    }

    fn drive(
        execution: &<Self as CaseProtocol>::Execution,
        _: &Program,
        _: &Parameters,
        _: &Policy,
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

    /// Every open point is a parameter.
    fn readings_of_executions(_: &Parameters) -> Vec<&'static str> {
        Vec::new()
    }

    const EVENTS_NEED_CODE: bool = false;

    const FINISHED_SCOPES: &'static [&'static str] = &[
        "registers",
        "counters",
        "overflow",
        "instructions",
        "opcodes",
        "data",
        "captures",
        "qualification",
        "dumps",
        "branches",
    ];
    #[cfg(feature = "saboteurs")]
    const SABOTEURS: Option<family::Saboteurs<Self>> = Some(saboteurs::SABOTEURS);
    #[cfg(not(feature = "saboteurs"))]
    const SABOTEURS: Option<family::Saboteurs<Self>> = None;
    const GENERATOR: Option<family::Generator<Self>> =
        Some(family::Generator { examine, ..generate::GENERATOR });
    const SWEEPS: Option<family::Sweeps<Self>> = None;
    const SYNC_POINTS: Option<family::SyncPoints<Self>> = None;
    const PACKET_WRITER: Option<family::WritePackets<Self>> = None;
    const LEGAL_FORM: Option<family::LegalForm<Self>> = None;
    const LEGAL_CHOICES: &'static [family::LegalChoice<Self>] = &[];
    const REASONS: Option<family::Reasons<Self>> =
        Some(|wire, parameters, _| reasons::reasons(wire, parameters));
    const TIMING: Option<family::TimingOf<Self>> = None;
    const FIELD_CLAUSES: &'static [family::FieldClause] = field_clauses::FIELD_CLAUSES;
    const INSTRUCTIONS: Option<family::Instructions<Self>> = None;
    const EXECUTION_FORMATS: &'static [family::ExecutionFormat<Self>] = &[];
    const PROGRAMS: Option<family::Programs<Self>> = None;
    const CAPTURES: Option<family::Captures<Self>> = None;
    const BENCH: Option<family::Bench> = None;
}

/// As the generator does, and what `explain` shows of the log.
fn examine(entropy: &[u8]) -> Result<(), String> {
    (generate::GENERATOR.examine)(entropy)?;
    dissected::examine(entropy)
}
