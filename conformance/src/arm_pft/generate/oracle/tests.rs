//! Wrong reports are rejected, one difference at a time.

use traceproof_vectors::arm::InstructionSet;
use traceproof_vectors::arm_pft::{Event, Outcome};

use super::judge_events;
use crate::arm_pft::generate::{Scenario, decode, encode, scenario};
use crate::generate::seeded;

/// What a decoder reports of executions in which nothing is lost at places that only the PTM knows.
fn reports() -> impl Iterator<Item = (Scenario, Vec<Event>)> {
    let whole = |seed: u64| {
        let scenario = scenario(&seeded(seed, 3000));
        if scenario.policy.fifo_bytes > 0 || scenario.policy.capture_from > 0 {
            return None;
        }
        let (sent, _) = encode(&scenario).ok()?;
        let events: Vec<Event> = decode(&scenario, &sent.wire).ok()?.events().copied().collect();
        judge_events(&scenario, &events).ok().map(|_| (scenario, events))
    };
    (0..150).filter_map(whole)
}

/// Each change of an event for which `change` finds one is rejected, but for a few that make another legal
/// report.
#[track_caller]
fn rejected(at_least: usize, mut change: impl FnMut(&mut Vec<Event>, usize) -> bool) {
    let (mut changed, mut accepted) = (0, 0);
    for (scenario, events) in reports() {
        // Executions may overflow: what was held then may be lost.
        for index in (0..events.len()).step_by(7) {
            let mut wrong = events.clone();
            if change(&mut wrong, index) {
                changed += 1;
                accepted += usize::from(judge_events(&scenario, &wrong).is_ok());
            }
        }
    }
    assert!(changed >= at_least, "{changed} changes");
    assert!(accepted * 50 <= changed, "{accepted} of {changed} wrong reports are accepted");
}

#[test]
fn reports_without_an_instruction_are_rejected() {
    rejected(100, |events, index| {
        let found = matches!(events[index], Event::Instructions { .. });
        if found {
            events.remove(index);
        }
        found
    });
}

#[test]
fn reports_without_an_exception_are_rejected() {
    rejected(20, |events, index| {
        let found = matches!(events[index], Event::Exception { .. });
        if found {
            events.remove(index);
        }
        found
    });
}

#[test]
fn reports_without_an_exception_return_are_rejected() {
    rejected(10, |events, index| {
        let found = events[index] == Event::ExceptionReturn;
        if found {
            events.remove(index);
        }
        found
    });
}

#[test]
fn reports_with_something_twice_are_rejected() {
    rejected(100, |events, index| {
        let event = events[index];
        let found = matches!(
            event,
            Event::Instructions { .. }
                | Event::Exception { .. }
                | Event::ExceptionReturn
                | Event::Cycles { .. }
        );
        if found {
            events.insert(index, event);
        }
        found
    });
}

#[test]
fn other_addresses_are_rejected() {
    rejected(100, |events, index| match &mut events[index] {
        Event::Instructions { first, .. } => {
            first.0 ^= 4;
            true
        }
        Event::TraceOn { address, .. } | Event::Exception { address, .. } => {
            address.0 ^= 0x40;
            true
        }
        _ => false,
    });
}

#[test]
fn other_ends_and_lengths_are_rejected() {
    rejected(100, |events, index| match &mut events[index] {
        Event::Instructions { end, .. } if index % 2 == 0 => {
            end.0 ^= 2;
            true
        }
        Event::Instructions { count, .. } => {
            *count += 1;
            true
        }
        _ => false,
    });
}

#[test]
fn other_outcomes_are_rejected() {
    rejected(100, |events, index| match &mut events[index] {
        Event::Instructions { last, .. } => {
            *last = match last {
                Outcome::Executed => Outcome::NotExecuted,
                _ => Outcome::Executed,
            };
            true
        }
        _ => false,
    });
}

#[test]
fn other_instruction_sets_are_rejected() {
    rejected(100, |events, index| match &mut events[index] {
        Event::Instructions { isa, .. } | Event::TraceOn { isa, .. } => {
            *isa = if *isa == InstructionSet::A32 { InstructionSet::T32 } else { InstructionSet::A32 };
            true
        }
        _ => false,
    });
}

#[test]
fn other_modes_are_rejected() {
    rejected(100, |events, index| match &mut events[index] {
        Event::Instructions { hyp, .. } | Event::TraceOn { hyp, .. } => {
            *hyp ^= true;
            true
        }
        _ => false,
    });
}

#[test]
fn other_security_states_are_rejected() {
    rejected(100, |events, index| match &mut events[index] {
        Event::Instructions { non_secure, .. } => {
            *non_secure ^= true;
            true
        }
        _ => false,
    });
}

#[test]
fn other_exceptions_are_rejected() {
    rejected(20, |events, index| match &mut events[index] {
        Event::Exception { number, .. } if index % 2 == 0 => {
            *number ^= 4;
            true
        }
        Event::Exception { returns_to, .. } => {
            *returns_to = None;
            true
        }
        _ => false,
    });
}

#[test]
fn other_registers_cycles_and_timestamps_are_rejected() {
    rejected(100, |events, index| match &mut events[index] {
        Event::ContextId(value) => {
            *value ^= 4;
            true
        }
        Event::Vmid(value) => {
            *value ^= 4;
            true
        }
        Event::Cycles { total, .. } => {
            *total += 1;
            true
        }
        Event::Timestamp { value: Some(value), .. } => {
            *value ^= 1 << 40;
            true
        }
        _ => false,
    });
}

#[test]
fn reports_that_end_early_are_rejected() {
    rejected(100, |events, index| {
        let found = matches!(events[index], Event::Instructions { .. });
        if found {
            events.truncate(index);
        }
        found
    });
}
