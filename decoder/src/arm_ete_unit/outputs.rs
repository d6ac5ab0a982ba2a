//! What leaves the unit, and what an RTL simulation shows of it.

use traceproof_vectors::arm_ete_unit::{
    OutputSet, Parameters, Power, ProgrammingState, Register, Resources, Rule, Signal, Sink,
};

use super::belief::Filter;
use super::checker::{Checker, Restriction};
use super::report::Step;

const NOT_IDLE: [ProgrammingState; 4] = [
    ProgrammingState::Enabling,
    ProgrammingState::Running,
    ProgrammingState::Unstable,
    ProgrammingState::Stable,
];

impl Checker {
    /// Bytes leave the unit.
    ///
    /// Spec: ETE-ST-006, ETE-SES-001.
    pub(super) fn output(&mut self, step: &mut Step<'_>, sink: Sink) {
        match sink {
            Sink::TraceBuffer => self.bytes_at_buffer(step),
            Sink::Interface(n) => self.bytes_at_interface(step, n),
        }
        let mut of_record = Restriction::new(self.belief);
        let idle = self.restrict(&mut of_record, Filter::default().states(NOT_IDLE.into_iter()));
        let held = of_record.before.is_held_by_lock();
        step.find_if(held, Rule::St006);
        step.find_if(!held && (idle || self.around.power != Power::On), Rule::Ses001);
    }

    /// Spec: ETE-SVDBD-001, ETE-RT-002, ETE-FJFNS-001, ETE-RT-003, ETE-XLVQM-001.
    fn bytes_at_buffer(&self, step: &mut Step<'_>) {
        let parameters = step.parameters;
        let around = &self.around;
        step.find_if(!parameters.trace_buffer, Rule::Svdbd001);
        step.find_if(!parameters.self_hosted && !parameters.trace_buffer_external, Rule::Rt002);
        let disabled = around.buffer(parameters) == Some(false) && !around.flies(parameters);
        step.find_if(disabled, Rule::Fjfns001);
        step.find_if(around.stopped, Rule::Rt003);
        let collected = around.is_prohibited() && around.tsb_with_buffer;
        step.find_if(collected && !self.corrupted, Rule::Xlvqm001);
    }

    /// Spec: ETE-SVDBD-001, ETE-RT-003, ETE-LGVCX-001, ETE-LGVCX-002, ETE-PJYKY-001, ETE-PJYKY-002, ETE-FTSZG-002.
    fn bytes_at_interface(&self, step: &mut Step<'_>, n: u8) {
        let parameters = step.parameters;
        let around = &self.around;
        let oe = self.contents.oe();
        let before = step.found.len();
        step.find_if(n >= parameters.interfaces, Rule::Svdbd001);
        if around.buffer(parameters) == Some(true) && !around.flies(parameters) {
            step.find_if(around.stopped, Rule::Rt003);
            step.find(match (parameters.output_enable, oe) {
                (true, Some(true)) => Rule::Lgvcx002,
                (true, _) => Rule::Pjyky002,
                (false, _) => Rule::Lgvcx001,
            });
        }
        if step.found.len() == before {
            step.find_if(parameters.output_enable && oe == Some(false), Rule::Pjyky001);
        }
        if step.found.len() == before {
            let silent =
                !parameters.output_enable || parameters.interpretation.disabled_interfaces_are_silent;
            step.find_if(!around.interfaces_enabled && silent, Rule::Ftszg002);
        }
    }

    /// The state is seen.
    ///
    /// Spec: ETE-WMGGP-005, ETE-MVZYP-001, ETE-RPSPH-001.
    pub(super) fn state(&mut self, step: &mut Step<'_>, state: ProgrammingState) {
        if self.shown().states {
            self.belief.step();
            self.belief.close(false);
        }
        let mut of_record = Restriction::new(self.belief);
        let filter = Filter::default().states([state].into_iter());
        let impossible = self.restrict(&mut of_record, filter);
        self.belief.mark = false;
        step.find_if(impossible, Rule::Wmggp005);
        step.find_if(state == ProgrammingState::Stable && self.is_busy(), Rule::Mvzyp001);
        step.find_if(state == ProgrammingState::Idle && self.around.overflow, Rule::Rpsph001);
        self.software.timed_out = false;
        self.corrupted &= state != ProgrammingState::Idle;
        let period = &mut self.software.period;
        period.idle_proof |= state == ProgrammingState::Idle;
        period.running_proof |= state == ProgrammingState::Running;
        if state == ProgrammingState::Running {
            self.follow_running();
        }
    }

