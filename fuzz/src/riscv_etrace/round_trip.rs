//! Both models: any execution that the encoder model traces is reported by the decoder.
//!
//! The input is the entropy of the scenario generator.

use traceproof_conformance::riscv_etrace::generate::{Scope, round_trip, scenario};

/// Makes a scenario, encodes and decodes it.
///
/// # Panics
///
/// When the execution fails the round trip.
pub fn run(data: &[u8]) {
    let scenario = scenario(data, Scope::Core);
    if let Err(failure) = round_trip(&scenario) {
        panic!("{failure}");
    }
}
