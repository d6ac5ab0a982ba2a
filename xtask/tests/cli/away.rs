//! The program in an empty directory, with nothing of the checkout in its environment.
//!
//! In debug builds it reads suites and programs from the source. `TRACEPROOF_BINARY` names the program of a release
//! archive, which has them inside: `.ci/outside` proves that the checkout is not in it, and runs these tests with it.

use std::env;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread::sleep;
use std::time::Duration;

use tempfile::TempDir;

/// Support, start at 0x1000, address +8, ended: three instructions, worked out by hand from ET 7.
const TRACE: [u8; 10] = [0x01, 0x1f, 0x03, 0x73, 0x00, 0x04, 0x01, 0x12, 0x01, 0x5f];

/// A copy of the program in one directory, and another that is empty.
struct Away {
    program: PathBuf,
    empty: PathBuf,
    _directory: TempDir,
}

impl Away {
    fn new() -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let built = env::var_os("TRACEPROOF_BINARY").map(PathBuf::from);
        let built = built.unwrap_or_else(|| PathBuf::from(env!("CARGO_BIN_EXE_traceproof")));
        let program = directory.path().join(built.file_name().expect("a file"));
        fs::copy(&built, &program).expect("copied");
        let empty = directory.path().join("empty");
        fs::create_dir(&empty).expect("made");
        Self { program, empty, _directory: directory }
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(&self.program);
        command.args(arguments).current_dir(&self.empty).stdin(Stdio::null()).env_clear();
        for name in ["PATH", "HOME", "TMPDIR", "SystemRoot"] {
            if let Some(value) = env::var_os(name) {
                command.env(name, value);
            }
        }
        // Another thread's child may have the copy open for writing until it executes its own program.
        loop {
            match command.output() {
                Err(error) if error.kind() == ErrorKind::ExecutableFileBusy => {
                    sleep(Duration::from_millis(10));
                }
                output => return output.expect("starts"),
            }
        }
    }

    /// What is printed, of a verb that ends with this exit code.
    fn text(&self, arguments: &[&str], code: i32) -> String {
        let output = self.run(arguments);
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("text");
        let all = text(&output.stdout) + &text(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {all}");
        assert!(!all.contains("cargo xtask"), "{arguments:?}: {all}");
        all
    }

    fn write(&self, path: &str, bytes: &[u8]) {
        let path = self.empty.join(path);
        fs::create_dir_all(path.parent().expect("a directory")).expect("made");
        fs::write(path, bytes).expect("written");
    }

    fn has(&self, path: &str) -> bool {
        self.empty.join(path).exists()
    }
}

#[test]
fn cases_requirements_and_programs_are_there() {
    let away = Away::new();
    let list = away.text(&["list"], 0);
    for id in ["etr-0001 ", "etm-0001 ", "ita-0001 "] {
        assert!(list.contains(id), "{id}");
    }
    assert!(away.text(&["show", "etr-0203"], 0).starts_with("schema = 1\n"));
    assert!(away.text(&["explain", "etr-0203"], 0).contains("etr-0203"));
    assert!(away.text(&["coverage", "RVET-DEC-016"], 0).contains("RVET-DEC-016"));
    assert!(away.text(&["programs", "list"], 0).contains("mix.rv64gc"));
    let judged = away.text(&["conformance", "--filter", "*/packets/*", "--generated", "0"], 0);
    assert!(judged.contains("PASS: "), "{judged}");
    let program = away.text(&["conformance", "--filter", "levels.rv32/delta", "--real-programs"], 0);
    assert!(program.contains("1 round trip"), "{program}");
    let killed = away.text(&["saboteurs", "--family", "itanium-pmu"], 0);
    assert!(killed.contains("itanium_pmu"), "{killed}");
    assert!(away.text(&["mutants", "--list"], 2).contains("only in a checkout"));
    assert!(fs::read_dir(&away.empty).expect("there").next().is_none(), "something was left behind");
}

#[test]
fn traces_are_decoded_and_encoded() {
    let away = Away::new();
    away.write("nops.bin", &[0x13, 0, 0, 0].repeat(16));
    away.write("trace.bin", &TRACE);
    let target = ["--family", "riscv-etrace", "--section", "0x1000:nops.bin"];
    let decoded = away.text(&[&["decode"], &target[..], &["trace.bin"]].concat(), 0);
    assert!(decoded.contains("0x1000"), "{decoded}");
    let taken_apart = away.text(&[&["explain"], &target[..], &["--trace", "trace.bin"]].concat(), 0);
    assert!(taken_apart.contains("0x1000"), "{taken_apart}");
    away.write("run.pc", &[0x1000_u64, 0x1004, 0x1008].map(u64::to_le_bytes).concat());
    let encode =
        [&["encode"], &target[..], &["--execution", "run.pc", "--format", "pc", "-o", "own.bin"]].concat();
    away.text(&encode, 0);
    let again = away.text(&[&["decode"], &target[..], &["--layer", "events", "own.bin"]].concat(), 0);
    assert!(again.contains("0x1000"), "{again}");
}

