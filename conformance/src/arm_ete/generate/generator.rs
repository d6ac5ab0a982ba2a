//! The generator as a part of the family.

use traceproof_vectors::arm_ete::{ArmEte, Parameters, QElements, READINGS};

use super::{Scenario, encode, limits, m_profile, periods, round_trip, scenario, shown, signalled, writing};
use crate::family::{Generated, Generator};

/// Executions of random programs.
pub(in crate::arm_ete) const GENERATOR: Generator<ArmEte> =
    Generator { generate, confirm, examine, examine_once };

/// Readings of situations that no execution has: reserved values, damaged and foreign streams, options that no
/// generated configuration has, pops that the encoder model avoids.
const FOREIGN: [&str; 19] = [
    "ete-search-begins-at-the-fault",
    "ete-reserved-bits-are-believed",
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
    "ete-return-packets-pop-nothing",
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

fn examine(entropy: &[u8]) -> Result<(), String> {
    let made = scenario(entropy);
    let sent = encode(&made).map_err(|failure| failure.to_string())?;
    periods::kept(&made, &sent)?;
    shown::judge(&made)?;
    writing::read_back(&made.parameters)
}

fn examine_once() -> Result<(), String> {
    limits::kept()?;
    shown::code_of_its_space()?;
    m_profile::judge()?;
    signalled::judge()
}

/// The readings on which the wire or the report of a generated execution can depend.
pub(in crate::arm_ete) fn readings(parameters: &Parameters) -> Vec<&'static str> {
    let names = READINGS.iter().map(|reading| reading.name).filter(|name| !FOREIGN.contains(name));
    names.filter(|name| can_matter(name, parameters)).collect()
}

/// Whether a trace unit with these parameters comes into the situation of the reading.
fn can_matter(reading: &str, parameters: &Parameters) -> bool {
    match reading {
        "ete-cancelled-transaction-commit"
        | "ete-discard-fails-a-transaction"
        | "ete-context-of-a-failed-transaction"
        | "ete-later-t-bit" => parameters.transactions,
        "ete-q-walk-ends-at-uncertainty" => parameters.q_elements != QElements::None,
        "ete-visible-elements-first"
        | "ete-cancel-keeps-older-addresses"
        | "ete-cancel-back-to-trace-info"
        | "ete-mispredict-after-other-elements" => parameters.maxspec > 0,
        "ete-kept-on-discard" => parameters.maxspec > 0 || parameters.transactions,
        "ete-trace-on-empties-return-stack" | "ete-source-address-needs-pop" => parameters.return_stack,
        "ete-threshold-needs-cc" | "ete-nibble-without-commit" => parameters.cycle_counting,
        "ete-etmv4-event-before-trace-info" => !parameters.version.is_ete(),
        _ => true,
    }
}
