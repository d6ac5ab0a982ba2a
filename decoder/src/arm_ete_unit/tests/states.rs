//! The table of states and inputs, cell by cell: states that follow, values of TRCSTATR, writes, bytes.

use alloc::format;
use alloc::vec::Vec;

use traceproof_vectors::arm_ete::Version;
use traceproof_vectors::arm_ete_unit::Parameters;

use super::{findings, found, last_states, states};

/// How each row of states with EN and L is reached, where every change of the state is shown.
const IDLE: &str = "cold; see states 1; xoslk 0";
const IDLE_LOCKED: &str = "cold; see states 1";
const IDLE_HELD: &str = "cold; see states 1; sw TRCPRGCTLR=1; isb";
const ENABLING: &str = "cold; see states 1; xoslk 0; xw TRCPRGCTLR=1";
const RUNNING: &str = "cold; see states 1; xoslk 0; xw TRCPRGCTLR=1; st Running";
const UNSTABLE: &str = "cold; see states 1; xoslk 0; xw TRCPRGCTLR=1; st Running; xw TRCPRGCTLR=0";
const STABLE: &str = "cold; see states 1; xoslk 0; xw TRCPRGCTLR=1; st Running; xw TRCPRGCTLR=0; st Stable";
const UNSTABLE_HELD: &str = "cold; see states 1; xoslk 0; xw TRCPRGCTLR=1; st Running; xoslk 1";
const STABLE_HELD: &str = "cold; see states 1; xoslk 0; xw TRCPRGCTLR=1; st Running; xoslk 1; st Stable";

const ROWS: [(&str, &str); 9] = [
    (IDLE, "Idle"),
    (IDLE_LOCKED, "Idle"),
    (IDLE_HELD, "Idle"),
    (ENABLING, "Enabling"),
    (RUNNING, "Running"),
    (UNSTABLE, "Unstable"),
    (STABLE, "Stable"),
    (UNSTABLE_HELD, "Unstable"),
    (STABLE_HELD, "Stable"),
];

/// OE and the trace buffer unit are not implemented: bytes leave at the interface.
fn plain() -> Parameters {
    let version = Version::Ete1_2;
    Parameters { version, output_enable: false, trace_buffer: false, ..Parameters::default() }
}

#[test]
fn rows_are_reached() {
    for (log, expected) in ROWS {
        assert_eq!(states(log), expected, "{log}");
    }
}

#[test]
fn changes_of_en_and_lock() {
    let undefined = "Idle Enabling Unstable unpredictable";
    for (row, input, expected) in [
        (IDLE, "xw TRCPRGCTLR=1", "Enabling"),
        (IDLE, "xoslk 1", "Idle"),
        (IDLE_LOCKED, "sw TRCPRGCTLR=1; isb", "Idle"),
        (IDLE_LOCKED, "oslk 0; isb", "Idle"),
        (IDLE_HELD, "sw TRCPRGCTLR=0; isb", "Idle"),
        (IDLE_HELD, "xoslk 0", "Enabling"),
        (ENABLING, "xw TRCPRGCTLR=0", undefined),
        (ENABLING, "xoslk 1", undefined),
        (RUNNING, "xw TRCPRGCTLR=0", "Unstable"),
        (RUNNING, "xoslk 1", "Unstable"),
        (UNSTABLE, "xw TRCPRGCTLR=1", "Enabling Unstable unpredictable"),
        (UNSTABLE, "xoslk 1", "Unstable"),
        (UNSTABLE, "xoslk 1; xoslk 0", "Unstable"),
        (UNSTABLE, "xoslk 1; sw TRCPRGCTLR=1; isb", "Unstable unpredictable"),
        (UNSTABLE_HELD, "sw TRCPRGCTLR=0; isb", "Unstable unpredictable"),
        (UNSTABLE_HELD, "xoslk 0", "Enabling Unstable unpredictable"),
        (STABLE, "xw TRCPRGCTLR=1", "Enabling Stable unpredictable"),
        (STABLE, "xoslk 1; xoslk 0", "Stable"),
        (STABLE, "xoslk 1; sw TRCPRGCTLR=1; isb", "Stable unpredictable"),
        (STABLE_HELD, "sw TRCPRGCTLR=0; isb", "Stable unpredictable"),
        (STABLE_HELD, "xoslk 0", "Enabling Stable unpredictable"),
    ] {
        assert_eq!(states(&format!("{row}; {input}")), expected, "{row}; {input}");
    }
}

