//! What judging the trace unit of ARM ETE and ETMv4 needs.

use traceproof_decoder::arm_ete_unit as decoder;
use traceproof_vectors::arm_ete_unit::{ArmEteUnit, Event, Parameters};
use traceproof_vectors::{self as vectors, Dissection, Program};

use crate::JudgedProtocol;

impl JudgedProtocol for ArmEteUnit {
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

    /// `State` and `Outputs` hold until the next one of their kind.
    fn in_force(events: &[Event]) -> Vec<Event> {
        let latest = |wanted: fn(&Event) -> bool| events.iter().rev().copied().find(wanted);
        let state = latest(|event| matches!(event, Event::State(_)));
        let outputs = latest(|event| matches!(event, Event::Outputs(_)));
        state.into_iter().chain(outputs).collect()
    }
}
