//! Command-line tools as they are: their output becomes results, their end a verdict, and nothing is left running.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tempfile::TempDir;
use traceproof_conformance::process::{self, Limits, SubjectFile};
use traceproof_conformance::report::text;
use traceproof_conformance::smoke::{self, Outcome};
use traceproof_conformance::suite::{Directories, Suite};
use traceproof_conformance::verdict::Kind;
use traceproof_conformance::{Direction, Options, Run, Selection, Subject, run};
use traceproof_vectors::Family;
use traceproof_vectors::riscv_etrace::RiscvEtrace;

use crate::left_behind;

/// The case about which the tool misbehaves.
const CASE: &str = "etr-9001";

/// What the lines of the lister stand for.
const LINES: &str = r#"
[exec.tables]
level = { U = 0, S = 1, M = 3 }
about = { " about" = false, "" = true }
reason = { Ended = "ended", EndedRep = "ended" }

[[exec.line]]
match = '^(lister |packet )'

[[exec.line]]
match = '^RAN (?<first>\w+) up to (?<end>\w+): (?<count>\d+)$'
result = { event = { retire = { first = "${first:hex}", end = "0x${end}", count = "${count:dec}" } } }

[[exec.line]]
match = '^LEVEL (?<level>.)(?<about>.*)$'
result = [{ event = { context = { privilege = "${level:level}", precise = "${about:about}" } } }]

[[exec.line]]
match = '^STOP (?<reason>\w+)$'
result = { event = { stop = { reason = "${reason:reason}" } } }

[[exec.line]]
match = '^ERROR in packet (?<packet>\d+) at (?<byte>\d+)\.(?<bit>\d): (?<class>\S+)$'
result = { at = ["${packet:dec}", "${byte:dec}", "${bit:dec}"], fault = "${class}" }
"#;

fn directories() -> Directories {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    Directories::new(data.join("suites"), data.join("clauses"))
}