#[test]
fn adaptors_are_begun_and_judged() {
    let away = Away::new();
    for (language, file) in [("python", "example.py"), ("c", "tdut.c"), ("rust", "src/main.rs")] {
        let made = away.text(&["adaptor", "new", "--lang", language, language], 0);
        assert!(
            made.contains(&format!("\ntraceproof conformance --subject {language}/subject.toml\n")),
            "{made}"
        );
        assert!(away.has(&format!("{language}/{file}")) && away.has(&format!("{language}/subject.toml")));
    }
    // There is no checkout with the crates, and none next to this program.
    let manifest = fs::read_to_string(away.empty.join("rust/Cargo.toml")).expect("written");
    assert!(
        manifest.contains("traceproof-conformance = { git = ") && !manifest.contains("path ="),
        "{manifest}"
    );

    if !Command::new("python3").arg("--version").output().is_ok_and(|output| output.status.success()) {
        eprintln!("NOTICE: there is no python3; a program as a subject is NOT tested");
        return;
    }
    let subject = ["--subject", "python/subject.toml", "--timeout-scale", "60"];
    assert!(away.text(&[&["smoke"], &subject[..]].concat(), 0).contains("is fit to be judged"));
    let judged = away.text(&[&["conformance", "--filter", "etr-0001"], &subject[..]].concat(), 0);
    assert!(judged.contains("subject python 1.0, suite"), "{judged}");
}

/// The shipped files as files are a suite like any other, and one with a mistake is refused with its place.
#[test]
fn another_suite_takes_the_place_of_the_shipped_one() {
    let away = Away::new();
    away.text(&["export", "files"], 0);
    assert!(away.has("files/schema/case.arm_etm.schema.json") && away.has("files/programs/riscv_etrace"));
    away.text(&["export", "files"], 2);
    assert_eq!(away.text(&["list", "--suite", "files"], 0), away.text(&["list"], 0));

    let case = away.text(&["show", "etr-0203"], 0);
    away.write("own/riscv_etrace/mine.toml", case.as_bytes());
    let list = away.text(&["list", "--suite", "own"], 0);
    assert_eq!((list.lines().count(), list.contains("riscv_etrace/mine.toml")), (1, true), "{list}");
    let judged = away.text(&["conformance", "--suite", "own", "--filter", "etr-0203", "--generated", "0"], 0);
    assert!(judged.contains(" of 1 case\n"), "{judged}");

    away.write("own/riscv_etrace/mine.toml", case.replace("schema = 1", "schema = 1\ntilte = ''").as_bytes());
    let refused = away.text(&["conformance", "--suite", "own"], 5);
    let file: PathBuf = ["own", "riscv_etrace", "mine.toml"].iter().collect();
    assert!(refused.contains(&format!("{}:2:1: ", file.display())), "{refused}");
}

#[test]
fn a_directory_that_holds_no_suite_is_refused() {
    let away = Away::new();
    assert!(away.text(&["list", "--suite", "no/such"], 2).contains("no/such"));
    away.write("wrong/readme.txt", b"");
    assert!(away.text(&["list", "--suite", "wrong"], 2).contains("directories named riscv_etrace, "));
    away.write("wrong/riscv_etrac/mine.toml", b"");
    assert!(away.text(&["list", "--suite", "wrong"], 2).contains("there is no protocol of this name"));
    away.write("clauses/riscv_etrace/readme.txt", b"");
    away.write("clauses/clauses/riscv_etrace.toml", b"family = 'riscv_etrace'\nclause = 1\n");
    let refused = away.text(&["list", "--suite", "clauses"], 5);
    let file: PathBuf = ["clauses", "clauses", "riscv_etrace.toml"].iter().collect();
    assert!(refused.contains(&format!("{}:2:", file.display())), "{refused}");
}

/// A report about another suite names it.
#[test]
fn commands_of_reports_name_the_suite() {
    let away = Away::new();
    let case = away.text(&["show", "etr-0203"], 0);
    let wrong = case.replacen("wire = [", "wire = [\"01 1f\", ", 1);
    assert_ne!(case, wrong);
    away.write("own/riscv_etrace/mine.toml", wrong.as_bytes());
    let failed = away.text(&["conformance", "--suite", "own", "--filter", "etr-0203", "--generated", "0"], 1);
    for command in ["conformance --filter etr-0203", "explain etr-0203"] {
        assert!(failed.contains(&format!("traceproof {command} --suite own\n")), "{failed}");
    }
    assert!(Path::new(&away.empty).join("own").exists());
}
