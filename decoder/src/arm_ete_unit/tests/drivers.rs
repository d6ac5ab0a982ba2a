//! Sequences of public drivers and of Arm's examples, and broken versions.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use traceproof_vectors::arm_ete::Version;
use traceproof_vectors::arm_ete_unit::{Interpretation, Parameters, Shown};

use super::{bytes, findings, found, results, states};

/// Registers that Linux writes before enabling, for the default trace unit.
fn programming(tag: &str) -> String {
    let single = "TRCCONFIGR=18c1 TRCAUXCTLR=0 TRCEVENTCTL0R=0 TRCEVENTCTL1R=0 TRCSTALLCTLR=0 TRCTSCTLR=0 TRCSYNCPR=c \
                  TRCCCCTLR=0 TRCBBCTLR=0 TRCTRACEIDR=10 TRCVICTLR=201 TRCVIIECTLR=0 TRCVISSCTLR=0 TRCSEQEVR0=0 \
                  TRCSEQEVR1=0 TRCSEQEVR2=0 TRCSEQRSTEVR=0 TRCSEQSTR=0 TRCEXTINSELR0=0";
    let mut items: Vec<String> = single.split_whitespace().map(|item| format!("{tag} {item}")).collect();
    for n in 0..2 {
        items.push(format!("{tag} TRCCNTRLDVR{n}=0; {tag} TRCCNTCTLR{n}=0; {tag} TRCCNTVR{n}=0"));
    }
    for n in 2..16 {
        items.push(format!("{tag} TRCRSCTLR{n}=0"));
    }
    items.push(format!("{tag} TRCSSCCR0=0; {tag} TRCSSCSR0=0"));
    for n in 0..8 {
        items.push(format!("{tag} TRCACVR{n}=0; {tag} TRCACATR{n}=0"));
    }
    items.push(format!(
        "{tag} TRCCIDCVR0=0; {tag} TRCCIDCCTLR0=0; {tag} TRCVMIDCVR0=0; {tag} TRCVMIDCCTLR0=0"
    ));
    items.join("; ")
}

fn linux_enable() -> String {
    format!(
        "oslk 0; isb; sr TRCCLAIMCLR->0; sw TRCCLAIMSET=2; isb; sr TRCCLAIMCLR->2; sw TRCPRGCTLR=0; isb
         poll s IDLE=1; {}; sw TRCRSR=1000; trf A; isb; sw TRCPRGCTLR=1; isb; poll s IDLE=0; dsb; isb",
        programming("sw")
    )
}

const LINUX_DISABLE: &str =
    "sr TRCPRGCTLR->1; trf P; isb; dsb; isb; tsb; sw TRCPRGCTLR=0; isb; poll s PMSTABLE=1; isb
    sr TRCSSCSR0->0; sr TRCCNTVR0->0; sr TRCCNTVR1->0; sr TRCCLAIMCLR->2; sw TRCCLAIMCLR=2; sr TRCVICTLR->201
    tsb; dsb; tb 0; isb";

fn linux() -> String {
    format!("cold; tb 1; isb\n{}\n{LINUX_DISABLE}\nend", linux_enable())
}

#[test]
fn linux_is_accepted() {
    assert_eq!(found(&linux()), [""; 0]);
    let log = format!("cold; tb 1; isb\n{}", linux_enable());
    assert_eq!(states(&log), "Running");
    assert_eq!(states(&format!("{log}\n{LINUX_DISABLE}")), "Idle Stable");
    assert_eq!(results(&Parameters::default(), &bytes(&linux())).faults().count(), 0);
}

/// The sequence with one item replaced, which occurs in the disabling part.
fn broken(from: &str, to: &str) -> Vec<String> {
    let changed = LINUX_DISABLE.replacen(from, to, 1);
    assert_ne!(changed, LINUX_DISABLE, "{from}");
    findings(&strict(), &format!("cold; tb 1; isb\n{}\n{changed}\nend", linux_enable()))
}

/// Arm's example of a context switch is not accepted: the same steps begin every orderly disabling.
fn strict() -> Parameters {
    let interpretation = Interpretation { accept_context_switch: false, ..Interpretation::default() };
    Parameters { interpretation, ..Parameters::default() }
}

