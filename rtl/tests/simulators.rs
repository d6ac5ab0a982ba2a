//! The testbench and the test device of `vectors/rtl` under the simulators that this machine has.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use traceproof_rtl::generate::Size;
use traceproof_rtl::judge::{Verdict, judge};
use traceproof_rtl::{Control, Device, MonitorLog, Op, Row, Slot, pack, report};

/// Worked examples of the specification's packet sequences: instructions and traps, and payloads computed by hand.
///
/// A step is `address`, `address:itype`, `address!` (notify), `priv level`, `exception cause epc tval` or
/// `interrupt cause`. The trace ends with a trace-off pulse at the last instruction.
const EXAMPLES: [(&str, &str, &str); 17] = [
    (
        "target reached twice",
        "1000, 1004, 1008, 100c:a, 1004, 1008, 100c:a, 2000, 2004",
        "1f 730004 0a fa1f 0a 5f",
    ),
    (
        "target, then an exception",
        "1000, 1004, 1008, 100c:a, 1004, exception 2 1008 0, 3000, 3004",
        "1f 730004 0a000000fc 77110003 0a 5f",
    ),
    (
        "exception at the first arrival",
        "1000, 1004, exception 2 1008 0, 3000, 3004",
        "1f 730004 0a 77110003 0a 5f",
    ),
    (
        "notify at the first arrival",
        "1000, 1004!, 1008, 100c:a, 1004, 1008, 100c:a, 2000, 2004",
        "1f 730004 0a000000fe 02 fa1f 0a 5f",
    ),
    ("ended_rep", "1000, 1004", "1f 730004 0a 5f"),
    ("ended_ntr", "1000, 1004, 1008, 100c:a, 1004", "1f 730004 0a df00"),
    (
        "exception at a target",
        "1000, 1004, 1008, 100c:a, exception c 1004 0, 3000, 3004",
        "1f 730004 1a 77460001 73000c 0a 5f",
    ),
    (
        "chained traps",
        "1000, 1004, exception 2 1008 0, interrupt 7, 3000, 3004",
        "1f 730004 0a 7701 f71b0003 0a 5f",
    ),
    ("exception first", "exception 2 1000 0, 3000, 3004", "1f 77010001 73000c 0a 5f"),
    (
        "interrupt at a target",
        "1000, 1004, 1008, 100c:a, interrupt 7, 3000, 3004",
        "1f 730004 1a f71b0003 0a 5f",
    ),
    (
        "full map",
        "1000, 1004:5, 1004:5, 1004:5, 1004:5, 1004:5, 1004:5, 1004:5, 1004:5, 1004:4, 1004:5, 1004:5, 1004:5, \
         1004:5, 1004:5, 1004:5, 1004:5, 1004:5, 1004:5, 1004:5, 1004:5, 1004:5, 1004:5, 1004:5, 1004:5, 1004:5, \
         1004:5, 1004:5, 1004:5, 1004:5, 1004:5, 1004:5, 1008, 100c",
        "1f 730004 018000 1a 5f",
    ),
    ("two outcomes", "1000, 1004:4, 1008:5, 1020:d, 1100, 1102", "1f 730004 890002 06 5f"),
    (
        "trap return to another level",
        "1000, 1004:5, 1010:3, priv 0, 4000, 4004",
        "1f 730004 0508 130010 0a 5f",
    ),
    ("the padding is the sign", "80000000, 80000004", "1f 73000000e0 0a 5f"),
    ("a taken branch first", "priv 0, 20000104:5, 20000108", "1f 0341000008 0a 5f"),
    (
        "exception with tval",
        "1000, exception 2 1004 1234, 80000040, 80000044",
        "1f 730004 7711040000482301 0a 5f",
    ),
    ("interrupt", "1000, interrupt 7, 80000040, 80000044", "1f 730004 f71b040000f8 0a 5f"),
];

fn rtl() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../vectors/rtl")
}

