//! Every probe passes for a correct subject, and fails for the matching misbehaviour.

use std::fs;
use std::path::Path;
use std::process;
use std::time::Duration;

use traceproof_conformance::Subject;
use traceproof_conformance::adaptor::frame::Framing;
use traceproof_conformance::family::IMPLEMENTED;
use traceproof_conformance::process::{Command, Limits, SubjectFile};
use traceproof_conformance::report::text::Style;
use traceproof_conformance::smoke::{Outcome, Report, of_program, of_subject};
use traceproof_conformance::suite::Directories;

use crate::installed;

/// What the machine has to do besides must not be taken for a hang.
fn patient() -> Limits {
    Limits { scale: 60.0, ..Limits::default() }
}

fn asked(command: &Command, limits: &Limits) -> Report {
    of_program(command, limits, &Directories::default()).expect("the shipped suite is sound")
}

fn text(report: &Report) -> String {
    traceproof_conformance::report::smoke::report(report, Style::default())
}

/// Every probe that failed: its name, and what came.
fn failed(report: &Report) -> Vec<(&'static str, String)> {
    let failure = |probe: &traceproof_conformance::smoke::Probe| match &probe.outcome {
        Outcome::Fail(finding) => Some((probe.question.name, finding.came.clone())),
        _ => None,
    };
    report.probes.iter().filter_map(failure).collect()
}

/// The names of the probes that passed.
fn passed(report: &Report) -> Vec<&'static str> {
    let passes = report.probes.iter().filter(|probe| matches!(probe.outcome, Outcome::Pass(_)));
    passes.map(|probe| probe.question.name).collect()
}

fn dishonest(mode: &str, limits: &Limits) -> Report {
    asked(&Command::new(env!("CARGO_BIN_EXE_traceproof-test-subject"), ["dishonest", mode]), limits)
}

/// Exactly these probes fail, and the first of them because of this.
fn fails(mode: &str, limits: &Limits, probes: &[&str], came: &str) {
    let report = dishonest(mode, limits);
    let failures = failed(&report);
    let names: Vec<&str> = failures.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, probes, "{mode}:\n{}", text(&report));
    assert!(failures[0].1.contains(came), "{mode}:\n{}", text(&report));
    assert!(!report.is_success());
}

#[test]
fn the_honest_pass_every_probe() {
    let report = dishonest("", &patient());
    assert_eq!(failed(&report), [], "{}", text(&report));
    let all = [
        "start",
        "hello-id",
        "nonce",
        "version",
        "framing",
        "claims",
        "unknown-op",
        "unknown-fields",
        "ids",
        "forget",
        "malformed",
        "unclaimed-family",
        "bye",
        "stdout",
        "empty",
        "again",
        "pieces",
        "claimed",
        "right",
        "encodes",
    ];
    assert_eq!(passed(&report), all, "{}", text(&report));
    for mode in ["passes-over-nonsense", "says-what-is-wrong"] {
        assert_eq!(failed(&dishonest(mode, &patient())), [], "{mode}");
    }
}

#[test]
fn the_reference_passes_here_and_as_an_adaptor() {
    let here = of_subject(&Subject::reference(), &Directories::default()).expect("sound");
    assert!(here.is_success(), "{}", text(&here));
    assert_eq!(
        passed(&here).iter().filter(|name| **name == "right").count(),
        IMPLEMENTED.len(),
        "{}",
        text(&here)
    );
    let none: [&str; 0] = [];
    for framing in Framing::ALL {
        let command = Command {
            framings: vec![framing],
            ..Command::new(env!("CARGO_BIN_EXE_traceproof-adaptor"), none)
        };
        let there = asked(&command, &patient());
        assert!(there.is_success(), "{}", text(&there));
        let names = passed(&there);
        assert!(["ids", "malformed", "bye"].iter().all(|name| names.contains(name)), "{}", text(&there));
        let encodes = names.iter().filter(|name| **name == "encodes").count();
        assert_eq!(encodes, IMPLEMENTED.len(), "{}", text(&there));
    }
}

#[test]
fn who_says_no_hello_is_asked_no_more() {
    fails("dies", &patient(), &["start"], "it exited with status 3");
    let hasty = Limits { hello: Duration::from_millis(300), ..Limits::default() };
    fails("is-silent", &hasty, &["start"], "nothing for 300ms");
    let none: [&str; 0] = [];
    let report = asked(&Command::new("/no/such/program", none), &patient());
    assert_eq!(failed(&report).len(), 1, "{}", text(&report));
    assert!(failed(&report)[0].1.contains("it cannot be started"), "{}", text(&report));
}

