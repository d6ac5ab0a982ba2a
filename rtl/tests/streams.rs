//! Packs of streams, with the deformatter of `vectors/rtl` as decoder in hardware.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use serde_json::json;
use traceproof_differential::{JudgedProtocol, judge};
use traceproof_rtl::streams::{self, Answers, Recorded, Replay, StreamCase, StreamManifest};
use traceproof_vectors::arm_etm_formatter::{ArmEtmFormatter as Protocol, Parameters};
use traceproof_vectors::case::{self, CaseFile};
use traceproof_vectors::{Capabilities, Decoder, Encoder, Entry, Log, shipped};

fn files() -> Vec<CaseFile<Protocol>> {
    case::load(&shipped::suites()).expect("the shipped suite")
}

/// Cases of captures in memory, which are those with the default parameters, or all of them.
fn cases(all: bool) -> Vec<StreamCase<Protocol>> {
    let case = |file: CaseFile<Protocol>| {
        let other = !all && file.case.parameters != Parameters::default();
        let stimulus = file.resolved.execution.clone();
        let left_out = other.then(|| String::from("it has other parameters"));
        // Whose bytes they are does not matter here.
        let sent = vec![file.resolved.wire.clone()];
        StreamCase { file, stimulus, sent, left_out }
    };
    files().into_iter().map(case).collect()
}

fn packed(all: bool) -> (tempfile::TempDir, StreamManifest) {
    let directory = tempfile::tempdir().expect("a directory");
    let manifest = streams::write(&directory.path().join("pack"), &cases(all))
        .unwrap_or_else(|problem| panic!("{problem}"));
    (directory, manifest)
}

#[test]
fn the_same_cases_give_the_same_bytes() {
    let (first, manifest) = packed(true);
    let (second, again) = packed(true);
    assert_eq!(manifest, again);
    for name in manifest.files.keys().map(String::as_str).chain(["manifest.json"]) {
        let read = |directory: &Path| fs::read(directory.join("pack").join(name)).expect("a file");
        assert_eq!(read(first.path()), read(second.path()), "{name}");
    }
    let read = streams::read(&first.path().join("pack")).unwrap_or_else(|problem| panic!("{problem}"));
    assert_eq!(read.manifest, manifest);
    assert_eq!(manifest.cases.len(), files().len());
    let bytes: usize = files().iter().map(|file| file.resolved.wire.len()).sum();
    // A row for each byte, two more for each case, and the end.
    assert_eq!(manifest.bytes.rows, (bytes + 2 * manifest.cases.len() + 1) as u64);
}

/// The rows of a case, written by hand from its stimulus and `docs/pack.md`.
#[test]
fn stimulus_is_rows_of_columns() {
    let (directory, manifest) = packed(true);
    let names: Vec<&str> = manifest.columns.iter().map(|column| column.name.as_str()).collect();
    assert_eq!(names[..4], ["kind", "data_bytes_count", "data_bytes_0", "data_bytes_1"]);
    assert_eq!(names[names.len() - 2..], ["data_id", "idle"]);
    assert_eq!(manifest.columns[0].values, ["data", "flush", "idle", "trigger"]);
    let entry = manifest.cases.iter().find(|entry| entry.steps.is_some()).expect("a case with stimulus");
    let text = fs::read_to_string(directory.path().join(format!("pack/{}.stim", entry.id))).expect("rows");
    let steps = cases(true);
    let steps = steps.iter().find(|case| case.file.case.id == entry.id).expect("the case");
    let first = serde_json::to_value(&steps.stimulus.as_ref().expect("steps")[0]).expect("JSON");
    let (id, bytes) = (&first["data"]["id"], &first["data"]["bytes"]);
    let row = text.lines().nth(2).expect("a step").split('_').collect::<Vec<_>>();
    let number = |digits: &str| u64::from_str_radix(digits, 16).expect("digits");
    let at = |name: &str| row[3 + names.iter().position(|known| *known == name).expect("a column")];
    assert_eq!((number(row[1]), number(at("kind"))), (2, 1));
    assert_eq!(json!(number(at("data_id"))), *id);
    let bytes: Vec<&str> = bytes.as_str().expect("bytes").split(' ').collect();
    assert_eq!(number(at("data_bytes_count")), bytes.len() as u64);
    assert_eq!(at("data_bytes_0"), bytes[0].to_lowercase());
    let header = fs::read_to_string(directory.path().join("pack/streams.vh")).expect("a header");
    assert!(header.contains("`define TP_KIND__FLUSH 2\n"), "{header}");
    let sent = fs::read_to_string(directory.path().join(format!("pack/{}.sent", entry.id))).expect("bytes");
    let wire: String = cases(true)
        .iter()
        .find(|case| case.file.case.id == entry.id)
        .map(|case| case.file.resolved.wire.iter().map(|byte| format!("{byte:02x}")).collect())
        .expect("the case");
    assert_eq!(sent, format!("{} {wire}\n", row[0]));
}

