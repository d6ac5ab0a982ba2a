//! Logs of a trace unit from drivers: `decode --import`, `explain --import`.

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::commands::{run, text};

fn example(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/examples/trace-unit").join(name);
    path.to_str().expect("text").to_owned()
}

/// How an example is imported.
struct Form {
    file: &'static str,
    parameters: &'static str,
    options: &'static [&'static str],
}

const MAPPED: Form = Form {
    file: "linux-mapped.ftrace",
    parameters: "linux-mapped.toml",
    options: &["--import", "ftrace", "--base", "0xffff800012340000"],
};
const MAPPED_ALONE: Form =
    Form { options: &["--import", "ftrace", "--base", "0xffff800012340000", "--see", "system=1"], ..MAPPED };
const ETE: Form = Form {
    file: "linux-ete.csv",
    parameters: "linux-ete.toml",
    options: &["--import", "csv", "--see", "external=1"],
};
const LIBRARY: Form = Form {
    file: "library.csv",
    parameters: "linux-ete.toml",
    options: &["--import", "csv", "--see", "system=1"],
};

/// A change of an example: of the first line with a text, counted from the line with the text before it.
enum Edit {
    Without(&'static [&'static str]),
    Replace(&'static [&'static str], &'static str, &'static str),
    /// A line after it, made from the first line with the second text, with this replaced.
    After(&'static [&'static str], &'static str, &'static [(&'static str, &'static str)]),
}

/// The index of the line with the last of the texts, after the lines with the others.
fn find(lines: &[String], texts: &[&str]) -> usize {
    let mut from = 0;
    let mut found = 0;
    for text in texts {
        let rest = &lines[from..];
        found = from + rest.iter().position(|line| line.contains(text)).expect(text);
        from = found + 1;
    }
    found
}

fn edited(file: &str, edits: &[Edit]) -> String {
    let original = fs::read_to_string(example(file)).expect("readable");
    let mut lines: Vec<String> = original.lines().map(str::to_owned).collect();
    for edit in edits {
        match edit {
            Edit::Without(texts) => {
                lines.remove(find(&lines, texts));
            }
            Edit::Replace(texts, old, new) => {
                let at = find(&lines, texts);
                assert!(lines[at].contains(old), "{}", lines[at]);
                lines[at] = lines[at].replace(old, new);
            }
            Edit::After(texts, like, changes) => {
                let at = find(&lines, texts);
                let model = lines[find(&lines, &[like])].clone();
                let line = changes.iter().fold(model, |line, (old, new)| line.replace(old, new));
                lines.insert(at + 1, line);
            }
        }
    }
    lines.join("\n") + "\n"
}

/// The exit code, the findings that are no notes, each with the text of the line that it names, and everything printed.
fn judged(form: &Form, log: &str) -> (Option<i32>, Vec<(String, String)>, String) {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join(form.file);
    fs::write(&path, log).expect("writable");
    let (path, parameters) = (path.to_str().expect("text"), example(form.parameters));
    let mut arguments = vec!["decode", "--family", "arm-ete-unit", "--parameters", &parameters];
    arguments.extend(form.options);
    arguments.push(path);
    let output = run(&arguments);
    let listed = text(&output.stdout);
    let mut findings = Vec::new();
    let lines: Vec<&str> = listed.lines().collect();
    for pair in lines.windows(2) {
        // A note has no fault.
        if let [finding, fault] = pair
            && let Some((_, rule)) = finding.split_once("finding rule=")
            && fault.starts_with("error: ")
        {
            let rule = rule.split(' ').next().unwrap_or_default();
            let number = fault.rsplit_once("(line ").and_then(|(_, rest)| rest.strip_suffix(')'));
            let number: usize = number.and_then(|number| number.parse().ok()).expect("a line");
            assert!(finding.contains(&format!(" line {number} ")), "{finding}");
            findings.push((rule.to_owned(), log.lines().nth(number - 1).expect("a line").to_owned()));
        }
    }
    (output.status.code(), findings, listed + &text(&output.stderr))
}

/// Accepted, with so many sessions that have certainly begun and ended.
#[track_caller]
fn accepts(form: &Form, sessions: usize) {
    let (code, findings, all) = judged(form, &edited(form.file, &[]));
    assert_eq!((code, findings.as_slice()), (Some(0), &[][..]), "{all}");
    for event in ["session_begin", "session_end"] {
        assert_eq!(all.matches(event).count(), sessions, "{all}");
    }
}

