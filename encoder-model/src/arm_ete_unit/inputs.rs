//! What comes from outside besides accesses.

use traceproof_vectors::arm_ete_unit::{
    Agent, Barrier, DirectWrite, Input, Packet, Power, ProcessorEvent, ProgrammingState, Reset, Visible,
};

use super::ImpossibleStimulus;
use super::record::record_of;
use super::unit::{Log, Unit};

impl Unit {
    /// The record of an input, and what it does.
    pub(super) fn input(&mut self, input: &Input, log: &mut Log<'_>) -> Result<(), ImpossibleStimulus> {
        record_of(&Packet::Input(*input))?;
        self.check_input(input)?;
        match *input {
            Input::Barrier(Barrier::Tsb) => self.synchronise_trace(log)?,
            Input::Wait(time) => self.wait(time, log)?,
            _ => {}
        }
        log.write(&Packet::Input(*input))?;
        match *input {
            Input::Barrier(barrier) if barrier.is_context_synchronisation() => self.synchronise(),
            Input::OsLock { agent, locked } => self.write_lock(agent, locked),
            Input::TraceFilter { prohibited } => self.surroundings.pending_filter = Some(prohibited),
            Input::TraceBuffer { enabled } => {
                let synchronised = self.is_synchronised();
                self.routing.write(enabled, synchronised);
                if self.policy.direct_write == DirectWrite::AtOnce {
                    self.synchronise_trace_buffer();
                }
            }
            Input::Processor(event) => self.processor(event),
            Input::Reset(reset) => self.reset(reset),
            Input::Power(power) => self.set_power(power),
            Input::Sink { sink, state } => self.routing.set_sink(sink, state),
            Input::Interfaces { enabled } => self.routing.set_interfaces(enabled),
            Input::ExternalAccess { etad } => self.surroundings.etad = etad,
            Input::Event(n) => self.event(n),
            Input::FlushRequest => self.flush = Some(self.buffers.held),
            Input::Visibility { what: Visible::States, shown } => self.parameters.shown.states = shown,
            Input::Barrier(_) | Input::Wait(_) | Input::Visibility { .. } | Input::Gap | Input::End => {}
        }
        Ok(())
    }

    /// Without Core power no instruction is executed, no debug component of the processor is written, and the unit does
    /// nothing. Spec: ETE-YFLJT-001.
    fn check_input(&self, input: &Input) -> Result<(), ImpossibleStimulus> {
        let needs_power = match input {
            Input::Barrier(_)
            | Input::OsLock { .. }
            | Input::TraceFilter { .. }
            | Input::TraceBuffer { .. }
            | Input::Processor(_)
            | Input::ExternalAccess { .. }
            | Input::Event(_)
            | Input::FlushRequest => true,
            Input::Reset(_)
            | Input::Power(_)
            | Input::Sink { .. }
            | Input::Interfaces { .. }
            | Input::Wait(_)
            | Input::Visibility { .. }
            | Input::Gap
            | Input::End => false,
        };
        if needs_power && !self.surroundings.is_powered() {
            return Err(ImpossibleStimulus::WithoutPower);
        }
        match *input {
            Input::Event(n) if n >= self.parameters.events => Err(ImpossibleStimulus::AbsentEvent),
            Input::Event(_) if !self.is_enabled() => Err(ImpossibleStimulus::EventWhileDisabled),
            _ => Ok(()),
        }
    }

    /// The OS Lock is written.
    pub(super) fn write_lock(&mut self, agent: Agent, locked: bool) {
        if agent.is_direct() {
            self.machine.pending_lock = Some(locked);
            if self.policy.direct_write == DirectWrite::AtOnce {
                self.synchronise_unit();
            }
        } else {
            self.set_lock(locked);
        }
    }

    /// The OS Lock changes at once.
    pub(super) fn set_lock(&mut self, locked: bool) {
        self.machine.write(None, Some(locked), &self.policy, self.buffers.is_drained());
    }

    /// Nothing is left that could be in flight when TRBLIMITR_EL1.E changes.
    fn is_synchronised(&self) -> bool {
        let around = &self.surroundings;
        self.buffers.is_drained() || around.is_prohibited() && around.trace_synchronised
    }

