//! The PTM as an encoder of the contract.

use traceproof_vectors::arm_pft::{ArmPft, FEATURES, Parameters, Policy, READINGS, Stimulus};
use traceproof_vectors::{self as vectors, Capabilities, EncoderSink, Feature, Layer, Refusal};

use super::ptm::Ptm;

/// A model of a PTM.
///
/// At `finish` the FIFO empties and nothing else happens: atoms of which no packet was made stay. They are
/// sent at [`Signal::Disable`](vectors::arm_pft::Signal::Disable), which ends a stimulus.
#[derive(Debug, Default)]
pub struct Encoder {
    running: Option<Ptm>,
}

impl vectors::Encoder<ArmPft> for Encoder {
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
        self.running = Some(Ptm::new(parameters, policy));
        Ok(())
    }

    fn step(&mut self, stimulus: &Stimulus, sink: &mut dyn EncoderSink<ArmPft>) {
        if let Some(ptm) = &mut self.running {
            ptm.step(stimulus, sink);
        }
    }

    fn finish(&mut self, sink: &mut dyn EncoderSink<ArmPft>) {
        if let Some(mut ptm) = self.running.take() {
            ptm.finish(sink);
        }
    }
}
