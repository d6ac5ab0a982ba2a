//! Real programs: the executions that a family ships.

use std::fmt;

use traceproof_vectors::case::SuiteError;
use traceproof_vectors::{Decoder, Encoder, EncoderSink, Program, Protocol, Refusal};

use crate::run::ProgramRun;

/// The part of a family that ships recorded executions of compiled programs.
#[derive(Debug)]
pub struct Programs<P: Protocol> {
    /// Sends the executions through an encoder and a decoder. The error is that the shipped programs cannot be read.
    pub run: fn(&ProgramRequest<'_, P>) -> Result<Vec<ProgramRun>, SuiteError>,
    /// The program of this name under the parameter set of this name; `None` if there is no such program. The error
    /// is that the shipped programs cannot be read, or that the program has no such set.
    pub find: fn(program: &str, set: &str) -> FoundProgram<P>,
}

/// A program by its name, if there is one.
pub type FoundProgram<P> = Result<Option<RecordedProgram<P>>, SuiteError>;

/// A recorded execution under a set of parameters.
pub struct RecordedProgram<P: Protocol> {
    /// Name of the program.
    pub program: String,
    /// The purpose of the program.
    pub about: String,
    /// Name of the parameter set.
    pub set: String,
    /// Description of the set.
    pub about_set: String,
    /// Parameters of encoder and decoder.
    pub parameters: P::Parameters,
    /// Policy of the encoder.
    pub policy: P::Policy,
    /// The code.
    pub code: Program,
    /// Number of retired instructions.
    pub instructions: u64,
    /// Number of traps.
    pub traps: u64,
    /// Turns the execution into stimulus while reading it.
    pub drive: DriveRecording<P>,
}

/// Calls the function with each stimulus of a recording until it returns [`Wanted::NoMore`]. The error names what
/// cannot be read or executed.
pub type DriveRecording<P> =
    Box<dyn Fn(&mut dyn FnMut(&<P as Protocol>::Stimulus) -> Wanted) -> Result<(), String> + Send + Sync>;

/// Whether to continue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// Yes.
    More,
    /// No; an element that has begun may still be completed.
    NoMore,
}

impl<P: Protocol> RecordedProgram<P> {
    /// Program and set, in the form that filters match: `mix.rv64gc/delta`.
    #[must_use]
    pub fn name(&self) -> String {
        format!("{}/{}", self.program, self.set)
    }

    /// Encodes the execution, up to about this many packets (to the end, if the encoder reports no packets). Returns
    /// the number of stimuli.
    ///
    /// # Errors
    ///
    /// When the encoder refuses, or the execution cannot be read.
    pub fn encode(
        &self,
        encoder: &mut dyn Encoder<P>,
        sink: &mut dyn EncoderSink<P>,
        packets: u64,
    ) -> Result<u64, EncodeError> {
        encoder.begin(&self.parameters, &self.policy).map_err(EncodeError::Refused)?;
        let mut counted = Counted { sink, packets: 0 };
        let mut steps = 0;
        let driven = (self.drive)(&mut |stimulus| {
            steps += 1;
            encoder.step(stimulus, &mut counted);
            if counted.packets < packets { Wanted::More } else { Wanted::NoMore }
        });
        driven.map_err(EncodeError::Execution)?;
        encoder.finish(&mut counted);
        Ok(steps)
    }
}

impl<P: Protocol> fmt::Debug for RecordedProgram<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RecordedProgram").field("name", &self.name()).finish_non_exhaustive()
    }
}

/// Why a recording was not encoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EncodeError {
    /// The encoder refuses parameters or policy.
    Refused(Refusal),
    /// The execution cannot be read.
    Execution(String),
}

impl fmt::Display for EncodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(refusal) => write!(f, "the encoder refuses: {refusal}"),
            Self::Execution(message) => f.write_str(message),
        }
    }
}

impl std::error::Error for EncodeError {}

/// Counts packets and forwards them.
struct Counted<'a, P: Protocol> {
    sink: &'a mut dyn EncoderSink<P>,
    packets: u64,
}

impl<P: Protocol> EncoderSink<P> for Counted<'_, P> {
    fn packet(&mut self, packet: &P::Packet) {
        self.packets += 1;
        self.sink.packet(packet);
    }

    fn wire(&mut self, bytes: &[u8]) {
        self.sink.wire(bytes);
    }
}

/// Whose encoder and decoder the executions go through, and which of them.
pub struct ProgramRequest<'a, P: Protocol> {
    /// Makes the encoder: the subject's, or that of the reference.
    pub encoder: &'a (dyn Fn() -> Box<dyn Encoder<P>> + Sync),
    /// Makes the decoder: the subject's, or that of the reference.
    pub decoder: &'a (dyn Fn() -> Box<dyn Decoder<P>> + Sync),
    /// Under these parameters and no others.
    pub parameters: Option<&'a P::Parameters>,
    /// Asked for every program and parameter set.
    pub wanted: &'a (dyn Fn(&str, &str) -> bool + Sync),
    /// Called as each ends.
    pub progress: &'a (dyn Fn() + Sync),
}

impl<P: Protocol> fmt::Debug for ProgramRequest<'_, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProgramRequest").field("parameters", &self.parameters).finish_non_exhaustive()
    }
}
