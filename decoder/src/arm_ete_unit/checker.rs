//! The meaning of a record given those before it: what may be, what is broken, and what is reported.

use alloc::vec::Vec;

use traceproof_vectors::arm_ete_unit::wire::RECORD;
use traceproof_vectors::arm_ete_unit::{
    ArmEteUnit, Barrier, Event, Input, OutputSet, Packet, Parameters, ProgrammingState, Register, Shown,
    StateSet,
};
use traceproof_vectors::{DecoderState, Sink};

use super::belief::{Belief, Filter};
use super::contents::{Contents, RegisterSet};
use super::record::parse;
use super::report::{Finding, Report, Step};
use super::session::{Session, check_programmed, check_resources};
use super::software::{Command, Enabler, Period, Software};
use super::surroundings::Surroundings;

/// Everything that a log has led to so far. Its size does not depend on the log.
#[derive(Clone, Debug, Default)]
pub(super) struct Checker {
    pub(super) belief: Belief,
    /// What the log shows; `None` before its first record.
    shown: Option<Shown>,
    pub(super) software: Software,
    pub(super) contents: Contents,
    pub(super) session: Session,
    pub(super) around: Surroundings,
    /// The log has shown a signal.
    pub(super) signals_shown: bool,
    /// Why checking is suspended: TRCAUXCTLR, TRCIMSPEC0, TRCITCTRL.
    pub(super) suspended: [bool; 3],
    /// The command was enabled before.
    had_session: bool,
    /// Since the command became disabled, not all accesses were shown.
    hidden_writes: bool,
    /// Of the latest record: a period begins, with or without proof of Idle.
    pub(super) restart: Option<bool>,
    /// Of the latest record: a change of EN, direct or not.
    pub(super) changing: Option<bool>,
    /// Of the latest record: EN = 0 as in Arm's example of a context switch.
    pub(super) switching: bool,
    /// A programming register may have been written outside of Idle, and Idle was not proved since: the unit may
    /// output anything (ETE-RWYQD-002).
    pub(super) corrupted: bool,
    /// Whether every configuration is enabled, or disabled.
    side: Option<bool>,
    in_session: bool,
    reported_states: Option<StateSet>,
    reported_outputs: Option<OutputSet>,
    /// Memory for the findings of a record.
    found: Vec<Finding>,
}

impl Checker {
    /// Takes one record.
    pub(super) fn record<S>(
        &mut self,
        parameters: &Parameters,
        record: &[u8; RECORD],
        report: &mut Report<'_, S>,
    ) where
        S: Sink<ArmEteUnit> + ?Sized,
    {
        let packet = match parse(record) {
            Ok(packet) => packet,
            Err(defect) => return report.fault(defect.class, defect.bit),
        };
        report.packet(&packet);
        self.shown.get_or_insert(parameters.shown);
        if !self.shown().barriers {
            self.software.may_synchronise();
        }
        let mut found = core::mem::take(&mut self.found);
        let mut step = Step {
            parameters,
            register: register(&packet),
            suspended: self.is_suspended(),
            found: &mut found,
        };
        self.take(&mut step, &packet);
        self.follow(&mut step);
        self.around.follow_tsb(packet == Packet::Input(Input::Barrier(Barrier::Tsb)));
        report.findings(&mut found);
        self.found = found;
        if packet == Packet::Input(Input::End) {
            *self = Self::default();
        } else {
            self.report(parameters, report);
        }
    }

    pub(super) fn shown(&self) -> Shown {
        self.shown.unwrap_or_default()
    }

    /// What the next record is checked with, for people.
    pub(super) fn shown_state(&self) -> DecoderState {
        let yes = |value: bool| if value { "yes" } else { "no" };
        let state = DecoderState::default()
            .with("possible states", self.belief.states())
            .with("in a session", yes(self.in_session))
            .with("checking suspended", yes(self.is_suspended()))
            .with("may output anything", yes(self.corrupted));
        self.contents
            .known()
            .fold(state, |state, (register, value)| state.with_hex(register, Some(value.into())))
    }

    pub(super) fn show(&mut self, shown: Shown) {
        self.shown = Some(shown);
        if !shown.events {
            self.session.hide();
        }
    }

    pub(super) fn is_suspended(&self) -> bool {
        self.suspended.contains(&true)
    }

    fn take(&mut self, step: &mut Step<'_>, packet: &Packet) {
        match packet {
            Packet::Access(access) => self.access(step, access),
            Packet::Poll(poll) => self.poll(step, poll),
            Packet::Input(input) => self.input(step, input),
            Packet::Output { sink, .. } => self.output(step, *sink),
            Packet::State(state) => self.state(step, *state),
            Packet::Signal(signal) => self.signal(step, *signal),
        }
    }

