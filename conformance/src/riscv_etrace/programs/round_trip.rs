//! The round trip of a whole execution through an encoder and a decoder.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use rayon::prelude::*;
use traceproof_encoder_model::riscv_etrace::{Hart, HartError};
use traceproof_vectors::riscv_etrace::{Packet, Parameters, RiscvEtrace, Step, Stimulus};
use traceproof_vectors::{
    Capabilities, Decoder, Encoder, EncoderSink, Layer, Place, Program, Protocol, Reading, Refusal,
};

use super::comparison::Comparison;
use super::feed::Feed;
use super::{Divergence, FlowMap, OWN_SET, ParameterSet, Setup, Shipped, ShippedError, ShippedProgram};
use crate::isolation::unwound;
use crate::riscv_etrace::readings::of_executions;
use crate::verdict::Verdict;

/// Counts of the round trip, and its outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoundTrip {
    /// Instructions that passed.
    pub instructions: u64,
    /// Traps that passed.
    pub traps: u64,
    /// Packets that the decoder read.
    pub packets: u64,
    /// Bytes on the wire, transport headers included.
    pub bytes: u64,
    /// The first difference; `None` if there is none.
    pub divergence: Option<Divergence>,
}

impl RoundTrip {
    /// Bits on the wire per instruction.
    #[must_use]
    pub fn bits_per_instruction(&self) -> f64 {
        if self.instructions == 0 { 0.0 } else { self.bytes as f64 * 8.0 / self.instructions as f64 }
    }
}

/// Why a round trip could not be made.
#[derive(Debug)]
#[non_exhaustive]
pub enum RoundTripError {
    /// The encoder refuses the setup.
    Encoder(Refusal),
    /// The decoder refuses the setup.
    Decoder(Refusal),
    /// The program has no code for the execution.
    Hart(HartError),
    /// The execution cannot be read.
    Execution(Box<dyn std::error::Error + Send + Sync>),
    /// The encoder or the decoder panicked, or its process failed.
    Subject(Box<Verdict>),
}

impl fmt::Display for RoundTripError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Encoder(refusal) => write!(f, "the encoder refuses: {refusal}"),
            Self::Decoder(refusal) => write!(f, "the decoder refuses: {refusal}"),
            Self::Hart(error) => error.fmt(f),
            Self::Execution(error) => error.fmt(f),
            Self::Subject(verdict) => verdict.fmt(f),
        }
    }
}

impl std::error::Error for RoundTripError {}

/// Takes what an encoder makes to the decoder.
struct Line<'a, 'c> {
    comparison: &'a RefCell<Comparison<'c>>,
    waiting: Vec<u8>,
    bytes: u64,
}

impl EncoderSink<RiscvEtrace> for Line<'_, '_> {
    fn packet(&mut self, packet: &Packet) {
        self.comparison.borrow_mut().makes(packet);
    }

    fn wire(&mut self, bytes: &[u8]) {
        self.waiting.extend_from_slice(bytes);
    }
}

impl Line<'_, '_> {
    /// Hands over what has left the encoder.
    fn carry(&mut self, decoder: &mut dyn Decoder<RiscvEtrace>) {
        if !self.waiting.is_empty() {
            decoder.push(&self.waiting, &mut *self.comparison.borrow_mut());
            self.bytes += self.waiting.len() as u64;
            self.waiting.clear();
        }
    }
}

