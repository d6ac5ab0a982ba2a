//! Snapshot directories on the command line: which sources there are, their traces, and what is not supported.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

/// ARM code at 0x8000: nop; beq 0x800c; nop; b 0x8000.
const CODE: [u32; 4] = [0xe320_f000, 0x0a00_0000, 0xe320_f000, 0xeaff_fffb];

/// A-sync; I-sync, tracing enabled at 0x8000; P-header EEE.
const TRACE: [u8; 13] = [0, 0, 0, 0, 0, 0x80, 0x08, 0x21, 0x00, 0x80, 0, 0, 0x8c];

/// The same in one formatter frame under ID 0x10, worked out by hand: byte 0 is the ID (0x10 << 1 | 1); bytes at even
/// places lose bit 0 to byte 15, whose bit 4 stands for byte 8 (0x21 travels as 0x20); byte 14 is the null ID.
const FRAME: [u8; 16] = [0x21, 0, 0, 0, 0, 0, 0x80, 0x08, 0x20, 0x00, 0x80, 0, 0, 0x8c, 0x01, 0x10];

const TOP: &str = "[snapshot]\nversion=1.0\n[device_list]\nd0=cpu.ini\nd1=etm.ini\nd2=stm.ini\n[trace]\nmetadata=trace.ini\n";
const CPU: &str = "[device]\nname=cpu_0\nclass=core\ntype=Cortex-A7\n[dump]\nfile=code.bin\naddress=0x8000\n";
/// ETMv3.5 with neither data, cycles nor timestamps.
const ETM: &str = "[device]\nname=ETM_0\nclass=trace_source\ntype=ETM3.5\n[regs]\nETMCR(0x000)=0x00000860\n\
    ETMIDR(0x079)=0x410CF250\nETMCCER(0x07A)=0x344008F2\nETMTRACEIDR(0x080)=0x10\n";
/// Of a family that this build does not have.
const STM: &str =
    "[device]\nname=STM_0\nclass=trace_source\ntype=STM1.0\n[regs]\nSTMTCSR(0xE80)=0x00110000\n";
const DESCRIPTION: &str = "[trace_buffers]\nbuffers=b0\n[b0]\nname=ETB_0\nfile=trace.bin\nformat=coresight\n\
    [source_buffers]\nETM_0=ETB_0\nSTM_0=ETB_0\n[core_trace_sources]\ncpu_0=ETM_0\n";

