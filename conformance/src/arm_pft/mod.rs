//! What the harness knows of ARM PFT.

mod bench;
mod captures;
mod execution_files;
mod field_clauses;
pub mod generate;
mod instructions;
mod legal_choices;
mod opcodes;
#[cfg(feature = "saboteurs")]
mod saboteurs;
mod sync_points;

use traceproof_encoder_model::arm_pft::{Encoder, write_packet};
use traceproof_vectors::arm_pft::{ArmPft, Packet, Parameters, Policy, Stimulus};
use traceproof_vectors::case::CaseProtocol;
use traceproof_vectors::{self as vectors, Program};

use crate::elf::{self, Machine};
use crate::family::{self, FamilyRules};

impl FamilyRules for ArmPft {
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

    fn readings_of_executions(parameters: &Parameters) -> Vec<&'static str> {
        generate::readings(parameters)
    }

    const EVENTS_NEED_CODE: bool = true;

    const FINISHED_SCOPES: &'static [&'static str] =
        &["configuration", "packets", "waypoints", "encoder", "flow", "errors"];
    #[cfg(feature = "saboteurs")]
    const SABOTEURS: Option<family::Saboteurs<Self>> = Some(saboteurs::SABOTEURS);
    #[cfg(not(feature = "saboteurs"))]
    const SABOTEURS: Option<family::Saboteurs<Self>> = None;
    const GENERATOR: Option<family::Generator<Self>> = Some(generate::GENERATOR);
    const SWEEPS: Option<family::Sweeps<Self>> = Some(opcodes::SWEEPS);
    const SYNC_POINTS: Option<family::SyncPoints<Self>> = Some(sync_points::SYNC_POINTS);
    const PACKET_WRITER: Option<family::WritePackets<Self>> = Some(write_packets);
    const LEGAL_FORM: Option<family::LegalForm<Self>> = None;
    const LEGAL_CHOICES: &'static [family::LegalChoice<Self>] = legal_choices::LEGAL_CHOICES;
    const REASONS: Option<family::Reasons<Self>> = None;
    const TIMING: Option<family::TimingOf<Self>> = None;
    const FIELD_CLAUSES: &'static [family::FieldClause] = field_clauses::FIELD_CLAUSES;
    const INSTRUCTIONS: Option<family::Instructions<Self>> = Some(instructions::INSTRUCTIONS);
    const EXECUTION_FORMATS: &'static [family::ExecutionFormat<Self>] = execution_files::FORMATS;
    const PROGRAMS: Option<family::Programs<Self>> = None;
    const CAPTURES: Option<family::Captures<Self>> = Some(captures::CAPTURES);
    const BENCH: Option<family::Bench> = Some(bench::BENCH);
}

/// The packets one after the other: a PTM pads and loses bytes by policy only, which no packet says.
fn write_packets(packets: &[Packet], parameters: &Parameters, _: &Policy) -> Result<Vec<u8>, String> {
    packets.iter().try_fold(Vec::new(), |mut wire, packet| {
        wire.extend(write_packet(packet, parameters).map_err(|error| error.to_string())?);
        Ok(wire)
    })
}