/// Without the notes about resource state that is not set again.
fn apart_from_resources(found: Vec<String>) -> Vec<String> {
    found.into_iter().filter(|finding| !finding.starts_with("ETE-PRG-006")).collect()
}

#[test]
fn broken_versions_of_the_disabling_sequence_are_named() {
    for (from, to, expected) in [
        ("trf P; isb; dsb; isb; tsb", "trf P; dsb; tsb", "ETE-SYN-009"),
        ("sw TRCPRGCTLR=0; isb;", "sw TRCPRGCTLR=0;", "ETE-SYN-004 TRCSTATR"),
        ("poll s PMSTABLE=1;", "sr TRCSTATR->0; sr TRCSTATR->2;", "ETE-SYN-005 TRCSTATR"),
        ("poll s PMSTABLE=1; isb", "isb; sw TRCRSR=0", "ETE-SYN-003 TRCRSR"),
        ("sr TRCPRGCTLR->1;", "sr TRCPRGCTLR->1; sw TRCVICTLR=0;", "ETE-RWYQD-001 TRCVICTLR"),
        ("poll s PMSTABLE=1; isb", "poll s PMSTABLE=1; isb; sw TRCRSR=0; isb", "ETE-PRG-002 TRCRSR"),
        ("poll s PMSTABLE=1; isb", "poll s PMSTABLE=1; isb; sw TRCPRGCTLR=1; isb", "ETE-PRG-003 TRCPRGCTLR"),
        ("poll s PMSTABLE=1; isb", "poll s PMSTABLE=1 timeout; oslk 1; isb", "ETE-PRG-011"),
        ("poll s PMSTABLE=1; isb", "isb; sr TRCSTATR->1; isb", "ETE-ST-002 TRCSTATR"),
        ("sr TRCCNTVR0->0", "sr TRCCNTVR0->0; sr TRCCNTVR0->1", "ETE-BPTKT-001 TRCCNTVR0"),
        ("sr TRCCLAIMCLR->2", "sr TRCCLAIMCLR->0", "ETE-ACC-009 TRCCLAIMCLR"),
        ("sr TRCPRGCTLR->1", "sr TRCPRGCTLR->0", "ETE-SYN-002 TRCPRGCTLR"),
        ("tsb; dsb; tb 0; isb", "tsb; sr TRBPTR_EL1->0; dsb; tb 0; isb", "ETE-SYN-010 TRBPTR_EL1"),
        ("tb 0; isb", "tb 0; isb; sw TRCVICTLR=1", "ETE-SYN-007"),
    ] {
        let found = broken(from, to);
        assert!(found.iter().any(|finding| finding == expected), "{to}: {found:?}");
    }
    // Without the first half, what the buffer has not got yet is lost.
    let found = broken("trf P; isb; dsb; isb; tsb; sw", "sw");
    assert_eq!(found, ["ETE-PRG-010"]);
}

#[test]
fn a_sink_is_disabled_too_early() {
    let begin = format!("cold; tb 1; isb\n{}", linux_enable());
    assert_eq!(found(&format!("{begin}\ntb 0; isb")), ["ETE-PRG-010", "ETE-PRG-009"]);
    // Whatever prohibits tracing.
    assert_eq!(found(&format!("{begin}\npe prohibited; tb 0; isb")), ["ETE-PRG-010"]);
    assert_eq!(found(&format!("{begin}\npe prohibited; tsb; tb 0; isb")), [""; 0]);
}

#[test]
fn pausing_and_resuming_knows_too_little() {
    let pause = "sr TRCPRGCTLR->1; trf P; isb; dsb; isb; tsb; sw TRCPRGCTLR=0; isb; poll s PMSTABLE=1; isb";
    let resume = "sw TRCRSR=1000; trf A; isb; sw TRCPRGCTLR=1; isb; poll s IDLE=0; dsb; isb";
    let found = found(&format!("cold\n{}\n{pause}\n{resume}", linux_enable()));
    assert_eq!(
        found,
        [
            "ETE-PRG-002 TRCRSR",
            "ETE-PRG-003 TRCPRGCTLR",
            "ETE-PRG-006 TRCVICTLR",
            "ETE-PRG-006 TRCSEQSTR",
            "ETE-PRG-006 TRCCNTVR0",
            "ETE-PRG-006 TRCCNTVR1",
            "ETE-PRG-006 TRCSSCSR0",
        ]
    );
}

