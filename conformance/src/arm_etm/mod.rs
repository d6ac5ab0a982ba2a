//! What the harness knows of ARM ETM.

mod bench;
mod captures;
mod field_clauses;
pub mod generate;
mod instructions;
mod legal_choices;
mod opcodes;
#[cfg(feature = "saboteurs")]
pub mod saboteurs;
mod sync_points;

use traceproof_encoder_model::arm_etm::Encoder;
use traceproof_vectors::arm_etm::{Architecture, ArmEtm, Parameters, Policy, Stimulus};
use traceproof_vectors::case::CaseProtocol;
use traceproof_vectors::{self as vectors, Program, Protocol};

use crate::elf::{self, Machine};
use crate::family::{self, FamilyRules};

impl FamilyRules for ArmEtm {
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
            elf::Architecture::Arm => Ok(Parameters::default()),
            other => Err(format!("the ELF file is for {other}, not for ARM")),
        }
    }

    /// Nearly every packet of ETMv2 has bits that are conventions (PC-1 to PC-14); two of them concern ETMv1, too.
    fn readings_of_executions(parameters: &Parameters) -> Vec<&'static str> {
        let matters = |name: &str| match parameters.architecture {
            Architecture::V1 => name.starts_with("etm1-") || matches!(name, "etm-pc-4" | "etm-pc-14"),
            Architecture::V2 if name.starts_with("etm2-") => {
                parameters.data_address && !parameters.monitor_cprt
            }
            Architecture::V2 => name.starts_with("etm-pc-"),
            Architecture::V3 => false,
        };
        ArmEtm::READINGS.iter().map(|reading| reading.name).filter(|name| matters(name)).collect()
    }

    const EVENTS_NEED_CODE: bool = true;

    const FINISHED_SCOPES: &'static [&'static str] = &[
        "common",
        "pipestat",
        "trigger",
        "headers",
        "groups",
        "branches",
        "synchronisation",
        "context",
        "data",
        "misses",
        "fifo",
        "etm1",
        "etm3",
        "formatter",
    ];
    #[cfg(feature = "saboteurs")]
    const SABOTEURS: Option<family::Saboteurs<Self>> = Some(saboteurs::SABOTEURS);
    #[cfg(not(feature = "saboteurs"))]
    const SABOTEURS: Option<family::Saboteurs<Self>> = None;
    const GENERATOR: Option<family::Generator<Self>> = Some(generate::GENERATOR);
    const SWEEPS: Option<family::Sweeps<Self>> = Some(opcodes::SWEEPS);
    const SYNC_POINTS: Option<family::SyncPoints<Self>> = Some(sync_points::SYNC_POINTS);
    const PACKET_WRITER: Option<family::WritePackets<Self>> = None;
    const LEGAL_FORM: Option<family::LegalForm<Self>> = None;
    const LEGAL_CHOICES: &'static [family::LegalChoice<Self>] = legal_choices::LEGAL_CHOICES;
    const REASONS: Option<family::Reasons<Self>> = None;
    const TIMING: Option<family::TimingOf<Self>> = None;
    const FIELD_CLAUSES: &'static [family::FieldClause] = field_clauses::FIELD_CLAUSES;
    const INSTRUCTIONS: Option<family::Instructions<Self>> = Some(instructions::INSTRUCTIONS);
    const EXECUTION_FORMATS: &'static [family::ExecutionFormat<Self>] = &[];
    const PROGRAMS: Option<family::Programs<Self>> = None;
    const CAPTURES: Option<family::Captures<Self>> = Some(captures::CAPTURES);
    const BENCH: Option<family::Bench> = Some(bench::BENCH);
}
