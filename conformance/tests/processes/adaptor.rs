//! The reference in this process and in processes of its own, in every framing, gives the same report.

use std::path::Path;

use traceproof_conformance::adaptor::frame::Framing;
use traceproof_conformance::family::{self, FamilyRules, Visitor};
use traceproof_conformance::process::{self, Command, Limits};
use traceproof_conformance::report::json;
use traceproof_conformance::{Direction, Options, Selection, Subject, run};
use traceproof_vectors::{DecoderLimits, Family, Feature};

fn adaptor(framing: Framing, again: bool) -> Subject {
    let none: [&str; 0] = [];
    let framings = vec![framing];
    let command = Command { framings, again, ..Command::new(env!("CARGO_BIN_EXE_traceproof-adaptor"), none) };
    // What is compared must not depend on how busy the machine is.
    process::subject(&command, &Limits { scale: 60.0, ..Limits::default() }).expect("it answers")
}

/// Lines of the report of the whole suite, or of a part, and of real programs: two, one of them with contexts and times,
/// too.
fn report(subject: &Subject, shard: Option<&str>) -> String {
    let shard = shard.map(|part| part.parse().expect("a part"));
    let options = Options { selection: Selection { shard, ..Selection::default() }, ..Options::default() };
    let cases = run(subject, &options, &|_| {}).expect("the shipped suite is sound");
    assert!(cases.is_success());
    let selection = Selection {
        families: vec![Family::RiscvEtrace],
        filters: ["trapsdev.rv64/delta", "trapsdev.rv64/context_time", "levels.rv32/delta"]
            .map(String::from)
            .to_vec(),
        ..Selection::default()
    };
    let options = Options { selection, programs: true, ..Options::default() };
    let programs = run(subject, &options, &|_| {}).expect("the shipped programs are sound");
    assert!(programs.is_success() && programs.programs.len() == 3);
    format!("{}{}", json::report(&cases).expect("JSON"), json::report(&programs).expect("JSON"))
}

#[test]
fn the_same_report_in_process_through_lines_and_through_frames() {
    let whole = report(&Subject::reference(), None);
    let eighth = report(&Subject::reference(), Some("3/8"));
    for (framing, again, here, shard) in [
        (Framing::JsonLines, true, &eighth, Some("3/8")),
        (Framing::JsonLines, false, &whole, None),
        (Framing::Bin1, true, &whole, None),
    ] {
        let there = report(&adaptor(framing, again), shard);
        // The packet writer is judged only where it is: with the reference in this process.
        let written = |text: &str| text.matches("\"direction\": \"write\"").count();
        assert!(written(here) > 0 && written(&there) == 0);
        assert_eq!(checks(here), checks(&there), "{}, short lists: {again}", framing.name());
    }
}

/// The report without the direction `write`.
fn checks(text: &str) -> Vec<String> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<serde_json::Value>();
    values
        .by_ref()
        .map(|value| {
            let mut value = value.expect("JSON");
            for case in value["cases"].as_array_mut().expect("cases") {
                case["checks"].as_array_mut().expect("checks").retain(|check| check["direction"] != "write");
            }
            serde_json::to_string_pretty(&value).expect("JSON")
        })
        .collect()
}

#[test]
fn limits_reach_decoders_here_and_in_processes() {
    let limits = DecoderLimits::default();
    for (filter, limits) in [
        ("riscv_etrace/jumps/*", limits.with_steps(0)),
        ("riscv_etrace/branch_prediction/*", limits.with_repeats(0)),
        ("arm_etm/v1_data/*", limits.with_pending(1)),
        ("itanium_pmu/captures/*", limits.with_gathered(0)),
    ] {
        let outcomes = |subject: &Subject| {
            let selection = Selection { filters: vec![String::from(filter)], ..Selection::default() };
            let directions = vec![Direction::Decode];
            let options = Options { selection, directions, ..Options::default() };
            let run = run(subject, &options, &|_| {}).expect("the shipped suite is sound");
            let checks = run.cases.iter().flat_map(|case| &case.checks);
            checks.map(|check| check.verdict.to_string()).collect::<Vec<_>>()
        };
        let reference = outcomes(&Subject::reference());
        assert!(!reference.is_empty() && reference.iter().all(|verdict| verdict == "pass"), "{filter}");
        let limited = outcomes(&Subject::reference().with_limits(limits));
        assert_ne!(limited, reference, "{filter}");
        for framing in [Framing::JsonLines, Framing::Bin1] {
            assert_eq!(outcomes(&adaptor(framing, false).with_limits(limits)), limited, "{filter}");
        }
    }
}

#[test]
fn what_is_not_there_cannot_be_started() {
    let none: [&str; 0] = [];
    let command = Command::new(Path::new("/no/such/program"), none);
    let error = process::subject(&command, &Limits::default()).err().map(|error| error.to_string());
    let message = error.expect("it is not there");
    assert!(message.starts_with("it cannot be started: /no/such/program: "), "{message}");
}

#[test]
fn every_feature_stands_in_the_documentation() {
    let pages = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/families");
    for protocol in family::IMPLEMENTED {
        let page = pages.join(format!("{}.md", protocol.name()));
        let text =
            std::fs::read_to_string(&page).unwrap_or_else(|error| panic!("{}: {error}", page.display()));
        let (_, table) = text.split_once("\n## Features\n").expect("a section about features");
        let (table, _) = table.split_once("\n## ").expect("a section behind it");
        let features = family::visit(protocol, Features).expect("a protocol of this build");
        let missing: Vec<_> =
            Feature::names(features).filter(|name| !table.contains(&format!("`{name}`"))).collect();
        assert!(missing.is_empty(), "{}: {missing:?}", page.display());
    }
}

struct Features;

impl Visitor for Features {
    type Output = &'static [Feature];

    fn visit<P: FamilyRules>(self) -> Self::Output {
        P::FEATURES
    }
}
