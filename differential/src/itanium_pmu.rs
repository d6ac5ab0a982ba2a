//! What judging Itanium event qualification needs.

use traceproof_decoder::itanium_pmu as decoder;
use traceproof_vectors::itanium_pmu::{Event, ItaniumPmu, Parameters};
use traceproof_vectors::{self as vectors, Dissection, Program};

use crate::JudgedProtocol;

impl JudgedProtocol for ItaniumPmu {
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

    fn in_force(_: &[Event]) -> Vec<Event> {
        Vec::new()
    }
}
