//! Generated executions as cases of a run, and the relations of late decoders on cases.

use std::collections::BTreeMap;

use rayon::prelude::*;
use traceproof_conformance::family::{self, FamilyRules, Visitor};
use traceproof_conformance::generate::Seed;
use traceproof_conformance::suite::Directories;
use traceproof_conformance::verdict::Kind;
use traceproof_conformance::{Direction, Options, Run, Selection, Subject, Verdict, run, saboteurs};
use traceproof_vectors::arm_etm::ArmEtm;
use traceproof_vectors::riscv_etrace::RiscvEtrace;
use traceproof_vectors::{Family, ProtocolId};

/// The protocols that have generated executions.
fn generating() -> Vec<ProtocolId> {
    struct Generates;
    impl Visitor for Generates {
        type Output = bool;
        fn visit<P: FamilyRules>(self) -> bool {
            P::GENERATOR.is_some()
        }
    }
    let generates = |protocol: &ProtocolId| family::visit(*protocol, Generates) == Some(true);
    let protocols: Vec<ProtocolId> = family::IMPLEMENTED.into_iter().filter(generates).collect();
    assert!(protocols.len() >= 3, "{protocols:?}");
    protocols
}

fn judged(subject: &Subject, filter: &str, generated: std::ops::Range<u64>) -> Run {
    let selection = Selection { filters: vec![filter.to_owned()], ..Selection::default() };
    run(subject, &Options { selection, generated, ..Options::default() }, &|_| {}).expect("sound suites")
}

fn count(run: &Run) -> BTreeMap<(String, Direction), usize> {
    let mut counts = BTreeMap::new();
    for ((family, direction), tally) in run.tallies() {
        counts.insert((family.to_string(), direction), tally.of(Kind::Pass));
    }
    counts
}

#[test]
fn the_reference_passes_what_is_generated() {
    let run = judged(&Subject::reference(), "*/generated/*", 0..120);
    assert!(run.is_success(), "{:?}", run.failed().next());
    assert_eq!(run.cases.len(), generating().len() * 2 * 120);
    let counts = count(&run);
    let of = |family: &str, direction| counts.get(&(family.to_owned(), direction)).copied().unwrap_or(0);
    for family in generating().into_iter().map(ProtocolId::name) {
        assert_eq!(of(family, Direction::Decode), 120, "{family}");
        assert_eq!(of(family, Direction::Chunks), 240, "{family}");
        // Its bytes would be compared with themselves.
        assert_eq!(of(family, Direction::Encode), 0, "{family}");
    }
    assert!(of("riscv_etrace", Direction::Join) > 100, "{counts:?}");
    assert!(of("arm_etm", Direction::Join) > 150, "{counts:?}");
    assert!(of("arm_etm", Direction::Garbage) > 200, "{counts:?}");
    assert_eq!(of("itanium_pmu", Direction::Join), 0, "a log has no synchronisation points");
}

#[test]
fn cases_written_by_hand_are_joined_late() {
    let run = run(&Subject::reference(), &Options::default(), &|_| {}).expect("sound suites");
    assert!(run.is_success(), "{:?}", run.failed().next());
    let counts = count(&run);
    let of = |family: &str, direction| counts.get(&(family.to_owned(), direction)).copied().unwrap_or(0);
    assert!(of("riscv_etrace", Direction::Join) > 200, "{counts:?}");
    assert!(of("arm_etm", Direction::Join) > 90, "{counts:?}");
    assert!(of("arm_etm", Direction::Garbage) > 300, "{counts:?}");
}

/// Every saboteur whose bug shows in usual streams is found without a case written by hand.
fn found<P: FamilyRules>() {
    let all = saboteurs::of::<P>();
    let number = all.len();
    // Without cases: to load them takes longer than most of these runs.
    let nothing = tempfile::tempdir().expect("a directory");
    let passes = |saboteur: &&saboteurs::Saboteur<P>| {
        let selection = Selection {
            families: vec![P::FAMILY],
            filters: vec![String::from("*/generated/*")],
            ..Selection::default()
        };
        let directories = Directories::new(nothing.path(), nothing.path());
        // Which execution finds it is not asked.
        let options =
            Options { directories, selection, generated: 0..24, fail_fast: true, ..Options::default() };
        let run = run(&saboteur.subject(), &options, &|_| {}).expect("a sound suite");
        run.tally().failures() == 0
    };
    let missed: Vec<&str> = all.into_par_iter().filter(passes).map(|saboteur| saboteur.name).collect();
    let found = number - missed.len();
    println!("{}: {found} of {number}; not: {missed:?}", P::FAMILY);
    let least = match P::FAMILY {
        Family::RiscvEtrace => 20,
        Family::ArmEtm => 34,
        // Those of every family; it has none of its own yet.
        Family::ArmEte => 2,
        Family::ItaniumPmu => 28,
        _ => number / 2,
    };
    assert!(found >= least, "{}: {found} of {number}; not: {missed:?}", P::FAMILY);
}