#[test]
fn what_changes_nothing() {
    let inputs = [
        "sw TRCCLAIMSET=1",
        "sw TRCCLAIMCLR=1",
        "sw OSLAR_EL1=0",
        "pe debug; pe run",
        "pe prohibited; pe allowed",
        "pe low-power; pe awake",
        "flush",
        "sink if0 0",
        "ifc 0",
        "warm",
        "pw ret; pw 1",
        "sw TRCIDR0=0 UNDEF",
    ];
    for (row, state) in ROWS {
        for input in inputs {
            assert_eq!(states(&format!("{row}; {input}")), state, "{row}; {input}");
        }
        let en = if ["Enabling", "Running"].contains(&state) || row.ends_with("isb") { 1 } else { 0 };
        if ![UNSTABLE_HELD, STABLE_HELD].contains(&row) {
            let log = format!("{row}; sw TRCPRGCTLR={en}; isb");
            assert_eq!(states(&log), state, "{log}");
        }
        for reset in ["rst", "cold", "pw 0", "pw 0; pw 1"] {
            assert_eq!(states(&format!("{row}; {reset}")), "Idle", "{row}; {reset}");
        }
    }
}

#[test]
fn values_of_trcstatr() {
    for (row, state) in ROWS {
        let possible: &[u8] = match state {
            "Idle" => &[3],
            "Enabling" => &[1, 3],
            "Running" => &[0, 2],
            "Unstable" => &[0],
            _ => &[2],
        };
        let rule = match (row, state) {
            (IDLE_HELD, _) => "ETE-ST-006 TRCSTATR",
            (_, "Enabling" | "Running") => "ETE-ST-003 TRCSTATR",
            _ => "ETE-ST-002 TRCSTATR",
        };
        for value in 0..4_u8 {
            let found = findings(&plain(), &format!("{row}; isb; sr TRCSTATR->{value}"));
            let contradicts = found.iter().any(|finding| finding == rule);
            assert_eq!(contradicts, !possible.contains(&value), "{row}: {value}, {found:?}");
        }
        let found = found(&format!("{row}; isb; sr TRCSTATR->{:x}", possible[0] | 4));
        assert!(found.contains(&"ETE-ST-001 TRCSTATR".into()), "{row}: {found:?}");
    }
}

#[test]
fn writes_and_bytes() {
    for (row, state) in ROWS {
        let is = |rule: &str, log: &str| {
            let found: Vec<_> = findings(&plain(), &format!("{row}; {log}"));
            found.iter().any(|finding| finding.starts_with(rule))
        };
        assert_eq!(is("ETE-RWYQD-001", "sw TRCVICTLR=0"), state != "Idle", "{row}");
        assert!(!is("ETE-RWYQD-001", "sw TRCPDCR=0 UNDEF"), "{row}");
        assert_eq!(is("ETE-SES-001", "out if0 1"), state == "Idle" && row != IDLE_HELD, "{row}");
        assert_eq!(is("ETE-ST-006", "out if0 1"), row == IDLE_HELD, "{row}");
        assert!(is("ETE-SES-001", "pw 0; out if0 1"), "{row}");
    }
}

#[test]
fn progress_and_pending_writes() {
    for (log, expected) in [
        ("cold; xoslk 0; xw TRCPRGCTLR=1", "Enabling Running"),
        ("cold; xoslk 0; xw TRCPRGCTLR=1; poll x IDLE=0; xw TRCPRGCTLR=0", "Idle Unstable Stable"),
        ("cold; xoslk 0; sw TRCPRGCTLR=1", "Idle Enabling Running"),
        ("cold; xoslk 0; sw TRCPRGCTLR=1; isb", "Enabling Running"),
        // The first write may have taken effect before the second one, which then hit Enabling.
        (
            "cold; xoslk 0; sw TRCPRGCTLR=1; sw TRCPRGCTLR=0; isb; poll s IDLE=1",
            "Idle Enabling Running Unstable Stable",
        ),
        ("cold; oslk 0; sw TRCPRGCTLR=1; isb", "Enabling Running"),
        ("cold; oslk 0; sw TRCPRGCTLR=1", "Idle Enabling Running"),
        // A first write of EN = 0 hits no state in which it is unpredictable.
        ("xw TRCPRGCTLR=0", "Idle Unstable Stable"),
        ("gap; sw TRCPRGCTLR=0; isb", "Idle Unstable Stable"),
        // A read too early proves nothing.
        ("cold; xoslk 0; sw TRCPRGCTLR=1; sr TRCSTATR->0", "Idle Enabling Running"),
        ("cold; xoslk 0; sw TRCPRGCTLR=1; isb; poll s IDLE=0 timeout", "Enabling Running"),
        (
            "cold; xoslk 0; xw TRCPRGCTLR=1; xw TRCAUXCTLR=1",
            "Idle Enabling Running Unstable Stable unpredictable",
        ),
        ("cold; xoslk 0; xr TRCITCTRL->1; st Idle", "Idle Enabling Running Unstable Stable unpredictable"),
        ("cold; xoslk 0; xr TRCITCTRL->0; xr TRCAUXCTLR->0; xr TRCIMSPEC0->f", "Idle"),
        ("end; cold", "Idle"),
    ] {
        assert_eq!(last_states(&Parameters::default(), log), expected, "{log}");
    }
}
