//! The notation against bytes written by hand from the table of the wire.

use super::*;
use crate::arm_ete::Version;
use crate::arm_ete_unit::FEATURES;
use crate::notation::show_bytes;

/// Items and their records, written by hand.
const RECORDS: [(&str, &str); 37] = [
    ("gap", "00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00"),
    ("sw TRCPRGCTLR=0x1", "01 14 04 00 00 00 00 00 01 00 00 00 00 00 00 00"),
    ("sr TRCSTATR->0x3", "01 10 0c 00 00 00 00 00 03 00 00 00 00 00 00 00"),
    ("sr TRCVICTLR", "01 00 80 00 00 00 00 00 00 00 00 00 00 00 00 00"),
    ("xr TRCSTATR ERR", "01 21 0c 00 00 00 00 00 00 00 00 00 00 00 00 00"),
    ("xw TRCRSR=0x1000 @realm ?", "01 95 28 00 04 00 00 00 00 10 00 00 00 00 00 00"),
    ("mw64 TRCACVR3=0x123456789abcdef0", "01 1e 18 04 00 00 00 00 f0 de bc 9a 78 56 34 12"),
    ("sw TRCACVR0=0xffffffff80000000", "01 14 00 04 00 00 00 00 00 00 00 80 ff ff ff ff"),
    ("sr TRCPDSR UNDEF", "01 40 14 03 00 00 00 00 00 00 00 00 00 00 00 00"),
    ("sw TRCPRGCTLR=0x1 TRAP", "01 74 04 00 00 00 00 00 01 00 00 00 00 00 00 00"),
    ("xw 0x0f0=0x7", "01 15 f0 00 00 00 00 00 07 00 00 00 00 00 00 00"),
    ("poll s IDLE=1", "02 08 00 00 00 00 00 00 00 00 00 00 00 00 00 00"),
    ("poll x PMSTABLE=0 timeout", "02 15 00 00 00 00 00 00 00 00 00 00 00 00 00 00"),
    ("isb", "03 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00"),
    ("exc", "03 04 00 00 00 00 00 00 00 00 00 00 00 00 00 00"),
    ("oslk 1", "04 04 00 00 00 00 00 00 00 00 00 00 00 00 00 00"),
    ("xoslk 0", "04 01 00 00 00 00 00 00 00 00 00 00 00 00 00 00"),
    ("trf P", "05 01 00 00 00 00 00 00 00 00 00 00 00 00 00 00"),
    ("tb 0", "06 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00"),
    ("pe el2 root", "07 02 02 02 00 00 00 00 00 00 00 00 00 00 00 00"),
    ("pe awake", "07 06 00 00 00 00 00 00 00 00 00 00 00 00 00 00"),
    ("cold", "08 01 00 00 00 00 00 00 00 00 00 00 00 00 00 00"),
    ("pw ret", "09 02 00 00 00 00 00 00 00 00 00 00 00 00 00 00"),
    ("sink trbu stop", "0a 00 02 00 00 00 00 00 00 00 00 00 00 00 00 00"),
    ("sink if14 1", "0a 0f 01 00 00 00 00 00 00 00 00 00 00 00 00 00"),
    ("ifc 1", "0b 01 00 00 00 00 00 00 00 00 00 00 00 00 00 00"),
    ("etad 2", "0c 02 00 00 00 00 00 00 00 00 00 00 00 00 00 00"),
    ("ev 3", "0d 03 00 00 00 00 00 00 00 00 00 00 00 00 00 00"),
    ("flush", "0e 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00"),
    ("wait 1000", "0f 00 00 00 00 00 00 00 e8 03 00 00 00 00 00 00"),
    ("see states 1", "10 03 01 00 00 00 00 00 00 00 00 00 00 00 00 00"),
    ("end", "11 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00"),
    ("out if0 12", "12 01 00 00 00 00 00 00 0c 00 00 00 00 00 00 00"),
    ("st Stable", "13 04 00 00 00 00 00 00 00 00 00 00 00 00 00 00"),
    ("sig overflow 1", "14 03 01 00 00 00 00 00 00 00 00 00 00 00 00 00"),
    ("sig ack", "14 05 00 00 00 00 00 00 00 00 00 00 00 00 00 00"),
    ("sig resources paused", "14 06 02 00 00 00 00 00 00 00 00 00 00 00 00 00"),
];

