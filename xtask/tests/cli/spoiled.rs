//! Spoiled files of every kind that a command reads: what the program does with them.
//!
//! A few tries of each kind run with every test; `TRACEPROOF_HOSTILE_TRIES=100` sets another number for each kind, and
//! the ignored test `spoiled_files_in_full` makes at least 1,000 tries of all kinds and prints what they cost.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use sha2::{Digest as _, Sha256};

use crate::hostile::{DEADLINE, RESIDENT, elf, run, wait_until};

/// A source of a snapshot, and its code.
const DEVICE: &[u8] = b"[device]\nname=M\nclass=trace_source\ntype=ETM3.5\n\n\
[regs]\nETMCR(0x000)=0x10001860\nETMIDR(0x079)=0x410CF250\nETMCCER(0x07A)=0x344008F2\nETMTRACEIDR(0x080)=0x10\n\n\
[dump]\nfile=code.bin\naddress=0x1000\n";

/// The beginning of results that another version kept.
const JOURNAL: &[u8] =
    br#"{"run":{"version":1,"harness":"0.0.1","subject":{"name":"reference","version":"0.1.0"},"judged":""}}
{"program":{"family":"arm_etm","program":"mix","set":"a","verdict":"pass"}}
"#;

/// A log of a monitor for the first case of some pack.
const MONITOR: &[u8] = b"traceproof-log 1\nC 0\nP 00000003 97 730004\nD 0000002f 64 1\nX 00000030 120 text\n\
R 48 89abcdef\nE\n";

/// A log of answers to some pack of streams.
const ANSWERS: &[u8] = b"traceproof-answers 1\nL {\"layers\":[\"events\"]}\nC 0\n\
J {\"at\":[0,1,2],\"event\":{\"data\":{\"id\":16,\"bytes\":\"84\"}}}\nJ {\"fault\":\"truncated\"}\nW 0a1b\nX text\n\
R 48 89abcdef\nE\n";

/// The device of packs.
const DEVICE_UNDER_TEST: &[u8] = b"name = 'core'\n[parameters]\niaddress_width_p = 32\n";

/// A kill matrix, and measurements.
const KILLS: &[u8] =
    br#"{"schema":1,"harness":"0.0.1","families":[{"family":"riscv_etrace","cases":1,"saboteurs":[
{"name":"s","side":"decoder","bug":"b","source":"s","clauses":[],"judged":1,
"killers":[{"case":"etr-0001","verdict":"fail"}]}
],"nulls":[]}]}"#;
const MEASURED: &[u8] =
    br#"{"family":"riscv_etrace","rounds":3,"peer":"p 1","measurements":[{"workload":"mix","task":
{"title":"decode","unit":"instruction"},"units":100,"bytes":10,"reference":1.5e8,"peer":1e7,"ratio":15.0}]}"#;

/// Verbs that read no file, or only suites, as `list` does.
const READS_NOTHING: [&str; 13] = [
    "adaptor",
    "bench",
    "ci",
    "completions",
    "export",
    "fuzz init",
    "fuzz-seeds",
    "man",
    "mutants",
    "programs",
    // It shows the page in a browser.
    "report open",
    "saboteurs",
    "show",
];

/// A case that passes, with the clause that it names.
pub(crate) const CASE: &str = r#"schema = 1
id = "etr-0001"
family = "riscv_etrace"
title = "A start packet"
level = "must"
clauses = ["RVET-PKT-011"]
polarity = "positive"
catches = "A field too many."
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

pub(crate) const CLAUSES: &str = r#"family = "riscv_etrace"
[[clause]]
id = "RVET-PKT-011"
summary = "Layout"
source = "ET 7.2"
kind = "packet"
level = "must"
scope = "core"
violable = false
"#;

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

