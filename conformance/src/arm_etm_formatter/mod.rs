//! What the harness knows of the CoreSight formatter.

pub(crate) mod dissected;
mod field_clauses;
#[cfg(feature = "saboteurs")]
mod saboteurs;
mod sync_points;

use traceproof_encoder_model::arm_etm_formatter::Encoder;
use traceproof_vectors::arm::FormatterPolicy;
use traceproof_vectors::arm_etm_formatter::{ArmEtmFormatter, Parameters, Stimulus};
use traceproof_vectors::{self as vectors, Program};

use crate::elf::{Architecture, Machine};
use crate::family::{self, FamilyRules};

impl FamilyRules for ArmEtmFormatter {
    fn reference_encoder() -> Box<dyn vectors::Encoder<Self>> {
        Box::new(Encoder::default())
    }

    fn drive(
        execution: &Vec<Stimulus>,
        _: &Program,
        _: &Parameters,
        _: &FormatterPolicy,
        each: &mut dyn FnMut(&Stimulus),
    ) -> Result<(), String> {
        execution.iter().for_each(each);
        Ok(())
    }

    fn parameters_for(machine: Machine) -> Result<Parameters, String> {
        match machine.architecture {
            Architecture::Aarch64 | Architecture::Arm => Ok(Parameters::default()),
            other => Err(format!("the ELF file is for {other}, not for ARM")),
        }
    }

    fn readings_of_executions(_: &Parameters) -> Vec<&'static str> {
        Vec::new()
    }

    const EVENTS_NEED_CODE: bool = false;
    const FINISHED_SCOPES: &'static [&'static str] = &["formatter"];
    #[cfg(feature = "saboteurs")]
    const SABOTEURS: Option<family::Saboteurs<Self>> = Some(saboteurs::SABOTEURS);
    #[cfg(not(feature = "saboteurs"))]
    const SABOTEURS: Option<family::Saboteurs<Self>> = None;
    const GENERATOR: Option<family::Generator<Self>> = None;
    const SWEEPS: Option<family::Sweeps<Self>> = None;
    const SYNC_POINTS: Option<family::SyncPoints<Self>> = Some(sync_points::SYNC_POINTS);
    const PACKET_WRITER: Option<family::WritePackets<Self>> = None;
    const LEGAL_FORM: Option<family::LegalForm<Self>> = None;
    const LEGAL_CHOICES: &'static [family::LegalChoice<Self>] = &[];
    const REASONS: Option<family::Reasons<Self>> = None;
    const FIELD_CLAUSES: &'static [family::FieldClause] = field_clauses::FIELD_CLAUSES;
    const INSTRUCTIONS: Option<family::Instructions<Self>> = None;
    const TIMING: Option<family::TimingOf<Self>> = None;
    const EXECUTION_FORMATS: &'static [family::ExecutionFormat<Self>] = &[];
    const PROGRAMS: Option<family::Programs<Self>> = None;
    const CAPTURES: Option<family::Captures<Self>> = None;
    const BENCH: Option<family::Bench> = None;
}
