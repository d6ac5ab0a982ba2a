//! Random runs of ARM and Thumb programs pass the round trip through the ETMv1 macrocell model and decoder, event by
//! event.
//!
//! `PROPTEST_CASES=20000 cargo test --release -p traceproof-conformance --test properties round_trip_arm_etm_v1`
//! runs more of them.

use proptest::prelude::*;
use traceproof_conformance::arm_etm::generate::v1::oracle::Returned;
use traceproof_conformance::arm_etm::generate::v1::{encode, judge, round_trip, scenario};
use traceproof_conformance::generate::seeded;
use traceproof_vectors::arm_etm::v1::Cycle;

fn comes_back(bytes: &[u8]) -> Result<Returned, TestCaseError> {
    let scenario = scenario(bytes);
    match round_trip(&scenario) {
        Ok(success) => Ok(success.returned),
        Err(failure) => Err(TestCaseError::fail(format!("{failure}\n{scenario}"))),
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        max_shrink_iters: 4000,
        ..ProptestConfig::default()
    })]

    #[test]
    fn runs_come_back(bytes in proptest::collection::vec(any::<u8>(), 0..6000)) {
        comes_back(&bytes)?;
    }
}

/// The generator must produce a rich set of events.
#[test]
fn runs_contain_what_they_are_for() {
    let mut sum = Returned::default();
    for seed in 0..320 {
        let one = comes_back(&seeded(seed, 6000)).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        sum.instructions += one.instructions;
        sum.transfers += one.transfers;
        sum.incomplete += one.incomplete;
        sum.starts += one.starts;
        sum.overflows += one.overflows;
        sum.abandoned += one.abandoned;
        sum.far += one.far;
        sum.periodic += one.periodic;
        sum.triggers += one.triggers;
        sum.bytecodes += one.bytecodes;
        sum.exceptions += one.exceptions;
        sum.ignored += one.ignored;
        sum.possible_exceptions += one.possible_exceptions;
    }
    let Returned { instructions, transfers, incomplete, starts, overflows, .. } = sum;
    let Returned { abandoned, far, periodic, triggers, bytecodes, .. } = sum;
    let Returned { exceptions, ignored, possible_exceptions, .. } = sum;
    for (count, least) in [
        (instructions, 15_000),
        (transfers, 2_500),
        (incomplete, 500),
        (starts, 1_000),
        (overflows, 300),
        (abandoned, 1_000),
        (far, 50),
        (periodic, 150),
        (triggers, 3_000),
        (bytecodes, 100),
        (exceptions, 500),
        (ignored, 50),
        (possible_exceptions, 100),
    ] {
        assert!(count > least, "{count} > {least}: {sum:?}");
    }
}

/// Every bit of PIPESTAT and TRACESYNC matters, but for those that make WT of TD, or TD of WT.
#[test]
fn a_wrong_record_is_noticed() {
    let mut tried = 0;
    for seed in 0..60 {
        let scenario = scenario(&seeded(seed, 6000));
        let sent = encode(&scenario).expect("generated scenarios can be encoded");
        let size = Cycle::size(&scenario.parameters);
        let records = sent.wire.len() / size;
        for record in (seed as usize..records).step_by(17) {
            for bit in 0..4 {
                let mut wrong = sent.clone();
                let byte = &mut wrong.wire[record * size];
                if bit == 2 && *byte & 3 == 3 {
                    continue;
                }
                *byte ^= 1 << bit;
                tried += 1;
                assert!(judge(&scenario, &wrong).is_err(), "seed {seed}, record {record}, bit {bit}");
            }
        }
    }
    assert!(tried > 2_000, "{tried}");
}