#[test]
fn a_changed_file_is_refused() {
    let (directory, manifest) = packed(false);
    let pack = directory.path().join("pack");
    let id = &manifest.cases[0].id;
    for name in ["bytes.memh", "streams.vh", &format!("{id}.bytes"), &format!("{id}.expect")] {
        let file = pack.join(name);
        let text = fs::read_to_string(&file).expect("a file");
        fs::write(&file, text.replacen('2', "3", 1)).expect("writable");
        let problem = streams::read(&pack).expect_err("it was changed");
        assert!(problem.to_string().contains(name), "{name}: {problem}");
        fs::write(&file, text).expect("writable");
    }
    let text = fs::read_to_string(pack.join("manifest.json")).expect("the manifest");
    let count = format!("\"bytes\": {}", manifest.cases[0].bytes);
    fs::write(pack.join("manifest.json"), text.replacen(&count, "\"bytes\": 1", 1)).expect("writable");
    let problem = streams::read(&pack).expect_err("the manifest does not fit");
    assert!(problem.to_string().contains(&format!("{id}.bytes: ")), "{problem}");
    fs::write(pack.join("manifest.json"), text).expect("writable");
    streams::read(&pack).unwrap_or_else(|problem| panic!("{problem}"));
}

/// The ids of the cases whose answers differ from the cases.
fn failing(manifest: &StreamManifest, answers: &Answers<Protocol>) -> BTreeSet<String> {
    assert_eq!(answers.problems(manifest), Vec::<String>::new());
    let capabilities = Capabilities::from(&answers.claims());
    let files = files();
    let file = |id: &str| files.iter().find(|file| file.case.id == id).expect("a case of the suite");
    let recorded = answers.cases.iter().map(|answer| {
        let CaseFile { case, resolved, .. } = file(&manifest.cases[answer.number as usize].id);
        Recorded {
            parameters: case.parameters,
            policy: case.policy,
            program: resolved.program.clone(),
            wire: resolved.wire.clone(),
            packets: resolved.packets.clone(),
            stimulus: resolved.execution.clone().unwrap_or_default(),
            log: answer.log.clone(),
        }
    });
    let mut replay = Replay::new(Arc::new(recorded.collect()), capabilities.clone());
    let mut fails = |id: &str| {
        let CaseFile { case, resolved, .. } = file(id);
        let mut log = Log::default();
        Decoder::begin(&mut replay, &case.parameters, &resolved.program).expect("accepted");
        replay.push(&resolved.wire, &mut log);
        Decoder::finish(&mut replay, &mut log);
        let expected = judge::Expectation { packets: None, events: resolved.events.as_deref() };
        judge::decoding(expected, &log, &capabilities).is_err()
    };
    manifest.cases.iter().map(|entry| entry.id.clone()).filter(|id| fails(id)).collect()
}

/// A log that answers with what the reference decoder reports, the events of `wrong` without their last one.
fn log_of_reference(manifest: &StreamManifest, wrong: &str) -> String {
    let mut text = String::from("traceproof-answers 1\n");
    for entry in &manifest.cases {
        let file = files().into_iter().find(|file| file.case.id == entry.id).expect("a case");
        let (mut log, mut decoder) = (Log::default(), Protocol::reference_decoder());
        decoder.begin(&file.case.parameters, &file.resolved.program).expect("accepted");
        decoder.push(&file.resolved.wire, &mut log);
        decoder.finish(&mut log);
        text.push_str(&format!("C {}\n", entry.number));
        let mut lines: Vec<String> = Vec::new();
        for (_, entry) in &log.entries {
            match entry {
                Entry::Event(event) => lines.push(format!("J {}\n", json!({ "event": event }))),
                Entry::Fault(fault) => lines.push(format!("J {}\n", json!({ "fault": fault.class }))),
                Entry::Packet(_) => {}
            }
        }
        if entry.id == wrong {
            lines.pop();
        }
        text.push_str(&lines.concat());
    }
    let sum = &manifest.bytes.checksum;
    text + &format!("R {} {sum}\nE\n", manifest.bytes.rows)
}

#[test]
fn answers_are_judged_as_those_of_any_decoder() {
    let (_directory, manifest) = packed(true);
    let right: Answers<Protocol> =
        Answers::parse("log", &log_of_reference(&manifest, "")).unwrap_or_else(|problem| panic!("{problem}"));
    assert_eq!(failing(&manifest, &right), BTreeSet::new());
    let text = log_of_reference(&manifest, "fmt-0001");
    let wrong = Answers::parse("log", &text).unwrap_or_else(|problem| panic!("{problem}"));
    assert_eq!(failing(&manifest, &wrong), BTreeSet::from([String::from("fmt-0001")]));
}

