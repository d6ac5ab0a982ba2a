//! `fuzz`, and what its findings become.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use crate::commands::{run, text};

/// A support packet, a start at 0x1000, a branch whose address is 8 bytes on, the end: worked out by hand from ET 7.
const STREAM: &str = "protocol = \"riscv_etrace\"\n\n[[code]]\naddress = \"0x1000\"\n\
                      bytes = \"13 00 00 00 13 00 00 00 63 00 00 00 13 00 00 00\"\n---\n\
                      \x01\x1f\x03\x73\x00\x04\x01\x12\x01\x5f";

/// A directory in which commands name files by their whole path.
struct Directory(TempDir);

impl Directory {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a directory"))
    }

    fn path(&self, name: &str) -> String {
        self.0.path().join(name).to_str().expect("text").to_owned()
    }

    fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> String {
        let path = PathBuf::from(self.path(name));
        fs::create_dir_all(path.parent().expect("a directory")).expect("made");
        fs::write(&path, bytes).expect("writable");
        self.path(name)
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }
}

/// What is printed, of a verb that ends with this exit code.
fn said(arguments: &[&str], code: i32) -> String {
    let output = run(arguments);
    let all = text(&output.stdout) + &text(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {all}");
    all
}

#[test]
fn a_project_is_written_for_each_language() {
    let directory = Directory::new();
    for (lang, decoder) in [("rust", "src/lib.rs"), ("c", "example.c"), ("cpp", "example.cpp")] {
        let project = directory.path(lang);
        let arguments = ["fuzz", "init", "--lang", lang, "--family", "arm-pft", &project];
        assert!(said(&arguments, 0).contains("a fuzz project for arm_pft with "));
        let file = |name: &str| directory.read(&format!("{lang}/{name}"));
        assert!(file("src/lib.rs").contains("arm_pft::ArmPft as Protocol") && !file(decoder).is_empty());
        assert!(file("dictionary.txt").lines().count() > 100);
        let manifest = file("Cargo.toml");
        let alone = r#"default-features = false, features = ["arm_pft"] }"#;
        let differential = manifest.lines().find(|line| line.starts_with("traceproof-differential = {"));
        assert!(differential.is_some_and(|line| line.ends_with(alone)), "{manifest}");
        let vectors = manifest.lines().find(|line| line.starts_with("traceproof-vectors = {"));
        assert!(vectors.is_some_and(|line| line.ends_with(r#"["cases", "arm_pft"] }"#)), "{manifest}");
        assert!(!manifest.contains("traceproof-conformance ="), "{manifest}");
        let seeds = Path::new(&project).join("corpus/decode").read_dir().expect("seeds").count();
        assert!(seeds > 300, "{seeds}");
        assert!(said(&arguments, 2).contains("exists; nothing was written"));
    }
}

#[test]
fn a_finding_becomes_a_case_that_the_reference_passes() {
    let directory = Directory::new();
    let finding = directory.write("found.stream", STREAM);
    let case = directory.path("suite/riscv_etrace/found.toml");
    let shown = said(&["fuzz", "promote", &finding, "--id", "etr-9001", "-o", &case], 0);
    assert!(shown.contains("etr-9001 written to "), "{shown}");
    let text = directory.read("suite/riscv_etrace/found.toml");
    let refused = said(&["fuzz", "promote", &finding, "--id", "etr-9002", "-o", &case], 2);
    assert!(refused.contains("found.toml exists; nothing was written"), "{refused}");
    assert_eq!(directory.read("suite/riscv_etrace/found.toml"), text);
    for part in ["kind = \"fuzzed\"", "target = \"found\"", "RVET-", "\"73 00 04\""] {
        assert!(text.contains(part), "no {part}: {text}");
    }
    let suite = directory.path("suite");
    let judged = said(&["conformance", "--suite", &suite, "--generated", "0", "--no-real-programs"], 0);
    assert!(judged.contains(" of 1 case\n"), "{judged}");
    assert!(
        said(&["fuzz", "promote", &finding, "--subject", "reference"], 2)
            .contains("agrees with the reference")
    );
}

#[test]
fn a_wrong_decoder_fails_the_case_of_its_finding() {
    if !Command::new("python3").arg("--version").output().is_ok_and(|output| output.status.success()) {
        eprintln!("NOTICE: there is no python3; a finding of a program is NOT promoted");
        return;
    }
    let directory = Directory::new();
    let adaptor = directory.path("acme");
    said(&["adaptor", "new", "--lang", "python", &adaptor], 0);
    let right = directory.read("acme/example.py");
    let wrong = right.replace("{address - (top << width):+#x}", "{address - (top << width) + 2:+#x}");
    assert_ne!(wrong, right);
    directory.write("acme/example.py", wrong);
    let (subject, finding) = (directory.path("acme/subject.toml"), directory.write("found.stream", STREAM));
    let case = directory.path("suite/riscv_etrace/found.toml");
    fs::create_dir_all(directory.path("suite/riscv_etrace")).expect("made");
    let promote = ["fuzz", "promote", &finding, "--subject", &subject, "--timeout-scale", "60", "-o", &case];
    let shown = said(&promote, 0);
    assert!(shown.contains("kind: packets: address / address (address)"), "{shown}");
    let text = directory.read("suite/riscv_etrace/found.toml");
    assert!(!text.contains("73 00 04") && text.contains("[packets.address]"), "not shrunk: {text}");
    let judge =
        ["conformance", "--suite", &directory.path("suite"), "--generated", "0", "--no-real-programs"];
    said(&judge, 0);
    said(&[&judge[..], &["--subject", &subject, "--timeout-scale", "60"]].concat(), 1);
}

#[test]
fn what_is_no_stream_is_refused() {
    let directory = Directory::new();
    for (name, bytes) in
        [("none", "x"), ("other", "protocol = \"riscv\"\n---\n"), ("half", "protocol = \"arm_pft\"")]
    {
        let file = directory.write(name, bytes);
        assert!(said(&["fuzz", "promote", &file], 2).contains(name));
    }
    assert!(said(&["fuzz", "promote", &directory.path("missing")], 2).contains("missing"));
}

#[test]
fn a_minimized_corpus_keeps_one_of_two_that_exercise_the_same() {
    let directory = Directory::new();
    directory.write("corpus/a", STREAM);
    directory.write("corpus/b", STREAM);
    directory.write("corpus/crash", "x");
    let (corpus, smaller) = (directory.path("corpus"), directory.path("smaller"));
    let shown = said(&["fuzz", "minimize", &corpus, &smaller], 0);
    assert_eq!(shown, "1 of 3 files kept; 1 are no streams\n");
    assert_eq!(directory.read("smaller/a"), STREAM);
    said(&["fuzz", "minimize", &corpus, &smaller], 2);
}

#[test]
fn seeds_near_the_greatest_number_are_refused() {
    let all = ["conformance", "--filter", "etr-0001", "--seed", "18446744073709551610"];
    let refused = said(&[&all[..], &["--generated", "6"]].concat(), 2);
    assert!(refused.contains("the highest is 18446744073709551609"), "{refused}");
    said(&[&all[..], &["--generated", "5"]].concat(), 0);
}

#[test]
fn a_misspelt_reading_is_refused_with_the_known_names() {
    let directory = Directory::new();
    let subject = directory.write("acme.toml", "command = [\"true\"]\nreadings = [\"etm-pc1\"]\n");
    let refused = said(&["conformance", "--subject", &subject], 2);
    assert!(
        refused.contains("no reading is called `etm-pc1`") && refused.contains(", etm-pc-1, "),
        "{refused}"
    );
}

#[test]
fn names_do_not_command_the_terminal() {
    let directory = Directory::new();
    let case = said(&["show", "etr-0203"], 0);
    let title = case.lines().find(|line| line.starts_with("title = ")).expect("a title");
    directory.write("suite/riscv_etrace/mine.toml", case.replace(title, r#"title = "\u001b[2Jgone""#));
    let shown = said(&["explain", "etr-0203", "--suite", &directory.path("suite")], 0);
    assert!(shown.contains(r"\u{1b}[2Jgone") && !shown.contains('\u{1b}'), "{shown}");
}
