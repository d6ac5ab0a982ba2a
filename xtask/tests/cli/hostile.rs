//! Files and surroundings that mean harm, or that an accident made: what the program does with them.
//!
//! Every try must end within [`DEADLINE`] with one of the exit codes of `--help`, in 1 GiB of address space, without a
//! panic, and with its inputs unchanged. `TRACEPROOF_HOSTILE_TRIES=5000` tries more files than the usual number.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;

const DEADLINE: Duration = Duration::from_secs(10);

/// KiB of address space.
const MEMORY: u64 = 1 << 20;

/// An ELF file of one executable segment with four instructions of RISC-V, written by hand from the gABI's tables.
fn elf() -> Vec<u8> {
    let mut file = b"\x7fELF\x01\x01\x01\0\0\0\0\0\0\0\0\0".to_vec();
    for half in [2_u16, 243] {
        file.extend(half.to_le_bytes());
    }
    for word in [1_u32, 0x1000, 52, 0, 0] {
        file.extend(word.to_le_bytes());
    }
    for half in [52_u16, 32, 1, 0, 0, 0] {
        file.extend(half.to_le_bytes());
    }
    for word in [1_u32, 84, 0x1000, 0x1000, 16, 16, 5, 4] {
        file.extend(word.to_le_bytes());
    }
    file.extend([0x13, 0, 0, 0].repeat(4));
    file
}

struct Ended {
    code: Option<i32>,
    text: String,
}

/// Runs the program in a directory, in limited memory.
fn run(directory: &Path, arguments: &[&str]) -> Ended {
    let mut child = start(directory, arguments);
    let (mut out, mut err) = (child.stdout.take().expect("piped"), child.stderr.take().expect("piped"));
    let reader = thread::spawn(move || {
        let mut bytes = Vec::new();
        // What a killed program still wrote.
        let _ = out.read_to_end(&mut bytes);
        bytes
    });
    let errors = thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = err.read_to_end(&mut bytes);
        bytes
    });
    let limit = Instant::now() + DEADLINE;
    let status = loop {
        match child.try_wait().expect("waited for") {
            Some(status) => break Some(status),
            None if Instant::now() > limit => {
                child.kill().expect("killed");
                child.wait().expect("reaped");
                break None;
            }
            None => thread::sleep(Duration::from_millis(2)),
        }
    };
    let mut bytes = reader.join().expect("read");
    bytes.extend(errors.join().expect("read"));
    Ended {
        code: status.and_then(|status| status.code()),
        text: String::from_utf8_lossy(&bytes).into_owned(),
    }
}

fn start(directory: &Path, arguments: &[&str]) -> Child {
    let script = format!("ulimit -v {MEMORY}; exec \"$0\" \"$@\"");
    let mut command = Command::new("/bin/sh");
    command.args(["-c", &script, env!("CARGO_BIN_EXE_traceproof")]).args(arguments).current_dir(directory);
    command.env_remove("TRACEPROOF_PROGRAM").stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("starts")
}

/// Wrong arguments, or files that cannot be used, with this in the message.
fn refused(directory: &Path, arguments: &[&str], with: &str) {
    let ended = run(directory, arguments);
    assert_eq!(ended.code, Some(2), "{arguments:?}: {}", ended.text);
    assert!(ended.text.contains(with), "{arguments:?}: {}", ended.text);
}

