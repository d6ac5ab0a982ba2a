//! Both models: any execution that the trace unit model traces is reported by the decoder.
//!
//! The input is the entropy of the scenario generator.

use traceproof_conformance::arm_ete::generate::{round_trip, scenario};

/// Makes a scenario, encodes and decodes it.
///
/// # Panics
///
/// When the execution fails the round trip.
pub fn run(data: &[u8]) {
    if let Err(failure) = round_trip(&scenario(data)) {
        panic!("{failure}");
    }
}
