//! Bytes -> packets -> events: the contract's decoder.

use alloc::boxed::Box;

use traceproof_vectors::arm_etm::{ArmEtm, Event, Packet, Parameters, READINGS};
use traceproof_vectors::{
    Capabilities, Decoder as Subject, DecoderState, Fault, Layer, Place, Program, Refusal, Sink,
};

use super::flow::Flow;
use super::listener::Listener;
use super::packet::PacketReader;

/// Optional features that this decoder honours.
const FEATURES: [&str; 11] = [
    "etmv3",
    "cycle_accurate",
    "jazelle",
    "data",
    "data_only",
    "alternative_branches",
    "timestamps",
    "vmid",
    "m_profile",
    "bare_port",
    "virtualization",
];

/// The reference decoder of ARM ETMv3.
///
/// Without a program it reports only the number of instructions, and the addresses that the trace carries. Input before
/// [`begin`](Subject::begin) is discarded.
#[derive(Clone, Debug, Default)]
pub struct Decoder {
    without_fast_path: bool,
    stream: Option<Box<Stream>>,
}

#[derive(Clone, Debug)]
struct Stream {
    reader: PacketReader,
    flow: Flow,
}

impl Decoder {
    /// The same decoder without the fast path: it reads every packet byte by byte. What it reports is the same. Holds
    /// from the next `begin` on.
    #[must_use]
    pub fn without_fast_path(self) -> Self {
        Self { without_fast_path: true, ..self }
    }

    /// [`push`](Subject::push) for a sink whose type is known, which is faster.
    pub fn push_into<S>(&mut self, chunk: &[u8], sink: &mut S)
    where
        S: Sink<ArmEtm> + ?Sized,
    {
        if let Some(Stream { reader, flow }) = self.stream.as_deref_mut() {
            reader.push(chunk, &mut Reporter { flow, sink });
        }
    }

    /// [`finish`](Subject::finish) for a sink whose type is known.
    pub fn finish_into<S>(&mut self, sink: &mut S)
    where
        S: Sink<ArmEtm> + ?Sized,
    {
        if let Some(Stream { reader, flow }) = self.stream.as_deref_mut() {
            reader.finish(&mut Reporter { flow, sink });
        }
    }
}

/// Follows packets and reports to a sink.
struct Reporter<'a, S: ?Sized> {
    flow: &'a mut Flow,
    sink: &'a mut S,
}

impl<S: Sink<ArmEtm> + ?Sized> Listener for Reporter<'_, S> {
    #[inline]
    fn packet(&mut self, place: Place, packet: &Packet) {
        self.sink.packet(place, packet);
        self.flow.packet(place, packet, self.sink);
    }

    fn lost(&mut self, fault: &Fault) {
        self.sink.fault(fault);
        self.flow.lose_synchronisation(fault.place, self.sink);
    }

    fn trigger(&mut self, place: Place) {
        self.sink.event(place, &Event::Trigger { when: self.flow.atoms() });
    }

    fn end(&mut self, place: Place, cut_record: Option<&Fault>, cut_packet: bool) {
        if let Some(fault) = cut_record {
            self.sink.fault(fault);
        }
        if cut_packet {
            self.sink.event(place, &Event::Incomplete { when: self.flow.atoms() });
        }
        self.flow.end(place, self.sink);
    }
}

impl Subject<ArmEtm> for Decoder {
    fn capabilities(&self) -> Capabilities {
        Capabilities::new([Layer::Packets, Layer::Events])
            .with_features(FEATURES)
            .with_readings(READINGS.iter().map(|reading| reading.name))
            .with_warnings(true)
    }

    fn begin(&mut self, parameters: &Parameters, program: &Program) -> Result<(), Refusal> {
        self.stream = None;
        let mut reader = PacketReader::new(parameters)?;
        if self.without_fast_path {
            reader = reader.without_fast_path();
        }
        self.stream = Some(Box::new(Stream { reader, flow: Flow::new(parameters, program) }));
        Ok(())
    }

    fn push(&mut self, chunk: &[u8], sink: &mut dyn Sink<ArmEtm>) {
        self.push_into(chunk, sink);
    }

    fn finish(&mut self, sink: &mut dyn Sink<ArmEtm>) {
        self.finish_into(sink);
    }

    fn state(&self) -> DecoderState {
        self.stream.as_deref().map(|stream| stream.flow.shown()).unwrap_or_default()
    }

    fn reset(&mut self) {
        if let Some(Stream { reader, flow }) = self.stream.as_deref_mut() {
            reader.reset();
            flow.reset();
        }
    }
}
