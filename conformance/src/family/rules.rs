//! What every family must define.

use traceproof_vectors::case::CaseProtocol;
use traceproof_vectors::{Decoder, Dissection, Encoder, Program, Protocol};

use super::bench::Bench;
use super::captures::Captures;
use super::execution_files::ExecutionFormat;
use super::generator::Generator;
use super::programs::Programs;
use super::saboteurs::Saboteurs;
use super::sync_points::SyncPoints;
use super::timing::TimingOf;
use crate::elf::Machine;

/// What the runner and the command line must know about a family beyond its vocabulary.
///
/// The required items come first, then the parts. No part has a default: a family that lacks one declares that.
pub trait FamilyRules: CaseProtocol {
    /// A new reference decoder.
    fn reference_decoder() -> Box<dyn Decoder<Self>>;

    /// A new reference encoder model.
    fn reference_encoder() -> Box<dyn Encoder<Self>>;

    /// Takes a stream apart, unit by unit and bit by bit, with the reference reader.
    fn dissect(wire: &[u8], parameters: &Self::Parameters, program: &Program) -> Vec<Dissection<Self>>;

    /// As [`dissect`](Self::dissect), one unit after the other. Families with long streams override it, so that memory
    /// does not grow with the stream.
    fn dissect_each(
        wire: &[u8],
        parameters: &Self::Parameters,
        program: &Program,
        each: &mut dyn FnMut(Dissection<Self>),
    ) {
        Self::dissect(wire, parameters, program).into_iter().for_each(each);
    }

    /// Turns the execution of a case into stimulus, in order.
    ///
    /// # Errors
    ///
    /// When the program cannot execute like that.
    fn drive(
        execution: &Self::Execution,
        program: &Program,
        parameters: &Self::Parameters,
        policy: &Self::Policy,
        each: &mut dyn FnMut(&Self::Stimulus),
    ) -> Result<(), String>;

    /// The parameters that the machine of an ELF file suggests, where the user states none.
    ///
    /// # Errors
    ///
    /// When the file is for a machine that this family does not trace.
    fn parameters_for(machine: Machine) -> Result<Self::Parameters, String>;

    /// Reads parameters from the text of a file, a TOML file of parameters by the specification's names unless the
    /// family has other descriptions.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with it, each as `line:column: message`.
    fn read_parameters(text: &str) -> Result<Self::Parameters, Vec<String>> {
        toml::from_str(text).map_err(|error| vec![toml_error(text, &error)])
    }

    /// Whether events carry anything without the code that was running.
    const EVENTS_NEED_CODE: bool;

    /// Whether events and faults wait until what carried them is committed, so that they follow later packets.
    const RESOLVES_SPECULATION: bool;

    /// Named readings on which an execution that was not written for a case may depend under these parameters: a
    /// generated one, or that of a real program. A subject that does not claim them is not judged by it.
    fn readings_of_executions(parameters: &Self::Parameters) -> Vec<&'static str>;

    /// Whether `event` directly before a `limit` fault is not judged, because how far a decoder walks before
    /// its work budget is spent is its own choice.
    fn is_open_at_limit(event: &Self::Event) -> bool;

    /// The events that are still in force after `events`, so that repeating one adds nothing even where a fault lies
    /// in between. None of them makes another one redundant.
    fn in_force(events: &[Self::Event]) -> Vec<Self::Event>;

    /// The scopes of requirements in which every one that can be tested has its cases, and must keep them.
    const FINISHED_SCOPES: &'static [&'static str];

    /// Decoders and encoders that are wrong on purpose, see [`saboteurs`](crate::saboteurs).
    const SABOTEURS: Option<Saboteurs<Self>>;

    /// Random executions with their oracle.
    const GENERATOR: Option<Generator<Self>>;

    /// Where decoding may start late.
    const SYNC_POINTS: Option<SyncPoints<Self>>;

    /// Makes the wire of packets; `None` where the wire also contains times, so that packets do not determine it.
    const PACKET_WRITER: Option<WritePackets<Self>>;

    /// Whether another wire of an encoder is as legal as the expected one; `None` where every byte is determined.
    const LEGAL_FORM: Option<LegalForm<Self>>;

    /// Why the reference decoder works out what it does, for families whose results are not written in the packets.
    const REASONS: Option<Reasons<Self>>;

    /// Context and time of stimulus.
    const TIMING: Option<TimingOf<Self>>;

    /// The formats of execution files that the family reads.
    const EXECUTION_FORMATS: &'static [ExecutionFormat<Self>];

    /// Recorded executions of compiled programs.
    const PROGRAMS: Option<Programs<Self>>;

    /// Captures of real hardware.
    const CAPTURES: Option<Captures<Self>>;

    /// How fast the reference models are.
    const BENCH: Option<Bench>;
}

/// Makes the wire of packets under parameters and policy; the error names the packet that cannot be written and the
/// reason.
pub type WritePackets<P> = fn(
    &[<P as Protocol>::Packet],
    &<P as Protocol>::Parameters,
    &<P as Protocol>::Policy,
) -> Result<Vec<u8>, String>;

/// Whether a wire has the packets of another one in a form that the specification allows under parameters and policy:
/// the expected wire, then that of the encoder.
pub type LegalForm<P> = fn(&[u8], &[u8], &<P as Protocol>::Parameters, &<P as Protocol>::Policy) -> bool;

/// Why a decoder reports what it does of a stream: sentences for people, each with the index of its packet, in order of
/// packets.
pub type Reasons<P> = fn(wire: &[u8], &<P as Protocol>::Parameters, &Program) -> Vec<(u64, String)>;

/// An error of the TOML reader as `line:column: message`.
#[must_use]
pub fn toml_error(text: &str, error: &toml::de::Error) -> String {
    let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    format!("{line}:{column}: {}", error.message().replace('\n', " "))
}
