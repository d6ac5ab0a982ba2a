//! What a decoder reports about the traced execution (appendix B).

use alloc::vec::Vec;

use crate::Address32;
use crate::arm::InstructionSet;
use crate::arm_etm::Reason;

/// One thing that happened in the traced execution.
///
/// In which order events come, and which faults there are, stands with [the module](super). Decoders may cut runs of
/// instructions as they like and repeat a Context ID or VMID that did not change;
/// [`canonical`](crate::Protocol::canonical) removes these differences.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case", deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub enum Event {
    /// An I-sync packet of any reason, the periodic one included (B.3.1 step 3a, PFT-DEC-004, PFT-DEC-065,
    /// PFT-DEC-076). [`Reason::Overflow`] also says that instructions before it are lost.
    TraceOn {
        /// Why.
        reason: Reason,
        /// The next instruction, without Thumb bit.
        address: Address32,
        /// Its instruction set: A32, T32 or T32EE.
        isa: InstructionSet,
        /// Non-secure state.
        non_secure: bool,
        /// Hyp mode; false without Virtualization Extensions.
        hyp: bool,
        /// Present if Context IDs are traced.
        #[cfg_attr(
            feature = "serde",
            serde(default, skip_serializing_if = "Option::is_none", with = "crate::notation::hex32_option")
        )]
        #[cfg_attr(feature = "schema", schemars(with = "Option<crate::notation::Hex>"))]
        context_id: Option<u32>,
    },
    /// Instructions that lie one after the other in memory. At most the last one is a waypoint (B.3.2, PFT-DEC-032,
    /// PFT-DEC-063).
    Instructions {
        /// Address of the first one, without Thumb bit.
        first: Address32,
        /// Address after the last one, modulo 2^32.
        end: Address32,
        /// How many, 1 or more.
        count: u64,
        /// Their instruction set.
        isa: InstructionSet,
        /// Non-secure state.
        non_secure: bool,
        /// Hyp mode.
        hyp: bool,
        /// What the trace says of the last one; nothing is known of the conditions of the others.
        last: Outcome,
    },
    /// A branch address packet that defines where execution is again, after the flow was lost (PFT-ERR-008,
    /// PFT-DEC-079).
    BranchTo {
        /// The next instruction, without Thumb bit.
        address: Address32,
        /// Its instruction set.
        isa: InstructionSet,
        /// Non-secure state.
        non_secure: bool,
        /// Hyp mode.
        hyp: bool,
    },
    /// A branch address packet with an exception (B.3.2, PFT-DEC-026, PFT-DEC-064).
    Exception {
        /// Exception\[8:0\], 1 to 511; see [`exception_name`].
        number: u16,
        /// The first instruction that was not executed, to which a handler of most exceptions returns; `None` while the
        /// flow is undefined.
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
        returns_to: Option<Address32>,
        /// The next instruction, that of the handler; 0 on entry to Debug state (5.3.8).
        address: Address32,
        /// Its instruction set.
        isa: InstructionSet,
        /// Non-secure state after the exception.
        non_secure: bool,
        /// Hyp mode after the exception.
        hyp: bool,
    },
    /// The most recently traced waypoint was an exception return (4.5.10, PFT-DEC-056, PFT-DEC-057).
    ExceptionReturn,
    /// The trigger occurred (PFT-DEC-015).
    Trigger,
    /// The Context ID of the instructions after it (4.5.7, PFT-DEC-045, PFT-DEC-046).
    ContextId(
        #[cfg_attr(feature = "serde", serde(with = "crate::notation::hex32"))]
        #[cfg_attr(feature = "schema", schemars(with = "crate::notation::Hex"))]
        u32,
    ),
    /// The VMID of the instructions after it (PFT-DEC-047).
    Vmid(
        #[cfg_attr(feature = "serde", serde(with = "crate::notation::hex8"))]
        #[cfg_attr(feature = "schema", schemars(with = "crate::notation::Hex"))]
        u8,
    ),
    /// A timestamp (4.5.9).
    Timestamp {
        /// The natural binary value; `None` until a complete one was seen (PFT-ERR-019, PFT-ERR-020).
        #[cfg_attr(
            feature = "serde",
            serde(default, skip_serializing_if = "Option::is_none", with = "crate::notation::hex_option")
        )]
        #[cfg_attr(feature = "schema", schemars(with = "Option<crate::notation::Hex>"))]
        value: Option<u64>,
        /// A clock frequency changed since the timestamp before.
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "core::ops::Not::not"))]
        clock_change: bool,
    },
    /// A cycle count, before the other events of its packet (4.4, PFT-DEC-060, PFT-DEC-075).
    Cycles {
        /// Cycles since the cycle count before.
        count: u32,
        /// Cycles since decoding began, this count included.
        total: u64,
    },
}