/// Sends an execution step by step through hart, encoder and decoder, and compares the results while it runs.
///
/// Every qualified instruction must be reported with its privilege level and, where packets carry them, context and
/// time; every trap with its cause, its value, and its EPC where the trace carries it; every packet of the encoder
/// unchanged, if the decoder delivers packets. Stops at the first difference. Memory does not grow with the execution.
///
/// # Errors
///
/// When the setup is refused, the decoder reports no events, the steps cannot be read or the program has no code for
/// them.
pub fn round_trip<E: std::error::Error + Send + Sync + 'static>(
    encoder: &mut dyn Encoder<RiscvEtrace>,
    decoder: &mut dyn Decoder<RiscvEtrace>,
    program: &Program,
    setup: &Setup,
    steps: impl IntoIterator<Item = Result<Step, E>>,
) -> Result<RoundTrip, RoundTripError> {
    let decodes = decoder.capabilities();
    // Only events contain the execution.
    if !decodes.layers.contains(&Layer::Events) {
        return Err(RoundTripError::Decoder(Refusal::unsupported("events")));
    }
    let encodes = encoder.capabilities();
    claims_readings(&encodes, setup, Reading::binds_encoders).map_err(RoundTripError::Encoder)?;
    claims_readings(&decodes, setup, Reading::binds_decoders).map_err(RoundTripError::Decoder)?;
    encoder.begin(&setup.parameters, &setup.policy).map_err(RoundTripError::Encoder)?;
    decoder.begin(&setup.parameters, program).map_err(RoundTripError::Decoder)?;
    let map = FlowMap::new(program, setup.parameters.xlen);
    // What one of them does not deliver is not compared.
    let compares_packets =
        decodes.layers.contains(&Layer::Packets) && encodes.layers.contains(&Layer::Packets);
    let comparison = RefCell::new(Comparison::new(&map, &setup.parameters, compares_packets));
    let mut line = Line { comparison: &comparison, waiting: Vec::new(), bytes: 0 };

    let unreadable = Cell::new(None);
    let readable = steps.into_iter().map_while(|step| step.map_err(|error| unreadable.set(Some(error))).ok());
    let feed = Feed::new(readable, &map, setup.environment)
        .take_while(|_| comparison.borrow().divergence.is_none())
        .inspect(|step| {
            let mut comparison = comparison.borrow_mut();
            match step {
                Step::Stimulus(Stimulus::Enable(false)) => comparison.ends(),
                step => comparison.executes(step),
            }
        });
    let mut hart = Hart::new(program, &setup.parameters, setup.retirement);
    hart.run(feed, &mut |stimulus| {
        encoder.step(stimulus, &mut line);
        line.carry(decoder);
    })
    .map_err(RoundTripError::Hart)?;
    if let Some(error) = unreadable.into_inner() {
        return Err(RoundTripError::Execution(Box::new(error)));
    }
    encoder.finish(&mut line);
    line.carry(decoder);
    let bytes = line.bytes;
    let mut comparison = comparison.into_inner();
    decoder.finish(&mut comparison);
    comparison.settle(Place { packet: comparison.packets, byte: bytes, bit: 0 });
    let Comparison { instructions, traps, packets, divergence, .. } = comparison;
    Ok(RoundTrip { instructions, traps, packets, bytes, divergence })
}

/// Executions that depend on a reading are not judged for subjects that do not follow it.
fn claims_readings(
    capabilities: &Capabilities,
    setup: &Setup,
    binds: fn(&Reading) -> bool,
) -> Result<(), Refusal> {
    let bound =
        |name: &&str| RiscvEtrace::READINGS.iter().any(|reading| reading.name == *name && binds(reading));
    let mut needed = of_executions(&setup.parameters).into_iter().filter(bound);
    match needed.find(|reading| !capabilities.readings.contains(*reading)) {
        Some(reading) => Err(Refusal::unsupported(format!("reading {reading}"))),
        None => Ok(()),
    }
}

/// Creates the decoder and the encoder, for every round trip.
#[derive(Clone, Copy)]
pub struct Subjects<'a> {
    /// Makes an encoder.
    pub encoder: &'a (dyn Fn() -> Box<dyn Encoder<RiscvEtrace>> + Sync),
    /// Makes a decoder.
    pub decoder: &'a (dyn Fn() -> Box<dyn Decoder<RiscvEtrace>> + Sync),
}

