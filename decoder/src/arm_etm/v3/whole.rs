//! Packets that lie whole in a chunk and are of the usual kinds: read at once, with the byte automaton's result.
//!
//! Anything unusual is `None` here: the automaton reads it, and finds what is wrong with it.

use traceproof_vectors::arm_etm::v3::VariableField;
use traceproof_vectors::arm_etm::{CompressedAddress, Packet};

use super::address_bytes::{AddressBytes, Step};
use super::exception_bytes::ExceptionBytes;
use super::headers::Header;
use super::information;
use super::packet::Layout;
use super::value_bytes::SevenBits;
use traceproof_vectors::Address32;

/// A packet, its length in bytes, and whether it leads to ARM state, if it tells.
pub(super) struct Whole {
    pub(super) packet: Packet,
    pub(super) bytes: usize,
    pub(super) arm: Option<bool>,
}

/// The branch address without exception at the start of `bytes`, and whether it leads to ARM state, if it tells.
#[inline]
pub(super) fn branch(bytes: &[u8], alternative: bool) -> Option<(CompressedAddress, Option<bool>)> {
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
pub(super) fn other(layout: &Layout, header: Header, bytes: &[u8]) -> Option<Whole> {
    let (&first, behind) = bytes.split_first()?;
    match header {
        Header::Branch => exception_branch(bytes, layout.alternative),
        Header::Timestamp => {
            let longest = if layout.timestamp_bits == 48 { 7 } else { 9 };
            // The longest form has other bits in its last byte.
            let value = variable(behind, longest - 1)?;
            let packet = Packet::Timestamp { clock_change: first & 4 != 0, value };
            Some(Whole { packet, bytes: 1 + usize::from(value.bytes), arm: None })
        }
        Header::CycleCount => {
            let value = variable(behind, 4)?;
            Some(Whole { packet: Packet::CycleCount(value), bytes: 1 + usize::from(value.bytes), arm: None })
        }
        Header::InstructionSync => instruction_sync(layout, None, behind, 1),
        Header::InstructionSyncWithCycles => {
            let count = variable(behind, 4)?;
            let length = usize::from(count.bytes);
            instruction_sync(layout, Some(count), behind.get(length..)?, 1 + length)
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

/// An I-sync behind its first `read` bytes. Spec: ETM3-ISY-002 to 005 (7.10.5).
fn instruction_sync(
    layout: &Layout,
    cycle_count: Option<VariableField>,
    bytes: &[u8],
    read: usize,
) -> Option<Whole> {
    let context_bytes = usize::from(layout.context_id_bytes);
    let (context, behind) = bytes.split_at_checked(context_bytes)?;
    let (&information, behind) = behind.split_first()?;
    if information & 1 == 0 || information & information::LSIP != 0 || layout.data_only {
        return None;
    }
    let address = u32::from_le_bytes(*behind.first_chunk()?);
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
