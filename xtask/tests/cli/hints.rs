//! `decode` names the parameter that would have accepted a trace, and `--set` sets it.

use std::fs;
use std::process::{Command, Output, Stdio};

use super::commands::{run, text};

/// PFT with four bytes of Context ID (PFT-CFG-001): A-sync, I-sync, Context ID, E, a branch, Context ID, A-sync, I-sync,
/// E.
const CONTEXT_IDS: [u8; 49] = [
    0x00, 0x00, 0x00, 0x00, 0x00, 0x80, 0x08, 0x00, 0x00, 0x00, 0x00, 0x21, 0x00, 0x00, 0x00, 0x00, 0x6e,
    0x00, 0x00, 0x00, 0x00, 0x84, 0x81, 0x80, 0x80, 0x80, 0x08, 0x6e, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x80, 0x08, 0x00, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00, 0x84,
];

/// E-Trace: support, start at 0x4000001000, +8, ended. The upper bit of the address is bit 44 of its packet, where 32
/// bits of address end at bit 37; 40 is the least width that has it below its sign (ET 7).
const LONG_ADDRESS: [u8; 13] = [0x01, 0x1f, 0x06, 0x73, 0x00, 0x04, 0x00, 0x00, 0x10, 0x01, 0x12, 0x01, 0x5f];

struct Trace(tempfile::TempDir, &'static str);

impl Trace {
    fn new(family: &'static str, bytes: &[u8]) -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        fs::write(directory.path().join("trace.bin"), bytes).expect("writable");
        Self(directory, family)
    }

    fn decode(&self, more: &[&str]) -> Output {
        let trace = self.0.path().join("trace.bin");
        run(&[&["decode", "--family", self.1][..], more, &[trace.to_str().expect("text")]].concat())
    }

    fn hints(&self, more: &[&str]) -> Vec<String> {
        let output = self.decode(more);
        assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
        let lines = text(&output.stderr);
        lines.lines().filter(|line| line.starts_with("hint: with")).map(str::to_owned).collect()
    }
}

#[test]
fn the_parameter_that_accepts_the_trace_is_named() {
    for (family, bytes, change) in [
        ("arm-pft", &CONTEXT_IDS[..], "context_id_bytes=4"),
        ("riscv-etrace", &LONG_ADDRESS, "iaddress_width_p=40"),
    ] {
        let trace = Trace::new(family, bytes);
        let hint = format!("hint: with --set {change} the trace has no fault");
        let hints = trace.hints(&[]);
        assert!(hints.contains(&hint) && hints.len() <= 3, "{family}: {hints:?}");
        let output = trace.decode(&["--set", change]);
        assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), String::new()));
        assert_eq!(trace.hints(&["--no-hints"]), [""; 0]);
        assert_eq!(trace.hints(&["--format", "jsonl"]), [""; 0]);
    }
}

/// Neither a trace that is cut off nor a damaged one has the wrong parameters, and a pipe cannot be read once more.
#[test]
fn other_faults_have_no_hints() {
    let cut = Trace::new("arm-pft", &CONTEXT_IDS[..44]);
    assert_eq!(cut.hints(&["--set", "context_id_bytes=4"]), [""; 0]);
    let mut bytes = CONTEXT_IDS;
    // Reserved whatever the parameters are (PFT-ERR-002).
    bytes[21] = 0x10;
    assert_eq!(Trace::new("arm-pft", &bytes).hints(&["--set", "context_id_bytes=4"]), [""; 0]);
    let trace = Trace::new("arm-pft", &CONTEXT_IDS);
    let input = fs::File::open(trace.0.path().join("trace.bin")).expect("readable");
    let piped = Command::new(env!("CARGO_BIN_EXE_traceproof"))
        .args(["decode", "--family", "arm-pft", "-"])
        .stdin(Stdio::from(input))
        .output()
        .expect("starts");
    assert!(!text(&piped.stderr).contains("--set"), "{}", text(&piped.stderr));
}

#[test]
fn a_parameter_that_cannot_be_set_is_an_error() {
    let trace = Trace::new("riscv-etrace", &LONG_ADDRESS);
    for (change, part) in [
        ("iaddress_lbs_p=2", "unknown field `iaddress_lbs_p`, expected one of"),
        ("modes.fast=true", "unknown field `fast`"),
        ("version=9", "version=9"),
        ("itype_width_p=9", "itype_width_p"),
        ("itype_width_p", "expected NAME=VALUE"),
    ] {
        let output = trace.decode(&["--set", change]);
        let error = text(&output.stderr);
        assert!(output.status.code() == Some(2) && error.contains(part), "{change}: {error}");
    }
    let set = ["--set", "version=2.0.5", "--set", "encapsulation.normal.src_id_bits=0x4"];
    let output = trace.decode(&set);
    assert_ne!(output.status.code(), Some(2), "{}", text(&output.stderr));
}
