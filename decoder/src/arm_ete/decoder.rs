//! Bytes -> packets -> events in one go: the contract's decoder.

use alloc::boxed::Box;
use core::ops::ControlFlow;

use traceproof_vectors::arm_ete::{ArmEte, FEATURES, Packet, Parameters, READINGS};
use traceproof_vectors::{
    Capabilities, Decoder as Subject, DecoderLimits, DecoderState, Fault, Feature, Layer, Place, Program,
    Refusal, Sink,
};

use super::analyzer::Analyzer;
use super::listener::Listener;
use super::packet::PacketReader;

/// The reference decoder of ARM ETE and ETMv4.
///
/// Without a program it reports what needs no code, and that there is none. Input before [`begin`](Subject::begin) is
/// discarded.
#[derive(Clone, Debug, Default)]
pub struct Decoder {
    limits: DecoderLimits,
    without_fast_path: bool,
    stream: Option<Box<Stream>>,
}

#[derive(Clone, Debug)]
struct Stream {
    reader: PacketReader,
    analyzer: Analyzer,
}

impl Decoder {
    /// The same decoder without the code that only saves time: it reads every packet byte by byte, commits atom by
    /// atom, and goes through the code instruction by instruction. What it reports is the same. Holds from the next
    /// `begin` on.
    #[must_use]
    pub fn without_fast_path(self) -> Self {
        Self { without_fast_path: true, ..self }
    }

    /// [`push`](Subject::push) for a sink whose type is known, which is faster.
    pub fn push_into<S>(&mut self, chunk: &[u8], sink: &mut S)
    where
        S: Sink<ArmEte> + ?Sized,
    {
        if let Some(Stream { reader, analyzer }) = self.stream.as_deref_mut() {
            reader.push(chunk, &mut Reporter { analyzer, sink });
        }
    }

    /// [`finish`](Subject::finish) for a sink whose type is known.
    pub fn finish_into<S>(&mut self, sink: &mut S)
    where
        S: Sink<ArmEte> + ?Sized,
    {
        if let Some(Stream { reader, analyzer }) = self.stream.as_deref_mut() {
            reader.finish(&mut Reporter { analyzer, sink });
        }
    }
}

/// Follows packets and reports to a sink.
struct Reporter<'a, S: ?Sized> {
    analyzer: &'a mut Analyzer,
    sink: &'a mut S,
}

impl<S: Sink<ArmEte> + ?Sized> Listener for Reporter<'_, S> {
    #[inline]
    fn packet(&mut self, place: Place, packet: &Packet) -> ControlFlow<()> {
        self.sink.packet(place, packet);
        self.analyzer.packet(place, packet, self.sink)
    }

    fn lost(&mut self, fault: &Fault) {
        self.sink.fault(fault);
        self.analyzer.lose_synchronisation();
    }

    fn cut(&mut self, fault: &Fault) {
        self.lost(fault);
    }
}

impl Subject<ArmEte> for Decoder {
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
        let mut analyzer = Analyzer::new(parameters, program, &self.limits);
        if self.without_fast_path {
            (reader, analyzer) = (reader.without_fast_path(), analyzer.without_fast_path());
        }
        self.stream = Some(Box::new(Stream { reader, analyzer }));
        Ok(())
    }

    fn push(&mut self, chunk: &[u8], sink: &mut dyn Sink<ArmEte>) {
        self.push_into(chunk, sink);
    }

    fn finish(&mut self, sink: &mut dyn Sink<ArmEte>) {
        self.finish_into(sink);
    }

    fn state(&self) -> DecoderState {
        self.stream.as_deref().map(|stream| stream.analyzer.shown()).unwrap_or_default()
    }

    fn reset(&mut self) {
        if let Some(Stream { reader, analyzer }) = self.stream.as_deref_mut() {
            reader.reset();
            analyzer.lose_synchronisation();
        }
    }
}
