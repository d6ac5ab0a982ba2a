//! What comes from outside of the unit.

use traceproof_vectors::arm_ete_unit::{
    Barrier, Input, Power, ProcessorEvent, ProgrammingState, Reset, Resources, Rule, Visible,
};

use super::checker::Checker;
use super::report::Step;
use super::software::{Command, EnSource};

impl Checker {
    pub(super) fn input(&mut self, step: &mut Step<'_>, input: &Input) {
        match *input {
            Input::Barrier(barrier) => self.barrier(step, barrier),
            Input::OsLock { agent, locked } => self.write_lock(step, Some(locked), agent.is_direct()),
            Input::TraceFilter { prohibited } => {
                self.around.write_filter(prohibited);
                self.software.filter_pending = prohibited;
            }
            Input::TraceBuffer { enabled } => self.trace_buffer(step, enabled),
            Input::Processor(event) => {
                if matches!(event, ProcessorEvent::DebugEntry | ProcessorEvent::DebugExit) {
                    self.synchronise();
                }
                self.around.processor(event);
            }
            Input::Reset(reset) => self.reset(step, reset),
            Input::Power(power) => self.power(step, power),
            Input::Sink { sink, state } => self.around.set_sink(sink, state),
            Input::Interfaces { enabled } => self.around.interfaces_enabled = enabled,
            Input::ExternalAccess { etad } => self.around.set_etad(etad),
            Input::Event(event) => {
                let may_start = self.belief.can_be(&[ProgrammingState::Enabling]);
                self.session.occur(event, self.around.may_pause(), may_start);
            }
            Input::FlushRequest => self.around.request_flush(),
            Input::Wait(time) => {
                let overdue = self.around.wait(time, step.parameters);
                // A log without signals does not show acknowledgements either.
                step.find_if(overdue && self.signals_shown, Rule::Dkfrl001);
            }
            Input::Visibility { what, shown } => self.visibility(what, shown),
            Input::Gap => self.forget(),
            Input::End => self.end(step),
        }
    }

    fn visibility(&mut self, what: Visible, is_shown: bool) {
        let mut shown = self.shown();
        *match what {
            Visible::Barriers => &mut shown.barriers,
            Visible::System => &mut shown.system,
            Visible::External => &mut shown.external,
            Visible::States => &mut shown.states,
            Visible::Events => &mut shown.events,
        } = is_shown;
        self.show(shown);
    }

    /// Spec: ETE-SYN-009, ETE-FCBLJ-001.
    fn barrier(&mut self, step: &mut Step<'_>, barrier: Barrier) {
        let is_tsb = self.around.counts_as_tsb(step.parameters, barrier == Barrier::Tsb);
        if barrier.is_context_synchronisation() {
            self.synchronise();
        }
        if barrier == Barrier::Dsb {
            self.around.dsb();
        }
        if is_tsb {
            step.find_if(self.software.filter_pending, Rule::Syn009);
            let busy = self.around.resources.is_some_and(|resources| resources != Resources::Paused);
            let finished = self.belief.can_be(&[ProgrammingState::Idle, ProgrammingState::Stable]);
            step.find_if(self.around.is_prohibited() && busy && !finished, Rule::Fcblj001);
            self.around.tsb(step.parameters);
        }
        self.software.collect(barrier, is_tsb);
    }

    /// Spec: ETE-PRG-009, ETE-PRG-010.
    fn trace_buffer(&mut self, step: &mut Step<'_>, enabled: bool) {
        let shown = self.shown();
        let drained = self.is_drained();
        let around = &mut self.around;
        let idle = self.software.period.idle_proof;
        let collected = around.is_prohibited() && around.tsb_in_region;
        let was_enabled = around.buffer_shown == Some(true);
        if shown.system && shown.barriers {
            let lost = !enabled && was_enabled && !idle && !collected;
            step.find_if(lost && around.filter_shown, Rule::Prg010);
        }
        let changes = around.buffer_shown == Some(!enabled);
        let traces = self.software.command == Command::Enabled && around.prohibited() == Some(false);
        step.find_if(changes && traces && shown.system, Rule::Prg009);
        around.write_buffer(step.parameters, enabled, drained);
    }

    /// Nothing is left that could be in flight when TRBLIMITR_EL1.E changes.
    fn is_drained(&self) -> bool {
        let empty = self.belief.must_be(&[ProgrammingState::Idle]);
        empty || self.around.is_prohibited() && self.around.tsb_in_region
    }

    /// Spec: ETE-PCXJC-001, ETE-YYHBF-001.
    fn reset(&mut self, step: &mut Step<'_>, reset: Reset) {
        match reset {
            Reset::TraceUnit => {
                self.belief.reset(None);
                self.reset_unit(step);
            }
            Reset::Cold => {
                self.synchronise();
                self.belief.reset(Some(true));
                self.reset_unit(step);
                self.around.reset_processor();
                self.around.power = Power::On;
                self.around.restart_time();
                self.software.lock(Some(true), false);
                self.software.reset();
            }
            Reset::Warm => {
                self.synchronise();
                let drained = self.is_drained();
                self.around.clear_buffer(drained);
                self.around.reset_processor();
                self.contents.forget_state();
                self.software.en_source = EnSource::Kept;
                self.restart = Some(false);
            }
        }
    }

    /// What every trace unit reset does.
    fn reset_unit(&mut self, step: &mut Step<'_>) {
        self.suspended = [false; 3];
        self.software.reset();
        self.contents.reset(step.parameters);
        self.around.reset_unit();
        self.session.forget();
        self.restart = Some(true);
    }

    /// Spec: ETE-PTZDH-001.
    fn power(&mut self, step: &mut Step<'_>, power: Power) {
        if power == self.around.power {
            return;
        }
        self.around.power = power;
        self.around.restart_time();
        self.restart = Some(false);
        self.contents.forget_state();
        if power == Power::Off {
            self.check_timed_out(step);
            self.belief.lose_power();
            self.around.reset_unit();
            self.around.lost = true;
            self.software.en = Some(false);
            self.software.locked = None;
        } else if power == Power::On && self.around.lost {
            self.belief.lose_power();
            self.reset_unit(step);
            self.software.locked = None;
        }
    }

    /// The end of a log.
    ///
    /// Spec: ETE-PRG-001, ETE-ZGJRF-001, ETE-SYN-007.
    fn end(&mut self, step: &mut Step<'_>) {
        self.check_held(step);
        let shown = self.shown();
        if let Some(enabler) = self.software.enabler
            && self.software.command == Command::Enabled
            && !enabler.running_read
        {
            step.find_if(!enabler.direct && shown.external, Rule::Prg001);
            step.find_if(enabler.direct && shown.system, Rule::Zgjrf001);
        }
        step.find_if(self.software.write_pending && shown.barriers, Rule::Syn007);
    }
}