#[test]
fn no_input_is_overwritten() {
    let files = tempfile::tempdir().expect("a directory");
    let here = files.path();
    fs::write(here.join("t"), [0x73, 0x00]).expect("written");
    fs::hard_link(here.join("t"), here.join("other-name")).expect("linked");
    fs::write(here.join("p.toml"), "").expect("written");
    fs::write(here.join("run.csv"), "ADDRESS\n1000\n").expect("written");
    let family = ["--family", "riscv-etrace"];
    let decode =
        |more: &[&str]| refused(here, &[&["decode"], &family[..], more].concat(), "nothing was written");
    decode(&["t", "-o", "t"]);
    decode(&["t", "-o", "./t"]);
    decode(&["t", "-o", "other-name"]);
    decode(&["t", "--parameters", "p.toml", "-o", "p.toml"]);
    decode(&["t", "--section", "0x1000:t", "-o", "t"]);
    let encode = ["encode", "--family", "riscv-etrace", "--section", "0x1000:t", "--execution", "run.csv"];
    refused(here, &[&encode[..], &["-o", "run.csv"]].concat(), "nothing was written");
    refused(here, &[&encode[..], &["-o", "new", "--packets", "new"]].concat(), "nothing was written");
    let judge = ["conformance", "--filter", "etr-0001"];
    refused(here, &[&judge[..], &["--json", "r", "--junit", "./r"]].concat(), "nothing was written");
    refused(
        here,
        &[&judge[..], &["--baseline", "p.toml", "--json", "p.toml"]].concat(),
        "nothing was written",
    );
    refused(here, &[&judge[..], &["--json", "r", "--html", "r"]].concat(), "nothing was written");
    fs::write(here.join("s.toml"), "command = ['true']\n").expect("written");
    let subjects = ["--subject", "reference", "--subject", "s.toml"];
    refused(here, &[&["diff"], &subjects[..], &["--json", "s.toml"]].concat(), "nothing was written");
    refused(here, &["baseline", "update", "--subject", "s.toml", "./s.toml"], "nothing was written");
    assert_eq!(run(here, &[&judge[..], &["--no-real-programs", "--json", "part"]].concat()).code, Some(0));
    let part = fs::read(here.join("part")).expect("results");
    for verb in ["html", "markdown", "badge", "merge"] {
        refused(here, &["report", verb, "part", "-o", "part"], "nothing was written");
    }
    assert_eq!(fs::read(here.join("part")).expect("there"), part);
    assert_eq!(fs::read(here.join("t")).expect("there"), [0x73, 0x00]);
    assert_eq!(fs::read(here.join("run.csv")).expect("there"), b"ADDRESS\n1000\n");
    assert!(!here.join("new").exists() && !here.join("r").exists());
}

#[test]
fn an_output_is_replaced_as_a_whole_or_not_at_all() {
    let files = tempfile::tempdir().expect("a directory");
    let here = files.path();
    fs::write(here.join("out"), "what was there").expect("written");
    let ended = run(here, &["decode", "--family", "riscv-etrace", "no-such-trace", "-o", "out"]);
    assert_eq!(ended.code, Some(2), "{}", ended.text);
    assert_eq!(fs::read(here.join("out")).expect("there"), b"what was there");
    fs::write(here.join("t"), [0x01, 0x1f]).expect("written");
    let ended = run(here, &["decode", "--family", "riscv-etrace", "t", "-o", "out"]);
    assert_eq!(ended.code, Some(0), "{}", ended.text);
    assert!(fs::read_to_string(here.join("out")).expect("there").contains("support"));
    let left: Vec<_> = fs::read_dir(here).expect("listed").flatten().map(|entry| entry.file_name()).collect();
    assert_eq!(left.len(), 2, "{left:?}");
}

#[test]
#[cfg(unix)]
fn an_output_has_usual_permissions_and_a_link_stays_one() {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
    let files = tempfile::tempdir().expect("a directory");
    let here = files.path();
    fs::write(here.join("t"), [0x01, 0x1f]).expect("written");
    fs::write(here.join("usual"), "").expect("written");
    let mode = |name: &str| fs::metadata(here.join(name)).expect("there").mode() & 0o777;
    let decode = |output: &str| {
        let ended = run(here, &["decode", "--family", "riscv-etrace", "t", "-o", output]);
        assert_eq!(ended.code, Some(0), "{}", ended.text);
    };
    decode("new");
    assert_eq!(mode("new"), mode("usual"));
    fs::write(here.join("kept"), "old").expect("written");
    fs::set_permissions(here.join("kept"), fs::Permissions::from_mode(0o640)).expect("set");
    symlink("kept", here.join("link")).expect("linked");
    decode("link");
    assert!(fs::symlink_metadata(here.join("link")).expect("there").file_type().is_symlink());
    assert_eq!(mode("kept"), 0o640);
    assert!(fs::read_to_string(here.join("kept")).expect("there").contains("support"));
}

