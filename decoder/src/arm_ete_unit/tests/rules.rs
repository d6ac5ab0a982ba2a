//! Single rules: a log that breaks each, and one that does not.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use traceproof_vectors::arm_ete::Version;
use traceproof_vectors::arm_ete_unit::{Errata, Parameters, Shown};

use super::{findings, found, reported};

/// The findings of each log are these.
fn check(parameters: &Parameters, rows: &[(&str, &[&str])]) {
    for (log, expected) in rows {
        assert_eq!(findings(parameters, log), *expected, "{log}");
    }
}

#[test]
fn outcomes_of_accesses() {
    let none: &[&str] = &[];
    check(
        &Parameters::default(),
        &[
            ("pw ret; xr TRCPDSR->1", &["ETE-TWQJT-001 TRCPDSR"]),
            ("pw ret; xr TRCPDSR ERR", none),
            ("cold; xr TRCCONFIGR->0", &["ETE-ACC-001 TRCCONFIGR"]),
            ("cold; xr TRCCONFIGR ERR", &["ETE-FJPCN-001 TRCCONFIGR"]),
            ("cold; xoslk 0; xr TRCCONFIGR ERR", &["ETE-ACC-001 TRCCONFIGR"]),
            ("cold; xoslk 0; etad 1; xr TRCCONFIGR ERR", none),
            ("cold; xoslk 0; etad 1; xr TRCCONFIGR->0 @non-secure", &["ETE-ACC-001 TRCCONFIGR"]),
            ("cold; xoslk 0; etad 1; xr TRCIDR0 ERR", &["ETE-ACC-002 TRCIDR0"]),
            ("etad 1; xr TRCOSLSR->10 @non-secure", &["ETE-ACC-003 TRCOSLSR"]),
            ("cold; xr TRCOSLSR->12", none),
            ("cold; xr TRCOSLSR->10", &["ETE-ACC-011 TRCOSLSR"]),
            ("xr TRCOSLSR->8", &["ETE-ACC-011 TRCOSLSR"]),
            ("xr TRCPDSR ERR", &["ETE-ACC-004 TRCPDSR"]),
            ("xr TRCPDSR->3; xr TRCPDSR->3", &["ETE-ACC-010 TRCPDSR"]),
            ("xr TRCPDSR->3; pw 0; pw 1; xr TRCPDSR->3", none),
            ("xr 0x0f0->1", &["ETE-KQMKX-001 0x0f0"]),
            ("cold; xr 0x0f0 ERR", none),
            ("xr 0xf04 ERR", &["ETE-KQMKX-001 0xf04"]),
            ("xr TRCLAR->1", &["ETE-WXKDP-001 TRCLAR"]),
            ("sr TRCCONFIGR ERR", &["ETE-ACC-005 TRCCONFIGR"]),
            ("pe el0 secure; sr TRCCONFIGR", &["ETE-SGPQB-001 TRCCONFIGR"]),
            ("sr TRCPDSR->1", &["ETE-ACC-007 TRCPDSR"]),
            ("sw TRCIDR0=0", &["ETE-WCXDT-001 TRCIDR0"]),
            ("sr TRCQCTLR->0", &["ETE-WCXDT-001 TRCQCTLR"]),
            ("sr TRCCONFIGR UNDEF", none),
            ("pe el1 secure; sr TRCCONFIGR UNDEF", &["ETE-WCXDT-001 TRCCONFIGR"]),
            ("xr64 TRCCONFIGR->0", &["ETE-YFRMG-001 TRCCONFIGR"]),
            ("xr64 TRCACVR0->0", none),
            ("sr TRCCLAIMSET->f", none),
            ("sr TRCCLAIMSET->7", &["ETE-ACC-009 TRCCLAIMSET"]),
            ("xw TRCCLAIMSET=1; sr TRCCLAIMCLR->0", none),
            ("xw TRCCLAIMSET=1; isb; sr TRCCLAIMCLR->0", &["ETE-ACC-009 TRCCLAIMCLR"]),
            ("sr TRCIDR5->804701ff", none),
            ("sr TRCIDR5->0", &["ETE-RWPFG-001 TRCIDR5", "ETE-RWPFG-002 TRCIDR5", "ETE-HBBDV-001 TRCIDR5"]),
        ],
    );
    let old = Parameters { version: Version::Etmv4_2, trace_buffer: false, ..Parameters::default() };
    assert_eq!(findings(&old, "cold; mr TRCCONFIGR->0"), [""; 0]);
}

