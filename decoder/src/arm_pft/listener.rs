//! What a packet reader reports.

use traceproof_vectors::arm_pft::Packet;
use traceproof_vectors::{Fault, Place};

/// Takes what a [`PacketReader`](super::PacketReader) finds, in stream order.
pub trait Listener {
    /// The last byte of a packet was read; `place` is its first bit.
    fn packet(&mut self, place: Place, packet: &Packet);
    /// The bytes cannot be read. Those up to the next A-sync belong to no packet.
    fn lost(&mut self, fault: &Fault);
    /// The stream ended inside a packet.
    fn cut(&mut self, fault: &Fault);
}
