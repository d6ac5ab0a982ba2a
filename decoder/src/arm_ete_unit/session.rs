//! What concerns one session of the trace unit: events, overflows, and what must be programmed before.

use traceproof_vectors::arm_ete_unit::{Parameters, Register, Rule};

use super::contents::{Contents, RegisterSet};
use super::report::Step;

/// What is known since the command became enabled.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Session {
    /// TRCRSR as it was written before, if that is known.
    written: Option<u32>,
    /// Occurrences of each ETEEvent, at most 2.
    occurred: [u8; 4],
    /// Bit n: ETEEvent n occurred where resources may have been Paused.
    paused: u8,
    /// Bit n: ETEEvent n occurred where the unit may have been in Enabling, and Running was not proved since.
    starting: u8,
    /// Occurrences were not shown all the time.
    hidden: bool,
    /// Running was proved while the region was not prohibited.
    ran: bool,
}

impl Session {
    pub(super) fn begin(contents: &Contents, events_shown: bool) -> Self {
        Self { written: contents.events_written(), hidden: !events_shown, ..Self::default() }
    }

    /// Occurrences are not shown.
    pub(super) fn hide(&mut self) {
        self.hidden = true;
    }

    pub(super) fn occur(&mut self, event: u8, may_pause: bool, may_start: bool) {
        if let Some(count) = self.occurred.get_mut(usize::from(event)) {
            *count = count.saturating_add(1);
        }
        let bit = 1_u8.checked_shl(u32::from(event)).unwrap_or(0);
        if may_pause {
            self.paused |= bit;
        }
        if may_start {
            self.starting |= bit;
        }
    }

    /// Running is proved: what occurred in Enabling is consumed.
    pub(super) fn run(&mut self) {
        self.ran = true;
        self.starting = 0;
    }

    /// Nothing is known of TRCRSR before the session any more.
    pub(super) fn forget(&mut self) {
        self.written = None;
    }

    /// Each ETEEvent is known to have occurred at most once.
    pub(super) fn is_quiet(&self) -> bool {
        !self.hidden && self.occurred.iter().all(|count| *count <= 1)
    }

    /// A first read of TRCRSR after the session.
    ///
    /// Spec: ETE-RES-001, ETE-RES-002.
    pub(super) fn check_events(&self, step: &mut Step<'_>, value: u32) {
        let Some(written) = self.written.filter(|_| !self.hidden) else { return };
        let explained = self.paused | self.starting;
        let unexplained =
            (0..step.parameters.events).filter(|n| value >> (8 + n) & 1 == 1 && explained >> n & 1 == 0);
        let (mut appeared, mut stayed) = (false, false);
        for event in unexplained {
            if written >> (8 + event) & 1 == 0 {
                appeared = true;
            } else {
                stayed |= self.ran;
            }
        }
        step.find_if(appeared, Rule::Res001);
        step.find_if(stayed, Rule::Res002);
    }
}

const fn bit(value: u32, bit: u8) -> bool {
    value >> bit & 1 == 1
}

/// The registers that must have been written since a trace unit reset.
///
/// Spec: ETE-PRG-004, ETE-PRG-005.
pub(super) fn check_programmed(step: &mut Step<'_>, contents: &Contents) {
    let Some(written) = contents.since_reset else { return };
    let parameters = step.parameters;
    let always = [
        (Register::CONFIGR, true),
        (Register::EVENTCTL0R, true),
        (Register::EVENTCTL1R, true),
        (Register::RSR, true),
        (Register::STALLCTLR, true),
        (Register::SYNCPR, !parameters.fixed_sync_period),
        (Register::TRACEIDR, true),
        (Register::VICTLR, true),
    ];
    let config = contents.config.unwrap_or(0);
    let needed = [
        (Register::TSCTLR, bit(config, 11)),
        (Register::CCCTLR, bit(config, 4)),
        (Register::BBCTLR, bit(config, 3)),
        (Register::QCTLR, config >> 13 & 3 != 0),
        (Register::VIIECTLR, true),
        (Register::VISSCTLR, true),
        (Register::VIPCSSCTLR, true),
    ];
    missing(step, Rule::Prg004, &always, &written);
    missing(step, Rule::Prg005, &needed, &written);
    let selected = selected(contents, parameters);
    for n in (2..32).filter(|n| selected >> n & 1 == 1) {
        missing(step, Rule::Prg005, &[(Register::rsctlr(n), true)], &written);
    }
}

fn missing(step: &mut Step<'_>, rule: Rule, registers: &[(Register, bool)], written: &RegisterSet) {
    for (register, needed) in registers {
        if *needed && register.exists(step.parameters) && !written.contains(*register) {
            step.find_at(rule, Some(*register));
        }
    }
}

/// Bit n: resource selector n is used.
fn selected(contents: &Contents, parameters: &Parameters) -> u32 {
    // Registers with events of eight bits each, from bit 0 on, and how many they have.
    let single = [
        (Register::EVENTCTL0R, parameters.events),
        (Register::SEQRSTEVR, 1),
        (Register::TSCTLR, 1),
        (Register::VICTLR, 1),
    ];
    let sequencer = (0..3).map(|n| (Register::seqevr(n), 2));
    let counters = (0..4).map(|n| (Register::cntctlr(n), 2));
    let mut selected = 0;
    for (register, events) in single.into_iter().chain(sequencer).chain(counters) {
        let Some(value) = contents.field(register) else { continue };
        for event in (0..events).map(|n| value >> (8 * n)) {
            selected |= if bit(event, 7) { 3 << (2 * (event & 0xF)) } else { 1 << (event & 0x1F) };
        }
    }
    selected
}

/// Resource state that should be set before each session.
///
/// Spec: ETE-PRG-006.
pub(super) fn check_resources(step: &mut Step<'_>, contents: &Contents) {
    let single = [Register::VICTLR, Register::SEQSTR];
    let counters = (0..4).map(Register::cntvr);
    let comparators = (0..8).map(Register::sscsr);
    for register in single.into_iter().chain(counters).chain(comparators) {
        let has_state = has_resource_state(register, step.parameters);
        if has_state && !contents.since_disabled.contains(register) {
            step.find_at(Rule::Prg006, Some(register));
        }
    }
}

fn has_resource_state(register: Register, parameters: &Parameters) -> bool {
    register.resource_state(parameters) != 0
}
