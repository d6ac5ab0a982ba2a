//! CoreSight formatter: the [deformatter](crate::arm::Deformatter) as a decoder of the contract.

mod dissect;

use traceproof_vectors::arm::FRAME_DATA_BYTES;
use traceproof_vectors::arm_etm_formatter::{ArmEtmFormatter, Event, Parameters, SourceBytes};
use traceproof_vectors::{
    Capabilities, Decoder as Subject, DecoderState, Fault, Layer, Place, Program, Refusal, Sink,
};

pub use dissect::dissect;

use crate::arm::{Deformatter, Discontinuity, FrameListener, Run};

/// The reference deformatter. It takes every framing. Before [`begin`](Subject::begin) it reads a capture in memory.
#[derive(Clone, Debug)]
pub struct Decoder(Deformatter);

impl Default for Decoder {
    fn default() -> Self {
        Self(Deformatter::new(Parameters::default().framing))
    }
}

impl Subject<ArmEtmFormatter> for Decoder {
    fn capabilities(&self) -> Capabilities {
        let mut capabilities = Capabilities::new([Layer::Events]);
        capabilities.warnings = true;
        capabilities
    }

    fn begin(&mut self, parameters: &Parameters, _: &Program) -> Result<(), Refusal> {
        self.0 = Deformatter::new(parameters.framing);
        Ok(())
    }

    fn push(&mut self, chunk: &[u8], sink: &mut dyn Sink<ArmEtmFormatter>) {
        self.0.push(chunk, &mut Events(sink));
    }

    fn finish(&mut self, sink: &mut dyn Sink<ArmEtmFormatter>) {
        self.0.finish(&mut Events(sink));
    }

    fn state(&self) -> DecoderState {
        self.0.shown()
    }

    fn reset(&mut self) {
        self.0.reset();
    }
}

/// Delivers the data of each frame as an event of its own, at its place.
struct Events<'a>(&'a mut dyn Sink<ArmEtmFormatter>);

impl FrameListener for Events<'_> {
    fn data(&mut self, run: Run<'_>) {
        let mut start = 0;
        while let Some(rest) = run.bytes.get(start..).filter(|rest| !rest.is_empty()) {
            let place = run.place(start);
            let next = (1..rest.len().min(FRAME_DATA_BYTES))
                .find(|&length| run.place(start + length).packet != place.packet)
                .unwrap_or_else(|| rest.len().min(FRAME_DATA_BYTES));
            let bytes = SourceBytes(rest.iter().take(next).copied().collect());
            self.0.event(place, &Event::Data { id: run.id.value(), bytes });
            start += next;
        }
    }

    fn discontinuity(&mut self, place: Place, _: Discontinuity) {
        self.0.event(place, &Event::Gap);
    }

    fn fault(&mut self, fault: &Fault) {
        self.0.fault(fault);
    }
}
