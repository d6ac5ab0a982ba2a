//! Packets to bytes.

use alloc::vec::Vec;

use traceproof_vectors::arm_pft::{
    Atoms, CompressedAddress, CycleCount, ExceptionInformation, Packet, Parameters, VariableField,
};

use super::UnencodablePacket;
use super::address::CONTINUE;
use super::check::{ADDRESS_END, FIFTH_BYTE, check};
use crate::arm::ByteField;

/// The bytes of one packet.
///
/// # Errors
///
/// When the packet cannot travel unchanged under these parameters. Packets that the parameters' PTM never
/// sends, but that have bytes (VMID without Virtualization Extensions, exception return of PFTv1.0), are
/// written.
///
/// Spec: PFT-PKT-001 to 003 (4.5).
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

/// The end of an A-sync. Spec: PFT-PKT-004 (4.5.1).
const ALIGNMENT_END: u8 = 0x80;
/// Bit of the last address byte that announces exception information. Spec: PFT-PKT-034, 036 (4.5.4).
const INFORMED: u8 = 1 << 6;

/// Appends the bytes of a packet that [`check`] has nothing against.
pub(super) fn append(packet: &Packet, parameters: &Parameters, bytes: &mut Vec<u8>) {
    match *packet {
        Packet::AlignmentSync { zeros } => {
            bytes.extend((0..zeros).map(|_| 0));
            bytes.push(ALIGNMENT_END);
        }
        Packet::InstructionSync { .. } => append_sync(packet, parameters, bytes),
        Packet::Atoms { atoms, cycle_count } => append_atoms(atoms, cycle_count, bytes),
        Packet::BranchAddress { address, exception, cycle_count } => {
            append_address(address, exception.is_some(), bytes);
            if let Some(information) = exception {
                append_information(information, bytes);
            }
            append_count(cycle_count, 0, bytes);
        }
        Packet::WaypointUpdate { address, information, even } => {
            bytes.push(0x72);
            let first = bytes.len();
            append_address(address, information.is_some(), bytes);
            if even && let Some(byte) = bytes.get_mut(first) {
                *byte &= !1;
            }
            bytes.extend(information);
        }
        Packet::Trigger => bytes.push(0x0c),
        Packet::ContextId { value } => {
            bytes.push(0x6e);
            append_context(value, parameters, bytes);
        }
        Packet::Vmid(value) => bytes.extend([0x3c, value]),
        Packet::Timestamp { clock_change, value, cycle_count } => {
            bytes.push(0x42 | flag(clock_change, 1 << 2));
            append_timestamp(value, bytes);
            append_count(cycle_count, 0, bytes);
        }
        Packet::ExceptionReturn => bytes.push(0x76),
        Packet::Ignore => bytes.push(0x66),
    }
}

const fn flag(set: bool, bit: u8) -> u8 {
    if set { bit } else { 0 }
}

/// Spec: PFT-PKT-009 to 018 (4.5).
fn append_sync(packet: &Packet, parameters: &Parameters, bytes: &mut Vec<u8>) {
    let &Packet::InstructionSync {
        address,
        reason,
        non_secure,
        alt_isa,
        hyp,
        reserved,
        cycle_count,
        context_id,
    } = packet
    else {
        return;
    };
    bytes.push(0x08);
    bytes.extend(address.0.to_le_bytes());
    let information =
        reason.code() << 5 | flag(non_secure, 1 << 3) | flag(alt_isa, 1 << 2) | flag(hyp, 1 << 1) | 1;
    bytes.push(information ^ reserved);
    append_count(cycle_count, COUNT_OF_SYNC, bytes);
    append_context(context_id, parameters, bytes);
}

/// Bit 7 of the first byte of an I-sync's cycle count (reading `pft-count-of-i-sync-has-bit-7`). Spec:
/// PFT-PKT-018 (3.3).
const COUNT_OF_SYNC: u8 = 1 << 7;

/// One byte with a 1 above the atoms, or the atom in the first byte of its cycle count.
///
/// Spec: PFT-PKT-020 to 025 (4.5.3).
fn append_atoms(atoms: Atoms, cycle_count: Option<CycleCount>, bytes: &mut Vec<u8>) {
    let not_executed = atoms.bits() << 1;
    match cycle_count {
        Some(_) => append_count(cycle_count, 1 << 7 | not_executed, bytes),
        None => bytes.push(1 << 7 | 1 << (atoms.len() + 1) | not_executed),
    }
}

/// The count in as many bytes as it says; `first` are the other bits of its first byte.
///
/// Spec: PFT-PKT-026, 027 (4.4).
fn append_count(count: Option<CycleCount>, first: u8, bytes: &mut Vec<u8>) {
    let Some(CycleCount { value, bytes: count, reserved }) = count else { return };
    let written = ByteField::PFT_CYCLE_COUNT.write(value.into(), count.into());
    for (index, byte) in written.enumerate() {
        bytes.push(match index {
            0 => byte | (first ^ reserved & !FIFTH_BYTE),
            4 => byte | flag(reserved & FIFTH_BYTE != 0, 1 << 7),
            _ => byte,
        });
    }
}

/// The address bytes; `informed` is bit 6 of the last of two or more. Of waypoint updates that bit may be in
/// `bits`.
///
/// Spec: PFT-PKT-033 to 036 (4.5.4).
fn append_address(address: CompressedAddress, informed: bool, bytes: &mut Vec<u8>) {
    let CompressedAddress { bits, bytes: count } = address;
    let mut rest = bits << 1 | 1;
    for following in (0..count).rev() {
        bytes.push(rest as u8 & 0x7f | flag(following > 0, CONTINUE));
        rest >>= 7;
    }
    if let Some(last) = bytes.last_mut() {
        *last |= flag(informed, INFORMED) | flag(count == 5 && bits & ADDRESS_END != 0, CONTINUE);
    }
}

/// Spec: PFT-PKT-043, 044 (4.5.4).
fn append_information(information: ExceptionInformation, bytes: &mut Vec<u8>) {
    let ExceptionInformation { number, alt_isa, non_secure, hyp, reserved } = information;
    let [low, high] = [number as u8 & 0xf, (number >> 4) as u8 & 0x1f];
    let reserved_first = reserved & 1 << 5;
    bytes.push(
        flag(hyp.is_some(), CONTINUE)
            | flag(alt_isa, 1 << 6)
            | reserved_first
            | low << 1
            | u8::from(non_secure),
    );
    if let Some(hyp) = hyp {
        bytes.push(reserved & 0b1100_0000 | flag(hyp, 1 << 5) | high);
    }
}

/// Little-endian. Spec: PFT-PKT-057 (4.5.7).
fn append_context(value: Option<u32>, parameters: &Parameters, bytes: &mut Vec<u8>) {
    if let Some(value) = value {
        bytes.extend(value.to_le_bytes().into_iter().take(parameters.context_id_bytes.into()));
    }
}

/// Seven bits in each byte; the last possible one has eight, with 48 bits the two upper ones reserved.
///
/// Spec: PFT-PKT-060 to 062 (4.5.9).
fn append_timestamp(value: VariableField, bytes: &mut Vec<u8>) {
    let mut rest = value.bits;
    for following in (0..value.bytes).rev() {
        let byte = if following > 0 { rest as u8 & 0x7f | CONTINUE } else { rest as u8 };
        bytes.push(byte);
        rest >>= 7;
    }
}