/// Each broken version breaks the rule at the line with the text.
#[track_caller]
fn rejects(form: &Form, broken: &[(&[Edit], &str, &str)]) {
    assert!(broken.len() >= 10);
    for (index, (edits, rule, line)) in broken.iter().enumerate() {
        let log = edited(form.file, edits);
        let (code, findings, all) = judged(form, &log);
        assert_eq!(code, Some(1), "version {index}: {all}");
        let (found, text) = findings.first().expect("a finding");
        assert!(
            found == rule && text.contains(line),
            "version {index}: {rule} at {line}\n{findings:#?}\n{all}"
        );
    }
}

#[test]
fn linux_on_ete_is_accepted() {
    accepts(&ETE, 1);
}

#[test]
fn linux_on_ete_broken() {
    const VICTLR: &[(&str, &str)] = &[("TRCCONFIGR,0x811", "TRCVICTLR,0x1"), ("22,", ",")];
    const ENABLE: &[(&str, &str)] = &[("TRCCONFIGR,0x811", "TRCPRGCTLR,0x1"), ("22,", ",")];
    const DISABLE: &[(&str, &str)] = &[("TRCCONFIGR,0x811", "TRCPRGCTLR,0x0"), ("22,", ",")];
    const WRITE: &str = "write,TRCCONFIGR";
    rejects(
        &ETE,
        &[
            (&[Edit::Without(&[",cold"]), Edit::Without(&["TRCSTATR,0x3"])], "ETE-PRG-002", "TRCCONFIGR"),
            (&[Edit::Without(&["TRCPRGCTLR,0x1", ",isb"])], "ETE-SYN-004", "TRCSTATR,0x3"),
            (&[Edit::Without(&["TRCPRGCTLR,0x1", ",isb", ",isb"])], "ETE-SYN-005", "TRCSTATR,0x0"),
            (&[Edit::Without(&["TRCRSR"])], "ETE-PRG-004", "TRCPRGCTLR,0x1"),
            (&[Edit::Without(&["TRCVICTLR"])], "ETE-PRG-004", "TRCPRGCTLR,0x1"),
            (&[Edit::Without(&["TRCTSCTLR"])], "ETE-PRG-005", "TRCPRGCTLR,0x1"),
            (&[Edit::Without(&["TRCCCCTLR"])], "ETE-PRG-005", "TRCPRGCTLR,0x1"),
            (&[Edit::Without(&["TRCVIIECTLR"])], "ETE-PRG-005", "TRCPRGCTLR,0x1"),
            (&[Edit::Without(&["oslk 0"])], "ETE-ST-006", "TRCSTATR,0x0"),
            (&[Edit::After(&["TRCSTATR,0x0"], WRITE, VICTLR)], "ETE-RWYQD-001", "TRCVICTLR,0x1"),
            (&[Edit::Without(&["trf P", ",isb"]), Edit::Without(&["trf P", ",isb"])], "ETE-SYN-009", ",tsb"),
            (
                &[Edit::After(
                    &["read,TRCPRGCTLR,0x1"],
                    "write,TRCRSR",
                    &[("90,system,write,TRCRSR,0x1000,ok,", ",,,,,,tb 0")],
                )],
                "ETE-PRG-010",
                ",tb 0",
            ),
            (&[Edit::After(&["TRCSTATR,0x2"], WRITE, VICTLR)], "ETE-PRG-002", "TRCVICTLR,0x1"),
            (&[Edit::After(&["trf P", "TRCSTATR,0x0"], WRITE, ENABLE)], "ETE-PRG-003", "TRCPRGCTLR,0x1"),
            (&[Edit::After(&["TRCPRGCTLR,0x1", ",isb"], WRITE, DISABLE)], "ETE-PRG-003", "TRCPRGCTLR,0x0"),
        ],
    );
}

#[test]
fn the_library_is_accepted_with_its_poll() {
    accepts(&LIBRARY, 1);
}

/// The published one reads no TRCSTATR after the enable: EN may change in Enabling.
#[test]
fn the_library_without_its_poll_is_named() {
    let form = Form { file: "library-real.csv", ..LIBRARY };
    let (code, findings, all) = judged(&form, &edited(form.file, &[]));
    assert_eq!(code, Some(1), "{all}");
    let named: Vec<_> = findings.iter().map(|(rule, line)| (rule.as_str(), line.as_str())).collect();
    assert_eq!(named, [("ETE-PRG-003", "external,write,TRCPRGCTLR,32,00000000,ok")], "{all}");
}