#[test]
#[cfg(target_os = "linux")]
fn pipes_and_devices_are_no_files() {
    let files = tempfile::tempdir().expect("a directory");
    let here = files.path();
    fs::write(here.join("t"), [0x73, 0x00]).expect("written");
    assert!(Command::new("mkfifo").arg(here.join("pipe")).status().expect("starts").success());
    for file in ["pipe", "/dev/zero", "/"] {
        for option in ["--parameters", "--elf"] {
            refused(here, &["decode", "--family", "riscv-etrace", "t", option, file], "not a plain file");
        }
        refused(here, &["conformance", "--filter", "etr-0001", "--baseline", file], "not a plain file");
        refused(
            here,
            &["decode", "--family", "riscv-etrace", "t", "--section", &format!("0:{file}")],
            "plain",
        );
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_device_is_an_error() {
    for arguments in ["--help", "list --family arm-pft", "show etr-0001", "conformance --help"] {
        let script = format!("\"$0\" {arguments} > /dev/full");
        let output = Command::new("/bin/sh")
            .args(["-c", &script, env!("CARGO_BIN_EXE_traceproof")])
            .output()
            .expect("starts");
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{arguments}: {text}");
        assert!(text.contains("cannot be written"), "{arguments}: {text}");
    }
}

#[test]
fn too_many_jobs_are_refused() {
    refused(Path::new("."), &["conformance", "--filter", "etr-0001", "--jobs", "1000000"], "1..=1024");
}

/// Whether a process has this argument.
#[cfg(target_os = "linux")]
fn lives(argument: &str) -> bool {
    let entries = fs::read_dir("/proc").expect("listed").flatten();
    entries
        .filter_map(|entry| fs::read(entry.path().join("cmdline")).ok())
        .any(|line| line.split(|byte| *byte == 0).any(|word| word == argument.as_bytes()))
}

#[cfg(target_os = "linux")]
fn wait_until(mut holds: impl FnMut() -> bool, what: &str) {
    let limit = Instant::now() + DEADLINE;
    while !holds() {
        assert!(Instant::now() < limit, "{what}");
        thread::sleep(Duration::from_millis(10));
    }
}

#[test]
#[cfg(target_os = "linux")]
fn nothing_outlives_a_runner_that_is_killed() {
    let files = tempfile::tempdir().expect("a directory");
    // A subject that never answers, and a process that it started.
    let (own, grandchild) =
        (format!("1000.{}1", std::process::id()), format!("1000.{}2", std::process::id()));
    let script = format!("sleep {grandchild} & exec sleep {own}");
    let subject = format!("command = ['/bin/sh', '-c', '{script}']\n[deadlines]\nhello = 600.0\n");
    fs::write(files.path().join("s.toml"), subject).expect("written");
    let arguments = ["conformance", "--subject", "s.toml", "--filter", "etr-0001"];
    let mut runner = start(files.path(), &arguments);
    wait_until(|| lives(&own) && lives(&grandchild), "the subject was never started");
    // SIGKILL: nothing in the runner can react to it.
    runner.kill().expect("killed");
    runner.wait().expect("reaped");
    wait_until(|| !lives(&own) && !lives(&grandchild), "a process of the subject lives");
}

/// Numbers from a seed: xorshift64*.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self, below: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let wide = self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33;
        usize::try_from(wide).expect("31 bits") % below.max(1)
    }
}

/// A file with a few things wrong in it.
fn spoiled(file: &[u8], numbers: &mut Numbers) -> Vec<u8> {
    let mut bytes = file.to_vec();
    for _ in 0..=numbers.next(4) {
        let at = numbers.next(bytes.len());
        match numbers.next(7) {
            0 => bytes.truncate(at),
            1 if !bytes.is_empty() => bytes[at] ^= 1 << numbers.next(8),
            2 if !bytes.is_empty() => {
                bytes[at] = [0, 0xff, 0x7f, 0x80, b'\n', b'"', b'[', b'9'][numbers.next(8)];
            }
            3 => drop(
                bytes.splice(at..at, vec![[0xff, 0, b'9', b'['][numbers.next(4)]; 1 << numbers.next(14)]),
            ),
            4 => {
                let part = bytes[at..].to_vec();
                bytes.extend(part);
            }
            5 => drop(bytes.drain(at..bytes.len().min(at + 1 + numbers.next(8)))),
            _ => {
                bytes.extend((0..numbers.next(64)).map(|_| u8::try_from(numbers.next(256)).expect("a byte")));
            }
        }
    }
    bytes
}

/// A file of some kind, and the arguments that read it under the name `FILE`.
struct Kind {
    name: &'static str,
    good: Vec<u8>,
    arguments: &'static str,
}

