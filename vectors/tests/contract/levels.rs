//! `docs/arm-pft-levels.md` lists the requirements of level `must` that no case of that level shows.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use traceproof_vectors::Protocol as _;
use traceproof_vectors::arm_pft::ArmPft;
use traceproof_vectors::case::{Level, check};
use traceproof_vectors::clause::{ClauseLevel, Registry};
use traceproof_vectors::shipped::{clauses, suites};

#[test]
fn requirements_without_a_required_case_are_listed() {
    let files = check::<ArmPft>(&suites(), &clauses()).expect("sound suites");
    let required = files.iter().filter(|file| file.case.level == Level::Must);
    let shown: BTreeSet<&str> = required.flat_map(|file| &file.case.clauses).map(String::as_str).collect();
    let registry = Registry::load(&clauses(), ArmPft::FAMILY).expect("a sound registry");
    let wanted = registry.clauses.iter().filter(|clause| clause.level == ClauseLevel::Must);
    let missing: BTreeSet<&str> = wanted
        .filter(|clause| clause.untestable.is_none())
        .map(|clause| clause.id.as_str())
        .filter(|id| !shown.contains(id))
        .collect();

    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/arm-pft-levels.md");
    let page = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let rows = page.lines().filter_map(|line| line.strip_prefix("| ")?.rsplit_once(" | "));
    let listed: Vec<&str> = rows
        .flat_map(|(_, ids)| ids.trim_end_matches(" |").split(", "))
        .filter(|id| id.starts_with("PFT-"))
        .collect();
    let unique: BTreeSet<&str> = listed.iter().copied().collect();
    assert_eq!(unique.len(), listed.len(), "a requirement has one reason");
    assert_eq!(unique, missing);
}