/// The simulators of this machine.
fn simulators() -> Vec<&'static str> {
    let found = |program: &str, version: &str| Command::new(program).arg(version).output().is_ok();
    let all = [("icarus", "iverilog", "-V"), ("verilator", "verilator", "--version")];
    let there: Vec<_> = all.into_iter().filter(|(_, program, version)| found(program, version)).collect();
    for (name, program, _) in all {
        if !there.iter().any(|(other, ..)| *other == name) {
            eprintln!("NOTICE: there is no {program}; the testbench is NOT tested under it");
        }
    }
    there.into_iter().map(|(name, ..)| name).collect()
}

/// Drives a pack into the test device with one of its mistakes, 0 = none, without a warning of the simulator. What is
/// built stays in a directory beside the pack.
fn drive(simulator: &str, device: &str, directory: &Path, defect: u8) -> MonitorLog {
    let work = directory.with_extension(simulator);
    fs::create_dir_all(&work).expect("writable");
    let log = work.join(format!("{defect}.log"));
    let done = Command::new("bash")
        .arg(rtl().join("bin/run_device.sh"))
        .arg(simulator)
        .env("TP_BUILD", &work)
        .env("TP_PLUSARGS", format!("+defect={defect}"))
        .env("TP_DUT", rtl().join("device").join(device))
        .env("TRACEPROOF_PACK", directory)
        .env("TRACEPROOF_LOG", &log)
        .output()
        .expect("bash");
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success() && said.is_empty(), "{simulator}: {said}");
    let text = fs::read_to_string(&log).expect("a log");
    MonitorLog::parse("monitor.log", &text).unwrap_or_else(|problem| panic!("{problem}"))
}

fn hex(text: &str) -> u64 {
    u64::from_str_radix(text, 16).unwrap_or_else(|_| panic!("`{text}` is no number"))
}

fn retire(text: &str, privilege: u8) -> Row {
    let notify = text.ends_with('!');
    let (address, itype) =
        text.trim_end_matches('!').split_once(':').unwrap_or((text.trim_end_matches('!'), "0"));
    let slot = Slot {
        iaddr: hex(address),
        itype: u8::try_from(hex(itype)).expect("four bits"),
        ilastsize: 1,
        flags: if notify { Slot::NOTIFY } else { 0 },
        iretire: 1,
    };
    Row { privilege, blocks: vec![slot], ..Row::order(Op::Cycle, 0, 0, 1) }
}

fn trap(itype: u8, cause: &str, epc: u64, tval: u64, privilege: u8) -> Row {
    let slot = Slot { iaddr: epc, itype, ..Slot::default() };
    Row { privilege, blocks: vec![slot], ..Row::order(Op::Cycle, hex(cause), tval, 1) }
}

/// The rows of an example.
fn rows(case: u64, steps: &str) -> Vec<Row> {
    let mut rows = vec![Row::order(Op::Case, case, 0, 1)];
    let fields = [Control::Active, Control::TrigEnable, Control::Enable, Control::InstTracing];
    rows.extend(fields.map(|field| Row::order(Op::Field, field as u64, 1, 1)));
    let mut privilege = 3;
    for step in steps.split(", ") {
        match *step.split(' ').collect::<Vec<_>>() {
            ["priv", level] => privilege = u8::try_from(hex(level)).expect("a level"),
            ["exception", cause, epc, tval] => rows.push(trap(1, cause, hex(epc), hex(tval), privilege)),
            ["interrupt", cause] => rows.push(trap(2, cause, 0, 0, privilege)),
            _ => rows.push(retire(step, privilege)),
        }
    }
    if let Some(last) = rows.last_mut() {
        last.trigger = 2;
    }
    rows.push(retire("9000", privilege));
    rows.extend(
        [Control::InstTracing, Control::Enable].map(|field| Row::order(Op::Field, field as u64, 0, 1)),
    );
    rows.push(Row::order(Op::Drain, 256, 16, 1));
    rows
}

