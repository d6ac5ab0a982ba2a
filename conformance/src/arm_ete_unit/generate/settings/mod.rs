//! Register values for a wish, against the fields that the registers have by the specification: what was asked for is
//! what they hold, and what is refused cannot be done.
//!
//! | question | place |
//! |---|---|
//! | Which trace unit, and what is asked of it? | `wish` |
//! | What is wrong with it? | `reasons` |
//! | Which registers are written, in which order, with which values? | `values` |
//! | What do values mean that another program wrote? | `meaning` |
//! | Which steps write them, and does a trace unit go along? | `sequences` |

mod meaning;
mod reasons;
mod sequences;
mod values;
mod wish;

use traceproof_encoder_model::arm_ete_unit::settings::{Levels, Output, Setting, TraceRequest};
use traceproof_vectors::arm_ete_unit::Parameters;

use crate::generate::Entropy;

/// Wishes for one execution.
const WISHES: u8 = 8;

/// Judges wishes that follow from these bytes.
///
/// # Errors
///
/// The first one that is not fulfilled, or refused without a reason.
pub(super) fn examine(entropy: &[u8]) -> Result<(), String> {
    let mut entropy = Entropy::new(entropy);
    for index in 0..WISHES {
        let unit = wish::unit(&mut entropy);
        let request = wish::request(&mut entropy, &unit);
        if let Some(settings) = answer(&request, &unit)? {
            meaning::judge(&mut entropy, &request, &unit)?;
            sequences::judge(&request, &unit, &settings)?;
            if index % 4 == 0 {
                sequences::run(&mut entropy, &request, &unit, &settings)?;
            }
            if unit.address_pairs > 0 {
                wish::at_limits(&request).iter().try_for_each(|request| answer(request, &unit).map(drop))?;
            }
        }
        if entropy.is_empty() {
            break;
        }
    }
    Ok(())
}

/// The settings for a wish, which are right; none if it is refused for a reason.
fn answer(request: &TraceRequest, unit: &Parameters) -> Result<Option<Vec<Setting>>, String> {
    let reasons = reasons::reasons(request, unit);
    match request.settings(unit) {
        Ok(settings) if reasons.is_empty() => {
            values::judge(request, unit, &settings)?;
            Ok(Some(settings))
        }
        Err(refusal) if reasons.contains(&refusal) => reasons::words(&refusal).map(|()| None),
        other => {
            let answer = other.map(|settings| settings.len());
            Err(format!("{request:x?} of {unit:?}: {answer:x?}, not {reasons:x?}"))
        }
    }
}

/// What is asked for where nothing is said.
///
/// # Errors
///
/// A default that is another one.
pub(super) fn defaults() -> Result<(), String> {
    let request = TraceRequest::default();
    let TraceRequest { least_threshold, sync_period, trace_id, return_stack, output, levels, .. } = request;
    let numbers = (least_threshold, sync_period, trace_id, return_stack, output);
    let nothing = TraceRequest {
        ranges: Vec::new(),
        thumb: false,
        cycle_counts: None,
        context_id: false,
        virtual_context_id: false,
        timestamps: false,
        branch_broadcast: false,
        system_errors: false,
        resets: false,
        stall: None,
        ..TraceRequest::default()
    };
    let el0 = Levels { secure: 1, non_secure: 1, realm: 1 };
    let is_right = numbers == (4, 12, 0x10, true, Output::Interfaces) && levels == el0 && request == nothing;
    check(is_right, || format!("{request:?}"))?;
    (0..=u8::MAX).try_for_each(|mask| {
        let Levels { secure, non_secure, realm } = Levels::at(mask);
        check((secure, non_secure, realm) == (mask % 16, mask % 8, mask % 8), || format!("levels {mask:#x}"))
    })
}

/// Fails with what `what` says unless `holds`.
fn check(holds: bool, what: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(what()) }
}