fn wire_of_case() -> String {
    let suite = Suite::<RiscvEtrace>::load(&directories()).expect("sound");
    let case = suite.files.iter().find(|file| file.case.id == CASE).expect("there");
    case.resolved.wire.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A directory with a subject file.
struct Acme {
    directory: TempDir,
}

impl Acme {
    fn new(mode: &str, head: &str, tail: &str) -> Self {
        let directory = TempDir::new().expect("a directory");
        let (program, trigger) = (env!("CARGO_BIN_EXE_traceproof-test-subject"), wire_of_case());
        let processes = directory.path().join("processes");
        let text = format!(
            "name = 'lister'\nenv = {{ PROCESSES = '{}' }}\n\n[exec]\nversion = '1.0'\n\
             argv = ['{program}', 'lister', '{mode}', '{trigger}', '{{input}}', '{{parameters}}', '{{sections}}']\n\
             section = ['{{address}}:{{file}}']\n{head}\n\
             [exec.decoders.riscv_etrace]\nlayers = ['events']\nfeatures = ['rv32', 'rv64', 'compressed']\n{tail}",
            processes.display()
        );
        fs::write(directory.path().join("lister.toml"), text).expect("writable");
        Self { directory }
    }

    fn subject(&self, limits: Limits) -> Subject {
        let file = SubjectFile::read(&self.directory.path().join("lister.toml")).expect("a subject");
        process::subject(&file.command, &limits).expect("there is such a program")
    }

    /// Numbers of the process groups that still have members which are not dead.
    fn left(&self) -> Vec<String> {
        let started = fs::read_to_string(self.directory.path().join("processes")).expect("it was started");
        left_behind::of_groups(&started)
    }
}

/// What the machine has to do besides must not be taken for a hang.
fn patient() -> Limits {
    Limits { scale: 60.0, message: 1 << 20, ..Limits::default() }
}

fn sample(subject: &Subject) -> Run {
    let selection = Selection { families: vec![Family::RiscvEtrace], ..Selection::default() };
    let directions = vec![Direction::Decode, Direction::Chunks];
    let options =
        Options { directories: directories(), selection, directions, jobs: Some(1), ..Options::default() };
    run(subject, &options, &|_| {}).expect("the sample suite is sound")
}

/// The verdict of every check, as `id direction: verdict`, without those of pieces, which no tool gets.
fn verdicts(mode: &str, limits: Limits, tail: &str) -> Vec<String> {
    let acme = Acme::new(mode, "", &format!("{tail}{LINES}"));
    let run = sample(&acme.subject(limits));
    assert_eq!(acme.left(), [""; 0], "{mode}");
    let mut lines = Vec::new();
    for case in &run.cases {
        for check in &case.checks {
            if check.direction == Direction::Chunks {
                assert_eq!(check.verdict.kind(), Kind::Unsupported, "{mode}");
            } else {
                lines.push(format!("{} {}: {}", case.id, check.direction, check.verdict));
            }
        }
    }
    lines
}

/// The case has this verdict, and the others pass.
fn only(mode: &str, limits: Limits, verdict: &str) {
    let found = verdicts(mode, limits, "");
    let (about, others): (Vec<&String>, Vec<&String>) = found.iter().partition(|line| line.starts_with(CASE));
    assert_eq!(about, [&format!("{CASE} decode: {verdict}")], "{mode}");
    assert!(others.len() == 2 && others.iter().all(|line| line.ends_with(": pass")), "{mode}: {others:?}");
}

#[test]
fn lines_become_results() {
    only("behaves", patient(), "pass");
    only("leaves-children", patient(), "pass");
}

#[test]
fn without_rules_every_line_is_json() {
    let acme = Acme::new("json", "", "");
    let run = sample(&acme.subject(patient()));
    assert!(run.is_success(), "{}", text::report(&run, text::Style::default()));
    assert_eq!(run.tally().of(Kind::Pass), 3);
}

#[test]
fn what_a_line_does_not_tell_is_not_judged() {
    let acme = Acme::new("behaves", "", &LINES.replace("match = '^STOP", "untold = 'why'\nmatch = '^STOP"));
    let run = sample(&acme.subject(patient()));
    assert_eq!(run.tally().of(Kind::Unsupported), run.tally().total());
    assert!(text::report(&run, text::Style::default()).contains("  why: "));
}

#[test]
fn a_stream_may_come_on_the_standard_input() {
    let acme = Acme::new("behaves", "stdin = true", LINES);
    let file = acme.directory.path().join("lister.toml");
    let text = fs::read_to_string(&file).expect("there").replace("'{input}'", "'-'");
    fs::write(&file, text).expect("writable");
    assert!(sample(&acme.subject(patient())).is_success());
}

#[test]
fn the_end_of_the_tool_is_a_verdict() {
    let aborts = "the subject crashed: signal 6 (SIGABRT) ended it; \
                  its standard error ends with: lister: assertion `sp != NULL` failed";
    only("aborts", patient(), aborts);
    only("fails", patient(), "the subject crashed: it exited with status 7 instead of an answer");
    let refused = verdicts("refuses", patient(), "");
    assert!(
        refused.iter().any(|line| line.starts_with(CASE) && line.contains("no such trace")),
        "{refused:?}"
    );
    let rejected = verdicts("rejects", patient(), "");
    let rejected = rejected.iter().find(|line| line.starts_with(CASE)).expect("judged");
    assert!(rejected.contains("differ"), "{rejected}");
}

#[test]
fn who_is_late_or_says_too_much_is_killed() {
    let hasty = Limits { answer: Duration::from_secs(3), scale: 1.0, ..patient() };
    let late = verdicts("hangs", hasty, "");
    let late = late.iter().find(|line| line.starts_with(CASE)).expect("judged");
    assert!(late.contains("did not return within"), "{late}");
    only("floods", patient(), "the subject answered more than 1048576 bytes at once");
    only("closes-output", patient(), "no way to answer: it closed its standard output and did not end");
}

#[test]
fn unknown_lines_are_reported() {
    only(
        "babbles",
        patient(),
        "no way to answer: line 2 of its output: no `match` knows it, in `Segmentation fault`",
    );
}

#[test]
fn parameters_that_are_not_claimed_are_not_judged() {
    let found = verdicts("behaves", patient(), "[exec.only.riscv_etrace]\nxlen = ['rv32']\n");
    let kinds: Vec<(&str, bool)> = found
        .iter()
        .map(|line| (line.split(' ').next().unwrap_or_default(), line.ends_with(": pass")))
        .collect();
    assert!(kinds.contains(&("etr-9001", true)) && kinds.contains(&("etr-9003", false)), "{found:?}");
    assert!(found.iter().any(|line| line.contains("xlen = \"rv64\"")), "{found:?}");
}

/// A tool speaks no protocol in which it could refuse; so its file does.
#[test]
fn features_that_are_not_claimed_are_refused_for_the_tool() {
    let acme = Acme::new("behaves", "", LINES);
    let file = SubjectFile::read(&acme.directory.path().join("lister.toml")).expect("a subject");
    let report = smoke::of_program(&file.command, &patient(), &Directories::default()).expect("sound");
    let probe = report.probes.iter().find(|probe| probe.question.name == "unclaimed").expect("asked");
    let Outcome::Pass(Some(text)) = &probe.outcome else { panic!("{:?}", probe.outcome) };
    assert!(text.starts_with("refused: ") && text.contains("data_trace"), "{text}");
}

#[test]
fn slips_in_the_file_are_found_before_anything_runs() {
    let error = |head: &str, tail: &str| {
        let acme = Acme::new("behaves", head, tail);
        let found = SubjectFile::read(&acme.directory.path().join("lister.toml")).err();
        found.map(|error| error.message).expect("a slip")
    };
    let line =
        |result: &str| format!("[[exec.line]]\nmatch = 'x(?<y>.)'\nresult = {{ fault = '{result}' }}\n");
    assert!(error("", &line("${z}")).contains("captures no `z`"));
    assert!(error("", &line("${y:nowhere}")).contains("no table `nowhere`"));
    assert!(error("", "[[exec.line]]\nmatch = '('\n").contains("regex parse error"));
    assert!(error("files = { 'a.ini' = '{word:w}' }", "").contains("`{word:w}` means nothing"));
    assert!(error("files = { '../a' = '' }", "").contains("no plain name"));
    assert!(error("", "[exec.only.arm]\n").contains("no family is called `arm`"));
}

#[test]
fn the_packet_lister_of_opencsd_is_understood() {
    let kit = Path::new(env!("CARGO_MANIFEST_DIR")).join("adaptors/exec/opencsd-trc_pkt_lister.toml");
    let file = SubjectFile::read(&kit).expect("a subject");
    let installed = |place: PathBuf| place.join("trc_pkt_lister").is_file();
    if !env::var_os("PATH").is_some_and(|path| env::split_paths(&path).any(installed)) {
        eprintln!("NOTICE: there is no trc_pkt_lister; the file for it is NOT tested");
        return;
    }
    let subject = process::subject(&file.command, &patient()).expect("there is a shell");
    let selection = Selection { families: vec![Family::ArmEtm], ..Selection::default() };
    let run = run(&subject, &Options { selection, ..Options::default() }, &|_| {}).expect("sound");
    let report = text::report(&run, text::Style::default());
    assert!(run.tally().of(Kind::Pass) >= 17, "{report}");
    let failures = run.checks().filter(|(_, _, verdict)| verdict.kind().is_failure());
    // OE-72: this stream makes the tool crash, in some versions.
    let failures = failures.filter(|(id, ..)| *id != "etm-0607");
    let failures: Vec<_> = failures.map(|(id, direction, _)| format!("{id} {direction}")).collect();
    // OE-63 of docs/findings/opencsd-etmv3.md.
    assert_eq!(failures, ["etm-0388 decode"], "{report}");
    let smoke = smoke::of_program(&file.command, &patient(), &Directories::default()).expect("sound");
    let asked = |name: &str| smoke.probes.iter().find(|probe| probe.question.name == name);
    assert!(smoke.is_success(), "{smoke:?}");
    assert!(asked("right").is_some_and(|probe| matches!(probe.outcome, Outcome::Pass(_))), "{smoke:?}");
}

#[test]
fn a_shared_object_is_the_business_of_the_host() {
    let directory = TempDir::new().expect("a directory");
    let place = directory.path().canonicalize().expect("there");
    let file = place.join("subject.toml");
    let read = |text: &str| {
        fs::write(&file, text).expect("writable");
        SubjectFile::read(&file).map_err(|error| error.message)
    };
    let command = read("shared_object = 'acme.so'\nhost = 'bin/host'\n").expect("right").command;
    assert_eq!(command.program, place.join("bin/host"));
    assert_eq!(command.arguments, [place.join("acme.so")]);
    // One way to be started, not two or none.
    let two = read("shared_object = 'acme.so'\ncommand = ['acme']\n");
    assert!(two.is_err_and(|message| message.contains("one of `command`")));
    assert!(read("name = 'acme'\n").is_err_and(|message| message.contains("one of `command`")));
    assert!(read("command = ['acme']\nhost = 'h'\n").is_err_and(|message| message.contains("`host`")));
}
