//! The macrocell as a subject of the contract.

use alloc::collections::VecDeque;

use traceproof_vectors::arm_etm::{Architecture, ArmEtm, Parameters, Policy, READINGS, Stimulus};
use traceproof_vectors::{self as vectors, Capabilities, EncoderSink, Layer, Refusal};

use super::branches::longest_address;
use super::macrocell::{AHEAD, Macrocell};

/// Features of [`FEATURES`](traceproof_vectors::arm_etm::FEATURES) that this architecture can have.
const CLAIMS: [&str; 5] = [Architecture::V1.feature(), "port_4", "port_16", "cycle_accurate", "jazelle"];

/// A model of a macrocell of architecture 1.
///
/// It makes one record for each cycle of stimulus, three cycles after it, and at the end as many more as it takes to
/// drain the FIFO.
#[derive(Debug, Default)]
pub struct Encoder {
    running: Option<Running>,
}

#[derive(Debug)]
struct Running {
    macrocell: Macrocell,
    /// Cycles whose records wait for what follows them.
    held: VecDeque<Stimulus>,
}

impl vectors::Encoder<ArmEtm> for Encoder {
    fn capabilities(&self) -> Capabilities {
        Capabilities::new([Layer::Packets])
            .with_features(CLAIMS)
            .with_readings(READINGS.iter().map(|reading| reading.name))
    }

    fn begin(&mut self, parameters: &Parameters, policy: &Policy) -> Result<(), Refusal> {
        self.running = None;
        if parameters.architecture != Architecture::V1 {
            return Err(Refusal::unsupported(parameters.architecture.feature()));
        }
        parameters
            .check()
            .and_then(|()| policy.check(parameters.architecture))
            .map_err(|(parameter, reason)| Refusal::invalid(parameter, reason))?;
        if usize::from(policy.fifo_size) < longest_address(parameters) {
            return Err(Refusal::invalid("fifo_size", "must hold a full branch address and its Context ID"));
        }
        self.running = Some(Running {
            macrocell: Macrocell::new(parameters, policy),
            held: VecDeque::with_capacity(AHEAD),
        });
        Ok(())
    }

    fn step(&mut self, stimulus: &Stimulus, sink: &mut dyn EncoderSink<ArmEtm>) {
        let Some(Running { macrocell, held }) = &mut self.running else { return };
        if held.len() == AHEAD
            && let Some(now) = held.pop_front()
        {
            held.push_back(stimulus.clone());
            macrocell.cycle(&now, held, sink);
        } else {
            held.push_back(stimulus.clone());
        }
    }

    fn finish(&mut self, sink: &mut dyn EncoderSink<ArmEtm>) {
        let Some(Running { mut macrocell, mut held }) = self.running.take() else { return };
        while let Some(now) = held.pop_front() {
            macrocell.cycle(&now, &held, sink);
        }
        while !macrocell.is_drained() {
            macrocell.cycle(&Stimulus::default(), &held, sink);
        }
    }
}
