//! What the pins carry, and the listener that receives it.

use traceproof_vectors::arm_etm::Packet;
use traceproof_vectors::{Fault, Place};

/// A byte of the FIFO, and where its bits travelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FifoByte {
    /// The byte.
    pub value: u8,
    /// Stream offset of the byte that carried it; on a 4-bit port, of the one that carried its bits \[3:0\].
    pub low: u64,
    /// On a 4-bit port, stream offset of the byte whose bits \[3:0\] carried its bits \[7:4\].
    pub high: Option<u64>,
}

/// Where and when a packet was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Carrier {
    /// Its first bit.
    pub place: Place,
    /// Stream offset of its last byte; on a 4-bit port, of the one that carried bits \[3:0\] of that.
    pub last: u64,
    /// The cycle that placed it in the FIFO.
    pub cycle: u64,
    /// The cycle of the latest instruction up to that cycle; `None` if there was none, and of a TFO packet.
    pub instruction: Option<u64>,
}

/// What a fault does to the state of a [`Port`](super::Port) and of its listeners.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Consequence {
    /// Nothing.
    GoesOn,
    /// What was pending is gone, and nothing is known of data addresses and load misses any more.
    Lost,
}

/// Receives what the pins carry, in stream order.
///
/// `cycle` is the index of a record from 0.
pub trait Listener {
    /// The trigger occurred.
    fn trigger(&mut self, place: Place, cycle: u64);
    /// An instruction was executed or, because its condition failed, not; `phantom`: a folded direct branch.
    fn instruction(&mut self, place: Place, cycle: u64, executed: bool, phantom: bool);
    /// The last byte of a packet was read.
    fn packet(&mut self, carrier: Carrier, packet: &Packet);
    /// Something is wrong.
    fn fault(&mut self, fault: &Fault, consequence: Consequence);
    /// The stream ended at `place`; `incomplete` is the oldest cycle of whose packets bytes are missing.
    fn end(&mut self, place: Place, incomplete: Option<u64>);

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
