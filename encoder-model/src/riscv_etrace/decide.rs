//! Which packet an item gets: the decision list of the revised flow chart (ET 9).

use super::resync::State;

/// What the decision is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Subject {
    /// A retired instruction.
    Instruction,
    /// A trap that may have to be reported before its handler: an exception, or under
    /// [`InterruptReport::Separate`](traceproof_vectors::riscv_etrace::InterruptReport::Separate) an interrupt too.
    Trap,
    /// An interrupt that is reported with its handler. Spec: RVET-ENC-081 (ET 7.3.1).
    ReportedWithHandler,
}

/// Everything that the decision depends on. "Before" is the item before, "next" the one after.
#[derive(Clone, Copy, Debug)]
pub(super) struct Situation {
    pub(super) subject: Subject,
    /// First qualified item, or first one after a loss.
    pub(super) first: bool,
    /// The item before is a trap, qualified or not.
    pub(super) after_trap: bool,
    /// That trap has been reported with `thaddr` = 0.
    pub(super) trap_reported: bool,
    /// The item before is an uninferable discontinuity.
    pub(super) after_updiscon: bool,
    /// Privilege, precise context or way of tracing changes between the item before and this one.
    pub(super) change: bool,
    pub(super) resync: State,
    /// A branch outcome, possibly this item's own, is waiting.
    pub(super) branches: bool,
    /// The outcomes can wait no longer.
    pub(super) branches_full: bool,
    /// The counter of predicted branches can count no further.
    pub(super) count_full: bool,
    /// A trigger asks for a report.
    pub(super) notify: bool,
    pub(super) next: Next,
}

/// What the item after means for the one at hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// An instruction that simply continues tracing.
    Continues,
    /// An instruction after a privilege or precise context change.
    Changes,
    /// An instruction after an asynchronous discontinuity.
    Breaks,
    /// A trap.
    Traps,
    /// The item is not qualified, or there is none.
    Ends,
}

/// Which packet an item gets, at most one besides a context packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Decision {
    /// None.
    Nothing,
    /// Format 3 subformat 1, `thaddr` = 0, for the trap before.
    TrapBefore,
    /// Format 3 subformat 1, `thaddr` = 0, for this trap.
    TrapHere,
    /// Format 3 subformat 1, `thaddr` = 1, for the trap before, with this instruction as its handler.
    Handler,
    /// Format 3 subformat 0.
    Start,
    /// Address of this instruction.
    Address(Reason),
    /// Pending branches without address.
    Branches,
}

/// Why an address is reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reason {
    /// The instruction is the target of an uninferable discontinuity.
    Updiscon,
    /// A notify request, or branches that a resynchronisation waits for.
    Request,
    /// The last instruction before something else, or a full counter.
    Last,
}

/// Goes through the list. The first rule that applies wins. Line 13, context packets, is not part of the
/// choice: such a packet excludes no other.
///
/// Spec: RVET-ENC-001 to 004, RVET-ENC-015 to 025, RVET-ENC-029, RVET-ENC-076, RVET-ENC-084 (ET 9).
pub(super) const fn decide(s: &Situation) -> Decision {
    match s.subject {
        Subject::Instruction => instruction(s),
        Subject::Trap | Subject::ReportedWithHandler => trap(s),
    }
}

/// A trap never takes the rules for addresses and branches (RVET-ENC-076).
const fn trap(s: &Situation) -> Decision {
    // Lines 2 and 3: the handler of the trap before never retires. They need a decoder that knows of the
    // trap before (RVET-ENC-084).
    if s.after_trap && !s.first {
        return if s.trap_reported { Decision::TrapHere } else { Decision::TrapBefore };
    }
    // Lines 6 and 8: without this packet the place of the exception would be unknown.
    if matches!(s.subject, Subject::Trap) && (s.first || s.after_updiscon) {
        return Decision::TrapHere;
    }
    Decision::Nothing
}

