//! Sequences of real drivers and broken versions of them, the table of states and inputs, single rules, records.
//!
//! Expected values come from the documentation of `Event` and `Rule`, and from public descriptions of the drivers.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use traceproof_vectors::arm_ete_unit::{ArmEteUnit, Event, Parameters};
use traceproof_vectors::case::arm_ete_unit::read_log;
use traceproof_vectors::{Decoder as _, Entry, Log, Program};

use super::Decoder;

mod drivers;
mod faults;
mod rules;
mod states;

fn bytes(text: &str) -> Vec<u8> {
    read_log(text).unwrap_or_else(|error| panic!("{error:?} in {text}"))
}

fn results(parameters: &Parameters, wire: &[u8]) -> Log<ArmEteUnit> {
    let mut decoder = Decoder::default();
    decoder.begin(parameters, &Program::default()).expect("parameters of a trace unit");
    let mut log = Log::default();
    decoder.push(wire, &mut log);
    decoder.finish(&mut log);
    log
}

/// The events with the index of their record, as words.
fn reported(parameters: &Parameters, text: &str) -> Vec<String> {
    let log = results(parameters, &bytes(text));
    let events = log.entries.iter().filter_map(|(place, entry)| match entry {
        Entry::Event(event) => Some((place.packet, event)),
        _ => None,
    });
    events
        .map(|(packet, event)| match event {
            Event::State(states) => format!("{packet} {states}"),
            Event::SessionBegin => format!("{packet} begin"),
            Event::SessionEnd => format!("{packet} end"),
            Event::Outputs(outputs) => format!("{packet} -> {outputs}"),
            Event::Finding { rule, register: Some(register) } => format!("{packet} ! {rule} {register}"),
            Event::Finding { rule, register: None } => format!("{packet} ! {rule}"),
            _ => String::new(),
        })
        .collect()
}

/// Rule and register of the findings, in order.
fn findings(parameters: &Parameters, text: &str) -> Vec<String> {
    let reported = reported(parameters, text);
    reported.iter().filter_map(|line| line.split_once("! ").map(|(_, finding)| finding.to_string())).collect()
}

/// The findings of a log in the default trace unit.
fn found(text: &str) -> Vec<String> {
    findings(&Parameters::default(), text)
}

/// The latest states reported.
fn last_states(parameters: &Parameters, text: &str) -> String {
    let reported = reported(parameters, text);
    let states = reported.iter().rev().filter_map(|line| line.split_once(' ')).map(|(_, words)| words);
    let mut states = states.filter(|words| !words.starts_with(['!', '-', 'b', 'e']));
    states.next().unwrap_or_default().to_string()
}

fn states(text: &str) -> String {
    last_states(&Parameters::default(), text)
}
