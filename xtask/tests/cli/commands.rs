//! The command line from the outside: help texts, exit codes, streams.

use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

/// Support, start at 0x1000, address +8, ended: three instructions, worked out by hand from ET 7.
const TRACE: [u8; 10] = [0x01, 0x1f, 0x03, 0x73, 0x00, 0x04, 0x01, 0x12, 0x01, 0x5f];

fn xtask() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_traceproof"));
    command.env_remove("COLUMNS").env_remove("TRACEPROOF_PROGRAM").env("NO_COLOR", "1").stdin(Stdio::null());
    command
}

pub(crate) fn run(arguments: &[&str]) -> Output {
    xtask().args(arguments).output().expect("starts")
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("text")
}

/// A directory with a program of 16 nops at 0x1000 and the trace.
struct Files(TempDir);

impl Files {
    fn new() -> Self {
        let files = Self(tempfile::tempdir().expect("a directory"));
        files.write("nops.bin", &[0x13, 0, 0, 0].repeat(16));
        files.write("trace.bin", &TRACE);
        files
    }

    fn write(&self, name: &str, bytes: &[u8]) -> String {
        let path = self.path(name);
        fs::write(&path, bytes).expect("writable");
        path
    }

    fn path(&self, name: &str) -> String {
        self.0.path().join(name).to_str().expect("text").to_owned()
    }

    fn section(&self) -> String {
        format!("0x1000:{}", self.path("nops.bin"))
    }

    fn decode(&self, more: &[&str]) -> Output {
        let section = self.section();
        let mut arguments = vec!["decode", "--family", "riscv-etrace", "--section", &section];
        arguments.extend(more);
        run(&arguments)
    }
}

#[test]
fn help_texts() {
    for verb in [
        "",
        "conformance",
        "list",
        "show",
        "explain",
        "coverage",
        "saboteurs",
        "decode",
        "encode",
        "smoke",
        "diff",
        "fuzz",
        "fuzz init",
        "fuzz promote",
        "fuzz minimize",
        "baseline",
        "baseline update",
        "settings",
        "adaptor",
        "adaptor new",
        "report",
        "report html",
        "report diff",
        "report merge",
    ] {
        let arguments: Vec<&str> = verb.split_whitespace().chain(["--help"]).collect();
        let output = run(&arguments);
        assert_eq!(output.status.code(), Some(0), "{verb}");
        let name = if verb.is_empty() { String::from("help") } else { verb.replace(' ', "_") };
        insta::assert_snapshot!(format!("help_{name}"), text(&output.stdout));
    }
}

/// Usage, examples, hints and reports show the command that started the program.
#[test]
fn commands_are_spelt_as_the_program_was_started() {
    let started_as = |arguments: &[&str]| {
        let output = xtask().env("TRACEPROOF_PROGRAM", "cargo xtask").args(arguments).output();
        let output = output.expect("starts");
        text(&output.stdout) + &text(&output.stderr)
    };
    for (arguments, command) in [
        (&["--help"][..], "\n  cargo xtask explain etr-0042\n"),
        (&["adaptor", "new", "--help"], "Usage: cargo xtask adaptor new "),
        (&["adaptor", "new", "--help"], "\n  cargo xtask conformance --subject acme/subject.toml\n"),
        (&["settings", "--help"], "| cargo xtask decode --family"),
        (&["show", "no-such-case"], "see `cargo xtask list`"),
        (&["conformance", "--shard", "0/0"], "'--help'"),
    ] {
        let shown = started_as(arguments);
        assert!(shown.contains(command) && !shown.contains("traceproof "), "{arguments:?}: {shown}");
    }
}

#[test]
fn a_trace_is_text_or_json_lines() {
    let files = Files::new();
    let trace = files.path("trace.bin");
    for (name, arguments) in [
        ("decode_text", &[][..]),
        ("decode_jsonl", &["--format", "jsonl"]),
        ("decode_packets", &["--layer", "packets"]),
        ("decode_events", &["--layer", "events"]),
    ] {
        let output = files.decode(&[arguments, &[&trace]].concat());
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        assert_eq!(text(&output.stderr), "");
        insta::assert_snapshot!(name, text(&output.stdout));
    }
    let without_code = run(&["decode", "--family", "riscv-etrace", &trace]);
    assert_eq!(without_code.stdout, files.decode(&["--layer", "packets", &trace]).stdout);
    assert_eq!(without_code.status.code(), Some(0));
}

