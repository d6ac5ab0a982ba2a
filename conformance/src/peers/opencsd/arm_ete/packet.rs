//! The library's packets in the words of the contract.
//!
//! Values are the library's. How many bytes a field had, and what the library does not keep (the sections of a Trace
//! Info, the format of a cycle count), follows from the bytes of the packet; no reserved bits.

use traceproof_vectors::arm::{ExceptionLevel, SecurityState};
use traceproof_vectors::arm_ete::{
    AddressField, Atoms, ContextField, Packet, Parameters, SubIsa, VariableField,
};
use traceproof_vectors::{Address, Address32};

use super::super::etmv4::{self, Body, Form};

/// The packet; `None` for what is not a packet of the protocol.
pub(super) fn packet(body: &Body, bytes: &[u8], parameters: &Parameters) -> Option<Packet> {
    let header = bytes.first().copied().unwrap_or_default();
    Some(match body {
        Body::ASync => Packet::AlignmentSync { zeros: bytes.len().saturating_sub(1) as u64 },
        Body::Discard => Packet::Discard,
        Body::Overflow => Packet::Overflow,
        Body::TraceOn => Packet::TraceOn,
        Body::FunctionReturn => Packet::FunctionReturn,
        Body::ExceptionReturn => Packet::ExceptionReturn,
        Body::TransactionStart => Packet::TransactionStart,
        Body::TransactionCommit => Packet::TransactionCommit,
        Body::TransactionFailure => exception(0x18, has_target(bytes)),
        Body::PeReset => exception(0, has_target(bytes)),
        Body::Ignore => Packet::Ignore,
        Body::TimestampMarker => Packet::TimestampMarker,
        Body::TraceInfo { .. } => return trace_info(body, bytes),
        Body::Timestamp { value, bits, count } => {
            let length = length(bytes.get(1..)?, 9);
            let value = if *bits >= 64 { *value } else { value & ((1 << bits) - 1) };
            let count = count.map(|count| field(count.into(), bytes.len() - 1 - usize::from(length)));
            Packet::Timestamp { value: VariableField { bits: value, bytes: length }, count }
        }
        Body::Exception { number, interpretation, fault_pending } if !parameters.version.is_ete() => {
            Packet::ExceptionV4 {
                number: *number,
                with_target: *interpretation == 2,
                fault_pending: (bytes.len() > 2).then_some(*fault_pending),
                reserved: 0,
            }
        }
        Body::Exception { number, interpretation, .. } => exception(*number as u8, *interpretation == 2),
        Body::Instrumentation { el, value } => {
            Packet::Instrumentation { level: *el, reserved: 0, value: *value }
        }
        Body::CycleCount { .. } => return cycle_count(body, bytes, parameters),
        Body::NumberedDataSyncMarker { number } => Packet::NumberedDataSyncMarker(*number),
        Body::UnnumberedDataSyncMarker { atoms } => Packet::UnnumberedDataSyncMarker(*atoms),
        Body::Commit { count } => Packet::Commit(field((*count).into(), bytes.len() - 1)),
        Body::Cancel { count, atoms, .. } => {
            let one = || if atoms.is_empty() { Some(None) } else { atoms.parse::<Atoms>().ok().map(Some) };
            match header {
                0x2e | 0x2f => Packet::Cancel1 {
                    count: field((*count).into(), bytes.len() - 1),
                    mispredict: header == 0x2f,
                },
                0x30..=0x33 => Packet::Mispredict { atoms: one()? },
                0x34..=0x37 => Packet::Cancel2 { atoms: one()? },
                _ => Packet::Cancel3 { atom: !atoms.is_empty(), count: u8::try_from(*count).ok()? },
            }
        }
        Body::Event { bits } => Packet::Event(*bits),
        Body::Context { context: None } => Packet::ContextSame,
        Body::Context { context: Some(context) } => Packet::Context(context_field(context)),
        Body::Address { address, context } => Packet::TargetAddress {
            address: address_field(address),
            context: context.as_ref().map(context_field),
        },
        Body::SourceAddress { address } => Packet::SourceAddress(address_field(address)),
        Body::Q { address, count } => {
            let address = address.as_ref().map(address_field);
            let before = 1 + address.as_ref().map_or(0, address_bytes);
            let count = count.map(|count| field(count.into(), bytes.len().saturating_sub(before)));
            Packet::Q { address, count }
        }
        Body::Atoms { atoms } => Packet::Atoms(atoms.parse().ok()?),
        Body::NotSynchronised
        | Body::Incomplete
        | Body::BadSequence { .. }
        | Body::Reserved
        | Body::ReservedForConfiguration
        | Body::Other { .. } => return None,
    })
}

/// An exception of ETE with the address packet after it, which the library reads as a packet of its own.
pub(super) fn with_address(exception: Packet, after: &Body) -> Packet {
    let Packet::Exception { number, with_target, reserved, .. } = exception else { return exception };
    let Body::Address { address, context } = after else { return exception };
    let (address, context) = (Some(address_field(address)), context.as_ref().map(context_field));
    Packet::Exception { number, with_target, reserved, address, context }
}

