//! Random runs of ARM and Thumb programs through ETM macrocell models and decoders come back.
//!
//! `PROPTEST_CASES=100000 cargo test --release -p traceproof-conformance --test round_trip_arm_etm` runs more of them.

use proptest::prelude::*;
use traceproof_conformance::generate::arm_etm::{round_trip, scenario};
use traceproof_vectors::arm_etm::Architecture;

fn comes_back(bytes: &[u8], architecture: Architecture) -> Result<(), TestCaseError> {
    let scenario = scenario(bytes, architecture);
    match round_trip(&scenario) {
        Ok(_) => Ok(()),
        Err(failure) => Err(TestCaseError::fail(format!("{failure}\n{scenario}"))),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, max_shrink_iters: 4000, ..ProptestConfig::default() })]

    #[test]
    fn runs_come_back_through_etmv2(bytes in proptest::collection::vec(any::<u8>(), 0..8000)) {
        comes_back(&bytes, Architecture::V2)?;
    }
}
