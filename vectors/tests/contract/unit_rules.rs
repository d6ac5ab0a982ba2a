//! `docs/arm-ete-unit-rules.md` names cases for every requirement of the trace unit that can be tested.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use traceproof_vectors::Protocol as _;
use traceproof_vectors::arm_ete::ArmEte;
use traceproof_vectors::arm_ete_unit::{ArmEteUnit, Event};
use traceproof_vectors::case::{CaseProtocol, Expected, check, load};
use traceproof_vectors::clause::{Clause, Registry};
use traceproof_vectors::shipped::{clauses, suites};

/// The requirements of each case of a protocol.
fn cited<P: CaseProtocol>() -> BTreeMap<String, BTreeSet<String>> {
    let files = load::<P>(&suites()).expect("sound suites");
    files.into_iter().map(|file| (file.case.id, file.case.clauses.into_iter().collect())).collect()
}

/// The cases of the trace unit that expect a finding.
fn with_findings() -> BTreeSet<String> {
    let files = check::<ArmEteUnit>(&suites(), &clauses()).expect("sound suites");
    let finding = |expected: &Expected<_>| matches!(expected, Expected::Event(Event::Finding { .. }));
    let found = files.into_iter().filter(|file| file.resolved.events.iter().flatten().any(finding));
    found.map(|file| file.case.id).collect()
}

fn page() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/arm-ete-unit-rules.md");
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The cases that a cell names.
fn cases(cell: &str) -> Vec<&str> {
    if cell == "none" { Vec::new() } else { cell.split(", ").collect() }
}

#[test]
fn every_requirement_of_the_trace_unit_has_cases() {
    let registry = Registry::load(&clauses(), ArmEteUnit::FAMILY).expect("a sound registry");
    let testable = |clause: &&Clause| clause.scope.starts_with("unit") && clause.untestable.is_none();
    let mut wanted: BTreeMap<&str, &Clause> =
        registry.clauses.iter().filter(testable).map(|clause| (clause.id.as_str(), clause)).collect();
    let mut cited_by = cited::<ArmEteUnit>();
    cited_by.extend(cited::<ArmEte>());
    let with_findings = with_findings();

    let page = page();
    let rows = page.lines().filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |"));
    for row in rows {
        let cells: Vec<&str> = row.split(" | ").collect();
        match cells[..] {
            [id, level, keeping, breaking] if id.starts_with("ETE-") => {
                let clause = wanted.remove(id).unwrap_or_else(|| panic!("{id}: not wanted here"));
                assert_eq!(level, format!("{:?}", clause.level).to_lowercase(), "{id}");
                let (keeping, breaking) = (cases(keeping), cases(breaking));
                assert!(!keeping.is_empty(), "{id}: no case keeps it");
                assert!(!clause.violable || !breaking.is_empty(), "{id}: no case breaks it");
                for case in keeping.iter().chain(&breaking) {
                    assert!(cited_by.get(*case).is_some_and(|ids| ids.contains(id)), "{case}: not of {id}");
                }
                for case in breaking {
                    assert!(with_findings.contains(case), "{case}: breaks {id} without a finding");
                }
            }
            [_, ids] if ids.starts_with("ETE-") => {
                for id in ids.split(", ") {
                    assert!(wanted.remove(id).is_some(), "{id}: not wanted here");
                    assert!(!cited_by.values().any(|ids| ids.contains(id)), "{id}: has a case");
                }
            }
            _ => {}
        }
    }
    assert!(wanted.is_empty(), "not on the page: {:?}", wanted.keys());
}
