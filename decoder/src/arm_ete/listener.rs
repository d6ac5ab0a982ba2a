//! What a packet reader reports.

use core::ops::ControlFlow;

use traceproof_vectors::arm_ete::Packet;
use traceproof_vectors::{Fault, Place};

/// Takes what a [`PacketReader`](super::PacketReader) finds, in stream order.
pub trait Listener {
    /// The last byte of a packet was read; `place` is its first bit. `Break`: the packet contradicts those before it,
    /// so that the search for an A-sync begins at its first byte.
    fn packet(&mut self, place: Place, packet: &Packet) -> ControlFlow<()>;
    /// The bytes cannot be read. Those from the fault up to the next A-sync belong to no packet.
    fn lost(&mut self, fault: &Fault);
    /// The stream ended inside a packet.
    fn cut(&mut self, fault: &Fault);
}
