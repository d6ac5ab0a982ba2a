//! `decode`: bytes of packets, parts of a trace, instructions, addresses and statistics.

use std::fs;
use std::path::Path;

use tempfile::TempDir;

use super::commands::{run, text};

/// Support, start at 0x1000, address +8, ended: three instructions, worked out by hand from ET 7.
const TRACE: [u8; 10] = [0x01, 0x1f, 0x03, 0x73, 0x00, 0x04, 0x01, 0x12, 0x01, 0x5f];

struct Files(TempDir);

impl Files {
    fn new() -> Self {
        let files = Self(tempfile::tempdir().expect("a directory"));
        files.write("nops.bin", &[0x13, 0, 0, 0].repeat(16));
        files.write("trace.bin", &TRACE);
        files
    }

    fn write(&self, name: &str, bytes: &[u8]) -> String {
        fs::write(self.path(name), bytes).expect("writable");
        self.path(name)
    }

    fn path(&self, name: &str) -> String {
        self.0.path().join(name).to_str().expect("text").to_owned()
    }

    /// The output of `decode` for the trace.
    fn decode(&self, more: &[&str]) -> String {
        let section = format!("0x1000:{}", self.path("nops.bin"));
        let trace = self.path("trace.bin");
        let common = ["decode", "--family", "riscv-etrace", "--section", &section];
        let output = run(&[&common[..], more, &[&trace]].concat());
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        assert_eq!(text(&output.stderr), "");
        text(&output.stdout)
    }
}

/// The columns up to `width`, without blanks at the end.
fn columns(listing: &str, width: usize) -> Vec<String> {
    listing.lines().map(|line| line.chars().take(width).collect::<String>().trim_end().to_owned()).collect()
}

#[test]
fn bytes_of_packets_are_a_column() {
    let files = Files::new();
    let shown = columns(&files.decode(&["--layer", "packets", "--raw"]), 52);
    let expected = [
        "       0          1.0 1f                      packet",
        "       1          3.0 73 00 04                packet",
        "       2          7.0 12                      packet",
        "       3          9.0 5f                      packet",
    ];
    assert_eq!(shown, expected);
    let line = files.decode(&["--layer", "packets", "--raw", "--format", "jsonl", "--packets", "1..2"]);
    let start: serde_json::Value = serde_json::from_str(&line).expect("one line");
    assert_eq!(start["bytes"], "73 00 04");
}

#[test]
fn a_part_of_a_trace_is_listed() {
    let files = Files::new();
    let whole = files.decode(&[]);
    let of_packet = |packet: &str| -> String {
        whole
            .lines()
            .filter(|line| line.trim_start().starts_with(packet))
            .map(|line| format!("{line}\n"))
            .collect()
    };
    assert_eq!(files.decode(&["--packets", "2..3"]), of_packet("2 "));
    assert_eq!(files.decode(&["--bytes", "4..0x8"]), of_packet("2 "));
    let retired = files.decode(&["--address", "0x1008..0x100a"]);
    assert_eq!(retired.lines().count(), 1, "{retired}");
    assert!(retired.contains("end=0x100c"), "{retired}");
    assert_eq!(files.decode(&["--address", "0x100c..0x2000"]), "");
}

#[test]
fn instructions_are_ranges() {
    let files = Files::new();
    let expected = "       1          3.0 instructions first=0x1000 end=0x100c count=3 encoding=riscv\n";
    assert_eq!(files.decode(&["--layer", "instructions"]), expected);
}

/// The first packets of case ete-`a_sync_of_16_zeros`, of which the wire is known from the specification: A-sync, Trace
/// Info, Trace On, Target Address 0x8000 with the context, E atoms.
#[test]
fn every_family_encodes_the_stimulus_of_a_case() {
    let files = Files::new();
    let program = "program = \"\"\"\n.org 0x8000\nL: b L\n\"\"\"\n";
    let stimulus = "stimulus = [{ enable = \"L\" }, { taken = \"L\", to = \"L\" }, { disable = true }]\n";
    let execution = files.write("run.toml", format!("{program}{stimulus}").as_bytes());
    let wire = files.path("ete.bin");
    let encode =
        |execution: &str| run(&["encode", "--family", "arm-ete", "--execution", execution, "-o", &wire]);
    let output = encode(&execution);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let bytes = fs::read(&wire).expect("a trace");
    let expected =
        [&[0; 11][..], &[0x80, 0x01, 0x00, 0x04, 0x82, 0x00, 0x40, 0x00, 0x00, 0x31, 0xf7]].concat();
    assert_eq!(bytes, expected);
    for (name, wrong, part) in [
        ("label.toml", stimulus.to_owned(), "stimulus[0]"),
        ("key.toml", format!("{program}stimulus = [{{ enabled = \"L\" }}]"), "unknown field `enabled`"),
        ("none.toml", program.to_owned(), "missing field `stimulus`"),
    ] {
        let output = encode(&files.write(name, wrong.as_bytes()));
        let error = text(&output.stderr);
        assert!(output.status.code() == Some(2) && error.contains(part), "{name}: {error}");
    }
    let output =
        run(&["encode", "--family", "arm-ete", "--execution", &execution, "--format", "csv", "-o", &wire]);
    assert!(text(&output.stderr).contains("known are stimulus"), "{}", text(&output.stderr));
}

