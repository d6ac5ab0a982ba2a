//! What the loader of suites says about bad files: every error, with its file, line and column.

use std::fs;
use std::path::Path;

use traceproof_vectors::case::{CaseFile, SuiteError, check, load};
use traceproof_vectors::riscv_etrace::RiscvEtrace;

const CASE: &str = r#"schema = 1
id = "etr-0001"
family = "riscv_etrace"
title = "A start packet"
level = "must"
clauses = ["RVET-PKT-011"]
polarity = "positive"
catches = "a field too many"
provenance = { kind = "example", source = "X03" }
program = """
.org 0x1000
A: nop
"""
wire = ["73 00 04"]
events = [
  { context = { privilege = 3 } },
  { retire = "A" },
]
"#;

const CLAUSES: &str = r#"family = "riscv_etrace"
[[clause]]
id = "RVET-PKT-011"
summary = "Layout"
source = "ET 7.2"
kind = "packet"
level = "must"
scope = "core"
violable = false
[[clause]]
id = "RVET-DISC-001"
summary = "Discovery"
source = "ET 10.1"
kind = "control"
level = "must"
scope = "control"
violable = false
untestable = "registers"
"#;

/// A directory with `suites` and `clauses`.
struct Project(tempfile::TempDir);

impl Project {
    fn new(files: &[(&str, &str)]) -> Self {
        let project = Self(tempfile::tempdir().expect("a directory"));
        project.write("clauses/riscv_etrace.toml", CLAUSES);
        project.write("suites/riscv_etrace/readme.txt", "not a case");
        for (path, text) in files {
            project.write(&format!("suites/riscv_etrace/{path}"), text);
        }
        project
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.0.path().join(path);
        fs::create_dir_all(path.parent().expect("a directory")).expect("created");
        fs::write(path, text).expect("written");
    }

    fn load(&self) -> Result<Vec<CaseFile<RiscvEtrace>>, Vec<SuiteError>> {
        load(&self.0.path().join("suites").into())
    }

    fn errors(&self) -> Vec<String> {
        let root = self.0.path();
        match check::<RiscvEtrace>(&root.join("suites").into(), &root.join("clauses").into()) {
            Ok(_) => Vec::new(),
            Err(errors) => errors.iter().map(ToString::to_string).collect(),
        }
    }
}

/// The errors of a suite that holds only this case.
fn errors_of(text: &str) -> Vec<String> {
    Project::new(&[("core/start.toml", text)]).errors()
}

/// The case with a replacement, which must be one.
fn with(from: &str, to: &str) -> String {
    assert!(CASE.contains(from), "{from}");
    CASE.replace(from, to)
}

#[test]
fn good_cases_are_loaded_in_order_of_their_paths() {
    let second = with("etr-0001", "etr-0002");
    let third = with("etr-0001", "etr-10003");
    let project = Project::new(&[("b/a.toml", &second), ("a/z.toml", CASE), ("c.toml", &third)]);
    assert_eq!(project.errors(), Vec::<String>::new());
    let files = project.load().expect("loads");
    let paths: Vec<_> = files.iter().map(|file| file.path.as_path()).collect();
    assert_eq!(
        paths,
        ["riscv_etrace/a/z.toml", "riscv_etrace/b/a.toml", "riscv_etrace/c.toml"].map(Path::new)
    );
    let first = files.first().expect("three");
    assert_eq!(first.text, CASE);
    assert_eq!(first.resolved.wire, [3, 0x73, 0, 4]);
    assert_eq!(first.resolved.labels.address("A"), Some(0x1000));
    assert!(first.resolved.execution.is_none());
}

