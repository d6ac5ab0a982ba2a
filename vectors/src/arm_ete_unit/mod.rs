//! The trace unit of ARM FEAT_ETE and ETMv4: the vocabulary of a log of its register accesses.
//!
//! The wire is the log of everything that happens at one trace unit ([`wire`]): what software and a debugger do
//! (accesses of registers, barriers, the OS Lock), what the processor and the surroundings do (resets, power, sinks),
//! and what the unit answers (values, TRCSTATR, bytes). The packets of the trace itself are another protocol of the
//! family.
//!
//! A model is driven by [`Stimulus`] and writes the log. A checker reads one and reports in which states the unit may
//! be, which access was illegal or unpredictable or lacked a step before it, and which answer no trace unit gives.
//! Where the text leaves a choice to the unit, a model makes the one of its [`Policy`] and a checker accepts every one.
//!
//! Requirements have the ids of `vectors/clauses/arm_ete.toml` with a scope that begins with `unit`.
//!
//! | purpose | place |
//! |---|---|
//! | The registers, who may access them, which bits are compared | [`Register`], [`AccessClass`] |
//! | The programming states | [`ProgrammingState`], [`StateSet`] |
//! | The trace unit, what a log shows, how the text is read | [`Parameters`], [`Shown`], [`READINGS`] |
//! | Choices of a model | [`Policy`] |
//! | What comes from outside | [`Input`] |
//! | Stimulus of a model | [`Stimulus`] |
//! | The records of a log | [`Packet`] |
//! | The bytes of a log | [`wire`] |
//! | What a checker reports, and exactly when | [`Event`], [`Rule`], [`OutputSet`] |
#![cfg_attr(
    feature = "cases",
    doc = "| The notation of logs as text | [`case::arm_ete_unit`](crate::case::arm_ete_unit) |"
)]

mod event;
mod input;
mod output_set;
mod packet;
mod parameters;
mod policy;
mod readings;
mod recovery;
mod register;
mod register_table;
mod rule;
mod states;
mod stimulus;
pub mod wire;

pub use event::Event;
pub use input::{Barrier, Input, Power, ProcessorEvent, Reset, Sink, SinkState, Visible};
pub use output_set::{OutputSet, UnknownOutput};
pub use packet::{Access, Agent, Operation, Outcome, Packet, Poll, Resources, Signal, Space, StatusBit};
pub use parameters::{Errata, Interpretation, Parameters, Shown};
pub use policy::{
    DirectWrite, DisabledWhileEnabling, EnableChange, EnabledWhileDisabling, InFlight, Policy,
    UnpredictableWrite, UnsupportedSize,
};
pub use readings::{FEATURES, READINGS};
pub use register::{AccessClass, Direction, Register, UnknownRegister};
pub use rule::{FindingKind, Rule, UnknownRule};
pub use states::{ProgrammingState, StateSet, UnknownState};
pub use stimulus::Stimulus;

use alloc::vec::Vec;

use crate::{FaultClass, Feature, Protocol, ProtocolId, Reading, Recovery};

/// The vocabulary of the trace unit of ARM FEAT_ETE and ETMv4.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ArmEteUnit;

impl Protocol for ArmEteUnit {
    const ID: ProtocolId = ProtocolId::ArmEteUnit;
    const FEATURES: &'static [Feature] = &FEATURES;
    const READINGS: &'static [Reading] = &READINGS;
    type Parameters = Parameters;
    type Policy = Policy;
    type Stimulus = Stimulus;
    type Packet = Packet;
    type Event = Event;

    fn recovery(class: FaultClass) -> Recovery {
        recovery::recovery(class)
    }

    fn is_synchronised_by(event: &Event) -> bool {
        recovery::is_synchronised_by(event)
    }

    fn canonical(events: Vec<Event>) -> Vec<Event> {
        event::canonical(events)
    }

    fn accepts(expected: &Event, actual: &Event) -> bool {
        event::accepts(expected, actual)
    }
}
