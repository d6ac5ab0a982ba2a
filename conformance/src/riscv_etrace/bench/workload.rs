//! What is measured on: the executions of shipped programs, as an encoder sees them and as they travel.

use std::fmt;

use traceproof_encoder_model::riscv_etrace::{Encoder, Hart, HartError};
use traceproof_vectors::riscv_etrace::{Packet, Parameters, Policy, RiscvEtrace, Step, Stimulus};
use traceproof_vectors::{Encoder as _, EncoderSink, Program, Refusal};

use crate::riscv_etrace::programs::{ExecutionFileError, Setup, Shipped, ShippedError, ShippedProgram};

/// Programs with fewer instructions are too short for timing.
const LARGE: u64 = 100_000;

/// One execution under the plain setup: delta addresses, nothing optional, one instruction per cycle.
#[derive(Clone, Debug)]
pub(super) struct Workload {
    /// Name of the program.
    pub(super) name: String,
    /// The code.
    pub(super) program: Program,
    /// Of encoder and decoder.
    pub(super) parameters: Parameters,
    /// Of the encoder.
    pub(super) policy: Policy,
    /// What the encoder sees, if it is kept.
    pub(super) stimuli: Vec<Stimulus>,
    /// What travels.
    pub(super) wire: Vec<u8>,
    /// Retired instructions.
    pub(super) instructions: u64,
}

/// How much of a workload is kept in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keep {
    /// Only what travels.
    Wire,
    /// Also what the encoder sees.
    Stimuli,
}

/// Why a workload cannot be prepared.
#[derive(Debug)]
#[non_exhaustive]
pub(super) enum WorkloadError {
    /// The program cannot be read.
    Shipped(ShippedError),
    /// Its execution cannot be read.
    Execution(ExecutionFileError),
    /// The program has no code for its execution.
    Hart(HartError),
    /// The encoder model refuses the plain setup.
    Refused(Refusal),
    /// No shipped program has such a name.
    NoProgram,
}

impl fmt::Display for WorkloadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Shipped(error) => error.fmt(f),
            Self::Execution(error) => error.fmt(f),
            Self::Hart(error) => error.fmt(f),
            Self::Refused(refusal) => refusal.fmt(f),
            Self::NoProgram => f.write_str("no such program is shipped"),
        }
    }
}

impl std::error::Error for WorkloadError {}

impl Workload {
    /// Every large shipped program, or those whose name contains one of `names`.
    ///
    /// # Errors
    ///
    /// When a program or its execution cannot be read, or none is wanted.
    pub(super) fn shipped(names: &[String], keep: Keep) -> Result<Vec<Self>, WorkloadError> {
        let shipped = Shipped::riscv_etrace().map_err(WorkloadError::Shipped)?;
        let wanted = |program: &&ShippedProgram| {
            if names.is_empty() {
                program.instructions >= LARGE
            } else {
                names.iter().any(|name| program.name.contains(name.as_str()))
            }
        };
        let workloads: Vec<Self> = shipped
            .programs
            .iter()
            .filter(wanted)
            .map(|program| Self::prepare(&shipped, program, keep))
            .collect::<Result<_, _>>()?;
        if workloads.is_empty() { Err(WorkloadError::NoProgram) } else { Ok(workloads) }
    }

    fn prepare(shipped: &Shipped, program: &ShippedProgram, keep: Keep) -> Result<Self, WorkloadError> {
        let code = shipped.image(program).map_err(WorkloadError::Shipped)?.program;
        let Setup { parameters, policy, retirement, .. } = Setup::plain(program.xlen);
        let mut unreadable = None;
        let recorded = shipped
            .execution(program)
            .map_err(WorkloadError::Shipped)?
            .map_while(|step| step.map_err(|error| unreadable = Some(error)).ok());
        let enable = |on| Step::Stimulus(Stimulus::Enable(on));
        let steps = [enable(true)].into_iter().chain(recorded).chain([enable(false)]);
        let (mut stimuli, mut sent) = (Vec::new(), Wire::default());
        let mut encoder = Encoder::default();
        encoder.begin(&parameters, &policy).map_err(WorkloadError::Refused)?;
        Hart::new(&code, &parameters, retirement)
            .run(steps, &mut |stimulus| {
                encoder.step(stimulus, &mut sent);
                if keep == Keep::Stimuli {
                    stimuli.push(stimulus.clone());
                }
            })
            .map_err(WorkloadError::Hart)?;
        encoder.finish(&mut sent);
        if let Some(error) = unreadable {
            return Err(WorkloadError::Execution(error));
        }
        let (name, instructions) = (program.name.clone(), program.instructions);
        Ok(Self { name, program: code, parameters, policy, stimuli, wire: sent.0, instructions })
    }
}

/// Keeps what travels.
#[derive(Default)]
struct Wire(Vec<u8>);

impl EncoderSink<RiscvEtrace> for Wire {
    fn packet(&mut self, _: &Packet) {}

    fn wire(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }
}