/// A subject that ends at once, and leaves a process.
const LEAVES: &[u8] =
    b"command = ['/bin/sh', '-c', 'sleep 1000 >/dev/null 2>&1 & true']\nframings = ['jsonl']\n\
[deadlines]\nhello = 0.2\n";

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
    /// Its bytes; without any it is a file of a pack that the program makes.
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
    let baseline = b"schema = 1\nsubject = 'reference'\n\n[[known]]\nreason = 'none'\n\
        finding = 'none'\nchecks = ['etr-0001 decode: crash']\n";
    let subject = b"command = ['true']\nframings = ['jsonl']\n[deadlines]\nhello = 0.2\n";
    let steps = b"{\"action\":{\"signal\":{\"enable\":{\"address\":\"0x1000\"}}}}\n\
        {\"action\":{\"execute\":{\"address\":\"0x1000\"}}}\n";
    let finding = b"protocol = \"riscv_etrace\"\nreadings = []\n\n[parameters]\n\n\
        [[code]]\naddress = \"0x1000\"\nbytes = \"13 00 00 00\"\n---\n\x01\x1f\x03\x73";
    vec![
        kind("trace.riscv", &trace, "decode --family riscv-etrace --section 0x1000:code FILE"),
        kind("trace.explained", &trace, "explain --family riscv-etrace --section 0x1000:code --trace FILE"),
        kind("trace.etm", &arm, "decode --family arm-etm --section 0x1000:code FILE"),
        kind("trace.pft", &arm, "decode --family arm-pft --section 0x1000:code FILE"),
        kind("trace.ete", &arm, "decode --family arm-ete --section 0x1000:code FILE"),
        kind("trace.itanium", &arm, "decode --family itanium-pmu FILE"),
        kind("log.txt", log, "decode --family itanium-pmu --text FILE"),
        kind("unit.csv", rows, "decode --family arm-ete-unit --import csv FILE"),
        kind("unit.bin", &arm.repeat(4), "decode --family arm-ete-unit FILE"),
        kind("unit.toml", b"trace_buffer = false\n", "settings --family arm-ete-unit --parameters FILE"),
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
        kind("subject.toml", subject, "smoke --subject FILE"),
        kind("leaves.toml", LEAVES, "smoke --subject FILE"),
        kind("judged.toml", subject, "conformance --subject FILE --filter etr-0001"),
        kind(
            "compared.toml",
            subject,
            "diff --subject reference --subject FILE --filter etr-0001 --generated 1",
        ),
        kind("updated.toml", baseline, "baseline update --subject reference --filter etr-0001 FILE"),
        kind(
            "policy.toml",
            b"sync_max = 16\n",
            "encode --family riscv-etrace --section 0x1000:code --policy FILE --execution run -o o",
        ),
        kind("run.jsonl", steps, "encode --family arm-pft --section 0x1000:code --execution FILE -o o"),
        kind(
            "run.pc",
            &[0, 0x10, 0, 0, 0, 0, 0, 0],
            "encode --family riscv-etrace --section 0x1000:code --format pc --execution FILE -o o",
        ),
        kind(
            "ingress.csv",
            b"iaddr,itype,iretire,priv\n0x1000,0,2,3\n0x1004,5,2,3\n",
            "encode --family riscv-etrace --format ingress --execution FILE -o o",
        ),
        kind(
            "code.bin",
            &[0x13, 0, 0, 0].repeat(16),
            "decode --family riscv-etrace --section 0x1000:FILE trace",
        ),
        kind("frames.bin", &arm.repeat(8), "decode --family arm-etm --trace-id 1 --section 0x1000:code FILE"),
        kind(
            "statistics.riscv",
            &trace,
            "decode --family riscv-etrace --section 0x1000:code --statistics FILE",
        ),
        kind("folded.etm", &arm, "decode --family arm-etm --section 0x1000:code --format folded FILE"),
        kind(
            "beside.riscv",
            &trace,
            "decode --family riscv-etrace --section 0x1000:code --subject reference FILE",
        ),
        kind("finding.stream", finding, "fuzz promote FILE"),
        kind("shown.stream", finding, "fuzz promote FILE --subject reference"),
        kind("corpus/a.stream", finding, "fuzz minimize corpus smaller"),
        kind("dut.toml", DEVICE_UNDER_TEST, "check-rtl --dut FILE --pack corpus --log trace"),
        kind("packed.toml", DEVICE_UNDER_TEST, "vectors pack --dut FILE -o packed"),
        kind("pack/manifest.json", b"", "vectors check pack"),
        kind("pack/pack.memh", b"", "vectors check pack"),
        kind("pack/random-0000.expect", b"", "vectors check pack"),
        kind("pack/random-0000.image", b"", "check-rtl --dut pack/dut.toml --pack pack --log monitor"),
        kind("pack.log", MONITOR, "check-rtl --dut pack/dut.toml --pack pack --log FILE"),
        kind(
            "formatter.toml",
            b"framing = 'memory'\n",
            "vectors streams --family arm-etm-formatter --parameters FILE -o packed",
        ),
        kind("streams/manifest.json", b"", "vectors check streams"),
        kind("streams/bytes.memh", b"", "vectors check streams"),
        kind("streams/fmt-0002.stim", b"", "vectors check streams"),
        kind("streams/fmt-0001.expect", b"", "vectors check streams"),
        kind("answers.log", ANSWERS, "vectors answers --pack streams --log FILE"),
        kind("kills.json", KILLS, "coverage --family riscv-etrace --kills FILE"),
        kind(
            "snapshot/snapshot.ini",
            b"[snapshot]\nversion=1.0\n\n\
              [device_list]\ndevice0=etm.ini\n\n[trace]\nmetadata=trace.ini\n",
            "decode snapshot",
        ),
        kind("snapshot/etm.ini", DEVICE, "conformance --snapshot snapshot"),
        kind(
            "snapshot/trace.ini",
            b"[trace_buffers]\nbuffers=b\n\n\
              [b]\nname=E\nfile=t.bin\nformat=source_data\n\n[source_buffers]\nM=E\n",
            "decode snapshot",
        ),
        kind("snapshot/t.bin", &arm, "conformance --snapshot snapshot"),
        kind(
            "suite/riscv_etrace/a.toml",
            CASE.as_bytes(),
            "conformance --suite suite --family riscv-etrace --generated 0 --no-real-programs",
        ),
        kind("suite/riscv_etrace/b.toml", CASE.as_bytes(), "list --suite suite --family riscv-etrace"),
        kind("suite/riscv_etrace/c.toml", CASE.as_bytes(), "coverage --suite suite --family riscv-etrace"),
        kind("run.journal", JOURNAL, "conformance --filter etr-0001 --no-real-programs --resume FILE"),
        kind(
            "clauses/clauses/riscv_etrace.toml",
            CLAUSES.as_bytes(),
            "list --suite clauses --family riscv-etrace",
        ),
    ]
}

