//! The macrocell as a subject of the contract.

use traceproof_vectors::arm_etm::{Architecture, ArmEtm, FEATURES, Parameters, Policy, READINGS, Stimulus};
use traceproof_vectors::{self as vectors, Capabilities, EncoderSink, Feature, Layer, Refusal};

use super::branches::Levels;
use super::macrocell::Macrocell;

/// A model of a macrocell of architecture 3.
///
/// What a cycle makes comes when the next cycle is known, because a branch packet carries the security state and mode
/// after the branch. At `finish` the latest cycle, everything in the FIFO and triggers that waited for room leave;
/// atoms leave when TraceEnable falls (7.3), so a stimulus ends with a cycle in which it is low.
#[derive(Debug, Default)]
pub struct Encoder {
    running: Option<Running>,
}

#[derive(Debug)]
struct Running {
    macrocell: Macrocell,
    /// The cycle that waits for the next one.
    held: Option<Stimulus>,
}

impl vectors::Encoder<ArmEtm> for Encoder {
    fn capabilities(&self) -> Capabilities {
        let others = [Architecture::V1.feature(), Architecture::V2.feature(), "port_4", "port_16"];
        Capabilities::new([Layer::Packets])
            .with_features(Feature::names(&FEATURES).filter(|feature| !others.contains(feature)))
            .with_readings(READINGS.iter().map(|reading| reading.name))
    }

    fn begin(&mut self, parameters: &Parameters, policy: &Policy) -> Result<(), Refusal> {
        self.running = None;
        if parameters.architecture != Architecture::V3 {
            return Err(Refusal::unsupported(parameters.architecture.feature()));
        }
        parameters
            .check()
            .and_then(|()| policy.check(parameters.architecture))
            .map_err(|(parameter, reason)| Refusal::invalid(parameter, reason))?;
        if parameters.data_only && parameters.cycle_accurate {
            return Err(Refusal::invalid("data_only", "has no P-headers that could carry cycles"));
        }
        self.running = Some(Running { macrocell: Macrocell::new(parameters, policy), held: None });
        Ok(())
    }

    fn step(&mut self, stimulus: &Stimulus, sink: &mut dyn EncoderSink<ArmEtm>) {
        let Some(Running { macrocell, held }) = &mut self.running else { return };
        if let Some(now) = held.replace(stimulus.clone()) {
            macrocell.cycle(&now, levels(stimulus), sink);
        }
    }

    fn finish(&mut self, sink: &mut dyn EncoderSink<ArmEtm>) {
        let Some(Running { mut macrocell, held }) = self.running.take() else { return };
        if let Some(now) = held {
            macrocell.cycle(&now, levels(&now), sink);
        }
        macrocell.finish(sink);
    }
}

const fn levels(stimulus: &Stimulus) -> Levels {
    Levels { non_secure: stimulus.non_secure, hyp: stimulus.hyp }
}
