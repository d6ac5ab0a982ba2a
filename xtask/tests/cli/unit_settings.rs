//! Settings of a trace unit and back: `settings --family arm-ete-unit`.

use crate::commands::{run, text};
use crate::trace_unit::Files;

fn settings(options: &[&str]) -> (Option<i32>, String) {
    let output = run(&[&["settings", "--family", "arm-ete-unit"], options].concat());
    (output.status.code(), text(&output.stdout) + &text(&output.stderr))
}

const WISH: &[&str] = &["--code", "0x400000..0x401000", "--cycle-counts", "0x100", "--context-id"];

/// The values are those of the table in docs/families/arm_ete_unit.md.
#[test]
fn a_wish_becomes_values_and_a_sequence() {
    let (code, log) = settings(WISH);
    assert_eq!(code, Some(0), "{log}");
    for line in [
        "oslk 0\n",
        "poll s IDLE=1\n",
        "sw TRCCONFIGR=0x1051",
        "sw TRCEVENTCTL1R=0x2000",
        "sw TRCCCCTLR=0x100",
        "sw TRCVICTLR=0x6e0201",
        "sw TRCVIIECTLR=0x1",
        "sw TRCACVR0=0x400000",
        "sw TRCACVR1=0x400ffc",
        "sw TRCPRGCTLR=0x1\nisb\npoll s IDLE=0\n",
    ] {
        assert!(log.contains(&format!("\n{line}")), "{line}: {log}");
    }
}

/// Each sequence is accepted by the checker, and its values are read back as the options that asked for them.
#[test]
fn wishes_are_accepted_and_read_back() {
    let files = Files::new();
    let etmv4 = files.write("etmv4.toml", "version = \"etmv4.4\"\noutput_enable = false\n");
    let rme = files.write("rme.toml", "realms = true\n");
    for (wish, expected) in [
        (
            WISH,
            "--code 0x400000..0x401000\n--el 0\n--cycle-counts 0x100\n--context-id\n--sync-period 12\n--trace-id 0x10\n--output interfaces\n",
        ),
        (
            &[
                "--by",
                "debugger",
                "--el",
                "secure:3",
                "--el",
                "2",
                "--timestamps",
                "--branch-broadcast",
                "--sync-period",
                "0",
                "--code",
                "0x1000..0x1004",
                "--code",
                "0xffffffffff000000..0xffffffffff800000",
            ],
            "--code 0x1000..0x1004\n--code 0xffffffffff000000..0xffffffffff800000\n--el 2\n--el 3\n--timestamps\n\
             --branch-broadcast\n--sync-period 0\n--trace-id 0x10\n--output interfaces\n",
        ),
        (
            &[
                "--output",
                "trace-buffer",
                "--stall",
                "9",
                "--no-overflow",
                "--virtual-context-id",
                "--no-return-stack",
                "--system-errors",
                "--resets",
                "--trace-id",
                "0x6f",
                "--el",
                "non-secure:1",
            ],
            "--el non-secure:1\n--virtual-context-id\n--no-return-stack\n--system-errors\n--resets\n--sync-period 12\n\
             --trace-id 0x6f\n--stall 9\n--no-overflow\n--output trace-buffer\n",
        ),
        (
            &["--parameters", &rme, "--el", "realm:0", "--el", "secure:0"],
            "--el secure:0\n--el realm:0\n--sync-period 12\n--trace-id 0x10\n--output interfaces\n",
        ),
        (
            &["--parameters", &etmv4, "--by", "debugger", "--el", "0", "--el", "1"],
            "--el 0\n--el 1\n--sync-period 12\n--trace-id 0x10\n--output interfaces\n",
        ),
    ] {
        let (code, log) = settings(wish);
        assert_eq!(code, Some(0), "{wish:?}: {log}");
        let file = files.write("unit.log", &log);
        let parameters: &[&str] = if wish[0] == "--parameters" { &["--parameters", wish[1]] } else { &[] };
        let decode = ["decode", "--family", "arm-ete-unit", "--text", &file];
        let output = run(&[&decode, parameters].concat());
        let listed = text(&output.stdout);
        assert!(output.status.code() == Some(0) && !listed.contains("finding"), "{wish:?}: {listed}");
        assert!(listed.contains("session_begin") && listed.contains("session_end"), "{listed}");
        let (code, options) = settings(&[&["--read", &file], parameters].concat());
        assert_eq!((code, options), (Some(0), format!("--family arm-ete-unit\n{expected}")), "{wish:?}");
    }
}

