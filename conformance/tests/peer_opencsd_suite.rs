//! Every case of ETMv3 that OpenCSD 1.8.0 fails is explained by a row of `docs/findings/opencsd-etmv3.md`.
#![cfg(feature = "peer-opencsd")]

use std::collections::{BTreeMap, BTreeSet};

use traceproof_conformance::peers::opencsd::{self, HostCommand};
use traceproof_conformance::suite::{Directories, Suite};
use traceproof_conformance::verdict::Kind;
use traceproof_conformance::{Options, Run, Selection, Subject, run};
use traceproof_vectors::Family;
use traceproof_vectors::arm_etm::{Architecture, ArmEtm, Packet};

const FINDINGS: &str = include_str!("../../docs/findings/opencsd-etmv3.md");

/// The cases that the table of the findings names, and the rows that are said to explain them.
fn table() -> BTreeMap<&'static str, Vec<&'static str>> {
    let (_, table) = FINDINGS.split_once("| row | cases |").expect("a table");
    let mut cases: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for line in table.lines().skip(2).take_while(|line| line.starts_with('|')) {
        let mut columns = line.trim_matches('|').split('|').map(str::trim);
        let (row, named) = (columns.next().expect("a row"), columns.next().expect("cases"));
        assert!(FINDINGS.matches(&format!("\n| {row} |")).count() >= 2, "{row} is explained nowhere");
        for case in named.split(", ") {
            cases.entry(case).or_default().push(row);
        }
    }
    cases
}

/// Cases with a data address in a packet, which OpenCSD reads wrongly (OE-40 to OE-42).
fn with_data_addresses() -> BTreeSet<String> {
    let suite = Suite::<ArmEtm>::load(&Directories::default()).expect("a sound suite");
    let addressed = |packet: &Packet| {
        matches!(
            packet,
            Packet::NormalData { address: Some(_), .. }
                | Packet::LoadMissOccurred { address: Some(_), .. }
                | Packet::ValueNotTraced { address: Some(_), .. }
        )
    };
    let cases = suite.files.iter().filter(|file| {
        let packets = file.resolved.packets.as_deref().unwrap_or_default();
        file.case.parameters.architecture == Architecture::V3 && packets.iter().any(addressed)
    });
    cases.map(|file| file.case.id.clone()).collect()
}

fn judged(subject: &Subject) -> Run {
    let program = env!("CARGO_BIN_EXE_traceproof-opencsd").into();
    opencsd::set_command(HostCommand { program, arguments: Vec::new() });
    let selection = Selection { families: vec![Family::ArmEtm], ..Selection::default() };
    run(subject, &Options { selection, ..Options::default() }, &|_| {}).expect("a sound suite")
}

#[test]
fn every_failure_is_explained() {
    let (table, data) = (table(), with_data_addresses());
    let mut failed = BTreeSet::new();
    let mut unexplained = Vec::new();
    for (subject, least) in [(opencsd::subject(), 200), (opencsd::packet_reader(), 280)] {
        let run = judged(&subject);
        println!("{}: {:?}", subject.name(), run.tally());
        assert!(run.tally().of(Kind::Pass) >= least, "{:?}", run.tally());
        for case in run.failed() {
            for check in case.failures() {
                let line = format!("{} {}: {} {}", case.id, case.path, check.direction, check.verdict);
                // What OpenCSD reads never depends on where the stream is cut, and it neither dies nor hangs.
                let read_wrongly = check.direction.name() == "decode" && check.verdict.kind() == Kind::Fail;
                if !(read_wrongly && (table.contains_key(case.id.as_str()) || data.contains(&case.id))) {
                    unexplained.push(line);
                }
            }
            failed.insert(case.id.clone());
        }
    }
    assert!(unexplained.is_empty(), "no row explains\n{}", unexplained.join("\n"));
    let stale: Vec<_> = table.keys().filter(|case| !failed.contains(**case)).collect();
    assert!(stale.is_empty(), "these pass, or are not there: {stale:?}");
}
