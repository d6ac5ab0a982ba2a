//! The way of every shipped program as results of a run.

use traceproof_vectors::case::SuiteError;
use traceproof_vectors::riscv_etrace::RiscvEtrace;
use traceproof_vectors::{Protocol, Refusal};

use super::recorded::recorded;
use super::{Observation, ProgramResult, RoundTrip, RoundTripError, Subjects, run_all};
use crate::ProtocolName;
use crate::family::{ProgramRequest, Programs};
use crate::line::line;
use crate::run::ProgramRun;
use crate::verdict::{Divergence, Row, Verdict};

/// The recorded executions that are shipped.
pub(in crate::riscv_etrace) const PROGRAMS: Programs<RiscvEtrace> = Programs { run, find: recorded };

fn run(request: &ProgramRequest<'_, RiscvEtrace>) -> Result<Vec<ProgramRun>, SuiteError> {
    let ProgramRequest { encoder, decoder, parameters, wanted, progress } = *request;
    let subjects = Subjects { encoder, decoder };
    let results = run_all(subjects, parameters, wanted, &|_| progress()).map_err(|error| SuiteError {
        path: error.path.clone(),
        place: None,
        message: error.to_string(),
    })?;
    Ok(results.into_iter().map(program_run).collect())
}

fn program_run(result: ProgramResult) -> ProgramRun {
    let ProgramResult { program, set, outcome, .. } = result;
    let (instructions, traps, packets, bytes) = match &outcome {
        Ok(RoundTrip { instructions, traps, packets, bytes, .. }) => {
            (*instructions, *traps, *packets, *bytes)
        }
        Err(_) => (0, 0, 0, 0),
    };
    let verdict = match outcome {
        Ok(RoundTrip { divergence: None, .. }) => Verdict::Pass,
        Ok(RoundTrip { divergence: Some(found), .. }) => Verdict::Fail(Divergence {
            what: String::from("instructions"),
            index: usize::try_from(found.instruction).unwrap_or(usize::MAX),
            place: Some(found.place),
            packet: None,
            rows: vec![Row {
                same: false,
                expected: Some(shown(&found.expected)),
                got: Some(shown(&found.got)),
            }],
        }),
        Err(RoundTripError::Encoder(refusal) | RoundTripError::Decoder(refusal)) => match refusal {
            Refusal::Unsupported { feature } => Verdict::Unsupported { needs: vec![feature] },
            other => Verdict::Undeclared { refusal: other.to_string() },
        },
        Err(RoundTripError::Subject(verdict)) => *verdict,
        Err(error) => Verdict::Fail(Divergence::sentence("the execution", error.to_string())),
    };
    let (protocol, set) = (ProtocolName(RiscvEtrace::ID), set.to_owned());
    ProgramRun { protocol, program, set, instructions, traps, packets, bytes, verdict }
}

/// Packets look like everywhere else.
fn shown(observation: &Observation) -> String {
    match observation {
        Observation::Packet(packet) => format!("packet {}", line(packet)),
        other => other.to_string(),
    }
}
