//! Code that only saves time: frequent packets that lie whole in a chunk, read from eight bytes at once.
//!
//! Without it a reader reports the same: see
//! [`PacketReader::without_fast_path`](super::PacketReader::without_fast_path).

use traceproof_vectors::arm_pft::{Atoms, CompressedAddress, CycleCount, Packet, Reason};
use traceproof_vectors::{Address32, Place};

use super::layout::Layout;
use super::listener::Listener;

/// A header and the seven bytes after it, the header in the low byte.
type Window = u64;

/// Reports the packets at the start of `bytes` up to the first one that is not read here: one of another kind, with an
/// exception, a Context ID or a cycle count of three bytes or more, or in the last eight bytes. `place` is that of the
/// first packet, and then that of the next one. Gives the rest.
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
    while let Some(window) = bytes.get(at..).and_then(<[u8]>::first_chunk) {
        let here = Place { packet: index, byte: base + at as u64, bit: 0 };
        let window = Window::from_le_bytes(*window);
        let length = match window as u8 {
            header if header & 1 == 1 => branch::<CYCLES, L>(window, here, listener),
            0x80.. if CYCLES => counted_atom(window, here, listener),
            header @ 0x84.. => {
                listener.packet(here, &Packet::Atoms { atoms: layout.atoms(header), cycle_count: None });
                1
            }
            0x08 if layout.context_id_bytes == 0 => instruction_sync::<CYCLES, L>(window, here, listener),
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
fn counted_atom<L: Listener + ?Sized>(window: Window, place: Place, listener: &mut L) -> usize {
    let Some(cycle_count) = count(window, 0, 0) else { return 0 };
    let atoms = Atoms::one(window & 2 == 0);
    listener.packet(place, &Packet::Atoms { atoms, cycle_count: Some(cycle_count) });
    cycle_count.bytes.into()
}

/// The bits of the address field of so many bytes, and none above; those of a fifth byte are all there.
const FIELDS: [u64; 6] = [0, 0x3f, 0xfff, 0x7_ffff, 0x3ff_ffff, u64::MAX];

/// A branch address without exception, with its cycle count if there is one; its length, or 0.
///
/// Spec: PFT-PKT-033 to PFT-PKT-038, PFT-PKT-040, PFT-PKT-041, PFT-PKT-048 (4.5.4).
#[inline]
fn branch<const CYCLES: bool, L: Listener + ?Sized>(window: Window, place: Place, listener: &mut L) -> usize {
    // Which of the first four bytes is the last one, if any, is where bit 7 is 0.
    let ends = !window & 0x8080_8080;
    let bytes = if ends == 0 { 5 } else { 1 + ends.trailing_zeros() / 8 };
    let last = window >> (8 * (bytes - 1));
    if bytes > 1 && last & 0x40 != 0 {
        return 0;
    }
    let bits = window >> 1 & 0x3f
        | (window >> 8 & 0x7f) << 6
        | (window >> 16 & 0x7f) << 13
        | (window >> 24 & 0x7f) << 20
        | (window >> 32 & 0xbf) << 27;
    let bits = bits & FIELDS.get(bytes as usize).copied().unwrap_or(0);
    let address = CompressedAddress { bits, bytes: bytes as u8 };
    let mut length = bytes as usize;
    let mut cycle_count = None;
    if CYCLES {
        let Some(count) = count(last >> 8, 0x83, 0) else { return 0 };
        length += usize::from(count.bytes);
        cycle_count = Some(count);
    }
    listener.packet(place, &Packet::BranchAddress { address, exception: None, cycle_count });
    length
}

/// An I-sync without Context ID, with its cycle count if there is one; its length, or 0.
///
/// Spec: PFT-PKT-009 to PFT-PKT-019 (4.3, 4.4, 4.5).
#[inline]
fn instruction_sync<const CYCLES: bool, L: Listener + ?Sized>(
    window: Window,
    place: Place,
    listener: &mut L,
) -> usize {
    let information = (window >> 40) as u8;
    let reason = match information >> 5 & 3 {
        0 => Reason::Periodic,
        1 => Reason::TraceEnabled,
        2 => Reason::Overflow,
        _ => Reason::DebugExit,
    };
    let mut length = 6;
    let mut cycle_count = None;
    if CYCLES && reason != Reason::Periodic {
        let Some(count) = count(window >> 48, 0x83, 0x80) else { return 0 };
        length += usize::from(count.bytes);
        cycle_count = Some(count);
    }
    let packet = Packet::InstructionSync {
        address: Address32((window >> 8) as u32),
        reason,
        non_secure: information & 8 != 0,
        alt_isa: information & 4 != 0,
        hyp: information & 2 != 0,
        reserved: (information ^ 1) & 0x91,
        cycle_count,
        context_id: None,
    };
    listener.packet(place, &packet);
    length
}

/// A cycle count of one or two bytes, in the low bytes of the window; under `mask` its first byte should have the bits
/// `expected`. How many bytes there are cannot be predicted, so nothing branches on it.
#[inline]
fn count(window: Window, mask: u8, expected: u8) -> Option<CycleCount> {
    let (first, second) = (window as u8, (window >> 8) as u8);
    let more = first >> 6 & 1;
    if more & second >> 7 != 0 {
        return None;
    }
    let above = second & 0_u8.wrapping_sub(more);
    let value = u32::from(first >> 2 & 0xf) | u32::from(above) << 4;
    Some(CycleCount { value, bytes: 1 + more, reserved: (first ^ expected) & mask })
}
