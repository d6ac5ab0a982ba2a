//! Code that only saves time: frequent packets that lie whole in a chunk, read from eight bytes at once.
//!
//! Without it a reader reports the same: see
//! [`PacketReader::without_fast_path`](super::PacketReader::without_fast_path).
//!
//! How many bytes a part of a packet has can seldom be predicted, so hardly anything branches on it.

use core::hint::cold_path;

use traceproof_vectors::arm_pft::{Atoms, CompressedAddress, CycleCount, Packet, VariableField};
use traceproof_vectors::{Address32, Place};

use super::layout::Layout;
use super::listener::Listener;
use super::tables::{
    INFORMATION, Information, SHORT_COUNTED, SHORT_COUNTED_INDEX, SHORT_COUNTED_MASKS, SINGLES,
};

/// Eight bytes, the first one in the low byte.
type Window = u64;

/// Reports the packets at the start of `bytes` up to the first one that is not read here: one of another kind, with an
/// exception or a Context ID, or one near the end of `bytes`. `place` is that of the first packet, and then that of the
/// next one. Gives the rest.
#[inline]
pub(super) fn packets<'a, L: Listener + ?Sized>(
    layout: &Layout,
    bytes: &'a [u8],
    place: &mut Place,
    listener: &mut L,
) -> &'a [u8] {
    let mut rest = bytes;
    loop {
        rest = if layout.cycle_accurate {
            with_counts(layout, rest, place, listener)
        } else {
            without_counts(rest, place, listener)
        };
        let length = longer(layout, rest, *place, listener);
        if length == 0 {
            return rest;
        }
        place.byte += length as u64;
        place.packet += 1;
        rest = rest.get(length..).unwrap_or_default();
    }
}

fn without_counts<'a, L: Listener + ?Sized>(
    bytes: &'a [u8],
    place: &mut Place,
    listener: &mut L,
) -> &'a [u8] {
    let mut next = Next::new(bytes, *place);
    while let Some(window) = next.window() {
        let header = window as u8;
        if let Some(packet) = &SINGLES[usize::from(header)] {
            next.report(packet, 1, listener);
        } else if header & 1 == 1 {
            let Address { address, exception: false, .. } = branch_address(window) else { break };
            let packet = Packet::BranchAddress { address, exception: None, cycle_count: None };
            next.report(&packet, address.bytes.into(), listener);
        } else {
            break;
        }
    }
    *place = next.place();
    next.rest()
}

fn with_counts<'a, L: Listener + ?Sized>(
    layout: &Layout,
    bytes: &'a [u8],
    place: &mut Place,
    listener: &mut L,
) -> &'a [u8] {
    let mut next = Next::new(bytes, *place);
    while let Some(mut window) = next.window() {
        // Atoms and branch addresses of one byte.
        if window as u8 >> 7 != window as u8 & 1 {
            if next.short_counted(window, listener) {
                continue;
            }
            let Some(after) = next.window() else { break };
            window = after;
        }
        let header = window as u8;
        if header & 1 == 1 {
            let Address { address, exception: false, after } = branch_address(window) else { break };
            let Some(count) = short_count(after, 0) else { break };
            let length = usize::from(address.bytes) + 1 + (after >> 6 & 1) as usize;
            let packet = Packet::BranchAddress { address, exception: None, cycle_count: Some(count) };
            next.report(&Line(packet).0, length, listener);
        } else if header == 0x08 && layout.context_id_bytes == 0 && window >> 45 & 3 != 0 {
            let Some(count) = short_count(window >> 48, 0x80) else { break };
            // Nearly always two bytes: the next packet waits for a prediction, not for the count.
            let length = if count.bytes == 2 {
                8
            } else {
                cold_path();
                7
            };
            next.report(&Line(instruction_sync(window, Some(count))).0, length, listener);
        } else if window & 0x80c1 == 0xc0 {
            next.larger_counted_atom(window, listener);
        } else {
            break;
        }
    }
    *place = next.place();
    next.rest()
}

