//! The macrocell as a subject of the contract.

use traceproof_vectors::arm_etm::{Architecture, ArmEtm, Parameters, Policy, READINGS, Stimulus};
use traceproof_vectors::{self as vectors, Capabilities, EncoderSink, Layer, Refusal};

use super::macrocell::Macrocell;

/// Features of [`FEATURES`](traceproof_vectors::arm_etm::FEATURES) that this architecture can have.
const CLAIMS: [&str; 5] = [Architecture::V2.feature(), "port_4", "port_16", "cycle_accurate", "jazelle"];

/// A model of a macrocell of architecture 2.
///
/// It makes one record per cycle of stimulus. If tracing is to start in the very first one, a record for the TFO
/// precedes it; at the end as many follow as it takes to drain the FIFO. A cycle's record comes when the next cycle is
/// known.
#[derive(Debug, Default)]
pub struct Encoder {
    running: Option<Running>,
}

#[derive(Debug)]
struct Running {
    macrocell: Macrocell,
    /// The cycle whose record waits for the next one.
    held: Option<Stimulus>,
}

impl vectors::Encoder<ArmEtm> for Encoder {
    fn capabilities(&self) -> Capabilities {
        Capabilities::new([Layer::Packets])
            .with_features(CLAIMS)
            .with_readings(READINGS.iter().map(|reading| reading.name))
    }

    fn begin(&mut self, parameters: &Parameters, policy: &Policy) -> Result<(), Refusal> {
        self.running = None;
        if parameters.architecture != Architecture::V2 {
            return Err(Refusal::unsupported(parameters.architecture.feature()));
        }
        parameters
            .check()
            .and_then(|()| policy.check(parameters.architecture))
            .map_err(|(parameter, reason)| Refusal::invalid(parameter, reason))?;
        self.running = Some(Running { macrocell: Macrocell::new(parameters, policy), held: None });
        Ok(())
    }

    fn step(&mut self, stimulus: &Stimulus, sink: &mut dyn EncoderSink<ArmEtm>) {
        let Some(Running { macrocell, held }) = &mut self.running else { return };
        match held.replace(stimulus.clone()) {
            Some(now) => macrocell.cycle(&now, Some(stimulus), sink),
            None if stimulus.trace_enable && stimulus.instruction.is_some() => {
                macrocell.cycle(&Stimulus::default(), Some(stimulus), sink);
            }
            None => {}
        }
    }

    fn finish(&mut self, sink: &mut dyn EncoderSink<ArmEtm>) {
        let Some(Running { mut macrocell, held }) = self.running.take() else { return };
        if let Some(now) = held {
            macrocell.cycle(&now, None, sink);
        }
        while !macrocell.is_drained() {
            macrocell.cycle(&Stimulus::default(), None, sink);
        }
    }
}