#[test]
fn the_input_may_be_a_pipe_and_the_output_a_file() {
    let files = Files::new();
    let listing = files.path("listing.txt");
    let section = files.section();
    let mut child = xtask()
        .args(["decode", "--family", "riscv-etrace", "--section", &section, "-o", &listing, "-"])
        .stdin(Stdio::piped())
        .spawn()
        .expect("starts");
    child.stdin.take().expect("piped").write_all(&TRACE).expect("reads");
    assert!(child.wait().expect("ends").success());
    let expected = files.decode(&[&files.path("trace.bin")]);
    assert_eq!(fs::read(listing).expect("written"), expected.stdout);
}

#[test]
fn damaged_traces_give_typed_errors_and_exit_code_1() {
    let files = Files::new();
    let cut = files.write("cut.bin", &TRACE[..5]);
    let output = files.decode(&[&cut]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(text(&output.stdout).lines().last(), Some("error: truncated at packet 1, byte 2.0"));
    assert_eq!(text(&output.stderr), "the trace has 1 error; 1 packet could be read\n");

    let empty = files.write("empty.bin", &[]);
    let output = files.decode(&[&empty]);
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(0), &b""[..]));

    // A linear congruential generator; any noise will do.
    let mut state = 1_u32;
    let noise: Vec<u8> = (0..1 << 20)
        .map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            state.to_be_bytes()[0]
        })
        .collect();
    let noise = files.write("noise.bin", &noise);
    for layer in [&[][..], &["--layer", "packets"], &["--format", "jsonl"]] {
        let output = files.decode(&[layer, &[&noise]].concat());
        assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
        assert!(!text(&output.stderr).contains("panicked"));
    }
}

#[test]
fn a_reader_that_goes_away_ends_it_quietly() {
    let files = Files::new();
    let long = [&TRACE[..6], &[0x01, 0x02].repeat(500_000)].concat();
    let long = files.write("long.bin", &long);
    let section = files.section();
    let mut child = xtask()
        .args(["decode", "--family", "riscv-etrace", "--section", &section, "--layer", "packets", &long])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("starts");
    let mut beginning = [0; 64];
    child.stdout.take().expect("piped").read_exact(&mut beginning).expect("something");
    let output = child.wait_with_output().expect("ends");
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), String::new()));
}