#[test]
fn idle_path_of_linux() {
    let running = format!("cold\n{}", linux_enable());
    let save = "dsb; isb; oslk 1; isb; poll s PMSTABLE=1; sr TRCPRGCTLR->1; sr TRCCLAIMCLR->2; isb; poll s PMSTABLE=1";
    assert_eq!(found(&format!("{running}\n{save}")), [""; 0]);
    // Power goes without Idle; TRCRSR is not restored, and EN comes before the other registers.
    let restore = format!(
        "pw 0; pw 1; oslk 1; isb; sw TRCCLAIMSET=2; sw TRCPRGCTLR=1; {}; dsb; isb; oslk 0; isb",
        programming("sw")
    );
    let missing = ["ETE-SYN-003 TRCCONFIGR", "ETE-PRG-004 TRCRSR"];
    let after = apart_from_resources(found(&format!("{running}\n{save}\n{restore}")));
    assert_eq!(after, missing);
    let refused = "dsb; isb; oslk 1; isb; poll s PMSTABLE=1 timeout; oslk 0; isb";
    let after = apart_from_resources(found(&format!("{running}\n{refused}")));
    assert_eq!(after, ["ETE-PRG-011"]);
    assert!(states(&format!("{running}\n{refused}")).ends_with("unpredictable"));
    // EN is cleared after OS Lock and PMSTABLE: Stable is possible.
    let filter = "oslk 1; isb; sr TRCSTATR->2; sw TRCPRGCTLR=0; isb";
    assert_eq!(found(&format!("{running}\n{filter}")), ["ETE-PRG-003 TRCPRGCTLR"]);
}

#[test]
fn memory_mapped_linux_on_etmv4() {
    let parameters = Parameters { version: Version::Etmv4_2, trace_buffer: false, ..Parameters::default() };
    let log = format!(
        "mw TRCLAR=C5ACCE55; mw TRCOSLAR=0; isb; mw TRCPRGCTLR=0; poll m IDLE=1; {}; mw TRCPDCR=8; mw TRCPRGCTLR=1
         poll m IDLE=0; dsb; isb; mw TRCLAR=0; mw TRCLAR=C5ACCE55; mw TRCPDCR=0; isb; dsb; mw TRCPRGCTLR=0
         poll m PMSTABLE=1; mr TRCSSCSR0->0; end",
        programming("mw")
    );
    assert_eq!(findings(&parameters, &log), [""; 0]);
    // The same by the debug interface in ETE: TRCPDCR programs, TRCOSLAR does not exist.
    let ete = log.replace("mw ", "xw ").replace("mr ", "xr ").replace("poll m", "poll x");
    assert_eq!(found(&ete), ["ETE-RWYQD-001 TRCPDCR"]);
}

#[test]
fn csal_enables_without_a_poll() {
    let parameters = Parameters { version: Version::Etmv4_2, trace_buffer: false, ..Parameters::default() };
    let six =
        "xw TRCLAR=C5ACCE55; xr TRCPDSR->1; xr TRCOSLSR->a; xw TRCOSLAR=0; xw TRCCLAIMSET=1; xw TRCPRGCTLR=0
               poll x IDLE=1";
    let log = format!("{six}; xw TRCCONFIGR=1; xw TRCLAR=C5ACCE55; xw TRCPRGCTLR=1");
    assert_eq!(findings(&parameters, &format!("{log}; end")), ["ETE-PRG-001"]);
    let again = six.replace("xr TRCOSLSR->a; xw TRCOSLAR=0", "xr TRCOSLSR->8");
    let found = findings(&parameters, &format!("{log}\n{again}"));
    assert_eq!(found, ["ETE-PRG-003 TRCPRGCTLR"]);
}

