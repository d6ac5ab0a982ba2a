//! What a decoder reports about the traced execution.

use alloc::vec::Vec;

use crate::Address;
use crate::arm::{Context, ExceptionLevel, InstructionSet};

/// One thing that happened in the traced execution, after speculation and transactions are resolved.
///
/// In which order events come, and which faults there are, stands with [the module](super). Decoders may cut runs of
/// instructions as they like, repeat a context that did not change, and report a corrected outcome at once where they
/// held it until then; [`canonical`](crate::Protocol::canonical) removes these differences.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case", deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub enum Event {
    /// A Trace Info element, the periodic ones included.
    TraceInfo {
        /// CC, INFO\[0\]: cycle counting is enabled.
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "core::ops::Not::not"))]
        cycle_counting: bool,
        /// CYCT; 0 if CC is 0, whatever travelled (ETE-DEC-TI-004).
        #[cfg_attr(feature = "serde", serde(default))]
        cycle_threshold: u16,
        /// SPEC: P0 elements that are uncommitted here.
        #[cfg_attr(feature = "serde", serde(default))]
        speculation: u32,
        /// T, INFO\[6\]: within a transaction.
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "core::ops::Not::not"))]
        transactional: bool,
    },
    /// Instructions before it were not traced.
    TraceOn,
    /// The context of the instructions after it. The exception level is always present; Context ID and VMID are present
    /// if they have bytes ([`context_id_bytes`](super::Parameters::context_id_bytes)), and 0 where none travelled since
    /// the latest Trace Info (ETE-DEC-TI-003).
    Context(Context),
    /// Instructions that lie one after the other in memory.
    Instructions {
        /// Address of the first one; of T32, bit 0 is 0.
        first: Address,
        /// Address after the last one, modulo 2^64, in `AArch32` state modulo 2^32.
        end: Address,
        /// How many, 1 or more.
        count: u64,
        /// Their instruction set.
        isa: InstructionSet,
        /// What the trace says of the last one. A P0 instruction among the others was not taken.
        last: Outcome,
    },
    /// Instructions that were executed without their path being traced, after those reported before it (Q elements).
    UnknownPath {
        /// How many; `None` = not known.
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
        count: Option<u32>,
    },
    /// The outcome of the latest [`Instructions`](Self::Instructions) with an outcome is the other one: a Mispredict
    /// element for an atom that was already committed (I_MDSCN). The flow goes on accordingly.
    Mispredict,
    /// An exception, PE Reset included. Before PE Reset no instructions after the latest P0 element are reported, and
    /// where that element led to, address and context, is doubtful (ETE-DEC-EXC-003).
    Exception {
        /// TYPE: 5 bits of ETE, 10 of ETMv4; see [`exception_name`].
        number: u16,
        /// The preferred return address, in `AArch32` state modulo 2^32. `None` = UNKNOWN: PE Reset, a tail-chained
        /// exception of the M profile (ETE-V4-EXC-001), an exception of ETMv4 without address packet.
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
        returns_to: Option<Address>,
        /// P of ETMv4: a fault is pending.
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "core::ops::Not::not"))]
        fault_pending: bool,
    },
    /// An exception return packet of ETMv4: a hint, never a target (ETE-V4-RET-001).
    ExceptionReturn,
    /// A function return packet of ETMv4 (A9).
    FunctionReturn,
    /// A transaction begins. What it executes is reported when it ends.
    TransactionStart,
    /// The transaction ended and took effect.
    TransactionCommit,
    /// The transaction ended without effect: by a Transaction Failure packet, or implied by PE Reset, Discard or
    /// Overflow (ETE-DEC-TRX-003).
    TransactionFailure,
    /// A cycle count element.
    Cycles {
        /// Cycles between the latest two Commit elements with a count; `None` = UNKNOWN (R_VZXNN, R_PFZXK).
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
        count: Option<u32>,
        /// Sum of the counts since the latest UNKNOWN one, or since synchronisation; 0 if this one is UNKNOWN
        /// (ETE-DEC-AN-007). Saturates.
        total: u64,
    },
    /// A timestamp.
    Timestamp {
        /// `None` = UNKNOWN, which travels as 0 (ETE-TS0-001).
        #[cfg_attr(
            feature = "serde",
            serde(default, skip_serializing_if = "Option::is_none", with = "crate::notation::hex_option")
        )]
        #[cfg_attr(feature = "schema", schemars(with = "Option<crate::notation::Hex>"))]
        value: Option<u64>,
        /// Cycles from the latest cycle count element to the element it belongs to; `None` = none travelled. Never part
        /// of a total (R_MWJHD).
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
        cycles: Option<u32>,
        /// Which element it belongs to.
        #[cfg_attr(feature = "serde", serde(default))]
        of: TimestampOf,
    },
    /// A timestamp marker: where the time of a timestamp after it was taken (R_RFYPT).
    TimestampMarker,
    /// A trace unit event, 0 to 3.
    Event {
        /// Which.
        number: u8,
    },
    /// A value that software wrote with TRCIT.
    Instrumentation {
        /// The exception level.
        exception_level: ExceptionLevel,
        /// The value.
        #[cfg_attr(feature = "serde", serde(with = "crate::notation::hex"))]
        #[cfg_attr(feature = "schema", schemars(with = "crate::notation::Hex"))]
        value: u64,
    },
    /// A data synchronization marker of ETMv4.
    DataSyncMarker {
        /// 0 to 7; `None` = an unnumbered one.
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
        number: Option<u8>,
    },
    /// An Overflow packet: trace is lost here. It implies a Discard, which is not reported besides.
    Overflow,
    /// A Discard packet. Outcome and target of the P0 element reported last may be wrong (ETE-DEC-AN-008).
    Discard,
}