/// `encode` makes the trace of the addresses that `decode` takes out of it.
#[test]
fn addresses_make_the_trace_again() {
    let files = Files::new();
    let section = format!("0x1000:{}", files.path("nops.bin"));
    let words: Vec<u8> = [0x1000_u64, 0x1004, 0x1008].iter().flat_map(|pc| pc.to_le_bytes()).collect();
    let pc = files.path("run.pc");
    assert_eq!(files.decode(&["--format", "pc", "-o", &pc]), "");
    assert_eq!(fs::read(&pc).expect("written"), words);
    let output = run(&[
        &["encode", "--family", "riscv-etrace", "--section", &section][..],
        &["--execution", &pc, "--format", "pc"],
    ]
    .concat());
    // Switching off at the end clears `ienable`.
    let mut expected = TRACE;
    expected[9] = 0x4f;
    assert_eq!(output.stdout, expected);
}

#[test]
fn statistics_are_a_table_or_json() {
    let files = Files::new();
    insta::assert_snapshot!("statistics", files.decode(&["--statistics"]));
    let line = files.decode(&["--statistics", "--format", "jsonl"]);
    let found: serde_json::Value = serde_json::from_str(&line).expect("one line");
    let statistics = &found["statistics"];
    assert_eq!((&statistics["bytes"], &statistics["instructions"]), (&10.into(), &3.into()));
    assert_eq!(statistics["bits_per_instruction"], 26.667, "80 bits");
    assert_eq!(statistics["packets"]["support"], serde_json::json!({ "count": 2, "bytes": 2, "longest": 1 }));
    assert_eq!(statistics["bytes_without_packet"], 4, "a header of each packet");
}

