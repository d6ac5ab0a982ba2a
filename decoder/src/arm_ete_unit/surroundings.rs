//! What surrounds the unit: power, regions, the trace buffer unit, sinks, signals, time.

use traceproof_vectors::arm_ete_unit::{
    OutputSet, Parameters, Power, ProcessorEvent, Resources, Sink, SinkState, Space,
};

/// A value that a write changes from a context synchronisation event on.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Delayed {
    /// What is in effect, if it is known.
    pub(super) value: Option<bool>,
    /// What the latest write makes it, if that is known, and after how many events.
    pending: Option<(Option<bool>, u8)>,
}

impl Delayed {
    const fn known(value: bool) -> Self {
        Self { value: Some(value), pending: None }
    }

    const fn write(&mut self, value: Option<bool>, events: u8) {
        *self = Self { value: None, pending: Some((value, events)) };
    }

    /// A context synchronisation event; whether the write takes effect with it.
    const fn synchronise(&mut self) -> bool {
        match self.pending {
            Some((value, 0 | 1)) => {
                *self = Self { value, pending: None };
                true
            }
            Some((value, events)) => {
                self.pending = Some((value, events - 1));
                false
            }
            None => false,
        }
    }
}

/// A flush that was requested and not acknowledged.
#[derive(Clone, Copy, Debug, Default)]
struct Flush {
    time: u64,
    reported: bool,
}

/// Everything around the unit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Surroundings {
    pub(super) power: Power,
    /// Registers were lost since the latest trace unit reset.
    pub(super) lost: bool,
    /// Exception level.
    pub(super) level: Option<u8>,
    /// MDCR_EL3.{ETADE, ETAD}, if they are known.
    etad: Option<u8>,
    pub(super) debug: bool,
    /// In low power, or possibly.
    low_power: bool,
    /// Prohibited for another reason than TRFCR_ELx, if that is known.
    region: Option<bool>,
    /// TRFCR_ELx prohibits.
    pub(super) filter: Delayed,
    /// A record of TRFCR_ELx was in the log.
    pub(super) filter_shown: bool,
    /// TRBLIMITR_EL1.E.
    buffer: Delayed,
    /// E in its latest record.
    pub(super) buffer_shown: Option<bool>,
    /// Under the erratum: E was cleared; TSB CSYNC and DSB since.
    ignoring: Option<(bool, bool)>,
    in_flight: bool,
    previous_was_tsb: bool,
    /// A TSB CSYNC was since a region became prohibited; by TRFCR_ELx; with the trace buffer unit known to be enabled.
    pub(super) tsb_in_region: bool,
    pub(super) tsb_in_filter: bool,
    pub(super) tsb_with_buffer: bool,
    /// Bit n: sink n is blocked, or may be.
    blocked: u16,
    pub(super) stopped: bool,
    pub(super) interfaces_enabled: bool,
    pub(super) overflow: bool,
    pub(super) operative: Option<bool>,
    pub(super) viewinst: Option<bool>,
    pub(super) resources: Option<Resources>,
    flush: Option<Flush>,
    /// `Elapsed` of the contract.
    pub(super) elapsed: u64,
}

impl Default for Surroundings {
    fn default() -> Self {
        Self {
            power: Power::On,
            lost: false,
            level: None,
            etad: Some(0),
            debug: false,
            low_power: false,
            region: Some(false),
            filter: Delayed::default(),
            filter_shown: false,
            buffer: Delayed::default(),
            buffer_shown: None,
            ignoring: None,
            in_flight: false,
            previous_was_tsb: false,
            tsb_in_region: false,
            tsb_in_filter: false,
            tsb_with_buffer: false,
            blocked: 0,
            stopped: false,
            interfaces_enabled: true,
            overflow: false,
            operative: None,
            viewinst: None,
            resources: None,
            flush: None,
            elapsed: 0,
        }
    }
}

/// Whether the trace buffer unit can be enabled at all.
const fn can_be_enabled(parameters: &Parameters) -> bool {
    parameters.trace_buffer && (parameters.self_hosted || parameters.trace_buffer_external)
}

impl Surroundings {
    /// After a gap.
    pub(super) fn after_gap() -> Self {
        Self { etad: None, blocked: u16::MAX, low_power: true, region: None, ..Self::default() }
    }

    /// System instructions that are hidden may have written TRFCR_ELx, TRBLIMITR_EL1 and MDCR_EL3.
    pub(super) fn forget_system(&mut self) {
        self.etad = None;
        self.filter = Delayed::default();
        self.filter_shown = false;
        self.buffer = Delayed::default();
        self.buffer_shown = None;
        self.in_flight = true;
        self.tsb_in_region = false;
        self.tsb_in_filter = false;
        self.tsb_with_buffer = false;
    }