fn kinds() -> Vec<Kind> {
    let kind = |name, good: &[u8], arguments| Kind { name, good: good.to_vec(), arguments };
    let trace = [0x01, 0x1f, 0x03, 0x73, 0x00, 0x04, 0x01, 0x12, 0x01, 0x5f];
    let arm = [0, 0, 0, 0, 0, 0x80, 0x08, 0, 0x80, 0, 0, 0x21, 0x42, 0x84, 0x86, 0x03, 0x95, 0x9a];
    let parameters = b"iaddress_width_p = 32\ncall_counter_size_p = 7\n";
    let log = b"PMC4 = 0x02030828\nPMD4 = 0x10\n";
    let rows = b"interface,direction,register,value,event\nx,w,TRCACVR0+4,1000,\n,,,,poll s IDLE=1; isb\n";
    let lines =
        b"t-1 [001] 1.000001: rwmmio_post_read: f width=32 val=0x1 addr=0x100c\nCPU:1 [LOST 3 EVENTS]\n";
    let dump = b"TRCCONFIGR = 0x811\nxw TRCACVR0+4=1; xw64 TRCACVR1=10\nTRCVIIECTLR = 3\n";
    let execution = b"VALID,ADDRESS,INSN,PRIVILEGE,EXCEPTION,ECAUSE,TVAL,INTERRUPT\n1,1000,13,3,0,0,0,0\n";
    let baseline = b"subject = 'reference'\n\n[[known]]\nreason = 'none'\nchecks = ['etr-0001 decode']\n";
    let subject = b"command = ['true']\nframings = ['jsonl']\n[deadlines]\nhello = 0.2\n";
    vec![
        kind("trace.riscv", &trace, "decode --family riscv-etrace --section 0x1000:code FILE"),
        kind("trace.explained", &trace, "explain --family riscv-etrace --section 0x1000:code --trace FILE"),
        kind("trace.etm", &arm, "decode --family arm-etm --section 0x1000:code FILE"),
        kind("trace.pft", &arm, "decode --family arm-pft --section 0x1000:code FILE"),
        kind("trace.ete", &arm, "decode --family arm-ete --section 0x1000:code FILE"),
        kind("trace.itanium", &arm, "decode --family itanium-pmu FILE"),
        kind("log.txt", log, "decode --family itanium-pmu --text FILE"),
        kind("unit.csv", rows, "decode --family arm-ete-unit --import csv FILE"),
        kind("unit.ftrace", lines, "decode --family arm-ete-unit --import ftrace --base 0x1000 FILE"),
        kind("unit.txt", dump, "settings --family arm-ete-unit --read FILE"),
        kind("program.elf", &elf(), "decode --family riscv-etrace trace --elf FILE"),
        kind("parameters.toml", parameters, "decode --family riscv-etrace trace --parameters FILE"),
        kind(
            "run.csv",
            execution,
            "encode --family riscv-etrace --section 0x1000:code --execution FILE -o o",
        ),
        kind("known.toml", baseline, "conformance --filter etr-0001 --baseline FILE"),
        kind("subject.toml", subject, "smoke --subject subject.toml"),
    ]
}

#[test]
fn spoiled_files_end_in_errors() {
    let tries =
        std::env::var("TRACEPROOF_HOSTILE_TRIES").ok().and_then(|text| text.parse().ok()).unwrap_or(10);
    for kind in kinds() {
        let files: TempDir = tempfile::tempdir().expect("a directory");
        fs::write(files.path().join("code"), [0x13, 0, 0, 0].repeat(16)).expect("written");
        fs::write(files.path().join("trace"), [0x01, 0x1f]).expect("written");
        let path: PathBuf = files.path().join(kind.name);
        let arguments: Vec<&str> =
            kind.arguments.split(' ').map(|word| if word == "FILE" { kind.name } else { word }).collect();
        for seed in 1..=tries {
            let bytes = spoiled(&kind.good, &mut Numbers(seed));
            fs::write(&path, &bytes).expect("written");
            let ended = run(files.path(), &arguments);
            let what = || format!("{}, seed {seed}: {}", kind.name, ended.text);
            assert!(ended.code.is_some_and(|code| (0..=5).contains(&code)), "{:?} {}", ended.code, what());
            assert!(!ended.text.contains("panicked"), "{}", what());
            assert_eq!(fs::read(&path).expect("there"), bytes, "{}", what());
        }
    }
}
