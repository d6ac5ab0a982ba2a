//! Two subjects over the same streams.

use std::cell::Cell;

use traceproof_conformance::baseline::Baseline;
use traceproof_conformance::differential::{self, Differences, Options, findings_of};
use traceproof_conformance::family::{self, FamilyRules, Visitor};
use traceproof_conformance::saboteurs;
use traceproof_conformance::suite::{Directories, Selection};
use traceproof_conformance::{Shard, Subject};
use traceproof_vectors::ProtocolId;
use traceproof_vectors::riscv_etrace::RiscvEtrace;

fn options() -> Options {
    let shard: Shard = "1/4".parse().expect("a part");
    Options {
        directories: Directories::default(),
        selection: Selection { shard: Some(shard), ..Selection::default() },
        seeds: 0..60,
        damage: true,
        time: None,
        baseline: None,
    }
}

#[test]
fn the_reference_agrees_with_itself() {
    let reference = Subject::reference();
    let streams = Cell::new(0);
    let count = |number| streams.set(number);
    for family in family::IMPLEMENTED {
        let compare = Compare { reference: &reference, count: &count };
        let differences = family::visit(family, compare).expect("a family of this build");
        // The formatter has fewer cases, and no generator.
        let fewest = if family == ProtocolId::ArmEtmFormatter { 20 } else { 200 };
        assert!(differences.compared > fewest, "{differences:?}");
        assert!(differences.clusters.is_empty(), "{differences:?}");
    }
    assert!(streams.get() > 60);
}

struct Compare<'a> {
    reference: &'a Subject,
    count: &'a dyn Fn(usize),
}

impl Visitor for Compare<'_> {
    type Output = Differences;

    fn visit<P: FamilyRules>(self) -> Differences {
        let Self { reference, count } = self;
        differential::differences::<P>(reference, reference, &options(), count).expect("sound suites")
    }
}

/// A kind belongs to the findings that list it, or whose checks show it.
#[test]
fn kinds_are_named_by_a_baseline() {
    let reference = Subject::reference();
    let saboteurs = saboteurs::of::<RiscvEtrace>();
    let wrong =
        saboteurs.iter().find(|saboteur| saboteur.name == "end-reported-twice").expect("it exists").subject();
    let found = |baseline: Option<&str>| {
        let baseline = baseline.map(|text| Baseline::parse(text).expect("a baseline"));
        let options = Options { baseline, seeds: 0..0, damage: false, ..options() };
        differential::differences::<RiscvEtrace>(&reference, &wrong, &options, &|_| {}).expect("sound suites")
    };
    let unknown = found(None);
    let cluster = unknown.clusters.first().expect("a bug");
    assert!(!unknown.are_known() && unknown.known.is_empty());
    let case = cluster.examples.iter().find(|name| !name.contains(',')).expect("a case of its own");
    let entry =
        |finding: &str, content: &str| format!("[[known]]\nreason = 'r'\nfinding = '{finding}'\n{content}\n");
    let listed: Vec<String> = unknown.clusters.iter().map(|cluster| format!("{:?}", cluster.kind)).collect();
    let text = [
        "schema = 1\nsubject = 's'\n".to_owned(),
        entry("listed", &format!("kinds = [{}]", listed.join(","))),
        entry("shown", &format!("checks = ['{case} decode: fail events 0']")),
        entry("other", "checks = ['etr-0001 decode: fail events 0']"),
        entry("of the encoder", &format!("checks = ['{case} encode: crash']")),
    ];
    let known = found(Some(text.concat().as_str()));
    assert!(known.are_known());
    let findings: Vec<(&str, usize)> =
        known.known.iter().map(|known| (known.finding.as_str(), known.kinds.len())).collect();
    assert_eq!(findings, [("listed", listed.len()), ("shown", 1), ("other", 0)]);
    assert_eq!(findings_of(&known.known, &cluster.kind), ["listed", "shown"]);
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
