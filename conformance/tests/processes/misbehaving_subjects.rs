//! Subjects that misbehave in one way each about one case: the right verdict there and where its stream is decoded
//! before another one, none elsewhere, and nothing left running.

use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tempfile::TempDir;
use toml::value::Date;
use traceproof_conformance::baseline::{self, Baseline, Staleness};
use traceproof_conformance::process::{self, Command, Limits};
use traceproof_conformance::report::{json, junit, text};
use traceproof_conformance::riscv_etrace::programs::{Subjects, run_all};
use traceproof_conformance::suite::{Directories, Suite};
use traceproof_conformance::verdict::Kind;
use traceproof_conformance::{Direction, Options, Run, Selection, Subject, run};
use traceproof_vectors::riscv_etrace::{Parameters, RiscvEtrace};
use traceproof_vectors::{Capabilities, Decoder, Family, Layer, Program, Refusal, Sink};

use crate::left_behind;

/// The case about which the subjects misbehave.
const CASE: &str = "etr-9001";

/// The case before whose stream that of [`CASE`] is decoded.
const LATER: &str = "etr-9003";

fn directories() -> Directories {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    Directories::new(data.join("suites"), data.join("clauses"))
}

/// What the machine has to do besides must not be taken for a hang.
fn patient() -> Limits {
    Limits { scale: 60.0, message: 1 << 20, ..Limits::default() }
}

/// A machine that is not too busy answers within this; every hang costs it.
fn hasty() -> Limits {
    Limits { answer: Duration::from_secs(3), scale: 1.0, ..patient() }
}

struct Acme {
    /// Numbers of the processes, one on a line.
    processes: PathBuf,
    command: Command,
    _directory: TempDir,
}

impl Acme {
    fn new(mode: &str) -> Self {
        let suite = Suite::<RiscvEtrace>::load(&directories()).expect("sound");
        let case = suite.files.iter().find(|file| file.case.id == CASE).expect("there");
        Self::about(mode, &case.resolved.wire)
    }

    /// Misbehaves about this stream.
    fn about(mode: &str, wire: &[u8]) -> Self {
        let hex: String = wire.iter().map(|byte| format!("{byte:02x}")).collect();
        let directory = TempDir::new().expect("a directory");
        let processes = directory.path().join("processes");
        let mut command =
            Command::new(env!("CARGO_BIN_EXE_traceproof-test-subject"), ["misbehaving", mode, &hex]);
        command.environment.insert(String::from("PROCESSES"), processes.to_string_lossy().into_owned());
        Self { processes, command, _directory: directory }
    }

    fn subject(&self, limits: Limits) -> Subject {
        process::subject(&self.command, &limits).expect("it says hello")
    }

    /// Process groups that still have members which are not dead. A killed process may need a moment to end.
    fn left(&self) -> Vec<String> {
        let started = fs::read_to_string(&self.processes).expect("it was started");
        assert!(!started.is_empty());
        left_behind::of_groups(&started)
    }
}

fn judged(subject: &Subject, repeat: usize) -> Run {
    let options = Options {
        directories: directories(),
        selection: Selection { families: vec![Family::RiscvEtrace], ..Selection::default() },
        directions: vec![Direction::Decode, Direction::Chunks, Direction::Encode],
        jobs: Some(1),
        repeat: NonZeroUsize::new(repeat).expect("at least once"),
        ..Options::default()
    };
    run(subject, &options, &|_| {}).expect("the sample suite is sound")
}

/// Every check that did not pass, as `id direction: verdict`.
fn verdicts(mode: &str, limits: Limits) -> Vec<String> {
    bad_verdicts(&judged_as(mode, limits, 1))
}

/// What comes of everything, judged so many times, with a subject in this mode.
fn judged_as(mode: &str, limits: Limits, repeat: usize) -> Run {
    let acme = Acme::new(mode);
    let subject = acme.subject(limits);
    let run = judged(&subject, repeat);
    drop(subject);
    assert_eq!(acme.left(), [""; 0], "{mode}");
    assert_eq!(run.tally().total(), 7, "the run went on to its end: {mode}");
    run
}

fn bad_verdicts(run: &Run) -> Vec<String> {
    let mut lines = Vec::new();
    for case in &run.cases {
        for check in case.checks.iter().filter(|check| check.verdict.kind() != Kind::Pass) {
            lines.push(format!("{} {}: {}", case.id, check.direction, check.verdict));
        }
    }
    lines
}

/// The checks that decode the stream of the case.
fn checks() -> [String; 3] {
    [format!("{CASE} decode: "), format!("{CASE} chunks: "), format!("{LATER} chunks: ")]
}

/// They have this verdict, and nothing else has failed.
fn each(mode: &str, limits: Limits, verdict: &str) {
    let expected = checks().map(|check| format!("{check}{verdict}"));
    assert_eq!(verdicts(mode, limits), expected, "{mode}");
}

#[test]
fn who_behaves_passes() {
    assert_eq!(verdicts("behaves", patient()), [""; 0]);
}

