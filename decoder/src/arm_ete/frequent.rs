//! Code that only saves time: atoms, addresses without context and events that lie whole in a chunk, read from eight
//! bytes at once.
//!
//! Without it a reader reports the same: see
//! [`PacketReader::without_fast_path`](super::PacketReader::without_fast_path).

use core::ops::ControlFlow;

use traceproof_vectors::arm_ete::{AddressField, Packet, SubIsa};
use traceproof_vectors::{Address32, Place};

use super::layout::{FIRST_ATOMS, Layout};
use super::listener::Listener;

/// A header and the seven bytes after it, the header in the low byte.
type Window = u64;

/// Reports the packets at the start of `bytes` up to the first one that is of another kind or in the last eight bytes.
/// `place` is that of the first packet, and then that of the next one. `Break`: the listener does not take the packet
/// there.
#[inline]
pub(super) fn packets<L: Listener + ?Sized>(
    layout: &Layout,
    bytes: &[u8],
    place: &mut Place,
    listener: &mut L,
) -> ControlFlow<()> {
    let (base, mut at, mut index) = (place.byte, 0, place.packet);
    let mut flow = ControlFlow::Continue(());
    while let Some(window) = bytes.get(at..).and_then(<[u8]>::first_chunk) {
        let here = Place { packet: index, byte: base + at as u64, bit: 0 };
        let window = Window::from_le_bytes(*window);
        let (length, taken) = match window as u8 {
            header @ FIRST_ATOMS.. => (1, listener.packet(here, &Packet::Atoms(layout.atoms(header)))),
            header @ 0x90..=0x92 => (1, listener.packet(here, &target(AddressField::ExactMatch(header & 3)))),
            0x95 => short(SubIsa::Is0, window, here, listener),
            0x96 => short(SubIsa::Is1, window, here, listener),
            0x9a => long(SubIsa::Is0, window, here, listener),
            0x9b => long(SubIsa::Is1, window, here, listener),
            header @ 0x71..=0x7f => (1, listener.packet(here, &Packet::Event(header & 0xf))),
            _ => break,
        };
        if taken.is_break() {
            flow = taken;
            break;
        }
        at += length;
        index += 1;
    }
    (place.byte, place.packet) = (base + at as u64, index);
    flow
}

const fn target(address: AddressField) -> Packet {
    Packet::TargetAddress { address, context: None }
}

/// An address of one or two bytes, and the length of its packet. How many there are cannot be predicted, so nothing
/// branches on it. Spec: ETE-PKT-ADR-001.
#[inline]
fn short<L: Listener + ?Sized>(
    sub_isa: SubIsa,
    window: Window,
    place: Place,
    listener: &mut L,
) -> (usize, ControlFlow<()>) {
    let (first, second) = ((window >> 8) as u8, (window >> 16) as u8);
    let more = first >> 7;
    let above = u32::from(second & 0_u8.wrapping_sub(more));
    let bits = (u32::from(first & 0x7f) | above << 7) << low_bits(sub_isa);
    let address = AddressField::Short { sub_isa, bits: Address32(bits), bytes: 1 + more };
    (2 + usize::from(more), listener.packet(place, &target(address)))
}

/// An address of 32 bits, and the length of its packet. Spec: ETE-PKT-ADR-002, ETE-PKT-ADR-006.
#[inline]
fn long<L: Listener + ?Sized>(
    sub_isa: SubIsa,
    window: Window,
    place: Place,
    listener: &mut L,
) -> (usize, ControlFlow<()>) {
    let bytes = (window >> 8) as u32;
    let first = (bytes & 0x7f) << low_bits(sub_isa);
    // The second byte has 7 bits with IS0 and 8 with IS1.
    let (second, reserved) = match sub_isa {
        SubIsa::Is0 => ((bytes >> 8 & 0x7f) << 9, bytes >> 7 & 1 | bytes >> 14 & 2),
        SubIsa::Is1 => (bytes & 0xff00, bytes >> 7 & 1),
    };
    let bits = Address32(first | second | bytes & 0xffff_0000);
    let address = AddressField::Bits32 { sub_isa, bits, reserved: reserved as u8 };
    (5, listener.packet(place, &target(address)))
}

/// The low bits that do not travel.
const fn low_bits(sub_isa: SubIsa) -> u32 {
    match sub_isa {
        SubIsa::Is0 => 2,
        SubIsa::Is1 => 1,
    }
}
