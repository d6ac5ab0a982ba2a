//! What the harness knows of RISC-V E-Trace.

mod bench;
mod execution_files;
mod field_clauses;
pub mod generate;
mod ingress;
mod instructions;
mod known_pairs;
mod legal_choices;
mod legal_form;
mod opcodes;
pub mod programs;
mod readings;
pub mod rows;
#[cfg(feature = "saboteurs")]
pub mod saboteurs;
mod starts;
mod sync_points;
mod timing;

use traceproof_encoder_model::riscv_etrace::{Encoder, Hart, Retirement, write_packets};
use traceproof_vectors::case::CaseProtocol;
use traceproof_vectors::riscv_etrace::discovery;
use traceproof_vectors::riscv_etrace::{Parameters, Policy, RiscvEtrace, Stimulus, Xlen};
use traceproof_vectors::{self as vectors, Program};

use crate::elf::{Architecture, Machine};
use crate::family::{self, FamilyRules};

impl FamilyRules for RiscvEtrace {
    fn reference_encoder() -> Box<dyn vectors::Encoder<Self>> {
        Box::new(Encoder::default())
    }

    fn drive(
        execution: &<Self as CaseProtocol>::Execution,
        program: &Program,
        parameters: &Parameters,
        policy: &Policy,
        each: &mut dyn FnMut(&Stimulus),
    ) -> Result<(), String> {
        Hart::new(program, parameters, retirement(parameters))
            .with_filters(&policy.filters)
            .run(execution.iter().cloned(), each)
            .map_err(|error| error.to_string())
    }

    fn readings_of_executions(parameters: &Parameters) -> Vec<&'static str> {
        readings::of_executions(parameters)
    }

    fn parameters_for(machine: Machine) -> Result<Parameters, String> {
        match machine {
            Machine { architecture: Architecture::Riscv, bits: 64 } => {
                Ok(Parameters { xlen: Xlen::Rv64, iaddress_width_p: 64, ..Parameters::default() })
            }
            Machine { architecture: Architecture::Riscv, .. } => Ok(Parameters::default()),
            Machine { architecture, .. } => {
                Err(format!("the ELF file is for {architecture}, not for RISC-V"))
            }
        }
    }

    /// Attributes as they are discovered, too.
    fn read_parameters(text: &str) -> Result<Parameters, Vec<String>> {
        discovery::read(text)
            .map(|found| found.parameters)
            .map_err(|errors| errors.iter().map(ToString::to_string).collect())
    }

    const EVENTS_NEED_CODE: bool = true;
    const FINISHED_SCOPES: &'static [&'static str] = &["core", "modes", "data", "encapsulation"];
    #[cfg(feature = "saboteurs")]
    const SABOTEURS: Option<family::Saboteurs<Self>> = Some(saboteurs::SABOTEURS);
    #[cfg(not(feature = "saboteurs"))]
    const SABOTEURS: Option<family::Saboteurs<Self>> = None;
    const GENERATOR: Option<family::Generator<Self>> = Some(generate::GENERATOR);
    const SWEEPS: Option<family::Sweeps<Self>> = Some(opcodes::SWEEPS);
    const SYNC_POINTS: Option<family::SyncPoints<Self>> = Some(sync_points::SYNC_POINTS);
    const PACKET_WRITER: Option<family::WritePackets<Self>> = Some(|packets, parameters, policy| {
        write_packets(packets, parameters, policy).map_err(|error| error.to_string())
    });
    const LEGAL_FORM: Option<family::LegalForm<Self>> = Some(legal_form::same_packets);
    const LEGAL_CHOICES: &'static [family::LegalChoice<Self>] = legal_choices::LEGAL_CHOICES;
    const REASONS: Option<family::Reasons<Self>> = None;
    const TIMING: Option<family::TimingOf<Self>> = Some(timing::TIMING);
    const FIELD_CLAUSES: &'static [family::FieldClause] = field_clauses::FIELD_CLAUSES;
    const INSTRUCTIONS: Option<family::Instructions<Self>> = Some(instructions::INSTRUCTIONS);
    const EXECUTION_FORMATS: &'static [family::ExecutionFormat<Self>] = execution_files::FORMATS;
    const PROGRAMS: Option<family::Programs<Self>> = Some(programs::PROGRAMS);
    const CAPTURES: Option<family::Captures<Self>> = None;
    const BENCH: Option<family::Bench> = Some(bench::BENCH);
}

/// Block retirement where the parameters have it. No packet depends on it (RVET-ENC-044).
const fn retirement(parameters: &Parameters) -> Retirement {
    if parameters.retires_p > 1 {
        Retirement::Blocks { max_halfwords: 2 * parameters.retires_p as u32 }
    } else {
        Retirement::Single
    }
}
