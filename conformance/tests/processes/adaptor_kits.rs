//! The kits for adaptors in other languages: their examples are built, run and judged.

use std::fs;
use std::path::{Path, PathBuf};
use std::process;

use traceproof_conformance::process::{self as processes, Limits, SubjectFile};
use traceproof_conformance::report::text;
use traceproof_conformance::verdict::Kind;
use traceproof_conformance::{Direction, Options, Run, Selection, run};
use traceproof_vectors::{Family, ProtocolId};

use crate::installed;

fn kit(language: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("adaptors").join(language)
}

/// Judges the subject of a file over the shipped cases and programs of the family that the examples read.
fn judged(file: &Path) -> Run {
    let SubjectFile { command, limits } = SubjectFile::read(file).expect("a subject");
    // The machine may have other things to do.
    let limits = Limits { scale: 60.0, ..limits };
    let subject = processes::subject(&command, &limits).expect("it says hello");
    let selection = Selection { families: vec![Family::RiscvEtrace], ..Selection::default() };
    let options = Options { selection, programs: true, ..Options::default() };
    run(&subject, &options, &|_| {}).expect("the suite is sound")
}

/// What the examples claim they do right, and it is not little.
fn is_right(run: &Run) {
    assert!(run.is_success(), "{}", text::report(run, text::Style::default()));
    let passed = run.tallies()[&(ProtocolId::RiscvEtrace, Direction::Decode)].of(Kind::Pass);
    assert!(passed >= 380, "only {passed} cases were judged");
    // The examples read packets and follow no program.
    let programs = run.program_tally();
    assert!(programs.total() >= 100 && programs.of(Kind::Unsupported) == programs.total(), "{programs:?}");
}

#[test]
fn the_python_kit_works() {
    if installed::is_there("python3") {
        is_right(&judged(&kit("python").join("subject.toml")));
    }
    let lines = fs::read_to_string(kit("python").join("tdut.py")).expect("there").lines().count();
    assert!(lines <= 60, "it is said to be short");
}

#[test]
fn the_c_kit_works() {
    if !installed::is_there("cc") {
        return;
    }
    let directory = tempfile::tempdir().expect("a directory");
    for file in ["tdut.h", "tdut.c", "example.c", "subject.toml"] {
        fs::copy(kit("c").join(file), directory.path().join(file)).expect("there");
    }
    let built = process::Command::new("cc")
        .args(["-std=c99", "-O1", "-Wall", "-Wextra", "-Werror", "-o", "adaptor", "example.c", "tdut.c"])
        .current_dir(directory.path())
        .output()
        .expect("it starts");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    is_right(&judged(&directory.path().join("subject.toml")));
}

#[test]
fn the_rust_kit_works() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("subject.toml");
    fs::write(&file, format!("command = [{:?}]\n", env!("CARGO_BIN_EXE_traceproof-example-adaptor")))
        .expect("writable");
    is_right(&judged(&file));
}
