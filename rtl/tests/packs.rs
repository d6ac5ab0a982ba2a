//! Packs of small devices, judged against logs that our encoder model and broken copies of it would write.

mod device;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::sync::OnceLock;

use device::{assert_all_pass, made, run, run_with};
use traceproof_rtl::generate::Hit;
use traceproof_rtl::judge::{Verdict, judge};
use traceproof_rtl::pack::{self, Pack};
use traceproof_rtl::{MonitorLog, report};
use traceproof_vectors::riscv_etrace::{Compression, Packet, Policy, QualStatus, ReportedAddress};

const SMALL: &str = "
name = \"small\"
control = [\"trTeInstNoAddrDiff\", \"trTeInstSyncMode\", \"trTeInstSyncMax\"]
[ingress]
signals = [\"notify\", \"halted\", \"trigger\"]
";

const BLOCKS: &str = "
name = \"blocks\"
[parameters]
xlen = \"rv64\"
iaddress_width_p = 64
retires_p = 4
ecause_width_p = 6
nocontext_p = false
context_width_p = 8
[ingress]
blocks = 2
max_halfwords = 8
signals = [\"notify\", \"ctype\", \"reset\"]
";

const NARROW: &str = "
name = \"narrow\"
output = \"stream\"
undefined_trap_address = \"any\"
latency = 1
[parameters]
itype_width_p = 3
iaddress_width_p = 24
iaddress_lsb_p = 2
[ingress]
merged_traps = false
[policy]
sync_mode = \"half_words\"
sync_max = 1
";

/// The pack of the small device, made once.
fn small() -> Pack {
    static PACK: OnceLock<Pack> = OnceLock::new();
    PACK.get_or_init(|| made(SMALL, 1).1).clone()
}

#[test]
fn the_encoder_model_passes_at_four_levels() {
    for text in [SMALL, BLOCKS, NARROW] {
        let (_directory, pack) = made(text, 1);
        assert_all_pass(&judge(&pack, &run(&pack, &pack.device.policy)));
    }
}

#[test]
fn all_reachable_bins_are_hit() {
    for text in [SMALL, BLOCKS] {
        let (directory, pack) = made(text, 3);
        let bins = fs::read_to_string(directory.path().join("bins.json")).expect("the table");
        let bins: BTreeMap<String, Hit> = serde_json::from_str(&bins).expect("a table");
        let missed: Vec<_> =
            bins.iter().filter(|(_, hit)| **hit == Hit::Missed).map(|(name, _)| name).collect();
        assert!(missed.is_empty(), "{missed:?}");
        assert!(pack.manifest.bins.hit > 60, "{:?}", pack.manifest.bins);
    }
}

#[test]
fn the_same_seed_gives_the_same_pack() {
    let (first, pack) = made(SMALL, 5);
    let (second, again) = made(SMALL, 5);
    assert_eq!(pack.manifest, again.manifest);
    let text = |directory: &Path| fs::read_to_string(directory.join("manifest.json")).expect("a manifest");
    assert_eq!(text(first.path()), text(second.path()));
    assert_ne!(made(SMALL, 6).1.manifest.checksum, pack.manifest.checksum);
}

#[test]
fn a_legal_but_different_encoder_is_legal_and_semantic_and_not_exact() {
    let mut pack = small();
    let policy = |text: &str| -> Policy { toml::from_str(text).expect("a policy") };
    let other = policy(
        "sync_mode = \"half_words\"\nsync_max = 0\ninterrupt_report = \"separate\"\ncompression = \"mandatory\"\nsupport_at_disable = true",
    );
    // The control fields of the pack switch the timer on; the device counts otherwise than the model.
    pack.device.policy = policy("sync_mode = \"half_words\"\nsync_max = 9");
    let verdict = judge(&pack, &run(&pack, &other));
    assert!(verdict.passes(), "{}", report::text(&verdict));
    let failed = verdict.cases.iter().filter(|case| case.exact.failed()).count();
    assert_eq!(failed, verdict.cases.len());
    let why: BTreeSet<&str> =
        verdict.cases.iter().flat_map(|case| case.freedoms.keys()).map(String::as_str).collect();
    for part in ["resynchronisation period", "interrupts at", "support packets", "compression"] {
        assert!(why.iter().any(|why| why.contains(part)), "{part}: {why:?}");
    }
}

/// A change of the packets of a device, and the clause and field that must be blamed first.
type Broken = (&'static str, fn(&mut Vec<(u32, Packet)>), &'static str, &'static str);

const BROKEN: [Broken; 10] = [
    ("full map lost", full_map_lost, "RVET-ENC-029", "packet"),
    ("full map repeated", full_map_repeated, "RVET-ENC-028", "packet"),
    ("outcome reported twice", outcome_twice, "RVET-ENC-028", "branches"),
    ("address cut below its sign", address_cut, "RVET-ENC-031", "address"),
    ("many outcomes with a count of 0", count_of_zero, "RVET-PKT-032", "branches"),
    ("chained trap lost", chained_trap_lost, "RVET-ENC-024", "packet"),
    ("final report missing", final_missing, "RVET-ENC-006", "packet"),
    ("support packet at the end missing", ended_missing, "RVET-ENC-007", "packet"),
    ("privilege of the handler before a chain", wrong_privilege, "RVET-ENC-026", "privilege"),
    ("updiscon flag missing", no_updiscon, "RVET-ENC-034", "updiscon"),
];

#[test]
fn broken_encoders_fail_by_clause_and_field() {
    let pack = small();
    for (name, broken, clause, field) in BROKEN {
        let log = run_with(&pack, &pack.device.policy, &mut |_, packets| broken(packets));
        let verdict = judge(&pack, &log);
        assert!(!verdict.passes(), "{name} is not found");
        let mut first: BTreeMap<(&str, &str), usize> = BTreeMap::new();
        for group in &verdict.groups {
            *first.entry((&group.clause, &group.field)).or_default() += group.first_in;
        }
        let most = first.iter().max_by_key(|(_, count)| **count).map(|(blamed, _)| *blamed);
        assert_eq!(most, Some((clause, field)), "{name}: {}", report::text(&verdict));
    }
}

fn full_map_lost(packets: &mut Vec<(u32, Packet)>) {
    packets.retain(|(_, packet)| !matches!(packet, Packet::Branch { address: None, .. }));
}

fn full_map_repeated(packets: &mut Vec<(u32, Packet)>) {
    repeat_where(packets, |packet| matches!(packet, Packet::Branch { address: None, .. }));
}

fn repeat_where(packets: &mut Vec<(u32, Packet)>, is: fn(&Packet) -> bool) {
    *packets = packets
        .iter()
        .flat_map(|entry| std::iter::repeat_n(*entry, if is(&entry.1) { 2 } else { 1 }))
        .collect();
}

fn outcome_twice(packets: &mut Vec<(u32, Packet)>) {
    for (_, packet) in packets {
        if let Packet::Branch { branches: branches @ 3..=14, branch_map, .. } = packet {
            let latest = *branch_map >> (*branches - 1) & 1;
            *branch_map |= latest << *branches;
            *branches += 1;
            // The map has as many bits as the count needs.
            *branch_map &= (1 << *branches) - 1;
        }
    }
}

fn address_cut(packets: &mut Vec<(u32, Packet)>) {
    for (_, packet) in packets {
        if let Packet::Address { address: ReportedAddress::Delta(delta @ 128..), .. }
        | Packet::Branch { address: Some(ReportedAddress::Delta(delta @ 128..)), .. } = packet
        {
            *delta -= 1 << (64 - delta.leading_zeros());
        }
    }
}

fn count_of_zero(packets: &mut Vec<(u32, Packet)>) {
    for (_, packet) in packets {
        if let Packet::Branch { branches: branches @ 16..=30, address, notify, updiscon, .. } = packet {
            (*branches, *address, *notify, *updiscon) = (0, None, false, false);
        }
    }
}

fn chained_trap_lost(packets: &mut Vec<(u32, Packet)>) {
    let mut before = None;
    packets.retain(|(_, packet)| {
        let chained = matches!(packet, Packet::Trap { thaddr: false, .. })
            && !matches!(
                before,
                Some(Packet::Support { .. } | Packet::Address { .. } | Packet::Branch { .. })
            );
        before = Some(*packet);
        !chained
    });
}

fn final_missing(packets: &mut Vec<(u32, Packet)>) {
    let ended: Vec<usize> = (0..packets.len())
        .filter(|&at| matches!(packets[at].1, Packet::Support { qual_status: QualStatus::EndedRep, .. }))
        .collect();
    for at in ended.into_iter().rev() {
        if at > 0 && matches!(packets[at - 1].1, Packet::Address { notify: false, updiscon: false, .. }) {
            packets.remove(at - 1);
        }
    }
}

fn ended_missing(packets: &mut Vec<(u32, Packet)>) {
    packets.retain(|(_, packet)| {
        !matches!(packet, Packet::Support { qual_status: QualStatus::EndedRep | QualStatus::EndedNtr, .. })
    });
}

fn wrong_privilege(packets: &mut Vec<(u32, Packet)>) {
    for (_, packet) in packets {
        if let Packet::Trap { thaddr: false, privilege, .. } = packet {
            *privilege = 2;
        }
    }
}

fn no_updiscon(packets: &mut Vec<(u32, Packet)>) {
    for (_, packet) in packets {
        if let Packet::Address { updiscon, .. } | Packet::Branch { updiscon, .. } = packet {
            *updiscon = false;
        }
    }
}

#[test]
fn runs_that_prove_nothing_fail() {
    let pack = small();
    let good = run(&pack, &pack.device.policy);
    let fails = |log: &MonitorLog, word: &str| {
        let verdict = judge(&pack, log);
        assert!(!verdict.passes());
        assert!(verdict.run.iter().any(|problem| problem.contains(word)), "{word}: {:?}", verdict.run);
    };
    fails(&MonitorLog { cases: Vec::new(), ..good }, "no case was judged");
    fails(&MonitorLog { ended: false, ..good.clone() }, "line `E`");
    fails(&MonitorLog { driven: None, ..good.clone() }, "line `R`");
    fails(
        &MonitorLog { driven: good.driven.map(|(rows, sum)| (rows - 1, sum)), ..good.clone() },
        "rows were driven",
    );
    fails(&MonitorLog { driven: good.driven.map(|(rows, sum)| (rows, sum ^ 1)), ..good.clone() }, "checksum");
    let mut silent = good.clone();
    silent.cases.iter_mut().for_each(|case| case.packets.clear());
    fails(&silent, "no packet came");
    let mut short = good;
    short.cases.pop();
    fails(&short, "was not driven");
}

#[test]
fn a_device_that_depends_on_idle_clocks_fails_the_relation() {
    let pack = small();
    let mut changed = 0;
    let log = run_with(&pack, &pack.device.policy, &mut |case, packets| {
        if case.entry.id.ends_with(".idle")
            && let Some(at) = packets.iter().position(|(_, packet)| matches!(packet, Packet::Address { .. }))
        {
            packets.remove(at);
            changed += 1;
        }
    });
    let verdict = judge(&pack, &log);
    let failed = verdict.cases.iter().filter(|case| case.relation.failed()).count();
    assert!(changed > 0);
    assert_eq!(failed, changed);
}

/// Interrupts of the small device have 44 bits before the place where exceptions have `tval`.
#[test]
fn bytes_after_the_fields_are_one_finding() {
    let pack = small();
    let mut log = run(&pack, &pack.device.policy);
    for beat in log.cases.iter_mut().flat_map(|case| &mut case.packets) {
        if let [first, second, ..] = *beat.bytes
            && first & 0xf == 7
            && second & 8 != 0
        {
            let sign = beat.bytes.last().is_some_and(|last| last & 0x80 != 0);
            beat.bytes.resize(6, if sign { 0xff } else { 0 });
            beat.bytes.push(0x5a);
        }
    }
    let verdict = judge(&pack, &log);
    assert!(!verdict.passes());
    let blamed: Vec<_> = verdict.groups.iter().map(|group| (&*group.clause, &*group.field)).collect();
    assert_eq!(blamed, [("RVET-PKT-017", "tval")]);
}

/// Spec: RVET-ENC-041: nothing says when an imprecise change is reported.
#[test]
fn a_context_packet_may_come_after_the_packet_of_its_instruction() {
    let (_directory, pack) = made(BLOCKS, 1);
    let mut swapped = 0;
    let log = run_with(&pack, &pack.device.policy, &mut |_, packets| {
        for at in 1..packets.len() {
            let is_address = matches!(packets[at].1, Packet::Address { .. } | Packet::Branch { .. });
            if is_address
                && packets[at - 1].0 == packets[at].0
                && matches!(packets[at - 1].1, Packet::Context { .. })
            {
                packets.swap(at - 1, at);
                swapped += 1;
            }
        }
    });
    let verdict = judge(&pack, &log);
    assert!(swapped > 0);
    assert!(verdict.passes(), "{}", report::text(&verdict));
}

/// Spec: RVET-ENC-034: a device that knows the end early may set the updiscon flag, then with `ended_rep`.
#[test]
fn a_device_may_set_updiscon_at_a_final_target() {
    let pack = small();
    let early = Policy { updiscon_at_end: true, ..pack.device.policy.clone() };
    let bytes = |log: &MonitorLog| -> Vec<Vec<u8>> {
        log.cases.iter().flat_map(|case| &case.packets).map(|beat| beat.bytes.to_vec()).collect()
    };
    let log = run(&pack, &early);
    assert_ne!(bytes(&log), bytes(&run(&pack, &pack.device.policy)), "no case ends at an updiscon target");
    let verdict = judge(&pack, &log);
    assert!(verdict.passes(), "{}", report::text(&verdict));
}

#[test]
fn a_changed_pack_is_refused_with_its_place() {
    let (directory, _) = made(SMALL, 1);
    let file = directory.path().join("pack.memh");
    let text = fs::read_to_string(&file).expect("rows");
    fs::write(&file, text.replacen("_02_3_", "_02_1_", 1)).expect("writable");
    let problem = pack::read(directory.path()).expect_err("changed");
    assert!(problem.to_string().contains("pack.memh") && problem.message.contains("digest"), "{problem}");
}

#[test]
fn the_example_is_a_pack_whose_log_passes() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/packs/example");
    let pack = pack::read(&directory).unwrap_or_else(|problem| panic!("{problem}"));
    let text = fs::read_to_string(directory.join("monitor.log")).expect("a log");
    let log = MonitorLog::parse("monitor.log", &text).expect("a log");
    assert_all_pass(&judge(&pack, &log));
    assert_eq!(pack.device.policy.compression, Compression::Minimal);
}

#[test]
fn reports_in_all_forms_name_the_first_finding() {
    let pack = small();
    let log = run_with(&pack, &pack.device.policy, &mut |_, packets| full_map_lost(packets));
    let verdict = judge(&pack, &log);
    assert!(report::text(&verdict).contains("RVET-ENC-029"));
    let json: Verdict = serde_json::from_str(&report::json(&verdict).expect("JSON")).expect("a verdict");
    assert_eq!(json, verdict);
    let junit = report::junit(&verdict).expect("XML");
    assert!(junit.contains("RVET-ENC-029") && junit.contains("testsuite name=\"semantic\""));
}
