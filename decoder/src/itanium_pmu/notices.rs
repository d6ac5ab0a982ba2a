//! Warnings for the author of a configuration.

use traceproof_vectors::itanium_pmu::events::SelectableEvent;
use traceproof_vectors::itanium_pmu::{DataEarThresholds, Notice, Parameters, Register, RegisterClass};

use super::known::Known;
use super::registers::selection;
use super::slice::{bit, small};

/// Every notice about the registers that a dump has shown, in the order of registers and of [`Notice`]'s variants.
///
/// Spec: ITA-DEC-010, ITA-DEC-011, ITA-EAR-011.
pub(super) fn notices(known: &Known, parameters: &Parameters, mut report: impl FnMut(Register, Notice)) {
    for register in Register::implemented() {
        let Some(value) = known.get(register) else { continue };
        let mut note = |holds: bool, notice| {
            if holds {
                report(register, notice);
            }
        };
        match (register.class, register.index) {
            (RegisterClass::Pmc, 4..=7) => {
                let (es, umask) = selection(value);
                let event = SelectableEvent::find(es, umask);
                let high = if register.index < 6 { 22 } else { 21 };
                let threshold = small(value, high, 20);
                note(is_disabled(value), Notice::Disabled);
                note(event.is_none(), Notice::UnknownEvent);
                note(event.is_some_and(|event| threshold >= event.max_increment), Notice::NeverCounts);
            }
            (RegisterClass::Pmc, 8 | 9) => note(small(value, 63, 60) == 0, Notice::Disabled),
            (RegisterClass::Pmc, 10) => {
                note(is_disabled(value), Notice::Disabled);
                note(cache_mode(value).is_some_and(|umask| umask >= 11), Notice::NoCapture);
            }
            (RegisterClass::Pmc, 11) => {
                let umask = cache_mode(value);
                let hole = parameters.data_ear_thresholds == DataEarThresholds::Shifted;
                let no_capture = |umask| umask >= 11 || (umask == 7 && hole);
                note(is_disabled(value), Notice::Disabled);
                note(umask.is_some_and(no_capture), Notice::NoCapture);
                note(umask.is_some_and(|umask| (7..=10).contains(&umask)), Notice::Disputed);
                note(!bit(value, 28) && debugs(known), Notice::RangeCheckOff);
            }
            (RegisterClass::Pmc, 13) => {
                let breakpoint = [1, 3, 5, 7]
                    .into_iter()
                    .any(|index| known.get(Register::ibr(index)).is_some_and(|odd| bit(odd, 63)));
                note(!bit(value, 0) && (debugs(known) || breakpoint), Notice::RangeCheckOff);
            }
            (RegisterClass::Ibr | RegisterClass::Dbr, 0 | 2 | 4 | 6) => {
                let odd = Register { class: register.class, index: register.index + 1 };
                let Some(control) = known.get(odd) else { continue };
                let checked = known.get(Register::pmc(11)).is_some_and(|pmc| !bit(pmc, 28));
                let leaks = register.class == RegisterClass::Dbr && checked && value == 0 && control == 0;
                note(leaks, Notice::MatchesRegionZero);
                note(never_matches(value, control), Notice::NeverMatches);
            }
            _ => {}
        }
    }
}

/// ism = 3 or plm = 0.
const fn is_disabled(pmc: u64) -> bool {
    small(pmc, 25, 24) == 3 || small(pmc, 3, 0) == 0
}

/// umask of an event address register's configuration in cache mode.
fn cache_mode(pmc: u64) -> Option<u8> {
    (!bit(pmc, 7)).then(|| small(pmc, 19, 16))
}

fn debugs(known: &Known) -> bool {
    known.get(Register::PSR).is_some_and(|psr| bit(psr, 24))
}

/// Whether no address can match a pair: bit 50 of an address would have to be 0 and 1.
///
/// Spec: ITA-IBR-014, ITA-DBR-011.
fn never_matches(addr: u64, control: u64) -> bool {
    let sign = bit(addr, 60);
    (56..60).any(|b| bit(addr, b) != sign) || (50..56).any(|b| bit(control, b) && bit(addr, b) != sign)
}
