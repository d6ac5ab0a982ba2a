//! Both models: any run that the encoder model traces is reported by the decoder, of all three architectures.
//!
//! Input: byte 0 = which architecture, as for generated executions; the rest is the entropy of the scenario generator.

use traceproof_conformance::family::FamilyRules;
use traceproof_vectors::arm_etm::ArmEtm;

/// Makes a scenario, encodes and decodes it.
///
/// # Panics
///
/// When the run fails the round trip.
pub fn run(data: &[u8]) {
    if data.is_empty() {
        return;
    }
    let generator = ArmEtm::GENERATOR.expect("ETM has a generator");
    if let Err(failure) = (generator.confirm)(data) {
        panic!("{failure}");
    }
}
