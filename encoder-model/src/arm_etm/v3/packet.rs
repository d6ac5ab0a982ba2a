//! Packets to bytes.

use alloc::vec::Vec;

use traceproof_vectors::arm_etm::v3::{ExceptionInformation, VariableField};
use traceproof_vectors::arm_etm::{CompressedAddress, Packet, Parameters};

use super::check::check;
use crate::arm_etm::UnencodablePacket;
use crate::arm_etm::ss::value_bytes;

/// The bytes of one packet as they stand in the FIFO.
///
/// # Errors
///
/// When the packet cannot travel unchanged under these parameters.
///
/// Spec: ETM3-HDR-001 (7.2).
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

/// A bit of data packets.
const FIRST: u8 = 1 << 5;
/// Continue bit of addresses, cycle counts, timestamps and exception information.
const CONTINUE: u8 = 1 << 7;
/// Bit of the last address byte that announces exception information. Spec: ETM3-BR-005, 007 (7.3.5).
const INFORMED: u8 = 1 << 6;
/// The end of an A-sync. Spec: ETM3-SYN-001 (7.10.4).
const ALIGNMENT_END: u8 = 0x80;

/// Appends the bytes of a packet that passes [`check`].
pub(super) fn append(packet: &Packet, parameters: &Parameters, bytes: &mut Vec<u8>) {
    match *packet {
        Packet::BranchAddress(address) => append_branch(address, 0, bytes),
        Packet::ExceptionBranch { address, information } => {
            append_branch(address, INFORMED, bytes);
            append_information(information, bytes);
        }
        Packet::InByteExceptionBranch { address, exception } => {
            let flags = CONTINUE | flag(exception.cancel, 1 << 6) | exception.code << 3;
            append_branch(address, flags, bytes);
        }
        Packet::NormalData { first, address, ss, value, .. } => {
            bytes.push(flag(first, FIRST) | ss << 2 | 0b10);
            append_data_address(address, bytes);
            append_low(value.unwrap_or(0), value.map_or(0, |_| value_bytes(ss)), bytes);
        }
        Packet::LoadMissOccurred { first, tag, address, .. } => {
            bytes.push(flag(first, FIRST) | 0b0101_0000 | tag << 2);
            append_data_address(address, bytes);
        }
        Packet::LoadMissData { tag, ss, value, .. } => {
            bytes.push(tag << 5 | ss << 2);
            append_low(value, value_bytes(ss), bytes);
        }
        Packet::ValueNotTraced { first, address, .. } => {
            bytes.push(0x6a | flag(first, 1 << 4));
            append_data_address(address, bytes);
        }
        Packet::ContextId { value, .. } => {
            bytes.push(0x6e);
            append_low(value, parameters.context_id_bytes.into(), bytes);
        }
        Packet::AlignmentSync { zeros } => {
            bytes.extend((0..zeros).map(|_| 0));
            bytes.push(ALIGNMENT_END);
        }
        Packet::CycleCount(count) => {
            bytes.push(0x04);
            append_sevens(count, bytes);
        }
        Packet::InstructionSync { .. } => append_sync(packet, parameters, bytes),
        Packet::Timestamp { clock_change, value } => {
            bytes.push(0x42 | flag(clock_change, 1 << 2));
            append_timestamp(value, bytes);
        }
        Packet::PHeader(header) => bytes.push(header),
        Packet::Vmid(value) => bytes.extend([0x3c, value]),
        Packet::Trigger => bytes.push(0x0c),
        Packet::StoreFailed => bytes.push(0x50),
        Packet::DataSuppressed => bytes.push(0x62),
        Packet::Ignore => bytes.push(0x66),
        Packet::ExceptionExit => bytes.push(0x76),
        Packet::ExceptionEntry => bytes.push(0x7e),
        // `check` lets no packet of another architecture pass.
        Packet::TraceFifoOffset { .. }
        | Packet::FullBranchAddress { .. }
        | Packet::DataAddress(_)
        | Packet::DataValue { .. } => {}
    }
}

const fn flag(set: bool, bit: u8) -> u8 {
    if set { bit } else { 0 }
}

/// Little-endian, PC-14.
fn append_low(value: u32, count: usize, bytes: &mut Vec<u8>) {
    bytes.extend(value.to_le_bytes().into_iter().take(count));
}

/// The address bytes, with `flags` in the last one. Spec: ETM3-BR-001 to 003 (7.3.5).
fn append_branch(address: CompressedAddress, flags: u8, bytes: &mut Vec<u8>) {
    let mut rest = address.bits << 1 | 1;
    for following in (0..address.bytes).rev() {
        bytes.push(rest as u8 & 0x7f | if following > 0 { CONTINUE } else { flags });
        rest >>= 7;
    }
}

/// Spec: ETM3-EXC-001 to 003 (7.3.5).
fn append_information(information: ExceptionInformation, bytes: &mut Vec<u8>) {
    let ExceptionInformation { number, cancel, alt_isa, non_secure, hyp, resume } = information;
    let first = flag(alt_isa, 1 << 6)
        | flag(cancel, 1 << 5)
        | (number as u8 & 0xf) << 1
        | u8::from(non_secure)
        | flag(hyp.is_some() || resume.is_some(), CONTINUE);
    bytes.push(first);
    if let Some(hyp) = hyp {
        bytes.push((number >> 4) as u8 & 0x1f | flag(hyp, 1 << 5) | flag(resume.is_some(), CONTINUE));
    }
    if let Some(resume) = resume {
        bytes.push(1 << 6 | resume);
    }
}

/// Spec: ETM3-DAT-003 (7.4.2).
fn append_data_address(address: Option<CompressedAddress>, bytes: &mut Vec<u8>) {
    if let Some(CompressedAddress { bits, bytes: count }) = address {
        append_sevens(VariableField { bits, bytes: count }, bytes);
    }
}

fn append_sevens(field: VariableField, bytes: &mut Vec<u8>) {
    let mut rest = field.bits;
    for following in (0..field.bytes).rev() {
        bytes.push(rest as u8 & 0x7f | flag(following > 0, CONTINUE));
        rest >>= 7;
    }
}

/// Spec: ETM3-TS-002 (7.7.4): the ninth byte has eight bits.
fn append_timestamp(field: VariableField, bytes: &mut Vec<u8>) {
    append_sevens(field, bytes);
    if field.bytes == 9
        && let Some(last) = bytes.last_mut()
    {
        *last = (field.bits >> 56) as u8;
    }
}

/// Spec: ETM3-ISY-001 to 003, 009 (7.10.5).
fn append_sync(packet: &Packet, parameters: &Parameters, bytes: &mut Vec<u8>) {
    let &Packet::InstructionSync {
        cycle_count,
        context_id,
        reason,
        jazelle,
        non_secure,
        alt_isa,
        hyp,
        address,
        under_lsm,
    } = packet
    else {
        return;
    };
    match cycle_count {
        Some(count) => {
            bytes.push(0x70);
            append_sevens(count, bytes);
        }
        None => bytes.push(0x08),
    }
    append_low(context_id.unwrap_or(0), parameters.context_id_bytes.into(), bytes);
    let information = flag(under_lsm.is_some(), 1 << 7)
        | reason.code() << 5
        | flag(jazelle, 1 << 4)
        | flag(non_secure, 1 << 3)
        | flag(alt_isa, 1 << 2)
        | flag(hyp, 1 << 1)
        | 1;
    bytes.push(information);
    if let Some(address) = address {
        append_low(address.0, 4, bytes);
    }
    if let Some(current) = under_lsm {
        append_branch(current, 0, bytes);
    }
}
