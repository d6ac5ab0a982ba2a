//! The model of Itanium event qualification and the decoder's oracle work the same things out.
//!
//! `QUALIFICATION_INPUTS=10000000 cargo test --release -p traceproof-conformance --test properties
//! agreement_itanium_pmu` compares more of them.

use proptest::prelude::*;
use traceproof_conformance::generate::seeded;
use traceproof_conformance::itanium_pmu::generate::{Agreement, agree, scenario};

fn agreed(bytes: &[u8]) -> Result<Agreement, TestCaseError> {
    let scenario = scenario(bytes);
    agree(&scenario).map_err(|disagreement| TestCaseError::fail(format!("{disagreement}\n{scenario}")))
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        max_shrink_iters: 4000,
        ..ProptestConfig::default()
    })]

    #[test]
    fn model_and_oracle_agree(bytes in proptest::collection::vec(any::<u8>(), 0..8000)) {
        agreed(&bytes)?;
    }
}

#[test]
fn model_and_oracle_agree_on_many_inputs_of_every_kind() {
    let wanted: u64 = std::env::var("QUALIFICATION_INPUTS")
        .map_or(100_000, |number| number.parse().expect("QUALIFICATION_INPUTS is a number"));
    let mut sum = Agreement::default();
    for seed in 0.. {
        sum += agreed(&seeded(seed, 9000)).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        if sum.inputs >= wanted {
            break;
        }
    }
    println!("{sum:?}");
    // The generator is only worth something if tags are neither always set nor never.
    let part = |part: u64| part as f64 / sum.inputs as f64;
    assert!(part(sum.in_range) > 0.02 && part(sum.in_range) < 0.4, "{sum:?}");
    assert!(part(sum.matched) > 0.005, "{sum:?}");
    assert!(part(sum.tagged) > 0.01 && part(sum.tagged) < 0.3, "{sum:?}");
    assert!(part(sum.counts) > 0.02, "{sum:?}");
    assert!(part(sum.overflows) > 0.0005, "{sum:?}");
    assert!(part(sum.freezes) > 0.0002, "{sum:?}");
    assert!(part(sum.captures) > 0.003, "{sum:?}");
    assert!(part(sum.records) > 0.0005, "{sum:?}");
}
