//! Whether a packet can travel unchanged.

use traceproof_vectors::arm_etm::v3::{ExceptionInformation, VariableField};
use traceproof_vectors::arm_etm::{CompressedAddress, Packet, Parameters};

use crate::arm_etm::ss::minimal_ss;

/// No A-sync is written with more zeros: a typing error must not fill the memory.
const MOST_ZEROS: u64 = 1 << 16;

/// The field for which the packet cannot travel unchanged, if there is one.
pub(super) fn check(packet: &Packet, parameters: &Parameters) -> Option<&'static str> {
    match *packet {
        // ETM3-DO-001
        Packet::BranchAddress(_)
        | Packet::ExceptionBranch { .. }
        | Packet::InByteExceptionBranch { .. }
        | Packet::PHeader(_)
        | Packet::DataSuppressed
            if parameters.data_only =>
        {
            Some("packet")
        }
        Packet::BranchAddress(address) => blame(!branch_fits(address, parameters, false), "branch_address"),
        Packet::ExceptionBranch { address, information } => {
            blame(!branch_fits(address, parameters, true), "address")
                .or_else(|| blame(!information_fits(&information), "information"))
        }
        // The deprecated form of the original scheme (ETM3-BR-006).
        Packet::InByteExceptionBranch { address, exception } => {
            blame(parameters.alternative_branches, "packet")
                .or_else(|| blame(address.bytes != 5 || address.bits >> 30 != 0, "address"))
                .or_else(|| blame(exception.code > 7, "exception"))
        }
        Packet::NormalData { .. }
        | Packet::LoadMissOccurred { .. }
        | Packet::LoadMissData { .. }
        | Packet::ValueNotTraced { .. }
        | Packet::StoreFailed
        | Packet::DataSuppressed
        | Packet::ExceptionEntry => check_data(packet, parameters),
        Packet::ContextId { more, value } => blame(parameters.context_id_bytes == 0, "packet")
            .or_else(|| blame(more, "more"))
            .or_else(|| blame(!context_fits(value, parameters), "value")),
        Packet::AlignmentSync { zeros } => blame(!(5..=MOST_ZEROS).contains(&zeros), "zeros"),
        Packet::CycleCount(count) => {
            blame(!parameters.cycle_accurate, "packet").or_else(|| blame(!count_fits(count), "cycle_count"))
        }
        Packet::InstructionSync { .. } => check_sync(packet, parameters),
        Packet::PHeader(header) => blame(!is_p_header(header, parameters.cycle_accurate), "p_header"),
        Packet::Timestamp { value, .. } => blame(!parameters.timestamps, "packet")
            .or_else(|| blame(!timestamp_fits(value, parameters.timestamp_bits), "value")),
        Packet::Vmid(_) => blame(!parameters.vmid, "packet"),
        // ETM3-MISC-003: profiles A and R from v3.5 on.
        Packet::ExceptionExit => blame(parameters.minor < 5 && !parameters.m_profile, "packet"),
        Packet::Trigger | Packet::Ignore => None,
        Packet::TraceFifoOffset { .. }
        | Packet::FullBranchAddress { .. }
        | Packet::DataAddress(_)
        | Packet::DataValue { .. } => Some("packet"),
    }
}

fn blame(wrong: bool, field: &'static str) -> Option<&'static str> {
    wrong.then_some(field)
}

fn check_data(packet: &Packet, parameters: &Parameters) -> Option<&'static str> {
    let address = |first: bool, address: Option<CompressedAddress>| {
        blame((first && parameters.data_address) != address.is_some(), "address")
            .or_else(|| blame(address.is_some_and(|address| !data_address_fits(address)), "address"))
    };
    let fits_ss = |value: u32, ss: u8| ss <= 3 && minimal_ss(value) <= ss;
    if !parameters.traces_data() {
        return Some("packet");
    }
    match *packet {
        Packet::NormalData { more, first, address: at, ss, value } => blame(more, "more")
            .or_else(|| address(first, at))
            .or_else(|| blame(value.is_some() != parameters.data_value, "value"))
            .or_else(|| blame(!fits_ss(value.unwrap_or(0), ss), "ss")),
        // ETM3-OOO-001.
        Packet::LoadMissOccurred { more, first, tag, address: at } => blame(more, "more")
            .or_else(|| blame(!(1..=3).contains(&tag), "tag"))
            .or_else(|| address(first, at)),
        // ETM3-HDR-006.
        Packet::LoadMissData { more, tag, ss, value } => blame(!parameters.data_value, "packet")
            .or_else(|| blame(more, "more"))
            .or_else(|| blame(!(1..=3).contains(&tag), "tag"))
            .or_else(|| blame(!fits_ss(value, ss), "ss")),
        Packet::ValueNotTraced { more, first, address: at } => {
            blame(more, "more").or_else(|| address(first, at))
        }
        Packet::StoreFailed => blame(!parameters.data_value, "packet"),
        Packet::ExceptionEntry => blame(!parameters.m_profile, "packet"),
        _ => None,
    }
}

