//! Two subjects over the same streams.

use std::cell::Cell;

use traceproof_conformance::differential::{self, Options};
use traceproof_conformance::saboteurs;
use traceproof_conformance::suite::{Directories, Selection};
use traceproof_conformance::{Shard, Subject};
use traceproof_vectors::arm_etm::ArmEtm;
use traceproof_vectors::itanium_pmu::ItaniumPmu;
use traceproof_vectors::riscv_etrace::RiscvEtrace;

fn options() -> Options {
    let shard: Shard = "1/4".parse().expect("a part");
    Options {
        directories: Directories::default(),
        selection: Selection { shard: Some(shard), ..Selection::default() },
        seeds: 0..60,
        damage: true,
    }
}

#[test]
fn the_reference_agrees_with_itself() {
    let reference = Subject::reference();
    let streams = Cell::new(0);
    let count = |number| streams.set(number);
    let found = [
        differential::differences::<RiscvEtrace>(&reference, &reference, &options(), &count),
        differential::differences::<ArmEtm>(&reference, &reference, &options(), &count),
        differential::differences::<ItaniumPmu>(&reference, &reference, &options(), &count),
    ];
    for differences in found {
        let differences = differences.expect("sound suites");
        assert!(differences.compared > 200, "{differences:?}");
        assert!(differences.clusters.is_empty(), "{differences:?}");
    }
    assert!(streams.get() > 60);
}

#[test]
fn a_bug_is_found_put_together_and_shrunk() {
    let reference = Subject::reference();
    let bug = "end-reported-twice";
    let wrong = saboteurs::of::<RiscvEtrace>()
        .into_iter()
        .find(|saboteur| saboteur.name == bug)
        .expect("the saboteur exists")
        .subject();
    let found = differential::differences::<RiscvEtrace>(&reference, &wrong, &options(), &|_| {})
        .expect("sound suites");
    assert!(!found.clusters.is_empty(), "{bug} is not found");
    for cluster in &found.clusters {
        assert!(cluster.units.len() <= 6, "not small: {cluster:#?}");
        assert!(cluster.divergence.expected() != cluster.divergence.got(), "{cluster:?}");
        assert!(!cluster.examples.is_empty() && cluster.examples.len() <= 5);
    }
}
