//! What software writes, and the steps that it leaves out.

use traceproof_vectors::arm_ete_unit::{Access, ProgrammingState, Register, Rule};

use super::access::{is_external, is_unsupported, suspends};
use super::checker::Checker;
use super::contents::Write;
use super::report::Step;
use super::software::{Command, EnWrite};

impl Checker {
    /// A write that reaches the unit.
    pub(super) fn write(&mut self, step: &mut Step<'_>, access: &Access, value: Option<u64>) {
        let register = access.register;
        let direct = access.agent.is_direct();
        if register.is_of_processor() {
            return;
        }
        self.software.write_pending |= direct;
        if !register.exists(step.parameters) {
            return;
        }
        let proved = self.software.period.idle_proof && self.belief.must_be(&[ProgrammingState::Idle]);
        let value = value.map(|value| value as u32);
        if register.is_programming(step.parameters) {
            self.check_programming(step, direct);
        }
        match register {
            Register::PRGCTLR => self.write_enable(step, access, value.map(|value| value & 1 == 1)),
            Register::OSLAR => self.write_lock(step, value.map(|value| value & 1 == 1), direct),
            Register::RSR => self.session.forget(),
            _ => {}
        }
        self.contents.write(step.parameters, &Write { register, value, direct, proved });
        self.suspend(register, value);
    }

    /// The word after a register that was written with an unsupported size: it may be UNKNOWN, too.
    ///
    /// Spec: ETE-YFRMG-001.
    pub(super) fn obscure(&mut self, step: &mut Step<'_>, register: Register) {
        if !register.exists(step.parameters) {
            return;
        }
        self.corrupted |=
            register.is_programming(step.parameters) && !self.belief.must_be(&[ProgrammingState::Idle]);
        match register {
            Register::PRGCTLR => {
                self.belief.write_en(None, false);
                let access = EnWrite { direct: false, external: false, unpredictable: true };
                self.software.write_en(None, true, access);
            }
            Register::OSLAR => self.write_lock(step, None, false),
            Register::RSR => self.session.forget(),
            _ => {}
        }
        self.contents.obscure(register);
        self.suspend(register, None);
    }

    /// Spec: ETE-PRG-012.
    fn suspend(&mut self, register: Register, value: Option<u32>) {
        if let Some((index, suspended)) = suspends(register, value)
            && let Some(reason) = self.suspended.get_mut(index)
        {
            *reason = suspended;
        }
    }

    /// A register was read. A value that suspends nothing ends nothing, either: a suspended unit may return anything.
    ///
    /// Spec: ETE-PRG-012.
    pub(super) fn suspend_by_read(&mut self, register: Register, value: u32) {
        if suspends(register, Some(value)).is_some_and(|(_, suspended)| suspended) {
            self.suspend(register, Some(value));
        }
    }

    /// A write of a programming register.
    ///
    /// Spec: ETE-RWYQD-001, ETE-PRG-002, ETE-SYN-003, ETE-PRG-011.
    fn check_programming(&mut self, step: &mut Step<'_>, direct: bool) {
        let unpredictable = !self.belief.can_be(&[ProgrammingState::Idle]);
        step.find_if(unpredictable, Rule::Rwyqd001);
        self.corrupted |= !self.belief.must_be(&[ProgrammingState::Idle]);
        let shown = if direct { self.shown().system } else { self.shown().external };
        let period = &mut self.software.period;
        let unproved = !period.idle_proof && !period.after_gap && !period.unproved_write_reported;
        if !unpredictable && unproved && shown {
            period.unproved_write_reported |= !period.context_switch;
            self.find_or_accept(step, Rule::Prg002);
        }
        let unsettled = self.software.change.as_mut().filter(|change| change.direct && !change.settled);
        if let Some(change) = unsettled {
            change.settled = true;
            if self.shown().system {
                self.find_or_accept(step, Rule::Syn003);
            }
        }
        self.check_timed_out(step);
    }

    /// Reports a missing step, or the note that Arm's example of a context switch leaves it out.
    ///
    /// Spec: ETE-HSXGZ-001.
    fn find_or_accept(&mut self, step: &mut Step<'_>, rule: Rule) {
        let period = &mut self.software.period;
        if !period.context_switch {
            step.find(rule);
        } else if !core::mem::replace(&mut period.context_switch_noted, true) {
            step.find(Rule::Hsxgz001);
        }
    }

    /// Something is done after a poll timed out.
    ///
    /// Spec: ETE-PRG-011.
    pub(super) fn check_timed_out(&mut self, step: &mut Step<'_>) {
        if core::mem::take(&mut self.software.timed_out) {
            step.find(Rule::Prg011);
        }
    }

    /// TRCPRGCTLR is written.
    ///
    /// Spec: ETE-MDZDN-001, ETE-PRG-003.
    fn write_enable(&mut self, step: &mut Step<'_>, access: &Access, en: Option<bool>) {
        let direct = access.agent.is_direct();
        let known = self.software.en;
        let changes = known.is_none() || en.is_some() && en != known;
        // Reading `eteu-first-disable`.
        let unknown_before = known.is_none() && en == Some(false);
        let first = unknown_before && !self.software.en_obscured;
        let settled = [ProgrammingState::Idle, ProgrammingState::Running];
        let unpredictable = changes && !first && !self.belief.can_be(&settled);
        step.find_if(unpredictable, Rule::Mdzdn001);
        let shown = if direct { self.shown().system } else { self.shown().external };
        let period = &self.software.period;
        let proved = match en {
            Some(true) => period.idle_proof,
            Some(false) => period.running_proof || period.idle_proof && self.software.locked == Some(true),
            None => true,
        };
        // A read of EN = 1 says no more about Enabling than no read.
        let found = en == Some(false) && self.software.en_found && self.software.command == Command::Enabled;
        let exempt = unknown_before || found || period.after_gap;
        if changes && !exempt && !unpredictable && !proved && shown {
            self.find_or_accept(step, Rule::Prg003);
        }
        if changes {
            self.check_timed_out(step);
            self.changing = Some(direct);
        }
        if first {
            self.belief.begin_procedure();
        }
        self.belief.write_en(en, direct);
        self.switching = direct && en == Some(false) && self.is_drained_for_switch(step);
        let unpredictable = unpredictable || is_unsupported(access, step.parameters) && !direct;
        let external = is_external(access, step.parameters);
        self.software.write_en(en, changes, EnWrite { direct, external, unpredictable });
    }

    /// Whether tracing is prohibited and collected as in Arm's example of a context switch.
    fn is_drained_for_switch(&self, step: &Step<'_>) -> bool {
        let drained = self.around.filter.value == Some(true) && self.around.tsb_in_filter;
        step.parameters.interpretation.accept_context_switch && (drained || !self.shown().barriers)
    }

    /// The OS Lock is written, by OSLAR_EL1 if direct.
    pub(super) fn write_lock(&mut self, step: &mut Step<'_>, locked: Option<bool>, direct: bool) {
        if locked.is_none() || self.software.locked != locked {
            self.check_timed_out(step);
        }
        self.belief.write_lock(locked, direct);
        self.software.lock(locked, direct);
    }
}