#[test]
fn wrong_arguments_and_files_are_one_line_and_exit_code_2() {
    let files = Files::new();
    let trace = files.path("trace.bin");
    let typo = files.write("typo.toml", b"xlen = \"rv32\"\niaddres_width_p = 32\n");
    let impossible = files.write("impossible.toml", b"iaddress_width_p = 65\n");
    let broken = files.write("broken.toml", b"xlen = \n");
    let directory = files.0.path().to_str().expect("text").to_owned();
    for (arguments, message) in [
        (vec![files.path("nothing.bin")], "nothing.bin: No such file"),
        (vec![directory], "Is a directory"),
        (
            vec![String::from("--parameters"), typo, trace.clone()],
            "typo.toml:2:1: `iaddres_width_p` is no attribute and no parameter",
        ),
        (vec![String::from("--parameters"), broken, trace.clone()], "broken.toml:1:"),
        (vec![String::from("--parameters"), impossible, trace.clone()], "iaddress_width_p"),
        (vec![String::from("--elf"), trace.clone(), trace.clone()], "trace.bin: no ELF file"),
        (vec![String::from("--section"), files.section(), trace.clone()], "overlaps"),
    ] {
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let output = files.decode(&arguments);
        let error = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{error}");
        assert!(error.starts_with("error: ") && error.contains(message), "{error}");
        assert_eq!(error.lines().count(), 1, "{error}");
        assert_eq!(text(&output.stdout), "");
    }
    for arguments in [
        &["decode", "--family", "riscv", &trace][..],
        &["decode", &trace],
        &["conformance", "--filter", "no case has this title"],
        &["conformance", "--level", "shall"],
        &["conformance", "--repeat", "0"],
        &["smoke"],
        &["smoke", "--subject", "nobody"],
        &["smoke", "--subject", "nothing.toml"],
        &["show", "no case has this title"],
        &["coverage", "--scope", "nowhere"],
        &["coverage", "RVET-NONE-999"],
        &["frobnicate"],
        &[],
    ] {
        let output = run(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", text(&output.stderr));
        assert_ne!(text(&output.stderr), "", "{arguments:?}");
    }
}

/// Of a trace that is text, the line that is wrong is named as people count lines.
#[test]
fn wrong_lines_of_text_are_named() {
    let files = Files::new();
    let registers = files.write("registers.txt", b"PMC4 = 0x02030828\nPMC8 = 0x1g\n");
    for arguments in [&["decode", "--text", &registers][..], &["explain", "--text", "--trace", &registers]] {
        let output = run(&[arguments, &["--family", "itanium-pmu"]].concat());
        assert_eq!(output.status.code(), Some(2));
        let error = text(&output.stderr);
        assert!(error.contains("registers.txt: line 2: `0x1g` is no number"), "{error}");
    }
}

/// Attributes as an encoder shows them, in place of parameters: RV64 with a 40-bit time in packets.
#[test]
fn encoders_are_described_by_their_attributes() {
    let files = Files::new();
    let attributes = files.write(
        "attributes.toml",
        b"xlen = \"rv64\"\niaddress_width = 63\nnotime = 0\ntime_width = 39\nfilters = 1\n",
    );
    // The start packet has 40 bits of time between privilege and address: 0x73, then 0x0123456789 from bit 7 on.
    let trace = [
        &[0x01, 0x1f][..],
        &[0x08, 0xf3, 0xc4, 0xb3, 0xa2, 0x91, 0x00, 0x00, 0x04],
        &[0x01, 0x12, 0x01, 0x5f],
    ]
    .concat();
    let trace = files.write("timed.bin", &trace);
    let output =
        files.decode(&["--parameters", &attributes, "--layer", "events", "--format", "jsonl", &trace]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stdout));
    assert!(text(&output.stdout).contains("0x123456789"), "{}", text(&output.stdout));

    let wrong = files.write("wrong.toml", b"iaddress_width = 64\nrevision = 0\n");
    let output = files.decode(&["--parameters", &wrong, &trace]);
    assert_eq!(output.status.code(), Some(2));
    let lines: Vec<String> = text(&output.stderr).lines().map(str::to_owned).collect();
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert!(lines[0].contains("wrong.toml:1:18: `iaddress_width` = 64 is not 0 to 63"), "{lines:?}");
    assert!(lines[1].contains("wrong.toml:2:1: `revision` is no attribute and no parameter"), "{lines:?}");
}

/// The encoder of a description is judged with the real programs of its width.
#[test]
fn described_encoders_are_judged() {
    let files = Files::new();
    let attributes = files.write("attributes.toml", b"cache_size = 4\nbpred_size = 6\nf0s_width = 1\n");
    let json = files.path("results.json");
    let first = text(&run(&["list"]).stdout).split_whitespace().next().expect("a case").to_owned();
    let common = ["conformance", "--parameters", &attributes, "--filter", &first, "--filter", "levels.*/own"];
    let output = run(&[&common[..], &["--family", "riscv-etrace", "--json", &json]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stdout));
    let results: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(json).expect("written")).expect("JSON");
    let programs = results["programs"].as_array().expect("programs");
    let names: Vec<_> = programs.iter().map(|run| (run["program"].as_str(), run["set"].as_str())).collect();
    assert_eq!(names, [(Some("levels.rv32"), Some("own"))]);
    let output = run(&common);
    assert_eq!(output.status.code(), Some(2), "which family?");
}

