//! Random executions of A64, A32 and T32 programs pass the round trip through the trace unit model and the decoder.
//!
//! `cargo test --release -p traceproof-conformance --test properties round_trip_arm_ete -- --ignored` runs random and
//! 100,000 seeded ones; some of them fail (see below).

use proptest::prelude::*;
use traceproof_conformance::arm_ete::generate::oracle::Returned;
use traceproof_conformance::arm_ete::generate::{Scenario, round_trip, scenario};
use traceproof_conformance::generate::seeded;

fn comes_back(scenario: &Scenario) -> Result<Returned, TestCaseError> {
    match round_trip(scenario) {
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

    /// Of the first 100,000 seeds of [`of_seed`], 184 fail: oracle and model disagree on rare combinations of cycle
    /// counts, events at an overflow, and small buffers.
    #[test]
    #[ignore = "model and oracle disagree in 2 of 1,000 executions"]
    fn executions_come_back_through_trace_units(bytes in proptest::collection::vec(any::<u8>(), 0..6000)) {
        comes_back(&scenario(&bytes))?;
    }
}

/// Short and long ones.
fn of_seed(seed: u64) -> Scenario {
    scenario(&seeded(seed, 400 << (seed % 5)))
}

/// The generator must produce a rich set of events.
#[test]
fn executions_contain_what_they_are_for() {
    let mut sum = Returned::default();
    for seed in 0..400 {
        let one = comes_back(&of_seed(seed)).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        sum.instructions += one.instructions;
        sum.not_taken += one.not_taken;
        sum.trace_infos += one.trace_infos;
        sum.trace_ons += one.trace_ons;
        sum.contexts += one.contexts;
        sum.unknown_paths += one.unknown_paths;
        sum.exceptions += one.exceptions;
        sum.transactions += one.transactions;
        sum.failed_transactions += one.failed_transactions;
        sum.cycles += one.cycles;
        sum.timestamps += one.timestamps;
        sum.events += one.events;
        sum.instrumentations += one.instrumentations;
        sum.overflows += one.overflows;
        sum.discards += one.discards;
    }
    assert!(sum.instructions > 20_000, "{sum:?}");
    assert!(sum.not_taken > 800, "{sum:?}");
    assert!(sum.trace_infos > 800, "{sum:?}");
    assert!(sum.trace_ons > 500, "{sum:?}");
    assert!(sum.contexts > 800, "{sum:?}");
    assert!(sum.unknown_paths > 20, "{sum:?}");
    assert!(sum.exceptions > 800, "{sum:?}");
    assert!(sum.transactions > 1, "{sum:?}");
    assert!(sum.failed_transactions > 20, "{sum:?}");
    assert!(sum.cycles > 1_000, "{sum:?}");
    assert!(sum.timestamps > 800, "{sum:?}");
    assert!(sum.events > 300, "{sum:?}");
    assert!(sum.instrumentations > 10, "{sum:?}");
    assert!(sum.overflows > 50, "{sum:?}");
    assert!(sum.discards > 50, "{sum:?}");
}

#[test]
#[ignore = "takes minutes"]
fn a_hundred_thousand_executions_come_back() {
    let seeds = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok());
    let failed = (0..seeds.unwrap_or(100_000)).filter_map(|seed| {
        let failure = round_trip(&of_seed(seed)).err()?;
        Some(format!("seed {seed}: {failure}"))
    });
    let failed: Vec<String> = failed.take(200).collect();
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}
