//! Baselines: known failures do not count, and stale entries are reported.

use toml::value::Date;
use traceproof_conformance::baseline::{self, Baseline, Staleness, UNEXPLAINED};
use traceproof_conformance::run::{CaseResult, Check, Run, SubjectName};
use traceproof_conformance::verdict::{Divergence, Kind};
use traceproof_conformance::{Direction, Invocation, ProtocolName, Verdict};
use traceproof_vectors::case::{Level, Polarity};
use traceproof_vectors::{Place, ProtocolId};

const TODAY: Date = Date { year: 2026, month: 11, day: 22 };

fn fails(index: usize) -> Verdict {
    Verdict::Fail(Divergence {
        index,
        place: Some(Place { packet: 2, byte: 12, bit: 4 }),
        ..Divergence::sentence("events", String::from("retire"))
    })
}

fn crash() -> Verdict {
    Verdict::Crash { message: String::from("signal 11"), stderr: None }
}

fn run(checks: &[(&str, Direction, Verdict)]) -> Run {
    let mut cases: Vec<CaseResult> = Vec::new();
    for (id, direction, verdict) in checks {
        let check = Check { direction: *direction, verdict: verdict.clone() };
        if let Some(case) = cases.iter_mut().find(|case| case.id == *id) {
            case.checks.push(check);
            continue;
        }
        cases.push(CaseResult {
            id: (*id).to_owned(),
            rev: 1,
            protocol: ProtocolName(ProtocolId::RiscvEtrace),
            path: format!("riscv_etrace/x/{id}.toml"),
            title: String::from("a case"),
            level: Level::Must,
            polarity: Polarity::Positive,
            clauses: Vec::new(),
            provisional: Vec::new(),
            catches: String::from("a bug"),
            checks: vec![check],
            reproduce: None,
        });
    }
    Run {
        schema: 1,
        harness: String::from("0"),
        subject: SubjectName { name: String::from("acme"), version: String::from("1"), argument: None },
        incomplete: false,
        invocation: Invocation::default(),
        suite: None,
        cases,
        programs: Vec::new(),
        foreign_sources: Vec::new(),
    }
}

const TEXT: &str = r#"# What acme gets wrong.
schema = 1
subject = "acme"

# Ask Jo before removing any of these.
[[known]]
reason = "takes the second branch for the first"
finding = "docs/findings/acme.md#a-3"
checks = [
  "etr-0001 decode: fail events 3 at 2/12.4",
  "etr-0001 chunks: crash",  # only since 2.3
  "etr-0002 decode: fail events 3 at 2/12.4",
  "etr-0003 decode: fail events 3 at 2/12.4",
  "etr-0004 decode: fail events 3 at 2/12.4",
]

[[known]]
reason = "has no data trace yet"
finding = "https://acme.example/17"
expires = 2026-11-21
checks = ["etr-0005 decode: crash"]
"#;

fn mixed() -> Run {
    use Direction::{Chunks, Decode};
    run(&[
        ("etr-0001", Decode, fails(3)),
        ("etr-0001", Chunks, crash()),
        ("etr-0002", Decode, Verdict::Pass),
        ("etr-0003", Decode, fails(4)),
        ("etr-0004", Decode, Verdict::Unsupported { needs: vec![String::from("x")] }),
        ("etr-0005", Decode, crash()),
        ("etr-0006", Decode, fails(0)),
        ("etr-0007", Decode, Verdict::Pass),
    ])
}

#[test]
fn known_failures_do_not_count_and_stale_entries_are_reported() {
    let baseline = Baseline::parse(TEXT).expect("sound");
    let mut run = mixed();
    let stale = baseline::apply(&mut run, &baseline, TODAY, true);
    let reported: Vec<(String, Staleness)> =
        stale.into_iter().map(|stale| (stale.entry.id, stale.why)).collect();
    assert_eq!(
        reported,
        [
            (String::from("etr-0002"), Staleness::Passes),
            (String::from("etr-0003"), Staleness::Otherwise(String::from("fail events 4 at 2/12.4"))),
            (String::from("etr-0005"), Staleness::Expired(String::from("2026-11-21"))),
            (String::from("etr-0004"), Staleness::Unmatched),
        ]
    );
    let kinds: Vec<Kind> =
        run.cases.iter().flat_map(|case| &case.checks).map(|check| check.verdict.kind()).collect();
    assert_eq!(
        kinds,
        [
            Kind::ExpectedFailure,
            Kind::ExpectedFailure,
            Kind::UnexpectedPass,
            Kind::Fail,
            Kind::Unsupported,
            Kind::Crash,
            Kind::Fail,
            Kind::Pass,
        ]
    );
    assert!(!run.is_success());
}

#[test]
fn a_run_of_some_cases_says_nothing_about_the_others() {
    let baseline = Baseline::parse(TEXT).expect("sound");
    let mut some =
        run(&[("etr-0001", Direction::Decode, fails(3)), ("etr-0007", Direction::Decode, Verdict::Pass)]);
    assert_eq!(baseline::apply(&mut some, &baseline, TODAY, false), []);
    assert!(some.is_success(), "a known failure is no failure");
}

#[test]
fn an_entry_holds_on_its_last_day() {
    let baseline = Baseline::parse(TEXT).expect("sound");
    let mut last =
        run(&[("etr-0005", Direction::Decode, crash()), ("etr-0007", Direction::Decode, Verdict::Pass)]);
    let day = Date { day: 21, ..TODAY };
    assert_eq!(baseline::apply(&mut last, &baseline, day, false), []);
}

