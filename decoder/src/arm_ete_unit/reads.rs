//! What reads show: TRCSTATR, TRCPRGCTLR, TRCOSLSR and the contents of other registers.

use traceproof_vectors::arm_ete_unit::{
    Access, AccessClass, Operation, Outcome, Poll, ProgrammingState, Register, Resources, Rule, StatusBit,
};

use super::access::{self, is_external, is_unsupported, shown_lock};
use super::belief::Filter;
use super::checker::{Checker, Restriction};
use super::contents::Reading;
use super::report::Step;
use super::software::{Collected, Command, EnSource};

/// System registers whose reads need the barriers of ETE-SYN-010: TRBPTR_EL1, TRBSR_EL1.
const TRACE_BUFFER_RESULTS: [Register; 2] = [Register(0x1024), Register(0x102C)];

/// What a read of TRCSTATR, or a poll, shows.
#[derive(Clone, Copy, Debug, Default)]
struct Status {
    idle: Option<bool>,
    pmstable: Option<bool>,
    /// A bit above 1 is set.
    more: bool,
    timed_out: bool,
}

impl Checker {
    /// A register is read or written.
    pub(super) fn access(&mut self, step: &mut Step<'_>, access: &Access) {
        access::check(step, access, &self.belief, &self.around);
        self.check_lock_forgotten(step, access);
        let mut of_record = Restriction::new(self.belief);
        if let Some(locked) = shown_lock(access, step.parameters, &self.around) {
            // The outcome is judged with the belief above.
            self.restrict(&mut of_record, Filter::default().locked(locked));
        }
        let unsupported = is_unsupported(access, step.parameters) && !access.agent.is_direct();
        let value = access.value.filter(|_| !unsupported);
        match access.operation {
            Operation::Read if access.outcome.reaches() => self.read(step, access, value, &mut of_record),
            // An access of an unsupported size can give an error and write all the same (ETE-YFRMG-001).
            Operation::Write if unsupported => {
                self.write(step, access, value);
                self.obscure(step, Register(access.register.offset() + 4));
            }
            Operation::Write if access.outcome.reaches() => self.write(step, access, value),
            _ => {}
        }
    }

    /// Spec: ETE-FJPCN-001.
    fn check_lock_forgotten(&mut self, step: &mut Step<'_>, access: &Access) {
        let class = access.register.class(step.parameters);
        let failed = is_external(access, step.parameters)
            && access.outcome == Outcome::Error
            && matches!(class, AccessClass::Trace | AccessClass::Claim);
        if failed && self.software.locked == Some(true) && !self.software.locked_access_reported {
            self.software.locked_access_reported = true;
            step.find(Rule::Fjpcn001);
        }
    }

    fn read(
        &mut self,
        step: &mut Step<'_>,
        access: &Access,
        value: Option<u64>,
        of_record: &mut Restriction,
    ) {
        let direct = access.agent.is_direct();
        let register = access.register;
        if register == Register::STATR {
            return self.read_status(step, direct, value, of_record);
        }
        let uncollected = matches!(self.software.collected, Collected::Tsb | Collected::Dsb);
        let collects = direct && TRACE_BUFFER_RESULTS.contains(&register);
        step.find_if(collects && uncollected && self.shown().barriers, Rule::Syn010);
        let synchronised = direct && [Register::RSR, Register::VICTLR].contains(&register);
        let pending = self.software.period.shown_pending && self.software.command == Command::Disabled;
        step.find_if(synchronised && pending && self.shown().barriers, Rule::Syn008);
        let Some(value) = value.map(|value| value as u32) else { return };
        match register {
            Register::PRGCTLR => self.read_enable(step, access, value & 1 == 1, of_record),
            Register::OSLSR => self.read_lock(step, value, of_record),
            _ => {}
        }
        let stable = self.is_stable_read(direct);
        self.contents.read(step, register, value, Reading { direct, stable });
        self.read_events(step, register, value, stable);
        self.suspend_by_read(register, value);
    }

    /// Whether resource state that is read now stays as it is.
    fn is_stable_read(&self, direct: bool) -> bool {
        let period = &self.software.period;
        let stable = (period.shown_stable || period.idle_proof)
            && self.belief.must_be(&[ProgrammingState::Idle, ProgrammingState::Stable]);
        stable && (!direct || period.stable_synchronised || !self.shown().barriers)
    }

    /// A first read of TRCRSR after a session. A read that is not stable may be UNKNOWN and counts for nothing.
    fn read_events(&mut self, step: &mut Step<'_>, register: Register, value: u32, stable: bool) {
        let disabled = self.software.command == Command::Disabled;
        let first = !self.software.period.events_read;
        if register == Register::RSR && disabled && stable {
            if first {
                self.session.check_events(step, value);
            }
            self.software.period.events_read = true;
        }
    }

    /// Spec: ETE-SYN-002, ETE-DYRZC-001, ETE-ST-004, ETE-ST-005, ETE-MDZDN-002.
    fn read_enable(&mut self, step: &mut Step<'_>, access: &Access, en: bool, of_record: &mut Restriction) {
        let direct = access.agent.is_direct();
        if self.restrict(of_record, Filter::default().en(en, direct)) {
            let external = is_external(access, step.parameters);
            step.find(match self.software.en_source {
                EnSource::DirectWrite if direct => Rule::Syn002,
                EnSource::ExternalWrite if external => Rule::Dyrzc001,
                EnSource::Kept => Rule::St004,
                EnSource::Reset => Rule::St005,
                _ => Rule::Mdzdn002,
            });
        }
        self.software.read_en(en, direct);
    }

