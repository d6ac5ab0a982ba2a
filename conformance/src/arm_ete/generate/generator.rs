//! The generator as a part of the family.

use traceproof_vectors::arm_ete::{ArmEte, READINGS};

use super::{Scenario, encode, round_trip, scenario};
use crate::family::{Generated, Generator};

/// Executions of random programs.
pub(in crate::arm_ete) const GENERATOR: Generator<ArmEte> = Generator { generate, confirm };

/// Readings of situations that no execution has: reserved values, damaged and foreign streams, options that no
/// generated configuration has.
const FOREIGN: [&str; 17] = [
    "ete-search-begins-at-the-fault",
    "ete-reserved-control-bits",
    "ete-continued-trace-info",
    "ete-ignored-info-bits",
    "ete-later-speculation-depth",
    "ete-flags-without-bytes",
    "ete-disabled-options",
    "ete-long-timestamps",
    "ete-zero-q-count",
    "ete-missing-code-empties-return-stack",
    "ete-return-address-inside-an-instruction",
    "ete-texit-is-an-exception-return",
    "ete-reserved-exceptions",
    "ete-resynchronization",
    "ete-function-return-is-p0",
    "ete-markers-before-data",
    "ete-etmv4-exception-without-address",
];

fn generate(entropy: &[u8]) -> Option<Generated<ArmEte>> {
    let made = scenario(entropy);
    let sent = encode(&made).ok()?;
    let program = made.program.code().ok()?;
    let Scenario { parameters, policy, stimuli: execution, .. } = made;
    Some(Generated { parameters, policy, program, execution, wire: sent.wire })
}

fn confirm(entropy: &[u8]) -> Result<(), String> {
    round_trip(&scenario(entropy)).map(drop).map_err(|failure| failure.to_string())
}

/// The readings on which the wire or the report of a generated execution can depend.
pub(in crate::arm_ete) fn readings() -> Vec<&'static str> {
    READINGS.iter().map(|reading| reading.name).filter(|name| !FOREIGN.contains(name)).collect()
}