    /// `AllowExternalTraceAccess()` for an access from this space, if that is known.
    ///
    /// Spec: ETE-ACC-006.
    pub(super) const fn allows(&self, parameters: &Parameters, space: Option<Space>) -> Option<bool> {
        if !parameters.trace_buffer {
            return Some(true);
        }
        match (parameters.realms, space, self.etad) {
            (true, _, Some(0)) | (false, None, Some(0)) => Some(true),
            (true, Some(Space::Root), _) | (false, Some(Space::Secure), _) => Some(true),
            (false, Some(Space::Root | Space::Realm), _) => Some(false),
            (_, None, _) | (_, _, None) => None,
            (true, Some(Space::Secure), Some(etad)) => Some(etad == 1),
            (true, Some(Space::Realm), Some(etad)) => Some(etad == 2),
            (true, Some(Space::NonSecure), Some(_)) => Some(false),
            (false, Some(Space::NonSecure), Some(etad)) => Some(etad & 1 == 0),
        }
    }

    pub(super) const fn set_etad(&mut self, etad: u8) {
        self.etad = Some(etad);
    }

    /// Whether the region is prohibited, if that is known.
    pub(super) const fn prohibited(&self) -> Option<bool> {
        match (self.region, self.filter.value) {
            (Some(true), _) | (_, Some(true)) => Some(true),
            (Some(false), Some(false)) => Some(false),
            _ => None,
        }
    }

    /// The region is known to be prohibited.
    pub(super) fn is_prohibited(&self) -> bool {
        self.prohibited() == Some(true)
    }

    /// Resources may be Paused although the unit is enabled.
    pub(super) fn may_pause(&self) -> bool {
        self.low_power || self.prohibited() != Some(false)
    }

    pub(super) fn processor(&mut self, event: ProcessorEvent) {
        match event {
            ProcessorEvent::DebugEntry => self.debug = true,
            ProcessorEvent::DebugExit => self.debug = false,
            ProcessorEvent::Level { level, .. } => self.level = Some(level),
            ProcessorEvent::ProhibitedEntry => self.region = Some(true),
            ProcessorEvent::ProhibitedExit => self.region = Some(false),
            ProcessorEvent::LowPowerEntry => self.low_power = true,
            ProcessorEvent::LowPowerExit => self.low_power = false,
        }
    }

    pub(super) fn write_filter(&mut self, prohibited: bool) {
        self.filter.write(Some(prohibited), 1);
        self.filter_shown = true;
        self.tsb_in_filter = false;
    }

    /// Whether the trace buffer unit is enabled, if that is known.
    pub(super) const fn buffer(&self, parameters: &Parameters) -> Option<bool> {
        if can_be_enabled(parameters) { self.buffer.value } else { Some(false) }
    }

    /// Bytes are in flight. Where the trace buffer unit is always disabled, TRBLIMITR_EL1.E decides about none.
    ///
    /// Spec: ETE-RT-002.
    pub(super) const fn flies(&self, parameters: &Parameters) -> bool {
        self.in_flight && can_be_enabled(parameters)
    }

    /// TRBLIMITR_EL1.E is written; `drained`: nothing is left that could be in flight.
    pub(super) fn write_buffer(&mut self, parameters: &Parameters, enabled: bool, drained: bool) {
        let errata = &parameters.errata;
        let events = if errata.trace_buffer_needs_two_events { 2 } else { 1 };
        let value = if self.ignoring.is_some() { None } else { Some(enabled) };
        self.buffer.write(value, events);
        if errata.trace_buffer_ignores_writes && !enabled && self.ignoring.is_none() {
            self.ignoring = Some((false, false));
        }
        self.buffer_shown = Some(enabled);
        self.in_flight |= !drained;
    }

    /// The unit is Idle: no byte is left that could be in flight. Those of the next session could be while a write is
    /// pending.
    ///
    /// Spec: ETE-SES-001.
    pub(super) const fn land(&mut self) {
        self.in_flight &= self.buffer.pending.is_some();
    }

    /// A context synchronisation event.
    pub(super) fn synchronise(&mut self) {
        if self.filter.synchronise() {
            self.tsb_in_filter = false;
        }
        self.buffer.synchronise();
    }

    /// Whether this record is a TSB CSYNC that counts: under the erratum two in a row do.
    pub(super) const fn counts_as_tsb(&self, parameters: &Parameters, is_tsb: bool) -> bool {
        is_tsb && (!parameters.errata.tsb_may_not_flush || self.previous_was_tsb)
    }

    /// After each record: whether it was a TSB record.
    pub(super) const fn follow_tsb(&mut self, is_tsb: bool) {
        self.previous_was_tsb = is_tsb;
    }

    /// A TSB CSYNC that counts. It flushes in a prohibited region with the trace buffer unit enabled, and nowhere else.
    ///
    /// Spec: ETE-JLRQH-003.
    pub(super) fn tsb(&mut self, parameters: &Parameters) {
        if self.is_prohibited() {
            let flushes = self.buffer(parameters) == Some(true);
            self.in_flight &= !flushes;
            self.tsb_in_region = true;
            self.tsb_in_filter |= self.filter.value == Some(true);
            self.tsb_with_buffer |= flushes;
        }
        if let Some((tsb, _)) = &mut self.ignoring {
            *tsb = true;
        }
        self.end_ignoring();
    }

