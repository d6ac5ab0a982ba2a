//! Code that only saves time: atoms and branch addresses that lie whole in a chunk, read at once.
//!
//! Without it a reader reports the same: see
//! [`PacketReader::without_fast_path`](super::PacketReader::without_fast_path).

use traceproof_vectors::Place;
use traceproof_vectors::arm_pft::{Atoms, CompressedAddress, CycleCount, Packet};

use super::layout::Layout;
use super::listener::Listener;

/// Reports the packets at the start of `bytes` up to the first one that is not read here: another kind of packet, an
/// exception, a cycle count of three bytes or more, or a part of a packet. `place` is that of the first packet, and then
/// that of the next one. Gives the rest.
#[inline]
pub(super) fn packets<'a, L: Listener + ?Sized>(
    layout: &Layout,
    bytes: &'a [u8],
    place: &mut Place,
    listener: &mut L,
) -> &'a [u8] {
    if layout.cycle_accurate {
        report::<true, L>(layout, bytes, place, listener)
    } else {
        report::<false, L>(layout, bytes, place, listener)
    }
}

fn report<'a, const CYCLES: bool, L: Listener + ?Sized>(
    layout: &Layout,
    bytes: &'a [u8],
    place: &mut Place,
    listener: &mut L,
) -> &'a [u8] {
    let (base, mut at, mut index) = (place.byte, 0, place.packet);
    while let Some(&header) = bytes.get(at) {
        let here = Place { packet: index, byte: base + at as u64, bit: 0 };
        let length = match (header & 1, header) {
            (1, _) => branch::<CYCLES, L>(bytes.get(at..).unwrap_or_default(), here, listener),
            (_, 0x80..) if CYCLES => counted_atom(bytes.get(at..).unwrap_or_default(), here, listener),
            (_, 0x84..) => {
                listener.packet(here, &Packet::Atoms { atoms: layout.atoms(header), cycle_count: None });
                1
            }
            _ => break,
        };
        if length == 0 {
            break;
        }
        at += length;
        index += 1;
    }
    (place.byte, place.packet) = (base + at as u64, index);
    bytes.get(at..).unwrap_or_default()
}

/// An atom with its cycle count; its length, or 0. Spec: PFT-PKT-025 to PFT-PKT-030 (4.3, 4.4).
#[inline]
fn counted_atom<L: Listener + ?Sized>(bytes: &[u8], place: Place, listener: &mut L) -> usize {
    let Some((header, value, length)) = count(bytes) else { return 0 };
    let cycle_count = CycleCount { value, bytes: length, reserved: 0 };
    let atoms = Atoms::one(header & 2 == 0);
    listener.packet(place, &Packet::Atoms { atoms, cycle_count: Some(cycle_count) });
    length.into()
}

/// A branch address without exception, with its cycle count if there is one; its length, or 0.
///
/// Spec: PFT-PKT-033 to PFT-PKT-038, PFT-PKT-040, PFT-PKT-041, PFT-PKT-048 (4.5.4).
#[inline]
fn branch<const CYCLES: bool, L: Listener + ?Sized>(bytes: &[u8], place: Place, listener: &mut L) -> usize {
    let Some(address) = address(bytes) else { return 0 };
    let mut length = usize::from(address.bytes);
    let mut cycle_count = None;
    if CYCLES {
        let Some((first, value, bytes)) = count(bytes.get(length..).unwrap_or_default()) else { return 0 };
        length += usize::from(bytes);
        cycle_count = Some(CycleCount { value, bytes, reserved: first & 0x83 });
    }
    listener.packet(place, &Packet::BranchAddress { address, exception: None, cycle_count });
    length
}

#[inline]
fn address(bytes: &[u8]) -> Option<CompressedAddress> {
    let first = *bytes.first()?;
    let mut bits = u64::from(first >> 1 & 0x3f);
    if first & 0x80 == 0 {
        return Some(CompressedAddress { bits, bytes: 1 });
    }
    for (&byte, bytes) in bytes.get(1..)?.iter().zip(2..5_u8) {
        let above = 7 * u32::from(bytes) - 8;
        bits |= u64::from(byte & 0x7f) << above;
        if byte & 0x80 == 0 {
            return (byte & 0x40 == 0).then_some(CompressedAddress { bits, bytes });
        }
    }
    let last = *bytes.get(4)?;
    bits |= u64::from(last & 0xbf) << 27;
    (last & 0x40 == 0).then_some(CompressedAddress { bits, bytes: 5 })
}

/// A cycle count of one or two bytes: the first of them, the value, and how many there are. Which of them it is cannot
/// be predicted, so nothing branches on it.
#[inline]
fn count(bytes: &[u8]) -> Option<(u8, u32, u8)> {
    let first = *bytes.first()?;
    let second = bytes.get(1).copied().unwrap_or(0x80);
    let more = first >> 6 & 1;
    if more & second >> 7 != 0 {
        return None;
    }
    let above = second & 0_u8.wrapping_sub(more);
    Some((first, u32::from(first >> 2 & 0xf) | u32::from(above) << 4, 1 + more))
}
