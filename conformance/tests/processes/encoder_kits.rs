//! The kits for encoders in other languages: their examples, right and broken, are built, run and judged.

use std::fs;
use std::path::Path;
use std::process::Command;

use traceproof_conformance::adaptor::kit::{KitFile, Language};
use traceproof_conformance::process::{self as processes, Limits, SubjectFile};
use traceproof_conformance::report::text;
use traceproof_conformance::smoke::{self, Outcome};
use traceproof_conformance::suite::Directories;
use traceproof_conformance::verdict::Kind;
use traceproof_conformance::{Direction, Options, Run, Selection, run};
use traceproof_vectors::{Family, ProtocolId};

use crate::installed;

/// Writes the kit, with one text of the example replaced.
fn write(directory: &Path, language: Language, replaced: Option<(&str, &str)>) {
    for KitFile { path, text } in language.encoder_files().expect("a kit") {
        let mut text = (*text).to_owned();
        if let Some((from, to)) = replaced.filter(|_| path.starts_with("example")) {
            assert_eq!(text.matches(from).count(), 1, "{from}");
            text = text.replace(from, to);
        }
        fs::write(directory.join(path), text).expect("writable");
    }
}

fn compile(directory: &Path) {
    let built = Command::new("cc")
        .args(["-std=c99", "-O1", "-Wall", "-Wextra", "-Werror", "-DTDUT_ENCODER"])
        .args(["-o", "adaptor", "example.c", "tdut.c"])
        .current_dir(directory)
        .output()
        .expect("it starts");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
}

fn judged(directory: &Path) -> Run {
    let file = directory.join("subject.toml");
    let SubjectFile { command, limits } = SubjectFile::read(&file).expect("a subject");
    // The machine may have other things to do.
    let limits = Limits { scale: 60.0, ..limits };
    let subject = processes::subject(&command, &limits).expect("it says hello");
    let selection = Selection { families: vec![Family::ArmEtm], ..Selection::default() };
    let options = Options { selection, programs: false, ..Options::default() };
    run(&subject, &options, &|_| {}).expect("the suite is sound")
}

/// Every case of the formatter that has a stimulus and needs nothing that the example declines.
fn is_right(run: &Run) {
    assert!(run.is_success(), "{}", text::report(run, text::Style::default()));
    let tally = &run.tallies()[&(ProtocolId::ArmEtmFormatter, Direction::Encode)];
    let right = tally.of(Kind::Pass);
    assert!(right >= 8 && right + tally.of(Kind::Unsupported) == tally.total(), "{tally:?}");
}

/// The mistake shows in some of the cases, as a failure and in no other way.
fn is_wrong(run: &Run) {
    assert!(!run.is_success());
    let tally = &run.tallies()[&(ProtocolId::ArmEtmFormatter, Direction::Encode)];
    let (failed, passed) = (tally.of(Kind::Fail), tally.of(Kind::Pass));
    let judged = tally.total() - tally.of(Kind::Unsupported);
    assert!(failed > 0 && passed > 0 && failed + passed == judged, "{tally:?}");
}

#[test]
fn the_c_kit_for_encoders_works() {
    if !installed::is_there("cc") {
        return;
    }
    let directory = tempfile::tempdir().expect("a directory");
    write(directory.path(), Language::C, None);
    compile(directory.path());
    is_right(&judged(directory.path()));
    // It takes bytes of IDs that no source can have.
    write(
        directory.path(),
        Language::C,
        Some(("NULL_ID < id && id <= LAST_SOURCE", "NULL_ID < id && id < 128")),
    );
    compile(directory.path());
    is_wrong(&judged(directory.path()));
}

#[test]
fn the_python_kit_for_encoders_works() {
    if !installed::is_there("python3") {
        return;
    }
    let directory = tempfile::tempdir().expect("a directory");
    write(directory.path(), Language::Python, None);
    is_right(&judged(directory.path()));
    write(directory.path(), Language::Python, Some(("in SOURCES:", "is not None:")));
    is_wrong(&judged(directory.path()));
}

#[test]
fn smoke_finds_the_kit_for_encoders_fit() {
    if !installed::is_there("python3") {
        return;
    }
    let directory = tempfile::tempdir().expect("a directory");
    write(directory.path(), Language::Python, None);
    let SubjectFile { command, limits } =
        SubjectFile::read(&directory.path().join("subject.toml")).expect("a subject");
    let limits = Limits { scale: 60.0, ..limits };
    let report = smoke::of_program(&command, &limits, &Directories::default()).expect("the suite is sound");
    assert!(report.is_success(), "{report:?}");
    let encodes = report.probes.iter().filter(|probe| probe.question.name == "encodes");
    assert!(encodes.map(|probe| &probe.outcome).any(|outcome| matches!(outcome, Outcome::Pass(_))));
}
