//! What the harness knows of the trace unit of ARM ETE and ETMv4.

pub mod generate;
mod reasons;
mod saboteurs;

use traceproof_decoder::arm_ete_unit as decoder;
use traceproof_encoder_model::arm_ete_unit::Encoder;
use traceproof_vectors::arm_ete::Version;
use traceproof_vectors::arm_ete_unit::{ArmEteUnit, Event, Parameters, Policy, Stimulus};
use traceproof_vectors::case::CaseProtocol;
use traceproof_vectors::{self as vectors, Dissection, Program};

use crate::elf::{Architecture, Machine};
use crate::family::{self, FamilyRules};

impl FamilyRules for ArmEteUnit {
    fn reference_decoder() -> Box<dyn vectors::Decoder<Self>> {
        Box::new(decoder::Decoder::default())
    }

    fn reference_encoder() -> Box<dyn vectors::Encoder<Self>> {
        Box::new(Encoder::default())
    }

    fn dissect(wire: &[u8], parameters: &Parameters, program: &Program) -> Vec<Dissection<Self>> {
        decoder::dissect(wire, parameters, program)
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
            Architecture::Aarch64 => Ok(Parameters::default()),
            Architecture::Arm => Ok(Parameters { version: Version::Etmv4_6, ..Parameters::default() }),
            other => Err(format!("the ELF file is for {other}, not for ARM")),
        }
    }

    /// What the text leaves open is a parameter, or an event that accepts every choice.
    fn readings_of_executions(_: &Parameters) -> Vec<&'static str> {
        Vec::new()
    }

    const EVENTS_NEED_CODE: bool = false;
    const RESOLVES_SPECULATION: bool = false;

    fn is_open_at_limit(_: &Event) -> bool {
        false
    }

    /// `State` and `Outputs` hold until the next one of their kind.
    fn in_force(events: &[Event]) -> Vec<Event> {
        let latest = |wanted: fn(&Event) -> bool| events.iter().rev().copied().find(wanted);
        let state = latest(|event| matches!(event, Event::State(_)));
        let outputs = latest(|event| matches!(event, Event::Outputs(_)));
        state.into_iter().chain(outputs).collect()
    }

    const FINISHED_SCOPES: &'static [&'static str] = &[
        "unitrouting",
        "unitsessions",
        "unitstates",
        "unitcontrol",
        "unitaccess",
        "unitsync",
        "unitsoftware",
    ];
    const SABOTEURS: Option<family::Saboteurs<Self>> = Some(saboteurs::SABOTEURS);
    const GENERATOR: Option<family::Generator<Self>> = Some(generate::GENERATOR);
    const SYNC_POINTS: Option<family::SyncPoints<Self>> = None;
    const PACKET_WRITER: Option<family::WritePackets<Self>> = None;
    const LEGAL_FORM: Option<family::LegalForm<Self>> = None;
    const REASONS: Option<family::Reasons<Self>> =
        Some(|wire, parameters, _| reasons::reasons(wire, parameters));
    const TIMING: Option<family::TimingOf<Self>> = None;
    const EXECUTION_FORMATS: &'static [family::ExecutionFormat<Self>] = &[];
    const PROGRAMS: Option<family::Programs<Self>> = None;
    const CAPTURES: Option<family::Captures<Self>> = None;
    const BENCH: Option<family::Bench> = None;
}
