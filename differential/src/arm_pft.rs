//! What judging ARM PFT needs.

use traceproof_decoder::arm_pft as decoder;
use traceproof_vectors::arm_pft::{ArmPft, Event, Parameters};
use traceproof_vectors::{self as vectors, Dissection, Program};

use crate::JudgedProtocol;

impl JudgedProtocol for ArmPft {
    fn reference_decoder() -> Box<dyn vectors::Decoder<Self>> {
        Box::new(decoder::Decoder::default())
    }

    fn dissect(wire: &[u8], parameters: &Parameters, _: &Program) -> Vec<Dissection<Self>> {
        decoder::dissect(wire, parameters)
    }

    const RESOLVES_SPECULATION: bool = false;

    /// How many instructions are reported before the limit is the decoder's choice.
    fn is_open_at_limit(event: &Event) -> bool {
        matches!(event, Event::Instructions { .. })
    }

    /// Context ID and VMID.
    fn in_force(events: &[Event]) -> Vec<Event> {
        let context_id = events.iter().rev().find_map(|event| match *event {
            Event::ContextId(context_id) | Event::TraceOn { context_id: Some(context_id), .. } => {
                Some(Event::ContextId(context_id))
            }
            _ => None,
        });
        let vmid = events.iter().rev().copied().find(|event| matches!(event, Event::Vmid(_)));
        context_id.into_iter().chain(vmid).collect()
    }
}
