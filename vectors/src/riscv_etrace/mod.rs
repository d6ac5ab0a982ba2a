//! RISC-V Efficient Trace 2.0: the words of the specification.
//!
//! Source references: `ET n.m` is "Efficient Trace for RISC-V" v2.0 (release 20250616), `EN n.m` is
//! "Unformatted Trace & Diagnostic Data Packet Encapsulation for RISC-V" v1.0.

mod event;
mod execution;
mod packet;
mod parameters;
mod policy;
mod stimulus;

pub use event::{Epc, Event, StopReason};
pub use execution::{Retire, Step, Trap};
pub use packet::{Packet, QualStatus, ReportedAddress};
pub use parameters::{
    Encapsulation, Mode, Modes, NormalEncapsulation, Parameters, SupportLayout, TrapVectors, Xlen,
};
pub use policy::{Compression, InterruptReport, Policy, SyncMode};
pub use stimulus::{Block, Cycle, Itype, Stimulus};

use alloc::vec::Vec;

use crate::{Family, Protocol};

/// The vocabulary of RISC-V E-Trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RiscvEtrace;

impl Protocol for RiscvEtrace {
    const FAMILY: Family = Family::RiscvEtrace;
    type Parameters = Parameters;
    type Policy = Policy;
    type Stimulus = Stimulus;
    type Packet = Packet;
    type Event = Event;

    fn canonical(events: Vec<Event>) -> Vec<Event> {
        event::canonical(events)
    }

    fn accepts(expected: &Event, actual: &Event) -> bool {
        event::accepts(expected, actual)
    }
}

/// Names of the optional features that a subject may claim in its capabilities.
///
/// Everything else in the family is mandatory for whoever claims the family at all.
pub const FEATURES: [&str; 14] = [
    "rv32",
    "rv64",
    "compressed",
    "context",
    "time",
    "full_address",
    "implicit_exception",
    "implicit_return",
    "sijump",
    "branch_prediction",
    "jump_target_cache",
    "data_trace",
    "source_id",
    "timestamp",
];