fn run(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_traceproof"));
    command.env_remove("COLUMNS").env_remove("TRACEPROOF_PROGRAM").env("NO_COLOR", "1").stdin(Stdio::null());
    command.args(arguments).output().expect("starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("text")
}

/// The snapshot with one file replaced.
fn snapshot(name: &str, content: &[u8]) -> TempDir {
    let directory = tempfile::tempdir().expect("a directory");
    let code: Vec<u8> = CODE.iter().flat_map(|word| word.to_le_bytes()).collect();
    let files: [(&str, &[u8]); 6] = [
        ("snapshot.ini", TOP.as_bytes()),
        ("cpu.ini", CPU.as_bytes()),
        ("etm.ini", ETM.as_bytes()),
        ("stm.ini", STM.as_bytes()),
        ("trace.ini", DESCRIPTION.as_bytes()),
        ("code.bin", &code),
    ];
    for (file, content) in files {
        fs::write(directory.path().join(file), content).expect("written");
    }
    fs::write(directory.path().join("trace.bin"), FRAME).expect("written");
    fs::write(directory.path().join(name), content).expect("written");
    directory
}

fn decode(snapshot: &TempDir, more: &[&str]) -> Output {
    let path = snapshot.path().to_str().expect("text");
    run(&[&["decode", path], more].concat())
}

/// Names of a snapshot are shown without what a terminal would obey.
#[test]
fn names_of_a_snapshot_command_no_terminal() {
    let named = snapshot("trace.ini", DESCRIPTION.replace("ETB_0", "E\x1b[2J\u{202e}").as_bytes());
    let output = decode(&named, &[]);
    let shown = text(&output.stdout) + &text(&output.stderr);
    assert!(shown.contains(r", buffer E\u{1b}[2J\u{202e} ("), "{shown}");
    assert!(!shown.contains(['\x1b', '\u{202e}']), "{shown:?}");
}

const HEADER: &str = "source ETM_0: ETM3.5, trace ID 0x10, core cpu_0, buffer ETB_0 (coresight), 13 bytes\n";
const OTHER: &str =
    "source STM_0: STM1.0, trace ID 0x11, buffer ETB_0 (coresight), 0 bytes: `STM1.0` is not supported yet\n";

#[test]
fn sources_are_listed_and_decoded_as_files_are() {
    let directory = snapshot("other.txt", b"");
    let output = decode(&directory, &[]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert_eq!(text(&output.stderr), "passed over: STM_0: `STM1.0` is not supported yet\n");
    let listed = text(&output.stdout);
    assert!(listed.starts_with(HEADER) && listed.ends_with(OTHER), "{listed}");
    // The addresses of the three instructions: the branch at 0x8004 is taken.
    let atoms: Vec<&str> = listed.lines().filter(|line| line.contains("event  atom")).collect();
    assert_eq!(atoms.len(), 3, "{listed}");
    for (atom, address) in atoms.iter().zip(["0x8000", "0x8004", "0x800c"]) {
        assert!(atom.contains(address), "{atom}");
    }

    // The same bytes and parameters as files.
    let files = tempfile::tempdir().expect("a directory");
    let path = |name: &str| files.path().join(name).to_str().expect("text").to_owned();
    fs::write(path("trace.bin"), TRACE).expect("written");
    let parameters =
        "architecture = \"v3\"\nminor = 5\ndata_value = false\ndata_address = false\nvirtualization = true\n";
    fs::write(path("etm.toml"), parameters).expect("written");
    let section = format!("0x8000:{}", directory.path().join("code.bin").display());
    for more in [&[][..], &["--layer", "packets"], &["--layer", "events"], &["--format", "jsonl"]] {
        let (parameters, trace) = (path("etm.toml"), path("trace.bin"));
        let common =
            ["decode", "--family", "arm-etm", "--parameters", &parameters, "--section", &section, &trace];
        let file = run(&[&common, more].concat());
        assert_eq!(file.status.code(), Some(0), "{}", text(&file.stderr));
        let output = decode(&directory, &[&["--source", "ETM_0"], more].concat());
        assert_eq!((output.status.code(), text(&output.stderr).as_str()), (Some(0), ""));
        let listed = text(&output.stdout);
        let (header, rest) = listed.split_once('\n').expect("a header");
        assert_eq!(rest, text(&file.stdout), "{more:?}");
        assert!(!rest.is_empty());
        if more.contains(&"jsonl") {
            let header: serde_json::Value = serde_json::from_str(header).expect("JSON");
            assert_eq!(
                header["source"],
                serde_json::json!({
                    "name": "ETM_0", "type": "ETM3.5", "trace_id": 16, "core": "cpu_0",
                    "buffer": "ETB_0", "format": "coresight", "bytes": 13
                })
            );
        }
    }
}

#[test]
fn every_format_of_a_buffer_gives_the_same() {
    let expected = decode(&snapshot("other.txt", b""), &["--source", "0x10"]);
    let events = |output: &Output| {
        let listed = text(&output.stdout);
        listed.split_once('\n').map(|(_, rest)| rest.to_owned()).expect("a header")
    };
    let plain = snapshot("trace.ini", DESCRIPTION.replace("=coresight", "=source_data").as_bytes());
    fs::write(plain.path().join("trace.bin"), TRACE).expect("written");
    // A trace port: full synchronisation, the frame; two more frames of filling; the probe's footer.
    let port = snapshot("trace.ini", DESCRIPTION.replace("=coresight", "=dstream_coresight").as_bytes());
    let mut block = vec![0xff, 0xff, 0xff, 0x7f];
    block.extend(FRAME);
    while block.len() + 4 <= 504 {
        block.extend([0xff, 0xff, 0xff, 0x7f]);
    }
    block.extend([0xa5; 8]);
    assert_eq!(block.len(), 512);
    fs::write(port.path().join("trace.bin"), block).expect("written");
    for directory in [plain, port] {
        let output = decode(&directory, &["--source", "0x10"]);
        assert_eq!(output.status.code(), Some(0), "{}{}", text(&output.stdout), text(&output.stderr));
        assert_eq!(events(&output), events(&expected));
    }
}

#[test]
fn what_cannot_be_decoded_is_named_and_exit_code_2() {
    let whole = snapshot("other.txt", b"");
    let wrong = |directory: &TempDir, more: &[&str], message: &str| {
        let output = decode(directory, more);
        let error = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{error}");
        assert!(error.starts_with("error: ") && error.contains(message), "{error}");
    };
    wrong(&whole, &["--source", "STM_0"], "STM_0: `STM1.0` is not supported yet");
    wrong(&whole, &["--source", "0x11"], "STM_0: `STM1.0` is not supported yet");
    wrong(&whole, &["--family", "riscv-etrace"], "no such source");
    wrong(&whole, &["--source", "ETM_9"], "no source is called `ETM_9`; known are ETM_0, STM_0");
    wrong(&whole, &["--parameters", "some.toml"], "the registers of a snapshot");
    let broken = |name: &str, content: String| snapshot(name, content.as_bytes());
    let etm = |from: &str, to: &str| broken("etm.ini", ETM.replace(from, to));
    wrong(&etm("ETMCR", "OTHER"), &[], "ETM_0: register ETMCR is missing");
    wrong(&etm("ETMCCER", "OTHER"), &[], "ETM_0: register ETMCCER is missing");
    wrong(&etm("ETMTRACEIDR", "OTHER"), &[], "ETM_0: register ETMTRACEIDR is missing");
    wrong(&etm("0x410CF250", "0x410CF350"), &[], "ETM_0: register ETMIDR: the architecture");
    wrong(&etm("0x410CF250", "0x1410CF250"), &[], "ETM_0: register ETMIDR: more than 32 bits");
    let old = ETM.replace("0x410CF250", "0x410CF110").replace("0x00000860", "0x00000810");
    wrong(&broken("etm.ini", old), &["--source", "ETM_0"], "`ETM3.5` is not supported yet");
    wrong(
        &broken("trace.ini", DESCRIPTION.replace("ETM_0=ETB_0\n", "")),
        &[],
        "ETM_0: no buffer has its trace",
    );
    wrong(&broken("snapshot.ini", TOP.replace("etm.ini", "etc.ini")), &[], "etc.ini");
    for arguments in [&["decode", "trace.bin"][..], &["decode", "--family", "arm-etm", "--source", "x", "-"]]
    {
        let output = run(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
    }
}

#[test]
fn damaged_frames_are_lines_and_exit_code_1() {
    let cut = snapshot("trace.bin", &[FRAME, FRAME].concat()[..24]);
    let output = decode(&cut, &["--source", "ETM_0"]);
    assert_eq!(output.status.code(), Some(1));
    let listed = text(&output.stdout);
    assert!(listed.contains("\nerror: frames of the buffer: truncated at packet 1, byte 16.0\n"), "{listed}");
    assert_eq!(listed.matches("event  atom").count(), 3, "{listed}");
}

/// A barrier marks missing trace: both sides are decoded separately.
#[test]
fn a_gap_is_a_line() {
    let barrier = [0xff, 0xff, 0xff, 0x7f].repeat(4);
    let parts = snapshot("trace.bin", &[&FRAME[..], &barrier, &FRAME].concat());
    let output = decode(&parts, &["--source", "ETM_0"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let listed = text(&output.stdout);
    let (before, after) = listed.split_once("gap: 13 bytes after it\n").expect("a gap");
    assert_eq!(before.split_once('\n').expect("a header").1, after);
}

fn conformance(snapshots: &[&TempDir], more: &[&str]) -> Output {
    let mut arguments = vec!["conformance"];
    for snapshot in snapshots {
        arguments.extend(["--snapshot", snapshot.path().to_str().expect("text")]);
    }
    run(&[&arguments, more].concat())
}

/// A snapshot whose buffer holds the bytes of the source alone.
fn unformatted(trace: &[u8]) -> TempDir {
    let directory = snapshot("trace.ini", DESCRIPTION.replace("=coresight", "=source_data").as_bytes());
    fs::write(directory.path().join("trace.bin"), trace).expect("written");
    directory
}

#[test]
fn captures_are_judged_by_relations() {
    // Joining at the second A-sync is joining late.
    let (twice, once) = (unformatted(&TRACE.repeat(2)), unformatted(&TRACE));
    let json = once.path().join("results.json");
    let more = ["--source", "ETM_0", "--json", json.to_str().expect("text")];
    let output = conformance(&[&twice, &once], &more);
    assert_eq!(output.status.code(), Some(0), "{}{}", text(&output.stdout), text(&output.stderr));
    insta::assert_snapshot!("conformance_snapshots", text(&output.stdout));
    let report: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(json).expect("written")).expect("JSON");
    let checks = |case: usize| -> Vec<String> {
        let checks = report["cases"][case]["checks"].as_array().expect("checks");
        checks
            .iter()
            .map(|check| format!("{} {}", check["direction"], check["verdict"]).replace('"', ""))
            .collect()
    };
    assert_eq!(checks(0), ["decode pass", "chunks pass", "join pass", "garbage pass"]);
    assert_eq!(checks(1), ["decode pass", "chunks pass", "join unsupported", "garbage pass"]);

    // The source of another type next to it is counted as not supported; alone, nothing is judged.
    let both = conformance(&[&once], &[]);
    assert_eq!(both.status.code(), Some(0), "{}", text(&both.stderr));
    assert!(text(&both.stdout).contains("STM1.0"), "{}", text(&both.stdout));
    let alone = conformance(&[&once], &["--source", "STM_0"]);
    assert_eq!(alone.status.code(), Some(1), "{}", text(&alone.stdout));
}

#[test]
fn a_capture_with_an_error_fails() {
    // A reserved header after the P-header.
    let reserved = unformatted(&[&TRACE[..], &[0x10]].concat());
    let junit = reserved.path().join("results.xml");
    let output = conformance(&[&reserved], &["--source", "ETM_0", "--junit", junit.to_str().expect("text")]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    let listed = text(&output.stdout).replace(reserved.path().to_str().expect("text"), "snapshot");
    insta::assert_snapshot!("conformance_snapshot_failed", listed);
    assert!(fs::read_to_string(junit).expect("written").contains("failures=\"1\""));
    // A buffer that ends inside a frame.
    let cut = snapshot("trace.bin", &[FRAME, FRAME].concat()[..24]);
    let output = conformance(&[&cut], &[]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("decode: faults of the frames"), "{}", text(&output.stdout));
    for (arguments, message) in [
        (&["--source", "ETM_9"][..], "no source is called `ETM_9`"),
        (&["--filter", "etm"], "cannot be used with"),
        (&["--family", "riscv-etrace"], "no such source"),
    ] {
        let output = conformance(&[&cut], arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(text(&output.stderr).contains(message), "{}", text(&output.stderr));
    }
    assert_eq!(run(&["conformance", "--source", "ETM_0"]).status.code(), Some(2));
}

/// Snapshots of real hardware, where they are at hand: none of them is refused for another reason than its protocol.
#[test]
fn real_snapshots_are_opened() {
    let all: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data/opencsd-snapshots");
    if !all.is_dir() {
        eprintln!("SKIPPED: no real snapshot is opened, because {} is not there", all.display());
        return;
    }
    let mut opened = 0;
    for entry in fs::read_dir(&all).expect("readable") {
        let directory = entry.expect("readable").path();
        if !directory.join("snapshot.ini").is_file() {
            continue;
        }
        opened += 1;
        let path = directory.to_str().expect("text");
        let output = run(&["decode", path, "--layer", "events"]);
        let (listed, error) = (text(&output.stdout), text(&output.stderr));
        let is_decoded = listed.lines().any(|line| line.starts_with("source ") && line.ends_with(" bytes"));
        // Two captures have memory images that lack code.
        let is_whole = !listed.lines().any(|line| line.contains("error: ") && line.contains("no-code"));
        let expected = match (is_decoded, is_whole) {
            (true, true) => 0,
            (true, false) => 1,
            (false, _) => 2,
        };
        assert_eq!(output.status.code(), Some(expected), "{path}: {error}");
        assert!(listed.starts_with("source "), "{path}: {error}");
        for line in error.lines() {
            // Two snapshots leave out memory images that they name.
            let no_image = ".ini:";
            let known = [" is not supported yet", ": no buffer has its trace"];
            let is_known = line.contains(no_image) && line.contains("No such file")
                || known.iter().any(|end| line.ends_with(end))
                || line.starts_with("the trace has ")
                || (line.starts_with("note: ") && line.ends_with(" before the first packet"));
            assert!(is_known, "{path}: {line}");
        }
    }
    assert!(opened >= 20, "{opened}");
    let capture = all.join("tc2-etmv3-id10");
    let output = run(&["decode", capture.to_str().expect("text"), "--layer", "events"]);
    let atoms = text(&output.stdout).lines().filter(|line| line.contains("event  atom")).count();
    assert_eq!(atoms, 7205);
    let output = run(&["conformance", "--snapshot", capture.to_str().expect("text"), "--deadline", "600"]);
    assert_eq!(output.status.code(), Some(0), "{}{}", text(&output.stdout), text(&output.stderr));
}