/// What the trace says of an instruction (B.3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Outcome {
    /// It is a waypoint and was executed: E atom or branch address packet.
    Executed,
    /// It is a waypoint and was not executed: N atom.
    NotExecuted,
    /// Execution passed it; whether its condition passed is not traced.
    Unknown,
}

/// The name of an exception of the A and R profiles (4.5.4, PFT-PKT-050); `None` for 0, and for the reserved 6, 7 and
/// 16 to 511 (PFT-PKT-051).
#[must_use]
pub const fn exception_name(number: u16) -> Option<&'static str> {
    Some(match number {
        1 => "Debug state entry",
        2 => "Secure Monitor Call",
        3 => "Hyp mode entry",
        4 => "asynchronous Data Abort",
        5 => "ThumbEE check",
        8 => "processor reset",
        9 => "Undefined Instruction",
        10 => "Supervisor Call",
        11 => "Prefetch Abort or software breakpoint",
        12 => "synchronous Data Abort or software watchpoint",
        13 => "generic exception",
        14 => "IRQ",
        15 => "FIQ",
        _ => return None,
    })
}

/// Joins instructions that continue each other, unless the trace says something of the last one before the joint, and
/// drops Context IDs and VMIDs that repeat the one in force.
pub(super) fn canonical(events: Vec<Event>) -> Vec<Event> {
    let mut result: Vec<Event> = Vec::with_capacity(events.len());
    let (mut context_in_force, mut vmid_in_force) = (None, None);
    for event in events {
        let is_redundant = match event {
            Event::Instructions { .. } => result.last_mut().is_some_and(|before| join(before, &event)),
            Event::TraceOn { context_id: Some(context_id), .. } => {
                context_in_force = Some(context_id);
                false
            }
            Event::ContextId(context_id) => context_in_force.replace(context_id) == Some(context_id),
            Event::Vmid(vmid) => vmid_in_force.replace(vmid) == Some(vmid),
            _ => false,
        };
        if !is_redundant {
            result.push(event);
        }
    }
    result
}

/// Adds the instructions of `event` to those of `before`, if they are one run.
fn join(before: &mut Event, event: &Event) -> bool {
    let Event::Instructions { first, end, count, isa, non_secure, hyp, last } = *event else {
        return false;
    };
    if let Event::Instructions {
        first: _,
        end: open_end,
        count: open_count,
        isa: open_isa,
        non_secure: open_non_secure,
        hyp: open_hyp,
        last: open_last,
    } = before
        && (*open_end, *open_last) == (first, Outcome::Unknown)
        && (*open_isa, *open_non_secure, *open_hyp) == (isa, non_secure, hyp)
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
    use super::*;
    use alloc::vec;

    fn run(first: u32, end: u32, last: Outcome) -> Event {
        Event::Instructions {
            first: Address32(first),
            end: Address32(end),
            count: u64::from((end - first) / 4),
            isa: InstructionSet::A32,
            non_secure: false,
            hyp: false,
            last,
        }
    }

    fn on(context_id: u32) -> Event {
        Event::TraceOn {
            reason: Reason::Periodic,
            address: Address32(0),
            isa: InstructionSet::A32,
            non_secure: false,
            hyp: false,
            context_id: Some(context_id),
        }
    }

    #[test]
    fn runs_are_joined_up_to_the_next_outcome() {
        use Outcome::{Executed, NotExecuted, Unknown};
        let cut = vec![
            run(0, 4, Unknown),
            run(4, 8, Unknown),
            run(8, 12, NotExecuted),
            run(12, 16, Executed),
            run(32, 36, Unknown),
            Event::Trigger,
            run(36, 40, Unknown),
        ];
        let whole = vec![
            run(0, 12, NotExecuted),
            run(12, 16, Executed),
            run(32, 36, Unknown),
            Event::Trigger,
            run(36, 40, Unknown),
        ];
        assert_eq!(canonical(cut), whole);
        let mut thumb = run(4, 8, Unknown);
        if let Event::Instructions { isa, .. } = &mut thumb {
            *isa = InstructionSet::T32;
        }
        let states = vec![run(0, 4, Unknown), thumb];
        assert_eq!(canonical(states.clone()), states);
    }

    #[test]
    fn repeated_contexts_are_dropped() {
        let (context, vmid) = (Event::ContextId, Event::Vmid);
        let repeated = vec![on(1), context(1), context(2), context(2), vmid(1), on(1), context(1), vmid(1)];
        assert_eq!(canonical(repeated), [on(1), context(2), vmid(1), on(1)]);
    }

    #[test]
    fn reserved_exceptions_have_no_name() {
        let named = (0..512).filter(|number| exception_name(*number).is_some());
        assert_eq!(named.collect::<Vec<_>>(), [1, 2, 3, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15]);
    }
}
