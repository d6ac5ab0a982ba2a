//! The page of a protocol, `docs/families/<protocol>.md`, lists every reading that a case uses, and of E-Trace no
//! undeclared one. That a case uses only declared ones is a rule of suites.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use traceproof_vectors::case::{CaseProtocol, check};
use traceproof_vectors::clause::{Clause, Registry};
use traceproof_vectors::riscv_etrace::RiscvEtrace;
use traceproof_vectors::shipped::{clauses, suites};
use traceproof_vectors::{Protocol as _, ProtocolId};

use crate::families::for_every_family;

/// The part of a protocol's page that lists its readings.
fn page(protocol: ProtocolId) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../docs/families/{}.md", protocol.name()));
    let page = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let section = page.split("\n## ").find(|section| section.starts_with("Readings\n"));
    section.unwrap_or_else(|| panic!("{}: no section `Readings`", path.display())).to_owned()
}

/// What stands in backquotes.
fn quoted(page: &str) -> BTreeSet<&str> {
    page.lines().flat_map(|line| line.split('`').skip(1).step_by(2)).collect()
}

fn is_listed<P: CaseProtocol>() {
    let page = page(P::ID);
    let quoted = quoted(&page);
    let files = check::<P>(&suites(), &clauses()).expect("sound suites");
    let used: BTreeSet<&str> =
        files.iter().flat_map(|file| &file.case.readings).map(String::as_str).collect();
    let missing: Vec<_> = used.into_iter().filter(|name| !quoted.contains(name)).collect();
    assert!(missing.is_empty(), "{}: not on its page: {missing:?}", P::ID);
}

#[test]
fn every_reading_that_a_case_uses_is_listed() {
    for_every_family!(is_listed);
}

/// What rests on no primary source says so: each such reading exists, some clause carries it, a marked clause names no
/// other, and a case of a marked clause lists one of its readings.
fn is_provisional<P: CaseProtocol>() {
    let known = |name: &str| P::READINGS.iter().any(|reading| reading.name == name);
    assert!(P::PROVISIONAL.iter().all(|name| known(name)), "{}: unknown among the provisional ones", P::ID);
    let registry = Registry::load(&clauses(), P::FAMILY).expect("sound clauses");
    let marked: Vec<&Clause> =
        registry.clauses.iter().filter(|clause| !clause.provisional.is_empty()).collect();
    // The clauses of a family with several protocols are marked for the one that has its name.
    if P::ID.name() == P::FAMILY.name() {
        for clause in &marked {
            let names = &clause.provisional;
            assert!(
                names.iter().all(|name| P::PROVISIONAL.contains(&name.as_str())),
                "{}: {names:?}",
                clause.id
            );
        }
        assert_eq!(marked.is_empty(), P::PROVISIONAL.is_empty(), "{}: no clause is marked", P::ID);
    }
    for file in check::<P>(&suites(), &clauses()).expect("sound suites") {
        for clause in marked.iter().filter(|clause| file.case.clauses.contains(&clause.id)) {
            let listed = clause.provisional.iter().any(|name| file.case.readings.contains(name));
            assert!(listed, "{}: {} rests on {:?}", file.case.id, clause.id, clause.provisional);
        }
    }
}

#[test]
fn what_rests_on_no_primary_source_says_so() {
    for_every_family!(is_provisional);
}

#[test]
fn every_listed_reading_exists() {
    let page = page(ProtocolId::RiscvEtrace);
    let known: BTreeSet<&str> = RiscvEtrace::READINGS.iter().map(|reading| reading.name).collect();
    let is_name = |word: &&str| {
        word.contains('-') && word.bytes().all(|byte| byte == b'-' || byte.is_ascii_alphanumeric())
    };
    let unknown: Vec<_> =
        quoted(&page).into_iter().filter(is_name).filter(|name| !known.contains(name)).collect();
    assert!(unknown.is_empty(), "no such reading: {unknown:?}");
}
