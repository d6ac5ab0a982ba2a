//! Whether a packet can travel unchanged.

use traceproof_vectors::arm_pft::{
    CompressedAddress, CycleCount, ExceptionInformation, Packet, Parameters, Reason, VariableField,
};

use crate::arm::ByteField;

/// No A-sync is written with more zeros: a slip of the pen shall not fill the memory.
const MOST_ZEROS: u64 = 1 << 16;

/// The first byte of a cycle count: which of its bits are reserved outside of atoms (4.4).
const RESERVED_OF_COUNT: u8 = 0b1000_0011;
/// In `reserved` of a cycle count: bit 7 of the fifth byte.
pub(super) const FIFTH_BYTE: u8 = 1 << 2;
/// Reserved bits of the I-sync information byte.
const RESERVED_OF_SYNC: u8 = 0b1001_0001;
/// Bit 7 of the fifth address byte, in `bits`.
pub(super) const ADDRESS_END: u64 = 1 << 34;
/// The bits of a whole address, in `bits`.
const ADDRESS_BITS: u32 = 33;

/// The field for which the packet cannot travel unchanged, if there is one.
pub(super) fn check(packet: &Packet, parameters: &Parameters) -> Option<&'static str> {
    match *packet {
        Packet::AlignmentSync { zeros } => blame(!(5..=MOST_ZEROS).contains(&zeros), "zeros"),
        Packet::InstructionSync { reason, reserved, cycle_count, context_id, .. } => {
            let counted = parameters.cycle_accurate && reason != Reason::Periodic;
            blame(reserved & !RESERVED_OF_SYNC != 0, "reserved")
                .or_else(|| check_count(cycle_count, counted, RESERVED_OF_COUNT))
                .or_else(|| blame(!context_fits(context_id, parameters), "context_id"))
        }
        Packet::Atoms { atoms, cycle_count } => blame(parameters.cycle_accurate && atoms.len() != 1, "atoms")
            .or_else(|| check_count(cycle_count, parameters.cycle_accurate, 0)),
        Packet::BranchAddress { address, exception, cycle_count } => blame(!branch_fits(address), "address")
            .or_else(|| exception.and_then(|information| check_information(address, information)))
            .or_else(|| check_count(cycle_count, parameters.cycle_accurate, RESERVED_OF_COUNT)),
        Packet::WaypointUpdate { address, information, .. } => blame(!update_fits(address), "address")
            .or_else(|| blame(information.is_some() && address.bytes != 5, "information")),
        Packet::ContextId { value } => blame(!context_fits(value, parameters), "value"),
        Packet::Timestamp { value, cycle_count, .. } => {
            blame(!timestamp_fits(value, parameters.timestamp_bits), "value")
                .or_else(|| check_count(cycle_count, parameters.cycle_accurate, RESERVED_OF_COUNT))
        }
        Packet::Vmid(_) | Packet::Trigger | Packet::ExceptionReturn | Packet::Ignore => None,
    }
}

fn blame(wrong: bool, field: &'static str) -> Option<&'static str> {
    wrong.then_some(field)
}

/// Bits of the address field in so many bytes.
///
/// Spec: PFT-PKT-033 to 036 (4.5.4).
const fn address_width(bytes: u8) -> Option<u32> {
    match bytes {
        1..=4 => Some(super::address::FIELD_BITS[bytes as usize - 1]),
        5 => Some(ADDRESS_BITS),
        _ => None,
    }
}

/// Whether the bits fit, and bit 7 of a fifth byte.
fn branch_fits(address: CompressedAddress) -> bool {
    let bits = if address.bytes == 5 { address.bits & !ADDRESS_END } else { address.bits };
    address_width(address.bytes).is_some_and(|width| bits >> width == 0)
}

/// Of a waypoint update, the bit above the address field travels, too. Spec: PFT-PKT-053 (4.5.5).
fn update_fits(address: CompressedAddress) -> bool {
    match address.bytes {
        2..=4 => address_width(address.bytes).is_some_and(|width| address.bits >> (width + 1) == 0),
        _ => branch_fits(address),
    }
}

/// Spec: PFT-PKT-037, 043, 044 (4.5.4).
fn check_information(address: CompressedAddress, information: ExceptionInformation) -> Option<&'static str> {
    let ExceptionInformation { number, hyp, reserved, .. } = information;
    let (widest, reserved_bits) = if hyp.is_some() { (0x1ff, 0b1110_0000) } else { (0xf, 0b0010_0000) };
    blame(address.bytes == 1, "exception")
        .or_else(|| blame(number > widest, "number"))
        .or_else(|| blame(reserved & !reserved_bits != 0, "reserved"))
}

/// Spec: PFT-PKT-026 to 028 (4.4).
fn check_count(count: Option<CycleCount>, wanted: bool, reserved_bits: u8) -> Option<&'static str> {
    let fits = |count: CycleCount| {
        let field = ByteField::PFT_CYCLE_COUNT;
        let value = u64::from(count.value);
        let fifth = if count.bytes == 5 { FIFTH_BYTE } else { 0 };
        (1..=5).contains(&count.bytes)
            && field.low_bits(value, count.bytes.into()) == value
            && count.reserved & !(reserved_bits | fifth) == 0
    };
    blame(count.is_some() != wanted || !count.is_none_or(fits), "cycle_count")
}

/// Spec: PFT-PKT-016, 057 (4.5.7).
fn context_fits(context_id: Option<u32>, parameters: &Parameters) -> bool {
    match (context_id, parameters.context_id_bytes) {
        (None, 0) => true,
        (Some(value), bytes @ 1..=4) => u64::from(value) >> (8 * u32::from(bytes)) == 0,
        _ => false,
    }
}

/// The last byte of all has 8 bits. Spec: PFT-PKT-060 to 062 (4.5.9).
fn timestamp_fits(value: VariableField, timestamp_bits: u8) -> bool {
    let most = if timestamp_bits == 64 { 9 } else { 7 };
    let width = 7 * u32::from(value.bytes) + u32::from(value.bytes == most);
    (1..=most).contains(&value.bytes) && value.bits.checked_shr(width).unwrap_or(0) == 0
}
