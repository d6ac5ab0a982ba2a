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
    Encapsulation, Mode, Modes, NormalEncapsulation, Padding, Parameters, SiemensMessaging, SupportLayout,
    TrapVectors, Xlen,
};
pub use policy::{Compression, Idle, InterruptReport, LastNull, PayloadAlignment, Policy, SyncMode};
pub use stimulus::{Block, Cycle, Itype, Stimulus};

use alloc::vec::Vec;

use crate::{Binds, Family, Protocol, Reading};

/// The vocabulary of RISC-V E-Trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RiscvEtrace;

impl Protocol for RiscvEtrace {
    const FAMILY: Family = Family::RiscvEtrace;
    const READINGS: &'static [Reading] = &READINGS;
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
pub const FEATURES: [&str; 18] = [
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
    "packet_type",
    "stream_entry",
    "siemens",
    "atb",
];

/// Answers to questions that the specification leaves open.
pub const READINGS: [Reading; 7] = [
    Reading {
        name: "resync-counts-up-to-the-current-instruction",
        binds: Binds::Encoders,
        text: "The resynchronisation timer counts what came behind the latest synchronisation packet, the current \
               instruction included; when the limit is reached the current instruction is in state 2 (ET 9.2).",
    },
    Reading {
        name: "resync-state-advances-with-instructions",
        binds: Binds::Encoders,
        text: "Cycles without retirement do not advance the state machine of the resynchronisation timer (ET 9.2).",
    },
    Reading {
        name: "halt-keeps-ienable",
        binds: Binds::Encoders,
        text: "While the hart is halted or in reset the support packet still says that tracing is enabled (ET 7.5).",
    },
    Reading {
        name: "triggers-keep-ienable",
        binds: Binds::Encoders,
        text: "Trace-off and trace-on pulses do not change `ienable` and send no further support packet (ET 4.2.4).",
    },
    Reading {
        name: "notify-flag-even-if-due-anyway",
        binds: Binds::Encoders,
        text: "An instruction that is reported for another reason as well still has the notify flag, unless it is an \
               updiscon target (ET 7.6).",
    },
    Reading {
        name: "trace-lost-keeps-first-arrival",
        binds: Binds::Decoders,
        text: "A provisional stop that is followed by `trace_lost` stays at the first arrival (ET 7.6.2).",
    },
    Reading {
        name: "undefined-trap-address-is-next-epc",
        binds: Binds::Both,
        text: "The formally undefined address of a `thaddr` = 0 packet is the EPC of the exception that follows (ET 7.3).",
    },
];
