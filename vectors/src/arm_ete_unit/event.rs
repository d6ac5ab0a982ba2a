//! What a checker reports, and when: the contract of every checker, case and generator.

use alloc::vec::Vec;

use super::{OutputSet, Register, Rule, StateSet};

/// One thing that a checker works out of a log.
///
/// # Order
///
/// After the packet of a record, if it could be read:
///
/// 1. `Finding`s in the order of [`Rule`], those of one rule in the order that the rule states; directly after each
///    finding that is no note, the fault of its kind ([`FindingKind::fault`](super::FindingKind::fault)) at the first
///    bit of the record;
/// 2. `State`, if the belief's set of states or its mark is not what was last reported; after the first record always;
/// 3. `Session`, if it is due;
/// 4. `Outputs`, if the set is not what was last reported; after the first record always.
///
/// Findings are judged with everything as it was before the record, except where a rule says "becomes". A record that
/// cannot be read has one fault, no packet and no effect ([`wire`](super::wire)). After an end record only findings are
/// reported; the next record is a first one, of which nothing is known.
///
/// # Configurations and belief
///
/// A *configuration* is a state, EN, whether the OS Lock is locked (L), and for each of EN and L the value of a direct
/// write that is *pending*, if there is one. It is *enabled* if its state is Enabling or Running, otherwise *disabled*.
/// The *belief* is the set of configurations that the unit may be in, with a mark for what is unpredictable. At first
/// and after a gap it holds every *usual* configuration, without the mark: nothing is pending; Enabling and Running
/// with EN = 1 and L = 0; Idle, Unstable and Stable with every other EN and L. So a log is taken to begin, and to go on
/// after a gap, where no direct write is pending and nothing unpredictable is under way.
///
/// Before and after each record the belief is *closed*: with a configuration it also holds every one that follows by
/// these steps, any number of them:
///
/// * *progress*, unless every change of the state is shown: Enabling to Running; Running to Unstable where EN and L do
///   not enable the unit; Unstable to Stable; Stable to Idle; Idle to Enabling where EN = 1 and L = 0;
/// * a pending write takes effect and is pending no longer.
///
/// A *change of EN or L* that takes effect in a configuration, with the new EN and L:
///
/// | state | enabled by the new EN and L | not enabled by them |
/// |---|---|---|
/// | Idle | Enabling | Idle |
/// | Enabling | Enabling | Enabling, Unstable or Idle; sets the mark |
/// | Running | Running | Unstable |
/// | Unstable, Stable | the same state or Enabling; sets the mark | the same state |
///
/// A change of EN in Enabling, Unstable or Stable is unpredictable: the configuration stays, or EN takes either value
/// with the row above; sets the mark. A write of the EN or L that a configuration has changes nothing of it. A write of
/// EN = 0 while EN is not known, and not because of a write since the first record or the latest gap, is taken for the
/// first step of a procedure (reading `eteu-first-disable`): at its record configurations in Enabling become Running,
/// and those in Idle, Unstable and Stable get EN = 0 at once; so it is never unpredictable, and a unit that ignores it
/// because it was in Enabling is taken for wrong.
///
/// | record | effect on the belief |
/// |---|---|
/// | write of TRCPRGCTLR that reaches the unit, direct | EN (bit 0) is pending in every configuration, instead of what was pending; either value if it is not known |
/// | the same, not direct | takes effect at once |
/// | `OsLock` by System, and a direct write of TRCOSLAR in ETMv4; either by another agent | L is pending; takes effect at once |
/// | context synchronisation event, Debug entry and exit, Warm reset | what is pending has taken effect |
/// | trace unit reset; Cold reset | Idle with EN = 0 and every L of the belief, nothing pending; the same with L = 1. Clears the mark |
/// | power off; power on after power off | Idle with EN = 0 and every L, nothing pending. Clears the mark |
/// | retention, power on after it | none |
/// | external access to a register of class T or C with Core power, and of class T known to be allowed | only configurations with L = 0 if the outcome is `ok`, with L = 1 if it is `error` |
/// | proving read of TRCSTATR | only configurations with this value: Idle 3, Enabling 1 or 3, Running 0 or 2, Unstable 0, Stable 2. Clears the mark |
/// | poll that proves and ended | the same for the one bit |
/// | read of TRCPRGCTLR with a known value | only configurations with this EN; of a direct read, the pending one if there is one |
/// | read of TRCOSLSR with a known value | only configurations with L = bit 1 |
/// | `Output` | only configurations that are not Idle |
/// | `State` | only configurations in this state, after at most one step of progress where every change is shown. Clears the mark |
/// | `Signal::Enabled` | only enabled or only disabled configurations |
///
/// A read of TRCSTATR *proves* if its outcome is `ok` or unknown, its value is known, and it is not direct or neither
/// ETE-SYN-004 nor ETE-SYN-005 holds for it (ETE-SYN-006); a poll likewise, and one that timed out is no such read but
/// proves with the other value of its bit. Where nothing would remain, there is a finding and the belief becomes every
/// usual configuration that the record allows. The mark is cleared before the effect and set by it.
///
/// Where barriers are hidden, no write is known to have taken effect, and every direct read counts as synchronised.
/// Where the accesses of an agent are hidden, it may have written anything predictable since the latest record: after
/// each record every configuration in Idle or Running also has every other EN and L, nothing is known of the contents
/// of registers, and where those of System are hidden, neither of TRFCR_ELx, TRBLIMITR_EL1 and MDCR_EL3. What the other
/// agent does is judged all the same.
///
/// After a write that reaches the unit of TRCAUXCTLR other than 0, TRCIMSPEC0 with EN other than 0 or TRCITCTRL with
/// IME = 1, or of an unknown value, or a read that shows such a value, checking is *suspended* (ETE-PRG-012): the
/// belief is that of the start, with the mark, and stays so, and contradictions are not reported. It ends with a trace
/// unit reset, and for the first two with a write of 0.
///
/// # Access
///
/// *External* accesses are those by `External`, and in ETE by `Memory`; in ETMv4 the outcome of accesses by `Memory`
/// proves nothing, and no rule about outcomes holds for them. They are *allowed* (`AllowExternalTraceAccess`) without
/// FEAT_TRBE; with FEAT_RME from every space if {ETADE, ETAD} is 0, from Root and Secure if it is 1, from Root and
/// Realm if it is 2, from Root if it is 3; otherwise from Secure, and from Non-secure if ETAD is 0. From a space that
/// the record does not name they are allowed if {ETADE, ETAD} is 0, and otherwise that is not known. {ETADE, ETAD} is 0
/// at first and unknown after a gap. An access in a direction that the register has not is one to a reserved register.
/// TRCSYNCPR is only read where its period is fixed; a direct write of it may then be `ok` or `undefined`. There is
/// Core power at first and after a gap. *Trace unit reset* in [`Rule`] and below stands for a record of one, a
/// Cold reset, and power on after power off. In retention an error is right for every register.
///
/// A write of an unsupported size, whatever its outcome, writes an unknown value to its register, and the register after
/// it becomes unknown, too (ETE-YFRMG-001).
///
/// # Software
///
/// *EN known*: what was last written by an access that reached the unit, read, or set to 0 by a reset or power off.
/// *OS Lock known*: by the latest `OsLock` record, Cold reset, or read of TRCOSLSR. A direct write that is pending counts
/// more than a read that does not show it; where another agent writes another value before the context synchronisation
/// event, either may come last, and the value is not known until the next write or read after that. The *command* is enabled if EN is
/// known to be 1 and the OS Lock is not known to be locked, disabled if EN is known to be 0 or the OS Lock is known to
/// be locked, otherwise unknown. A *period* begins where the command becomes another one, and at a reset, power change
/// or gap.
///
/// A *change of EN* is a write of TRCPRGCTLR that reaches the unit with another EN than the known one, or with any
/// while it is not known. *Proof of Idle*: in this period a proving read of TRCSTATR (or poll) showed IDLE = 1 while
/// the command is disabled, or a record showed the state Idle, or it began with a trace unit reset, Cold reset or
/// power-up. *Proof of Running*: the same with IDLE = 0 while the command is enabled, or a record of Running.
///
/// A *programming register* is one of [`Register::is_programming`]. *Known* values of fields of TRCEVENTCTL1R,
/// TRCSTALLCTLR and the registers with events (ETE-PRG-005) are those of the latest write, if that had proof of Idle
/// while every configuration was in Idle, and a known value; OE is also known as 0 after a trace unit reset. Nothing is
/// known of a register after any other write that reaches the unit.
///
/// # Contents
///
/// Resource state ([`Register::resource_state`]) is known from a write with proof of Idle while every configuration is
/// in Idle, or from a *stable read*: one that reaches the unit while every configuration is in Stable or Idle, after
/// TRCSTATR showed that in this period, or with proof of Idle; of a direct one, with a context synchronisation event
/// since. After an unpredictable change of EN, IDLE = 1 may be that of Enabling: then nothing is known. Only a stable
/// read is compared. It is forgotten when the command becomes enabled or unknown, after a record with which a
/// configuration is in another state than Stable and Idle, at a reset and at a change of power.
/// Other bits ([`Register::written_bits`]) are known from such a write, are forgotten at a trace unit reset, and are
/// compared with every read that reaches the unit. A direct read after an external write, and an external read after a
/// direct write, is compared only if a context synchronisation event that is shown was between them (ETE-SYN-001).
/// Claim tags are known to be 0 after a trace unit reset; a tag is known after a write of 1 to it in TRCCLAIMSET or
/// TRCCLAIMCLR that reaches the unit, every tag after a read of TRCCLAIMCLR with a known value; none after a gap. The
/// condition of the two kinds of access holds for them, too.
///
/// # Regions, outputs, time
///
/// A log begins outside of Debug state, low power and the regions of `ProhibitedEntry`, and with every sink accepting;
/// after a gap these are not known. A region is *prohibited* between `ProhibitedEntry` and `ProhibitedExit`, and by
/// TRFCR_ELx from the context synchronisation event after its record on; what TRFCR_ELx says is unknown at first and
/// between a record and that event, and known to prohibit after a Cold or Warm reset.
///
/// The trace buffer unit is *known* to be enabled or disabled from the context synchronisation event after the record
/// of TRBLIMITR_EL1.E on; disabled after a Cold or Warm reset, without FEAT_TRBE, and while self-hosted trace is
/// disabled without FEAT_TRBE_EXT; otherwise unknown. Bytes are *in flight* from a record of TRBLIMITR_EL1.E on, and
/// from a Warm reset on if E was not known to be 0 before it, unless at the record there was proof of Idle with every
/// configuration in Idle, or the region was prohibited and a TSB CSYNC was since that is in effect. They are no longer
/// after a TSB CSYNC in a prohibited region with the trace buffer unit known to be enabled, which flushes
/// (ETE-JLRQH-003); after a trace unit reset; and after a record with which there is proof of Idle, every configuration
/// is in Idle, and no record of TRBLIMITR_EL1.E waits for a context synchronisation event.
///
/// *Elapsed* is the sum of `wait` records since every configuration became enabled, or disabled, whichever it is now,
/// and since the latest change of a sink or of Core power and the latest gap. Without Core power no time counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case", deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub enum Event {
    /// The states of the belief after the record, and its mark.
    State(StateSet),
    /// A trace session begins (ETE-XBPSQ-001): every configuration is enabled after the record, the mark is not set,
    /// and the latest session reported, if any, has ended.
    SessionBegin,
    /// It ends: every configuration is disabled after the record, the mark is not set, and a session has begun. Bytes
    /// that leave the unit up to proof of Idle still belong to it.
    SessionEnd,
    /// Where bytes may go after the record, by the table of [`OutputSet`].
    Outputs(OutputSet),
    /// A requirement is broken, or a recommendation is not followed.
    Finding {
        /// Which.
        rule: Rule,
        /// The register of the record, or the one that the rule names; of a poll TRCSTATR; absent for other records.
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
        register: Option<Register>,
    },
}

