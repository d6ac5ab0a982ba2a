//! Random executions of A32, T32 and T32EE programs pass the round trip through the PTM model and the decoder.
//!
//! `PROPTEST_CASES=100000 cargo test --release -p traceproof-conformance --test properties round_trip_arm_pft`
//! runs more of them; with `-- --ignored` 100,000 seeded ones.

use proptest::prelude::*;
use traceproof_conformance::arm_pft::generate::oracle::Returned;
use traceproof_conformance::arm_pft::generate::{Scenario, round_trip, scenario};
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

    #[test]
    fn executions_come_back_through_ptms(bytes in proptest::collection::vec(any::<u8>(), 0..6000)) {
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
        sum.not_executed += one.not_executed;
        sum.exceptions += one.exceptions;
        sum.exception_returns += one.exception_returns;
        sum.starts += one.starts;
        sum.overflows += one.overflows;
        sum.debug_exits += one.debug_exits;
        sum.periodic += one.periodic;
        sum.contexts += one.contexts;
        sum.timestamps += one.timestamps;
        sum.cycles += one.cycles;
        sum.triggers += one.triggers;
    }
    assert!(sum.instructions > 20_000, "{sum:?}");
    assert!(sum.not_executed > 800, "{sum:?}");
    assert!(sum.exceptions > 800, "{sum:?}");
    assert!(sum.exception_returns > 300, "{sum:?}");
    assert!(sum.starts > 500, "{sum:?}");
    assert!(sum.overflows > 50, "{sum:?}");
    assert!(sum.debug_exits > 50, "{sum:?}");
    assert!(sum.periodic > 500, "{sum:?}");
    assert!(sum.contexts > 300, "{sum:?}");
    assert!(sum.timestamps > 500, "{sum:?}");
    assert!(sum.cycles > 5_000, "{sum:?}");
    assert!(sum.triggers > 20, "{sum:?}");
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