/// Reports a packet that the loops do not: a timestamp, an A-sync, an I-sync without cycle count, or a packet with a
/// cycle count of more than two bytes. Gives its length, 0 if it is none of these.
///
/// Apart from the loops, which have not enough registers for it.
#[inline(never)]
fn longer<L: Listener + ?Sized>(layout: &Layout, bytes: &[u8], place: Place, listener: &mut L) -> usize {
    let Some(window) = window_at(bytes, 0) else { return 0 };
    let header = window as u8;
    let counted = layout.cycle_accurate;
    let count = |at, mask, expected| window_at(bytes, at).map(|window| long_count(window, mask, expected));
    let mut report = |packet, length, cycle_count| {
        listener.packet(place, &Line(packet).0);
        with_count(length, cycle_count)
    };
    match header {
        0x42 | 0x46 => {
            let Some(value) = window_at(bytes, 1).and_then(|window| timestamp(layout, window)) else {
                return 0;
            };
            let length = 1 + usize::from(value.bytes);
            let cycle_count = if counted { count(length, RESERVED, 0) } else { None };
            if counted && cycle_count.is_none() {
                return 0;
            }
            report(
                Packet::Timestamp { clock_change: header & 4 != 0, value, cycle_count },
                length,
                cycle_count,
            )
        }
        0x08 if layout.context_id_bytes == 0 => {
            let cycle_count = if counted && window >> 45 & 3 != 0 { count(6, RESERVED, 0x80) } else { None };
            if counted && window >> 45 & 3 != 0 && cycle_count.is_none() {
                return 0;
            }
            report(instruction_sync(window, cycle_count), 6, cycle_count)
        }
        0 if window << 16 == 0x80 << 56 => {
            listener.packet(place, &Packet::AlignmentSync { zeros: 5 });
            6
        }
        _ if !counted => 0,
        _ if header & 1 == 1 => {
            let Address { address, exception: false, .. } = branch_address(window) else { return 0 };
            let length = usize::from(address.bytes);
            let Some(cycle_count) = count(length, RESERVED, 0) else { return 0 };
            let cycle_count = Some(cycle_count);
            report(Packet::BranchAddress { address, exception: None, cycle_count }, length, cycle_count)
        }
        0x80.. => {
            let cycle_count = Some(long_count(window, 0, 0));
            report(Packet::Atoms { atoms: Atoms::one(header & 2 == 0), cycle_count }, 0, cycle_count)
        }
        _ => 0,
    }
}

/// The length of a packet of so many bytes with its cycle count.
#[inline]
fn with_count(length: usize, cycle_count: Option<CycleCount>) -> usize {
    length + cycle_count.map_or(0, |count| usize::from(count.bytes))
}

/// From this byte on.
#[inline]
fn window_at(bytes: &[u8], at: usize) -> Option<Window> {
    bytes.get(at..)?.first_chunk().map(|bytes| Window::from_le_bytes(*bytes))
}

/// A packet in one line of the cache: stores to two lines in turn take longer.
#[repr(align(64))]
struct Line(Packet);

/// Where the next packet begins.
struct Next<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Of the first one of `bytes`.
    offset: u64,
    index: u64,
}

impl<'a> Next<'a> {
    #[inline]
    const fn new(bytes: &'a [u8], place: Place) -> Self {
        Self { bytes, at: 0, offset: place.byte, index: place.packet }
    }

    #[inline]
    fn window(&self) -> Option<Window> {
        window_at(self.bytes, self.at)
    }

    #[inline]
    const fn place(&self) -> Place {
        Place { packet: self.index, byte: self.offset + self.at as u64, bit: 0 }
    }

    #[inline]
    fn rest(self) -> &'a [u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    #[inline]
    fn report<L: Listener + ?Sized>(&mut self, packet: &Packet, length: usize, listener: &mut L) {
        listener.packet(self.place(), packet);
        self.at += length;
        self.index += 1;
    }

    /// Up to four packets of one or two bytes: atoms with cycle counts, and branch addresses of one byte with a count
    /// of one byte; false if there are fewer.
    ///
    /// Spec: PFT-PKT-025 to PFT-PKT-030 (4.3, 4.4).
    #[inline]
    fn short_counted<L: Listener + ?Sized>(&mut self, mut window: Window, listener: &mut L) -> bool {
        // Bit 3 of each byte: as the header of one of these packets it has another byte. An atom says so in bit 6;
        // bit 0 is set in a branch address. So the next packet waits for two operations.
        let mut two = (window >> 3 | window << 3) & 0x0808_0808_0808_0808;
        for _ in 0..4 {
            let Some(packet) = short_counted(window) else { return false };
            let more_bits = two & 8;
            self.report(packet, 1 + more_bits as usize / 8, listener);
            (window, two) = (window >> 8 >> more_bits, two >> 8 >> more_bits);
        }
        true
    }

    /// An atom with a cycle count of two bytes.
    ///
    /// Spec: PFT-PKT-025 to PFT-PKT-030 (4.3, 4.4).
    #[inline]
    fn larger_counted_atom<L: Listener + ?Sized>(&mut self, window: Window, listener: &mut L) {
        let value = (window >> 2 & 0xf | window >> 4 & 0x7f0) as u32;
        let cycle_count = Some(CycleCount { value, bytes: 2, reserved: 0 });
        let packet = Packet::Atoms { atoms: Atoms::one(window & 2 == 0), cycle_count };
        self.report(&Line(packet).0, 2, listener);
    }
}

/// One of `SHORT_COUNTED`.
#[inline]
fn short_counted(window: Window) -> Option<&'static Packet> {
    let packet = window as u32 & SHORT_COUNTED_MASKS[usize::from(window as u8)];
    SHORT_COUNTED.get(usize::from(*SHORT_COUNTED_INDEX.get(packet as usize)?))
}