/// PFT: bytes before the first A-sync, A-sync, I-sync at 0x8000 (pft-0017).
#[test]
fn bytes_before_the_first_sync_point_are_reported() {
    let files = Files::new();
    let bytes = [0x84, 0x90, 0x08, 0, 0, 0, 0, 0, 0x80, 0x08, 0x00, 0x80, 0x00, 0x00, 0x21];
    let trace = files.write("pft.bin", &bytes);
    let output = run(&["decode", "--family", "arm-pft", &trace]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert_eq!(text(&output.stderr), "note: 3 bytes before the first packet\n");
    assert_eq!(text(&output.stdout).lines().count(), 2);
    let line = run(&["decode", "--family", "arm-pft", "--statistics", "--format", "jsonl", &trace]).stdout;
    let found: serde_json::Value = serde_json::from_slice(&line).expect("one line");
    assert_eq!(found["statistics"]["bytes_without_packet"], 3);
}

#[test]
fn what_cannot_be_listed_is_refused() {
    let files = Files::new();
    let trace = files.path("trace.bin");
    for (arguments, message) in [
        (&["--layer", "instructions"][..], "--elf or --section is missing"),
        (&["--format", "pc"], "--elf or --section is missing"),
        (&["--address", "0x1000..0x2000"], "--elf or --section is missing"),
        (&["--packets", "3..3"], "is no range"),
        (&["--bytes", "3"], "is no range"),
        (&["--format", "pc", "--layer", "events"], "no packets or events"),
        (&["--statistics", "--layer", "events"], "cannot be used with"),
    ] {
        let output = run(&[&["decode", "--family", "riscv-etrace", &trace][..], arguments].concat());
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(text(&output.stderr).contains(message), "{}", text(&output.stderr));
    }
    let registers = files.write("registers.txt", b"PMC4 = 0x02030828\n");
    let itanium = ["decode", "--family", "itanium-pmu", "--text", "--layer", "instructions", &registers];
    assert!(text(&run(&itanium).stderr).contains("traces none"));
}

/// A shipped program and its execution: every instruction is counted once, in functions that exist.
#[test]
fn instructions_of_a_real_program_are_counted_by_call_stack() {
    let files = Files::new();
    let program =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../vectors/programs/riscv_etrace/mix.rv32imc.elf");
    let program = program.to_str().expect("text");
    // `_start` sets up `gp` and `sp`; execution stops before its first call.
    let words: Vec<u8> = [0x8000_0000_u64, 0x8000_0004].iter().flat_map(|pc| pc.to_le_bytes()).collect();
    let (run_pc, trace) = (files.write("run.pc", &words), files.path("start.bin"));
    let common = ["--family", "riscv-etrace", "--elf", program];
    let encoded =
        run(&[&["encode"][..], &common, &["--execution", &run_pc, "--format", "pc", "-o", &trace]].concat());
    assert_eq!(encoded.status.code(), Some(0), "{}", text(&encoded.stderr));
    let folded = run(&[&["decode", "--format", "folded"][..], &common, &[&trace]].concat());
    assert_eq!(text(&folded.stdout), "_start 2\n", "{}", text(&folded.stderr));
    let ranges = run(&[&["decode", "--layer", "instructions"][..], &common, &[&trace]].concat());
    assert!(text(&ranges.stdout).ends_with(" function=_start\n"), "{}", text(&ranges.stdout));
}

#[test]
fn a_trace_goes_through_another_decoder() {
    let files = Files::new();
    let shown = files.decode(&["--subject", "reference"]);
    assert!(shown.ends_with("no difference: reference decodes this as the reference does\n"), "{shown}");
    let section = format!("0x1000:{}", files.path("nops.bin"));
    let trace = files.path("trace.bin");
    let common = ["decode", "--family", "riscv-etrace", "--section", &section, &trace];
    let unknown = run(&[&common[..], &["--subject", "nowhere.toml"]].concat());
    assert_eq!(unknown.status.code(), Some(2));
    for other in ["--raw", "--statistics"] {
        let output = run(&[&common[..], &["--subject", "reference", other]].concat());
        assert!(text(&output.stderr).contains("cannot be used with"), "{other}");
    }
}

/// What `llvm-objdump -d -l` prints of the program: two instructions of `twice`, and those of its caller up to the call.
#[test]
fn instructions_are_disassembled_with_their_source() {
    let files = Files::new();
    let elf = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli/lines/twice.elf");
    let elf = elf.to_str().expect("text");
    let addresses =
        [0x1004_u64, 0x1006, 0x1008, 0x100a, 0x100e, 0x1000, 0x1002, 0x1012].map(u64::to_le_bytes);
    let (run_pc, trace) = (files.write("run.pc", &addresses.concat()), files.path("twice.bin"));
    let common = ["--family", "riscv-etrace", "--elf", elf];
    let made =
        run(&[&["encode"], &common[..], &["--execution", &run_pc, "--format", "pc", "-o", &trace]].concat());
    assert_eq!(made.status.code(), Some(0), "{}", text(&made.stderr));
    let decode = |more: &[&str]| {
        let output = run(&[&["decode"], &common[..], more, &[&trace]].concat());
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        text(&output.stdout)
    };
    let expected = "instructions first=0x1000 end=0x1004 count=2 encoding=riscv function=twice
                       ./twice.c:6
                         0x1000 0506      slli a0,a0,0x1
                         0x1002 8082      ret
";
    let both = decode(&["--disassemble", "--source-lines"]);
    assert!(both.contains(expected), "{both}");
    assert!(
        both.contains(
            "\n                       ./twice.c:11\n                         0x1006 c606      sw ra,12(sp)\n"
        ),
        "{both}"
    );
    assert!(both.contains("0x100e ff6080e7  jalr -10(ra)\n"), "{both}");
    let lines = decode(&["--source-lines"]);
    assert!(lines.contains("function=twice\n                       ./twice.c:6\n       "), "{lines}");
    let jsonl = decode(&["--disassemble", "--source-lines", "--format", "jsonl"]);
    let ranges: Vec<serde_json::Value> =
        jsonl.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let twice =
        ranges.iter().map(|range| &range["instructions"]).find(|it| it["function"] == "twice").expect("it");
    let last =
        serde_json::json!({ "address": "0x1002", "code": "8082", "text": "ret", "line": "./twice.c:6" });
    assert_eq!((&twice["list"][1], twice["list"].as_array().map(Vec::len)), (&last, Some(2)));
}

#[test]
fn instructions_that_cannot_be_explained_are_refused() {
    let files = Files::new();
    let (trace, section) = (files.path("trace.bin"), format!("0x1000:{}", files.path("nops.bin")));
    let common = ["decode", "--family", "riscv-etrace", "--section", &section, &trace];
    for (more, part) in [
        (&["--source-lines"][..], "compiled with -g"),
        (&["--disassemble", "--layer", "packets"], "list instructions"),
        (&["--disassemble", "--statistics"], "list instructions"),
        (&["--disassemble", "--format", "folded"], "text or jsonl"),
    ] {
        let output = run(&[&common[..], more].concat());
        assert_eq!(output.status.code(), Some(2), "{more:?}");
        assert!(text(&output.stderr).contains(part), "{more:?}: {}", text(&output.stderr));
    }
}

/// What `llvm-objdump` prints of the first four words of the sample, but for `#` before targets.
const ARM: &str = "
                         0x8000 e3a00001  mov r0, #1
                         0x8004 e3500000  cmp r0, #0
                         0x8008 0a000002  beq #0x8018
                         0x800c eb000003  bl #0x8020
";

#[test]
fn arm_code_is_disassembled_where_the_program_can() {
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/samples/arm_pft");
    let section = format!("0x8000:{}", samples.join("code-0x8000.bin").display());
    let trace = samples.join("trace.bin");
    let trace = trace.to_str().expect("text");
    let output = run(&["decode", "--family", "arm-pft", "--section", &section, "--disassemble", trace]);
    if cfg!(feature = "disassembly-arm") {
        let shown = text(&output.stdout);
        assert!(shown.contains(ARM), "{shown}");
    } else {
        assert_eq!(output.status.code(), Some(2));
        assert!(text(&output.stderr).contains("--features disassembly-arm"), "{}", text(&output.stderr));
    }
}
