//! What every family must define.

use traceproof_differential::JudgedProtocol;
use traceproof_vectors::{Encoder, Program, Protocol};

use super::bench::Bench;
use super::captures::Captures;
use super::execution_files::ExecutionFormat;
use super::generator::Generator;
use super::instructions::Instructions;
use super::legal_choices::LegalChoice;
use super::programs::Programs;
use super::saboteurs::Saboteurs;
use super::sweeps::Sweeps;
use super::sync_points::SyncPoints;
use super::timing::TimingOf;
use crate::elf::Machine;

/// What the runner and the command line must know about a family beyond its vocabulary and its rules of judging.
///
/// The required items come first, then the parts. No part has a default: a family that lacks one declares that.
pub trait FamilyRules: JudgedProtocol {
    /// A new reference encoder model.
    fn reference_encoder() -> Box<dyn Encoder<Self>>;

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

    /// Named readings on which an execution that was not written for a case may depend under these parameters: a
    /// generated one, or that of a real program. A subject that does not claim them is not judged by it.
    fn readings_of_executions(parameters: &Self::Parameters) -> Vec<&'static str>;

    /// The scopes of requirements in which every one that can be tested has its cases, and must keep them.
    const FINISHED_SCOPES: &'static [&'static str];

    /// Decoders and encoders that are wrong on purpose, see [`saboteurs`](crate::saboteurs).
    const SABOTEURS: Option<Saboteurs<Self>>;

    /// Random executions with their oracle.
    const GENERATOR: Option<Generator<Self>>;

    /// Tables of encodings as executions.
    const SWEEPS: Option<Sweeps<Self>>;

    /// Where decoding may start late.
    const SYNC_POINTS: Option<SyncPoints<Self>>;

    /// Makes the wire of packets; `None` where the wire also contains times, so that packets do not determine it.
    const PACKET_WRITER: Option<WritePackets<Self>>;

    /// Whether another wire of an encoder is as legal as the expected one; `None` where every byte is determined.
    const LEGAL_FORM: Option<LegalForm<Self>>;

    /// The choices of a policy that the specification leaves to encoders.
    const LEGAL_CHOICES: &'static [LegalChoice<Self>];

    /// Why the reference decoder works out what it does, for families whose results are not written in the packets.
    const REASONS: Option<Reasons<Self>>;

    /// Context and time of stimulus.
    const TIMING: Option<TimingOf<Self>>;

    /// The clauses that packets and fields follow, for people.
    const FIELD_CLAUSES: &'static [FieldClause];

    /// Instructions and clocks in events.
    const INSTRUCTIONS: Option<Instructions<Self>>;

    /// The formats of execution files that the family reads.
    const EXECUTION_FORMATS: &'static [ExecutionFormat<Self>];

    /// Recorded executions of compiled programs.
    const PROGRAMS: Option<Programs<Self>>;

    /// Captures of real hardware.
    const CAPTURES: Option<Captures<Self>>;

    /// How fast the reference models are.
    const BENCH: Option<Bench>;
}

/// The clauses that a field of a packet follows.
#[derive(Clone, Copy, Debug)]
pub struct FieldClause {
    /// The packet, by its name in cases; empty = any.
    pub packet: &'static str,
    /// The field, by its name in dissections; empty = the packet as a whole.
    pub field: &'static str,
    /// Ids in the registry of the family.
    pub clauses: &'static [&'static str],
}

/// The clauses for a field of a packet, or for the packet as a whole; those of this packet come before those of any.
#[must_use]
pub fn clauses_of<P: FamilyRules>(packet: &str, field: &str) -> &'static [&'static str] {
    let of = |name: &str| P::FIELD_CLAUSES.iter().find(|it| it.packet == name && it.field == field);
    of(packet).or_else(|| of("")).map_or(&[], |it| it.clauses)
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