#[test]
fn hello_must_be_right() {
    fails("wrong-hello-id", &patient(), &["hello-id"], "\"id\":0");
    fails("wrong-nonce", &patient(), &["nonce"], "\"nonce\":\"5d41402abc4b2a76\"");
    fails("next-version", &patient(), &["version"], "\"tdut\":3");
    fails("other-framing", &patient(), &["framing"], "\"framing\":\"xml\"");
    fails("misspells", &patient(), &["claims"], "no feature is called `rv23`; known are rv32, rv64,");
}

#[test]
fn the_protocol_is_kept() {
    fails("knows-every-op", &patient(), &["unknown-op"], "\"status\":\"ok\"");
    fails("minds-fields", &patient(), &["unknown-fields"], "instead of {\"status\":\"ok\"}");
    fails("shortens-ids", &patient(), &["ids"], "\"id\":2147483647");
    let twice = dishonest("answers-twice", &patient());
    assert_eq!(failed(&twice)[0].0, "ids", "{}", text(&twice));
    assert!(failed(&twice)[0].1.contains("a second answer to request"), "{}", text(&twice));
    fails("keeps-old-keys", &patient(), &["forget"], "\"status\":\"invalid\"");
    fails("makes-up-answers", &patient(), &["malformed"], "an answer that is made up");
    fails("takes-every-family", &patient(), &["unclaimed-family"], "\"status\":\"ok\"");
    fails("aborts-at-the-end", &patient(), &["bye"], "signal 6 ended it");
    if cfg!(target_os = "linux") {
        fails("leaves-a-child", &patient(), &["bye"], "left 1 of its processes running");
    }
}

#[test]
fn who_is_late_is_told_from_who_is_wrong() {
    let hasty = Limits { answer: Duration::from_secs(3), ..Limits::default() };
    fails("hangs-on-nonsense", &hasty, &["malformed"], "nothing for 3s");
    fails("stays", &hasty, &["bye"], "it is still there after 3s");
    fails("overtakes", &hasty, &["ids"], "\"id\":4000000003");
}

#[test]
fn what_is_no_answer_is_seen() {
    // The runner itself does not work with either.
    let report = dishonest("prints-a-banner", &patient());
    assert_eq!(failed(&report)[0].0, "stdout", "{}", text(&report));
    assert!(failed(&report)[0].1.contains("licensed to nobody"), "{}", text(&report));
    let report = dishonest("talks-in-between", &patient());
    assert_eq!(failed(&report)[0].0, "stdout", "{}", text(&report));
    assert!(failed(&report)[0].1.contains("image loaded"), "{}", text(&report));
}

#[test]
fn streams_tell_who_is_honest() {
    fails("invents", &patient(), &["empty"], "the event retire");
    // Whether its turn to be right comes at the probe `right` depends on how many streams were sent before.
    let report = dishonest("is-right-every-second-time", &patient());
    let failures = failed(&report);
    let names: Vec<&str> = failures.iter().map(|(name, _)| *name).filter(|name| *name != "right").collect();
    assert_eq!(names, ["again", "pieces"], "{}", text(&report));
    assert!(failures[0].1.contains("asked of another decoder"), "{}", text(&report));
    fails("forgets-nothing", &patient(), &["again"], "after a reset");
    fails("counts-pieces", &patient(), &["pieces"], "byte by byte");
    fails("ignores-what-it-does-not-claim", &patient(), &["unclaimed"], "its results are wrong");
    fails(
        "refuses-what-it-claims",
        &patient(),
        &["claimed"],
        "claimed, but refused: unsupported feature `rv64`",
    );
    fails("is-wrong", &patient(), &["right"], "got nothing more");
    fails("encodes-nothing", &patient(), &["encodes"], "got nothing more");
}

#[test]
fn the_kits_are_honest() {
    let kit = |language: &str| Path::new(env!("CARGO_MANIFEST_DIR")).join("adaptors").join(language);
    let honest = |file: &Path| {
        let file = SubjectFile::read(file).expect("a subject");
        let report = asked(&file.command, &patient());
        assert!(report.is_success(), "{}", text(&report));
        // They claim some features only.
        assert!(passed(&report).contains(&"unclaimed"), "{}", text(&report));
    };
    if installed::is_there("python3") {
        honest(&kit("python").join("subject.toml"));
    }
    let directory = tempfile::tempdir().expect("a directory");
    if installed::is_there("cc") {
        let built = process::Command::new("cc")
            .args(["-std=c99", "-o"])
            .arg(directory.path().join("adaptor"))
            .args(["example.c", "tdut.c"])
            .current_dir(kit("c"))
            .output()
            .expect("it starts");
        assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
        fs::copy(kit("c").join("subject.toml"), directory.path().join("subject.toml")).expect("there");
        honest(&directory.path().join("subject.toml"));
    }
    let file = directory.path().join("rust.toml");
    fs::write(&file, format!("command = [{:?}]\n", env!("CARGO_BIN_EXE_traceproof-example-adaptor")))
        .expect("writable");
    honest(&file);
}