/// The files that commands read besides the spoiled one.
fn surroundings(directory: &Path) {
    let write = |name: &str, content: &[u8]| {
        let path = directory.join(name);
        fs::create_dir_all(path.parent().expect("a directory")).expect("made");
        fs::write(path, content).expect("written");
    };
    for kind in kinds().iter().filter(|kind| kind.name.starts_with("snapshot/")) {
        write(kind.name, &kind.good);
    }
    for name in ["code", "snapshot/code.bin"] {
        write(name, &[0x13, 0, 0, 0].repeat(16));
    }
    write("trace", &[0x01, 0x1f]);
    write("run", b"ADDRESS\n1000\n");
    write("suite/clauses/riscv_etrace.toml", CLAUSES.as_bytes());
    write("clauses/riscv_etrace/a.toml", CASE.as_bytes());
    write("corpus/good.stream", b"");
    write("monitor", MONITOR);
    write("r", &RESULTS);
    write("device.toml", DEVICE_UNDER_TEST);
}

/// Packs that the program makes, by their directory: what makes them. The larger one takes half a second.
const PACKS: [(&str, &str); 2] = [
    ("pack", "vectors pack --dut device.toml -o pack"),
    ("streams", "vectors streams --family arm-etm-formatter -o streams"),
];

/// The directory of the pack that the file is in, if it is in one.
fn pack_of(kind: &Kind) -> Option<&'static str> {
    let of_it = |(pack, _): &(&'static str, &str)| kind.name.starts_with(&format!("{pack}/"));
    PACKS.iter().find(|entry| of_it(entry)).map(|(pack, _)| *pack)
}

/// Lets the program make the pack that a command reads.
fn make_pack(directory: &Path, kind: &Kind) {
    for (pack, arguments) in PACKS {
        if pack_of(kind) == Some(pack) || kind.arguments.contains(&format!("--pack {pack}")) {
            let made = run(directory, &arguments.split(' ').collect::<Vec<_>>());
            assert_eq!(made.code, Some(0), "{}", made.text);
        }
    }
}

