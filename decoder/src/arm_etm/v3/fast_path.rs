//! Fast path: frequent packets that lie whole in a chunk are read at once, not byte by byte.
//!
//! Everything else is `None` here: the automaton reads it and finds its faults. Without this code a decoder reports the
//! same: see [`Decoder::without_fast_path`](super::Decoder::without_fast_path).

use traceproof_vectors::Place;
use traceproof_vectors::arm_etm::v3::VariableField;
use traceproof_vectors::arm_etm::{CompressedAddress, Packet};

use super::address_bytes::{AddressBytes, Step};
use super::automaton::Automaton;
use super::exception_bytes::ExceptionBytes;
use super::headers::Header;
use super::information;
use super::layout::Layout;
use super::listener::Listener;
use super::value_bytes::SevenBits;
use traceproof_vectors::Address32;

/// A packet, its length in bytes, and whether it leads to ARM state, if it is known.
struct Whole {
    packet: Packet,
    bytes: usize,
    arm: Option<bool>,
}

/// Takes packets from a [header](Automaton::is_between_packets) on, as long as they lie whole in the chunk and are of
/// the kinds read here. Gives the rest.
#[inline]
pub(super) fn packets<'a, L: Listener + ?Sized>(
    automaton: &mut Automaton,
    chunk: &'a [u8],
    listener: &mut L,
) -> &'a [u8] {
    let base = automaton.offset;
    let mut index = automaton.index;
    let mut at = 0;
    while let Some(&byte) = chunk.get(at) {
        let place = Place { packet: index, byte: base + at as u64, bit: 0 };
        let length = match automaton.headers.of(byte) {
            Header::Atoms => {
                listener.packet(place, &Packet::PHeader(byte));
                1
            }
            Header::WholeBranch => {
                let bits = u64::from(byte >> 1 & 0x3f);
                listener.packet(place, &Packet::BranchAddress(CompressedAddress { bits, bytes: 1 }));
                1
            }
            header => whole(automaton, place, header, chunk.get(at..).unwrap_or_default(), listener),
        };
        if length == 0 {
            break;
        }
        index += 1;
        at += length;
    }
    (automaton.offset, automaton.index) = (base + at as u64, index);
    chunk.get(at..).unwrap_or_default()
}

/// Takes the packet at the start of `bytes`, if it lies there whole and is read here; its length, otherwise 0.
fn whole<L: Listener + ?Sized>(
    automaton: &mut Automaton,
    place: Place,
    header: Header,
    bytes: &[u8],
    listener: &mut L,
) -> usize {
    if header == Header::Branch
        && let Some((address, arm)) = branch(bytes, automaton.layout.alternative)
    {
        automaton.arm = arm.unwrap_or(automaton.arm);
        listener.packet(place, &Packet::BranchAddress(address));
        return address.bytes.into();
    }
    let Some(whole) = other(&automaton.layout, header, bytes) else { return 0 };
    automaton.arm = whole.arm.unwrap_or(automaton.arm);
    listener.packet(place, &whole.packet);
    whole.bytes
}

/// The branch address without exception at the start of `bytes`, and whether it leads to ARM state, if it is known.
#[inline]
fn branch(bytes: &[u8], alternative: bool) -> Option<(CompressedAddress, Option<bool>)> {
    let mut address = AddressBytes::EMPTY;
    for &byte in bytes.iter().take(5) {
        match address.take(byte, alternative)? {
            Step::More => {}
            Step::End { arm } => return Some((address.address(), arm)),
            Step::Exception { .. } | Step::InByte(_) => return None,
        }
    }
    None
}

/// Any other packet at the start of `bytes`, whose header is `header`.
fn other(layout: &Layout, header: Header, bytes: &[u8]) -> Option<Whole> {
    let (&first, after) = bytes.split_first()?;
    match header {
        Header::Branch => exception_branch(bytes, layout.alternative),
        Header::Timestamp => {
            let longest = if layout.timestamp_bits == 48 { 7 } else { 9 };
            // The longest form has other bits in its last byte.
            let value = variable(after, longest - 1)?;
            let packet = Packet::Timestamp { clock_change: first & 4 != 0, value };
            Some(Whole { packet, bytes: 1 + usize::from(value.bytes), arm: None })
        }
        Header::CycleCount => {
            let value = variable(after, 4)?;
            Some(Whole { packet: Packet::CycleCount(value), bytes: 1 + usize::from(value.bytes), arm: None })
        }
        Header::InstructionSync => instruction_sync(layout, None, after, 1),
        Header::InstructionSyncWithCycles => {
            let count = variable(after, 4)?;
            let length = usize::from(count.bytes);
            instruction_sync(layout, Some(count), after.get(length..)?, 1 + length)
        }
        Header::Ignore => Some(Whole { packet: Packet::Ignore, bytes: 1, arm: None }),
        Header::ExceptionExit => Some(Whole { packet: Packet::ExceptionExit, bytes: 1, arm: None }),
        Header::Trigger => Some(Whole { packet: Packet::Trigger, bytes: 1, arm: None }),
        _ => None,
    }
}

/// A number of up to `longest` bytes.
#[inline]
fn variable(bytes: &[u8], longest: usize) -> Option<VariableField> {
    let mut value = SevenBits::EMPTY;
    for &byte in bytes.iter().take(longest) {
        if value.take(byte) {
            return Some(value.field());
        }
    }
    None
}

/// An I-sync after its first `read` bytes. Spec: ETM3-ISY-002 to 005 (7.10.5).
fn instruction_sync(
    layout: &Layout,
    cycle_count: Option<VariableField>,
    bytes: &[u8],
    read: usize,
) -> Option<Whole> {
    let context_bytes = usize::from(layout.context_id_bytes);
    let (context, after) = bytes.split_at_checked(context_bytes)?;
    let (&information, after) = after.split_first()?;
    if information & 1 == 0 || information & information::LSIP != 0 || layout.data_only {
        return None;
    }
    let address = u32::from_le_bytes(*after.first_chunk()?);
    let context_id = (context_bytes > 0)
        .then(|| context.iter().rev().fold(0, |value, byte| value << 8 | u32::from(*byte)));
    let packet =
        information::instruction_sync(information, cycle_count, context_id, Some(Address32(address)), None);
    let arm = Some(information & information::J == 0 && address & 1 == 0);
    Some(Whole { packet, bytes: read + context_bytes + 5, arm })
}

/// A branch with exception information bytes. Spec: ETM3-EXC-001 to 004 (7.3.5).
fn exception_branch(bytes: &[u8], alternative: bool) -> Option<Whole> {
    let mut address = AddressBytes::EMPTY;
    let mut read = 0;
    let arm = loop {
        match address.take(*bytes.get(read)?, alternative)? {
            Step::More => read += 1,
            Step::Exception { arm } => break arm,
            Step::End { .. } | Step::InByte(_) => return None,
        }
    };
    let mut exception = ExceptionBytes::EMPTY;
    loop {
        read += 1;
        if exception.take(*bytes.get(read)?)? {
            let address = address.address();
            let packet = Packet::ExceptionBranch { address, information: exception.information() };
            return Some(Whole { packet, bytes: read + 1, arm });
        }
    }
}