#[test]
fn reads_of_en_and_contents() {
    let none: &[&str] = &[];
    let idle = "cold; xoslk 0";
    check(
        &Parameters::default(),
        &[
            ("xw TRCPRGCTLR=0; xr TRCPRGCTLR->1", &["ETE-DYRZC-001 TRCPRGCTLR"]),
            ("sw TRCPRGCTLR=0; sr TRCPRGCTLR->0; sr TRCPRGCTLR->1", &["ETE-SYN-002 TRCPRGCTLR"]),
            ("cold; sr TRCPRGCTLR->1", &["ETE-ST-005 TRCPRGCTLR"]),
            ("cold; sr TRCPRGCTLR->0; warm; sr TRCPRGCTLR->1", &["ETE-ST-004 TRCPRGCTLR"]),
            ("sr TRCPRGCTLR->0; sr TRCPRGCTLR->1", &["ETE-MDZDN-002 TRCPRGCTLR"]),
            ("cold; sr TRCEVENTCTL1R->2000", &["ETE-OE-RST-001 TRCEVENTCTL1R"]),
            ("cold; sr TRCAUXCTLR->1", &["ETE-WKLGX-001 TRCAUXCTLR"]),
            ("cold; sr TRCIMSPEC0->f", none),
            ("cold; sr TRCIMSPEC0->10", &["ETE-WKLGX-001 TRCIMSPEC0"]),
            ("cold; xoslk 0; xw TRCCNTVR0=5; xr TRCCNTVR0->5", none),
            ("cold; xoslk 0; xw TRCCNTVR0=5; xr TRCCNTVR0->6", &["ETE-BPTKT-002 TRCCNTVR0"]),
            ("cold; xoslk 0; xw TRCTRACEIDR=5; xr TRCTRACEIDR->6", &["ETE-RWYQD-004 TRCTRACEIDR"]),
            ("cold; xoslk 0; xr TRCRSR->0; xr TRCRSR->100", &["ETE-BPTKT-001 TRCRSR"]),
            // After a change of what software wants, resource state may be any.
            ("cold; xoslk 0; xw TRCCNTVR0=5; warm; xr TRCCNTVR0->6", none),
        ],
    );
    let held = format!("{idle}; xoslk 1; sw TRCPRGCTLR=1; isb; poll s IDLE=0 timeout; poll s IDLE=0 timeout");
    let held = found(&held);
    assert!(held.contains(&"ETE-DXFFN-002 TRCSTATR".into()), "{held:?}");
}

#[test]
fn time() {
    let parameters = Parameters { bound: Some(10), ..Parameters::default() };
    let running = "xw TRCPRGCTLR=0; poll x IDLE=1; xw TRCPRGCTLR=1";
    let none: [&str; 0] = [];
    for (log, expected) in [
        ("wait 10; xr TRCSTATR->1", &none[..]),
        ("wait 11; xr TRCSTATR->1", &["ETE-ZFPHC-001 TRCSTATR"]),
        ("poll x IDLE=0; xw TRCPRGCTLR=0; wait 11; xr TRCSTATR->0", &["ETE-CZHWF-001 TRCSTATR"]),
        ("poll x IDLE=0; xw TRCPRGCTLR=0; wait 11; xr TRCSTATR->2", &["ETE-TRZCP-003 TRCSTATR"]),
        ("poll x IDLE=0; xw TRCPRGCTLR=0; sink if0 0; wait 11; xr TRCSTATR->2", &none),
        ("sig viewinst 1; flush; wait 11; wait 11", &["ETE-DKFRL-001"]),
        ("flush; sig ack; flush; wait 11", &["ETE-DKFRL-001"]),
        ("flush; wait 11; wait 11", &none),
        ("flush; sig ack; wait 11", &none),
    ] {
        assert_eq!(findings(&parameters, &std_log(running, log)), expected, "{log}");
    }
}

fn std_log(first: &str, then: &str) -> String {
    format!("{first}; {then}")
}

