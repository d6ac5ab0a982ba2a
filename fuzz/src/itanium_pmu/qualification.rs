//! Both models: for any configuration and stimulus the decoder derives what the model wrote.
//!
//! The input is the entropy of the scenario generator.

use traceproof_conformance::itanium_pmu::generate::{agree, scenario};

/// Makes a scenario, lets the model write its log and the decoder judge it.
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
