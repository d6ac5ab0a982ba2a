//! Each form against the same log in the notation of cases.

use super::super::read_log;
use super::*;

fn imported(form: LogForm, text: &str, options: &ImportOptions) -> Result<ImportedLog, String> {
    import_log(form, text, options).map_err(|error| error.to_string())
}

fn csv(text: &str) -> Result<ImportedLog, String> {
    imported(LogForm::Csv, text, &ImportOptions::default())
}

const BASE: u64 = 0xffff_8000_1234_0000;

fn at_base() -> ImportOptions {
    ImportOptions { base: Some(BASE), ..ImportOptions::default() }
}

fn ftrace(text: &str) -> Result<ImportedLog, String> {
    imported(LogForm::Ftrace, text, &at_base())
}

fn notation(text: &str) -> Vec<u8> {
    read_log(text).expect("a log")
}

#[test]
fn rows_are_accesses_and_events() {
    let text = "\u{feff}Time, Interface,direction,register,width,value,response,space,event\r\n\
                # by hand\r\n\
                10,system,write,TRCPRGCTLR,64,0x1,ok,,\r\n\
                10,s,R,0x00c,,3,OK,,\r\n\
                \r\n\
                12,external,read,TRCSTATR,32,,error,,\r\n\
                13,x,w,TRCACVR3,64,123456789abcdef0,unknown,secure,\r\n\
                14,M,w,TRCRSR,,?,,,\r\n\
                15,system,read,TRCPDSR,,,undefined,,\r\n\
                15,system,write,TRCACVR0,,ffffffff80000000,trapped,,\r\n\
                16,,,,,,,,isb; oslk 0\r\n\
                17,,,,,,,,out if0 12 # bytes";
    let expected = "sw TRCPRGCTLR=1; sr TRCSTATR->3; xr TRCSTATR ERR; xw64 TRCACVR3=123456789abcdef0 ? @secure\n\
                    mw TRCRSR=? ?; sr TRCPDSR UNDEF; sw TRCACVR0=ffffffff80000000 TRAP; isb; oslk 0; out if0 12";
    let found = csv(text).expect("a log");
    assert_eq!(found.wire, notation(expected));
    assert_eq!(found.lines, [3, 4, 6, 7, 8, 9, 10, 11, 11, 12]);
    assert_eq!((found.hidden.as_slice(), found.others), (&[][..], 0));
}

#[test]
fn what_no_row_shows_is_hidden_unless_said() {
    let text = "interface,direction,register,value\nm,w,TRCPRGCTLR,0\n";
    let found = csv(text).expect("a log");
    assert_eq!(found.wire, notation("see barriers 0; see system 0; mw TRCPRGCTLR=0 ?"));
    assert_eq!(found.hidden, [Visible::Barriers, Visible::System]);
    assert_eq!(found.lines, [1, 1, 2]);
    let see = [(Visible::Barriers, false), (Visible::Barriers, true), (Visible::External, false)].to_vec();
    let said = imported(LogForm::Csv, text, &ImportOptions { see, ..ImportOptions::default() });
    let said = said.expect("a log");
    assert_eq!(said.wire, notation("see barriers 1; see system 0; see external 0; mw TRCPRGCTLR=0 ?"));
    assert_eq!(said.hidden, [Visible::System]);
    for (event, hidden) in [
        ("isb", &[Visible::System, Visible::External][..]),
        ("poll s IDLE=1", &[Visible::Barriers, Visible::External]),
        ("trf P", &[Visible::Barriers, Visible::External]),
        ("xoslk 0", &[Visible::Barriers, Visible::System]),
        ("warm", &[Visible::Barriers, Visible::System, Visible::External]),
    ] {
        assert_eq!(csv(&format!("event\n{event}\n")).expect(event).hidden, hidden, "{event}");
    }
}

#[test]
fn times_are_waits_where_there_is_a_bound() {
    let text = "time,event\n5,isb\n5,isb\n30,isb\n31,isb\n";
    let hidden = "see system 0; see external 0;";
    let without = csv(text).expect("a log");
    assert_eq!(without.wire, notation(&format!("{hidden} isb x 4")));
    let options = ImportOptions { time: true, ..ImportOptions::default() };
    let with = imported(LogForm::Csv, text, &options).expect("a log");
    assert_eq!(with.wire, notation(&format!("{hidden} isb x 2; wait 25; isb; wait 1; isb")));
    assert_eq!(with.lines, [1, 1, 2, 3, 4, 4, 5, 5]);
    assert_eq!(csv("time,event\n5,isb\n4,isb\n"), Err("3:1: time goes backwards".to_owned()));
}

