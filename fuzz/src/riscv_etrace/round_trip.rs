//! Both models: any execution that the encoder model traces comes back from the decoder.
//!
//! The input is the entropy of the scenario generator.

use traceproof_conformance::riscv_etrace::generate::{Scope, round_trip, scenario};

/// Makes a scenario, encodes and decodes it.
///
/// # Panics
///
/// When the execution does not come back.
pub fn run(data: &[u8]) {
    let scenario = scenario(data, Scope::Core);
    if let Err(failure) = round_trip(&scenario) {
        panic!("{failure}");
    }
}