#[test]
fn saboteurs_are_found_by_generated_executions_alone() {
    for family in generating() {
        family::visit(family, Found).expect("a family of this build");
    }
}

struct Found;

impl Visitor for Found {
    type Output = ();

    fn visit<P: FamilyRules>(self) {
        found::<P>();
    }
}

#[test]
fn a_seed_is_a_case_with_a_name_that_stays() {
    let seed = Seed { number: 17, damaged: true };
    assert_eq!(seed.id::<RiscvEtrace>(), "etr-seed-17-damaged");
    assert_eq!(seed.path::<ArmEtm>().to_string_lossy(), "arm_etm/generated/17-damaged");
    let run = judged(&Subject::reference(), "etm-seed-17-damaged", 0..40);
    let [case] = run.cases.as_slice() else { panic!("{:?}", run.cases.len()) };
    assert!(case.checks.iter().all(|check| check.direction.is_relation()), "{case:?}");
    let (whole, confirmed) = Seed { damaged: false, ..seed }.case::<ArmEtm>().expect("ETM has a generator");
    assert_eq!(confirmed, Ok(()));
    let (damaged, _) = seed.case::<ArmEtm>().expect("ETM has a generator");
    let differ = whole.resolved.wire.iter().zip(&damaged.resolved.wire).filter(|(a, b)| a != b).count();
    assert_eq!((differ, whole.resolved.wire.len()), (1, damaged.resolved.wire.len()));
    assert!(whole.resolved.events.is_some_and(|events| !events.is_empty()));
    assert!(damaged.resolved.events.is_none());
}

#[test]
fn who_says_nothing_breaks_no_relation_and_passes_nothing_else() {
    let mute = saboteurs::nulls::of::<ArmEtm>(&[])
        .into_iter()
        .find(|subject| subject.name() == "empty")
        .expect("there is a mute subject");
    let run = judged(&mute, "*/generated/*", 0..20);
    for (direction, verdict) in run.checks().map(|(_, direction, verdict)| (direction, verdict)) {
        match direction {
            Direction::Decode | Direction::Encode => {
                assert!(matches!(verdict, Verdict::Fail(_)), "{verdict:?}");
            }
            Direction::Chunks => assert_eq!(verdict.kind(), Kind::Pass),
            _ => assert_eq!(verdict.kind(), Kind::Unsupported, "{direction}: {verdict:?}"),
        }
    }
}

struct AddEncoder(Subject);

impl Visitor for AddEncoder {
    type Output = Subject;

    fn visit<P: FamilyRules>(self) -> Subject {
        self.0.with_encoder::<P>(P::reference_encoder)
    }
}

#[test]
fn encoders_are_judged_by_what_is_generated() {
    let model = family::IMPLEMENTED.into_iter().fold(Subject::new("model", "1"), |subject, family| {
        family::visit(family, AddEncoder(subject)).expect("a family of this build")
    });
    let run = judged(&model, "*/generated/*", 0..80);
    assert!(run.is_success(), "{:?}", run.failed().next());
    let counts = count(&run);
    for family in generating().into_iter().map(ProtocolId::name) {
        assert_eq!(counts.get(&(family.to_owned(), Direction::Encode)), Some(&80), "{family}");
    }
    let wrong = saboteurs::of::<RiscvEtrace>()
        .into_iter()
        .find(|saboteur| saboteur.name == "encoder-predictor-of-half-the-size")
        .expect("the saboteur exists");
    let run = judged(&wrong.subject(), "*/generated/*", 0..200);
    assert!(run.tally().failures() > 0, "a wrong encoder passes: {:?}", run.tally());
}
