//! Bytes -> records -> events: the contract's decoder.

use alloc::boxed::Box;

use traceproof_vectors::itanium_pmu::{FEATURES, ItaniumPmu, Parameters, READINGS};
use traceproof_vectors::{
    Capabilities, Decoder as Subject, DecoderLimits, DecoderState, FaultClass, Feature, Layer, Place,
    Program, Refusal, Sink,
};

use super::follower::Follower;
use super::report::Report;
use crate::register_log::Records;

/// The reference decoder of Itanium event qualification. It takes all parameters and no program.
///
/// Before [`begin`](Subject::begin) it uses the default parameters.
#[derive(Clone, Debug, Default)]
pub struct Decoder {
    parameters: Parameters,
    limits: DecoderLimits,
    stream: Box<Stream>,
}

/// One log.
#[derive(Clone, Debug, Default)]
struct Stream {
    records: Records,
    /// Index of the next record.
    index: u64,
    follower: Follower,
    finished: bool,
}

impl Decoder {
    /// A decoder that waits for the first byte.
    #[must_use]
    pub fn new(parameters: &Parameters) -> Self {
        Self { parameters: parameters.clone(), ..Self::default() }
    }

    /// [`push`](Subject::push) for a sink whose type is known, which is faster.
    pub fn push_into<S>(&mut self, chunk: &[u8], sink: &mut S)
    where
        S: Sink<ItaniumPmu> + ?Sized,
    {
        let stream = &mut *self.stream;
        let mut rest = chunk;
        while let Some((offset, record)) = stream.records.next(&mut rest) {
            let mut report = stream.report(offset, sink);
            stream.index += 1;
            stream.follower.record(&self.parameters, &record, &mut report);
        }
    }

    /// [`finish`](Subject::finish) for a sink whose type is known.
    pub fn finish_into<S>(&mut self, sink: &mut S)
    where
        S: Sink<ItaniumPmu> + ?Sized,
    {
        let stream = &mut *self.stream;
        if core::mem::replace(&mut stream.finished, true) {
            return;
        }
        let mut cut = false;
        if let Some(offset) = stream.records.cut() {
            stream.report(offset, sink).fault(FaultClass::Truncated, 0);
            cut = true;
        }
        stream.index += u64::from(cut);
        let mut report = stream.report(stream.records.end(), sink);
        stream.follower.finish(&self.parameters, &mut report);
    }
}

impl Stream {
    fn report<'a, S: ?Sized>(&self, byte: u64, sink: &'a mut S) -> Report<'a, S> {
        Report { sink, place: Place { packet: self.index, byte, bit: 0 } }
    }
}

impl Subject<ItaniumPmu> for Decoder {
    fn capabilities(&self) -> Capabilities {
        Capabilities::new([Layer::Packets, Layer::Events])
            .with_features(Feature::names(&FEATURES))
            .with_readings(READINGS.iter().map(|reading| reading.name))
            .with_warnings(true)
    }

    fn set_limits(&mut self, limits: &DecoderLimits) {
        self.limits = *limits;
    }

    fn begin(&mut self, parameters: &Parameters, _: &Program) -> Result<(), Refusal> {
        self.parameters = parameters.clone();
        self.reset();
        Ok(())
    }

    fn push(&mut self, chunk: &[u8], sink: &mut dyn Sink<ItaniumPmu>) {
        self.push_into(chunk, sink);
    }

    fn finish(&mut self, sink: &mut dyn Sink<ItaniumPmu>) {
        self.finish_into(sink);
    }

    fn state(&self) -> DecoderState {
        self.stream.follower.shown()
    }

    fn reset(&mut self) {
        *self.stream = Stream { follower: Follower::new(&self.limits), ..Stream::default() };
    }
}
