//! OpenCSD's ETMv3 packet processor and decoder as a decoder of the contract.
//!
//! The library is asked once per stream, when the stream ends: for packets, and for generic elements. The adaptor
//! translates and adds nothing, with one exception: elements carry only the flow of instructions, so other information
//! comes from the packets. An [`Event::Atom`](traceproof_vectors::arm_etm::Event::Atom) is an atom of a P-header with
//! the address from the element of the same packet.
//!
//! A fatal answer to the elements ends the events there; packets continue.

mod events;
mod packet;
mod parameters;

use std::sync::{Mutex, PoisonError};

use traceproof_vectors::arm_etm::{ArmEtm, Parameters};
use traceproof_vectors::{
    Capabilities, Decoder as Subject, Fault, FaultClass, FaultDetail, Layer, Place, Program, Refusal, Sink,
};

pub use parameters::configuration;

use super::{Host, HostError, Outcome, PacketBody, Source, Stream, elements, etmv3, packets};
use events::Events;

/// What the decoder can do; the packet processor also takes data trace.
const FEATURES: [&str; 7] =
    ["etmv3", "cycle_accurate", "alternative_branches", "timestamps", "vmid", "m_profile", "virtualization"];

const DATA_FEATURES: [&str; 2] = ["data", "data_only"];

/// Processes that wait for a question. Starting one takes longer than most questions.
static IDLE: Mutex<Vec<Host>> = Mutex::new(Vec::new());

/// OpenCSD as a decoder of ETMv3.
#[derive(Debug)]
pub struct Decoder {
    packets_only: bool,
    stream: Option<Pending>,
}

/// A stream that has not ended.
#[derive(Debug)]
struct Pending {
    parameters: Parameters,
    program: Program,
    bytes: Vec<u8>,
}

impl Decoder {
    /// Packets and events, of instruction trace: OpenCSD's decoder refuses data trace.
    #[must_use]
    pub const fn new() -> Self {
        Self { packets_only: false, stream: None }
    }

    /// Packets only, of instruction and data trace.
    #[must_use]
    pub const fn packets_only() -> Self {
        Self { packets_only: true, stream: None }
    }
}

impl Default for Decoder {
    fn default() -> Self {
        Self::new()
    }
}

impl Subject<ArmEtm> for Decoder {
    fn capabilities(&self) -> Capabilities {
        let capabilities = if self.packets_only {
            Capabilities::new([Layer::Packets]).with_features(DATA_FEATURES)
        } else {
            Capabilities::new([Layer::Packets, Layer::Events])
        };
        capabilities.with_features(FEATURES).with_faults(FaultDetail::Class)
    }

    fn begin(&mut self, parameters: &Parameters, program: &Program) -> Result<(), Refusal> {
        self.stream = None;
        configuration(parameters)?;
        if !self.packets_only && (parameters.traces_data() || parameters.data_only) {
            return Err(Refusal::unsupported(if parameters.data_only { "data_only" } else { "data" }));
        }
        if !self.packets_only && !super::takes(program) {
            return Err(Refusal::unsupported("code of less than 4 bytes, or with an odd beginning or end"));
        }
        self.stream =
            Some(Pending { parameters: parameters.clone(), program: program.clone(), bytes: Vec::new() });
        Ok(())
    }

    fn push(&mut self, chunk: &[u8], _: &mut dyn Sink<ArmEtm>) {
        if let Some(stream) = &mut self.stream {
            stream.bytes.extend_from_slice(chunk);
        }
    }

    /// # Panics
    ///
    /// When OpenCSD crashes; that is a verdict of its own.
    fn finish(&mut self, sink: &mut dyn Sink<ArmEtm>) {
        let Some(stream) = &mut self.stream else { return };
        match decode(stream, self.packets_only) {
            Ok((packets, elements)) => deliver(stream, &packets, elements.as_ref(), sink),
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

fn decode(stream: &Pending, packets_only: bool) -> Result<(Outcome, Option<Outcome>), HostError> {
    let Ok(configuration) = configuration(&stream.parameters) else { return Ok(Default::default()) };
    let source = Source::Etmv3(configuration);
    let question = Stream::new(&source, &stream.bytes);
    let idle = || IDLE.lock().unwrap_or_else(PoisonError::into_inner);
    let mut host = idle().pop().unwrap_or_default();
    let read = packets(&mut host, &question)?;
    let followed = if packets_only { None } else { Some(elements(&mut host, &question, &stream.program)?) };
    idle().push(host);
    Ok((read, followed))
}

/// Delivers packets, each with its events.
fn deliver(stream: &Pending, packets: &Outcome, elements: Option<&Outcome>, sink: &mut dyn Sink<ArmEtm>) {
    let Pending { parameters, program, .. } = stream;
    let has_code = !program.sections().is_empty();
    let mut events = elements.map(|elements| Events::new(parameters, has_code, elements));
    let mut index = 0;
    for read in packets.packets() {
        let PacketBody::Etmv3(body) = &read.body;
        let place = Place { packet: index, byte: read.byte.into(), bit: 0 };
        match body {
            etmv3::Body::NotSynchronised => continue,
            etmv3::Body::BadSequence { of } => sink.fault(&fault(place, bad_sequence(*of))),
            etmv3::Body::BadTraceMode { .. } => sink.fault(&fault(place, FaultClass::IllegalInState)),
            etmv3::Body::Reserved | etmv3::Body::Other { .. } => {
                sink.fault(&fault(place, FaultClass::ReservedEncoding));
            }
            body => {
                if let Some(packet) = packet::packet(body, &read.bytes, parameters) {
                    sink.packet(place, &packet);
                }
                if let Some(events) = &mut events {
                    events.packet(place, body, &read.bytes, sink);
                }
            }
        }
        index += 1;
    }
}

/// `of`: the type of the packet (`ocsd_etmv3_pkt_type`); 4 is A-sync.
const fn bad_sequence(of: u32) -> FaultClass {
    if of == 4 { FaultClass::Framing } else { FaultClass::ReservedEncoding }
}

const fn fault(place: Place, class: FaultClass) -> Fault {
    Fault::new(class, place)
}