    /// Keeps the configurations that the filter lets pass. Whether there were none: then the belief becomes every usual
    /// configuration that all filters of this record let pass.
    pub(super) fn restrict(&mut self, of_record: &mut Restriction, filter: Filter) -> bool {
        of_record.all = of_record.all.and(filter);
        let kept = self.belief.only(&filter);
        let impossible = of_record.before.only(&filter).is_empty() || kept.is_empty();
        let mark = self.belief.mark;
        self.belief = if kept.is_empty() { Belief::default().only(&of_record.all) } else { kept };
        if self.belief.is_empty() {
            self.belief = Belief::default();
        }
        self.belief.mark = mark;
        impossible
    }

    /// A context synchronisation event, and what has the same effect.
    pub(super) fn synchronise(&mut self) {
        self.belief.synchronise();
        self.software.synchronise();
        self.contents.synchronise();
        self.around.synchronise();
    }

    /// Records are missing.
    pub(super) fn forget(&mut self) {
        *self = Self {
            shown: self.shown,
            signals_shown: self.signals_shown,
            software: Software::after_gap(),
            in_session: self.in_session,
            around: Surroundings::after_gap(),
            reported_states: self.reported_states,
            reported_outputs: self.reported_outputs,
            ..Self::default()
        };
        self.session.hide();
        self.hidden_writes = true;
    }

    /// What follows from a record for periods, sessions and time.
    fn follow(&mut self, step: &mut Step<'_>) {
        if self.is_suspended() {
            self.belief = Belief::default();
            self.belief.mark = true;
        } else {
            self.belief.close(!self.shown().states);
        }
        let all_shown = self.shown().system && self.shown().external;
        if !all_shown {
            self.hide_accesses();
        }
        let command = self.software.commanded();
        let changed = command != self.software.command;
        if changed {
            self.command(step, command, all_shown);
        }
        if !self.belief.must_be(&[ProgrammingState::Idle, ProgrammingState::Stable]) {
            self.contents.forget_state();
        }
        if changed || self.restart.is_some() {
            self.software.period = Period {
                idle_proof: self.restart == Some(true),
                context_switch: changed && self.switching,
                ..Period::default()
            };
        }
        (self.restart, self.changing, self.switching) = (None, None, false);
        if self.software.period.idle_proof && self.belief.must_be(&[ProgrammingState::Idle]) {
            self.around.land();
        }
        self.around.follow_region();
        let side = self.belief.enabled();
        if side != self.side {
            self.around.elapsed = 0;
            self.side = side;
        }
    }

    /// An agent whose accesses are hidden may have written anything since the latest record.
    fn hide_accesses(&mut self) {
        self.contents.since_reset = None;
        self.contents.forget_values();
        self.hidden_writes = true;
        if !self.shown().system {
            self.around.forget_system();
        }
        if !self.is_suspended() {
            self.belief.may_be_written();
            self.belief.close(!self.shown().states);
        }
    }

    /// The command becomes another one.
    fn command(&mut self, step: &mut Step<'_>, command: Command, all_shown: bool) {
        self.software.command = command;
        match command {
            Command::Enabled => {
                check_programmed(step, &self.contents);
                if self.had_session && !self.hidden_writes {
                    check_resources(step, &self.contents);
                }
                self.had_session = true;
                self.session = Session::begin(&self.contents, self.shown().events);
                self.contents.forget_state();
                self.software.enabler = self.changing.map(|direct| Enabler { direct, running_read: false });
            }
            Command::Disabled => {
                self.contents.since_disabled = RegisterSet::default();
                self.hidden_writes = !all_shown;
            }
            Command::Unknown => self.contents.forget_state(),
        }
    }

    /// Reports what is to be reported after every record but the last.
    fn report<S>(&mut self, parameters: &Parameters, report: &mut Report<'_, S>)
    where
        S: Sink<ArmEteUnit> + ?Sized,
    {
        let states = self.belief.states();
        if self.reported_states.replace(states) != Some(states) {
            report.event(Event::State(states));
        }
        match self.side {
            Some(true) if !self.belief.mark && !self.in_session => {
                self.in_session = true;
                report.event(Event::SessionBegin);
            }
            Some(false) if !self.belief.mark && self.in_session => {
                self.in_session = false;
                report.event(Event::SessionEnd);
            }
            _ => {}
        }
        let outputs = self.around.outputs(parameters, self.contents.oe());
        if self.reported_outputs.replace(outputs) != Some(outputs) {
            report.event(Event::Outputs(outputs));
        }
    }
}

/// What one record says about the belief.
pub(super) struct Restriction {
    /// The belief before the record.
    pub(super) before: Belief,
    all: Filter,
}

impl Restriction {
    pub(super) fn new(before: Belief) -> Self {
        Self { before, all: Filter::default() }
    }
}

/// The register that findings about a record name.
fn register(packet: &Packet) -> Option<Register> {
    match packet {
        Packet::Access(access) => Some(access.register),
        Packet::Poll(_) => Some(Register::STATR),
        Packet::Input(_) | Packet::Output { .. } | Packet::State(_) | Packet::Signal(_) => None,
    }
}