fn bytes(line: &str) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    append(line, &mut bytes).map_err(|error| format!("{}: {}", error.column, error.message))?;
    Ok(bytes)
}

#[test]
fn records_are_packed_as_the_table_says() {
    for (text, expected) in RECORDS {
        let packed = bytes(text).expect(text);
        assert_eq!(show_bytes(&packed), expected, "{text}");
        assert_eq!(show(&packed), text);
    }
}

#[test]
fn every_kind_is_written() {
    for kind in Kind::ALL {
        let code = format!("{:02x} ", kind as u8);
        assert!(RECORDS.iter().any(|(_, bytes)| bytes.starts_with(&code)), "{kind:?}");
    }
}

#[test]
fn sequences_of_drivers_are_read() {
    for (line, count) in [
        ("oslk 0; isb; sr TRCCLAIMCLR->0; sw TRCCLAIMSET=2; isb; sr TRCCLAIMCLR->2; sw TRCPRGCTLR=0", 7),
        ("isb; poll s IDLE=1; sw TRCCONFIGR; sw TRCAUXCTLR=0; sw TRCSYNCPR=C; sw TRCRSR=1000", 6),
        ("xw TRCLAR=C5ACCE55; xr TRCPDSR->23; xw 0x300=0; xw TRCPRGCTLR=0; poll x IDLE=1", 5),
        ("trf P; isb; dsb; isb; tsb x 2; tb 0 ; ", 7),
        ("# only a comment; isb", 0),
        ("", 0),
    ] {
        assert_eq!(bytes(line).map(|bytes| bytes.len()), Ok(count * RECORD), "{line}");
    }
    assert_eq!(bytes("sw TRCRSR=1000"), bytes("sw trcrsr=0x1000"));
    assert_eq!(bytes("sr TRCRSR->?"), bytes("sr TRCRSR"));
}

#[test]
fn what_is_no_record_is_shown_as_bytes() {
    for text in [
        "15 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00", // no kind
        "03 05 00 00 00 00 00 00 00 00 00 00 00 00 00 00", // no barrier
        "03 00 00 00 00 00 00 00 01 00 00 00 00 00 00 00", // a value without a meaning
        "01 03 0c 00 00 00 00 00 00 00 00 00 00 00 00 00", // no agent
        "01 a0 0c 00 00 00 00 00 00 00 00 00 00 00 00 00", // no outcome
        "01 10 05 00 00 00 00 00 00 00 00 00 00 00 00 00", // no multiple of 4
        "01 10 fc 1f 00 00 00 00 00 00 00 00 00 00 00 00", // no register of the processor
        "01 10 0c 00 00 00 00 00 00 00 00 00 01 00 00 00", // more than 32 bits
        "01 00 0c 00 00 00 00 00 01 00 00 00 00 00 00 00", // a value that is not known
        "01 18 0c 00 00 00 00 00 00 00 00 00 00 00 00 00", // 64 bits of a direct access
        "01 11 0c 00 05 00 00 00 00 00 00 00 00 00 00 00", // no space
        "12 01 00 00 00 00 00 00 00 00 00 00 00 00 00 00", // no bytes
        "0a 01 02 00 00 00 00 00 00 00 00 00 00 00 00 00", // a stopped interface
        "0a 10 01 00 00 00 00 00 00 00 00 00 00 00 00 00", // no sink
        "0d 04 00 00 00 00 00 00 00 00 00 00 00 00 00 00", // no event
        "14 05 01 00 00 00 00 00 00 00 00 00 00 00 00 00", // an acknowledge has no value
        "03 00",
    ] {
        let line = format!("hex {text}");
        assert_eq!(bytes(&line).map(|bytes| show(&bytes)), Ok(line));
    }
}