#[test]
fn who_ends_has_crashed() {
    each("kills-itself", patient(), "the subject crashed: signal 9 (SIGKILL) ended it");
    let aborts = "the subject crashed: signal 6 (SIGABRT) ended it; \
                  its standard error ends with: acme: assertion `sp != NULL` failed";
    each("aborts", patient(), aborts);
    each("exits", patient(), "the subject crashed: it exited with status 0 instead of an answer");
    each("half-an-answer", patient(), "the subject crashed: it exited with status 1 instead of an answer");
    each("reports-an-error", patient(), "the subject crashed: it says that it broke: index 4 of 4");
}

#[test]
fn children_do_not_outlive_their_parents() {
    each("leaves-children", patient(), "the subject crashed: it exited with status 0 instead of an answer");
    assert_eq!(verdicts("keeps-children", patient()), [""; 0]);
}

#[test]
fn who_is_late_is_killed() {
    for mode in ["hangs", "drips"] {
        let verdicts = verdicts(mode, hasty());
        assert_eq!(verdicts.len(), 3, "{mode}: {verdicts:?}");
        for (verdict, check) in verdicts.iter().zip(checks()) {
            let late = format!("{check}the subject did not return within ");
            assert!(verdict.starts_with(&late), "{mode}: {verdicts:?}");
        }
    }
}

#[test]
fn who_says_too_much_is_stopped() {
    each("floods", patient(), "the subject answered more than 1048576 bytes at once");
    each("floods-with-nothing", patient(), "the subject answered more than 1048576 bytes at once");
    // An answer without end is stopped by its length, however long that takes.
    each("floods-slowly", hasty(), "the subject answered more than 1048576 bytes at once");
    assert_eq!(verdicts("talks-to-stderr", patient()), [""; 0]);
}

#[test]
fn protocol_violations_are_reported() {
    let wrong = |mode, message: &str| each(mode, patient(), &format!("no way to answer: {message}"));
    wrong("no-json", "an answer is no JSON (expected value at line 1 column 1): `Segmentation fault`");
    let verdicts = verdicts("wrong-id", patient());
    assert!(
        verdicts.len() == 3 && verdicts.iter().all(|verdict| verdict.contains(": it answered request 9"))
    );
    wrong("closes-output", "it closed its standard output");
    wrong("repeats-nothing", "a back-reference to an unknown result");
    wrong("repeats-endlessly", "an answer stands for more than 1048576 results");
    wrong("no-result", "a result is none of packet, event and fault, or more than one");
}

#[test]
fn what_comes_behind_a_right_answer_is_seen_at_the_next_request() {
    let closed = verdicts("closes-input", patient());
    let [_, chunks, later] = checks();
    let message = "no way to answer: it closed its standard input";
    assert_eq!(closed, [&chunks, &later].map(|check| format!("{check}{message}")));
    let twice = verdicts("answers-twice", patient());
    assert_eq!(twice.len(), 2, "{twice:?}");
    for (verdict, check) in twice.iter().zip([chunks, later]) {
        assert!(verdict.starts_with(&format!("{check}no way to answer: it answered")), "{twice:?}");
    }
}

#[test]
fn what_is_left_of_other_cases_is_told_from_what_is_wrong() {
    let leaks = verdicts("leaks", patient());
    let leak =
        format!("{CASE} decode: right in a new process, but not after other cases: packets differ at item 0");
    assert!(leaks.len() == 1 && leaks[0].starts_with(&leak), "{leaks:?}");
}

/// Keeps what is pushed.
struct Recorder(Arc<Mutex<Vec<u8>>>);

impl Decoder<RiscvEtrace> for Recorder {
    fn capabilities(&self) -> Capabilities {
        Capabilities::new([Layer::Events])
    }

    fn begin(&mut self, _: &Parameters, _: &Program) -> Result<(), Refusal> {
        Ok(())
    }

    fn push(&mut self, chunk: &[u8], _: &mut dyn Sink<RiscvEtrace>) {
        self.0.lock().expect("no panic").extend_from_slice(chunk);
    }

    fn finish(&mut self, _: &mut dyn Sink<RiscvEtrace>) {}

    fn reset(&mut self) {}
}

/// The program about which the subjects misbehave, with its parameter set.
const PROGRAM: &str = "trapsdev.rv64/full_address";

/// Every round trip of the small programs that did not pass, as `program/set: verdict`.
fn program_verdicts(mode: &str, limits: Limits) -> Vec<String> {
    let wire = Arc::new(Mutex::new(Vec::new()));
    let (encoder, kept) = (Subjects::reference().encoder, Arc::clone(&wire));
    let recording = Subjects { encoder, decoder: &move || Box::new(Recorder(Arc::clone(&kept))) };
    let only = |program: &str, set: &str| format!("{program}/{set}") == PROGRAM;
    run_all(recording, None, &only, &|_| {}).expect("shipped");
    let acme = Acme::about(mode, &wire.lock().expect("no panic"));
    let subject = acme.subject(limits);
    let selection = Selection {
        families: vec![Family::RiscvEtrace],
        filters: vec![String::from("trapsdev.rv??/*")],
        ..Selection::default()
    };
    let options = Options {
        directories: directories(),
        selection,
        programs: true,
        jobs: Some(1),
        ..Options::default()
    };
    let run = run(&subject, &options, &|_| {}).expect("sound");
    drop(subject);
    assert_eq!(acme.left(), [""; 0], "{mode}");
    assert!(run.programs.len() >= 40, "the run went on to its end: {mode}");
    let bad = run.programs.iter().filter(|program| program.verdict.kind() != Kind::Pass);
    bad.map(|program| format!("{}: {}", program.name(), program.verdict)).collect()
}