#[test]
fn an_update_edits_in_place() {
    let update = baseline::update(TEXT, &mixed(), true).expect("sound");
    let expected = r#"# What acme gets wrong.
schema = 1
subject = "acme"

# Ask Jo before removing any of these.
[[known]]
reason = "takes the second branch for the first"
finding = "docs/findings/acme.md#a-3"
checks = [
  "etr-0001 decode: fail events 3 at 2/12.4",
  "etr-0001 chunks: crash",  # only since 2.3
  "etr-0003 decode: fail events 4 at 2/12.4",
]

[[known]]
reason = "has no data trace yet"
finding = "https://acme.example/17"
expires = 2026-11-21
checks = ["etr-0005 decode: crash"]

# fail: events: nothing more / retire
[[known]]
reason = "UNEXPLAINED"
finding = "UNEXPLAINED"
checks = [
  "etr-0006 decode: fail events 0 at 2/12.4",
]
"#;
    assert_eq!(update.text, expected);
    assert_eq!(update.added.len() + update.changed.len(), 2);
    let removed: Vec<&str> = update.removed.iter().map(|entry| entry.id.as_str()).collect();
    assert_eq!(removed, ["etr-0002", "etr-0004"]);
    // After an update only missing reasons and expired entries remain.
    let baseline = Baseline::parse(&update.text).expect("sound");
    let mut again = mixed();
    let stale = baseline::apply(&mut again, &baseline, TODAY, true);
    let reported: Vec<Staleness> = stale.into_iter().map(|stale| stale.why).collect();
    assert_eq!(reported, [Staleness::Expired(String::from("2026-11-21")), Staleness::Unexplained]);
    assert_eq!(baseline::update(&update.text, &mixed(), true).expect("sound").text, update.text);
}

#[test]
fn another_defect_needs_another_reason() {
    use Direction::{Chunks, Decode};
    let packets = Verdict::Fail(Divergence::sentence("packets", String::from("start")));
    let run =
        run(&[("etr-0001", Decode, packets), ("etr-0001", Chunks, fails(0)), ("etr-0002", Decode, fails(9))]);
    let update = baseline::update(TEXT, &run, true).expect("sound");
    let lines = |entries: &[baseline::Signature]| entries.iter().map(ToString::to_string).collect::<Vec<_>>();
    // A difference further on may have the same cause; packets instead of events, or a failure instead of a crash, have
    // not.
    assert_eq!(lines(&update.changed), ["etr-0002 decode: fail events 9 at 2/12.4"]);
    assert_eq!(
        lines(&update.added),
        ["etr-0001 decode: fail packets 0", "etr-0001 chunks: fail events 0 at 2/12.4"]
    );
    let known = Baseline::parse(&update.text).expect("sound").known;
    let reasons: Vec<(&str, usize)> =
        known.iter().map(|entry| (entry.reason.as_str(), entry.checks.len())).collect();
    // Each cause has an entry of its own.
    assert_eq!(reasons, [("takes the second branch for the first", 1), (UNEXPLAINED, 1), (UNEXPLAINED, 1)]);
}

#[test]
fn an_update_makes_a_baseline_where_there_is_none() {
    let update = baseline::update("", &mixed(), true).expect("sound");
    let baseline = Baseline::parse(&update.text).expect("sound");
    assert_eq!(baseline.subject, "acme");
    let checks: Vec<usize> = baseline.known.iter().map(|known| known.checks.len()).collect();
    assert_eq!(checks.iter().sum::<usize>(), 5);
    assert!(checks.is_sorted_by(|more, less| more >= less), "the most frequent cause first: {checks:?}");
    assert_eq!(checks, update.causes.iter().map(|cause| cause.checks.len()).collect::<Vec<_>>());
    assert!(baseline.known.iter().all(|known| known.reason == UNEXPLAINED));
    for cause in &update.causes {
        assert!(update.text.contains(&format!("\n# {}\n[[known]]\n", cause.kind)), "{}", update.text);
    }
}

#[test]
fn what_is_no_baseline_is_told_with_its_place() {
    let refused = |text: &str| Baseline::parse(text).expect_err(text).to_string();
    assert!(refused("schema = 2\nsubject = \"a\"\n").starts_with("1:1: "));
    assert!(refused("schema = 1\nsubject = \"a\"\ncolour = 3\n").starts_with("3:1: "));
    let entry = |known: &str| format!("schema = 1\nsubject = \"a\"\n[[known]]\n{known}");
    let line = "\"etr-0001 decode: crash\"";
    for known in [
        format!("reason = \" \"\nfinding = \"b\"\nchecks = [{line}]\n"),
        format!("reason = \"a\"\nfinding = \"b\"\nchecks = [{line}, {line}]\n"),
        String::from("reason = \"a\"\nfinding = \"b\"\nchecks = [\"etr-0001 decode: pass\"]\n"),
        format!("reason = \"a\"\nfinding = \"b\"\nexpires = 07:32:00\nchecks = [{line}]\n"),
        format!("reason = \"a\"\nchecks = [{line}]\n"),
    ] {
        let refusal = refused(&entry(&known));
        assert!(!refusal.starts_with("1:1"), "{refusal}");
    }
}