#[test]
fn executions_become_the_trace() {
    let files = Files::new();
    let words: Vec<u8> =
        [0x1000_u64, 0x1004, 0x1008].iter().flat_map(|address| address.to_le_bytes()).collect();
    let csv =
        files.write("run.csv", b"VALID,ADDRESS,INSN\n1,20,13\n1,1000,13\n0,0,0\n1,1004,13\n1,1008,13\n");
    let pc = files.write("run.pc", &words);
    let signals = b"iaddr,itype,ilastsize,iretire,priv\n0x1000,0,1,1,3\n4100,0,1,1,3\n0x1008,0,1,1,3\n";
    let signals = files.write("signals.csv", signals);
    let section = files.section();
    for (execution, format, skipped) in [(csv, "csv", true), (pc, "pc", false), (signals, "ingress", false)] {
        let (wire, packets) = (files.path("wire.bin"), files.path("packets.jsonl"));
        let common = ["encode", "--family", "riscv-etrace", "--section", &section];
        let output = run(&[
            &common[..],
            &["--execution", &execution, "--format", format, "-o", &wire, "--packets", &packets],
        ]
        .concat());
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        assert_eq!(text(&output.stderr).contains("1 step before"), skipped, "{}", text(&output.stderr));
        // Switching off at the end clears `ienable`; everything else is the hand-made trace.
        let mut expected = TRACE;
        expected[9] = 0x4f;
        assert_eq!(fs::read(&wire).expect("written"), expected, "{format}");
        assert_eq!(fs::read_to_string(&packets).expect("written").lines().count(), 4);
        let to_pipe = run(&[&common[..], &["--execution", &execution, "--format", format]].concat());
        assert_eq!(to_pipe.stdout, expected, "{format}");
        assert_eq!(files.decode(&["--layer", "events", &wire]).status.code(), Some(0));
    }
}

