//! `vectors streams` and `vectors answers`: logs that a testbench would write, made of what the pack expects.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

fn traceproof(directory: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_traceproof"));
    command.args(arguments).current_dir(directory).env_remove("TRACEPROOF_PROGRAM");
    command.output().expect("starts")
}

/// The exit code, and both outputs.
fn said(directory: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    let done = traceproof(directory, arguments);
    let text = String::from_utf8_lossy(&done.stdout).into_owned() + &String::from_utf8_lossy(&done.stderr);
    (done.status.code(), text)
}

fn packed(filter: &str) -> (tempfile::TempDir, Value) {
    let directory = tempfile::tempdir().expect("a directory");
    let arguments = ["vectors", "streams", "--family", "arm-pft", "--filter", filter, "-o", "pack"];
    let (code, text) = said(directory.path(), &arguments);
    assert_eq!(code, Some(0), "{text}");
    let (code, text) = said(directory.path(), &["vectors", "check", "pack"]);
    assert_eq!(code, Some(0), "{text}");
    let text = fs::read_to_string(directory.path().join("pack/manifest.json")).expect("a manifest");
    (directory, serde_json::from_str(&text).expect("JSON"))
}

/// Lines for each case, and the end for a sheet.
fn log(manifest: &Value, sheet: &str, lines: impl Fn(&Value) -> Option<String>) -> String {
    let mut text = String::from("traceproof-answers 1\n");
    for entry in manifest["cases"].as_array().expect("cases") {
        if let Some(lines) = lines(entry) {
            text.push_str(&format!("C {}\n{lines}", entry["number"]));
        }
    }
    let sheet = &manifest[sheet];
    text + &format!("R {} {}\nE\n", sheet["rows"], sheet["checksum"].as_str().expect("a checksum"))
}

fn file(directory: &Path, entry: &Value, form: &str) -> String {
    let name = format!("pack/{}.{form}", entry["id"].as_str().expect("an id"));
    fs::read_to_string(directory.join(name)).expect("a file")
}

#[test]
fn answers_of_decoders_are_judged_by_what_the_pack_expects() {
    let (directory, manifest) = packed("arm_pft/atoms/");
    let directory = directory.path();
    let lines = |entry: &Value| -> Option<String> {
        Some(file(directory, entry, "expect").lines().map(|line| format!("J {line}\n")).collect())
    };
    let right = log(&manifest, "bytes", lines);
    fs::write(directory.join("right.log"), &right).expect("writable");
    let judge = |log: &str, more: &[&str]| {
        said(directory, &[&["vectors", "answers", "--pack", "pack", "--log", log], more].concat())
    };
    let (code, text) = judge("right.log", &[]);
    assert_eq!(code, Some(0), "{text}");
    // Another packet in one case.
    let wrong = right.replacen("J {", "X it came late\nJ {\"packet\":\"trigger\"}\nJ {", 1);
    fs::write(directory.join("wrong.log"), wrong).expect("writable");
    let (code, text) = judge("wrong.log", &["--json", "results.json", "--junit", "results.xml"]);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("it came late") && text.contains("trigger"), "{text}");
    let junit = fs::read_to_string(directory.join("results.xml")).expect("JUnit");
    assert!(junit.contains("failures=\"1\""), "{junit}");
    fs::read_to_string(directory.join("results.json")).expect("JSON");
    // A simulation that was fed something else.
    let sum = manifest["bytes"]["checksum"].as_str().expect("a checksum");
    fs::write(directory.join("other.log"), right.replace(sum, "12345678")).expect("writable");
    let (code, text) = judge("other.log", &[]);
    assert_eq!(code, Some(3), "{text}");
    assert!(text.contains("did not see the rows"), "{text}");
}

#[test]
fn answers_of_encoders_are_judged_by_their_bytes() {
    let (directory, manifest) = packed("arm_pft/encoder");
    let directory = directory.path();
    let lines = |entry: &Value| {
        entry.get("steps")?;
        let sent = file(directory, entry, "sent");
        Some(
            sent.lines()
                .filter_map(|line| line.split_once(' '))
                .map(|(_, bytes)| format!("W {bytes}\n"))
                .collect(),
        )
    };
    let right = log(&manifest, "stimulus", lines);
    assert!(right.contains("\nW "), "no case has stimulus");
    fs::write(directory.join("right.log"), &right).expect("writable");
    let (code, text) = said(directory, &["vectors", "answers", "--pack", "pack", "--log", "right.log"]);
    assert_eq!(code, Some(0), "{text}");
    let wrong = right.replacen("\nW ", "\nW 0c", 1);
    fs::write(directory.join("wrong.log"), wrong).expect("writable");
    let (code, text) = said(directory, &["vectors", "answers", "--pack", "pack", "--log", "wrong.log"]);
    assert_eq!(code, Some(1), "{text}");
}

#[test]
fn a_pack_of_other_cases_is_refused() {
    let (directory, manifest) = packed("arm_pft/atoms/");
    let directory = directory.path();
    let digest = manifest["cases"][0]["digest"].as_str().expect("a digest");
    let path = directory.join("pack/manifest.json");
    let text = fs::read_to_string(&path).expect("a manifest");
    fs::write(&path, text.replacen(digest, &"0".repeat(64), 1)).expect("writable");
    let lines = |_: &Value| Some(String::from("J {\"packet\":\"trigger\"}\n"));
    fs::write(directory.join("a.log"), log(&manifest, "bytes", lines)).expect("writable");
    let (code, text) = said(directory, &["vectors", "answers", "--pack", "pack", "--log", "a.log"]);
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("make the pack again"), "{text}");
    let (code, text) = said(directory, &["vectors", "streams", "--family", "arm-pft", "-o", "pack"]);
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("must be empty"), "{text}");
}
