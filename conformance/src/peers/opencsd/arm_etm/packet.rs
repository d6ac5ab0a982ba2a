//! The library's packets in the words of the contract.
//!
//! The library keeps values, not their form. How many bytes a field had follows from the number of bits that the
//! library reports for it, or from the length of the packet.

use traceproof_vectors::arm_etm::v3::{ExceptionInformation, InByteException, VariableField};
use traceproof_vectors::arm_etm::{CompressedAddress, Packet, Parameters, Reason};

use super::super::Isa;
use super::super::etmv3::{Address, Body, Exception, State};
use traceproof_vectors::Address32;

/// The packet; `None` for what is not a packet of the protocol.
pub(super) fn packet(body: &Body, bytes: &[u8], parameters: &Parameters) -> Option<Packet> {
    let header = *bytes.first()?;
    let payload = u8::try_from(bytes.len() - 1).unwrap_or(u8::MAX);
    let (first, ss) = (header & 0x20 != 0, header >> 2 & 3);
    let data_address = |address: &Option<Address>| address.as_ref().map(data_address);
    Some(match body {
        Body::ASync => Packet::AlignmentSync { zeros: payload.into() },
        Body::Branch { address, isa, exception, state } => {
            branch(bytes, address, *isa, exception.as_ref(), state.as_ref())
        }
        Body::CycleCount { count } => {
            Packet::CycleCount(VariableField { bits: (*count).into(), bytes: payload })
        }
        Body::ISync { .. } => i_sync(body, bytes, parameters)?,
        Body::Trigger => Packet::Trigger,
        Body::PHeader { .. } => Packet::PHeader(header),
        Body::StoreFailed => Packet::StoreFailed,
        Body::OutOfOrderData { tag, value } => {
            Packet::LoadMissData { more: false, tag: *tag, ss, value: *value }
        }
        Body::OutOfOrderPlaceholder { tag, address } => {
            Packet::LoadMissOccurred { more: false, first, tag: *tag, address: data_address(address) }
        }
        Body::NormalData { address, value } => {
            Packet::NormalData { more: false, first, address: data_address(address), ss, value: *value }
        }
        Body::DataSuppressed => Packet::DataSuppressed,
        Body::ValueNotTraced { address } => {
            let first = header & 0x10 != 0;
            Packet::ValueNotTraced { more: false, first, address: data_address(address) }
        }
        Body::Ignore => Packet::Ignore,
        Body::ContextId { value } => Packet::ContextId { more: false, value: *value },
        Body::Vmid { value } => Packet::Vmid(*value),
        Body::ExceptionEntry => Packet::ExceptionEntry,
        Body::ExceptionExit => Packet::ExceptionExit,
        Body::Timestamp { value, bits } => {
            let value = VariableField { bits: low(*value, *bits), bytes: payload };
            Packet::Timestamp { clock_change: header & 4 != 0, value }
        }
        Body::NotSynchronised
        | Body::Incomplete
        | Body::BadSequence { .. }
        | Body::BadTraceMode { .. }
        | Body::Reserved
        | Body::Other { .. } => return None,
    })
}

fn branch(
    bytes: &[u8],
    address: &Address,
    isa: Isa,
    exception: Option<&Exception>,
    state: Option<&State>,
) -> Packet {
    let compressed = instruction_address(address, isa);
    let Some(exception) = exception else { return Packet::BranchAddress(compressed) };
    if compressed.bytes == 5 && bytes.get(4).is_some_and(|byte| byte & 0x80 != 0) {
        // No state bits in this form.
        let bits = low(address.value, 32) >> 2;
        let exception = InByteException { code: (exception.number & 7) as u8, cancel: exception.cancelled };
        return Packet::InByteExceptionBranch { address: CompressedAddress { bits, bytes: 5 }, exception };
    }
    let information = exception_information(bytes, compressed.bytes, exception, state);
    Packet::ExceptionBranch { address: compressed, information }
}

/// The content of the exception information bytes. The bytes show which of them are present.
pub(super) fn exception_information(
    bytes: &[u8],
    address_bytes: u8,
    exception: &Exception,
    state: Option<&State>,
) -> ExceptionInformation {
    let information = bytes.get(usize::from(address_bytes)..).unwrap_or_default();
    let second = information.get(1).copied();
    let has_hyp = second.is_some_and(|byte| byte & 0x40 == 0);
    let has_resume = second.is_some_and(|byte| byte & 0x40 != 0) || information.len() > 2;
    ExceptionInformation {
        number: exception.number,
        cancel: exception.cancelled,
        alt_isa: state.is_some_and(|state| state.alt_isa),
        non_secure: state.is_some_and(|state| state.ns),
        hyp: has_hyp.then(|| state.is_some_and(|state| state.hyp)),
        resume: has_resume.then_some(exception.resume),
    }
}

fn i_sync(body: &Body, bytes: &[u8], parameters: &Parameters) -> Option<Packet> {
    let Body::ISync { reason, address, isa, state, context_id, cycle_count, next, .. } = body else {
        return None;
    };
    let under_lsm = next.as_ref().map(|next| instruction_address(next, *isa));
    let fixed = 2
        + usize::from(parameters.context_id_bytes)
        + if parameters.data_only { 0 } else { 4 }
        + under_lsm.map_or(0, |address| usize::from(address.bytes));
    let count_bytes = u8::try_from(bytes.len().saturating_sub(fixed)).unwrap_or(u8::MAX);
    let thumb = u32::from(matches!(isa, Isa::Thumb | Isa::ThumbEe));
    Some(Packet::InstructionSync {
        cycle_count: cycle_count.map(|count| VariableField { bits: count.into(), bytes: count_bytes }),
        context_id: *context_id,
        reason: Reason::from_code(u8::try_from(*reason).ok()?)?,
        jazelle: *isa == Isa::Jazelle,
        non_secure: state.ns,
        alt_isa: *isa == Isa::ThumbEe,
        hyp: state.hyp,
        address: address.map(|address| low(address.value, 32) as u32 | thumb).map(Address32),
        under_lsm,
    })
}

/// The address of a branch packet as it travelled.
pub(super) fn instruction_address(address: &Address, isa: Isa) -> CompressedAddress {
    let (shift, state) = match isa {
        Isa::Thumb | Isa::ThumbEe => (1, 0b1_0000),
        Isa::Jazelle => (0, 0b10_0000),
        _ => (2, 0b1000),
    };
    let bits = low(address.value, address.bits) >> shift;
    let bytes = match address.bits.saturating_sub(shift) {
        0..=6 => 1,
        7..=13 => 2,
        14..=20 => 3,
        21..=27 => 4,
        _ => 5,
    };
    let state: u64 = if bytes == 5 { state << 27 } else { 0 };
    CompressedAddress { bits: bits | state, bytes }
}

fn data_address(address: &Address) -> CompressedAddress {
    CompressedAddress { bits: low(address.value, address.bits), bytes: address.bits.div_ceil(7) }
}

fn low(value: u64, bits: u8) -> u64 {
    if bits >= 64 { value } else { value & ((1 << bits) - 1) }
}
