//! The library's packets in the words of the contract.
//!
//! The library keeps values, not their form: no reserved bits. How many bytes a field had follows from the number of
//! bits that the library reports for it, or from the length of the packet.

use traceproof_vectors::Address32;
use traceproof_vectors::arm_pft::{
    Atoms, CompressedAddress, CycleCount, ExceptionInformation, Packet, Parameters, Reason, VariableField,
};

use super::super::Isa;
use super::super::ptm::{Address, Body, State};

/// The packet; `None` for what is not a packet of the protocol.
pub(super) fn packet(body: &Body, bytes: &[u8], parameters: &Parameters) -> Option<Packet> {
    // The number of bytes that the cycle count has where `before` bytes are before it.
    let counted = |cycle_count: &Option<u32>, before: usize| {
        let length = u8::try_from(bytes.len().saturating_sub(before)).unwrap_or(u8::MAX);
        cycle_count.map(|value| CycleCount { value, bytes: length, reserved: 0 })
    };
    Some(match body {
        Body::ASync => Packet::AlignmentSync { zeros: bytes.len().saturating_sub(1) as u64 },
        Body::ISync { reason, address, isa, state, context_id, cycle_count } => {
            let bytes_of_id = usize::from(parameters.context_id_bytes);
            Packet::InstructionSync {
                address: Address32(
                    address.value as u32 | u32::from(matches!(isa, Isa::Thumb | Isa::ThumbEe)),
                ),
                reason: Reason::from_code(u8::try_from(*reason).ok()?)?,
                non_secure: state.ns,
                alt_isa: state.alt_isa,
                hyp: state.hyp,
                reserved: 0,
                cycle_count: counted(cycle_count, 6 + bytes_of_id),
                context_id: *context_id,
            }
        }
        Body::Atoms { atoms, cycle_count } => {
            Packet::Atoms { atoms: atoms.parse::<Atoms>().ok()?, cycle_count: counted(cycle_count, 0) }
        }
        Body::Branch { address, isa, exception, state, cycle_count } => {
            let compressed = instruction_address(address, *isa);
            let exception =
                exception.map(|number| information(bytes, compressed.bytes, number, *isa, *state));
            let information = exception.map_or(0, |exception| 1 + usize::from(exception.hyp.is_some()));
            let before = usize::from(compressed.bytes) + information;
            Packet::BranchAddress {
                address: compressed,
                exception,
                cycle_count: counted(cycle_count, before),
            }
        }
        Body::WaypointUpdate { address, isa } => {
            let compressed = instruction_address(address, *isa);
            let has_information = bytes.len() > 1 + usize::from(compressed.bytes);
            let information = has_information.then_some(u8::from(*isa == Isa::ThumbEe) << 6);
            Packet::WaypointUpdate { address: compressed, information, even: false }
        }
        Body::Trigger => Packet::Trigger,
        Body::Ignore => Packet::Ignore,
        Body::ContextId { value } => Packet::ContextId { value: (bytes.len() > 1).then_some(*value) },
        Body::Vmid { value } => Packet::Vmid(*value),
        Body::Timestamp { value, bits, cycle_count } => {
            // The ninth byte of a full one has 8 bits.
            let length = if *bits == 64 { 9 } else { bits.div_ceil(7) };
            Packet::Timestamp {
                // The library does not keep it.
                clock_change: false,
                value: VariableField { bits: low(*value, *bits), bytes: length },
                cycle_count: counted(cycle_count, 1 + usize::from(length)),
            }
        }
        Body::ExceptionReturn => Packet::ExceptionReturn,
        Body::NotSynchronised
        | Body::Incomplete
        | Body::BadSequence { .. }
        | Body::Reserved
        | Body::Other { .. } => return None,
    })
}

/// The content of the exception information bytes. The bytes show which of them are present.
fn information(bytes: &[u8], address_bytes: u8, number: u16, isa: Isa, state: State) -> ExceptionInformation {
    let has_second = bytes.get(usize::from(address_bytes)).is_some_and(|first| first & 0x80 != 0);
    ExceptionInformation {
        number,
        // The library keeps the instruction set that follows.
        alt_isa: isa == Isa::ThumbEe,
        non_secure: state.ns,
        hyp: has_second.then_some(state.hyp),
        reserved: 0,
    }
}

/// The address of a branch or waypoint update as it travelled. Before the first I-sync the library takes all for Thumb.
fn instruction_address(address: &Address, isa: Isa) -> CompressedAddress {
    let (shift, state) = match isa {
        Isa::Arm => (2, 0b1000),
        Isa::Jazelle => (0, 0b10_0000),
        _ => (1, 0b1_0000),
    };
    let bits = low(address.value, address.bits) >> shift;
    let bytes = match address.bits.saturating_sub(shift) {
        0..=6 => 1,
        7..=12 => 2,
        13..=19 => 3,
        20..=26 => 4,
        _ => 5,
    };
    let state: u64 = if bytes == 5 { state << 27 } else { 0 };
    CompressedAddress { bits: bits | state, bytes }
}

const fn low(value: u64, bits: u8) -> u64 {
    if bits >= 64 { value } else { value & ((1 << bits) - 1) }
}
