//! The distance of periodic synchronisations: none comes before its period is over, and none is late by more than a
//! period.

use traceproof_encoder_model::arm_pft::write_packet;
use traceproof_vectors::Log;
use traceproof_vectors::arm::InstructionSet;
use traceproof_vectors::arm_pft::{Action, ArmPft, Packet, Signal, State};

use super::Scenario;

/// Bytes that one step makes at most, with room to spare: a step is never cut in two by a synchronisation.
const STEP: u64 = 96;

/// Whether the A-syncs of a trace are as far from each other as the policy's period wants.
///
/// Spec: PFT-CFG-015, PFT-ENC-056.
///
/// # Errors
///
/// The first distance that is too small or too large.
pub(super) fn kept(scenario: &Scenario, sent: &Log<ArmPft>) -> Result<(), String> {
    let period = u64::from(scenario.policy.sync_period);
    if scenario.policy.fifo_bytes > 0 {
        return Ok(());
    }
    let distances = distances(scenario, sent)?;
    let is_asked_for = |signal: &Signal| matches!(signal, Signal::SyncRequest | Signal::Overflow(_));
    let asked_for = scenario
        .steps
        .iter()
        .any(|step| matches!(&step.action, Action::Signal(signal) if is_asked_for(signal)));
    // The last one is that of the end of the trace.
    let (between, _) = distances.split_last().map_or((&[][..], 0), |(last, others)| (others, *last));
    if !asked_for && (period == 0 && !between.is_empty() || between.iter().any(|bytes| *bytes < period)) {
        return Err(format!("an A-sync before {period} bytes: they are {between:?} bytes from each other"));
    }
    // Triggers and padding are bytes where nothing is traced, too, and no synchronisation is due.
    let always_on = !scenario.steps.iter().any(|step| stops(&step.action));
    if always_on && period > 0 && distances.iter().any(|bytes| *bytes > 2 * period + STEP) {
        return Err(format!("no A-sync for more than two periods of {period} bytes: {distances:?}"));
    }
    Ok(())
}

/// Whether tracing may stop here before the end.
const fn stops(action: &Action) -> bool {
    match action {
        Action::Execute(execute) => matches!(execute.to, Some(State { isa: InstructionSet::Jazelle, .. })),
        Action::Signal(signal) => {
            matches!(signal, Signal::TraceEnable(_) | Signal::ProhibitedEntry | Signal::Overflow(_))
        }
        Action::DebugEntry => true,
        _ => false,
    }
}

/// Bytes from each A-sync to the next, or to the end.
fn distances(scenario: &Scenario, sent: &Log<ArmPft>) -> Result<Vec<u64>, String> {
    let mut distances = Vec::new();
    for packet in sent.packets() {
        let bytes = write_packet(packet, &scenario.parameters).map_err(|error| error.to_string())?;
        if matches!(packet, Packet::AlignmentSync { .. }) {
            distances.push(0);
        }
        if let Some(distance) = distances.last_mut() {
            *distance += bytes.len() as u64;
        }
    }
    Ok(distances)
}