/// Who spoils a file of a pack can make its digest, too.
fn correct_digest(pack: &Path, file: &Path, before: &[u8]) {
    let digest =
        |bytes: &[u8]| Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let manifest = pack.join("manifest.json");
    let text = fs::read_to_string(&manifest).expect("a manifest");
    let corrected = text.replace(&digest(before), &digest(&fs::read(file).expect("spoiled")));
    fs::write(manifest, corrected).expect("written");
}

/// All files below a directory.
fn files_in(directory: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(directory).expect("listed").flatten() {
        let path = entry.path();
        if path.is_dir() {
            files.append(&mut files_in(&path));
        } else {
            files.insert(path.clone(), fs::read(&path).expect("read"));
        }
    }
    files
}

/// The most of anything that a try cost.
#[derive(Debug, Default)]
struct Cost {
    tries: u64,
    refused: u64,
    seconds: f64,
    resident: u64,
}

/// Spoils a file again and again.
fn spoil(kind: &Kind, tries: u64, cost: &mut Cost) {
    let files = tempfile::tempdir().expect("a directory");
    surroundings(files.path());
    let path = files.path().join(kind.name);
    fs::create_dir_all(path.parent().expect("a directory")).expect("made");
    let pack = pack_of(kind);
    make_pack(files.path(), kind);
    let good = if pack.is_some() { fs::read(&path).expect("of the pack") } else { kind.good.clone() };
    let arguments: Vec<String> =
        kind.arguments.split(' ').map(|word| word.replace("FILE", kind.name)).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    // These are written anew or removed by their command; every other file stays as it is.
    let updates = kind.arguments.starts_with("baseline update") || kind.name == "run.journal";
    let mut latest = good.clone();
    for seed in 0..tries {
        // The first one is good.
        let bytes = if seed == 0 { good.clone() } else { spoiled(&good, &mut Numbers(seed)) };
        fs::write(&path, &bytes).expect("written");
        if let Some(pack) = pack.filter(|_| !kind.name.ends_with("manifest.json")) {
            correct_digest(&files.path().join(pack), &path, &latest);
            latest.clone_from(&bytes);
        }
        let before = if updates { BTreeMap::new() } else { files_in(files.path()) };
        let ended = run(files.path(), &arguments);
        let what = || format!("{}, seed {seed}: {}", kind.name, ended.text);
        assert!(ended.code.is_some_and(|code| (0..=5).contains(&code)), "{:?} {}", ended.code, what());
        assert!(!ended.text.contains("panicked"), "{}", what());
        assert!(ended.resident < RESIDENT, "{} KiB, {}", ended.resident, what());
        let after = files_in(files.path());
        for (file, content) in &before {
            assert!(
                is_output(file) || after.get(file) == Some(content),
                "overwritten: {} {}",
                file.display(),
                what()
            );
        }
        #[cfg(target_os = "linux")]
        wait_until(|| processes_in(files.path()).is_empty(), "a process is left");
        if seed == 0 {
            assert!(!ended.text.contains("unexpected argument"), "{}", what());
        }
        cost.tries += 1;
        cost.refused += u64::from(ended.code == Some(2) || ended.code == Some(5));
        cost.seconds = cost.seconds.max(ended.seconds);
        cost.resident = cost.resident.max(ended.resident);
        // Some commands make a directory.
        for made in ["smaller", "packed"] {
            let _ = fs::remove_dir_all(files.path().join(made));
        }
    }
    assert!(!names(files.path()).iter().any(|name| name.ends_with(".partial")), "{}", kind.name);
}

fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).expect("listed").flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

/// The results of a run; made by the program itself.
static RESULTS: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let files = tempfile::tempdir().expect("a directory");
    let made =
        run(files.path(), &["conformance", "--filter", "etr-0001", "--no-real-programs", "--json", "r"]);
    assert_eq!(made.code, Some(0), "{}", made.text);
    fs::read(files.path().join("r")).expect("results")
});

