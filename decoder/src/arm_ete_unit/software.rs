//! What software has done so far and what it knows: EN, the OS Lock, proofs, synchronisation.

use traceproof_vectors::arm_ete_unit::Barrier;

/// Whether software wants the unit to be enabled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Command {
    Enabled,
    Disabled,
    #[default]
    Unknown,
}

/// What holds since the command became what it is, or since a reset, a power change or a gap.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Period {
    pub(super) idle_proof: bool,
    pub(super) running_proof: bool,
    /// TRCSTATR showed Stable or Idle.
    pub(super) shown_stable: bool,
    /// It did so first with no context synchronisation event since.
    pub(super) shown_pending: bool,
    /// A context synchronisation event was since it did, or since proof of Idle.
    pub(super) stable_synchronised: bool,
    /// ETE-PRG-002 was reported.
    pub(super) unproved_write_reported: bool,
    /// It began with a direct write of EN in a drained prohibited region, and TRCSTATR was not read since.
    pub(super) context_switch: bool,
    /// ETE-HSXGZ-001 was reported.
    pub(super) context_switch_noted: bool,
    /// TRCRSR was read.
    pub(super) events_read: bool,
    /// Nothing is held against software that would need what was before a gap.
    pub(super) after_gap: bool,
}

/// The latest change of EN.
#[derive(Clone, Copy, Debug)]
pub(super) struct Change {
    pub(super) direct: bool,
    /// TRCSTATR was read since, or ETE-SYN-003 was reported.
    pub(super) settled: bool,
}

/// What made the command enabled, where it was a change of EN.
#[derive(Clone, Copy, Debug)]
pub(super) struct Enabler {
    pub(super) direct: bool,
    /// IDLE = 0 was read since.
    pub(super) running_read: bool,
}

/// The latest record about EN.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum EnSource {
    DirectWrite,
    ExternalWrite,
    /// A Warm reset or the OS Lock, which keep EN.
    Kept,
    /// A trace unit reset, a Cold reset or a power-up.
    Reset,
    #[default]
    Other,
}

/// How far the way from TSB CSYNC to a read of TRBE registers has been gone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Collected {
    #[default]
    NoTsb,
    Tsb,
    Dsb,
    Synchronised,
}

/// What software has done.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Software {
    pub(super) en: Option<bool>,
    pub(super) locked: Option<bool>,
    pub(super) command: Command,
    pub(super) period: Period,
    pub(super) en_source: EnSource,
    /// A write left EN unknown: software does not begin with a unit of which nothing is known.
    pub(super) en_obscured: bool,
    /// EN is known from reads alone, which show that software has found the unit as it is, and the log has not shown it
    /// in Enabling.
    pub(super) en_found: bool,
    /// What direct writes of EN and of the OS Lock make them with the next context synchronisation event.
    pending_en: Option<Option<bool>>,
    pending_lock: Option<Option<bool>>,
    pub(super) change: Option<Change>,
    pub(super) enabler: Option<Enabler>,
    /// No context synchronisation event since a direct change of EN or of the OS Lock.
    pub(super) control_pending: bool,
    /// The same since a direct read of TRCSTATR.
    pub(super) status_pending: bool,
    /// The same since a direct write of a register of the trace unit.
    pub(super) write_pending: bool,
    /// The same since a write of TRFCR_ELx that prohibits.
    pub(super) filter_pending: bool,
    pub(super) collected: Collected,
    /// A poll timed out, and nothing was proved since.
    pub(super) timed_out: bool,
    /// ETE-FJPCN-001 was reported for this OS Lock.
    pub(super) locked_access_reported: bool,
    /// EN = 1 was written while the OS Lock was known to be locked; true once reported.
    pub(super) locked_enable: Option<bool>,
}

impl Software {
    /// After a gap: nothing is known, and nothing is held against software.
    pub(super) fn after_gap() -> Self {
        Self { period: Period { after_gap: true, ..Period::default() }, ..Self::default() }
    }

    pub(super) const fn commanded(&self) -> Command {
        match (self.en, self.locked) {
            (Some(false), _) | (_, Some(true)) => Command::Disabled,
            (Some(true), _) => Command::Enabled,
            (None, _) => Command::Unknown,
        }
    }

    /// A context synchronisation event is in the log.
    pub(super) fn synchronise(&mut self) {
        self.may_synchronise();
        (self.pending_en, self.pending_lock) = (None, None);
        let period = &mut self.period;
        period.stable_synchronised |= period.shown_stable || period.idle_proof;
    }

