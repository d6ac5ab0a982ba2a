//! What the lines of `events` mean, once the program is assembled; which features a case needs.

use super::EventEntry;
use super::entry::address;
use crate::arm_pft::{ArmPft, Event, Parameters};
use crate::case::{Assembly, Expected, Labels, Problem};

pub(super) fn expected(
    entries: &[EventEntry],
    assembly: &Assembly,
) -> Result<Vec<Expected<ArmPft>>, Problem> {
    let mut expected = Vec::new();
    for (index, entry) in entries.iter().enumerate() {
        let under = |problem: Problem| problem.under(&format!("events[{index}]"));
        match entry {
            EventEntry::Fault(fault) => expected.push(Expected::Fault(*fault)),
            EventEntry::Instructions(runs) => {
                let events = runs.resolve(&assembly.labels).map_err(under)?;
                expected.extend(events.into_iter().map(Expected::Event));
            }
            _ => expected.extend(event(entry, &assembly.labels).map_err(under)?.map(Expected::Event)),
        }
    }
    Ok(expected)
}

/// The event of a line that stands for exactly one.
fn event(entry: &EventEntry, labels: &Labels) -> Result<Option<Event>, Problem> {
    Ok(Some(match entry {
        EventEntry::Fault(_) | EventEntry::Instructions(_) => return Ok(None),
        EventEntry::TraceOn { reason, address: at, isa, non_secure, hyp, context_id } => Event::TraceOn {
            reason: *reason,
            address: address(at, labels, "trace_on.address")?,
            isa: *isa,
            non_secure: *non_secure,
            hyp: *hyp,
            context_id: *context_id,
        },
        EventEntry::BranchTo { address: at, isa, non_secure, hyp } => Event::BranchTo {
            address: address(at, labels, "branch_to.address")?,
            isa: *isa,
            non_secure: *non_secure,
            hyp: *hyp,
        },
        EventEntry::Exception { number, returns_to, address: at, isa, non_secure, hyp } => Event::Exception {
            number: *number,
            returns_to: returns_to
                .as_ref()
                .map(|to| address(to, labels, "exception.returns_to"))
                .transpose()?,
            address: address(at, labels, "exception.address")?,
            isa: *isa,
            non_secure: *non_secure,
            hyp: *hyp,
        },
        EventEntry::ExceptionReturn {} => Event::ExceptionReturn,
        EventEntry::Trigger {} => Event::Trigger,
        EventEntry::ContextId(value) => Event::ContextId(*value),
        EventEntry::Vmid(value) => Event::Vmid(*value),
        EventEntry::Timestamp { value, clock_change } => {
            Event::Timestamp { value: *value, clock_change: *clock_change }
        }
        EventEntry::Cycles { count, total } => Event::Cycles { count: *count, total: *total },
    }))
}

pub(super) fn required_features(parameters: &Parameters) -> Vec<&'static str> {
    [
        ("pftv1_0", parameters.minor == 0),
        ("pftv1_1", parameters.minor == 1),
        ("cycle_accurate", parameters.cycle_accurate),
        ("return_stack", parameters.return_stack),
        ("timestamps", parameters.timestamps),
        ("vmid", parameters.vmid),
        ("virtualization", parameters.virtualization),
        ("barrier_waypoints", parameters.barrier_waypoints),
        ("m_profile", parameters.m_profile),
        ("thumbee", parameters.thumbee),
    ]
    .into_iter()
    .filter_map(|(feature, needed)| needed.then_some(feature))
    .collect()
}