/// Files that commands of results read.
fn results() -> [Kind; 8] {
    let kind = |name, arguments| Kind { name, good: RESULTS.clone(), arguments };
    let beside = |name, good: &[u8], arguments| Kind { name, good: good.to_vec(), arguments };
    [
        kind("results.json", "report html FILE -o page"),
        kind("part.json", "report merge FILE -o whole"),
        kind("twice.json", "report merge FILE FILE -o whole"),
        kind("before.json", "report markdown FILE"),
        kind("other.json", "report diff FILE FILE"),
        kind("badge.json", "report badge FILE -o badge"),
        beside("matrix.json", KILLS, "report markdown r --saboteurs FILE"),
        beside("measured.json", MEASURED, "report html r --performance FILE -o page"),
    ]
}

/// What the arguments of the kinds name as an output.
fn is_output(file: &Path) -> bool {
    file.file_name().is_some_and(|name| ["o", "page", "whole", "badge"].iter().any(|output| name == *output))
}

/// Processes that run in a directory: whatever a try started and left.
#[cfg(target_os = "linux")]
fn processes_in(directory: &Path) -> Vec<String> {
    let directory = fs::canonicalize(directory).expect("there");
    let entries = fs::read_dir("/proc").expect("listed").flatten();
    let is_in = |entry: &fs::DirEntry| {
        fs::read_link(entry.path().join("cwd")).is_ok_and(|place| place.starts_with(&directory))
    };
    entries.filter(is_in).map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

fn try_all(tries: u64) -> Cost {
    let mut cost = Cost::default();
    for kind in kinds().into_iter().chain(results()) {
        spoil(&kind, tries, &mut cost);
    }
    assert!(cost.refused > 0 && cost.refused < cost.tries, "{cost:?}");
    assert!(cost.seconds <= DEADLINE.as_secs_f64(), "{cost:?}");
    cost
}

/// The names of the verbs in a help text.
fn verbs(arguments: &[&str]) -> Vec<String> {
    let help = run(Path::new("."), &[arguments, &["--help"]].concat()).text;
    let verbs =
        help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let name = |line: &str| {
        line.strip_prefix("  ")?.split(' ').next().filter(|name| !name.is_empty()).map(str::to_owned)
    };
    verbs.filter_map(name).filter(|name| name != "help").collect()
}

#[test]
fn digests_of_packs_may_have_capitals() {
    let files = tempfile::tempdir().expect("a directory");
    let (_, arguments) = PACKS[1];
    let made = run(files.path(), &arguments.split(' ').collect::<Vec<_>>());
    assert_eq!(made.code, Some(0), "{}", made.text);
    let manifest = files.path().join("streams/manifest.json");
    let text = fs::read_to_string(&manifest).expect("a manifest");
    let bytes = fs::read(files.path().join("streams/bytes.memh")).expect("a file of the pack");
    let digest: String = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    assert!(text.contains(&digest));
    fs::write(&manifest, text.replace(&digest, &digest.to_uppercase())).expect("written");
    let checked = run(files.path(), &["vectors", "check", "streams"]);
    assert_eq!(checked.code, Some(0), "{}", checked.text);
}

#[test]
fn every_verb_that_reads_files_gets_spoiled_ones() {
    let tried: Vec<&str> = kinds().iter().chain(&results()).map(|kind| kind.arguments).collect();
    for verb in verbs(&[]) {
        let mut of_it: Vec<String> =
            verbs(&[&verb]).iter().map(|nested| format!("{verb} {nested}")).collect();
        if of_it.is_empty() || READS_NOTHING.contains(&verb.as_str()) {
            of_it = vec![verb];
        }
        for verb in of_it {
            let is_tried = tried.iter().any(|arguments| arguments.starts_with(&format!("{verb} ")));
            assert!(is_tried != READS_NOTHING.contains(&verb.as_str()), "{verb}: tried {is_tried}");
        }
    }
}

#[test]
fn spoiled_files_end_in_errors() {
    let tries = std::env::var("TRACEPROOF_HOSTILE_TRIES").ok().and_then(|text| text.parse().ok());
    try_all(tries.unwrap_or(5));
}

#[test]
#[ignore = "some minutes; .ci/nightly runs it"]
fn spoiled_files_in_full() {
    let kinds = u64::try_from(kinds().len() + results().len()).expect("some");
    let cost = try_all(1_000_u64.div_ceil(kinds));
    assert!(cost.tries >= 1_000, "{cost:?}");
    println!("{cost:?}");
}