/// Without `State` and `Outputs` that repeat the latest one of their kind: a checker may report them after every
/// record.
pub(super) fn canonical(events: Vec<Event>) -> Vec<Event> {
    let (mut state, mut outputs) = (None, None);
    let mut kept = events;
    kept.retain(|event| match event {
        Event::State(_) => state.replace(*event) != Some(*event),
        Event::Outputs(_) => outputs.replace(*event) != Some(*event),
        Event::SessionBegin | Event::SessionEnd | Event::Finding { .. } => true,
    });
    kept
}

/// A set of states with the mark accepts every set: no expectation depends on an unpredictable choice.
pub(super) fn accepts(expected: &Event, actual: &Event) -> bool {
    match (expected, actual) {
        (Event::State(expected), Event::State(_)) if expected.is_unpredictable() => true,
        _ => expected == actual,
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::*;
    use crate::arm_ete_unit::ProgrammingState;

    fn state(state: ProgrammingState) -> Event {
        Event::State(StateSet::EMPTY.with(state))
    }

    #[test]
    fn repetitions_are_dropped() {
        let (idle, running) = (state(ProgrammingState::Idle), state(ProgrammingState::Running));
        let outputs = Event::Outputs(OutputSet::DISCARDED);
        let finding = Event::Finding { rule: Rule::Prg002, register: None };
        let reported = vec![idle, outputs, finding, idle, outputs, running, finding, idle];
        assert_eq!(canonical(reported), [idle, outputs, finding, running, finding, idle]);
    }

    #[test]
    fn what_is_unpredictable_is_not_expected() {
        let (idle, running) = (state(ProgrammingState::Idle), state(ProgrammingState::Running));
        let any = Event::State(StateSet::ALL.unpredictable());
        assert!(accepts(&any, &running) && accepts(&any, &any) && accepts(&idle, &idle));
        assert!(!accepts(&idle, &any) && !accepts(&idle, &running));
        assert!(!accepts(&any, &Event::SessionBegin));
    }
}