    /// There may have been any barriers.
    pub(super) fn may_synchronise(&mut self) {
        self.control_pending = false;
        self.status_pending = false;
        self.write_pending = false;
        self.filter_pending = false;
        self.period.shown_pending = false;
        if self.collected == Collected::Dsb {
            self.collected = Collected::Synchronised;
        }
    }

    /// The barriers on the way to TRBE registers.
    pub(super) fn collect(&mut self, barrier: Barrier, is_tsb: bool) {
        if is_tsb {
            self.collected = Collected::Tsb;
        } else if barrier == Barrier::Dsb && self.collected == Collected::Tsb {
            self.collected = Collected::Dsb;
        }
    }

    /// TRCSTATR was read, whatever it proves.
    pub(super) fn status_read(&mut self, direct: bool, shows_running: bool) {
        self.status_pending |= direct;
        self.period.context_switch = false;
        if let Some(change) = &mut self.change {
            change.settled = true;
        }
        if let Some(enabler) = &mut self.enabler {
            enabler.running_read |= shows_running;
        }
    }

    /// TRCSTATR proved a value of a bit: IDLE or PMSTABLE.
    pub(super) fn proved(&mut self, idle: Option<bool>, pmstable: Option<bool>) {
        let disabled = self.command == Command::Disabled;
        let period = &mut self.period;
        period.idle_proof |= disabled && idle == Some(true);
        self.en_found &= self.command != Command::Enabled || idle != Some(true);
        period.running_proof |= self.command == Command::Enabled && idle == Some(false);
        let stable = disabled && (idle == Some(true) || pmstable == Some(true));
        period.shown_pending |= stable && !period.shown_stable;
        period.shown_stable |= stable;
    }

    /// A trace unit reset.
    pub(super) fn reset(&mut self) {
        self.en = Some(false);
        self.en_found = false;
        self.en_source = EnSource::Reset;
        (self.pending_en, self.pending_lock) = (None, None);
        self.change = None;
        self.enabler = None;
        self.locked_enable = None;
        self.timed_out = false;
    }

    /// The OS Lock is written by something other than a reset.
    pub(super) fn lock(&mut self, locked: Option<bool>, direct: bool) {
        let changes = locked.is_none() || self.locked != locked;
        self.control_pending |= direct && changes;
        if changes {
            self.locked_access_reported = false;
            self.locked_enable = None;
        }
        self.locked = settled(locked, direct, &mut self.pending_lock);
        self.en_source = EnSource::Kept;
    }

    /// TRCPRGCTLR is read. What a direct write is about to make it counts more.
    pub(super) fn read_en(&mut self, en: bool, direct: bool) {
        if direct || self.pending_en.is_none() {
            self.en_found |= self.en.is_none() && !self.en_obscured;
            self.en = Some(en);
        }
    }

    /// TRCOSLSR is read.
    pub(super) fn read_lock(&mut self, locked: bool) {
        if self.pending_lock.is_none() {
            self.locked = Some(locked);
        }
    }

    /// TRCPRGCTLR is written.
    pub(super) fn write_en(&mut self, en: Option<bool>, changes: bool, access: EnWrite) {
        let EnWrite { direct, external, unpredictable } = access;
        self.en = settled(en, direct, &mut self.pending_en);
        self.en_obscured = self.en.is_none();
        self.en_found = false;
        self.en_source = match (unpredictable, direct, external) {
            (false, true, _) => EnSource::DirectWrite,
            (false, false, true) => EnSource::ExternalWrite,
            _ => EnSource::Other,
        };
        if changes {
            self.control_pending |= direct;
            self.change = Some(Change { direct, settled: false });
        }
        if self.en != Some(true) {
            self.locked_enable = None;
        } else if self.locked == Some(true) {
            self.locked_enable = Some(false);
        }
    }
}

/// What EN or the OS Lock is from a write on, if that is known: after a write that takes effect at once while a direct one
/// of another value is pending, either of them counts.
fn settled(value: Option<bool>, direct: bool, pending: &mut Option<Option<bool>>) -> Option<bool> {
    if direct {
        *pending = Some(value);
    }
    value.filter(|_| pending.is_none_or(|pending| pending == value))
}

/// How TRCPRGCTLR is written.
#[derive(Clone, Copy, Debug)]
pub(super) struct EnWrite {
    pub(super) direct: bool,
    /// By the external debug interface.
    pub(super) external: bool,
    /// Where the text settles nothing.
    pub(super) unpredictable: bool,
}
