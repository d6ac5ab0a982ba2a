//! Where bytes go.

use traceproof_vectors::arm_ete_unit::{InFlight, Parameters, Policy, Sink, SinkState};

/// Sinks: bit 0 is the trace buffer unit, bit n + 1 is interface n. None: bytes are discarded, which counts as output
/// (ETE-NLSSL-001).
pub(super) type Sinks = u16;

/// Number of bits of [`Sinks`].
pub(super) const SINKS: usize = 16;

const TRACE_BUFFER: Sinks = 1;

/// The sink of a bit.
pub(super) fn sink_of(index: usize) -> Sink {
    match index.checked_sub(1).and_then(|n| u8::try_from(n).ok()) {
        None => Sink::TraceBuffer,
        Some(n) => Sink::Interface(n),
    }
}

/// The states of the sinks and what selects among them.
#[derive(Debug)]
pub(super) struct Routing {
    /// TRBLIMITR_EL1.E, in effect.
    enabled: bool,
    /// A direct write of it that is not yet in effect.
    pending: Option<bool>,
    /// A change of it that takes effect finds bytes in flight.
    can_fly: bool,
    interfaces_enabled: bool,
    blocked: Sinks,
    stopped: bool,
    /// So many of the first bytes are in flight, under this TRBLIMITR_EL1.E.
    flight: Option<(u64, bool)>,
}

impl Routing {
    pub(super) const fn new() -> Self {
        Self {
            enabled: false,
            pending: None,
            can_fly: false,
            interfaces_enabled: true,
            blocked: 0,
            stopped: false,
            flight: None,
        }
    }

    /// A direct write of TRBLIMITR_EL1.E. `synchronised`: nothing before it can be in flight.
    pub(super) const fn write(&mut self, enabled: bool, synchronised: bool) {
        self.pending = Some(enabled);
        self.can_fly = !synchronised;
    }

    /// The pending write takes effect with so many bytes in the buffers.
    pub(super) const fn synchronise(&mut self, held: u64) {
        let Some(enabled) = self.pending.take() else { return };
        if enabled != self.enabled && self.can_fly && held > 0 {
            self.flight = Some((held, self.enabled));
        }
        self.enabled = enabled;
    }

    /// A flush by TSB CSYNC, or a trace unit reset: nothing is in flight after it.
    pub(super) const fn land(&mut self) {
        (self.can_fly, self.flight) = (false, None);
    }

    /// A Warm or Cold reset disables the trace buffer unit, at once, with so many bytes in the buffers. `synchronised`
    /// as for a write.
    pub(super) const fn reset(&mut self, held: u64, synchronised: bool) {
        self.write(false, synchronised);
        self.synchronise(held);
    }

    pub(super) const fn set_interfaces(&mut self, enabled: bool) {
        self.interfaces_enabled = enabled;
    }

    pub(super) fn set_sink(&mut self, sink: Sink, state: SinkState) {
        let bit = match sink {
            Sink::TraceBuffer => TRACE_BUFFER,
            Sink::Interface(n) => TRACE_BUFFER << (n + 1),
        };
        self.blocked = if state == SinkState::Blocked { self.blocked | bit } else { self.blocked & !bit };
        if sink == Sink::TraceBuffer {
            self.stopped = state == SinkState::Stopped;
        }
    }

    /// Spec: ETE-RT-002.
    pub(super) const fn trace_buffer_enabled(&self, parameters: &Parameters) -> bool {
        is_enabled(self.enabled, parameters)
    }

    /// Where bytes go that are not in flight.
    pub(super) fn sinks(&self, oe: bool, parameters: &Parameters, policy: &Policy) -> Sinks {
        self.sinks_under(self.enabled, oe, parameters, policy)
    }

    /// Where bytes go with this TRBLIMITR_EL1.E.
    ///
    /// Spec: ETE-SVDBD-001, ETE-LGVCX-001, ETE-LGVCX-002, ETE-FJFNS-001, ETE-FTSZG-001, ETE-FTSZG-002, ETE-PJYKY-001,
    /// ETE-PJYKY-002, ETE-MMCKW-001, ETE-RT-001, ETE-RT-003.
    fn sinks_under(&self, enabled: bool, oe: bool, parameters: &Parameters, policy: &Policy) -> Sinks {
        if is_enabled(enabled, parameters) {
            return if self.stopped { 0 } else { TRACE_BUFFER };
        }
        let silent = !self.interfaces_enabled
            && (!parameters.output_enable
                || parameters.interpretation.disabled_interfaces_are_silent
                || !policy.disabled_interfaces_output);
        if silent || parameters.output_enable && !oe {
            return 0;
        }
        let there = (1_u16 << parameters.interfaces.min(Sink::INTERFACES)) - 1;
        let chosen = there & policy.interface_mask;
        (if chosen == 0 { there } else { chosen }) << 1
    }

    /// Where the next bytes go, and how many of them go there at most.
    pub(super) fn next(&self, oe: bool, parameters: &Parameters, policy: &Policy) -> (Sinks, u64) {
        let now = self.sinks(oe, parameters, policy);
        // Where the trace buffer unit is always disabled, TRBLIMITR_EL1.E decides about no byte.
        match self.flight.filter(|_| is_enabled(true, parameters)) {
            None => (now, u64::MAX),
            Some((bytes, enabled)) => {
                let old = self.sinks_under(enabled, oe, parameters, policy);
                let sinks = match policy.in_flight {
                    InFlight::New => now,
                    InFlight::Old => old,
                    InFlight::Both => now | old,
                    InFlight::Discarded => 0,
                };
                (sinks, bytes)
            }
        }
    }

    /// Whether each of these sinks takes bytes. The stopped trace buffer unit does, and discards them.
    pub(super) const fn accept(&self, sinks: Sinks) -> bool {
        sinks & self.blocked == 0
    }

    /// So many bytes have left.
    pub(super) fn left(&mut self, bytes: u64) {
        self.flight = self.flight.and_then(|(rest, old)| match rest.saturating_sub(bytes) {
            0 => None,
            rest => Some((rest, old)),
        });
    }
}

const fn is_enabled(enabled: bool, parameters: &Parameters) -> bool {
    enabled && parameters.trace_buffer && (parameters.self_hosted || parameters.trace_buffer_external)
}