/// The worked stream A of ARM PFT (fact sheet 9.2): N and E atoms, a branch, a waypoint update, an IRQ and its return.
#[test]
fn steps_of_a_processor_become_the_trace() {
    let files = Files::new();
    let code = |name: &str, words: &[u32]| {
        files.write(name, &words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<_>>())
    };
    let main = code(
        "main.bin",
        &[
            0xe3a0_0001,
            0xe350_0000,
            0x0a00_0002,
            0xeb00_0003,
            0xe1a0_0000,
            0xeaff_fffe,
            0xe1a0_0000,
            0xe1a0_0000,
            0xe280_0001,
            0xe12f_ff1e,
        ],
    );
    let vector = code("vector.bin", &[0xe25e_f004]);
    let steps = [
        r#"{"action":{"signal":{"enable":{"address":"0x8000"}}}}"#,
        r#"{"action":{"execute":{"address":"0x8000"}}}"#,
        r#"{"action":{"execute":{"address":"0x8004"}}}"#,
        r#"{"action":{"execute":{"address":"0x8008","skipped":true}}}"#,
        r#"{"action":{"execute":{"address":"0x800c"}}}"#,
        r#"{"action":{"execute":{"address":"0x8020"}}}"#,
        r#"{"action":{"execute":{"address":"0x8024","to":{"address":"0x8010"}}}}"#,
        r#"{"action":{"execute":{"address":"0x8010"}}}"#,
        r#"{"action":{"exception":{"number":14,"returns_to":"0x8014","handler":{"address":"0x18"}}}}"#,
        r#"{"action":{"execute":{"address":"0x18","to":{"address":"0x8014"}}}}"#,
        r#"{"action":{"execute":{"address":"0x8014"}}}"#,
        r#"{"action":{"execute":{"address":"0x8014"}}}"#,
        r#"{"action":{"signal":"trigger"}}"#,
        r#"{"action":{"signal":"disable"}}"#,
    ];
    let execution = files.write("run.jsonl", steps.join("\n").as_bytes());
    let wire = files.path("wire.bin");
    let (main, vector) = (format!("0x8000:{main}"), format!("0x18:{vector}"));
    let common = ["encode", "--family", "arm-pft", "--section", &main, "--section", &vector];
    let output = run(&[&common[..], &["--execution", &execution, "-o", &wire]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("14 steps, 10 packets, 26 bytes"), "{}", text(&output.stderr));
    #[rustfmt::skip]
    let expected = [
        0x00, 0x00, 0x00, 0x00, 0x00, 0x80, 0x08, 0x00, 0x80, 0x00, 0x00, 0x21, 0x8c, 0x09, 0x72, 0x09,
        0x8d, 0x80, 0x40, 0x1c, 0x8b, 0x80, 0x01, 0x76, 0x88, 0x0c,
    ];
    assert_eq!(fs::read(&wire).expect("written"), expected);

    let csv = run(&[&common[..], &["--execution", &execution, "--format", "csv", "-o", &wire]].concat());
    assert_eq!(csv.status.code(), Some(2));
    let error = "unknown execution format `csv`; known are jsonl";
    assert!(text(&csv.stderr).contains(error), "{}", text(&csv.stderr));
}

/// A block of retired instructions ends where a filter of the policy begins or ends.
#[test]
fn the_policy_filters_an_execution_in_blocks() {
    let files = Files::new();
    let words: Vec<u8> =
        [0x1000_u64, 0x1004, 0x1008].iter().flat_map(|address| address.to_le_bytes()).collect();
    let (execution, wire) = (files.write("run.pc", &words), files.path("wire.bin"));
    let parameters = files.write("parameters.toml", b"retires_p = 4\n");
    let policy = files
        .write("policy.toml", b"filters = [{ addresses = [{ first = \"0x1004\", last = \"0x1004\" }] }]\n");
    let encode = ["encode", "--family", "riscv-etrace", "--section", &files.section()];
    let options = ["--parameters", &parameters, "--policy", &policy, "--format", "pc"];
    let output = run(&[&encode[..], &options[..], &["--execution", &execution, "-o", &wire]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let decoded = files.decode(&["--parameters", &parameters, "--layer", "events", &wire]);
    let events = text(&decoded.stdout);
    let retired: Vec<&str> = events.lines().filter(|line| line.contains("retire")).collect();
    assert_eq!(retired.len(), 1, "{events}");
    assert!(retired[0].contains("first=0x1004 end=0x1008 count=1"), "{events}");
}

#[test]
fn wrong_executions_are_named() {
    let files = Files::new();
    let section = files.section();
    for (name, bytes, format, message) in [
        (
            "hole.csv",
            &b"ADDRESS\n1000\n9000\n"[..],
            "csv",
            "hole.csv: record 3: column ADDRESS: the program has no code at 0x9000",
        ),
        (
            "bad.csv",
            b"ADDRESS\nxyz\n",
            "csv",
            "bad.csv: record 2: column ADDRESS: `xyz` is no number in base 16",
        ),
        ("none.csv", b"", "csv", "none.csv: record 1: the file is empty"),
        (
            "cut.pc",
            b"\0\x10\0\0\0\0\0\0\x04\x10",
            "pc",
            "cut.pc: record 2: the file ends within an 8-byte word",
        ),
        ("any.csv", b"", "vcd", "unknown execution format `vcd`; known are csv, pc"),
    ] {
        let execution = files.write(name, bytes);
        let wire = files.path("wire.bin");
        let output = run(&[
            "encode",
            "--family",
            "riscv-etrace",
            "--section",
            &section,
            "--execution",
            &execution,
            "--format",
            format,
            "-o",
            &wire,
        ]);
        let error = text(&output.stderr);
        assert_eq!((output.status.code(), error.lines().count()), (Some(2), 1), "{error}");
        assert!(error.contains(message), "{error}");
        assert!(!Path::new(&wire).exists(), "nothing is written");
    }
}

#[test]
fn cases_are_found_shown_and_explained() {
    let list = text(&run(&["list", "--family", "riscv_etrace"]).stdout);
    let first = list.split_whitespace().next().expect("a case").to_owned();
    let shown = run(&["show", &first]);
    assert_eq!(shown.status.code(), Some(0));
    assert!(text(&shown.stdout).contains(&format!("id = \"{first}\"")));
    let explained = run(&["explain", &first]);
    assert_eq!(explained.status.code(), Some(0));
    assert!(text(&explained.stdout).starts_with(&first));
    let ambiguous = run(&["show", "etr-"]);
    assert_eq!(ambiguous.status.code(), Some(2));
    assert!(text(&ambiguous.stderr).contains("matches"), "{}", text(&ambiguous.stderr));
}

#[test]
fn results_are_files_too() {
    let files = Files::new();
    let first = text(&run(&["list"]).stdout).split_whitespace().next().expect("a case").to_owned();
    let (json, junit) = (files.path("results.json"), files.path("results.xml"));
    let output = run(&[
        "conformance",
        "--filter",
        &first,
        "--json",
        &json,
        "--junit",
        &junit,
        "--jobs",
        "1",
        "--repeat",
        "2",
    ]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stdout));
    let results: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(json).expect("written")).expect("JSON");
    assert_eq!(results["schema"], 1);
    assert_eq!(results["cases"][0]["id"], first.as_str());
    assert!(fs::read_to_string(junit).expect("written").contains(&format!("<testcase name=\"{first}\"")));
}

/// Two recordings of real runs with traps, if they are next to the checkout: every instruction and every trap passes
/// the round trip.
#[test]
fn recordings_with_traps_come_back() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data/etrace");
    if !data.is_dir() {
        eprintln!("SKIPPED: {} is not there", data.display());
        return;
    }
    let files = Files::new();
    for name in ["trapsdev.rv32", "trapsdev.rv64"] {
        let elf: PathBuf = data.join("programs").join(name);
        let csv: PathBuf = data.join("traps").join(format!("{name}.truth.csv"));
        let (elf, csv) = (elf.to_str().expect("text"), csv.to_str().expect("text"));
        let wire = files.path(name);
        let common = ["--family", "riscv-etrace", "--elf", elf];
        let output = run(&[&["encode"], &common[..], &["--execution", csv, "-o", &wire]].concat());
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        let output =
            run(&[&["decode"], &common[..], &["--layer", "events", "--format", "jsonl", &wire]].concat());
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        assert_eq!(
            reported(&text(&output.stdout)),
            recorded(&fs::read_to_string(csv).expect("readable")),
            "{name}"
        );
    }
}

