//! Signals that the simulation of a core wrote down, the bytes that came out of it, and layouts of a device's own.

use std::fs;
use std::path::Path;
use std::process::Command;

use traceproof_rtl::generate::Size;
use traceproof_rtl::judge::{Verdict, judge};
use traceproof_rtl::{Device, Format, MonitorLog, dump, pack, report};

/// Two instructions at 0x1000 and 0x1004, and the payloads that report them, computed by hand: support, start at 0x1000,
/// a difference of +4, the end.
const IMAGE: &str = "@1000\n13 00 00 00 13 00 00 00\n";
const PAYLOADS: [&[u8]; 4] = [&[0x1f], &[0x73, 0x00, 0x04], &[0x0a], &[0x4f]];
const CSV: &str =
    "iaddr,itype,iretire,ilastsize,priv\n0,0,0,0,3\n0x1000,0,1,1,3\n0,0,0,0,3\n0x1004,0,1,1,3\n";

/// The same two instructions. Signals change with the clock, so the values before an edge are those that count; the
/// address is the upper half of a vector, and it is X where nothing retires.
const VCD: &str = "\
$timescale 1ns $end
$scope module top $end
$var wire 1 ! clk $end
$scope module core $end
$var wire 64 \" pc [63:0] $end
$var wire 1 # retired $end
$var wire 1 $ on $end
$upscope $end
$upscope $end
$enddefinitions $end
#0
0!
bx \"
0#
0$
#5
1!
1$
#10
0!
#15
1!
1#
b0001000000000000001111 \"
b100000000000000000000000000000000000000000000 \"
#20
0!
#25
1!
0#
bx \"
#30
0!
#35
1!
1#
b100000000010000000000000000000000000000000000 \"
#40
0!
#45
1!
0#
#50
0!
#55
1!
0$
#60
0!
#65
1!
#70
0!
";

const MAP: &str = "
[dump]
clock = \"top.clk\"
[dump.signals]
iaddr = \"top.core.pc[63:32]\"
itype = \"0\"
iretire = \"1\"
ilastsize = \"1\"
priv = \"3\"
valid = \"top.core.retired\"
enable = \"top.core.on\"
";

fn device(text: &str) -> Device {
    Device::parse("dut.toml", text).unwrap_or_else(|problem| panic!("{problem}"))
}

/// Runs `traceproof-rtl`: its exit code, and what it printed.
fn run(arguments: &[&str], directory: &Path) -> (Option<i32>, String) {
    let done = Command::new(env!("CARGO_BIN_EXE_traceproof-rtl"))
        .args(arguments)
        .current_dir(directory)
        .output()
        .expect("it starts");
    let text = [done.stdout, done.stderr].concat();
    (done.status.code(), String::from_utf8_lossy(&text).into_owned())
}

/// The arguments that judge the file `came` with the pack of [`packed`].
const JUDGE: [&str; 7] = ["check-rtl", "--dut", "dut.toml", "--pack", "pack", "--bytes", "came"];

/// Makes a pack of a dump, beside a file of bytes.
fn packed(dut: &str, signals: (&str, &str), bytes: &[u8]) -> tempfile::TempDir {
    let directory = tempfile::tempdir().expect("a directory");
    let file = |name: &str, bytes: &[u8]| fs::write(directory.path().join(name), bytes).expect("writable");
    file("dut.toml", dut.as_bytes());
    file(signals.0, signals.1.as_bytes());
    file("program.hex", IMAGE.as_bytes());
    file("came", bytes);
    let pack = ["vectors", "pack", "--dut", "dut.toml", "-o", "pack", "--image", "program.hex", "--signals"];
    let made = run(&[&pack[..], &[signals.0]].concat(), directory.path());
    assert_eq!(made.0, Some(0), "{}", made.1);
    assert_eq!(run(&["vectors", "check", "pack"], directory.path()).0, Some(0));
    directory
}

/// Judges bytes with the pack of a dump: the exit code and the text.
fn judged(dut: &str, signals: (&str, &str), bytes: &[u8]) -> (Option<i32>, String) {
    run(&JUDGE, packed(dut, signals, bytes).path())
}

fn hex(payloads: &[&[u8]]) -> String {
    let line = |payload: &&[u8]| payload.iter().map(|byte| format!("{byte:02x}")).collect::<String>() + "\n";
    payloads.iter().map(line).collect()
}

