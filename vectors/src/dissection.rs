//! A packet taken apart bit by bit, for display.

use alloc::vec::Vec;
use core::ops::Range;

use crate::{Fault, Place, Protocol};

/// One dissected transport unit: every field with its bits, and the meaning of the whole.
#[derive(Clone, Debug, PartialEq)]
pub struct Dissection<P: Protocol> {
    /// Index of the packet and its first bit.
    pub place: Place,
    /// The bytes of the stream that it occupies, transport header included.
    pub bytes: Range<u64>,
    /// Its fields in transmission order, transport header included. After a fault: those before it.
    pub fields: Vec<Field>,
    /// The packet, or why it is none; `None` for transport units that carry no packet (idle, alignment).
    pub packet: Option<Result<P::Packet, Fault>>,
}

/// One field of a packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// The specification's name for it.
    pub name: &'static str,
    /// First bit, counted from bit 0 of the stream's byte 0 (byte = `bit / 8`).
    pub bit: u64,
    /// Width in bits, also of bits that did not travel because compression removed them.
    pub width: u32,
    /// Of `width`, how many bits travelled; the others are copies of the last bit of the packet.
    pub received: u32,
    /// Raw value, zero-extended.
    pub value: u64,
}
