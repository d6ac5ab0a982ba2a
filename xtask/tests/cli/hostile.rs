//! Files and surroundings that mean harm, or that an accident made: what the program does with them.
//!
//! Every try must end within [`DEADLINE`], not counting how long it waits for a processor, with one of the exit codes of
//! `--help`, in 1 GiB of address space and 500 MB of memory, without a panic, and with its inputs unchanged. Spoiled
//! files are in [`spoiled`](crate::spoiled).

use std::fs;
use std::io::Read as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::spoiled::{CASE, CLAUSES};

pub(crate) const DEADLINE: Duration = Duration::from_secs(10);

/// KiB of address space.
const MEMORY: u64 = 1 << 20;

/// KiB of memory that a try may take.
pub(crate) const RESIDENT: u64 = 500_000;

/// An ELF file of one executable segment with four instructions of RISC-V, written by hand from the gABI's tables.
pub(crate) fn elf() -> Vec<u8> {
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

pub(crate) struct Ended {
    /// `None`: ended by a signal, or killed after the deadline.
    pub(crate) code: Option<i32>,
    pub(crate) text: String,
    /// The most memory that was seen, in KiB; 0 where that is not known.
    pub(crate) resident: u64,
    pub(crate) seconds: f64,
}

/// The most memory that a process had so far, in KiB.
fn resident(process: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(0)
}

/// For how long the thread of a process that waited most was ready to run without a processor; nothing where that is
/// not known.
fn waited(process: u32) -> Duration {
    let threads = fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    let of_thread = |thread: fs::DirEntry| {
        let text = fs::read_to_string(thread.path().join("schedstat")).ok()?;
        text.split(' ').nth(1)?.parse().ok().map(Duration::from_nanos)
    };
    threads.filter_map(of_thread).max().unwrap_or_default()
}

/// Runs the program in a directory, in limited memory.
pub(crate) fn run(directory: &Path, arguments: &[&str]) -> Ended {
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
    let begun = Instant::now();
    let (mut most, mut delay) = (0, Duration::ZERO);
    let took = |delay| begun.elapsed().saturating_sub(delay);
    let status = loop {
        most = most.max(resident(child.id()));
        delay = delay.max(waited(child.id()));
        match child.try_wait().expect("waited for") {
            Some(status) => break Some(status),
            None if took(delay) > DEADLINE => {
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
        resident: most,
        seconds: took(delay).as_secs_f64(),
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

/// Files of suites, snapshots and subjects, and what the standard error of a subject is copied to.
#[test]
fn no_file_of_a_directory_or_subject_is_overwritten() {
    let files = tempfile::tempdir().expect("a directory");
    let here = files.path();
    let written = [
        ("t", "trace"),
        ("p.toml", ""),
        ("adaptor", "#!/bin/sh\n"),
        ("words", "of the adaptor"),
        ("s.toml", "command = ['./adaptor', 'words']\n"),
        ("suite/riscv_etrace/a.toml", "a case"),
        ("suite/riscv_etrace/retired.txt", "etr-0002\n"),
        ("suite/clauses/riscv_etrace.toml", "requirements"),
        ("snap/snapshot.ini", "[snapshot]"),
        ("snap/t.bin", "trace of a snapshot"),
    ];
    for (name, content) in written {
        let path = here.join(name);
        fs::create_dir_all(path.parent().expect("a directory")).expect("made");
        fs::write(path, content).expect("written");
    }
    let decode = "decode --family riscv-etrace t --section 0x1000:t --parameters p.toml --subject s.toml";
    let explain = "explain --family riscv-etrace --trace t --section 0x1000:t --subject s.toml";
    let judge = "conformance --filter etr-0001 --parameters p.toml --baseline t --subject s.toml";
    let suite = "conformance --suite suite --filter etr-0001";
    let compare = "diff --subject reference --subject s.toml";
    for (verb, outputs) in [
        (decode, "--adaptor-stderr t p.toml s.toml adaptor words"),
        (decode, "--output s.toml adaptor words"),
        (explain, "--adaptor-stderr t s.toml adaptor words"),
        (explain, "--svg t s.toml adaptor words"),
        (judge, "--adaptor-stderr t p.toml s.toml adaptor words"),
        (judge, "--json t p.toml s.toml adaptor words"),
        ("smoke --subject s.toml", "--adaptor-stderr s.toml adaptor words"),
        ("fuzz promote t --subject s.toml", "--adaptor-stderr t s.toml adaptor words"),
        ("conformance --snapshot snap", "--json snap/snapshot.ini snap/t.bin"),
        ("conformance --snapshot snap", "--junit snap/t.bin"),
        ("conformance --snapshot snap", "--html snap/../snap/t.bin"),
        ("conformance --snapshot snap --subject s.toml", "--adaptor-stderr snap/t.bin"),
        (suite, "--json suite/riscv_etrace/a.toml suite/riscv_etrace/retired.txt"),
        (suite, "--junit suite/clauses/riscv_etrace.toml"),
        (suite, "--html suite/riscv_etrace/a.toml"),
        (suite, "--resume suite/riscv_etrace/a.toml"),
        ("diff --subject reference --subject reference --suite suite", "--json suite/riscv_etrace/a.toml"),
        (compare, "--json s.toml adaptor words"),
        ("saboteurs --suite suite", "--matrix suite/riscv_etrace/a.toml"),
        ("explain etr-0001 --suite suite", "--svg suite/riscv_etrace/a.toml"),
    ] {
        let (option, targets) = outputs.split_once(' ').expect("an option and files");
        for target in targets.split(' ') {
            let arguments: Vec<&str> = verb.split(' ').chain([option, target]).collect();
            refused(here, &arguments, "nothing was written");
        }
    }
    for (name, content) in written {
        assert_eq!(fs::read_to_string(here.join(name)).expect("there"), content, "{name}");
    }
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

/// The file of [`elf`] with a function of this name: sections `.text`, `.symtab` and `.strtab`.
fn elf_with_function(name: &str) -> Vec<u8> {
    let mut file = elf();
    let words = |words: &[u32]| -> Vec<u8> { words.iter().flat_map(|word| word.to_le_bytes()).collect() };
    let symbols = file.len();
    file.extend(words(&[0, 0, 0, 0, 1, 0x1000, 16, 0x0001_0012]));
    let names = file.len();
    file.push(0);
    file.extend(name.bytes());
    file.push(0);
    let length = file.len() - names;
    file.resize(file.len().next_multiple_of(4), 0);
    let sections = file.len();
    let [symbols, names, length, place] =
        [symbols, names, length, sections].map(|it| u32::try_from(it).expect("small"));
    file.extend(words(&[0; 10]));
    file.extend(words(&[0, 1, 6, 0x1000, 84, 16, 0, 0, 4, 0]));
    file.extend(words(&[0, 2, 0, 0, symbols, 32, 3, 1, 4, 16]));
    file.extend(words(&[0, 3, 0, 0, names, length, 0, 0, 1, 0]));
    file[32..36].copy_from_slice(&place.to_le_bytes());
    file[46..52].copy_from_slice(&[40, 0, 4, 0, 3, 0]);
    file
}

/// What is left of a name that would set the title of a terminal, turn text around, begin a line and a frame.
#[test]
fn names_command_no_terminal() {
    let files = tempfile::tempdir().expect("a directory");
    let here = files.path();
    // Support, start at 0x1000, address +8, ended.
    fs::write(here.join("t"), [0x01, 0x1f, 0x03, 0x73, 0x00, 0x04, 0x01, 0x12, 0x01, 0x5f]).expect("written");
    fs::write(here.join("e.elf"), elf_with_function("a\x1b]0;x\x07\u{202e}\nb")).expect("written");
    for (options, name) in [
        ("--layer instructions", r"function=a\u{1b}]0;x\u{7}\u{202e}\nb"),
        ("--disassemble", r"function=a\u{1b}]0;x\u{7}\u{202e}\nb"),
        ("--format folded", r"a\u{1b}]0\u{3b}x\u{7}\u{202e}\nb 3"),
    ] {
        let decode = "decode --family riscv-etrace t --elf e.elf";
        let arguments: Vec<&str> = decode.split(' ').chain(options.split(' ')).collect();
        let ended = run(here, &arguments);
        assert_eq!(ended.code, Some(0), "{options}: {}", ended.text);
        assert!(ended.text.contains(name), "{options}: {}", ended.text);
        let is_plain = |c: char| c == '\n' || c.is_ascii_graphic() || c == ' ';
        assert!(ended.text.chars().all(is_plain), "{options}: {:?}", ended.text);
    }
}

/// A case that fails, and whose title looks like the end of a report.
#[test]
fn a_title_does_not_paint_itself() {
    let files = tempfile::tempdir().expect("a directory");
    let here = files.path();
    for directory in ["suite/riscv_etrace", "suite/clauses"] {
        fs::create_dir_all(here.join(directory)).expect("made");
    }
    let case =
        CASE.replace("A start packet", r"\u001b[32mPASS\u001b[0m").replace("privilege = 3", "privilege = 1");
    fs::write(here.join("suite/riscv_etrace/a.toml"), case).expect("written");
    fs::write(here.join("suite/clauses/riscv_etrace.toml"), CLAUSES).expect("written");
    for (verb, code) in [
        ("conformance --suite suite --family riscv-etrace --generated 0 --no-real-programs", 1),
        ("list --suite suite --family riscv-etrace", 0),
        ("explain etr-0001 --suite suite", 0),
    ] {
        let ended = run(here, &verb.split(' ').collect::<Vec<_>>());
        assert_eq!(ended.code, Some(code), "{verb}: {}", ended.text);
        assert!(
            ended.text.contains("etr-0001") && ended.text.contains(r"\u{1b}[32mPASS\u{1b}[0m"),
            "{}",
            ended.text
        );
        assert!(!ended.text.contains('\x1b'), "{verb}: {:?}", ended.text);
    }
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
    std::os::unix::fs::symlink("pipe", here.join("link")).expect("linked");
    let judge = "conformance --filter etr-0001 --no-real-programs";
    for (verb, options) in [
        (judge, "--json --junit --html --resume --adaptor-stderr"),
        ("decode --family riscv-etrace t", "-o"),
        ("saboteurs --filter etr-0001", "--matrix"),
        ("settings --family arm-ete-unit", "--read"),
    ] {
        for (option, pipe) in options.split(' ').flat_map(|option| [(option, "pipe"), (option, "link")]) {
            let arguments: Vec<&str> = verb.split(' ').chain([option, pipe]).collect();
            refused(here, &arguments, "not a plain file");
        }
    }
    // The pipe of a shell has another end.
    for target in ["-", "/dev/stdout"] {
        let ended = run(here, &["decode", "--family", "riscv-etrace", "t", "-o", target]);
        assert!(ended.text.contains("truncated"), "{target}: {}", ended.text);
    }
    let arguments: Vec<&str> = judge.split(' ').chain(["--json", "/dev/null"]).collect();
    assert_eq!(run(here, &arguments).code, Some(0));
}

#[test]
fn long_files_of_settings_are_refused() {
    let files = tempfile::tempdir().expect("a directory");
    let here = files.path();
    fs::write(here.join("t"), [0x01, 0x1f]).expect("written");
    let decode = ["decode", "--family", "riscv-etrace", "t", "--parameters", "p.toml"];
    fs::write(here.join("p.toml"), "\n".repeat(1 << 20)).expect("written");
    let ended = run(here, &decode);
    assert_eq!(ended.code, Some(0), "{}", ended.text);
    assert!(ended.resident < RESIDENT, "{} KiB", ended.resident);
    fs::write(here.join("p.toml"), "\n".repeat((1 << 20) + 1)).expect("written");
    refused(here, &decode, "larger than the limit of 1048576 bytes");
    fs::write(here.join("b.toml"), "\n".repeat((4 << 20) + 1)).expect("written");
    let judge = ["conformance", "--filter", "etr-0001", "--baseline", "b.toml"];
    refused(here, &judge, "larger than the limit of 4194304 bytes");
    // Before the suite is judged.
    fs::write(here.join("b.toml"), "a list of things to do").expect("written");
    refused(here, &["baseline", "update", "--subject", "reference", "b.toml"], "b.toml:1:");
    for directory in ["suite/clauses", "suite/riscv_etrace"] {
        fs::create_dir_all(here.join(directory)).expect("made");
        fs::write(here.join(directory).join("riscv_etrace.toml"), "\n".repeat((4 << 20) + 1))
            .expect("written");
    }
    let ended = run(here, &["list", "--suite", "suite", "--family", "riscv-etrace"]);
    assert!(ended.text.contains("larger than the limit of 4194304 bytes"), "{}", ended.text);
}

#[test]
fn long_traces_are_explained_in_part() {
    let files = tempfile::tempdir().expect("a directory");
    let here = files.path();
    let explain = ["explain", "--family", "riscv-etrace", "--trace", "t"];
    let part = [&explain[..], &["--packets", "20..22"]].concat();
    fs::write(here.join("t"), [0x01, 0x1f].repeat((512 << 10) + 1)).expect("written");
    refused(here, &explain, "larger than the limit of 524288 bytes");
    refused(here, &[&part[..], &["--subject", "reference"]].concat(), "name some packets by --packets");
    refused(here, &[&explain[..], &["--packets", "0..4097"]].concat(), "larger than the limit");
    let ended = run(here, &part);
    assert!(ended.code == Some(0) && ended.text.contains("support"), "{}", ended.text);
    let compare = ["decode", "--family", "riscv-etrace", "t", "--subject", "reference"];
    refused(here, &compare, "larger than the limit of 1048576 bytes");
    let line = "t-1 [001] 1.000001: rwmmio_post_read: f width=32 val=0x1 addr=0x100c\n";
    fs::write(here.join("log"), line.repeat(33_000)).expect("written");
    let import = ["--import", "ftrace", "--base", "0x1000", "--trace", "log"];
    refused(here, &[&["explain", "--family", "arm-ete-unit"][..], &import].concat(), "larger than the limit");
}

#[test]
fn text_logs_are_read_some_lines_at_a_time() {
    let files = tempfile::tempdir().expect("a directory");
    let here = files.path();
    let decode = ["decode", "--family", "riscv-etrace", "--text", "log", "--no-hints", "-o", "o"];
    fs::write(here.join("log"), format!("{}oops\n", "raw 01 1f\n".repeat(200))).expect("written");
    refused(here, &decode, "line 201: ");
    // Eleven characters that stand for 65,536 bytes.
    fs::write(here.join("log"), "idle*65536\n".repeat(2_100)).expect("written");
    let ended = run(here, &decode);
    assert!(ended.text.contains("more than the limit of 134217728 bytes"), "{}", ended.text);
    assert!(ended.code == Some(2) && ended.resident < RESIDENT, "{} KiB", ended.resident);
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
pub(crate) fn wait_until(mut holds: impl FnMut() -> bool, what: &str) {
    // Longer, for a machine that is busy: no process ends by itself in that time.
    let limit = Instant::now() + 6 * DEADLINE;
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
