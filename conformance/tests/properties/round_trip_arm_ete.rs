//! Random executions of A64, A32 and T32 programs pass the round trip through the trace unit model and the decoder.
//!
//! `PROPTEST_CASES=100000 cargo test --release -p traceproof-conformance --test properties round_trip_arm_ete` runs
//! more of them; with `-- --ignored` 100,000 seeded ones.

use proptest::prelude::*;
use traceproof_conformance::arm_ete::generate::oracle::Returned;
use traceproof_conformance::arm_ete::generate::{Scenario, round_trip, scenario};
use traceproof_conformance::generate::seeded;

use super::contents_arm_ete::Contents;

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
    fn executions_come_back_through_trace_units(bytes in proptest::collection::vec(any::<u8>(), 0..6000)) {
        comes_back(&scenario(&bytes))?;
    }
}

/// Short and long ones.
fn of_seed(seed: u64) -> Scenario {
    scenario(&seeded(seed, 400 << (seed % 5)))
}

/// Of the first 400 seeds, which are tested: how often something occurs at least.
const LEAST: [(&str, u64); 105] = [
    ("Q with count with address", 100),
    ("Q with count without address", 100),
    ("Q without count without address", 30),
    ("address bytes 4", 70),
    ("address bytes 8", 100),
    ("cancel", 600),
    ("cancel over a Trace Info", 50),
    ("commit", 3000),
    ("committed transaction", 100),
    ("context EL0", 100),
    ("context EL1", 300),
    ("context EL2", 200),
    ("context EL3", 300),
    ("context id bytes 0", 60),
    ("context id bytes 4", 200),
    ("context non-secure", 200),
    ("context realm", 20),
    ("context root", 20),
    ("context same", 400),
    ("context secure", 700),
    ("cycle count", 1000),
    ("cycle count at the threshold", 200),
    ("cycle count near the limit", 2),
    ("cycle count of format 1", 400),
    ("cycle count of format 2, large false", 100),
    ("cycle count of format 2, large true", 100),
    ("cycle count of format 3", 400),
    ("debug state", 100),
    ("discard", 100),
    ("exception 0x0", 30),
    ("exception 0x1", 100),
    ("exception 0x10", 3),
    ("exception 0x11", 6),
    ("exception 0x12", 3),
    ("exception 0x13", 3),
    ("exception 0x14", 1),
    ("exception 0x15", 5),
    ("exception 0x16", 8),
    ("exception 0x17", 60),
    ("exception 0x2", 1000),
    ("exception 0x3", 900),
    ("exception 0x4", 50),
    ("exception 0x6", 800),
    ("exception 0x7", 30),
    ("exception 0xa", 40),
    ("exception 0xb", 700),
    ("exception 0xc", 50),
    ("exception 0xe", 80),
    ("exception 0xf", 60),
    ("exception return", 1000),
    ("failed transaction", 30),
    ("flush", 200),
    ("ignore", 500),
    ("instrumentation", 100),
    ("mispredict", 500),
    ("mispredict of a committed atom", 60),
    ("not taken", 900),
    ("overflow", 100),
    ("pending fault", 80),
    ("prohibited region", 60),
    ("redirected branch", 100),
    ("return stack", 40),
    ("run of A32", 7000),
    ("run of A64", 20000),
    ("run of T32", 2000),
    ("source address, 32 bits Is0", 20),
    ("source address, 32 bits Is1", 6),
    ("source address, 64 bits Is0", 8),
    ("source address, short 1 Is0", 10),
    ("source address, short 2 Is0", 10),
    ("target address, 32 bits Is0", 4000),
    ("target address, 32 bits Is1", 1000),
    ("target address, 64 bits Is0", 3000),
    ("target address, 64 bits Is1", 10),
    ("target address, exact match 0", 3000),
    ("target address, exact match 1", 2000),
    ("target address, exact match 2", 1000),
    ("target address, short 1 Is0", 1000),
    ("target address, short 1 Is1", 200),
    ("target address, short 2 Is0", 1000),
    ("target address, short 2 Is1", 100),
    ("timestamp", 6000),
    ("timestamp of a marker", 2000),
    ("timestamp with cycles", 2000),
    ("trace info", 1000),
    ("trace info at MAXSPEC", 700),
    ("trace info below MAXSPEC", 400),
    ("trace on", 700),
    ("transaction", 100),
    ("transaction in a transaction", 200),
    ("unknown cycle count", 100),
    ("unknown path", 100),
    ("version Ete1_0", 20),
    ("version Ete1_1", 20),
    ("version Ete1_2", 20),
    ("version Ete1_3", 60),
    ("version Etmv4_0", 10),
    ("version Etmv4_2", 20),
    ("version Etmv4_3", 20),
    ("version Etmv4_4", 20),
    ("version Etmv4_6", 30),
    ("vmid bytes 0", 90),
    ("vmid bytes 1", 30),
    ("vmid bytes 2", 30),
    ("vmid bytes 4", 100),
];

/// The generator must produce a rich set of events.
#[test]
fn executions_contain_what_they_are_for() {
    let (mut contents, mut sum) = (Contents::default(), Returned::default());
    for seed in 0..400 {
        let scenario = of_seed(seed);
        let one = comes_back(&scenario).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        contents.count(&scenario);
        sum.instructions += one.instructions;
    }
    assert!(sum.instructions > 50_000, "{sum:?}");
    for (what, least) in LEAST {
        contents.require(what, least);
    }
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
