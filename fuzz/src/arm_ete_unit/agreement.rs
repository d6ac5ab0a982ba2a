//! Model and checker: for any parameters, choices and stimulus the checker finds that a trace unit wrote the log.
//!
//! The input is the entropy of the scenario generator.

use traceproof_conformance::arm_ete_unit::generate::{agree, scenario};

/// Makes a scenario, lets the model write its log and the checker judge it.
///
/// # Panics
///
/// When they disagree.
pub fn run(data: &[u8]) {
    let scenario = scenario(data);
    if let Err(disagreement) = agree(&scenario) {
        panic!("{disagreement}");
    }
}
