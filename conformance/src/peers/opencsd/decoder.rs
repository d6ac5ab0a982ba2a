//! OpenCSD as a decoder of the contract, whatever the protocol.
//!
//! The library is asked once per stream, when the stream ends: for packets, and for generic elements. What they are in
//! the words of a protocol is [`Translate`].

use std::sync::{Mutex, PoisonError};

use traceproof_vectors::{
    self as vectors, Capabilities, Fault, FaultClass, Place, Program, Protocol, Refusal, Sink,
};

use super::{Host, HostError, Outcome, Source, Stream, elements, packets, takes};

/// Processes that wait for a question. Starting one takes longer than most questions.
static IDLE: Mutex<Vec<Host>> = Mutex::new(Vec::new());

/// A protocol that the library decodes.
pub trait Translate: Protocol {
    /// What the library can do; `packets_only`: its packet processor alone.
    fn capabilities(packets_only: bool) -> Capabilities;

    /// The trace unit of these parameters.
    ///
    /// # Errors
    ///
    /// When the library cannot decode such a stream.
    fn source(parameters: &Self::Parameters, packets_only: bool) -> Result<Source, Refusal>;

    /// The code that the library gets for a program.
    fn code(program: &Program) -> Program {
        program.clone()
    }

    /// Delivers packets, each with its events; without elements only packets.
    fn deliver(
        parameters: &Self::Parameters,
        program: &Program,
        packets: &Outcome,
        elements: Option<&Outcome>,
        sink: &mut dyn Sink<Self>,
    );
}

/// OpenCSD as a decoder of a protocol.
#[derive(Debug)]
pub struct Decoder<P: Translate> {
    packets_only: bool,
    stream: Option<Pending<P>>,
}

/// A stream that has not ended.
#[derive(Debug)]
struct Pending<P: Protocol> {
    parameters: P::Parameters,
    program: Program,
    source: Source,
    bytes: Vec<u8>,
}

impl<P: Translate> Decoder<P> {
    /// Packets and events.
    #[must_use]
    pub const fn new() -> Self {
        Self { packets_only: false, stream: None }
    }

    /// Packets only.
    #[must_use]
    pub const fn packets_only() -> Self {
        Self { packets_only: true, stream: None }
    }
}

impl<P: Translate> Default for Decoder<P> {
    fn default() -> Self {
        Self::new()
    }
}

impl<P: Translate> vectors::Decoder<P> for Decoder<P> {
    fn capabilities(&self) -> Capabilities {
        P::capabilities(self.packets_only)
    }

    fn begin(&mut self, parameters: &P::Parameters, program: &Program) -> Result<(), Refusal> {
        self.stream = None;
        let source = P::source(parameters, self.packets_only)?;
        let program = P::code(program);
        if !self.packets_only && !takes(&program) {
            return Err(Refusal::unsupported("code of less than 4 bytes, or with an odd beginning or end"));
        }
        self.stream = Some(Pending { parameters: parameters.clone(), program, source, bytes: Vec::new() });
        Ok(())
    }

    fn push(&mut self, chunk: &[u8], _: &mut dyn Sink<P>) {
        if let Some(stream) = &mut self.stream {
            stream.bytes.extend_from_slice(chunk);
        }
    }

    /// # Panics
    ///
    /// When OpenCSD crashes; that is a verdict of its own.
    fn finish(&mut self, sink: &mut dyn Sink<P>) {
        let Some(stream) = &mut self.stream else { return };
        match decode(stream, self.packets_only) {
            Ok((packets, elements)) => {
                P::deliver(&stream.parameters, &stream.program, &packets, elements.as_ref(), sink);
            }
            Err(HostError::Deadline(_) | HostError::TooMuch) => {
                sink.fault(&Fault::new(FaultClass::Limit, Place::default()));
            }
            Err(error) => panic!("{error}"),
        }
        stream.bytes.clear();
    }

    fn reset(&mut self) {
        if let Some(stream) = &mut self.stream {
            stream.bytes.clear();
        }
    }
}

fn decode<P: Protocol>(
    stream: &Pending<P>,
    packets_only: bool,
) -> Result<(Outcome, Option<Outcome>), HostError> {
    let question = Stream::new(&stream.source, &stream.bytes);
    let idle = || IDLE.lock().unwrap_or_else(PoisonError::into_inner);
    let mut host = idle().pop().unwrap_or_default();
    let read = packets(&mut host, &question)?;
    let followed = if packets_only { None } else { Some(elements(&mut host, &question, &stream.program)?) };
    idle().push(host);
    Ok((read, followed))
}
