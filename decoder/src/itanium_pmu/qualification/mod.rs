//! What is tagged, counted and captured: the qualification, term by term as in the formulas of the specification.
//!
//! Everything here is a pure function of [`Registers`], [`Parameters`] and of occurrences. Addresses and syllables are
//! compared bit by bit, so that a closed form elsewhere is checked by independent code.
//!
//! | purpose | place |
//! |---|---|
//! | Whether an address is in an instruction range | [`range`] |
//! | Whether a syllable matches an opcode | [`opcode`] |
//! | Whether an access is in a data range | [`data`] |
//! | Whether a counter counts, and how much | [`counters`] |
//! | Whether an event address register takes a miss | [`ears`] |

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