#[test]
fn debugger_on_ete() {
    let log = "cold; xoslk 0; xr TRCPDSR->3; xr TRCCLAIMCLR->0; xw TRCCLAIMSET=1; xr TRCCLAIMCLR->1
        xr TRCAUTHSTATUS; xw TRCPRGCTLR=0; poll x IDLE=1";
    let end = "xw TRCPRGCTLR=1; poll x IDLE=0; out if0 4; xw TRCPRGCTLR=0; out if0 4; poll x IDLE=1; end";
    let programmed = programming("xw").replace("TRCEVENTCTL1R=0", "TRCEVENTCTL1R=2000");
    assert_eq!(found(&format!("{log}\n{programmed}; xw TRCRSR=1000; {end}")), [""; 0]);
    let forgotten =
        log.replace("xoslk 0; ", "").replace("xw TRCPRGCTLR=0; poll x IDLE=1", "xw TRCPRGCTLR=0 ERR");
    assert_eq!(
        found(&forgotten),
        ["ETE-ACC-002 TRCCLAIMCLR", "ETE-FJPCN-001 TRCPRGCTLR", "ETE-ACC-001 TRCPRGCTLR"]
    );
    assert_eq!(found("cold; xw TRCPRGCTLR=0 ERR; xr TRCSTATR ERR"), ["ETE-FJPCN-001 TRCPRGCTLR"]);
    assert_eq!(found(&format!("{log}\n{programmed}; {end}")), ["ETE-PRG-004 TRCRSR"]);
}

#[test]
fn examples_of_arm() {
    let enable =
        "oslk 0; isb; sw TRCPRGCTLR=0; isb; poll s IDLE=1; sw TRCCONFIGR=1; isb; sw TRCPRGCTLR=1; isb
                  sr TRCSTATR->1; isb; sr TRCSTATR->0";
    let disable = "trf P; isb; tsb; sw TRCPRGCTLR=0; isb; sr TRCSTATR->0; isb; sr TRCSTATR->2; isb
                   sr TRCSTATR->3; trf A";
    assert_eq!(found(&format!("{enable}; {disable}")), [""; 0]);
    let save =
        "trf P; isb; tsb; oslk 1; isb; sr TRCSTATR->0; isb; sr TRCSTATR->2; trf A; sr TRCCONFIGR->1; isb
                sr TRCSTATR->3";
    assert_eq!(found(&format!("{enable}; {save}")), [""; 0]);
    let switch = "trf P; isb; tsb; sw TRCPRGCTLR=0; tb 0; dsb; isb; sw TRCCONFIGR=3; sw TRCPRGCTLR=1; isb";
    let log = format!("{enable}; {switch}");
    assert_eq!(apart_from_resources(found(&log)), ["ETE-HSXGZ-001 TRCCONFIGR"]);
    assert_eq!(
        apart_from_resources(findings(&strict(), &log)),
        ["ETE-PRG-002 TRCCONFIGR", "ETE-SYN-003 TRCCONFIGR", "ETE-PRG-003 TRCPRGCTLR"]
    );
}

#[test]
fn a_hypervisor_leaves_the_unit_enabled() {
    let log = format!("cold; tb 1; isb\n{}", linux_enable());
    let guest = "trf P; isb; tsb; dsb; tb 0; isb; sw TRCPRGCTLR=0 TRAP; tb 1; isb; trf A";
    assert_eq!(found(&format!("{log}\n{guest}")), [""; 0]);
}

#[test]
fn a_log_without_barriers_is_judged_on_what_it_shows() {
    let shown = Shown { barriers: false, ..Shown::default() };
    let parameters = Parameters { shown, ..Parameters::default() };
    let bare =
        "sw TRCPRGCTLR=0; poll s IDLE=1; sw TRCCONFIGR=1; sw TRCPRGCTLR=1; poll s IDLE=0; sw TRCPRGCTLR=0
                sr TRCSTATR->0; sr TRCSTATR->2; end";
    assert_eq!(findings(&parameters, bare), [""; 0]);
    assert_eq!(findings(&parameters, &bare.replace("poll s IDLE=0; ", "")), ["ETE-PRG-003 TRCPRGCTLR"]);
    let hidden = Parameters { shown: Shown { system: false, ..Shown::default() }, ..Parameters::default() };
    assert_eq!(findings(&hidden, "sw TRCCONFIGR=1"), [""; 0]);
    assert_eq!(findings(&hidden, "xw TRCCONFIGR=1"), ["ETE-PRG-002 TRCCONFIGR"]);
}
