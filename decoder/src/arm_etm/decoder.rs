//! The decoder of the architecture that the parameters name.

use alloc::string::String;

use traceproof_vectors::arm_etm::{Architecture, ArmEtm, Parameters};
use traceproof_vectors::{
    Capabilities, Decoder as Subject, DecoderLimits, DecoderState, Program, Refusal, Sink,
};

use super::{v1, v2, v3};

/// The reference decoder of ARM ETM.
///
/// Input before [`begin`](Subject::begin) is discarded.
#[derive(Clone, Debug, Default)]
pub struct Decoder {
    limits: DecoderLimits,
    without_fast_path: bool,
    inner: Option<Inner>,
}

/// The architecture in use.
#[derive(Clone, Debug)]
#[allow(
    clippy::large_enum_variant,
    reason = "there is one for each stream, and a box would be in the way of every chunk"
)]
enum Inner {
    V1(v1::Decoder),
    V2(v2::Decoder),
    V3(v3::Decoder),
}

impl Decoder {
    /// The same decoder without the fast path, which only ETMv3 has: see [`v3::Decoder::without_fast_path`]. Holds from
    /// the next `begin` on.
    #[must_use]
    pub fn without_fast_path(self) -> Self {
        Self { without_fast_path: true, ..self }
    }

    /// [`push`](Subject::push) for a sink whose type is known, which is faster.
    pub fn push_into<S>(&mut self, chunk: &[u8], sink: &mut S)
    where
        S: Sink<ArmEtm> + ?Sized,
    {
        match &mut self.inner {
            Some(Inner::V1(decoder)) => decoder.push_into(chunk, sink),
            Some(Inner::V2(decoder)) => decoder.push_into(chunk, sink),
            Some(Inner::V3(decoder)) => decoder.push_into(chunk, sink),
            None => {}
        }
    }

    /// [`finish`](Subject::finish) for a sink whose type is known.
    pub fn finish_into<S>(&mut self, sink: &mut S)
    where
        S: Sink<ArmEtm> + ?Sized,
    {
        match &mut self.inner {
            Some(Inner::V1(decoder)) => decoder.finish_into(sink),
            Some(Inner::V2(decoder)) => decoder.finish_into(sink),
            Some(Inner::V3(decoder)) => decoder.finish_into(sink),
            None => {}
        }
    }
}

impl Subject<ArmEtm> for Decoder {
    fn capabilities(&self) -> Capabilities {
        let newer = [v2::Decoder::default().capabilities(), v3::Decoder::default().capabilities()];
        let features = newer.iter().flat_map(|capabilities| capabilities.features.iter().map(String::as_str));
        v1::Decoder::default().capabilities().with_features(features)
    }

    fn set_limits(&mut self, limits: &DecoderLimits) {
        self.limits = *limits;
    }

    fn begin(&mut self, parameters: &Parameters, program: &Program) -> Result<(), Refusal> {
        self.inner = None;
        self.inner = Some(match parameters.architecture {
            Architecture::V1 => {
                let mut decoder = v1::Decoder::default();
                decoder.set_limits(&self.limits);
                decoder.begin(parameters, program)?;
                Inner::V1(decoder)
            }
            Architecture::V2 => {
                let mut decoder = v2::Decoder::default();
                decoder.begin(parameters, program)?;
                Inner::V2(decoder)
            }
            Architecture::V3 => {
                let mut decoder = v3::Decoder::default();
                if self.without_fast_path {
                    decoder = decoder.without_fast_path();
                }
                decoder.begin(parameters, program)?;
                Inner::V3(decoder)
            }
        });
        Ok(())
    }

    fn push(&mut self, chunk: &[u8], sink: &mut dyn Sink<ArmEtm>) {
        self.push_into(chunk, sink);
    }

    fn finish(&mut self, sink: &mut dyn Sink<ArmEtm>) {
        self.finish_into(sink);
    }

    fn state(&self) -> DecoderState {
        match &self.inner {
            Some(Inner::V1(decoder)) => decoder.state(),
            Some(Inner::V2(decoder)) => decoder.state(),
            Some(Inner::V3(decoder)) => decoder.state(),
            None => DecoderState::default(),
        }
    }

    fn reset(&mut self) {
        match &mut self.inner {
            Some(Inner::V1(decoder)) => decoder.reset(),
            Some(Inner::V2(decoder)) => decoder.reset(),
            Some(Inner::V3(decoder)) => decoder.reset(),
            None => {}
        }
    }
}
