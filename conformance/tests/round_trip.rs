//! Random executions through encoder model and decoder come back.
//!
//! `PROPTEST_CASES=100000 cargo test --release -p traceproof-conformance --test round_trip` runs more of them.

use proptest::prelude::*;
use traceproof_conformance::generate::riscv_etrace::{Scope, round_trip, scenario};
use traceproof_conformance::generate::seeded;
use traceproof_vectors::riscv_etrace::Step;

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn executions_come_back(bytes in proptest::collection::vec(any::<u8>(), 0..1500)) {
        let scenario = scenario(&bytes, Scope::Core);
        if let Err(failure) = round_trip(&scenario) {
            return Err(TestCaseError::fail(format!("{failure}\n{scenario}")));
        }
    }
}

/// The generator is only worth something if what it makes is rich.
#[test]
fn scenarios_contain_what_they_are_for() {
    let (mut traps, mut unqualified, mut notified, mut wide, mut retired, mut longest) = (0, 0, 0, 0, 0, 0);
    for seed in 0..400 {
        let scenario = scenario(&seeded(seed, 1200), Scope::Core);
        longest = longest.max(scenario.steps.len());
        wide += usize::from(scenario.parameters.iaddress_width_p > 32);
        for step in &scenario.steps {
            match step {
                Step::Retire(retire) => {
                    retired += 1;
                    unqualified += usize::from(!retire.qualified);
                    notified += usize::from(retire.notify);
                }
                Step::Trap(_) => traps += 1,
                Step::Stimulus(_) => {}
            }
        }
    }
    assert!(retired > 8_000, "{retired} retirements");
    assert!(traps > 800, "{traps} traps");
    assert!(unqualified > 300, "{unqualified} filtered retirements");
    assert!(notified > 100, "{notified} notify requests");
    assert!(wide > 80, "{wide} scenarios with wide addresses");
    assert!(longest > 200, "longest execution has {longest} steps");
}
