//! The findings of the trace unit's checker are requirements of the registry, and its page lists what the code has.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use traceproof_vectors::arm_ete_unit::{ArmEteUnit, FEATURES, FindingKind, READINGS, Rule};
use traceproof_vectors::clause::Registry;
use traceproof_vectors::shipped::clauses;
use traceproof_vectors::{FaultClass, Protocol as _};

#[test]
fn every_rule_is_a_requirement_that_a_log_can_break() {
    let registry = Registry::load(&clauses(), ArmEteUnit::FAMILY).expect("a sound registry");
    for rule in Rule::ALL {
        let clause = registry.get(rule.id()).unwrap_or_else(|| panic!("{rule}: in no registry"));
        assert!(clause.scope.starts_with("unit"), "{rule}: scope {}", clause.scope);
        assert_eq!(clause.violable, rule.kind() != FindingKind::Note, "{rule}");
    }
}

/// The rows of a section's table, cell by cell.
fn rows(page: &str, section: &str) -> Vec<Vec<String>> {
    let found = page.split("\n## ").find(|part| part.starts_with(section));
    let found = found.unwrap_or_else(|| panic!("no section `{section}`"));
    let lines = found.lines().filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |"));
    lines.map(|line| line.split(" | ").map(|cell| cell.replace('`', "")).collect()).collect()
}

#[test]
fn the_page_lists_what_the_code_has() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/families/arm_ete_unit.md");
    let page = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let pairs = |section: &str| -> BTreeSet<(String, String)> {
        let pair = |row: Vec<String>| match &row[..] {
            [name, text] => (name.clone(), text.clone()),
            _ => panic!("{section}: {row:?}"),
        };
        rows(&page, section).into_iter().skip(1).map(pair).collect()
    };
    let plain = |text: &str| text.replace('`', "");
    let features = FEATURES.iter().map(|feature| (feature.name.to_owned(), plain(feature.text))).collect();
    assert_eq!(pairs("Features"), features);
    let readings = READINGS.iter().map(|reading| (reading.name.to_owned(), plain(reading.text))).collect();
    assert_eq!(pairs("Readings"), readings);
    let costs = FaultClass::ALL.iter();
    let costs = costs.map(|class| (class.name().to_owned(), ArmEteUnit::recovery(*class).name().to_owned()));
    assert_eq!(pairs("Faults"), costs.collect());
    for kind in FindingKind::ALL {
        let listed = rows(&page, "Cases").into_iter().find(|row| row.len() == 3 && row[0] == kind.name());
        let listed = listed.unwrap_or_else(|| panic!("no row for {}", kind.name()));
        let rules: Vec<&str> =
            Rule::ALL.iter().filter(|rule| rule.kind() == kind).map(|rule| rule.id()).collect();
        let fault = kind.fault().map_or("none", FaultClass::name);
        assert_eq!((listed[1].as_str(), listed[2].split(", ").collect::<Vec<_>>()), (fault, rules));
    }
}