    pub(super) fn dsb(&mut self) {
        if let Some((_, dsb)) = &mut self.ignoring {
            *dsb = true;
        }
        self.end_ignoring();
    }

    fn end_ignoring(&mut self) {
        if self.ignoring == Some((true, true)) {
            self.ignoring = None;
        }
    }

    /// After each record: what ends with a prohibited region.
    pub(super) fn follow_region(&mut self) {
        if !self.is_prohibited() {
            self.tsb_in_region = false;
            self.tsb_with_buffer = false;
        }
    }

    /// A Warm reset is about to clear TRBLIMITR_EL1.E; `drained`: nothing is left that could be in flight.
    pub(super) fn clear_buffer(&mut self, drained: bool) {
        self.in_flight |= !drained && self.buffer.value != Some(false);
    }

    /// A Cold or Warm reset of the processor.
    pub(super) fn reset_processor(&mut self) {
        self.filter = Delayed::known(true);
        self.tsb_in_filter = false;
        self.buffer = Delayed::known(false);
        self.buffer_shown = None;
        self.ignoring = None;
        self.level = None;
    }

    /// A trace unit reset: what it was doing is over.
    pub(super) fn reset_unit(&mut self) {
        self.lost = false;
        self.in_flight = false;
        self.overflow = false;
        self.operative = None;
        self.viewinst = None;
        self.resources = None;
        self.flush = None;
    }

    pub(super) fn set_sink(&mut self, sink: Sink, state: SinkState) {
        let number = match sink {
            Sink::TraceBuffer => {
                self.stopped = state == SinkState::Stopped;
                0
            }
            Sink::Interface(n) => n + 1,
        };
        let bit = 1_u16.checked_shl(u32::from(number)).unwrap_or(0);
        self.blocked = if state == SinkState::Blocked { self.blocked | bit } else { self.blocked & !bit };
        self.restart_time();
    }

    /// Time begins anew with a sink that changes, and with Core power: without it the unit does nothing.
    pub(super) const fn restart_time(&mut self) {
        self.elapsed = 0;
        if let Some(flush) = &mut self.flush {
            flush.time = 0;
        }
    }

    /// A sink of the unit is blocked, or may be.
    pub(super) fn is_blocked(&self, parameters: &Parameters) -> bool {
        let interfaces = (1_u16 << parameters.interfaces.min(Sink::INTERFACES)) - 1;
        self.blocked & (interfaces << 1 | u16::from(parameters.trace_buffer)) != 0
    }

    pub(super) fn request_flush(&mut self) {
        self.flush.get_or_insert_default();
    }

    pub(super) const fn acknowledge_flush(&mut self) {
        self.flush = None;
    }

    /// Time passes. Whether an acknowledgement is overdue from now on.
    pub(super) fn wait(&mut self, time: u64, parameters: &Parameters) -> bool {
        self.elapsed = self.elapsed.saturating_add(time);
        let waits = self.is_blocked(parameters) || self.power != Power::On;
        let Some(flush) = self.flush.as_mut().filter(|_| !waits) else { return false };
        flush.time = flush.time.saturating_add(time);
        let overdue = parameters.bound.is_some_and(|bound| flush.time > bound) && !flush.reported;
        flush.reported |= overdue;
        overdue
    }

    /// More than the bound has elapsed.
    pub(super) fn is_overdue(&self, parameters: &Parameters) -> bool {
        parameters.bound.is_some_and(|bound| self.elapsed > bound)
    }

    /// Where bytes may go, with OE as far as it is known.
    ///
    /// Spec: ETE-SVDBD-001, ETE-NLSSL-001, ETE-MMCKW-001, ETE-FTSZG-001.
    pub(super) fn outputs(&self, parameters: &Parameters, oe: Option<bool>) -> OutputSet {
        let enabled = if self.stopped { OutputSet::DISCARDED } else { OutputSet::TRACE_BUFFER };
        let disabled = self.outputs_of_interfaces(parameters, oe);
        if self.flies(parameters) {
            return enabled.union(disabled).union(OutputSet::DISCARDED);
        }
        match self.buffer(parameters) {
            Some(true) => enabled,
            Some(false) => disabled,
            None => enabled.union(disabled),
        }
    }

    fn outputs_of_interfaces(&self, parameters: &Parameters, oe: Option<bool>) -> OutputSet {
        if parameters.interfaces == 0 {
            return OutputSet::DISCARDED;
        }
        let with_oe =
            match (self.interfaces_enabled, parameters.interpretation.disabled_interfaces_are_silent) {
                (true, _) => OutputSet::INTERFACES,
                (false, true) => OutputSet::DISCARDED,
                (false, false) => OutputSet::INTERFACES.union(OutputSet::DISCARDED),
            };
        match (parameters.output_enable, oe) {
            (false, _) if self.interfaces_enabled => OutputSet::INTERFACES,
            (false, _) | (true, Some(false)) => OutputSet::DISCARDED,
            (true, Some(true)) => with_oe,
            (true, None) => with_oe.union(OutputSet::DISCARDED),
        }
    }
}