fn check_sync(packet: &Packet, parameters: &Parameters) -> Option<&'static str> {
    let &Packet::InstructionSync { cycle_count, context_id, address, under_lsm, .. } = packet else {
        return None;
    };
    blame(cycle_count.is_some_and(|count| !parameters.cycle_accurate || !count_fits(count)), "cycle_count")
        .or_else(|| blame(context_id.is_some() != (parameters.context_id_bytes > 0), "context_id"))
        .or_else(|| blame(context_id.is_some_and(|value| !context_fits(value, parameters)), "context_id"))
        .or_else(|| blame(address.is_some() == parameters.data_only, "address"))
        .or_else(|| {
            let fits = |current| address.is_some() && branch_fits(current, parameters, false);
            blame(under_lsm.is_some_and(|current| !fits(current)), "under_lsm")
        })
}

/// Spec: ETM-GEN-002 (3.5.1).
fn context_fits(value: u32, parameters: &Parameters) -> bool {
    u64::from(value) < 1 << (u32::from(parameters.context_id_bytes) * 8)
}

/// Spec: ETM3-CC-001 (7.2).
const fn count_fits(count: VariableField) -> bool {
    matches!(count.bytes, 1..=5) && count.bits >> least(7 * count.bytes as u32, 32) == 0
}

/// Spec: ETM3-DAT-003 (7.4.2).
const fn data_address_fits(address: CompressedAddress) -> bool {
    matches!(address.bytes, 1..=5) && address.bits >> least(7 * address.bytes as u32, 33) == 0
}

/// Spec: ETM3-TS-001, 002 (7.7.4).
const fn timestamp_fits(value: VariableField, size: u8) -> bool {
    match (value.bytes, size) {
        (9, 64) => true,
        (bytes @ 1..=8, 64) => value.bits >> (7 * bytes) == 0,
        (bytes @ 1..=7, _) => value.bits >> least(7 * bytes as u32, 48) == 0,
        _ => false,
    }
}

const fn least(a: u32, b: u32) -> u32 {
    if a < b { a } else { b }
}

/// Spec: ETM3-BR-001 to 009 (7.3.5).
const fn branch_fits(address: CompressedAddress, parameters: &Parameters, informs: bool) -> bool {
    let CompressedAddress { bits, bytes } = address;
    let width = (7 * bytes as u32).saturating_sub(1);
    match bytes {
        1 => !informs && bits >> width == 0,
        // The last byte has a flag in the place of its highest address bit.
        2..=4 if parameters.alternative_branches => bits >> (width - 1) == 0,
        2..=4 => !informs && bits >> width == 0,
        5 => has_state((bits >> 27) as u8) && bits >> 33 == 0,
        _ => false,
    }
}

/// Whether byte 5 carries a state. Spec: ETM3-BR-003 (7.3.5).
const fn has_state(byte: u8) -> bool {
    byte & 0x38 == 0x08 || byte & 0x30 == 0x10 || byte & 0x20 == 0x20
}

/// Spec: ETM3-EXC-001 to 003, 011 (7.3.5).
fn information_fits(information: &ExceptionInformation) -> bool {
    let ExceptionInformation { number, hyp, resume, .. } = *information;
    number < 1 << 9 && (number < 1 << 4 || hyp.is_some()) && resume.is_none_or(|count| count < 1 << 4)
}

/// Spec: ETM3-PH-001 to 010 (7.3.1).
const fn is_p_header(header: u8, cycle_accurate: bool) -> bool {
    let pair = header & 0xf3 == 0x82;
    if cycle_accurate {
        header & 0x83 == 0x80 || pair || header & 0xfb == 0x92
    } else {
        header & 0x83 == 0x80 || pair
    }
}
