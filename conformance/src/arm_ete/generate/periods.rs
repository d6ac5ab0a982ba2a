//! The distance of periodic synchronizations: none comes before its period is over, none is late by more than a period,
//! and each that is requested comes.

use traceproof_encoder_model::arm_ete::write_packet;
use traceproof_vectors::Log;
use traceproof_vectors::arm_ete::{ArmEte, Packet, Signal};

use super::Scenario;
use super::execution::DEBUG_HALT;

/// Bytes from one P0 element to the next, with room to spare.
const STEP: u64 = 512;

/// Whether the A-syncs of a trace are as far from each other as the policy's period wants.
///
/// Spec: ETE-QHHSY-001, ETE-VMPYW-001.
///
/// # Errors
///
/// The first distance that is too small or too large, or more or fewer A-syncs than were requested.
pub(super) fn kept(scenario: &Scenario, sent: &Log<ArmEte>) -> Result<(), String> {
    let period = u64::from(scenario.policy.sync_period);
    if scenario.policy.fifo_bytes > 0 {
        return Ok(());
    }
    let signals = || scenario.stimuli.iter().map(|stimulus| stimulus.signal);
    let overflows = signals().any(|signal| matches!(signal, Signal::Overflow(_)));
    let requests = signals().filter(|signal| matches!(signal, Signal::SyncRequest)).count();
    let distances = distances(scenario, sent)?;
    // The last one is that of the end of the trace.
    let between = distances.split_last().map_or(&[][..], |(_, others)| others);
    if requests == 0 && !overflows && period > 0 && between.iter().any(|bytes| *bytes < period) {
        return Err(format!("an A-sync before {period} bytes: they are {between:?} bytes from each other"));
    }
    if signals().any(|signal| stops(&signal)) {
        return Ok(());
    }
    if period == 0 && distances.len() != 1 + requests {
        return Err(format!("{} A-syncs after {requests} requests", distances.len()));
    }
    if period > 0 && distances.iter().any(|bytes| *bytes > 2 * period + STEP) {
        return Err(format!("no A-sync for more than two periods of {period} bytes: {distances:?}"));
    }
    Ok(())
}

/// Whether tracing may stop here before the end.
const fn stops(signal: &Signal) -> bool {
    match signal {
        Signal::ViewInst(_) | Signal::ProhibitedEntry | Signal::Overflow(_) => true,
        Signal::Exception(exception) => exception.number == DEBUG_HALT,
        _ => false,
    }
}

/// Bytes from each A-sync to the next, or to the end.
fn distances(scenario: &Scenario, sent: &Log<ArmEte>) -> Result<Vec<u64>, String> {
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
