//! What judging the CoreSight formatter needs.

use traceproof_decoder::arm_etm_formatter as decoder;
use traceproof_vectors::arm_etm_formatter::{ArmEtmFormatter, Event, Parameters};
use traceproof_vectors::{self as vectors, Dissection, Program};

use crate::JudgedProtocol;

impl JudgedProtocol for ArmEtmFormatter {
    fn reference_decoder() -> Box<dyn vectors::Decoder<Self>> {
        Box::new(decoder::Decoder::default())
    }

    fn dissect(wire: &[u8], parameters: &Parameters, program: &Program) -> Vec<Dissection<Self>> {
        decoder::dissect(wire, parameters, program)
    }

    const RESOLVES_SPECULATION: bool = false;

    fn is_open_at_limit(_: &Event) -> bool {
        false
    }

    /// Every event is something new.
    fn in_force(_: &[Event]) -> Vec<Event> {
        Vec::new()
    }
}
