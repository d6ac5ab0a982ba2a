//! What is tagged, counted and captured? The qualification, term by term as the formulas stand in the specification.
//!
//! Everything here is a pure function of [`Registers`], [`Parameters`] and what happens.
//! Addresses and syllables are compared bit by bit, so that a closed form elsewhere is checked by something else than itself.
//!
//! | question | place |
//! |---|---|
//! | Is an address in an instruction range? | [`range`] |
//! | Does a syllable match an opcode? | [`opcode`] |
//! | Is an access in a data range? | [`data`] |
//! | Does a counter count, and how much? | [`counters`] |
//! | Does an event address register take a miss? | [`ears`] |

pub mod counters;
pub mod data;
pub mod ears;
pub mod opcode;
pub(super) mod pair;
pub mod range;

pub use data::{data_range_match, data_tag};
pub use opcode::{OpcodeMonitor, opcode_match, opcode_tag};
pub use pair::{BitDifference, ComparedWith};
pub use range::range_tag;

use traceproof_vectors::itanium_pmu::{Instruction, Parameters, Tags};

use super::Registers;

/// The tags that an instruction takes from the registers when it is fetched.
///
/// Spec: ITA-IBR-008 to ITA-IBR-012, ITA-OPC-008, ITA-OPC-012.
#[must_use]
pub fn tags(registers: &Registers, parameters: &Parameters, instruction: &Instruction) -> Tags {
    let range = range_tag(registers, parameters, instruction.ip.0);
    Tags {
        range,
        pmc8: opcode_tag(registers, parameters, OpcodeMonitor::Pmc8, instruction, range),
        pmc9: opcode_tag(registers, parameters, OpcodeMonitor::Pmc9, instruction, range),
    }
}