/// Runs of instructions as first address, end and count; traps as cause and EPC (of exceptions).
#[derive(Debug, PartialEq, Eq)]
enum Observed {
    Run(u64, u64, u64),
    Trap(u64, Option<u64>),
}

fn extend(observed: &mut Vec<Observed>, first: u64, limit: u64, instructions: u64) {
    match observed.last_mut() {
        Some(Observed::Run(_, end, count)) if *end == first => {
            *end = limit;
            *count += instructions;
        }
        _ => observed.push(Observed::Run(first, limit, instructions)),
    }
}

/// The content of the recording: the instruction of a trap row did not retire.
fn recorded(csv: &str) -> Vec<Observed> {
    let mut observed = Vec::new();
    for row in csv.lines().skip(1) {
        let fields: Vec<u64> =
            row.split(',').map(|field| u64::from_str_radix(field, 16).expect("a number")).collect();
        let (address, encoding, trapped, cause, interrupt) =
            (fields[1], fields[2], fields[4] != 0, fields[5], fields[7] != 0);
        if address < 0x8000_0000 {
            continue;
        }
        if !trapped {
            let size = if encoding & 3 == 3 { 4 } else { 2 };
            extend(&mut observed, address, address + size, 1);
        }
        if trapped {
            observed.push(Observed::Trap(cause, (!interrupt).then_some(address)));
        }
    }
    observed
}

fn reported(lines: &str) -> Vec<Observed> {
    let mut observed = Vec::new();
    let number = |value: &serde_json::Value| {
        let text = value.as_str().expect("a number in text");
        u64::from_str_radix(text.trim_start_matches("0x"), 16).expect("hexadecimal")
    };
    for line in lines.lines() {
        let record: serde_json::Value = serde_json::from_str(line).expect("JSON");
        let event = &record["event"];
        if let Some(run) = event.get("retire") {
            extend(
                &mut observed,
                number(&run["first"]),
                number(&run["end"]),
                run["count"].as_u64().expect("count"),
            );
        } else if let Some(trap) = event.get("trap") {
            let epc = (!trap["interrupt"].as_bool().expect("a flag")).then(|| number(&trap["epc"]["at"]));
            observed.push(Observed::Trap(trap["cause"].as_u64().expect("a cause"), epc));
        }
    }
    observed
}