#[test]
fn signals_and_payloads_of_a_simulation_are_judged() {
    for (dut, signals) in [
        ("name = \"core\"\n".to_owned(), ("signals.csv", CSV)),
        (format!("name = \"core\"\n{MAP}"), ("s.vcd", VCD)),
    ] {
        let (code, text) = judged(&dut, signals, hex(&PAYLOADS).as_bytes());
        assert_eq!(code, Some(0), "{text}");
        assert!(text.contains("core: 1 cases") && text.contains("exact           1      0"), "{text}");
        // Without the report of the final instruction.
        let (code, text) = judged(&dut, signals, hex(&[PAYLOADS[0], PAYLOADS[1], PAYLOADS[3]]).as_bytes());
        assert_eq!(code, Some(1), "{text}");
        assert!(text.contains("RVET-ENC-006 `packet` (final, tail): 1 findings"), "{text}");
    }
}

/// A hard link shows whether a file was written in place: its other name would have the new bytes.
#[test]
fn results_are_written_beside_and_renamed() {
    let directory = packed("name = \"core\"\n", ("signals.csv", CSV), hex(&PAYLOADS).as_bytes());
    let path = |name: &str| directory.path().join(name);
    let read = |name: &str| fs::read_to_string(path(name)).expect("text");
    let judge = |outputs: &[&str]| run(&[&JUDGE[..], outputs].concat(), directory.path());
    fs::write(path("before"), "before").expect("written");
    fs::hard_link(path("before"), path("results.json")).expect("linked");
    fs::hard_link(path("dut.toml"), path("results.xml")).expect("linked");
    let (code, text) = judge(&["--json", "results.json", "--junit", "results.xml"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(read("results.json").starts_with('{') && read("results.xml").contains("<testsuites"));
    assert_eq!((read("before").as_str(), read("dut.toml").as_str()), ("before", "name = \"core\"\n"));
    // Refused as a whole: neither of the two is written.
    for output in ["dut.toml", "came", "new.json", "pack/manifest.json"] {
        let (code, text) = judge(&["--json", "new.json", "--junit", output]);
        assert!(code == Some(2) && text.contains("nothing was written"), "{output}: {text}");
        assert!(!path("new.json").exists());
    }
    let (code, text) = judge(&["--json", "missing/results.json"]);
    assert!(code == Some(2) && text.contains("missing/results.json"), "{text}");
    let partial = |name: &str| name.ends_with(".partial");
    let names =
        fs::read_dir(directory.path()).expect("a directory").map(|entry| entry.expect("one").file_name());
    assert!(!names.into_iter().any(|name| partial(&name.to_string_lossy())));
}

/// Headers by hand, from the encapsulation of EN 2.1 and the messages of ET 13.
#[test]
fn bytes_after_every_transport_are_judged() {
    let framed = |head: &dyn Fn(u8) -> Vec<u8>| -> Vec<u8> {
        PAYLOADS.iter().flat_map(|payload| [head(payload.len() as u8), payload.to_vec()].concat()).collect()
    };
    let source = "normal = { src_id_bits = 8, src_id = 5, timestamp_bytes = 2 }";
    let transports = [
        ("\"atb\"", framed(&|length| vec![length])),
        ("{ siemens = { source = 1 } }", framed(&|length| vec![length + 1, 0x81])),
        (&*format!("{{ {source} }}"), framed(&|length| vec![0x80 | length, 5, 0x34, 0x12])),
    ];
    for (transport, bytes) in transports {
        let dut =
            format!("name = \"core\"\noutput = \"stream\"\n[parameters]\nencapsulation = {transport}\n");
        let (code, text) = judged(&dut, ("signals.csv", CSV), &bytes);
        assert_eq!(code, Some(0), "{transport}: {text}");
        let (code, text) = judged(&dut, ("signals.csv", CSV), &bytes[..bytes.len() - 1]);
        assert_eq!(code, Some(1), "{transport}: {text}");
    }
}

/// The rows that a pack has as CSV give the packets of the pack, by another way through the encoder model.
#[test]
fn the_csv_of_a_pack_is_a_dump_with_the_same_packets() {
    let text = "name = \"small\"\ncontrol = [\"trTeInstNoAddrDiff\"]\n[ingress]\nsignals = [\"notify\", \"halted\"]\n";
    let (device, directory) = (device(text), tempfile::tempdir().expect("a directory"));
    let made = directory.path().join("pack");
    pack::write(&made, &device, text, Size::Smoke, 1).unwrap_or_else(|problem| panic!("{problem}"));
    let pack = pack::read(&made).unwrap_or_else(|problem| panic!("{problem}"));
    for (index, case) in pack.cases.iter().enumerate().step_by(40) {
        let file = made.join(format!("{}.csv", case.entry.id));
        let csv = fs::read(&file).expect("CSV");
        let rows = dump::read(&file, &device, &mut &csv[..]).unwrap_or_else(|problem| panic!("{problem}"));
        let recorded = directory.path().join(format!("recorded-{index}"));
        pack::write_recorded(&recorded, &device, text, rows, case.program.clone())
            .unwrap_or_else(|problem| panic!("{problem}"));
        let again = pack::read(&recorded).unwrap_or_else(|problem| panic!("{problem}"));
        let bytes =
            |lines: &[pack::ExpectLine]| lines.iter().map(|line| line.bytes.clone()).collect::<Vec<_>>();
        assert_eq!(bytes(&again.cases[0].expected), bytes(&case.expected), "{}", case.entry.id);
    }
}

#[test]
fn dumps_that_cannot_be_read_are_refused_with_their_line() {
    let read = |name: &str, map: &str, text: &str| {
        let device = device(&format!("name = \"x\"\n{map}"));
        let problem = dump::read(Path::new(name), &device, &mut text.as_bytes()).expect_err(name);
        problem.to_string()
    };
    for (text, expected) in [
        ("iaddr,itype\n", "d.csv:1:1: the header line names no column iretire_0"),
        ("iaddr,itype,iretire,iaddr_1\n", "d.csv:1:1: no column is called `iaddr_1`"),
        ("iaddr,itype,iretire\n0,0,x\n", "d.csv:2:1: `x` is no number"),
        ("iaddr,itype,iretire\n0,16,1\n", "d.csv:2:1: column itype: 0x10 is too large"),
        ("iaddr,itype,iretire\n", "d.csv: nothing retires in it"),
        ("op,iaddr,itype,iretire\n9,0,0,0\n", "d.csv:2:1: column op: the opcode is unknown"),
    ] {
        assert_eq!(read("d.csv", "", text), expected);
    }
    assert!(read("d.vcd", "", VCD).contains("`[dump]`"));
    assert!(read("d.vcd", MAP, &VCD.replace("clk", "clock")).contains("no signal `top.clk`"));
    assert!(read("d.vcd", MAP, &"$scope module a $end\n".repeat(300)).contains("scopes"));
    assert!(read("d.vcd", MAP, &VCD.replace("#25", "?25")).starts_with("d.vcd:2"));
    assert!(read("d.vcd", MAP, "$timescale 1ns $end\n").contains("enddefinitions"));
}

/// A device that sends `thaddr` before `interrupt` (bits 12 and 11 of its trap packets), in the order that it says.
#[test]
fn a_layout_of_the_device_is_one_finding() {
    let text = "name = \"small\"\n";
    let layout = "[layout]\ntrap = ['format', 'subformat', 'branch', 'privilege', 'ecause', 'thaddr', 'interrupt', \
                  'address', 'tval']\n";
    let directory = tempfile::tempdir().expect("a directory");
    let made = directory.path().join("pack");
    pack::write(&made, &device(text), text, Size::Smoke, 1).unwrap_or_else(|problem| panic!("{problem}"));
    let mut pack = pack::read(&made).unwrap_or_else(|problem| panic!("{problem}"));
    let mut log = String::from("traceproof-log 1\n");
    let mut swapped = 0;
    for case in &pack.cases {
        log += &format!("C {}\n", case.entry.number);
        for line in &case.expected {
            log += &format!("P {:08x} 0 {}\n", line.row, with_flags_swapped(&line.bytes, &mut swapped));
        }
    }
    log += &format!("R {} {}\nE\n", pack.manifest.rows, pack.manifest.checksum);
    let log = MonitorLog::parse("log", &log).expect("a log");
    let mut verdict = |text: &str| -> Verdict {
        pack.device = device(text);
        judge(&pack, &log)
    };
    let without = verdict(text);
    assert!(without.layout.is_empty() && without.groups.len() > 1);
    let with = verdict(&format!("{text}{layout}"));
    let [finding] = &with.layout[..] else { panic!("{}", report::text(&with)) };
    assert_eq!((finding.format, &*finding.clause, finding.packets), (Format::Trap, "RVET-PKT-016", swapped));
    assert!(!with.passes() && with.groups.is_empty(), "{}", report::text(&with));
    assert!(with.cases.iter().all(|case| !case.legal.failed() && !case.semantic.failed()));
    assert!(report::junit(&with).expect("XML").contains("RVET-PKT-016"));
    // What is as specified needs no finding.
    let same = "[layout]\nstart = ['format', 'subformat', 'branch', 'privilege', 'address']\n";
    assert!(verdict(&format!("{text}{same}")).layout.is_empty());
}

fn with_flags_swapped(payload: &str, swapped: &mut usize) -> String {
    let mut bytes: Vec<u8> = (0..payload.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&payload[at..at + 2], 16).expect("hex"))
        .collect();
    if bytes[0] & 0xf == 7 {
        *swapped += 1;
        let sign = if bytes[bytes.len() - 1] & 0x80 == 0 { 0 } else { 0xff };
        bytes.resize(bytes.len().max(2), sign);
        let flags = bytes[1] >> 3 & 3;
        bytes[1] = bytes[1] & !0x18 | (flags & 1) << 4 | (flags >> 1) << 3;
    }
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
