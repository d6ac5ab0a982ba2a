//! What this crate ships keeps its own rules: the registries of clauses and every case of every family.

use traceproof_vectors::case::{CaseProtocol, SuiteError, check};
use traceproof_vectors::clause::Registry;
use traceproof_vectors::shipped::{clauses, suites};

use crate::families::{GROUPS, for_every_family};

fn report(errors: &[SuiteError]) -> String {
    errors.iter().map(|error| format!("\n{error}")).collect()
}

fn clauses_of<P: CaseProtocol>() {
    let family = P::FAMILY;
    let registry = Registry::load(&clauses(), family).unwrap_or_else(|errors| panic!("{}", report(&errors)));
    let (_, groups) =
        GROUPS.iter().find(|(of, _)| *of == family).unwrap_or_else(|| panic!("{family}: no groups"));
    for (group, count) in *groups {
        for number in 1..=*count {
            let id = format!("{group}-{number:03}");
            assert!(registry.get(&id).is_some(), "{id}");
        }
    }
    assert_eq!(registry.clauses.len(), groups.iter().map(|(_, count)| count).sum::<usize>(), "{family}");
}

#[test]
fn the_clauses_of_every_family_are_all_there() {
    for_every_family!(clauses_of);
}

fn keeps_the_rules<P: CaseProtocol>() {
    let files = check::<P>(&suites(), &clauses())
        .unwrap_or_else(|errors| panic!("{} errors:{}", errors.len(), report(&errors)));
    assert!(!files.is_empty(), "{}", P::FAMILY);
}

#[test]
fn every_shipped_case_keeps_the_rules() {
    for_every_family!(keeps_the_rules);
}
