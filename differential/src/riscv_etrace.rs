//! What judging RISC-V E-Trace needs.

use traceproof_decoder::riscv_etrace as decoder;
use traceproof_vectors::riscv_etrace::{Event, Parameters, RiscvEtrace};
use traceproof_vectors::{self as vectors, Dissection, Program};

use crate::JudgedProtocol;

impl JudgedProtocol for RiscvEtrace {
    fn reference_decoder() -> Box<dyn vectors::Decoder<Self>> {
        Box::new(decoder::Decoder::default())
    }

    fn dissect(wire: &[u8], parameters: &Parameters, _: &Program) -> Vec<Dissection<Self>> {
        decoder::dissect(wire, parameters)
    }

    fn dissect_each(
        wire: &[u8],
        parameters: &Parameters,
        _: &Program,
        each: &mut dyn FnMut(Dissection<Self>),
    ) {
        decoder::dissect_each(wire, parameters, each);
    }

    const RESOLVES_SPECULATION: bool = false;

    /// Spec: RVET-DEC-046. A loop without facts from the trace is walked until the budget is spent.
    fn is_open_at_limit(event: &Event) -> bool {
        matches!(event, Event::Retire { .. })
    }

    /// A precise context, until tracing stops.
    fn in_force(events: &[Event]) -> Vec<Event> {
        let latest = events.iter().rev().find_map(|event| match event {
            Event::Context { precise: true, .. } => Some(Some(*event)),
            Event::Stop { .. } => Some(None),
            _ => None,
        });
        latest.flatten().into_iter().collect()
    }
}
