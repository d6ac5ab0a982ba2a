//! Packets to bytes.

use alloc::vec::Vec;

use traceproof_vectors::arm_etm::v1::AddressReason;
use traceproof_vectors::arm_etm::{CompressedAddress, Packet, Parameters};

use crate::arm_etm::UnencodablePacket;
use crate::arm_etm::compression::{LONGEST, append_low, append_sevens, fits};

/// The bytes of one packet as they stand in the FIFO. Packets do not carry when they leave it, and with which statuses;
/// see [`Encoder`](super::Encoder).
///
/// # Errors
///
/// When the packet cannot travel unchanged under these parameters.
///
/// Spec: ETM1-PKT-004 to 007, 016 (5.5.4, 5.6.3), ETM1-DAT-001 to 005 (5.4).
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

/// Bit 7 of the first four packets of a full address: another one follows.
const CONTINUE: u8 = 1 << 7;
/// J bit of the fifth packet. Spec: ETM1-PKT-007 (5.11).
const JAZELLE: u8 = 1 << 7;
/// Position of the reason in the fifth packet. Spec: ETM1-PKT-005 (5.5.4).
const REASON_SHIFT: u8 = 4;

/// Appends the bytes of a packet that passes [`check`].
pub(super) fn append(packet: &Packet, parameters: &Parameters, bytes: &mut Vec<u8>) {
    match *packet {
        Packet::BranchAddress(address) | Packet::DataAddress(address) => {
            append_sevens(address.bits as u8 & 0x7f, address.bits >> 7, address.bytes, bytes);
        }
        Packet::FullBranchAddress { address, reason, jazelle, context_id } => {
            bytes.extend([0, 7, 14, 21].map(|shift| (address.0 >> shift) as u8 | CONTINUE));
            let state = if jazelle { JAZELLE } else { 0 };
            bytes.push((address.0 >> 28) as u8 | reason.code() << REASON_SHIFT | state);
            append_low(context_id.unwrap_or(0), context_bytes(reason, parameters), bytes);
        }
        Packet::DataValue { bytes: count, value } => append_low(value, count.into(), bytes),
        // `check` lets no packet of another architecture pass.
        _ => {}
    }
}

/// Context ID packets after a full address. Spec: ETM1-PKT-016, 018 (5.6.3).
pub(super) fn context_bytes(reason: AddressReason, parameters: &Parameters) -> usize {
    if reason != AddressReason::Branch && parameters.minor >= 2 {
        parameters.context_id_bytes.into()
    } else {
        0
    }
}

/// The field for which the packet cannot travel unchanged, if there is one.
fn check(packet: &Packet, parameters: &Parameters) -> Option<&'static str> {
    let blame = |wrong: bool, field| wrong.then_some(field);
    let narrow = |value: u32, count: usize| u64::from(value) >> (8 * count) == 0;
    match *packet {
        // A fifth packet is a full address.
        Packet::BranchAddress(address) => {
            blame(address.bytes >= LONGEST || !fits_sevens(address), "branch_address")
        }
        Packet::FullBranchAddress { reason, jazelle, context_id, .. } => {
            let count = context_bytes(reason, parameters);
            blame(reason == AddressReason::Periodic && parameters.minor < 2, "reason")
                .or_else(|| blame(jazelle && !parameters.has_jazelle(), "jazelle"))
                .or_else(|| blame(context_id.is_some() != (count > 0), "context_id"))
                .or_else(|| blame(!narrow(context_id.unwrap_or(0), count), "context_id"))
        }
        Packet::DataAddress(address) => {
            blame(!parameters.data_address, "packet").or_else(|| blame(!fits_sevens(address), "data_address"))
        }
        Packet::DataValue { bytes, value } => blame(!parameters.data_value, "packet")
            .or_else(|| blame(!matches!(bytes, 1 | 2 | 4), "bytes"))
            .or_else(|| blame(!narrow(value, bytes.into()), "value")),
        _ => Some("packet"),
    }
}

const fn fits_sevens(address: CompressedAddress) -> bool {
    fits(address, 7, u32::BITS)
}