#[test]
fn routing() {
    let none: &[&str] = &[];
    let default = Parameters::default();
    let without_oe = Parameters { version: Version::Ete1_2, output_enable: false, ..default };
    check(
        &default,
        &[
            ("out if1 1", &["ETE-SVDBD-001"]),
            ("warm; out trbu 1", none),
            ("pe prohibited; tsb; warm; out trbu 1", &["ETE-FJFNS-001"]),
            ("pe prohibited; tsb; tb 0; isb; pe allowed; warm; out trbu 1", &["ETE-FJFNS-001"]),
            ("tb 1; isb; tsb; sink trbu stop; out trbu 1", &["ETE-RT-003"]),
            ("pe prohibited; tb 1; isb; tsb; out if0 1", &["ETE-PJYKY-002"]),
            // In flight.
            ("tb 1; isb; out if0 1", none),
            ("tb 1; isb; tsb; out if0 1", none),
            ("trf A; isb; tb 1; isb; tsb; out if0 1", none),
            ("pe prohibited; tb 0; isb; tsb; out trbu 1", none),
            ("rst; out if0 1", &["ETE-PJYKY-001", "ETE-SES-001"]),
            ("pe prohibited; tb 1; isb; tsb; out trbu 1", &["ETE-XLVQM-001"]),
            ("pe prohibited; tb 1; isb; tsb; pe allowed; out trbu 1", none),
        ],
    );
    check(
        &without_oe,
        &[
            ("pe prohibited; tb 1; isb; tsb; out if0 1", &["ETE-LGVCX-001"]),
            ("tb 0; isb; tsb; ifc 0; out if0 1", &["ETE-FTSZG-002"]),
        ],
    );
    let mode = Parameters { self_hosted: false, ..default };
    assert_eq!(findings(&mode, "out trbu 1"), ["ETE-RT-002", "ETE-FJFNS-001"]);
    let oe =
        "cold; xoslk 0; xw TRCEVENTCTL1R=2000; xw TRCPRGCTLR=1; poll x IDLE=0; tb 1; isb; tsb; out if0 1";
    assert!(found(oe).contains(&"ETE-LGVCX-002".into()));
    let outputs: Vec<_> = reported(&default, "cold; tb 1; isb; tb 0; isb; tsb");
    assert_eq!(
        outputs,
        [
            "0 Idle",
            "0 -> discarded",
            "1 -> trace-buffer discarded",
            "2 -> trace-buffer",
            "3 -> trace-buffer discarded",
            "4 -> discarded"
        ]
    );
}

#[test]
fn signals() {
    let none: &[&str] = &[];
    let start = Shown { events: true, ..Shown::default() };
    let parameters = Parameters { shown: start, ..Parameters::default() };
    check(
        &parameters,
        &[
            ("cold; sig overflow 1", &["ETE-ZDTLK-001", "ETE-NLSSL-002"]),
            ("sig overflow 1; sig ack", &["ETE-TWBVY-001"]),
            ("cold; sig operative 1", &["ETE-ZVNKV-001"]),
            ("pe debug; sig viewinst 1", &["ETE-YMJFJ-001"]),
            ("cold; sig stall 1", &["ETE-STL-001"]),
            ("cold; sig resources running", &["ETE-LYFDT-001"]),
            ("cold; sig enabled 1", &["ETE-WMGGP-004"]),
            ("cold; st Running", &["ETE-WMGGP-005"]),
            ("sig overflow 1; st Idle", &["ETE-RPSPH-001"]),
            ("sig overflow 1; sig overflow 0; st Idle", none),
            ("xw TRCPRGCTLR=0; sig resources pausing; poll x PMSTABLE=1", &["ETE-MVZYP-001 TRCSTATR"]),
            ("pe prohibited; sig resources pausing; tsb", none),
            ("see states 1; st Running; pe prohibited; sig resources pausing; tsb", &["ETE-FCBLJ-001"]),
        ],
    );
}

#[test]
fn errata_of_the_trace_buffer() {
    let errata = Errata { tsb_may_not_flush: true, ..Errata::default() };
    let twice = Parameters { errata, ..Parameters::default() };
    assert_eq!(findings(&twice, "pe prohibited; tb 1; isb; tsb; out trbu 1"), [""; 0]);
    assert_eq!(findings(&twice, "pe prohibited; tb 1; isb; tsb; tsb; out trbu 1"), ["ETE-XLVQM-001"]);
    let errata = Errata { trace_buffer_needs_two_events: true, ..Errata::default() };
    let later = Parameters { errata, ..Parameters::default() };
    let collected = "pe prohibited; tsb; tb 0";
    assert_eq!(findings(&later, &format!("{collected}; isb; out trbu 1")), [""; 0]);
    assert_eq!(findings(&later, &format!("{collected}; isb; isb; out trbu 1")), ["ETE-FJFNS-001"]);
    let errata = Errata { trace_buffer_ignores_writes: true, ..Errata::default() };
    let ignoring = Parameters { errata, ..Parameters::default() };
    assert_eq!(findings(&ignoring, &format!("{collected}; isb; tb 0; isb; out trbu 1")), [""; 0]);
    let drained = format!("{collected}; tsb; dsb; isb; tb 0; isb; out trbu 1");
    assert_eq!(findings(&ignoring, &drained), ["ETE-FJFNS-001"]);
}