#[test]
fn the_test_device_sends_the_worked_examples() {
    let simulators = simulators();
    let directory = tempfile::tempdir().expect("a directory");
    let pack = directory.path().join("pack");
    fs::create_dir(&pack).expect("writable");
    let mut all: Vec<Row> = (0..).zip(EXAMPLES).flat_map(|(case, (_, steps, _))| rows(case, steps)).collect();
    all.push(Row::order(Op::End, 0, 0, 1));
    let text: String = (0..)
        .zip(&mut all)
        .map(|(number, row)| {
            row.number = number;
            row.text() + "\n"
        })
        .collect();
    fs::write(pack.join("pack.memh"), text).expect("writable");
    fs::write(pack.join("pack.vh"), "`define TP_BLOCKS 1\n").expect("writable");
    for simulator in simulators {
        let log = drive(simulator, "rv32.toml", &pack, 0);
        assert!(log.ended);
        for (case, (name, _, expected)) in log.cases.iter().zip(EXAMPLES) {
            let digits = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
            let came: Vec<String> = case.packets.iter().map(|packet| digits(&packet.bytes)).collect();
            assert_eq!(came.join(" "), expected, "{simulator}: {name}");
            assert_eq!(case.restless, 0, "{simulator}: {name}");
        }
        assert_eq!(log.cases.len(), EXAMPLES.len());
    }
}

fn verdict(simulator: &str, device: &str, directory: &Path, defect: u8) -> Verdict {
    let pack = pack::read(directory).unwrap_or_else(|problem| panic!("{problem}"));
    judge(&pack, &drive(simulator, device, directory, defect))
}

fn made(device: &str) -> tempfile::TempDir {
    let text = fs::read_to_string(rtl().join("device").join(device)).expect("a description");
    packed(device, &text)
}

fn packed(device: &str, text: &str) -> tempfile::TempDir {
    let directory = tempfile::tempdir().expect("a directory");
    let parsed = Device::parse(device, text).unwrap_or_else(|problem| panic!("{problem}"));
    pack::write(&directory.path().join("pack"), &parsed, text, Size::Smoke, 1)
        .unwrap_or_else(|problem| panic!("{problem}"));
    directory
}

fn assert_passes(simulator: &str, device: &str, pack: &Path) {
    let verdict = verdict(simulator, device, pack, 0);
    let failed = verdict.cases.iter().filter(|case| case.exact.failed() || case.fields.failed()).count();
    assert!(verdict.passes() && failed == 0, "{simulator}, {device}: {}", report::text(&verdict));
}

#[test]
fn the_test_device_passes_at_all_levels() {
    let simulators = simulators();
    for simulator in simulators {
        // Icarus Verilog is slow: without optional signals packs are smaller.
        let (device, directory) = match simulator {
            "icarus" => ("rv32.toml", packed("minimal", "name = \"minimal\"\n")),
            _ => ("rv64.toml", made("rv64.toml")),
        };
        assert_passes(simulator, device, &directory.path().join("pack"));
    }
}

/// A line of `vectors/rtl/defects.json`.
#[derive(serde::Deserialize)]
struct Defect {
    number: u8,
    name: String,
    clause: String,
    /// Clauses that the same mistake breaks by itself.
    #[serde(default)]
    also: Vec<String>,
}

/// Each mistake is found with its clause, and nothing else is the first finding of a case. Under Icarus Verilog, which is
/// slow, one of each kind: a packet, a field, a trap; `.ci/nightly` runs them all under both.
#[test]
fn mistakes_of_the_test_device_fail_with_their_clause() {
    let simulators = simulators();
    let Some(fastest) = simulators.last() else { return };
    let directory = made("rv32.toml");
    assert_passes(fastest, "rv32.toml", &directory.path().join("pack"));
    let text = fs::read_to_string(rtl().join("defects.json")).expect("the list");
    let defects: Vec<Defect> = serde_json::from_str(&text).expect("a list");
    assert_eq!(defects.len(), 20);
    for defect in defects.iter().filter(|defect| *fastest != "icarus" || [2, 4, 9].contains(&defect.number)) {
        let verdict = verdict(fastest, "rv32.toml", &directory.path().join("pack"), defect.number);
        let first = verdict.groups.iter().filter(|group| group.first_in > 0);
        let blamed: BTreeSet<&str> = first.map(|group| group.clause.as_str()).collect();
        let may: BTreeSet<&str> = defect.also.iter().chain([&defect.clause]).map(String::as_str).collect();
        assert!(!verdict.passes());
        assert!(blamed.contains(&*defect.clause) && blamed.is_subset(&may), "{}: {blamed:?}", defect.name);
    }
}

