//! The macrocell of the architecture that the parameters name.

use traceproof_vectors::arm_etm::{Architecture, ArmEtm, Parameters, Policy, Stimulus};
use traceproof_vectors::{self as vectors, Capabilities, EncoderSink, Refusal};

use super::{v1, v2, v3};

/// A model of an ARM ETM.
#[derive(Debug, Default)]
pub struct Encoder {
    macrocell: Option<Macrocell>,
}

/// The architecture in use.
#[derive(Debug)]
enum Macrocell {
    V1(v1::Encoder),
    V2(v2::Encoder),
    V3(v3::Encoder),
}

impl vectors::Encoder<ArmEtm> for Encoder {
    fn capabilities(&self) -> Capabilities {
        let mut claims = v2::Encoder::default().capabilities();
        claims.features.extend(v1::Encoder::default().capabilities().features);
        claims.features.extend(v3::Encoder::default().capabilities().features);
        claims
    }

    fn begin(&mut self, parameters: &Parameters, policy: &Policy) -> Result<(), Refusal> {
        self.macrocell = None;
        self.macrocell = Some(match parameters.architecture {
            Architecture::V1 => {
                let mut encoder = v1::Encoder::default();
                encoder.begin(parameters, policy)?;
                Macrocell::V1(encoder)
            }
            Architecture::V2 => {
                let mut encoder = v2::Encoder::default();
                encoder.begin(parameters, policy)?;
                Macrocell::V2(encoder)
            }
            Architecture::V3 => {
                let mut encoder = v3::Encoder::default();
                encoder.begin(parameters, policy)?;
                Macrocell::V3(encoder)
            }
        });
        Ok(())
    }

    fn step(&mut self, stimulus: &Stimulus, sink: &mut dyn EncoderSink<ArmEtm>) {
        match &mut self.macrocell {
            Some(Macrocell::V1(encoder)) => encoder.step(stimulus, sink),
            Some(Macrocell::V2(encoder)) => encoder.step(stimulus, sink),
            Some(Macrocell::V3(encoder)) => encoder.step(stimulus, sink),
            None => {}
        }
    }

    fn finish(&mut self, sink: &mut dyn EncoderSink<ArmEtm>) {
        match &mut self.macrocell {
            Some(Macrocell::V1(encoder)) => encoder.finish(sink),
            Some(Macrocell::V2(encoder)) => encoder.finish(sink),
            Some(Macrocell::V3(encoder)) => encoder.finish(sink),
            None => {}
        }
    }
}
