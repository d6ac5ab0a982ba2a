//! The information byte of an I-sync.

use traceproof_vectors::Address32;
use traceproof_vectors::arm_etm::v3::VariableField;
use traceproof_vectors::arm_etm::{CompressedAddress, Packet, Reason};

pub(super) const LSIP: u8 = 0x80;
pub(super) const J: u8 = 0x10;
const NS: u8 = 8;
const ALT_ISA: u8 = 4;
const HYP: u8 = 2;

/// Spec: ETM3-ISY-004 (7.10.5).
const fn reason(byte: u8) -> Reason {
    match byte >> 5 & 3 {
        0 => Reason::Periodic,
        1 => Reason::TraceEnabled,
        2 => Reason::Overflow,
        _ => Reason::DebugExit,
    }
}

/// The I-sync with this information byte and these other parts.
pub(super) const fn instruction_sync(
    information: u8,
    cycle_count: Option<VariableField>,
    context_id: Option<u32>,
    address: Option<Address32>,
    under_lsm: Option<CompressedAddress>,
) -> Packet {
    Packet::InstructionSync {
        cycle_count,
        context_id,
        reason: reason(information),
        jazelle: information & J != 0,
        non_secure: information & NS != 0,
        alt_isa: information & ALT_ISA != 0,
        hyp: information & HYP != 0,
        address,
        under_lsm,
    }
}