#[test]
fn whoever_fails_in_one_program_is_judged_by_the_others() {
    assert_eq!(program_verdicts("behaves", patient()), [""; 0]);
    for (mode, verdict) in [
        ("kills-itself", "the subject crashed: signal 9 (SIGKILL) ended it"),
        ("reports-an-error", "the subject crashed: it says that it broke: index 4 of 4"),
        ("no-result", "no way to answer: a result is none of packet, event and fault, or more than one"),
    ] {
        assert_eq!(program_verdicts(mode, patient()), [format!("{PROGRAM}: {verdict}")], "{mode}");
    }
    let late = program_verdicts("hangs", hasty());
    let start = format!("{PROGRAM}: the subject did not return within ");
    assert!(late.len() == 1 && late[0].starts_with(&start), "{late:?}");
}

#[test]
fn what_changes_without_a_cause_is_flaky() {
    // A single run does not detect it: the first stream is right.
    let once = verdicts("is-right-every-second-time", patient());
    assert!(once.iter().all(|line| line.starts_with(&format!("{CASE} chunks: "))), "{once:?}");
    let run = judged_as("is-right-every-second-time", patient(), 4);
    let flaky =
        format!("{CASE} decode: not the same each time: 2 of 4 times pass, 2 of 4 times fail packets 0");
    assert_eq!(bad_verdicts(&run).first(), Some(&flaky));
    assert!(!run.is_success());
    let flaky = run.tally().of(Kind::Flaky);
    assert!(flaky >= 1);

    let text = text::report(&run, text::Style::default());
    assert!(
        text.contains("  decode: flaky: of 4 times\n    2 times pass\n    2 times packets differ at item 0"),
        "{text}"
    );
    let junit = junit::report(&run).expect("XML");
    assert!(junit.contains("type=\"flaky\""), "{junit}");
    let json = json::report(&run).expect("JSON");
    assert!(json.contains("\"verdict\": \"flaky\""), "{json}");
    assert_eq!(json::read(&json).expect("its own"), run);

    // A baseline cannot know it, however its line is written.
    let line = |outcome: &str| {
        let head = format!("schema = 1\nsubject = \"{}\"\n", run.subject.name);
        format!("{head}[[known]]\nreason = \"r\"\nfinding = \"f\"\nchecks = [\"{CASE} decode: {outcome}\"]\n")
    };
    assert!(Baseline::parse(&line("flaky")).is_err());
    let baseline = Baseline::parse(&line("fail packets 0")).expect("sound");
    let mut known = run.clone();
    let today = Date { year: 2026, month: 1, day: 1 };
    let stale = baseline::apply(&mut known, &baseline, today, false);
    assert_eq!(stale.first().map(|stale| &stale.why), Some(&Staleness::Otherwise(String::from("flaky"))));
    assert_eq!(known.tally().of(Kind::Flaky), flaky);
    let update = baseline::update(&line("fail packets 0"), &run, true).expect("sound");
    assert!(update.removed.is_empty() && update.text.contains(&format!("{CASE} decode: fail packets 0")));
    assert!(!update.text.contains("flaky"), "{}", update.text);

    // A repeatable error is distinguished from it, and so is state of earlier cases.
    assert_eq!(bad_verdicts(&judged_as("behaves", patient(), 3)), [""; 0]);
    let leaks = bad_verdicts(&judged_as("leaks", patient(), 3));
    assert!(leaks[0].starts_with(&format!("{CASE} decode: right in a new process")), "{leaks:?}");
    let crashes = bad_verdicts(&judged_as("exits", patient(), 2));
    assert!(crashes.len() == 3 && crashes.iter().all(|line| line.contains("crashed")), "{crashes:?}");
}

#[test]
fn hello_must_be_right() {
    let error = |mode: &str, limits| {
        let acme = Acme::new(mode);
        let message = process::subject(&acme.command, &limits).err().map(|error| error.to_string());
        assert_eq!(acme.left(), [""; 0], "{mode}");
        message.expect("no hello")
    };
    assert_eq!(error("wrong-nonce", patient()), "its nonce is not that of the request");
    let long = "its name, version or issues have 2009 bytes, more than 1024";
    assert_eq!(error("long-name", patient()), long);
    assert_eq!(
        error("dies-in-hello", patient()),
        "it exited with status 3 instead of an answer; its standard error ends with:\nacme: no licence"
    );
    let begin = Instant::now();
    let short = Limits { hello: Duration::from_secs(1), scale: 1.0, ..patient() };
    assert_eq!(error("hangs-in-hello", short), "it did not answer within 1s");
    assert!(begin.elapsed() >= Duration::from_secs(1));
}