#[test]
fn addresses_are_those_of_one_unit() {
    let text = "interface,direction,address,value\n\
                m,w,0xffff800012340004,1\nm,w,ffff800012341004,1\nm,w,ffff80001233fffc,1\nm,r,ffff800012340ffc,5\n";
    let found = imported(LogForm::Csv, text, &at_base()).expect("a log");
    assert_eq!(found.wire, notation("see barriers 0; see system 0; mw TRCPRGCTLR=1 ?; mr TRCCIDR3->5 ?"));
    assert_eq!((found.lines.as_slice(), found.others), (&[1, 1, 2, 5][..], 2));
    assert_eq!(found.first_other, Some(0xffff_8000_1234_1000));
    let without =
        "2:5: the base address of the trace unit is not given; this one is in page 0xffff800012340000";
    assert_eq!(csv(text), Err(without.to_owned()));
}

#[test]
fn malformed_rows_are_named() {
    let access = "interface,direction,register,width,value,response,space,event\n";
    for (text, message) in [
        ("", "1:1: a header line that names the columns is missing"),
        ("# nothing\n\n", "1:1: a header line that names the columns is missing"),
        (
            "time,register\n",
            "1:1: the columns `interface`, `direction` and `register` (or `address`), or `event`, are needed",
        ),
        ("event,register,address\n", "1:1: the columns `register` and `address` exclude each other"),
        ("event, event\n", "1:8: column `event` is named twice"),
        ("event\n\nisb\nhalt\n", "4:1: `halt` begins no item; write e.g. `sw TRCPRGCTLR=1` or `isb`"),
        ("event\nisb; hex 00\n", "2:6: an event is a record of a log"),
        ("event\n gen 4\n", "2:2: an event is a record of a log"),
        ("event\nout if0 0\n", "2:1: 0 bytes are no output"),
        ("event\nisb x 65536\n", "2:1: events are not repeated with `x`; write a row for each"),
        ("time,event\n-1,isb\n", "2:1: `-1` is no number of 64 bits"),
    ] {
        assert_eq!(csv(text), Err(message.to_owned()), "{text}");
    }
    for (row, message) in [
        ("x,w,TRCRSR", "2:11: the row has 3 fields, the header 8"),
        ("x,w,TRCRSR,,,,,,", "2:17: the header has 8 fields only"),
        ("y,w,TRCRSR,,,,,", "2:1: `y` is none of system, external, memory, s, x, m"),
        ("x,both,TRCRSR,,,,,", "2:3: `both` is none of read, write, r, w"),
        (",w,TRCRSR,,,,,", "2:1: `interface` is empty"),
        ("x,w,,,,,,", "2:1: `register` is empty"),
        (
            "x,w,  TRCX,,,,,",
            "2:7: `TRCX` is no register; write a name such as TRCPRGCTLR or TRCACVR3+4, or an offset such as 0x300",
        ),
        ("x,w,TRCRSR,16,,,,", "2:12: `16` is none of 32, 64"),
        ("x,w,TRCRSR,,\"1\",,,", "2:13: fields are not quoted"),
        ("x,w,TRCRSR,,1g,,,", "2:13: `1g` is no value; values are hexadecimal: 1000 or 0x1000"),
        ("x,w,TRCRSR,,100000000,,,", "2:13: `100000000` has more than 32 bits"),
        ("x,w,TRCRSR,,1,fine,,", "2:15: `fine` is none of ok, error, undefined, trapped, unknown"),
        ("s,w,TRCRSR,,1,,root,", "2:16: a System instruction has no address space"),
        ("x,w,TRCRSR,,1,,nowhere,", "2:16: `nowhere` is none of non-secure, secure, root, realm"),
        ("é,w,TRCRSR,,,,,", "2:1: `é` is none of system, external, memory, s, x, m"),
        ("x,,,,,,,isb", "2:1: a row is an access or an event, not both"),
    ] {
        assert_eq!(csv(&format!("{access}{row}\n")), Err(message.to_owned()), "{row}");
    }
    let options = at_base();
    for (row, message) in [
        ("s,w,ffff800012340004", "2:5: a System instruction has no address"),
        ("m,w,ffff800012340006", "2:5: `ffff800012340006` is inside a register"),
    ] {
        let text = format!("interface,direction,address\n{row}\n");
        assert_eq!(imported(LogForm::Csv, &text, &options), Err(message.to_owned()));
    }
}

