//! The library OpenCSD, in a separate process.
//!
//! OpenCSD is not thread-safe; on bad input it can crash, hang or ask for gigabytes. So nothing of it runs here: a
//! [`Host`] starts the host process, sends it one stream at a time, and ends it when it is late, uses too much memory
//! or answers too much.
//!
//! | question | place |
//! |---|---|
//! | How is the process started and held back? | [`Host`], [`Limits`], [`HostCommand`] |
//! | What comes out of a stream? | [`packets`], [`elements`], [`frames`] |
//! | How fast is the library alone? | [`time`] |
//! | How is it a subject? | [`subject`], [`packet_reader`], [`Decoder`] in [`arm_etm`], [`arm_pft`], [`arm_ete`] |
//! | Which trace unit wrote it? | [`Source`], [`source`] |

pub mod arm_ete;
pub mod arm_etm;
pub mod arm_pft;
mod code;
mod decoder;
mod process;
mod source;

pub use decoder::{Decoder, Translate};
pub use process::{Host, HostCommand, HostError, Limits, set_command};
pub use source::{SourceError, source};
pub use traceproof_opencsd_host::{
    Answer, Context, Data, Element, ElementKind, Framing, Isa, LastInstruction, Layer, Memory, Packet,
    PacketBody, Question, Security, Source, VERSION, etmv3, etmv4, ptm, serve,
};

use std::time::Duration;

use traceproof_vectors::arm_ete::ArmEte;
use traceproof_vectors::arm_etm::ArmEtm;
use traceproof_vectors::arm_pft::ArmPft;
use traceproof_vectors::{MemorySpace, Program};

use crate::Subject;

/// At most so many records are taken from one stream.
pub const MAX_RECORDS: u64 = 1 << 24;

/// The library takes no piece of memory of fewer bytes, as an instruction may be that long.
pub const LEAST_MEMORY: usize = 4;

/// Packet processors and decoders.
#[must_use]
pub fn subject() -> Subject {
    Subject::new("opencsd", VERSION)
        .with_decoder::<ArmEtm>(|| Box::new(arm_etm::Decoder::new()))
        .with_decoder::<ArmPft>(|| Box::new(arm_pft::Decoder::new()))
        .with_decoder::<ArmEte>(|| Box::new(arm_ete::Decoder::new()))
}

/// Packet processors alone; that of ETMv3 takes data trace, too.
#[must_use]
pub fn packet_reader() -> Subject {
    Subject::new("opencsd-packets", VERSION)
        .with_decoder::<ArmEtm>(|| Box::new(arm_etm::Decoder::packets_only()))
        .with_decoder::<ArmPft>(|| Box::new(arm_pft::Decoder::packets_only()))
        .with_decoder::<ArmEte>(|| Box::new(arm_ete::Decoder::packets_only()))
}

/// A stream: the trace, its source, and its framing.
#[derive(Clone, Copy, Debug)]
pub struct Stream<'a> {
    /// The trace units.
    pub sources: &'a [Source],
    /// How their bytes lie in the trace.
    pub framing: Framing,
    /// The bytes.
    pub trace: &'a [u8],
    /// How many bytes the library gets at once; all of them without a number.
    pub chunk: Option<u32>,
    /// Ask for the library's own text on each record, too.
    pub text: bool,
}

impl<'a> Stream<'a> {
    /// The bytes of a single source.
    #[must_use]
    pub const fn new(source: &'a Source, trace: &'a [u8]) -> Self {
        let sources = std::slice::from_ref(source);
        Self { sources, framing: Framing::Source, trace, chunk: None, text: false }
    }
}

/// What the library made of a stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Packets, elements and faults in the order in which they came.
    pub records: Vec<Answer>,
    /// How many bytes of the trace the library took.
    pub consumed: u64,
    /// How many packets it made.
    pub packets: u64,
    /// How many generic elements it made.
    pub elements: u64,
    /// How many instructions were in ranges.
    pub instructions: u64,
    /// How long the library was busy with the stream, once per round.
    pub times: Vec<Duration>,
}

impl Outcome {
    /// The packets.
    pub fn packets(&self) -> impl Iterator<Item = &Packet> {
        self.records.iter().filter_map(|record| match record {
            Answer::Packet(packet) => Some(packet),
            _ => None,
        })
    }

