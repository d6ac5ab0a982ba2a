//! What the pins carry, and the listener that receives it.

use traceproof_vectors::arm_etm::{Event, Packet};
use traceproof_vectors::{Fault, Place};

use crate::arm_etm::v2::FifoByte;

/// What a fault does to the packet that is being read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Consequence {
    /// Nothing.
    GoesOn,
    /// It is abandoned, if there is one.
    GivenUp,
}

/// Receives what the pins carry, in stream order.
pub trait Listener {
    /// Something happened.
    fn event(&mut self, place: Place, event: &Event);
    /// The last byte of a packet was read; `place` is its first bit.
    fn packet(&mut self, place: Place, packet: &Packet);
    /// Something is wrong.
    fn fault(&mut self, fault: &Fault, consequence: Consequence);

    /// The packet that is being read is abandoned, without fault, or cut off by the end of the stream.
    fn dropped(&mut self) {}
    /// A record of `size` bytes begins.
    fn record(&mut self, place: Place, size: u64) {
        let _ = (place, size);
    }
    /// Bits of the stream that are not part of a packet: `value` is that of the `width` bits from `first` on of the
    /// byte at stream offset `offset`.
    fn pins(&mut self, name: &'static str, offset: u64, first: u8, width: u8, value: u8) {
        let _ = (name, offset, first, width, value);
    }
    /// A field of the packet that is being read: `width` bits of `byte`, from bit `first` on.
    fn field(&mut self, name: &'static str, byte: FifoByte, first: u8, width: u8) {
        let _ = (name, byte, first, width);
    }
}
