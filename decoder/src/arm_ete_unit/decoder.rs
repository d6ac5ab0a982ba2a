//! Bytes -> records -> events: the contract's decoder.

use alloc::boxed::Box;

use traceproof_vectors::arm_ete_unit::{ArmEteUnit, FEATURES, Parameters, READINGS};
use traceproof_vectors::{
    Capabilities, Decoder as Subject, DecoderState, FaultClass, Feature, Layer, Place, Program, Refusal, Sink,
};

use super::checker::Checker;
use super::report::Report;
use crate::register_log::Records;

/// The reference checker of logs of a trace unit. It takes the parameters of any trace unit and no program.
///
/// Memory does not grow with the log, and neither does work for a record: at most nine words of configurations are
/// closed, and at most 80 findings reported. Before [`begin`](Subject::begin) it uses the default parameters.
#[derive(Clone, Debug, Default)]
pub struct Decoder {
    parameters: Parameters,
    stream: Box<Stream>,
}

/// One stream of logs.
#[derive(Clone, Debug, Default)]
struct Stream {
    records: Records,
    /// Index of the next record.
    index: u64,
    checker: Checker,
    finished: bool,
}

impl Decoder {
    /// A checker that waits for the first byte.
    #[must_use]
    pub fn new(parameters: &Parameters) -> Self {
        Self { parameters: parameters.clone(), ..Self::default() }
    }

    /// [`push`](Subject::push) for a sink whose type is known, which is faster.
    pub fn push_into<S>(&mut self, chunk: &[u8], sink: &mut S)
    where
        S: Sink<ArmEteUnit> + ?Sized,
    {
        let stream = &mut *self.stream;
        let mut rest = chunk;
        while let Some((offset, record)) = stream.records.next(&mut rest) {
            let mut report = stream.report(offset, sink);
            stream.index += 1;
            stream.checker.record(&self.parameters, &record, &mut report);
        }
    }

    /// [`finish`](Subject::finish) for a sink whose type is known.
    pub fn finish_into<S>(&mut self, sink: &mut S)
    where
        S: Sink<ArmEteUnit> + ?Sized,
    {
        let stream = &mut *self.stream;
        if core::mem::replace(&mut stream.finished, true) {
            return;
        }
        if let Some(offset) = stream.records.cut() {
            stream.report(offset, sink).fault(FaultClass::Truncated, 0);
        }
    }
}

impl Stream {
    fn report<'a, S: ?Sized>(&self, byte: u64, sink: &'a mut S) -> Report<'a, S> {
        Report { sink, place: Place { packet: self.index, byte, bit: 0 } }
    }
}

impl Subject<ArmEteUnit> for Decoder {
    fn capabilities(&self) -> Capabilities {
        Capabilities::new([Layer::Packets, Layer::Events])
            .with_features(Feature::names(&FEATURES))
            .with_readings(READINGS.iter().map(|reading| reading.name))
    }

    fn begin(&mut self, parameters: &Parameters, _: &Program) -> Result<(), Refusal> {
        if let Some(parameter) = parameters.contradiction() {
            return Err(Refusal::invalid(parameter, "no trace unit has this value"));
        }
        self.parameters = parameters.clone();
        self.reset();
        Ok(())
    }

    fn push(&mut self, chunk: &[u8], sink: &mut dyn Sink<ArmEteUnit>) {
        self.push_into(chunk, sink);
    }

    fn finish(&mut self, sink: &mut dyn Sink<ArmEteUnit>) {
        self.finish_into(sink);
    }

    fn state(&self) -> DecoderState {
        self.stream.checker.shown_state()
    }

    fn reset(&mut self) {
        *self.stream = Stream::default();
    }
}