#[test]
fn what_is_wrong_has_its_column() {
    for (line, message) in [
        ("isbb", "1: `isbb` begins no item; write e.g. `sw TRCPRGCTLR=1` or `isb`"),
        ("isb; isb 1", "10: `1` is too much"),
        ("sw", "3: a register is missing"),
        (
            "isb;  sw TRCNONE=1",
            "10: `TRCNONE` is no register; write a name such as TRCPRGCTLR or TRCACVR3+4, or an offset such as 0x300",
        ),
        ("sw TRCRSR=10g0", "11: `10g0` is no value; values are hexadecimal: 1000 or 0x1000"),
        ("sw TRCRSR=", "11: `` is no value; values are hexadecimal: 1000 or 0x1000"),
        ("sw TRCRSR=100000000", "11: `100000000` has more than 32 bits"),
        ("sw TRCRSR->1", "4: `sw` is followed by a register and `=`"),
        ("xr TRCRSR->1 ERROR", "14: `ERROR` is none of ERR, UNDEF, TRAP, ?"),
        ("xr TRCRSR ERR @east", "16: `east` is none of non-secure, secure, root, realm"),
        ("sr TRCRSR @secure", "11: a System instruction has no address space"),
        ("poll t IDLE=1", "6: `t` is none of s, x, m"),
        ("poll s IDLE", "8: `IDLE` is no condition; write IDLE=1 or PMSTABLE=1"),
        ("poll s BUSY=1", "8: `BUSY` is none of IDLE, PMSTABLE"),
        ("poll s IDLE=2", "13: `2` is none of 0, 1"),
        ("poll s IDLE=1 never", "15: `never` is none of timeout"),
        ("trf X", "5: `X` is none of P, A"),
        (
            "pe el4 secure",
            "4: `el4` is none of debug, run, el0 to el3, prohibited, allowed, low-power, awake",
        ),
        ("pe el1", "7: non-secure, secure, root or realm is missing"),
        ("sink if15 1", "6: `if15` is no sink; write trbu or if0 to if14"),
        ("sink if01 1", "6: `if01` is no sink; write trbu or if0 to if14"),
        ("sink if1 stop", "10: only trbu can be stopped"),
        ("etad 4", "6: `4` is no number of 2 bits"),
        ("out if0 0", "1: `out if0 0` is no output"),
        ("out if0", "8: the number of bytes is missing"),
        ("st idle", "4: `idle` is none of Idle, Enabling, Running, Unstable, Stable"),
        ("sig idle 1", "5: `idle` is none of enabled, operative, viewinst, overflow, stall, ack, resources"),
        ("see trace 1", "5: `trace` is none of barriers, system, external, states, events"),
        ("isb; go", "6: `gen`, `vi`, `go` and `drain` are for `stimulus`"),
        ("hex 0", "1: `hex` is followed by pairs of hexadecimal digits"),
        ("isb x 100000", "1: 100000 times is too often"),
        ("é; isb é", "1: `é` begins no item; write e.g. `sw TRCPRGCTLR=1` or `isb`"),
    ] {
        assert_eq!(bytes(line), Err(message.to_owned()), "{line}");
    }
}

#[test]
fn errors_of_a_case_name_the_line() {
    let lines = ["isb", "isb; oslk 2"].map(str::to_owned);
    let problem = ArmEteUnit::wire(&lines, &Parameters::default()).expect_err("no flag");
    assert_eq!(problem.to_string(), "wire[1]: column 11: `2` is none of 0, 1");
    assert!(ArmEteUnit::assemble("nop", &Parameters::default()).is_err());
}

#[test]
fn features_follow_from_parameters_and_wire() {
    let needed = |parameters: &Parameters, line: &str| {
        ArmEteUnit::required_features(parameters, &bytes(line).expect(line))
    };
    assert_eq!(needed(&Parameters::default(), "sw TRCPRGCTLR=1; isb"), Vec::<&str>::new());
    assert_eq!(needed(&Parameters::default(), "see barriers 0"), ["hidden"]);
    let everything = Parameters {
        version: Version::Etmv4_5,
        bound: Some(10),
        shown: Shown { barriers: false, ..Shown::default() },
        errata: Errata { tsb_may_not_flush: true, ..Errata::default() },
        interpretation: Interpretation { accept_context_switch: false, ..Interpretation::default() },
        ..Parameters::default()
    };
    assert_eq!(needed(&everything, "isb"), crate::Feature::names(&FEATURES).collect::<Vec<_>>());
}