/// What the trace says of the last instruction of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Outcome {
    /// It is a P0 instruction and was taken: E atom, source address, or an unconditional direct branch within a Q
    /// element.
    Taken,
    /// It is a P0 instruction and was not taken: N atom.
    NotTaken,
    /// No element stands for it: an exception came after it, or a Q element counted it.
    Passed,
}

/// Which element a timestamp belongs to (R_MCSGX, R_DGTJZ, R_JNWJY).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum TimestampOf {
    /// The latest P0, Event or Instrumentation element before the timestamp packet; without
    /// [`timestamp_markers`](super::Parameters::timestamp_markers) always.
    #[default]
    Latest,
    /// The latest of these before the latest marker packet that precedes the timestamp.
    Marker,
    /// An element before the start of trace: there are markers, but none since the latest timestamp, Discard, Overflow
    /// or start of decoding.
    BeforeTrace,
}

/// The name of an exception of ETE, and of ETMv4 on the A and R profiles (sheet 5.6); `None` for reserved numbers.
#[must_use]
pub const fn exception_name(number: u16) -> Option<&'static str> {
    Some(match number {
        0x00 => "PE Reset",
        0x01 => "Debug halt",
        0x02 => "Call",
        0x03 => "Trap",
        0x04 => "System Error",
        0x06 => "Inst debug",
        0x07 => "Data debug",
        0x0a => "Alignment",
        0x0b => "Inst fault",
        0x0c => "Data fault",
        0x0e => "IRQ",
        0x0f => "FIQ",
        0x10..=0x17 => "IMPLEMENTATION DEFINED",
        0x18 => "Transaction Failure",
        _ => return None,
    })
}

/// The name of an exception of ETMv4 on the M profile (sheet 2.3); `None` for numbers without one.
#[must_use]
pub const fn exception_name_m_profile(number: u16) -> Option<&'static str> {
    Some(match number {
        0x01 => "PE Reset",
        0x02 => "NMI",
        0x03 => "HardFault",
        0x04 => "MemManage",
        0x05 => "BusFault",
        0x06 => "UsageFault",
        0x0b => "SVC",
        0x0c => "DebugMonitor",
        0x0e => "PendSV",
        0x0f => "SysTick",
        0x10..=0x17 | 0x208..=0x3ef => "IRQ",
        0x18 => "DebugHalt",
        0x19 => "LazyFP push",
        0x1a => "Lockup",
        _ => return None,
    })
}