const fn instruction(s: &Situation) -> Decision {
    // Lines 4 and 5. An unqualified trap is reported too: tracing may start at a handler (RVET-ENC-077).
    if s.after_trap {
        return if s.trap_reported { Decision::Start } else { Decision::Handler };
    }
    // Line 7.
    if s.first || s.change || matches!(s.resync, State::Now) {
        return Decision::Start;
    }
    // Line 9. It comes before the requests, so an updiscon target never has the notify flag (RVET-ENC-035).
    if s.after_updiscon {
        return Decision::Address(Reason::Updiscon);
    }
    // Line 10.
    if s.notify || (matches!(s.resync, State::Due) && s.branches) {
        return Decision::Address(Reason::Request);
    }
    // Line 11. An asynchronous discontinuity is like a trap: with or without branches (RVET-ENC-043).
    let last = match s.next {
        Next::Continues => false,
        Next::Changes => s.branches,
        Next::Breaks | Next::Traps | Next::Ends => true,
    };
    if last || s.count_full {
        return Decision::Address(Reason::Last);
    }
    // Line 12.
    if s.branches_full {
        return Decision::Branches;
    }
    Decision::Nothing
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Situation = Situation {
        subject: Subject::Instruction,
        first: false,
        after_trap: false,
        trap_reported: false,
        after_updiscon: false,
        change: false,
        resync: State::Counting,
        branches: false,
        branches_full: false,
        count_full: false,
        notify: false,
        next: Next::Continues,
    };

    #[test]
    fn every_line_of_the_list_has_its_packet() {
        let exception = Situation { subject: Subject::Trap, ..PLAIN };
        let interrupt = Situation { subject: Subject::ReportedWithHandler, ..PLAIN };
        let cases = [
            (PLAIN, Decision::Nothing),
            // 2, 3
            (Situation { after_trap: true, ..exception }, Decision::TrapBefore),
            (Situation { after_trap: true, trap_reported: true, ..exception }, Decision::TrapHere),
            (Situation { after_trap: true, ..interrupt }, Decision::TrapBefore),
            (Situation { after_trap: true, trap_reported: true, ..interrupt }, Decision::TrapHere),
            // 4, 5
            (Situation { after_trap: true, ..PLAIN }, Decision::Handler),
            (Situation { after_trap: true, first: true, ..PLAIN }, Decision::Handler),
            (Situation { after_trap: true, trap_reported: true, ..PLAIN }, Decision::Start),
            // 6, also after an unreported trap
            (Situation { first: true, ..exception }, Decision::TrapHere),
            (Situation { first: true, after_trap: true, ..exception }, Decision::TrapHere),
            (Situation { first: true, ..interrupt }, Decision::Nothing),
            // 7
            (Situation { first: true, ..PLAIN }, Decision::Start),
            (Situation { change: true, after_updiscon: true, ..PLAIN }, Decision::Start),
            (Situation { resync: State::Now, notify: true, ..PLAIN }, Decision::Start),
            // 8
            (Situation { after_updiscon: true, change: true, ..exception }, Decision::TrapHere),
            (Situation { after_updiscon: true, ..interrupt }, Decision::Nothing),
            // 9, 10, 11
            (Situation { after_updiscon: true, notify: true, ..PLAIN }, Decision::Address(Reason::Updiscon)),
            (Situation { notify: true, next: Next::Ends, ..PLAIN }, Decision::Address(Reason::Request)),
            (Situation { resync: State::Due, branches: true, ..PLAIN }, Decision::Address(Reason::Request)),
            (Situation { resync: State::Due, ..PLAIN }, Decision::Nothing),
            (Situation { next: Next::Traps, ..PLAIN }, Decision::Address(Reason::Last)),
            (Situation { next: Next::Ends, ..PLAIN }, Decision::Address(Reason::Last)),
            (Situation { next: Next::Breaks, ..PLAIN }, Decision::Address(Reason::Last)),
            (Situation { next: Next::Changes, ..PLAIN }, Decision::Nothing),
            (Situation { next: Next::Changes, branches: true, ..PLAIN }, Decision::Address(Reason::Last)),
            // 12
            (Situation { branches: true, branches_full: true, ..PLAIN }, Decision::Branches),
            // A trap item gets no address or branch packet.
            (
                Situation { next: Next::Ends, notify: true, resync: State::Now, ..exception },
                Decision::Nothing,
            ),
        ];
        for (situation, decision) in cases {
            assert_eq!(decide(&situation), decision, "{situation:?}");
        }
    }
}
