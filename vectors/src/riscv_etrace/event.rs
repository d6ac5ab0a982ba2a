//! What a decoder reports about the traced execution.

use alloc::vec::Vec;

use super::DataEvent;
use crate::Address;

/// One thing that happened in the traced execution.
///
/// The events of a packet come in this order:
///
/// | packet | events |
/// |---|---|
/// | format 0, 1, 2 | `Retire`… up to the reported instruction |
/// | start (3.0) | `Time`, `Retire`… up to but without the reported instruction, `Context`, `Retire` of it |
/// | trap (3.1), `thaddr` = 1 | `Time`, `Trap`, `Context`, `Retire` of the handler's first instruction |
/// | trap (3.1), `thaddr` = 0 | `Time`, `Trap` |
/// | context (3.2) | `Time`, `Context` with `precise` = false |
/// | support (3.3) ended or lost | `Retire`… if a second arrival was pending, `Stop` |
/// | support (3.3) no change | nothing |
/// | support (3.3) with `dloss`, where data trace is followed | `Data(Lost)` after the others |
/// | data | `Data` |
///
/// An instruction is reported only where the program has code for it. What a packet carried before it turned out faulty
/// stays reported: the walk up to a branch without outcome includes that branch; the arrival at a target with outcomes
/// left over includes the target; a synchronisation onto missing code gives its `Time`, `Trap` and `Context` and no
/// `Retire`.
///
/// Decoders may cut retirements as they like (one event per instruction, or one per straight run) and may
/// repeat an unchanged `Context`; [`canonical`](crate::Protocol::canonical) removes these differences.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case", deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub enum Event {
    /// Instructions that retired one after the other at consecutive addresses.
    Retire {
        /// Byte address of the first one.
        first: Address,
        /// Byte address after the last one (its address plus its size, modulo the address width).
        end: Address,
        /// How many, at least 1.
        count: u64,
    },
    /// An exception or interrupt was taken after the instructions reported so far.
    Trap {
        /// Interrupt, not exception.
        interrupt: bool,
        /// The cause as written by the trap.
        cause: u64,
        /// Only for exceptions.
        #[cfg_attr(
            feature = "serde",
            serde(default, skip_serializing_if = "Option::is_none", with = "crate::notation::hex_option")
        )]
        #[cfg_attr(feature = "schema", schemars(with = "Option<crate::notation::Hex>"))]
        tval: Option<u64>,
        /// The exception program counter; interrupts have [`Epc::Unstated`].
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Epc::is_unstated"))]
        epc: Epc,
    },
    /// Privilege level and context of the instructions that follow, or, not precise, of some point near.
    Context {
        /// Privilege level (RVET-PKT-045).
        privilege: u8,
        /// Only where packets carry it.
        #[cfg_attr(
            feature = "serde",
            serde(default, skip_serializing_if = "Option::is_none", with = "crate::notation::hex_option")
        )]
        #[cfg_attr(feature = "schema", schemars(with = "Option<crate::notation::Hex>"))]
        context: Option<u64>,
        /// From a format 3 subformat 0 or 1 packet, which has a position in the flow.
        precise: bool,
    },
    /// The `time` field of a packet; delivered before the packet's other events.
    Time {
        /// The value.
        #[cfg_attr(feature = "serde", serde(with = "crate::notation::hex"))]
        #[cfg_attr(feature = "schema", schemars(with = "crate::notation::Hex"))]
        time: u64,
    },
    /// Tracing ended or has a gap; what follows starts anew.
    Stop {
        /// Why.
        reason: StopReason,
    },
    /// A data access (ET 8).
    Data(DataEvent),
}

/// Where an exception happened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Epc {
    /// Not specified; compares equal to anything.
    #[default]
    Unstated,
    /// The trace does not carry it (RVET-DEC-050).
    Unknown,
    /// At this byte address.
    At(Address),
    /// Only of an expectation: at this byte address, or [`Unknown`](Self::Unknown). No decoder reports it.
    AtOrUnknown(Address),
}

