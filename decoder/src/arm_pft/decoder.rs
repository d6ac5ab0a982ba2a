//! Bytes -> packets -> events in one go: the contract's decoder.

use alloc::boxed::Box;

use traceproof_vectors::arm_pft::{ArmPft, FEATURES, Packet, Parameters, READINGS};
use traceproof_vectors::{
    Capabilities, Decoder as Subject, DecoderLimits, DecoderState, Fault, Feature, Layer, Place, Program,
    Refusal, Sink,
};

use super::flow::Flow;
use super::listener::Listener;
use super::packet::PacketReader;

/// The reference decoder of ARM PFT.
///
/// Without a program it reports where branches lead, and that there is no code. Input before
/// [`begin`](Subject::begin) is discarded.
#[derive(Clone, Debug, Default)]
pub struct Decoder {
    limits: DecoderLimits,
    without_fast_path: bool,
    stream: Option<Box<Stream>>,
}

#[derive(Clone, Debug)]
struct Stream {
    reader: PacketReader,
    flow: Flow,
}

impl Decoder {
    /// The same decoder without the code that only saves time: it reads every packet byte by byte, and goes
    /// through the code instruction by instruction. What it reports is the same. Holds from the next `begin`
    /// on.
    #[must_use]
    pub fn without_fast_path(self) -> Self {
        Self { without_fast_path: true, ..self }
    }

    /// [`push`](Subject::push) for a sink whose type is known, which is faster.
    pub fn push_into<S>(&mut self, chunk: &[u8], sink: &mut S)
    where
        S: Sink<ArmPft> + ?Sized,
    {
        if let Some(Stream { reader, flow }) = self.stream.as_deref_mut() {
            reader.push(chunk, &mut Reporter { flow, sink });
        }
    }

    /// [`finish`](Subject::finish) for a sink whose type is known.
    pub fn finish_into<S>(&mut self, sink: &mut S)
    where
        S: Sink<ArmPft> + ?Sized,
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

impl<S: Sink<ArmPft> + ?Sized> Listener for Reporter<'_, S> {
    #[inline]
    fn packet(&mut self, place: Place, packet: &Packet) {
        self.sink.packet(place, packet);
        self.flow.packet(place, packet, self.sink);
    }

    fn lost(&mut self, fault: &Fault) {
        self.sink.fault(fault);
        self.flow.lose_synchronisation();
    }

    fn cut(&mut self, fault: &Fault) {
        self.lost(fault);
    }
}

impl Subject<ArmPft> for Decoder {
    fn capabilities(&self) -> Capabilities {
        Capabilities::new([Layer::Packets, Layer::Events])
            .with_features(Feature::names(&FEATURES))
            .with_readings(READINGS.iter().map(|reading| reading.name))
            .with_warnings(true)
    }

    fn set_limits(&mut self, limits: &DecoderLimits) {
        self.limits = *limits;
    }

    fn begin(&mut self, parameters: &Parameters, program: &Program) -> Result<(), Refusal> {
        self.stream = None;
        let mut reader = PacketReader::new(parameters)?;
        let mut flow = Flow::new(parameters, program, &self.limits);
        if self.without_fast_path {
            (reader, flow) = (reader.without_fast_path(), flow.without_fast_path());
        }
        self.stream = Some(Box::new(Stream { reader, flow }));
        Ok(())
    }

    fn push(&mut self, chunk: &[u8], sink: &mut dyn Sink<ArmPft>) {
        self.push_into(chunk, sink);
    }

    fn finish(&mut self, sink: &mut dyn Sink<ArmPft>) {
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
