//! Packs of devices with filters and optional modes, judged against the encoder model and broken copies of it.

mod device;

use std::collections::BTreeMap;
use std::fs;

use device::{assert_all_pass, made, run, run_with};
use traceproof_rtl::generate::Hit;
use traceproof_rtl::judge::judge;
use traceproof_rtl::report;
use traceproof_vectors::riscv_etrace::{Packet, Policy};

/// A return stack, a jump target cache and a predictor, switched by control fields.
const STACK: &str = "
name = \"stack\"
control = [
    \"trTeInstNoAddrDiff\", \"trTeInstEnImplicitReturn\", \"trTeInstEnBranchPrediction\", \"trTeInstEnJumpTargetCache\",
]
[parameters]
return_stack_size_p = 3
cache_size_p = 4
bpred_size_p = 6
f0s_width_p = 1
[ingress]
signals = [\"notify\"]
";

/// A call counter, sequentially inferable jumps and implicit exceptions that are always on, with blocks.
const COUNTER: &str = "
name = \"counter\"
[parameters]
call_counter_size_p = 2
sijump_p = true
retires_p = 4
ecause_width_p = 5
modes = { implicit_return = true, implicit_exception = true, sijump = true }
trap_vectors = { base = \"0x100\", vectored = true }
[ingress]
max_halfwords = 8
";

/// Filters on everything.
const FILTERS: &str = "
name = \"filters\"
[parameters]
nocontext_p = false
context_width_p = 8
[ingress]
signals = [\"ctype\"]
filters = 4
comparators = 4
";

#[test]
fn devices_with_modes_and_filters_pass_at_four_levels_with_all_bins_hit() {
    for text in [STACK, COUNTER, FILTERS] {
        let (directory, pack) = made(text, 1);
        assert_all_pass(&judge(&pack, &run(&pack, &pack.device.policy)));
        let bins = fs::read_to_string(directory.path().join("bins.json")).expect("the table");
        let bins: BTreeMap<String, Hit> = serde_json::from_str(&bins).expect("a table");
        let missed: Vec<_> = bins.iter().filter(|(_, hit)| **hit == Hit::Missed).collect();
        assert!(missed.is_empty(), "{}: {missed:?}", pack.device.name);
    }
}

#[test]
fn rows_write_the_filters_by_the_numbers_of_the_trace_control_interface() {
    let (_directory, pack) = made(FILTERS, 1);
    let filtered: Vec<_> = pack.cases.iter().filter(|case| !case.entry.filters.is_empty()).collect();
    assert!(filtered.len() > 5 && filtered.len() < pack.cases.len());
    for case in filtered {
        let selects = case.rows.iter().any(|row| row.op == traceproof_rtl::Op::Field && row.cause == 0x0d);
        assert!(selects, "{}", case.entry.id);
    }
}

/// The bytes of a device whose filters are not connected.
#[test]
fn a_device_that_traces_what_filters_stop_fails() {
    let (_directory, mut pack) = made(FILTERS, 1);
    for case in &mut pack.cases {
        case.entry.filters.clear();
    }
    let verdict = judge(&pack, &run(&pack, &Policy::default()));
    assert!(!verdict.passes());
}

/// A change of a packet, and the clauses, of which one, and the field that must be blamed most.
type Broken = (&'static str, fn(&mut Packet), &'static [&'static str], &'static str);

const BROKEN: [Broken; 4] = [
    ("depth missing", depth_missing, &["RVET-ENC-056", "RVET-ENC-057"], "irreport"),
    ("count from 30", count_from_30, &["RVET-ENC-064"], "branch_count"),
    ("count with address from 30", count_with_address, &["RVET-ENC-065"], "branch_count"),
    ("no form of failed branches", always_right, &["RVET-ENC-066"], "branch_fmt"),
];

fn depth_missing(packet: &mut Packet) {
    if let Packet::Address { irreport, irdepth, .. } | Packet::Branch { irreport, irdepth, .. } = packet {
        (*irreport, *irdepth) = (false, 0);
    }
}

fn count_from_30(packet: &mut Packet) {
    if let Packet::BranchCount { branch_count, address: None, .. } = packet {
        *branch_count += 1;
    }
}

fn count_with_address(packet: &mut Packet) {
    if let Packet::BranchCount { branch_count, address: Some(_), .. } = packet {
        *branch_count += 1;
    }
}

fn always_right(packet: &mut Packet) {
    if let Packet::BranchCount { branch_fmt: form @ 3, .. } = packet {
        *form = 2;
    }
}

#[test]
fn mistakes_in_optional_modes_are_found_with_their_clause() {
    let (_directory, pack) = made(STACK, 1);
    for (name, broken, clauses, field) in BROKEN {
        let log = run_with(&pack, &pack.device.policy, &mut |_, packets| {
            packets.iter_mut().for_each(|(_, packet)| broken(packet));
        });
        let verdict = judge(&pack, &log);
        assert!(!verdict.passes(), "{name} is not found");
        let mut first: BTreeMap<(&str, &str), usize> = BTreeMap::new();
        for group in &verdict.groups {
            *first.entry((&group.clause, &group.field)).or_default() += group.first_in;
        }
        let most = first.iter().max_by_key(|(_, count)| **count).map(|(blamed, _)| *blamed);
        let is_right = most.is_some_and(|(clause, blamed)| clauses.contains(&clause) && blamed == field);
        assert!(is_right, "{name}: {most:?}: {}", report::text(&verdict));
    }
}
