//! What this crate ships keeps its own rules: the registries of clauses and every case of every family.

use traceproof_vectors::Family;
use traceproof_vectors::case::{SuiteError, check, suites_directory};
use traceproof_vectors::clause::{Registry, clauses_directory};
use traceproof_vectors::riscv_etrace::RiscvEtrace;

fn report(errors: &[SuiteError]) -> String {
    errors.iter().map(|error| format!("\n{error}")).collect()
}

#[test]
fn the_clauses_of_riscv_etrace_are_all_there() {
    let registry = Registry::load(&clauses_directory(), Family::RiscvEtrace)
        .unwrap_or_else(|errors| panic!("{}", report(&errors)));
    // How many requirements each group of the specification has been cut into.
    for (group, count) in
        [("PKT", 47), ("ENC", 84), ("ING", 14), ("DEC", 54), ("DISC", 9), ("DATA", 28), ("ENCAP", 23)]
    {
        for number in 1..=count {
            let id = format!("RVET-{group}-{number:03}");
            assert!(registry.get(&id).is_some(), "{id}");
        }
    }
    assert_eq!(registry.clauses.len(), 47 + 84 + 14 + 54 + 9 + 28 + 23);
}

#[test]
fn every_case_of_riscv_etrace_keeps_the_rules() {
    let files = check::<RiscvEtrace>(&suites_directory(), &clauses_directory())
        .unwrap_or_else(|errors| panic!("{} errors:{}", errors.len(), report(&errors)));
    assert!(!files.is_empty());
}