#[test]
fn a_run_that_cannot_be_judged_says_why() {
    let (_directory, manifest) = packed(false);
    let text = log_of_reference(&manifest, "");
    let problems = |text: &str| -> String {
        let answers: Answers<Protocol> = Answers::parse("log", text).expect("a log");
        answers.problems(&manifest).join("; ")
    };
    let end = format!("R {} {}\nE\n", manifest.bytes.rows, manifest.bytes.checksum);
    assert!(problems(&text.replace(&end, "")).contains("no line `E`"));
    assert!(problems(&text.replace(&end, "R 1 00000000\nE\n")).contains("1 rows were driven"));
    let sum = text.replace(&manifest.bytes.checksum, "00000000");
    assert!(problems(&sum).contains("did not see the rows"), "{}", problems(&sum));
    assert!(problems(&format!("traceproof-answers 1\n{end}")).contains("cases were not driven: fmt-"));
    let place = |lines: &str| {
        let text = format!("traceproof-answers 1\n{lines}");
        let problem = Answers::<Protocol>::parse("log", &text).expect_err("no log");
        (problem.line, problem.column)
    };
    assert_eq!(place("J {\"event\":\"gap\"}\n"), (2, 1));
    assert_eq!(place("C 0\nJ {\"event\":\"gap\",}\n"), (3, 18));
    assert_eq!(place("C 0\nC 0\n"), (3, 3));
    assert_eq!(place("C 0\nW 0\n"), (3, 3));
    assert_eq!(place("E\nE\n"), (3, 1));
    assert!(Answers::<Protocol>::parse("log", "").is_err());
}

/// Bytes of an encoder are its answers, too.
#[test]
fn an_encoder_sends_what_was_recorded() {
    let (_directory, manifest) = packed(true);
    let entry = manifest.cases.iter().find(|entry| entry.steps.is_some()).expect("a case with stimulus");
    let text = format!("traceproof-answers 1\nC {}\nW 0102\nW ff\nE\n", entry.number);
    let answers: Answers<Protocol> = Answers::parse("log", &text).expect("a log");
    assert!(answers.has_wire() && !answers.has_results());
    let CaseFile { case, resolved, .. } =
        files().into_iter().find(|file| file.case.id == entry.id).expect("a case");
    let stimulus = resolved.execution.clone().unwrap_or_default();
    let recorded = Recorded {
        parameters: case.parameters,
        policy: case.policy,
        program: resolved.program.clone(),
        wire: resolved.wire,
        packets: None,
        stimulus: stimulus.clone(),
        log: answers.cases[0].log.clone(),
    };
    let mut replay = Replay::new(Arc::new(vec![recorded]), Capabilities::from(&answers.claims()));
    for (steps, sent) in [(stimulus.len(), vec![1, 2, 0xff]), (stimulus.len() - 1, Vec::new())] {
        let mut log = Log::default();
        Encoder::begin(&mut replay, &case.parameters, &case.policy).expect("accepted");
        stimulus.iter().take(steps).for_each(|step| replay.step(step, &mut log));
        Encoder::finish(&mut replay, &mut log);
        assert_eq!(log.wire, sent);
    }
}

fn simulated(simulator: &str, pack: &Path, defect: u8) -> Answers<Protocol> {
    let rtl: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("../vectors/rtl");
    let log = pack.with_extension("log");
    let mut run = Command::new("bash");
    run.arg(rtl.join("bin/run_streams.sh")).arg(simulator);
    run.args(["deformatter.sv", "stream_wrap.sv"].map(|file| rtl.join("device").join(file)));
    if simulator == "verilator" {
        run.arg("-Wall");
    }
    let done = run
        .env("TRACEPROOF_PACK", pack)
        .env("TRACEPROOF_LOG", &log)
        .env("TP_BUILD", pack.with_extension(simulator))
        .env("TP_PLUSARGS", format!("+defect={defect}"))
        .output()
        .expect("bash");
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success() && said.is_empty(), "{simulator}: {said}");
    let text = fs::read_to_string(log).expect("a log");
    Answers::parse("log", &text).unwrap_or_else(|problem| panic!("{problem}"))
}

/// The deformatter passes every case of captures in memory. With its mistake, a delayed ID at once, cases with a
/// delayed ID fail.
#[test]
fn a_decoder_in_hardware_is_judged() {
    let (directory, manifest) = packed(false);
    let pack = directory.path().join("pack");
    for (simulator, program, version) in
        [("icarus", "iverilog", "-V"), ("verilator", "verilator", "--version")]
    {
        if Command::new(program).arg(version).output().is_err() {
            eprintln!("NOTICE: there is no {program}; packs of streams are NOT tested under it");
            continue;
        }
        assert_eq!(failing(&manifest, &simulated(simulator, &pack, 0)), BTreeSet::new(), "{simulator}");
        let failing = failing(&manifest, &simulated(simulator, &pack, 1));
        let delayed = files().into_iter().find(|file| file.path.ends_with("ids/delayed.toml"));
        assert!(failing.contains(&delayed.expect("the case").case.id), "{simulator}: {failing:?}");
        assert!(failing.len() < manifest.cases.len() / 2, "{simulator}: {failing:?}");
    }
}