/// Fields and registers of filters become writes at the offsets of the Trace Control Interface 1.0, by hand from its
/// tables.
#[test]
fn control_fields_are_writes_of_the_trace_control_interface() {
    const FIELDS: [(u8, u64, &str); 8] = [
        (0x01, 1, "000 00000001"),
        (0x05, 7, "000 00700001"),
        (0x0b, 1, "008 00000020"),
        (0x0d, 3, "00c 00000003"),
        (0x21, 0x111, "420 00000111"),
        (0x4f, 0x103, "5e4 00000103"),
        (0x62, 0x8000_0001_0000_0002, "448 00000002 44c 80000001"),
        (0xc7, 0x1234, "6f8 00001234 6fc 00000000"),
    ];
    if !simulators().contains(&"icarus") {
        return;
    }
    let directory = tempfile::tempdir().expect("a directory");
    let mut orders = String::new();
    for (field, value, _) in FIELDS {
        orders.push_str(&format!("write(8'h{field:02x}, 64'h{value:x});\n"));
    }
    let bench = format!(
        "module bench;\n logic clk = 0, rst = 1, field_valid = 0;\n\
         logic [7:0] field = 0; logic [63:0] field_value = 0;\n\
         wire field_ready, write_valid, unknown; wire [11:0] write_address; wire [31:0] write_data;\n\
         always #5 clk = !clk;\n tp_registers map (.*, .write_ready(1'b1));\n\
         always @(posedge clk) if (write_valid && !rst) $write(\"%h %h \", write_address, write_data);\n\
         task write(input logic [7:0] number, input logic [63:0] value);\n\
         @(negedge clk); field_valid = 1; field = number; field_value = value;\n\
         #1; while (!field_ready) begin @(negedge clk); #1; end\n\
         @(negedge clk); field_valid = 0; $write(\"\\n\");\n endtask\n\
         initial begin repeat (2) @(negedge clk); rst = 0;\n{orders}$finish(0); end\nendmodule\n"
    );
    let (source, built) = (directory.path().join("bench.sv"), directory.path().join("bench"));
    fs::write(&source, bench).expect("writable");
    let mut compiler = Command::new("iverilog");
    compiler.args(["-g2012", "-Wall", "-Wno-timescale", "-s", "bench", "-o"]).arg(&built).arg(&source);
    let done = compiler.arg(rtl().join("tb/tp_registers.sv")).output().expect("iverilog");
    assert!(done.status.success() && done.stderr.is_empty(), "{}", String::from_utf8_lossy(&done.stderr));
    let done = Command::new("vvp").arg("-n").arg(&built).output().expect("vvp");
    let said = String::from_utf8_lossy(&done.stdout).into_owned();
    let came: Vec<&str> = said.lines().map(str::trim).collect();
    assert_eq!(came, FIELDS.map(|(.., writes)| writes));
}

/// The checksum of the example was computed with another program from the algorithm of `docs/pack.md`.
#[test]
fn the_python_reader_has_the_checksum_of_the_example() {
    if Command::new("python3").arg("--version").output().is_err() {
        eprintln!("NOTICE: there is no python3; the reader of packs in Python is NOT tested");
        return;
    }
    let program = "import sys, tp_pack\n\
                   pack, sum = tp_pack.Pack(sys.argv[1]), tp_pack.Checksum()\n\
                   for row in pack.rows(): sum.add(row)\n\
                   print(f'{sum.value:08x}', [line['bytes'] for line in pack.expected(pack.manifest['cases'][0])])";
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/packs/example");
    let done = Command::new("python3")
        .args(["-B", "-c", program])
        .arg(example)
        .env("PYTHONPATH", rtl().join("cocotb"))
        .output()
        .expect("python3");
    let said = String::from_utf8_lossy(&done.stdout);
    assert_eq!(said, "24b56adf ['1f', '730004', '0a', '4f']\n", "{}", String::from_utf8_lossy(&done.stderr));
}