    /// Spec: ETE-ACC-011.
    fn read_lock(&mut self, step: &mut Step<'_>, value: u32, of_record: &mut Restriction) {
        let locked = value >> 1 & 1 == 1;
        let impossible = self.restrict(of_record, Filter::default().locked(locked));
        let expected = 0x10 | u32::from(locked) << 1;
        let malformed = step.parameters.version.is_ete() && value != expected;
        step.find_if(malformed || impossible, Rule::Acc011);
        self.software.read_lock(locked);
    }

    fn read_status(
        &mut self,
        step: &mut Step<'_>,
        direct: bool,
        value: Option<u64>,
        of_record: &mut Restriction,
    ) {
        let synchronised = self.check_synchronised(step, direct);
        if let Some(value) = value.filter(|_| synchronised) {
            let status = Status {
                idle: Some(value & 1 == 1),
                pmstable: Some(value & 2 == 2),
                more: value >> 2 != 0,
                timed_out: false,
            };
            self.prove(step, status, of_record);
        }
        self.software.status_read(direct, value.is_some_and(|value| value & 1 == 0));
    }

    /// TRCSTATR is read until a bit has a value.
    pub(super) fn poll(&mut self, step: &mut Step<'_>, poll: &Poll) {
        let Poll { agent, bit, value, timed_out } = *poll;
        let waits_for_running = bit == StatusBit::Idle && !value;
        if timed_out && waits_for_running {
            self.check_held(step);
        }
        let shown = Some(value != timed_out);
        let status = match bit {
            StatusBit::Idle => Status { idle: shown, timed_out, ..Status::default() },
            StatusBit::Pmstable => Status { pmstable: shown, timed_out, ..Status::default() },
        };
        if self.check_synchronised(step, agent.is_direct()) {
            let mut of_record = Restriction::new(self.belief);
            self.prove(step, status, &mut of_record);
        }
        self.software.status_read(agent.is_direct(), status.idle == Some(false));
        self.software.timed_out |= timed_out;
    }

    /// Whether a read of TRCSTATR shows the state.
    ///
    /// Spec: ETE-SYN-004, ETE-SYN-005, ETE-SYN-006.
    fn check_synchronised(&mut self, step: &mut Step<'_>, direct: bool) -> bool {
        let after_control = direct && self.software.control_pending;
        let after_read = direct && self.software.status_pending;
        step.find_if(after_control, Rule::Syn004);
        step.find_if(after_read, Rule::Syn005);
        !after_control && !after_read
    }

    /// The unit was to be enabled with the OS Lock locked, and is locked still.
    ///
    /// Spec: ETE-DXFFN-002.
    pub(super) fn check_held(&mut self, step: &mut Step<'_>) {
        let software = &mut self.software;
        let held = software.en == Some(true) && software.locked == Some(true);
        if held && software.locked_enable == Some(false) {
            software.locked_enable = Some(true);
            step.find(Rule::Dxffn002);
        }
    }

    /// TRCSTATR shows the state.
    ///
    /// Spec: ETE-ST-001, ETE-ST-002, ETE-ST-003, ETE-ST-006, ETE-MVZYP-001, ETE-RPSPH-001.
    fn prove(&mut self, step: &mut Step<'_>, status: Status, of_record: &mut Restriction) {
        let mut filter = Filter::default();
        for (bit, value) in [(0, status.idle), (1, status.pmstable)] {
            if let Some(value) = value {
                filter = filter.status(bit, value);
            }
        }
        let impossible = self.restrict(of_record, filter);
        self.belief.mark = false;
        let before = &of_record.before;
        let rule = match before.enabled() {
            _ if before.is_held_by_lock() => Rule::St006,
            Some(false) => Rule::St002,
            Some(true) => Rule::St003,
            None => Rule::St001,
        };
        step.find_if(status.more && !(impossible && rule == Rule::St001), Rule::St001);
        step.find_if(impossible, rule);
        self.check_time(step, status, before.enabled());
        let disabled = self.belief.enabled() == Some(false);
        let busy = self.around.resources.is_some_and(|resources| resources != Resources::Paused);
        let stable = status.pmstable == Some(true) && !status.timed_out;
        step.find_if(stable && disabled && busy, Rule::Mvzyp001);
        let idle = self.belief.must_be(&[ProgrammingState::Idle]);
        step.find_if(idle && self.around.overflow, Rule::Rpsph001);
        self.corrupted &= !idle;
        self.software.proved(status.idle, status.pmstable);
        self.software.timed_out &= status.timed_out;
        if status.idle == Some(false) {
            self.follow_running();
        }
    }

    /// Running is proved, if the command is enabled.
    pub(super) fn follow_running(&mut self) {
        if self.software.command == Command::Enabled && !self.around.may_pause() {
            self.session.run();
        }
    }

    /// Spec: ETE-ZFPHC-001, ETE-CZHWF-001, ETE-TRZCP-003.
    fn check_time(&self, step: &mut Step<'_>, status: Status, enabled: Option<bool>) {
        if !self.around.is_overdue(step.parameters) {
            return;
        }
        step.find_if(enabled == Some(true) && status.idle == Some(true), Rule::Zfphc001);
        step.find_if(enabled == Some(false) && status.pmstable == Some(false), Rule::Czhwf001);
        let undrained = status.idle == Some(false) && (status.pmstable == Some(true) || status.timed_out);
        step.find_if(
            enabled == Some(false) && undrained && !self.around.is_blocked(step.parameters),
            Rule::Trzcp003,
        );
    }
}