#[test]
fn events_of_resources() {
    let shown = Shown { events: true, ..Shown::default() };
    let parameters = Parameters { shown, ..Parameters::default() };
    let log = |before: &str, within: &str, after: &str| {
        format!(
            "rst; xoslk 0; xw TRCRSR={before}; trf A; isb; xw TRCPRGCTLR=1; poll x IDLE=0; {within}
             xw TRCPRGCTLR=0; poll x IDLE=1; xr TRCRSR->{after}"
        )
    };
    let about = |log: &str| {
        let found = findings(&parameters, log);
        found.into_iter().filter(|finding| finding.starts_with("ETE-RES")).collect::<Vec<_>>()
    };
    assert_eq!(about(&log("0", "isb", "100")), ["ETE-RES-001 TRCRSR"]);
    assert_eq!(about(&log("0", "pe prohibited; ev 0; pe allowed", "100")), [""; 0]);
    assert_eq!(about(&log("0", "pe prohibited; ev 0; pe allowed", "200")), ["ETE-RES-001 TRCRSR"]);
    assert_eq!(about(&log("100", "isb", "100")), ["ETE-RES-002 TRCRSR"]);
    assert_eq!(about(&log("100", "isb", "0")), [""; 0]);
    assert_eq!(about(&log("0", "see events 0", "100")), [""; 0]);
}

#[test]
fn remaining_rules() {
    let shown = Shown { events: true, ..Shown::default() };
    let parameters = Parameters { shown, ..Parameters::default() };
    let idle = "oslk 0; isb; sw TRCPRGCTLR=0; isb; poll s IDLE=1";
    let enabled = format!("{idle}; sw TRCPRGCTLR=1; isb");
    let stall = "rst; xoslk 0; xw TRCSTALLCTLR=2100; xw TRCPRGCTLR=1";
    let config = "rst; xoslk 0; xw TRCCONFIGR=800; xw TRCEVENTCTL0R=81; xw TRCVICTLR=4; xw TRCPRGCTLR=1";
    for (log, finding, expected) in [
        ("see states 1; cold; xoslk 0; xw TRCPRGCTLR=1; xw TRCPRGCTLR=0", "ETE-MDZDN-001 TRCPRGCTLR", true),
        ("see states 1; cold; xoslk 0; xw TRCPRGCTLR=1; xw TRCPRGCTLR=1", "ETE-MDZDN-001 TRCPRGCTLR", false),
        (config, "ETE-PRG-005 TRCTSCTLR", true),
        (config, "ETE-PRG-005 TRCCCCTLR", false),
        (config, "ETE-PRG-005 TRCVIIECTLR", true),
        (config, "ETE-PRG-005 TRCRSCTLR2", true),
        (config, "ETE-PRG-005 TRCRSCTLR3", true),
        (config, "ETE-PRG-005 TRCRSCTLR4", true),
        (config, "ETE-PRG-005 TRCRSCTLR5", false),
        (&format!("{stall}; ev 0; ev 1; sig overflow 1"), "ETE-STL-002", true),
        (&format!("{stall}; ev 0; ev 0; sig overflow 1"), "ETE-STL-002", false),
        ("cold; xoslk 0; xw TRCSTATR=0 ERR", "ETE-SVSNR-001 TRCSTATR", true),
        ("cold; xw TRCSTATR=0 ERR", "ETE-SVSNR-001 TRCSTATR", false),
        (&format!("{idle}; sr TRCRSR->0"), "ETE-SYN-008 TRCRSR", true),
        (&format!("{idle}; isb; sr TRCRSR->0"), "ETE-SYN-008 TRCRSR", false),
        (&format!("{enabled}; end"), "ETE-ZGJRF-001", true),
        (&format!("{enabled}; poll s IDLE=0; end"), "ETE-ZGJRF-001", false),
    ] {
        let found = findings(&parameters, log);
        assert_eq!(found.iter().any(|of| of == finding), expected, "{log}: {finding} in {found:?}");
    }
}

