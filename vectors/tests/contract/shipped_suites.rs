//! What this crate ships keeps its own rules: the registries of clauses and every case of every family.

use std::collections::BTreeMap;

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
    let mut numbers: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for clause in &registry.clauses {
        let (group, number) = clause.id.rsplit_once('-').expect("a number");
        numbers.entry(group).or_default().push(number.parse().expect("a number"));
    }
    for (group, numbers) in &mut numbers {
        numbers.sort_unstable();
        assert!(numbers.iter().copied().eq(1..=numbers.len()), "{group}: {numbers:?}");
    }
    for (begins, count) in *groups {
        let within = |group: &str| {
            group.strip_prefix(begins).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
        };
        let found: usize =
            numbers.iter().filter(|(group, _)| within(group)).map(|(_, numbers)| numbers.len()).sum();
        assert_eq!(found, *count, "{begins}");
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