#[test]
fn kernel_lines_are_accesses() {
    let text = "# tracer: nop\n\
        #\n\
        \x20         insmod-411     [002] d..1.    52.000100: rwmmio_write: etm4_enable_hw+0x58/0x9c0 -> writel_relaxed+0x1c/0x40 width=32 val=0xc5acce55 addr=0xffff800012340fb0\n\
        \x20         insmod-411     [002] d..1.    52.000101: rwmmio_post_write: etm4_enable_hw+0x58/0x9c0 -> writel_relaxed+0x1c/0x40 width=32 val=0xc5acce55 addr=0xffff800012340fb0\n\
        \x20         insmod-411     [002] d..1.    52.000110: rwmmio_read: etm4_enable_hw+0x80/0x9c0 width=32 addr=0xffff80001234000c\n\
        \x20         <idle>-0       [000] d.h1.    52.000110: rwmmio_read: gic_handle_irq+0x80/0x9c0 width=32 addr=0xffff800010010000\n\
        \x20         insmod-411     [002] d..1.    52.000111: rwmmio_post_read: etm4_enable_hw+0x80/0x9c0 width=32 val=0x3 addr=0xffff80001234000c\n\
        \x20         insmod-411     [002] d..1.    52.000120: rwmmio_write: etm4_enable_hw+0x90/0x9c0 width=64 val=0x8000 addr=0xffff800012340400\n\
        \x20         insmod-411     [002] d..1.    52.000200: sched_switch: prev_comm=rwmmio_x\n";
    let found = ftrace(text).expect("a log");
    let hidden = "see barriers 0; see system 0;";
    let accesses = ["mw TRCLAR=c5acce55 ?", "mr TRCSTATR->3 ?", "mw64 TRCACVR0=8000 ?"];
    assert_eq!(found.wire, notation(&format!("{hidden} {}", accesses.join("; "))));
    assert_eq!((found.lines.as_slice(), found.others), (&[1, 1, 3, 5, 8][..], 1));
    let timed = ImportOptions { time: true, ..at_base() };
    let found = imported(LogForm::Ftrace, text, &timed).expect("a log");
    let waits =
        format!("{hidden} {}; wait 1; wait 9; {}; wait 1; wait 9; {}", accesses[0], accesses[1], accesses[2]);
    assert_eq!(found.wire, notation(&waits));
}

#[test]
fn one_event_of_an_access_is_enough() {
    let line =
        |event: &str, rest: &str| format!("t-1 [000] 1.5: rwmmio_{event}: f {rest} addr=ffff800012340020\n");
    let hidden = "see barriers 0; see system 0;";
    for (text, expected) in [
        (line("write", "width=32 val=0x1"), "mw TRCEVENTCTL0R=1 ?"),
        (line("post_write", "width=32 val=0x1"), "mw TRCEVENTCTL0R=1 ?"),
        (line("write", "width=32 val=0x1").repeat(2), "mw TRCEVENTCTL0R=1 ? x 2"),
        (line("read", "width=32"), "mr TRCEVENTCTL0R ?"),
        (line("post_read", "width=32 val=0"), "mr TRCEVENTCTL0R->0 ?"),
        (
            line("write", "width=32 val=0x1") + &line("post_write", "width=32 val=0x2"),
            "mw TRCEVENTCTL0R=1 ?; mw TRCEVENTCTL0R=2 ?",
        ),
        (
            line("read", "width=32") + "CPU:0 [LOST 7 EVENTS]\n" + &line("post_read", "width=32 val=1"),
            "mr TRCEVENTCTL0R ?; gap; mr TRCEVENTCTL0R->1 ?",
        ),
    ] {
        assert_eq!(ftrace(&text).expect(&text).wire, notation(&format!("{hidden} {expected}")), "{text}");
    }
}

#[test]
fn probes_show_system_registers_and_losses_are_gaps() {
    let text = "CPU:3 [12 EVENTS DROPPED]\n\
                perf-9 [001] ..... 9.000001: ete_sysreg_write: (ete_sysreg_write+0x0/0x3b8) val=0x1 offset=0x4\n\
                ##### CPU 2 buffer started ####\n\
                perf-9 [001] ..... 9.000002: etm4x_sysreg_read: (etm4_enable_hw+0x10/0x20 <- etm4x_sysreg_read) val=0x2 offset=0xc\n";
    let found = imported(LogForm::Ftrace, text, &ImportOptions::default()).expect("a log");
    let expected = "gap; sw TRCPRGCTLR=1 ?; gap; sr TRCSTATR->2 ?";
    assert_eq!(found.wire, notation(&format!("see barriers 0; see system 0; see external 0; {expected}")));
    assert_eq!(found.lines, [1, 1, 1, 1, 2, 3, 4]);
    let see = vec![(Visible::System, true)];
    let shown = imported(LogForm::Ftrace, text, &ImportOptions { see, ..ImportOptions::default() });
    let shown = shown.expect("a log");
    assert_eq!(shown.wire, notation(&format!("see barriers 0; see system 1; see external 0; {expected}")));
}

