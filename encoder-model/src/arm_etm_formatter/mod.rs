//! CoreSight formatter: the [formatter](crate::arm::Formatter) as an encoder of the contract.

use alloc::vec::Vec;

use traceproof_vectors::arm::{FormatterPolicy, TraceId};
use traceproof_vectors::arm_etm_formatter::{ArmEtmFormatter, Parameters, Stimulus};
use traceproof_vectors::{self as vectors, Capabilities, EncoderSink, Layer, Refusal};

use crate::arm::Formatter;

/// The reference formatter. Bytes of an ID that no source can have are not taken. Nothing is left for `finish`: what
/// waits leaves at a flush, and a formatter without one keeps it.
#[derive(Clone, Debug, Default)]
pub struct Encoder(Option<Formatter>);

impl vectors::Encoder<ArmEtmFormatter> for Encoder {
    fn capabilities(&self) -> Capabilities {
        Capabilities::new([Layer::Events])
    }

    /// The framing is that of the parameters, whatever the policy says.
    fn begin(&mut self, parameters: &Parameters, policy: &FormatterPolicy) -> Result<(), Refusal> {
        self.0 = Some(Formatter::new(FormatterPolicy { framing: parameters.framing, ..*policy }));
        Ok(())
    }

    fn step(&mut self, stimulus: &Stimulus, sink: &mut dyn EncoderSink<ArmEtmFormatter>) {
        let Some(formatter) = &mut self.0 else { return };
        let mut wire = Vec::new();
        match stimulus {
            Stimulus::Data { id, bytes } => {
                if let Some(id) = TraceId::new(*id) {
                    // An error has taken nothing.
                    let _ = formatter.push(id, &bytes.0, &mut wire);
                }
            }
            Stimulus::Trigger => formatter.trigger(&mut wire),
            Stimulus::Idle(count) => formatter.idle(u32::from(*count), &mut wire),
            Stimulus::Flush => formatter.flush(&mut wire),
        }
        sink.wire(&wire);
    }

    fn finish(&mut self, _: &mut dyn EncoderSink<ArmEtmFormatter>) {}
}