#[test]
fn adaptors_begin_as_ones_that_work() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = |name: &str| directory.path().join(name).to_str().expect("text").to_owned();
    for (side, language, file, names_it) in [
        ("", "python", "example.py", "tdut.serve(\"acme-python\","),
        ("", "c", "example.c", "\\\"name\\\":\\\"acme-c\\\""),
        ("", "rust", "src/main.rs", "Subject::new(\"acme-rust\","),
        ("encoder-", "python", "example.py", "tdut.serve_encoder(\"acme-encoder-python\","),
        ("encoder-", "c", "example.c", "\\\"name\\\":\\\"acme-encoder-c\\\""),
    ] {
        let kit = path(&format!("acme-{side}{language}"));
        let encoder = if side.is_empty() { &[][..] } else { &["--encoder"][..] };
        let made = run(&[&["adaptor", "new", "--lang", language, &kit], encoder].concat());
        assert!(made.status.success(), "{}", text(&made.stderr));
        let written = fs::read_to_string(Path::new(&kit).join(file)).expect("written");
        assert!(written.contains(names_it), "{language}");
        assert!(Path::new(&kit).join("subject.toml").exists());
        let again = run(&["adaptor", "new", "--lang", language, &kit]);
        assert_eq!(again.status.code(), Some(2));
        assert!(text(&again.stderr).ends_with("exists; nothing was written\n"));
    }
    let manifest = fs::read_to_string(path("acme-rust/Cargo.toml")).expect("written");
    assert!(manifest.contains("name = \"acme-rust\""));
    let checkout = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("a workspace");
    let rust = |name: &str, crates: &Path| {
        let kit = path(name);
        let crates = crates.to_str().expect("text");
        (run(&["adaptor", "new", "--lang", "rust", "--crates", crates, &kit]), kit)
    };
    let (made, kit) = rust("of-checkout", checkout);
    assert!(made.status.success(), "{}", text(&made.stderr));
    let manifest = fs::read_to_string(Path::new(&kit).join("Cargo.toml")).expect("written");
    assert!(manifest.contains(&format!("traceproof-vectors = {{ path = {:?} }}", checkout.join("vectors"))));
    let (none, kit) = rust("of-nothing", directory.path());
    assert_eq!((none.status.code(), Path::new(&kit).exists()), (Some(2), false));
    assert_eq!(
        run(&["adaptor", "new", "--lang", "c", "--crates", ".", &path("c-crates")]).status.code(),
        Some(2)
    );
    assert_eq!(run(&["adaptor", "new", "--lang", "c", "1x"]).status.code(), Some(2));
    let none = run(&["adaptor", "new", "--lang", "rust", "--encoder", &path("rust-encoder")]);
    assert_eq!((none.status.code(), Path::new(&path("rust-encoder")).exists()), (Some(2), false));
}