    /// The bytes of sources.
    pub fn data(&self) -> impl Iterator<Item = &Data> {
        self.records.iter().filter_map(|record| match record {
            Answer::Data(data) => Some(data),
            _ => None,
        })
    }

    /// The generic elements.
    pub fn elements(&self) -> impl Iterator<Item = &Element> {
        self.records.iter().filter_map(|record| match record {
            Answer::Element(element) => Some(element),
            _ => None,
        })
    }
}

/// The packets of a stream.
///
/// # Errors
///
/// When the library refuses the configuration, or the process dies, is late or answers too much.
pub fn packets(host: &mut Host, stream: &Stream<'_>) -> Result<Outcome, HostError> {
    ask(host, Layer::Packets, stream, &Program::new(), None)
}

/// The generic elements of a stream over a program.
///
/// # Errors
///
/// As for [`packets`].
pub fn elements(host: &mut Host, stream: &Stream<'_>, program: &Program) -> Result<Outcome, HostError> {
    ask(host, Layer::Elements, stream, program, None)
}

/// What the library's deformatter takes out of frames. `chunk`: how many bytes it gets at once; all of them without a
/// number.
///
/// # Errors
///
/// As for [`packets`].
pub fn frames(
    host: &mut Host,
    framing: Framing,
    trace: &[u8],
    chunk: Option<u32>,
) -> Result<Outcome, HostError> {
    let stream = Stream { sources: &[], framing, trace, chunk, text: false };
    ask(host, Layer::Frames, &stream, &Program::new(), None)
}

/// Decodes a stream `rounds` times, only counting: [`Outcome::times`] is what the library alone took, without setting
/// up, pipes and translation.
///
/// # Errors
///
/// As for [`packets`].
pub fn time(
    host: &mut Host,
    layer: Layer,
    stream: &Stream<'_>,
    program: &Program,
    rounds: u32,
) -> Result<Outcome, HostError> {
    ask(host, layer, stream, program, Some(rounds))
}

/// The code by address, sections that touch joined: the library takes no memory of less than [`LEAST_MEMORY`] bytes,
/// and reads no instruction across two.
fn memory(program: &Program) -> Vec<(u64, Vec<u8>)> {
    let mut memory: Vec<(u64, Vec<u8>)> = Vec::new();
    for section in program.seen_in(MemorySpace::ANY).sections() {
        match memory.last_mut() {
            Some((address, bytes)) if *address + bytes.len() as u64 == section.address.0 => {
                bytes.extend_from_slice(&section.bytes);
            }
            _ => memory.push((section.address.0, section.bytes.clone())),
        }
    }
    memory
}

/// Whether the library takes the code: memory of at least [`LEAST_MEMORY`] bytes each, from an even address to an even
/// address.
fn takes(program: &Program) -> bool {
    memory(program).iter().all(|(address, bytes)| {
        bytes.len() >= LEAST_MEMORY && address.is_multiple_of(2) && bytes.len().is_multiple_of(2)
    })
}

fn ask(
    host: &mut Host,
    layer: Layer,
    stream: &Stream<'_>,
    program: &Program,
    rounds: Option<u32>,
) -> Result<Outcome, HostError> {
    let length = |bytes: &[u8]| u32::try_from(bytes.len()).map_err(|_| HostError::TooLong);
    let sections = if layer == Layer::Elements { memory(program) } else { Vec::new() };
    let memory = sections
        .iter()
        .map(|(address, bytes)| Ok(Memory { address: *address, length: length(bytes)? }))
        .collect::<Result<_, HostError>>()?;
    let question = Question {
        layer,
        sources: stream.sources.to_vec(),
        framing: stream.framing,
        memory,
        trace: length(stream.trace)?,
        chunk: stream.chunk,
        text: stream.text,
        records: MAX_RECORDS,
        rounds,
    };
    let mut payload: Vec<&[u8]> = sections.iter().map(|(_, bytes)| bytes.as_ref()).collect();
    payload.push(stream.trace);
    let mut outcome = Outcome::default();
    let last = host.ask(&question, &payload, &mut |answer| outcome.records.push(answer))?;
    match last {
        Answer::Done { consumed, packets, elements, instructions, nanoseconds } => {
            let times = nanoseconds.into_iter().map(Duration::from_nanos).collect();
            Ok(Outcome { consumed, packets, elements, instructions, times, ..outcome })
        }
        Answer::Refused { error, step } => Err(HostError::Refused { error, step }),
        _ => Err(HostError::Garbled),
    }
}