    /// The resources are known not to be Paused.
    fn is_busy(&self) -> bool {
        self.around.resources.is_some_and(|resources| resources != Resources::Paused)
    }

    pub(super) fn signal(&mut self, step: &mut Step<'_>, signal: Signal) {
        self.signals_shown = true;
        match signal {
            Signal::Enabled(enabled) => {
                let mut of_record = Restriction::new(self.belief);
                let impossible = self.restrict(&mut of_record, Filter::default().enabled(enabled));
                step.find_if(impossible, Rule::Wmggp004);
            }
            Signal::Operative(operative) => self.operative(step, operative),
            Signal::ViewInst(active) => {
                let becomes = active && self.around.viewinst != Some(true);
                step.find_if(becomes && self.around.debug, Rule::Ymjfj001);
                self.around.viewinst = Some(active);
            }
            Signal::Overflow(begins) => {
                if begins && !self.around.overflow {
                    self.check_overflow(step);
                }
                self.around.overflow = begins;
            }
            Signal::Stall(stalled) => {
                step.find_if(stalled && self.may_not_stall(step.parameters), Rule::Stl001);
            }
            Signal::FlushAcknowledge => {
                let early = step.parameters.errata.early_flush_acknowledge;
                step.find_if(self.around.overflow && !early, Rule::Twbvy001);
                self.around.acknowledge_flush();
            }
            Signal::Resources(resources) => {
                let runs = resources == Resources::Running;
                let becomes = runs && self.around.resources != Some(Resources::Running);
                step.find_if(becomes && self.belief.enabled() == Some(false), Rule::Lyfdt001);
                self.around.resources = Some(resources);
            }
        }
    }

    /// Spec: ETE-ZVNKV-001.
    fn operative(&mut self, step: &mut Step<'_>, operative: bool) {
        let becomes = self.around.operative != Some(operative);
        let enabled = self.belief.enabled();
        let wrong = if operative {
            enabled == Some(false) || self.around.overflow
        } else {
            enabled == Some(true) && !self.around.overflow
        };
        step.find_if(becomes && wrong, Rule::Zvnkv001);
        self.around.operative = Some(operative);
    }

    /// An overflow begins.
    ///
    /// Spec: ETE-ZDTLK-001, ETE-NLSSL-002, ETE-STL-002.
    fn check_overflow(&self, step: &mut Step<'_>) {
        let parameters = step.parameters;
        step.find_if(self.belief.enabled() == Some(false), Rule::Zdtlk001);
        step.find_if(self.discards(parameters), Rule::Nlssl002);
        let on = self.stall_control(parameters) == Some((true, true)) && !self.may_not_stall(parameters);
        let quiet = self.shown().events && self.session.is_quiet();
        step.find_if(on && quiet, Rule::Stl002);
    }

    /// The trace buffer unit is known to be disabled, and bytes count as output.
    fn discards(&self, parameters: &Parameters) -> bool {
        self.around.buffer(parameters) == Some(false)
            && self.around.outputs(parameters, self.contents.oe()) == OutputSet::DISCARDED
    }

    /// ISTALL and NOOVERFLOW, if they are known.
    fn stall_control(&self, parameters: &Parameters) -> Option<(bool, bool)> {
        let value = self.contents.field(Register::STALLCTLR)?;
        Some((value >> 8 & 1 == 1, parameters.no_overflow && value >> 13 & 1 == 1))
    }

    /// Spec: ETE-STL-001.
    fn may_not_stall(&self, parameters: &Parameters) -> bool {
        self.belief.enabled() == Some(false)
            || self.around.is_prohibited()
            || self.around.debug
            || !parameters.system_stall
            || !parameters.stall_control
            || self.discards(parameters)
            || self.stall_control(parameters) == Some((false, false))
            || !parameters.self_hosted && !parameters.invasive_debug
    }
}