/// A cycle count of one or two bytes; `None` if it has more. Its first byte should have the bits `expected`.
///
/// Spec: PFT-PKT-018, PFT-PKT-026 to PFT-PKT-030 (4.4).
#[inline]
fn short_count(window: Window, expected: u8) -> Option<CycleCount> {
    if window & window << 9 & 0x8000 != 0 {
        return None;
    }
    let window = window as u32;
    let more = window >> 6 & 1;
    let value = window >> 2 & 0xf | window >> 4 & 0x7f0 & 0_u32.wrapping_sub(more);
    Some(CycleCount { value, bytes: 1 + more as u8, reserved: (window as u8 ^ expected) & RESERVED })
}

/// A timestamp of up to eight bytes, without header.
///
/// Spec: PFT-PKT-059 to PFT-PKT-063, PFT-PKT-070 (4.5.9).
fn timestamp(layout: &Layout, window: Window) -> Option<VariableField> {
    // Bit 7 of the last byte: the first one that is 0, or that of the last byte that there can be.
    let most = layout.timestamp.most_bytes() as u32;
    let ends = !window & 0x8080_8080_8080_8080 | 1_u64.checked_shl(8 * most - 1).unwrap_or(0);
    if ends == 0 {
        return None;
    }
    let bytes = ends.trailing_zeros() / 8 + 1;
    let bits = packed(window) & ((1 << (7 * bytes)) - 1);
    // Where the seventh byte is the last one that there can be, it has all its bits.
    let top = if bytes == 7 { (window >> 55 & 1) << 49 } else { 0 };
    Some(VariableField { bits: bits | top, bytes: bytes as u8 })
}

/// Of the first byte of a cycle count that is not the header of an atom, the bits that are not part of it.
const RESERVED: u8 = 0x83;

/// The address of a branch.
struct Address {
    address: CompressedAddress,
    /// Exception information follows.
    exception: bool,
    /// What follows.
    after: Window,
}

/// The bits of the address field of so many bytes, and none above; those of a fifth byte are all there.
const FIELDS: [u64; 6] = [0, 0x3f, 0xfff, 0x7_ffff, 0x3ff_ffff, u64::MAX];

/// Spec: PFT-PKT-033 to PFT-PKT-038, PFT-PKT-040, PFT-PKT-041 (4.5.4).
#[inline]
fn branch_address(window: Window) -> Address {
    // Bit 7 of the last byte: the first one that is 0, or that of the fifth byte.
    let end = (!window & 0x8080_8080 | 1 << 39).trailing_zeros();
    let bytes = end / 8 + 1;
    // Bit 0 is not part of the address.
    let bits = packed(window & 0xffff_ffff) >> 1 | (window >> 32 & 0xbf) << 27;
    let bits = bits & FIELDS.get(bytes as usize).copied().unwrap_or(0);
    // Bit 6 of the last byte, but the header has no such bit.
    let exception = (window & !0x7f) >> (end - 1) & 1 != 0;
    let address = CompressedAddress { bits, bytes: bytes as u8 };
    Address { address, exception, after: window >> end >> 1 }
}

/// Spec: PFT-PKT-009 to PFT-PKT-019 (4.3, 4.4, 4.5).
#[inline]
fn instruction_sync(window: Window, cycle_count: Option<CycleCount>) -> Packet {
    let Information { reserved, reason, non_secure, alt_isa, hyp } =
        INFORMATION[usize::from((window >> 40) as u8)];
    Packet::InstructionSync {
        address: Address32((window >> 8) as u32),
        reason,
        non_secure,
        alt_isa,
        hyp,
        reserved,
        cycle_count,
        context_id: None,
    }
}

/// A cycle count of any length; under `mask` its first byte should have the bits `expected`.
///
/// Spec: PFT-PKT-018, PFT-PKT-026 to PFT-PKT-030 (4.4).
fn long_count(window: Window, mask: u8, expected: u8) -> CycleCount {
    // The first byte that none follows; bit 6 says that in the first one, and the fifth one is the last in any case.
    let bytes = (!window & 0x8080_8040 | 1 << 39).trailing_zeros() / 8 + 1;
    let above = packed(window >> 8) & ((1 << (7 * (bytes - 1))) - 1);
    let spill = if bytes == 5 { (window >> 39 & 1) << 2 } else { 0 };
    CycleCount {
        value: (window >> 2 & 0xf | above << 4) as u32,
        bytes: bytes as u8,
        reserved: (window as u8 ^ expected) & mask | spill as u8,
    }
}

/// The low seven bits of each byte, in pairs, in fours, then together.
#[inline]
const fn packed(window: Window) -> u64 {
    let pairs = window & 0x007f_007f_007f_007f | (window & 0x7f00_7f00_7f00_7f00) >> 1;
    let fours = pairs & 0x3fff_0000_3fff | (pairs & 0x3fff_0000_3fff_0000) >> 2;
    fours & 0x0fff_ffff | (fours & 0x0fff_ffff_0000_0000) >> 4
}
