//! The generator as a part of the family.

use traceproof_vectors::arm_pft::{ArmPft, Parameters, READINGS};

use super::{Scenario, encode, impossible, limits, periods, round_trip, scenario, shown, writing};
use crate::family::{Generated, Generator};

/// Executions of random programs.
pub(in crate::arm_pft) const GENERATOR: Generator<ArmPft> =
    Generator { generate, confirm, examine, examine_once: || Ok(()) };

/// Readings of situations that no execution has: reserved values, damaged and foreign streams, a return to a call
/// before an I-sync (PFT-ENC-034), a periodic I-sync that contradicts the flow, trace in Debug state.
const FOREIGN: [&str; 8] = [
    "pft-empty-atom-headers",
    "pft-alt-isa-of-arm",
    "pft-reserved-exceptions",
    "pft-not-executed-always",
    "pft-incomplete-timestamp",
    "pft-return-stack-over-periodic-sync",
    "pft-sync-check-compares-hyp",
    "pft-debug-entry-ends-the-flow",
];

/// Where the model of the processor or of the PTM refuses the scenario, nothing travels; [`confirm`] has the reason.
fn generate(entropy: &[u8]) -> Option<Generated<ArmPft>> {
    let made = scenario(entropy);
    let (sent, execution) = encode(&made).unwrap_or_default();
    let program = made.program.code().unwrap_or_default();
    let Scenario { parameters, policy, .. } = made;
    Some(Generated { parameters, policy, program, execution, wire: sent.wire })
}

fn confirm(entropy: &[u8]) -> Result<(), String> {
    round_trip(&scenario(entropy)).map(drop).map_err(|failure| failure.to_string())
}

fn examine(entropy: &[u8]) -> Result<(), String> {
    let made = scenario(entropy);
    let (sent, _) = encode(&made).map_err(|failure| failure.to_string())?;
    periods::kept(&made, &sent)?;
    impossible::refused(&made)?;
    shown::judge(&made)?;
    limits::kept()?;
    writing::read_back(&made.parameters)
}

/// The readings on which the wire or the report of a generated execution can depend: those of a feature that
/// is off do not matter.
pub(in crate::arm_pft) fn readings(parameters: &Parameters) -> Vec<&'static str> {
    let matters = |name: &str| match name {
        "pft-hyp-stays-without-byte-1" | "pft-hyp-entry-update" => parameters.virtualization,
        "pft-vmid-like-context-id" => parameters.vmid,
        "pft-count-of-i-sync-has-bit-7" => parameters.cycle_accurate,
        "pft-counts-of-pft-1-0" => parameters.cycle_accurate && parameters.minor == 0,
        "pft-zero-is-a-value" => parameters.cycle_accurate || parameters.timestamps,
        "pft-return-stack-over-exceptions"
        | "pft-return-stack-of-16"
        | "pft-return-stack-security"
        | "pft-link-pops-first"
        | "pft-exception-return-is-a-packet" => parameters.return_stack,
        "pft-barrier-waypoint-bit" | "pft-barrier-atom" => parameters.barrier_waypoints,
        "pft-context-id-after-exceptions" => parameters.context_id_bytes > 0 || parameters.vmid,
        "pft-debug-entry-context" => parameters.context_id_bytes > 0 || parameters.vmid,
        "pft-thumbee-handlers" | "pft-thumb-without-information" => parameters.thumbee,
        name => !FOREIGN.contains(&name),
    };
    READINGS.iter().map(|reading| reading.name).filter(|name| matters(name)).collect()
}