#[test]
fn the_library_broken() {
    const WRITE: &str = "write,TRCSEQSTR";
    const VICTLR: &[(&str, &str)] = &[("TRCSEQSTR,32,00000000", "TRCVICTLR,32,00000001")];
    const ENABLE: &[(&str, &str)] = &[("TRCSEQSTR,32,00000000", "TRCPRGCTLR,32,00000001")];
    rejects(
        &LIBRARY,
        &[
            (&[Edit::Without(&["0x00c"]), Edit::Without(&["0x00c"])], "ETE-PRG-002", "TRCCONFIGR"),
            (&[Edit::Replace(&["0x00c,32,00000003"], "3,ok", "2,ok")], "ETE-PRG-002", "TRCCONFIGR"),
            (
                &[Edit::After(&["TRCSTATR,32,00000000"], WRITE, VICTLR)],
                "ETE-RWYQD-001",
                "TRCVICTLR,32,00000001",
            ),
            (
                &[Edit::After(&["TRCPRGCTLR,32,00000001"], WRITE, VICTLR)],
                "ETE-RWYQD-001",
                "TRCVICTLR,32,00000001",
            ),
            (&[Edit::Without(&["TRCSTATR,32,00000000"])], "ETE-PRG-003", "TRCPRGCTLR,32,00000000"),
            (&[Edit::Without(&["TRCPRGCTLR,32,00000000"])], "ETE-PRG-002", "TRCCONFIGR"),
            (&[Edit::Replace(&["TRCCONFIGR"], ",32,", ",64,")], "ETE-YFRMG-001", "TRCCONFIGR"),
            (&[Edit::Replace(&["TRCOSLSR"], "10,ok", "12,ok")], "ETE-ACC-002", "TRCCLAIMSET"),
            (
                &[
                    Edit::Replace(&["TRCOSLSR"], "10,ok", "12,ok"),
                    Edit::Replace(&["TRCCLAIMSET"], ",ok", ",error"),
                ],
                "ETE-FJPCN-001",
                "TRCCLAIMSET",
            ),
            (
                &[Edit::After(&["TRCSTATR,32,00000002"], WRITE, VICTLR)],
                "ETE-PRG-002",
                "TRCVICTLR,32,00000001",
            ),
            (
                &[Edit::After(&["TRCSTATR,32,00000000", "TRCPRGCTLR"], WRITE, ENABLE)],
                "ETE-PRG-003",
                "TRCPRGCTLR,32,00000001",
            ),
            (&[Edit::Replace(&["0x00c,32,00000003"], "3,ok", "7,ok")], "ETE-ST-001", "0x00c,32,00000007"),
            (
                &[Edit::After(&["TRCSTATR,32,00000000"], "TRCSTATR,32,00000003", &[])],
                "ETE-ST-003",
                "TRCSTATR,32,00000003",
            ),
        ],
    );
}

/// The log shows neither barriers nor System instructions, and is judged on the rest.
#[test]
fn linux_on_a_mapped_unit_is_accepted() {
    // A System instruction may have stopped the unit at any time, unless it is said that there was none.
    accepts(&MAPPED, 0);
    accepts(&MAPPED_ALONE, 1);
    let all = judged(&MAPPED, &edited(MAPPED.file, &[])).2;
    assert!(all.contains("note: not every one of these is shown: barriers, system; if "), "{all}");
    assert!(all.contains("at other addresses: 1; the first is in page 0xffff800010010000\n"), "{all}");
}

#[test]
fn linux_on_a_mapped_unit_broken() {
    const CONFIG: &str = "addr=0xffff800012340010";
    const STATUS: &str = "addr=0xffff80001234000c";
    const VICTLR: &[(&str, &str)] = &[("340010", "340080")];
    const WRITTEN: &str = "val=0x811 addr=0xffff800012340080";
    const ENABLE: &[(&str, &str)] = &[("val=0x811", "val=0x1"), ("340010", "340004")];
    const ON: &str = "val=0x1 addr=0xffff800012340004";
    const OFF: &str = "val=0x0 addr=0xffff800012340004";
    let without_polls = [Edit::Without(&[STATUS]), Edit::Without(&[STATUS]), Edit::Without(&[STATUS])];
    rejects(
        &MAPPED,
        &[
            (&without_polls, "ETE-PRG-002", CONFIG),
            (&[Edit::Without(&["val=0x3 addr=0xffff80001234000c"])], "ETE-PRG-002", CONFIG),
            (&[Edit::Without(&[OFF])], "ETE-PRG-002", CONFIG),
            (&[Edit::After(&[ON, STATUS, STATUS], CONFIG, VICTLR)], "ETE-PRG-002", WRITTEN),
            (&[Edit::After(&[ON], CONFIG, VICTLR)], "ETE-PRG-002", WRITTEN),
            (
                &[Edit::Without(&[ON, STATUS]), Edit::Without(&[ON, STATUS])],
                "ETE-PRG-003",
                "val=0x0 addr=0xffff800012340004",
            ),
            (&[Edit::Replace(&[CONFIG], "width=32", "width=64")], "ETE-YFRMG-001", CONFIG),
            (&[Edit::After(&[ON, OFF, STATUS, STATUS], CONFIG, VICTLR)], "ETE-PRG-002", WRITTEN),
            (&[Edit::After(&[ON, OFF], CONFIG, ENABLE)], "ETE-PRG-003", ON),
            (&[Edit::Replace(&[STATUS, STATUS], "val=0x2", "val=0x6")], "ETE-ST-001", "val=0x6"),
            (&[Edit::After(&[CONFIG], CONFIG, ENABLE)], "ETE-PRG-002", "addr=0xffff800012340018"),
        ],
    );
    // Where nothing else has access, the unit is certainly Running.
    let log = edited(MAPPED.file, &[Edit::After(&[ON, STATUS, STATUS], CONFIG, VICTLR)]);
    let (_, findings, all) = judged(&MAPPED_ALONE, &log);
    assert!(findings[0].0 == "ETE-RWYQD-001" && findings[0].1.contains(WRITTEN), "{findings:?}\n{all}");
}

