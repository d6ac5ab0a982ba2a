//! What judging ARM ETE and ETMv4 needs.

use traceproof_decoder::arm_ete as decoder;
use traceproof_vectors::arm_ete::{ArmEte, Event, Parameters};
use traceproof_vectors::{self as vectors, Dissection, Program};

use crate::JudgedProtocol;

impl JudgedProtocol for ArmEte {
    fn reference_decoder() -> Box<dyn vectors::Decoder<Self>> {
        Box::new(decoder::Decoder::default())
    }

    fn dissect(wire: &[u8], parameters: &Parameters, _: &Program) -> Vec<Dissection<Self>> {
        decoder::dissect(wire, parameters)
    }

    const RESOLVES_SPECULATION: bool = true;

    /// How many instructions are reported before the limit is the decoder's choice.
    fn is_open_at_limit(event: &Event) -> bool {
        matches!(event, Event::Instructions { .. })
    }

    fn in_force(events: &[Event]) -> Vec<Event> {
        events.iter().rev().copied().find(|event| matches!(event, Event::Context(_))).into_iter().collect()
    }
}
