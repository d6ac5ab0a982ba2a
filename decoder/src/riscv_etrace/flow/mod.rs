//! Packets -> events: the decoder algorithm of ET 11, completed.

use traceproof_vectors::riscv_etrace::{Packet, RiscvEtrace};
use traceproof_vectors::{Place, Sink};

mod hart;
pub(super) mod reports;
mod shown;
mod state;
mod synchronisation;

pub use state::Flow;

impl Flow {
    /// Takes the next packet. `place` is the first bit of its payload.
    #[inline]
    pub fn packet<S>(&mut self, place: Place, packet: &Packet, sink: &mut S)
    where
        S: Sink<RiscvEtrace> + ?Sized,
    {
        let done = match *packet {
            Packet::Support { .. } | Packet::StandardSupport(_) => self.support(place, packet, sink),
            _ if self.refusing => Ok(()),
            // Data trace has a state of its own.
            Packet::Data(_) => Ok(()),
            Packet::Start { .. } => self.start(place, packet, sink),
            Packet::Trap { .. } => self.trap(place, packet, sink),
            Packet::Context { .. } => synchronisation::context(place, packet, sink),
            _ => self.advance(place, packet, sink),
        };
        if let Err(trouble) = done {
            self.fail(trouble, place, sink);
        }
    }
}
