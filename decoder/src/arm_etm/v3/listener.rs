//! What the bytes carry, and the listener that receives it.

use core::ops::Range;

use traceproof_vectors::arm_etm::Packet;
use traceproof_vectors::{Fault, Place};

/// Receives from a [`PacketReader`](super::PacketReader) what the bytes carry, in stream order.
pub trait Listener {
    /// Whether [`field`](Self::field) and [`skipped`](Self::skipped) are of interest. Reading is faster without.
    const TAKES_FIELDS: bool = false;

    /// The last byte of a packet was read; `place` is its first bit.
    fn packet(&mut self, place: Place, packet: &Packet);
    /// A fault: the packet is abandoned, and bytes are skipped up to the next A-sync.
    fn lost(&mut self, fault: &Fault);
    /// A bare port marks a trigger: the record at `place`.
    fn trigger(&mut self, place: Place);
    /// The stream ended at `place`. `cut_record`: inside this record of a bare port; `cut_packet`: inside a packet.
    fn end(&mut self, place: Place, cut_record: Option<&Fault>, cut_packet: bool);

    /// A field of the packet that is being read: `width` bits, from bit `first` of the byte at stream offset `offset`
    /// on.
    fn field(&mut self, name: &'static str, offset: u64, first: u8, width: u32, value: u64) {
        let _ = (name, offset, first, width, value);
    }
    /// Bytes that belong to no packet.
    fn skipped(&mut self, bytes: Range<u64>) {
        let _ = bytes;
    }
}