#[test]
fn malformed_kernel_lines_are_named() {
    for (rest, message) in [
        ("rwmmio_write: f width=32 val=0x1", "1:5: `rwmmio_write: …` without `addr=…`"),
        ("rwmmio_write: f width=32 addr=ffff800012340000", "1:5: `rwmmio_write: …` without `val=…`"),
        ("rwmmio_read: f addr=ffff800012340000", "1:5: `rwmmio_read: …` without `width=…`"),
        ("rwmmio_read: f width=8 addr=ffff800012340000", "1:26: `8` is none of 32, 64"),
        (
            "rwmmio_read: f width=32 addr=(null)",
            "1:34: `(null)` is no value; values are hexadecimal: 1000 or 0x1000",
        ),
        ("rwmmio_read: f width=32 addr=ffff800012340001", "1:34: `ffff800012340001` is inside a register"),
        (
            "rwmmio_post_read: f width=32 val=100000000 addr=ffff800012340000",
            "1:38: `100000000` has more than 32 bits",
        ),
        ("ete_sysreg_write: () val=1 offset=1004", "1:39: `1004` is no offset of a register"),
    ] {
        assert_eq!(ftrace(&format!("t-1 {rest}")), Err(message.to_owned()), "{rest}");
    }
    let without = imported(LogForm::Ftrace, "rwmmio_read: f width=32 addr=0x1234", &ImportOptions::default());
    let message = "1:30: the base address of the trace unit is not given; this one is in page 0x1000";
    assert_eq!(without, Err(message.to_owned()));
}

/// Lines of a megabyte take time in proportion to their length, and give no more records than they have items.
#[test]
fn long_lines_are_read() {
    const LENGTH: usize = 1 << 20;
    let started = std::time::Instant::now();
    for text in [
        format!("event\n{}", "isb;".repeat(LENGTH / 4)),
        format!("event\n{}", "a ".repeat(LENGTH / 2)),
        format!("event{}", ",event".repeat(LENGTH / 6)),
        format!("event\n{}", ",".repeat(LENGTH)),
        format!("interface,direction,register\nx,w,{}", "0".repeat(LENGTH)),
        format!("interface,direction,register\n{}", "x,w,TRCRSR\n".repeat(LENGTH / 11)),
        format!("rwmmio_read: {}", "f ".repeat(LENGTH / 2)),
        format!("{} rwmmio_read: width=32 addr={BASE:x}", "[0] ".repeat(LENGTH / 4)),
        "\u{feff}é".repeat(LENGTH / 5),
        "rwmmio_".repeat(LENGTH / 7),
    ] {
        for form in [LogForm::Csv, LogForm::Ftrace] {
            if let Ok(log) = imported(form, &text, &at_base()) {
                assert!(log.lines.len() <= LENGTH / 4 + 3 && log.wire.len() == RECORD * log.lines.len());
            }
        }
    }
    assert!(started.elapsed().as_secs() < 60, "{:?}", started.elapsed());
}

/// Every prefix of a log, and the log with any byte replaced, is read or refused with a place inside it.
#[test]
fn spoiled_logs_are_read_or_refused() {
    let rows =
        "time,interface,direction,register,value,event\n1,x,w,TRCRSR,1000,\n2,,,,,poll s IDLE=1; isb\n";
    let lines = "t-1 [001] 1.000001: rwmmio_write: f width=32 val=0x1 addr=0xffff800012340004\n\
                 t-1 [001] 1.000002: ete_sysreg_read: () val=0x3 offset=0xc\nCPU:1 [LOST 3 EVENTS]\n";
    for (form, text) in [(LogForm::Csv, rows), (LogForm::Ftrace, lines)] {
        let mut spoiled: Vec<String> = (0..text.len()).map(|end| text[..end].to_owned()).collect();
        for at in 0..text.len() {
            for other in ["\n", ",", " ", "\u{0}", "é", "9", "="] {
                spoiled.push(format!("{}{other}{}", &text[..at], &text[at + 1..]));
            }
        }
        for text in spoiled {
            match import_log(form, &text, &ImportOptions { time: true, ..at_base() }) {
                Ok(log) => assert_eq!(log.wire.len(), RECORD * log.lines.len()),
                Err(error) => {
                    let line = text.lines().nth(error.line - 1).unwrap_or_default();
                    assert!((1..=line.chars().count() + 1).contains(&error.column), "{text}: {error}");
                }
            }
        }
    }
}