#[test]
fn programs_are_judged_by_their_file() {
    let python =
        Command::new("python3").arg("--version").output().is_ok_and(|output| output.status.success());
    if !python {
        eprintln!("NOTICE: there is no python3; a program as a subject is NOT tested");
        return;
    }
    let directory = tempfile::tempdir().expect("a directory");
    let kit = directory.path().join("acme").to_str().expect("text").to_owned();
    assert!(run(&["adaptor", "new", "--lang", "python", &kit]).status.success());
    let subject = format!("{kit}/subject.toml");
    let arguments = ["conformance", "--subject", &subject, "--timeout-scale", "60", "--filter", "etr-0001"];
    let judged = run(&arguments);
    let report = text(&judged.stdout);
    assert!(judged.status.success(), "{report}{}", text(&judged.stderr));
    assert!(report.contains("subject acme 1.0, suite"), "{report}");

    let smoke = ["smoke", "--subject", &subject, "--timeout-scale", "60"];
    let honest = run(&smoke);
    let report = text(&honest.stdout);
    assert!(honest.status.success() && report.contains("PASS: acme 1.0 is fit to be judged"), "{report}");

    fs::write(Path::new(&kit).join("example.py"), "raise SystemExit('no licence')\n").expect("writable");
    let silent = run(&smoke);
    let report = text(&silent.stdout);
    assert_eq!(silent.status.code(), Some(1), "{report}");
    assert!(report.starts_with("FAIL  start") && report.contains("no licence"), "{report}");
    // Nothing was judged, so nothing failed: something is broken.
    let dead = run(&arguments);
    assert_eq!(dead.status.code(), Some(3));
    assert!(
        text(&dead.stderr).contains("it exited with status 1 instead of an answer"),
        "{}",
        text(&dead.stderr)
    );
    assert!(text(&dead.stderr).contains("no licence"));
    let hint = format!("`traceproof smoke --subject {subject}` shows more");
    assert!(text(&dead.stderr).contains(&hint), "{}", text(&dead.stderr));
    fs::write(&subject, "comand = ['x']\n").expect("writable");
    let wrong = run(&arguments);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(
        text(&wrong.stderr).contains("subject.toml:1:1: unknown field `comand`"),
        "{}",
        text(&wrong.stderr)
    );
}

/// Ctrl-C: running cases are reported, the rest is reported as missing, and no process is left running.
#[cfg(unix)]
#[test]
fn ctrl_c_ends_with_the_results_so_far() {
    use std::thread::sleep;
    use std::time::{Duration, Instant};

    let files = Files::new();
    // A tool that takes its time for every stream, with a child that would outlive it.
    files.write("slow.sh", b"echo $$ >> \"$PROCESSES\"\nsleep 1000 &\nsleep 0.2\n");
    let (processes, json) = (files.path("processes"), files.path("results.json"));
    let subject = format!(
        "[exec]\nargv = ['sh', 'slow.sh', '{{input}}']\n[exec.decoders.riscv_etrace]\nlayers = ['packets']\n\
         features = ['rv32', 'compressed']\n[env]\nPROCESSES = '{processes}'\n[deadlines]\nscale = 60.0\n"
    );
    let subject = files.write("slow.toml", subject.as_bytes());
    let mut child = xtask()
        .args(["conformance", "--subject", &subject, "--family", "riscv-etrace", "--no-real-programs"])
        .args(["--jobs", "2", "--json", &json])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("starts");
    let started =
        || fs::read_to_string(&processes).unwrap_or_default().lines().map(str::to_owned).collect::<Vec<_>>();
    let patience = Instant::now() + Duration::from_secs(120);
    while started().len() < 4 && Instant::now() < patience && child.try_wait().expect("its child").is_none() {
        sleep(Duration::from_millis(20));
    }
    let interrupted = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("starts");
    assert!(interrupted.success(), "it had ended before");
    while child.try_wait().expect("its child").is_none() && Instant::now() < patience {
        sleep(Duration::from_millis(20));
    }
    // Only if it did not end by itself.
    let _ = child.kill();
    let output = child.wait_with_output().expect("ends");
    let report = text(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{report}{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("stopping"), "{}", text(&output.stderr));
    assert!(report.contains("INCOMPLETE: the run was stopped, cases are missing"), "{report}");

    let results: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(json).expect("written")).expect("JSON");
    assert_eq!(results["incomplete"], true);
    let cases = results["cases"].as_array().expect("cases").len();
    let all = text(&run(&["list", "--family", "riscv-etrace"]).stdout).lines().count();
    assert!(cases > 0 && cases < all, "{cases} of {all}");

    let lives = |group: &String| {
        let asked =
            Command::new("kill").args(["-0", "--", &format!("-{group}")]).stderr(Stdio::null()).status();
        asked.expect("starts").success()
    };
    let patience = Instant::now() + Duration::from_secs(60);
    while started().iter().any(lives) && Instant::now() < patience {
        sleep(Duration::from_millis(20));
    }
    let left: Vec<String> = started().into_iter().filter(lives).collect();
    assert_eq!(left, [""; 0]);
}