/// Joins instructions that continue each other, unless the trace says something of the last one before the joint, drops
/// contexts that repeat the one in force, and applies Mispredicts to the outcome that they correct.
pub(super) fn canonical(events: Vec<Event>) -> Vec<Event> {
    let mut result: Vec<Event> = Vec::with_capacity(events.len());
    let mut in_force = None;
    for event in events {
        let is_redundant = match event {
            Event::Instructions { .. } => result.last_mut().is_some_and(|before| join(before, &event)),
            Event::Context(context) => in_force.replace(context) == Some(context),
            Event::Mispredict => result.iter_mut().rev().any(correct),
            _ => false,
        };
        if !is_redundant {
            result.push(event);
        }
    }
    result
}

/// Whether this was a run with an outcome; it has the other outcome now.
fn correct(event: &mut Event) -> bool {
    let Event::Instructions { last, .. } = event else { return false };
    *last = match *last {
        Outcome::Taken => Outcome::NotTaken,
        Outcome::NotTaken => Outcome::Taken,
        Outcome::Passed => return false,
    };
    true
}

/// Adds the instructions of `event` to those of `before`, if they are one run.
fn join(before: &mut Event, event: &Event) -> bool {
    let Event::Instructions { first, end, count, isa, last } = *event else { return false };
    if let Event::Instructions { first: _, end: open_end, count: open_count, isa: open_isa, last: open_last } =
        before
        && (*open_end, *open_isa, *open_last) == (first, isa, Outcome::Passed)
    {
        *open_end = end;
        *open_count += count;
        *open_last = last;
        return true;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::Outcome::{NotTaken, Passed, Taken};
    use super::*;
    use alloc::vec;

    fn run(first: u64, end: u64, last: Outcome) -> Event {
        let (first, end, count) = (Address(first), Address(end), (end - first) / 4);
        Event::Instructions { first, end, count, isa: InstructionSet::A64, last }
    }

    #[test]
    fn runs_are_joined_up_to_the_next_outcome() {
        let cut = vec![
            run(0, 4, Passed),
            run(4, 8, Passed),
            run(8, 12, NotTaken),
            run(12, 16, Taken),
            run(32, 36, Passed),
            Event::TraceOn,
            run(36, 40, Passed),
        ];
        let whole = vec![
            run(0, 12, NotTaken),
            run(12, 16, Taken),
            run(32, 36, Passed),
            Event::TraceOn,
            run(36, 40, Passed),
        ];
        assert_eq!(canonical(cut), whole);
        let mut thumb = run(4, 8, Passed);
        if let Event::Instructions { isa, .. } = &mut thumb {
            *isa = InstructionSet::T32;
        }
        let states = vec![run(0, 4, Passed), thumb];
        assert_eq!(canonical(states.clone()), states);
    }

    #[test]
    fn repeated_contexts_are_dropped() {
        let context = |id| Event::Context(Context::default().with_context_id(Some(id)));
        let repeated = vec![context(1), Event::TraceOn, context(1), context(2), context(2), context(1)];
        assert_eq!(canonical(repeated), [context(1), Event::TraceOn, context(2), context(1)]);
    }

    #[test]
    fn mispredicts_correct_the_latest_outcome() {
        let event = Event::Event { number: 1 };
        let corrected =
            vec![run(0, 4, Taken), run(8, 12, Taken), run(40, 44, Passed), event, Event::Mispredict];
        assert_eq!(
            canonical(corrected),
            [run(0, 4, Taken), run(8, 12, NotTaken), run(40, 44, Passed), event]
        );
        let twice = vec![run(0, 4, NotTaken), Event::Mispredict, Event::Mispredict];
        assert_eq!(canonical(twice), [run(0, 4, NotTaken)]);
        assert_eq!(canonical(vec![Event::Mispredict]), [Event::Mispredict], "nothing to correct");
    }

    #[test]
    fn reserved_exceptions_have_no_name() {
        let named = |name: fn(u16) -> Option<&'static str>| {
            (0..1024).filter(|number| name(*number).is_some()).collect::<Vec<_>>()
        };
        let expected = [0, 1, 2, 3, 4, 6, 7, 10, 11, 12, 14, 15].into_iter().chain(16..=24);
        assert_eq!(named(exception_name), expected.collect::<Vec<_>>());
        let expected = [1, 2, 3, 4, 5, 6, 11, 12, 14].into_iter().chain(15..=26).chain(0x208..=0x3ef);
        assert_eq!(named(exception_name_m_profile), expected.collect::<Vec<_>>());
    }
}
