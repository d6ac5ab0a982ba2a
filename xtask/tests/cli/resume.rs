//! A run that is killed is finished by the next one.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// Far more than the first results take.
const DEADLINE: Duration = Duration::from_secs(120);

/// Many short checks, one after the other.
const JUDGE: &[&str] = &[
    "conformance",
    "--family",
    "riscv-etrace",
    "--filter",
    "*/generated/*",
    "--filter",
    "mix.rv32imc/default",
    "--generated",
    "300",
    "--jobs",
    "1",
    "--json",
    "results.json",
];

fn start(directory: &Path, more: &[&str]) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_traceproof"));
    command.args(JUDGE).args(more).current_dir(directory).env_remove("TRACEPROOF_PROGRAM");
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("starts")
}

fn results(directory: &Path) -> serde_json::Value {
    let text = fs::read_to_string(directory.join("results.json")).expect("results");
    serde_json::from_str(&text).expect("JSON")
}

fn lines(journal: &Path) -> usize {
    fs::read(journal).map_or(0, |bytes| bytes.iter().filter(|byte| **byte == b'\n').count())
}

/// Starts a run, and kills it when some results are on disk. `signal`: what `kill` sends.
fn killed(directory: &Path, signal: &str) {
    let journal = directory.join("results.json.journal");
    let mut child = start(directory, &[]);
    let limit = Instant::now() + DEADLINE;
    while lines(&journal) < 6 {
        assert!(Instant::now() < limit, "no results came");
        thread::sleep(Duration::from_millis(1));
    }
    let id = child.id().to_string();
    assert!(Command::new("kill").args([signal, &id]).status().expect("starts").success());
    child.wait().expect("reaped");
}

#[test]
fn a_run_that_is_killed_is_finished() {
    let (whole, cut) = (tempfile::tempdir().expect("a directory"), tempfile::tempdir().expect("a directory"));
    assert!(start(whole.path(), &[]).wait().expect("ends").success());
    assert!(!whole.path().join("results.json.journal").exists(), "a whole run keeps nothing");
    let expected = results(whole.path());

    killed(cut.path(), "-KILL");
    let journal = cut.path().join("results.json.journal");
    assert!(!cut.path().join("results.json").exists(), "it was killed before its end");
    let known = lines(&journal) - 1;
    assert!(known < expected["cases"].as_array().expect("cases").len(), "{known}");

    // What is in the file is not judged again: a changed title stays.
    let text = fs::read_to_string(&journal).expect("there");
    let changed = text.replacen("A generated execution", "A result of the first run", 1);
    assert_ne!(text, changed);
    fs::write(&journal, changed).expect("written");

    let ended = start(cut.path(), &["--resume", "results.json.journal"]).wait().expect("ends");
    assert!(ended.success());
    let finished = results(cut.path()).to_string();
    assert!(finished.contains("A result of the first run"));
    assert_eq!(
        finished.replacen("A result of the first run", "A generated execution", 1),
        expected.to_string()
    );
    assert!(!journal.exists(), "a run that came to its end keeps nothing");
}

#[test]
fn a_run_that_is_terminated_reports_and_can_be_finished() {
    let files = tempfile::tempdir().expect("a directory");
    killed(files.path(), "-TERM");
    let part = results(files.path());
    assert_eq!(part["incomplete"], true);
    let journal = files.path().join("results.json.journal");
    assert!(lines(&journal) > 6, "the results are kept");
    // Judged otherwise, they would be other results.
    let other = start(files.path(), &["--resume", "results.json.journal", "--direction", "decode"]);
    assert_eq!(other.wait_with_output().expect("ends").status.code(), Some(2));
    let ended = start(files.path(), &["--resume", "results.json.journal"]).wait().expect("ends");
    assert!(ended.success());
    let finished = results(files.path());
    assert_eq!(finished.get("incomplete"), None);
    let count = |run: &serde_json::Value| run["cases"].as_array().expect("cases").len();
    assert!(count(&finished) > count(&part));
}
