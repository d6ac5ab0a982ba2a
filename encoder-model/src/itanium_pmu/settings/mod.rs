//! Which register values a measurement needs: the settings that are error-prone by hand.
//!
//! | purpose | place |
//! |---|---|
//! | Pairs of breakpoint registers that tag given addresses | [`CodeRanges`], [`DataRanges`] |
//! | Opcode match that tags given instructions | [`OpcodeMatch`], [`OpcodePattern`] |
//! | Configuration and counter for an event | [`EventRequest`] |
//! | All of it together | [`Measurement`] |
//!
//! Every answer is a list of [`Setting`]s, in the order in which they are to be written.

mod cover;
mod ear_events;
mod events;
mod measurement;
mod opcodes;
mod ranges;

pub use cover::Block;
pub use events::{EventRefusal, EventRequest, EventSettings};
pub use measurement::{Measurement, MeasurementRefusal, MeasurementSettings};
pub use opcodes::{OpcodeMatch, OpcodePattern, OpcodeRefusal, OpcodeSettings, SyllableTypes};
pub use ranges::{AddressRange, CodeRanges, Covered, DataRanges, RangeRefusal, RangeSettings, UnusedPairs};

use alloc::string::String;
use core::fmt;

use traceproof_vectors::itanium_pmu::Register;

/// One register to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// Which.
    pub register: Register,
    /// What.
    pub value: u64,
    /// What for, in words.
    pub meaning: String,
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} = {:#018x}: {}", self.register, self.value, self.meaning)
    }
}

/// The privilege levels that a plm selects, in words.
struct Levels(u8);

impl fmt::Display for Levels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("privilege level ")?;
        let mut separator = "";
        for level in (0..4).filter(|level| self.0 >> level & 1 != 0) {
            write!(f, "{separator}{level}")?;
            separator = ", ";
        }
        if separator.is_empty() { f.write_str("none") } else { Ok(()) }
    }
}