impl Subjects<'static> {
    /// Encoder model and reference decoder.
    #[must_use]
    pub fn reference() -> Self {
        Self {
            encoder: &|| Box::new(traceproof_encoder_model::riscv_etrace::Encoder::default()),
            decoder: &|| Box::new(traceproof_decoder::riscv_etrace::Decoder::default()),
        }
    }
}

impl fmt::Debug for Subjects<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Subjects")
    }
}

/// The round trip of one program under one parameter set.
#[derive(Debug)]
pub struct ProgramResult {
    /// Name of the program.
    pub program: String,
    /// Name of the parameter set.
    pub set: &'static str,
    /// What came of it.
    pub outcome: Result<RoundTrip, RoundTripError>,
    /// How long it took.
    pub duration: Duration,
}

impl ProgramResult {
    /// There is no difference.
    #[must_use]
    pub fn passed(&self) -> bool {
        matches!(self.outcome, Ok(RoundTrip { divergence: None, .. }))
    }

    /// The subject does not claim what the set needs; that is no failure.
    #[must_use]
    pub const fn unsupported(&self) -> bool {
        matches!(
            self.outcome,
            Err(RoundTripError::Encoder(Refusal::Unsupported { .. })
                | RoundTripError::Decoder(Refusal::Unsupported { .. }))
        )
    }
}

/// Every shipped program under every parameter set that `filter` (program name, set name) wants, in parallel. With
/// `parameters` it is one set, [`OWN_SET`], and only programs for a hart of that width.
///
/// `progress` is called as each one ends, from any thread. Results come in the order of programs and sets. A panic of
/// the subject, or the end of its process, is the outcome of that round trip and leaves the others alone.
///
/// # Errors
///
/// When the shipped programs cannot be read.
pub fn run_all(
    subjects: Subjects<'_>,
    parameters: Option<&Parameters>,
    filter: &(dyn Fn(&str, &str) -> bool + Sync),
    progress: &(dyn Fn(&ProgramResult) + Sync),
) -> Result<Vec<ProgramResult>, ShippedError> {
    let shipped = Shipped::riscv_etrace()?;
    let images = shipped
        .programs
        .iter()
        .map(|program| Ok((program, shipped.image(program)?.program)))
        .collect::<Result<Vec<_>, ShippedError>>()?;
    let mut work: Vec<(&ShippedProgram, &Program, &'static str, Setup)> = Vec::new();
    for (program, code) in &images {
        let setups: Vec<_> = match parameters {
            Some(own) => vec![(OWN_SET, Setup::under(own, program))],
            None => ParameterSet::ALL.iter().map(|set| (set.name, set.setup(program))).collect(),
        };
        let wanted = setups.into_iter().filter(|(name, _)| filter(&program.name, name));
        work.extend(wanted.filter_map(|(name, setup)| Some((*program, code, name, setup?))));
    }
    let result = |(program, code, set, setup): &(&ShippedProgram, &Program, &'static str, Setup)| {
        let start = Instant::now();
        let travel = || match shipped.execution(program) {
            Ok(steps) => {
                let (mut encoder, mut decoder) = ((subjects.encoder)(), (subjects.decoder)());
                round_trip(encoder.as_mut(), decoder.as_mut(), code, setup, steps)
            }
            Err(error) => Err(RoundTripError::Execution(Box::new(error))),
        };
        let outcome = catch_unwind(AssertUnwindSafe(travel))
            .unwrap_or_else(|payload| Err(RoundTripError::Subject(Box::new(unwound(payload)))));
        let result = ProgramResult { program: program.name.clone(), set, outcome, duration: start.elapsed() };
        progress(&result);
        result
    };
    // Checked again: Ctrl-C may have been pressed meanwhile.
    Ok(work
        .par_iter()
        .with_max_len(1)
        .filter(|(program, _, set, _)| filter(&program.name, set))
        .map(result)
        .collect())
}