#[test]
fn all_errors_are_collected() {
    let project = Project::new(&[
        ("a.toml", "schema = 1\nid = "),
        ("b.toml", &with("title", "titel")),
        ("c.toml", &with("\"A\"", "\"B\"")),
        ("d.toml", CASE),
    ]);
    assert_eq!(
        project.errors(),
        [
            "riscv_etrace/a.toml:2:6: string values must be quoted, expected literal string",
            "riscv_etrace/b.toml:4:1: unknown field `titel`, expected one of `schema`, `id`, `rev`, `family`, \
             `protocol`, `title`, `level`, `clauses`, `polarity`, `catches`, `provenance`, `readings`, `canonical`, `parameters`, `policy`, \
             `program`, `stimulus`, `wire`, `packets`, `events`",
            "riscv_etrace/c.toml:17:5: events[1].retire: unknown label `B`",
        ]
    );
}

#[test]
fn a_family_without_a_directory_has_no_cases() {
    let project = Project::new(&[]);
    fs::remove_dir_all(project.0.path().join("suites/riscv_etrace")).expect("removed");
    assert_eq!(project.load().map(|files| files.len()), Ok(0));
    fs::remove_dir_all(project.0.path().join("suites")).expect("removed");
    let errors = project.load().expect_err("nothing there");
    assert_eq!(errors.len(), 1);
    assert_eq!(errors.first().map(|error| error.path.as_path()), Some(Path::new("riscv_etrace")));
}

/// Line and column of the one error of each text.
#[test]
fn errors_in_a_file_have_a_place() {
    let missing = with("title = \"A start packet\"\n", "");
    for (text, place, message) in [
        (with("schema = 1", "schema = 2"), "1:1", "this program reads schema 1"),
        (with("\"riscv_etrace\"", "\"arm_etm\""), "3:1", "expected `riscv_etrace`"),
        (
            with("\"must\"", "\"shall\""),
            "5:9",
            "unknown variant `shall`, expected one of `must`, `should`, `may`, `robust`",
        ),
        (missing, "1:1", "missing field `title`"),
        (with("privilege = 3", "privilege = 300"), "16:29", "invalid value: integer `300`, expected u8"),
        (
            with("privilege = 3", "privilege = 3, x = 1"),
            "16:32",
            "unexpected keys in table: x, available keys: privilege, context",
        ),
        (with("\"A\"", "\"A (B\""), "17:14", "`(` without `)`"),
        (with("\"A\"", "\"A..1x\""), "17:14", "`1x` is no location; write A, A+4, A-2 or 0x1000"),
        (with("retire =", "retired ="), "17:5", "unknown variant `retired`, expected one of"),
        (with("source = \"X03\"", "sauce = 1"), "9:14", "unknown field `sauce`"),
        (with("A: nop", "A: nope"), "12:1", "program, line 2: unknown mnemonic `nope`"),
        (
            with("\"73 00 04\"", "\"73\", \"7\""),
            "14:15",
            "wire[1]: `7` is no string of bytes such as `73 00 04`",
        ),
        (
            with("program =", "parameters = { iaddress_lsb_p = 3 }\nprogram ="),
            "10:16",
            "parameters.iaddress_lsb_p: must be 0 to 2 and below iaddress_width_p",
        ),
        (
            with(
                "wire =",
                "stimulus = [{ enable = true }, { exception = { cause = 1, epc = \"unknown\" } }]\nwire =",
            ),
            "14:59",
            "stimulus[1].exception.epc: unknown label `unknown`",
        ),
    ] {
        let errors = errors_of(&text);
        let expected = format!("riscv_etrace/core/start.toml:{place}: {message}");
        assert!(errors.len() == 1 && errors[0].starts_with(&expected), "{expected}\n{errors:?}");
    }
}