#[test]
fn a_dump_is_read_and_what_is_wrong_is_named() {
    let files = Files::new();
    let dump = "# registers of a unit\n\
        TRCCONFIGR = 0x11041\ntrceventctl0r=0\nTRCEVENTCTL1R = 2000\nTRCSTALLCTLR = 0\nTRCTRACEIDR = 0x70\n\
        TRCVICTLR = 0x6e0200  # EVENT = 0\nTRCVIIECTLR = 0\nTRCVISSCTLR = 0\n0x16c = 1\nTRCSTATR = 3\n";
    let (code, shown) = settings(&["--read", &files.write("dump.txt", dump)]);
    assert_eq!(code, Some(1), "{shown}");
    let problems: Vec<&str> = shown.lines().filter(|line| line.starts_with("error: ")).collect();
    assert_eq!(
        problems,
        [
            "error: TRCCNTVR3: this trace unit has no such register; see --parameters",
            "error: TRCCONFIGR: bits 0x10000 are not as in a plain request",
            "error: the value of TRCSYNCPR is needed",
            "error: TRCVICTLR: bits 0x1 are not as in a plain request",
            "error: the trace ID 0x70 is reserved; use 0x01 to 0x6f",
        ]
    );
    assert!(shown.contains("\n--el 0\n--context-id\n--sync-period 0\n--trace-id 0x70\n"), "{shown}");
    for (content, message) in [
        ("", "no values of registers; write `TRCCONFIGR = 0x1`, or a log"),
        ("TRCCONFIGR = 1\n  TRCX = 1\n", "dump.txt: 2:3: `TRCX` is no register; write a name such as"),
        ("TRCCONFIGR =  0y\n", "dump.txt: 1:15: `0y` is no hexadecimal value"),
        ("isb\nhalt\n", "dump.txt: 2:1: `halt` begins no item"),
    ] {
        let (code, shown) = settings(&["--read", &files.write("dump.txt", content)]);
        assert!(code == Some(2) && shown.contains(message), "{content}: {shown}");
    }
}

#[test]
fn wishes_that_cannot_be_say_what_to_do() {
    for (options, message) in [
        (
            &["--cycle-counts", "3"][..],
            "the threshold 0x3 of cycle counts is out of range; --cycle-counts is from --least-threshold to 0xfff",
        ),
        (&["--code", "0x1000..0x1000"], "range 0 is empty; the end of --code START..END is after its start"),
        (
            &["--code", "0x1000..0x1002"],
            "range 0 begins or ends inside an instruction; use multiples of 4, or of 2 with --thumb",
        ),
        (&["--code", "1000"], "expected START..END, such as 0x1000..0x1590"),
        (&["--el", "4"], "the exception levels are 0 to 3"),
        (&["--el", "realm:3"], "the exception levels are 0 to 2"),
        (&["--el", "root:3"], "`root` is none of secure, non-secure, realm"),
        (&["--sync-period", "7"], "7 is no synchronisation period; they are 0 and 8 to 20"),
        (&["--trace-id", "0x70"], "the trace ID 0x70 is reserved; use 0x01 to 0x6f"),
        (&["--no-overflow"], "--stall <LEVEL>"),
        (&["--event", "CPU_CYCLES"], "--event is an option of --family itanium-pmu"),
        (&["--read", "none.txt", "--el", "0"], "cannot be used with"),
    ] {
        let (code, shown) = settings(options);
        assert!(code == Some(2) && shown.contains(message), "{options:?}: {shown}");
    }
    for (arguments, message) in [
        (&["settings"][..], "--event is missing"),
        (&["settings", "--event", "CPU_CYCLES", "--el", "0"], "--el is an option of --family arm-ete-unit"),
        (
            &["settings", "--family", "arm-etm"],
            "arm_etm has no settings; --family takes itanium-pmu and arm-ete-unit",
        ),
    ] {
        let output = run(arguments);
        let shown = text(&output.stderr);
        assert!(output.status.code() == Some(2) && shown.contains(message), "{arguments:?}: {shown}");
    }
}