/// Whether a PE Reset or a Transaction Failure has E = 10: its Target Address, which is UNKNOWN, is there. Spec:
/// ETE-DEC-RS-007.
fn has_target(bytes: &[u8]) -> bool {
    bytes.get(1).is_some_and(|information| information & 0x41 == 0x40)
}

const fn exception(number: u8, with_target: bool) -> Packet {
    Packet::Exception { number, with_target, reserved: false, address: None, context: None }
}

fn trace_info(body: &Body, bytes: &[u8]) -> Option<Packet> {
    let Body::TraceInfo { info, key, speculation, threshold } = *body else { return None };
    let mut rest = bytes.get(1..)?;
    let control_bytes = length(rest, 4);
    let present = *rest.first()?;
    rest = rest.get(usize::from(control_bytes)..)?;
    let mut section = |bit: u8, value: u32| {
        if present >> bit & 1 == 0 {
            return None;
        }
        let length = length(rest, 5);
        rest = rest.get(usize::from(length)..).unwrap_or_default();
        Some(VariableField { bits: value.into(), bytes: length })
    };
    Some(Packet::TraceInfo {
        control_bytes,
        reserved: 0,
        info: section(0, info),
        key: section(1, key),
        speculation: section(2, speculation),
        cycle_threshold: section(3, threshold),
    })
}

fn cycle_count(body: &Body, bytes: &[u8], parameters: &Parameters) -> Option<Packet> {
    let Body::CycleCount { commit, count, threshold } = *body else { return None };
    let header = *bytes.first()?;
    let without_threshold = count.wrapping_sub(threshold);
    let low = |bits: u32| (without_threshold & bits) as u8;
    Some(match header {
        0x0e | 0x0f => {
            let commit = commit.map(|value| field(value.into(), usize::from(length(&bytes[1..], 5))));
            let before = 1 + commit.map_or(0, |commit| usize::from(commit.bytes));
            let counted = |bytes| field(without_threshold.into(), bytes);
            let count = (header == 0x0e).then(|| counted(bytes.len().saturating_sub(before)));
            Packet::CycleCount1 { commit, count }
        }
        0x0c | 0x0d => {
            let large = header == 0x0d;
            let offset = if large { parameters.maxspec.wrapping_sub(15) } else { 1 };
            let without_commit = bytes.get(1)? >> 4;
            let commit = commit.map_or(without_commit, |commit| (commit.wrapping_sub(offset) & 15) as u8);
            Packet::CycleCount2 { large, commit, count: low(15) }
        }
        _ => {
            let commit = commit.map_or(0, |commit| (commit.wrapping_sub(1) & 3) as u8);
            Packet::CycleCount3 { commit, count: low(3) }
        }
    })
}

fn address_field(address: &etmv4::Address) -> AddressField {
    let sub_isa = if address.is1 { SubIsa::Is1 } else { SubIsa::Is0 };
    let value = address.value & if address.is1 { !1 } else { !3 };
    match address.form {
        Form::ExactMatch(entry) => AddressField::ExactMatch(entry),
        Form::Bits(64) => AddressField::Bits64 { sub_isa, bits: Address(value), reserved: 0 },
        Form::Bits(32) => AddressField::Bits32 { sub_isa, bits: Address32(value as u32), reserved: 0 },
        Form::Bits(bits) => AddressField::Short {
            sub_isa,
            bits: Address32(value as u32 & ((1 << bits.min(31)) - 1)),
            bytes: if bits <= 9 { 1 } else { 2 },
        },
    }
}

/// How many bytes after the header the address has.
const fn address_bytes(address: &AddressField) -> usize {
    match address {
        AddressField::ExactMatch(_) => 0,
        AddressField::Short { bytes, .. } => *bytes as usize,
        AddressField::Bits32 { .. } => 4,
        AddressField::Bits64 { .. } => 8,
    }
}

fn context_field(context: &etmv4::Context) -> ContextField {
    ContextField {
        exception_level: ExceptionLevel::ALL[usize::from(context.el & 3)],
        security: match (context.nse, context.ns) {
            (false, false) => SecurityState::Secure,
            (false, true) => SecurityState::NonSecure,
            (true, false) => SecurityState::Root,
            (true, true) => SecurityState::Realm,
        },
        is_64_bit: context.sf,
        vmid: context.vmid,
        context_id: context.context_id,
        reserved: false,
    }
}

fn field(bits: u64, bytes: usize) -> VariableField {
    VariableField { bits, bytes: u8::try_from(bytes).unwrap_or(u8::MAX) }
}

/// How many of these bytes a field has in which bit 7 says that another byte follows, at most `most`.
fn length(bytes: &[u8], most: u8) -> u8 {
    let continued = bytes.iter().take_while(|byte| **byte & 0x80 != 0).count();
    u8::try_from(continued + 1).unwrap_or(most).min(most)
}
