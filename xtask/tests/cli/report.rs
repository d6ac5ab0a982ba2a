//! The command line of `report`: real results become pages, summaries and comparisons.

use std::fs;
use std::path::Path;

use tempfile::TempDir;
use traceproof_conformance::baseline::Signature;
use traceproof_conformance::report::causes::{Failure, Judged, causes};
use traceproof_conformance::report::json;
use traceproof_conformance::verdict::{Divergence, Row, Seen};
use traceproof_conformance::{Direction, Run, Verdict};
use traceproof_report::Run as Results;

use crate::commands::{run, text};

/// Results of the reference for a few cases.
fn results(directory: &TempDir, name: &str, more: &[&str]) -> String {
    let path = directory.path().join(name).to_str().expect("text").to_owned();
    let arguments = [&["conformance", "--family", "riscv-etrace", "--json", &path][..], more].concat();
    let output = run(&arguments);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    path
}

#[test]
fn results_become_a_page_a_summary_and_a_badge() {
    let directory = tempfile::tempdir().expect("a directory");
    let page = directory.path().join("page.html").to_str().expect("text").to_owned();
    let file = results(&directory, "results.json", &["--filter", "etr-0203", "--html", &page]);
    let shortcut = fs::read_to_string(&page).expect("written");
    assert!(
        shortcut.starts_with("<!DOCTYPE html>") && shortcut.len() < 2_000_000,
        "{} bytes",
        shortcut.len()
    );
    let output = run(&["report", "html", &file, "-o", "-"]);
    assert_eq!(text(&output.stdout), shortcut, "`--html` is a shortcut");

    let read = Results::parse(&fs::read_to_string(&file).expect("written")).expect("results");
    assert!(
        read.details["etr-0203"].source.as_ref().is_some_and(|source| source.contains("id = \"etr-0203\""))
    );
    assert!(read.clauses.len() > 200, "{} clauses", read.clauses.len());

    let summary = text(&run(&["report", "markdown", &file]).stdout);
    assert!(summary.contains("checks pass") && summary.contains("`riscv_etrace`"), "{summary}");
    assert!(text(&run(&["report", "badge", &file]).stdout).starts_with("<svg "));
}

#[test]
fn parts_of_a_run_are_merged_and_runs_are_compared() {
    let directory = tempfile::tempdir().expect("a directory");
    let filter = ["--filter", "*/branches/*", "--filter", "*/generated/1*"];
    let whole = results(&directory, "whole.json", &filter);
    let part =
        |name: &str, shard: &str| results(&directory, name, &[&filter[..], &["--shard", shard]].concat());
    let (one, two) = (part("one.json", "1/2"), part("two.json", "2/2"));
    let merged = directory.path().join("merged.json").to_str().expect("text").to_owned();
    assert_eq!(run(&["report", "merge", &two, &one, "-o", &merged]).status.code(), Some(0));
    let read = |path: &str| json::read(&fs::read_to_string(path).expect("readable")).expect("results");
    assert_eq!(read(&merged), read(&whole));

    let same = run(&["report", "diff", &whole, &merged]);
    assert_eq!(same.status.code(), Some(0));
    assert!(text(&same.stdout).ends_with("no check has another outcome\n"));
    let worse = fs::read_to_string(&whole).expect("readable").replacen("\"pass\"", "\"timeout\"", 1);
    let later = directory.path().join("later.json");
    fs::write(&later, worse).expect("writable");
    let output = run(&["report", "diff", &whole, later.to_str().expect("text")]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stdout).contains("\nnew failures: 1\n"), "{}", text(&output.stdout));
}

#[test]
fn a_file_that_is_none_of_ours_is_one_line() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("no.json");
    fs::write(&path, "{\n  \"schema\": 1,\n}").expect("writable");
    let name = path.to_str().expect("text");
    let output = run(&["report", "html", name, "-o", "-"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        text(&output.stderr).starts_with(&format!("error: {name}:3:1: expected results: ")),
        "{}",
        text(&output.stderr)
    );
    assert!(!Path::new("-").exists());
}

/// A failure whose rows have values, places and words of several kinds.
fn divergence(expected: Option<&str>, got: Option<&str>) -> Verdict {
    let row = Row { same: false, expected: expected.map(str::to_owned), got: got.map(str::to_owned) };
    let place = Some(traceproof_vectors::Place { packet: 2, byte: 12, bit: 3 });
    Verdict::Fail(Divergence { what: "events".into(), index: 3, place, packet: None, rows: vec![row] })
}

/// An encoding with other bytes.
fn agreeing(verdict: fn(Divergence) -> Verdict) -> Verdict {
    match divergence(Some("0x10"), Some("0x12")) {
        Verdict::Fail(difference) => verdict(difference),
        other => other,
    }
}

/// One of each kind, so that a new kind without a counterpart in reports is noticed.
fn every_verdict() -> Vec<Verdict> {
    let message = || String::from("gone");
    vec![
        Verdict::Pass,
        agreeing(Verdict::Legal),
        agreeing(Verdict::Semantic),
        divergence(Some("retire first=0x10"), Some("fault missing-outcome at packet 3")),
        divergence(None, Some("trap_entry x y z w")),
        Verdict::Crash { message: message(), stderr: None },
        Verdict::Crash { message: message(), stderr: Some(message()) },
        Verdict::Timeout { milliseconds: 5 },
        Verdict::Overflow { limit: 6 },
        Verdict::ProtocolError { message: message(), stderr: Some(message()) },
        Verdict::StateLeak { message: message() },
        Verdict::Flaky { seen: vec![Seen { outcome: "pass".into(), times: 2, example: message() }] },
        Verdict::Unsupported { needs: vec!["a".into(), "b".into()] },
        Verdict::Undeclared { refusal: message() },
        Verdict::ExpectedFailure { outcome: "crash".into(), reason: "r".into(), finding: "f".into() },
        Verdict::UnexpectedPass { reason: "r".into() },
    ]
}

/// The crate of reports reads results by itself; it must say the same of each verdict as the harness.
#[test]
fn reports_agree_with_the_harness_about_every_verdict() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = results(&directory, "results.json", &["--filter", "etr-0203", "--direction", "decode"]);
    let template: Run = json::read(&fs::read_to_string(file).expect("readable")).expect("results");
    for verdict in every_verdict() {
        let mut run = template.clone();
        run.cases[0].checks[0].verdict = verdict.clone();
        let results = Results::parse(&json::report(&run).expect("writes")).expect("reads");
        let outcome = &results.cases[0].checks[0].outcome;
        assert_eq!(outcome.kind().name, verdict.kind().name());
        assert_eq!(outcome.is_failure(), verdict.kind().is_failure(), "{verdict}");
        assert_eq!(outcome.sentence(), verdict.to_string());
        let signature = Signature::new("x", Direction::Decode, &verdict).outcome;
        assert_eq!(outcome.signature(), signature);
        let ours = traceproof_report::causes::causes(std::slice::from_ref(&results));
        let theirs = causes(&run);
        assert_eq!(
            ours.first().map(|cause| &cause.kind),
            theirs.first().map(|cause| &cause.kind),
            "{verdict}"
        );
        if let Some(Failure { of: Judged::Case(case), .. }) =
            theirs.first().and_then(|cause| cause.failures.first())
        {
            let command = results.reproduce(&results.cases[0]);
            assert!(command.ends_with(&format!("conformance --filter {}", case.id)), "{command}");
        }
    }
}
