//! Packets to bytes.

use alloc::vec::Vec;

use traceproof_vectors::arm_etm::{CompressedAddress, Packet, Parameters};

use super::conventions::{BRANCH_BITS, EXCEPTION_BRANCH_BITS, has_state, tfo_header};
use crate::arm_etm::UnencodablePacket;
use crate::arm_etm::compression::{LONGEST, append_low, append_sevens, fits};
use crate::arm_etm::ss::{minimal_ss, value_bytes};

/// The bytes of one packet as they stand in the FIFO. Packets do not carry when they leave it, and with which statuses;
/// see [`Encoder`](super::Encoder).
///
/// # Errors
///
/// When the packet cannot travel unchanged under these parameters.
///
/// Spec: ETM2-HDR-001 to 010 (6.4.1), ETM2-TFO-006 to 009 (6.5).
pub fn write_packet(packet: &Packet, parameters: &Parameters) -> Result<Vec<u8>, UnencodablePacket> {
    match check(packet, parameters) {
        Some(field) => Err(UnencodablePacket { field }),
        None => {
            let mut bytes = Vec::new();
            append(packet, parameters, &mut bytes);
            Ok(bytes)
        }
    }
}

/// C bit. Spec: ETM2-HDR-009 (6.4.1).
const MORE: u8 = 1 << 7;
/// A bit of Normal Data and Load Miss Occurred packets.
const FIRST: u8 = 1 << 5;

/// Appends the bytes of a packet that passes [`check`].
pub(super) fn append(packet: &Packet, parameters: &Parameters, bytes: &mut Vec<u8>) {
    let flag = |set: bool, bit: u8| if set { bit } else { 0 };
    match *packet {
        Packet::BranchAddress(address) => append_branch(address, bytes),
        Packet::NormalData { more, first, address, ss, value } => {
            bytes.push(flag(more, MORE) | flag(first, FIRST) | ss << 2 | 0b10);
            append_data_address(address, bytes);
            append_low(value.unwrap_or(0), value.map_or(0, |_| value_bytes(ss)), bytes);
        }
        Packet::LoadMissOccurred { more, first, tag, address } => {
            bytes.push(flag(more, MORE) | flag(first, FIRST) | 0b0101_0000 | tag << 2);
            append_data_address(address, bytes);
        }
        Packet::LoadMissData { more, tag, ss, value } => {
            bytes.push(flag(more, MORE) | tag << 5 | ss << 2);
            append_low(value, value_bytes(ss), bytes);
        }
        Packet::ValueNotTraced { more, .. } => bytes.push(flag(more, MORE) | 0b0110_1010),
        Packet::ContextId { more, value } => {
            bytes.push(flag(more, MORE) | 0b0110_1110);
            append_low(value, parameters.context_id_bytes.into(), bytes);
        }
        Packet::TraceFifoOffset { reason, jazelle, context_id, address, under_lsm } => {
            bytes.push(tfo_header(reason, under_lsm.is_some(), jazelle));
            append_low(context_id.unwrap_or(0), parameters.context_id_bytes.into(), bytes);
            append_low(address.0, 4, bytes);
            if let Some(current) = under_lsm {
                append_branch(current, bytes);
            }
        }
        // `check` lets no packet of another architecture pass.
        _ => {}
    }
}

/// Spec: ETM2-BR-001 (6.7): the first byte has bit 0 set and six address bits.
fn append_branch(address: CompressedAddress, bytes: &mut Vec<u8>) {
    let first = (address.bits as u8 & 0x3f) << 1 | 1;
    append_sevens(first, address.bits >> 6, address.bytes, bytes);
}

/// Spec: ETM2-DA-001 (6.4.2).
fn append_data_address(address: Option<CompressedAddress>, bytes: &mut Vec<u8>) {
    if let Some(address) = address {
        append_sevens(address.bits as u8 & 0x7f, address.bits >> 7, address.bytes, bytes);
    }
}

/// The field for which the packet cannot travel unchanged, if there is one.
fn check(packet: &Packet, parameters: &Parameters) -> Option<&'static str> {
    let blame = |wrong: bool, field| wrong.then_some(field);
    let address = |first: bool, address: Option<CompressedAddress>| {
        blame((first && parameters.data_address) != address.is_some(), "address")
            .or_else(|| blame(address.is_some_and(|address| !fits(address, 7, 32)), "address"))
    };
    let fits_ss = |value: u32, ss: u8| ss <= 3 && minimal_ss(value) <= ss;
    let fits_context = |value: u32| u64::from(value) < 1 << (u32::from(parameters.context_id_bytes) * 8);
    let branch = |address: CompressedAddress, widest: u32| {
        let state = address.bytes < LONGEST || has_state(address.bits, parameters.has_jazelle());
        fits(address, 6, widest) && state
    };
    match *packet {
        // ETM2-EXC-007
        Packet::BranchAddress(address) => blame(!branch(address, EXCEPTION_BRANCH_BITS), "branch_address"),
        Packet::NormalData { first, address: at, ss, value, .. } => {
            blame(!parameters.traces_data(), "packet")
                .or_else(|| address(first, at))
                .or_else(|| blame(value.is_some() != parameters.data_value, "value"))
                .or_else(|| blame(!fits_ss(value.unwrap_or(0), ss), "ss"))
        }
        Packet::LoadMissOccurred { first, tag, address: at, .. } => {
            blame(!parameters.traces_data(), "packet")
                .or_else(|| blame(tag > 3, "tag"))
                .or_else(|| address(first, at))
        }
        Packet::LoadMissData { tag, ss, value, .. } => blame(!parameters.traces_data(), "packet")
            .or_else(|| blame(tag > 3, "tag"))
            .or_else(|| blame(!fits_ss(value, ss), "ss")),
        Packet::ValueNotTraced { first, address: at, .. } => {
            blame(!parameters.traces_data(), "packet").or_else(|| blame(first || at.is_some(), "first"))
        }
        Packet::ContextId { value, .. } => {
            blame(parameters.context_id_bytes == 0, "packet").or_else(|| blame(!fits_context(value), "value"))
        }
        Packet::TraceFifoOffset { jazelle, context_id, under_lsm, .. } => {
            blame(jazelle && !parameters.tfo_jazelle, "jazelle")
                .or_else(|| blame(context_id.is_some() != (parameters.context_id_bytes > 0), "context_id"))
                .or_else(|| blame(context_id.is_some_and(|value| !fits_context(value)), "context_id"))
                .or_else(|| {
                    blame(under_lsm.is_some_and(|address| !branch(address, BRANCH_BITS)), "under_lsm")
                })
        }
        _ => Some("packet"),
    }
}