impl Epc {
    /// Whether it is not specified.
    #[must_use]
    pub const fn is_unstated(&self) -> bool {
        matches!(self, Self::Unstated)
    }

    /// Whether this expectation is met by what a decoder reports.
    fn accepts(self, got: Self) -> bool {
        match (self, got) {
            (Self::Unstated, _) | (_, Self::Unstated) | (Self::AtOrUnknown(_), Self::Unknown) => true,
            (Self::AtOrUnknown(expected), Self::At(got)) => expected == got,
            (expected, got) => expected == got,
        }
    }
}

/// Why tracing stopped (`qual_status` of a support packet, ET 7.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub enum StopReason {
    /// `ended_rep` or `ended_ntr`: the last reported instruction is the final one.
    Ended,
    /// `trace_lost`: packets are missing here.
    Lost,
}

/// Joins retirements that continue each other and drops contexts that repeat the one in force.
pub(super) fn canonical(events: Vec<Event>) -> Vec<Event> {
    let mut result: Vec<Event> = Vec::with_capacity(events.len());
    let mut in_force = None;
    for event in events {
        match event {
            Event::Retire { first, end, count } => {
                if let Some(Event::Retire { end: open_end, count: open_count, .. }) = result.last_mut()
                    && *open_end == first
                {
                    *open_end = end;
                    *open_count += count;
                    continue;
                }
            }
            Event::Context { precise: true, .. } => {
                if in_force == Some(event) {
                    continue;
                }
                in_force = Some(event);
            }
            Event::Stop { .. } => in_force = None,
            Event::Context { .. } | Event::Trap { .. } | Event::Time { .. } | Event::Data(_) => {}
        }
        result.push(event);
    }
    result
}

/// Equality, where an [`Epc::Unstated`] on either side equals anything, and an expected [`Epc::AtOrUnknown`] both.
pub(super) fn accepts(expected: &Event, actual: &Event) -> bool {
    let (mut expected, mut actual) = (*expected, *actual);
    if let (Event::Trap { epc: wanted, .. }, Event::Trap { epc: got, .. }) = (&mut expected, &mut actual)
        && wanted.accepts(*got)
    {
        *wanted = Epc::Unstated;
        *got = Epc::Unstated;
    }
    expected == actual
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    #[test]
    fn cuts_and_repeated_contexts_carry_no_meaning() {
        let context = Event::Context { privilege: 3, context: None, precise: true };
        let stop = Event::Stop { reason: StopReason::Ended };
        let retire =
            |first: u64, end: u64, count| Event::Retire { first: Address(first), end: Address(end), count };
        let cut = vec![context, retire(0, 4, 1), context, retire(4, 6, 1), retire(0, 4, 1), stop, context];
        let whole = vec![context, retire(0, 6, 2), retire(0, 4, 1), stop, context];
        assert_eq!(canonical(cut), whole);
    }

    #[test]
    fn an_address_that_may_be_unknown() {
        let trap = |epc| Event::Trap { interrupt: false, cause: 2, tval: Some(0), epc };
        let (right, wrong) = (Epc::At(Address(0x1000)), Epc::At(Address(0x1004)));
        let expected = trap(Epc::AtOrUnknown(Address(0x1000)));
        for (got, agrees) in [(right, true), (Epc::Unknown, true), (Epc::Unstated, true), (wrong, false)] {
            assert_eq!(accepts(&expected, &trap(got)), agrees, "{got:?}");
        }
        assert!(!accepts(&trap(right), &trap(Epc::Unknown)));
        assert!(!accepts(&trap(Epc::Unknown), &trap(right)));
    }

    #[test]
    fn a_trap_between_two_runs_keeps_them_apart() {
        let trap = Event::Trap { interrupt: true, cause: 7, tval: None, epc: Epc::Unstated };
        let events = vec![
            Event::Retire { first: Address(0), end: Address(4), count: 1 },
            trap,
            Event::Retire { first: Address(4), end: Address(8), count: 1 },
        ];
        assert_eq!(canonical(events.clone()), events);
    }
}