    /// A TSB CSYNC completes. In a prohibited region with the trace buffer unit enabled it has flushed; elsewhere it
    /// does nothing about bytes.
    ///
    /// Spec: ETE-JLRQH-003, ETE-FCBLJ-001, ETE-XLVQM-001.
    fn synchronise_trace(&mut self, log: &mut Log<'_>) -> Result<(), ImpossibleStimulus> {
        if self.surroundings.is_prohibited() {
            if self.routing.trace_buffer_enabled(&self.parameters) {
                if !self.can_drain() {
                    return Err(ImpossibleStimulus::BarrierWaits);
                }
                self.drain(u64::MAX);
                self.follow(log)?;
                self.routing.land();
            }
            self.surroundings.trace_synchronised = true;
        }
        Ok(())
    }

    /// What has a bound and is due before this time has passed happens. Time without Core power does not count.
    ///
    /// Spec: ETE-ZFPHC-001, ETE-CZHWF-001, ETE-TRZCP-003, ETE-GFMRH-001.
    fn wait(&mut self, time: u64, log: &mut Log<'_>) -> Result<(), ImpossibleStimulus> {
        if !self.surroundings.is_powered() {
            return Ok(());
        }
        self.elapsed = self.elapsed.saturating_add(time);
        if self.parameters.bound.is_none_or(|bound| self.elapsed <= bound) {
            return Ok(());
        }
        self.elapsed = 0;
        // Unstable, Stable, Idle, Enabling, Running is the longest way.
        for _ in 0..4 {
            self.progress();
            self.drain(u64::MAX);
            self.follow(log)?;
        }
        Ok(())
    }

    fn processor(&mut self, event: ProcessorEvent) {
        let was_prohibited = self.surroundings.is_prohibited();
        let flushes = match event {
            ProcessorEvent::DebugEntry | ProcessorEvent::DebugExit => {
                self.synchronise();
                self.surroundings.debug_state = event == ProcessorEvent::DebugEntry;
                self.surroundings.debug_state
            }
            ProcessorEvent::Level { level, .. } => {
                self.surroundings.at_el0 = level == 0;
                false
            }
            ProcessorEvent::ProhibitedEntry | ProcessorEvent::ProhibitedExit => {
                self.surroundings.region_prohibited = event == ProcessorEvent::ProhibitedEntry;
                false
            }
            ProcessorEvent::LowPowerEntry | ProcessorEvent::LowPowerExit => {
                self.surroundings.low_power = event == ProcessorEvent::LowPowerEntry && self.policy.low_power;
                self.surroundings.low_power
            }
        };
        self.surroundings.trace_synchronised &= was_prohibited && self.surroundings.is_prohibited();
        if flushes && self.policy.flushes_on_entry {
            self.drain(u64::MAX);
        }
    }

    /// Resources are paused in Enabling, too. Spec: ETE-RES-001, ETE-YFLJT-001.
    fn event(&mut self, n: u8) {
        let around = &self.surroundings;
        let starting = self.machine.state == ProgrammingState::Enabling && !self.policy.trace_in_enabling;
        if around.is_prohibited() || around.low_power || starting {
            self.registers.event_while_paused(n, &self.parameters);
        }
    }

    /// Spec: ETE-PCXJC-001, ETE-YYHBF-001, ETE-ST-004, ETE-ST-005.
    fn reset(&mut self, reset: Reset) {
        if reset == Reset::Warm {
            // It synchronises the context, too.
            self.synchronise();
        }
        if reset != Reset::TraceUnit {
            let synchronised = self.is_synchronised();
            self.routing.reset(self.buffers.held, synchronised);
            self.surroundings.reset();
        }
        if reset == Reset::Cold {
            self.surroundings.power = Power::On;
            self.surroundings.sticky_power_down = true;
        }
        if reset != Reset::Warm {
            self.reset_unit();
        }
        if reset == Reset::Cold {
            self.machine.locked = true;
        }
    }

    /// A trace unit reset: bytes that have not left are lost, so that nothing is left of a flush.
    fn reset_unit(&mut self) {
        self.machine.reset();
        self.registers.reset();
        self.buffers.clear();
        self.routing.land();
        self.flush = self.flush.map(|_| 0);
    }

    /// Spec: ETE-PTZDH-001, ETE-TWQJT-001, ETE-CMKXK-001.
    fn set_power(&mut self, power: Power) {
        let before = core::mem::replace(&mut self.surroundings.power, power);
        match (before, power) {
            (_, Power::Off) => self.reset_unit(),
            (Power::Off, Power::On) => {
                self.reset_unit();
                self.surroundings.sticky_power_down = true;
            }
            // What Core power off has lost is not back in retention.
            (Power::Off, Power::Retention) => self.surroundings.power = Power::Off,
            _ => {}
        }
    }
}