#[test]
fn rules_of_a_single_case() {
    let fault = "{ fault = { class = \"no-code\", packet = 0, byte = 0 } },\n  { retire = \"A\" }";
    let suspicious = fault.replace("no-code", "suspicious");
    for (text, expected) in [
        (with("etr-0001", "etr-001"), "2:1: `etr-001` is not `etr-` and at least four digits"),
        (with("etr-0001", "etm-0001"), "2:1: `etm-0001` is not `etr-` and at least four digits"),
        (with("etr-0001", "etr-000a"), "2:1: `etr-000a` is not `etr-` and at least four digits"),
        (with("A start packet", " "), "4:1: `title` must be one line of text"),
        (with("a field too many", "two\\nlines"), "8:1: `catches` must be one line of text"),
        (with("[\"RVET-PKT-011\"]", "[]"), "6:1: a case proves at least one clause"),
        (with("RVET-PKT-011\"", "RVET-PKT-011\", \"RVET-X-1\""), "6:28: there is no clause `RVET-X-1`"),
        (with("RVET-PKT-011\"", "RVET-PKT-011\", \"RVET-PKT-011\""), "6:28: `RVET-PKT-011` is named twice"),
        (with("\"positive\"", "\"negative\""), "7:1: a negative case expects a fault among its events"),
        (with("{ retire = \"A\" }", fault), "15:1: a positive case expects no `no-code`"),
        (
            CASE.split("events").next().expect("a head").to_owned(),
            "14:1: a case judges `packets`, `events` or both",
        ),
    ] {
        assert_eq!(errors_of(&text), [format!("riscv_etrace/core/start.toml:{expected}")]);
    }
    assert_eq!(errors_of(&with("{ retire = \"A\" }", &suspicious)), Vec::<String>::new());
    let negative = with("\"positive\"", "\"negative\"").replace("{ retire = \"A\" }", fault);
    assert_eq!(errors_of(&negative), Vec::<String>::new());
}

#[test]
fn rules_of_a_whole_suite() {
    let project = Project::new(&[
        ("a.toml", CASE),
        ("b.toml", CASE),
        ("bad-name.toml", &with("etr-0001", "etr-0003")),
        ("core/1st.toml", &with("etr-0001", "etr-0004")),
        ("core/old.toml", &with("etr-0001", "etr-0005")),
        ("retired.txt", "# gone\n\netr-0002\n  etr-0005  \n"),
    ]);
    assert_eq!(
        project.errors(),
        [
            "riscv_etrace/b.toml:2:1: `etr-0001` is the id of riscv_etrace/a.toml, too",
            "riscv_etrace/bad-name.toml: names of files and directories are small letters, digits and `_`",
            "riscv_etrace/core/1st.toml: names of files and directories are small letters, digits and `_`",
            "riscv_etrace/core/old.toml:2:1: `etr-0005` is retired",
        ]
    );
}

#[test]
fn a_bad_registry_is_reported_before_the_cases() {
    let project = Project::new(&[("a.toml", "bad")]);
    for (text, expected) in [
        (
            CLAUSES.replace("RVET-DISC-001", "RVET-PKT-011"),
            "riscv_etrace.toml:10:1: RVET-PKT-011: the id is used twice",
        ),
        (CLAUSES.replace("riscv_etrace", "arm_etm"), "riscv_etrace.toml:1:1: expected `riscv_etrace`"),
        (CLAUSES.replace("scope =", "scoop ="), "riscv_etrace.toml:8:1: unknown field `scoop`"),
    ] {
        project.write("clauses/riscv_etrace.toml", &text);
        let errors = project.errors();
        assert!(errors.len() == 1 && errors[0].starts_with(expected), "{expected}\n{errors:?}");
    }
}

/// Every located error reads the file again, so there are a few of one file, and the number of the others.
#[test]
fn many_errors_of_one_file_are_counted() {
    let clauses = vec!["\"RVET-PKT-011\""; 30_000].join(", ");
    let text = CASE.replace("\"RVET-PKT-011\"", &clauses);
    let project = Project::new(&[("a.toml", &text)]);
    let start = std::time::Instant::now();
    let errors = project.errors();
    assert_eq!(errors.len(), 21, "{errors:?}");
    assert!(errors[0].contains("`RVET-PKT-011` is named twice"), "{}", errors[0]);
    assert!(errors[20].contains("and 29979 more errors"), "{}", errors[20]);
    // Reading it once, for scale.
    let read = start.elapsed().as_secs_f64();
    let start = std::time::Instant::now();
    assert!(toml::from_str::<toml::Table>(&text).is_ok());
    let once = start.elapsed().as_secs_f64();
    assert!(read < 1000.0 * once.max(1e-4), "{read} s, where the text is read in {once} s");
}
