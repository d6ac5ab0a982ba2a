//! The trace unit as an encoder of the contract.

use traceproof_vectors::arm_ete::{ArmEte, FEATURES, Parameters, Policy, READINGS, Stimulus};
use traceproof_vectors::{self as vectors, Capabilities, EncoderSink, Feature, Layer, Refusal};

use super::unit::TraceUnit;

/// A model of a trace unit.
///
/// At `finish` the buffer empties and nothing else happens: what is held stays. It is sent at
/// [`Signal::Disable`](vectors::arm_ete::Signal::Disable), which ends a stimulus.
#[derive(Debug, Default)]
pub struct Encoder {
    running: Option<TraceUnit>,
}

impl vectors::Encoder<ArmEte> for Encoder {
    fn capabilities(&self) -> Capabilities {
        Capabilities::new([Layer::Packets])
            .with_features(Feature::names(&FEATURES))
            .with_readings(READINGS.iter().map(|reading| reading.name))
    }

    fn begin(&mut self, parameters: &Parameters, policy: &Policy) -> Result<(), Refusal> {
        self.running = None;
        parameters
            .check()
            .and_then(|()| policy.check(parameters))
            .map_err(|(parameter, reason)| Refusal::invalid(parameter, reason))?;
        self.running = Some(TraceUnit::new(parameters, policy));
        Ok(())
    }

    fn step(&mut self, stimulus: &Stimulus, sink: &mut dyn EncoderSink<ArmEte>) {
        if let Some(unit) = &mut self.running {
            unit.step(stimulus, sink);
        }
    }

    fn finish(&mut self, sink: &mut dyn EncoderSink<ArmEte>) {
        if let Some(mut unit) = self.running.take() {
            unit.finish(sink);
        }
    }
}