/// A session is resumed although only PMSTABLE = 1 was read.
#[test]
fn the_resume_of_linux_is_named() {
    let form = Form { file: "linux-resume.csv", ..ETE };
    let (code, findings, all) = judged(&form, &edited(form.file, &[]));
    assert_eq!(code, Some(1), "{all}");
    let named: Vec<_> = findings.iter().map(|(rule, line)| (rule.as_str(), line.as_str())).collect();
    let expected = [("ETE-PRG-002", "s,w,TRCRSR,1000,ok,"), ("ETE-PRG-003", "s,w,TRCPRGCTLR,1,ok,")];
    assert_eq!(named, expected, "{all}");
}

/// A directory of files.
pub(crate) struct Files(TempDir);

impl Files {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().expect("a directory"))
    }

    pub(crate) fn write(&self, name: &str, content: &str) -> String {
        let path: PathBuf = self.0.path().join(name);
        fs::write(&path, content).expect("writable");
        path.to_str().expect("text").to_owned()
    }
}

#[test]
fn imports_that_are_refused_say_what_to_do() {
    let files = Files::new();
    let rows = files.write("log.csv", "interface,direction,register,value\nx,w,TRCRSR,1g\n");
    let kernel = files.write("log.ftrace", "t-1 [000] 1.5: rwmmio_read: f width=32 addr=0x1234\n");
    for (arguments, message) in [
        (&["--family", "arm-ete-unit", "--import", "csv", &rows][..], "log.csv:2:12: `1g` is no value"),
        (
            &["--family", "arm-ete", "--import", "csv", &rows],
            "--import is for logs of a trace unit: --family arm-ete-unit",
        ),
        (&["--import", "csv", &rows], "--family is missing"),
        (&["--family", "arm-ete-unit", "--import", "ftrace", &kernel], "is in page 0x1000; use --base"),
        (
            &["--family", "arm-ete-unit", "--import", "ftrace", "--base", "0x4000", &kernel],
            "log.ftrace: no access is at --base; the first one is in page 0x1000",
        ),
        (&["--family", "arm-ete-unit", "--import", "csv", "--text", &rows], "cannot be used with"),
        (&["--family", "arm-ete-unit", "--base", "1", &rows], "--import <FORM>"),
        (
            &["--family", "arm-ete-unit", "--import", "csv", "--see", "all=1", &rows],
            "`all` is none of barriers, ",
        ),
        (
            &["--family", "arm-ete-unit", "--import", "csv", "--see", "states", &rows],
            "expected WHAT=0 or WHAT=1",
        ),
    ] {
        let output = run(&[&["decode"], arguments].concat());
        let shown = text(&output.stderr);
        assert!(output.status.code() == Some(2) && shown.contains(message), "{arguments:?}: {shown}");
    }
}

/// `explain` gives the reason of each finding, of a log in the notation and of an imported one.
#[test]
fn findings_are_explained() {
    let files = Files::new();
    let log = files.write("unit.log", "cold; xoslk 0\nxw TRCPRGCTLR=1; poll x IDLE=0\nxw TRCCONFIGR=1\n");
    let parameters = example("linux-ete.toml");
    let resume = example("linux-resume.csv");
    for (arguments, rule) in [
        (
            &["--text", "--trace", &log][..],
            ": ETE-RWYQD-001 (TRCCONFIGR), unpredictable: A write that reaches",
        ),
        (
            &["--parameters", &parameters, "--import", "csv", "--trace", &resume],
            ": ETE-PRG-002 (TRCRSR), missing step: A write that reaches the unit",
        ),
    ] {
        let output = run(&[&["explain", "--family", "arm-ete-unit"], arguments].concat());
        let shown = text(&output.stdout);
        assert!(output.status.success() && shown.contains(rule), "{shown}\n{}", text(&output.stderr));
    }
}