/// Where two agents write EN or the OS Lock without a context synchronisation event between them, either may come last:
/// nothing is concluded from the later record.
#[test]
fn writes_of_two_agents_have_no_order() {
    let begin = "xoslk 0; xw TRCPRGCTLR=0; poll x IDLE=1";
    let session = "poll s IDLE=0; xw TRCPRGCTLR=0; poll x IDLE=1; isb; xr TRCRSR->0";
    for enable in [
        "oslk 0; xoslk 1; isb; sw TRCRSR=1000; sw TRCPRGCTLR=1; isb",
        "sw TRCRSR=1000; sw TRCPRGCTLR=1; xr TRCPRGCTLR->0; isb",
        "sw TRCRSR=1000; oslk 1; isb; sw TRCPRGCTLR=1; isb; oslk 0; xoslk 0; isb",
    ] {
        assert_eq!(found(&format!("{begin}; {enable}; {session}")), [""; 0], "{enable}");
    }
    // Nothing is known of EN where another agent's write comes first or last; a read settles it.
    let both = "sw TRCPRGCTLR=1; xw TRCPRGCTLR=0; isb";
    let (write, prg002) = ("xw TRCCONFIGR=1", "ETE-PRG-002 TRCCONFIGR");
    let unproved = found(&format!("{begin}; {both}; {write}"));
    assert_eq!(unproved.last().map(String::as_str), Some(prg002));
    let settled = found(&format!("{begin}; {both}; xr TRCPRGCTLR->0; poll x IDLE=1; {write}"));
    assert!(!settled.contains(&prg002.into()), "{settled:?}");
}

/// Software that finds EN = 1 may clear it as if it had not looked, unless the OS Lock or IDLE = 1 says more.
///
/// Spec: ETE-PRG-003.
#[test]
fn en_that_is_found_may_be_cleared() {
    let none: &[&str] = &[];
    let missing: &[&str] = &["ETE-PRG-003 TRCPRGCTLR"];
    check(
        &Parameters::default(),
        &[
            ("xr TRCPRGCTLR->1; xw TRCPRGCTLR=0", none),
            ("gap; xr TRCPRGCTLR->1; xw TRCPRGCTLR=0", none),
            ("xr TRCPRGCTLR->1; xr TRCSTATR->1; xw TRCPRGCTLR=0", missing),
            ("xr TRCPRGCTLR->1; xoslk 1; sw TRCPRGCTLR=0", missing),
            ("xr TRCPRGCTLR->1; xw TRCPRGCTLR=1; xw TRCPRGCTLR=0", missing),
        ],
    );
}

/// A write of an unsupported size leaves both of its words unknown, and EN = 0 after it is no first step.
///
/// Spec: ETE-YFRMG-001.
#[test]
fn an_unsupported_size_obscures_two_registers() {
    let begin = "xoslk 0; xw TRCPRGCTLR=0; poll x IDLE=1";
    let size = |register| format!("ETE-YFRMG-001 {register}");
    for (written, wide, read) in [
        ("TRCEVENTCTL1R=2000", "TRCEVENTCTL0R=0", "TRCEVENTCTL1R->0"),
        ("TRCSYNCPR=C", "TRCSYNCPR=0", "TRCSYNCPR->1"),
        ("TRCCLAIMSET=1", "TRCCLAIMSET=0", "TRCCLAIMCLR->0"),
    ] {
        let register = wide.split('=').next().unwrap_or_default();
        let log = format!("{begin}; xw {written}; xw64 {wide}; xr {read}");
        assert_eq!(found(&log), [size(register)], "{log}");
    }
    let ignored = format!("{begin}; xw64 TRCPRGCTLR=1; xw TRCPRGCTLR=0; xr TRCPRGCTLR->1");
    assert_eq!(found(&ignored), [size("TRCPRGCTLR")]);
    // A first EN = 0 takes effect.
    assert_eq!(found("xoslk 0; xw TRCPRGCTLR=0; xr TRCPRGCTLR->1"), ["ETE-DYRZC-001 TRCPRGCTLR"]);
}
