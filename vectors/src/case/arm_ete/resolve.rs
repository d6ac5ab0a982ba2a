//! What the lines of `events` mean, once the program is assembled; which features a case needs.

use super::EventEntry;
use crate::Address;
use crate::arm::Profile;
use crate::arm_ete::{ArmEte, ConditionalTrace, Event, Parameters, QElements};
use crate::case::{Assembly, Expected, Labels, Location, Problem};

pub(super) fn expected(
    entries: &[EventEntry],
    assembly: &Assembly,
) -> Result<Vec<Expected<ArmEte>>, Problem> {
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
        EventEntry::TraceInfo { cycle_counting, cycle_threshold, speculation, transactional } => {
            Event::TraceInfo {
                cycle_counting: *cycle_counting,
                cycle_threshold: *cycle_threshold,
                speculation: *speculation,
                transactional: *transactional,
            }
        }
        EventEntry::TraceOn => Event::TraceOn,
        EventEntry::Context(text) => {
            Event::Context(text.whole().map_err(|problem| problem.under("context"))?)
        }
        EventEntry::UnknownPath { count } => Event::UnknownPath { count: *count },
        EventEntry::Mispredict => Event::Mispredict,
        EventEntry::Exception { number, returns_to, fault_pending } => {
            let resolve = |location: &Location| {
                let address = location.resolve(labels);
                address.map(Address).map_err(|problem| problem.under("exception.returns_to"))
            };
            Event::Exception {
                number: *number,
                returns_to: returns_to.as_ref().map(resolve).transpose()?,
                fault_pending: *fault_pending,
            }
        }
        EventEntry::ExceptionReturn => Event::ExceptionReturn,
        EventEntry::FunctionReturn => Event::FunctionReturn,
        EventEntry::TransactionStart => Event::TransactionStart,
        EventEntry::TransactionCommit => Event::TransactionCommit,
        EventEntry::TransactionFailure => Event::TransactionFailure,
        EventEntry::Cycles { count, total } => Event::Cycles { count: *count, total: *total },
        EventEntry::Timestamp { value, cycles, of } => {
            Event::Timestamp { value: *value, cycles: *cycles, of: *of }
        }
        EventEntry::TimestampMarker => Event::TimestampMarker,
        EventEntry::Event(number) => Event::Event { number: *number },
        EventEntry::Instrumentation { exception_level, value } => {
            Event::Instrumentation { exception_level: *exception_level, value: *value }
        }
        EventEntry::DataSyncMarker { number } => Event::DataSyncMarker { number: *number },
        EventEntry::Overflow => Event::Overflow,
        EventEntry::Discard => Event::Discard,
    }))
}

pub(super) fn required_features(parameters: &Parameters) -> Vec<&'static str> {
    [
        ("etmv4", !parameters.version.is_ete()),
        ("ete", parameters.version.is_ete()),
        ("speculation", parameters.maxspec > 0),
        ("cycle_counting", parameters.cycle_counting),
        ("timestamps", parameters.timestamps),
        ("timestamp_markers", parameters.timestamp_markers),
        ("instrumentation", parameters.instrumentation),
        ("transactions", parameters.transactions),
        ("q_elements", parameters.q_elements != QElements::None),
        ("return_stack", parameters.return_stack),
        ("load_store_p0", parameters.load_is_p0 || parameters.store_is_p0),
        ("conditional_trace", parameters.conditional_trace != ConditionalTrace::None),
        ("data_trace", parameters.data_trace),
        ("r_profile", parameters.profile == Profile::RealTime),
        ("m_profile", parameters.profile == Profile::Microcontroller),
    ]
    .into_iter()
    .filter_map(|(feature, needed)| needed.then_some(feature))
    .collect()
}
