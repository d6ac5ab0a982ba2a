//! What this crate ships keeps its own rules: the registries of clauses and every case of every family.

use traceproof_vectors::Family;
use traceproof_vectors::arm_etm::ArmEtm;
use traceproof_vectors::case::{SuiteError, check};
use traceproof_vectors::clause::Registry;
use traceproof_vectors::itanium_pmu::ItaniumPmu;
use traceproof_vectors::riscv_etrace::RiscvEtrace;
use traceproof_vectors::shipped::{clauses, suites};

fn report(errors: &[SuiteError]) -> String {
    errors.iter().map(|error| format!("\n{error}")).collect()
}

#[test]
fn the_clauses_of_riscv_etrace_are_all_there() {
    let registry = Registry::load(&clauses(), Family::RiscvEtrace)
        .unwrap_or_else(|errors| panic!("{}", report(&errors)));
    // How many requirements each group of the specification has been cut into.
    for (group, count) in [
        ("PKT", 47),
        ("ENC", 84),
        ("ING", 14),
        ("DEC", 54),
        ("DISC", 9),
        ("DATA", 28),
        ("ENCAP", 25),
        ("FILT", 6),
    ] {
        for number in 1..=count {
            let id = format!("RVET-{group}-{number:03}");
            assert!(registry.get(&id).is_some(), "{id}");
        }
    }
    assert_eq!(registry.clauses.len(), 47 + 84 + 14 + 54 + 9 + 28 + 25 + 6);
}

#[test]
fn every_case_of_riscv_etrace_keeps_the_rules() {
    let files = check::<RiscvEtrace>(&suites(), &clauses())
        .unwrap_or_else(|errors| panic!("{} errors:{}", errors.len(), report(&errors)));
    assert!(!files.is_empty());
}

#[test]
fn the_clauses_of_arm_etm_are_all_there() {
    let registry =
        Registry::load(&clauses(), Family::ArmEtm).unwrap_or_else(|errors| panic!("{}", report(&errors)));
    let groups = [
        ("ETM-GEN", 12),
        ("ETM1-PS", 12),
        ("ETM1-PKT", 18),
        ("ETM1-APO", 8),
        ("ETM1-DAT", 7),
        ("ETM1-SYN", 9),
        ("ETM2-PS", 13),
        ("ETM2-TRG", 7),
        ("ETM2-HDR", 12),
        ("ETM2-CB", 11),
        ("ETM2-BR", 11),
        ("ETM2-TFO", 24),
        ("ETM2-CTX", 4),
        ("ETM2-ND", 11),
        ("ETM2-DA", 9),
        ("ETM2-VNT", 6),
        ("ETM2-LM", 57),
        ("ETM2-FIFO", 8),
        ("ETM3-HDR", 9),
        ("ETM3-PH", 14),
        ("ETM3-CC", 6),
        ("ETM3-SYN", 14),
        ("ETM3-ISY", 13),
        ("ETM3-BR", 19),
        ("ETM3-EXC", 12),
        ("ETM3-DAT", 19),
        ("ETM3-OOO", 8),
        ("ETM3-TS", 8),
        ("ETM3-MISC", 7),
        ("ETM3-ENC", 5),
        ("ARM-FMT", 13),
    ];
    for (group, count) in groups {
        for number in 1..=count {
            let id = format!("{group}-{number:03}");
            assert!(registry.get(&id).is_some(), "{id}");
        }
    }
    assert_eq!(registry.clauses.len(), groups.iter().map(|(_, count)| count).sum::<usize>());
}

#[test]
fn every_case_of_arm_etm_keeps_the_rules() {
    let files = check::<ArmEtm>(&suites(), &clauses())
        .unwrap_or_else(|errors| panic!("{} errors:{}", errors.len(), report(&errors)));
    assert!(!files.is_empty());
}

#[test]
fn the_clauses_of_itanium_pmu_are_all_there() {
    let registry =
        Registry::load(&clauses(), Family::ItaniumPmu).unwrap_or_else(|errors| panic!("{}", report(&errors)));
    let groups = [
        ("REG", 18),
        ("CNT", 13),
        ("OVF", 13),
        ("IBR", 19),
        ("OPC", 17),
        ("DBR", 15),
        ("EAR", 26),
        ("QUA", 6),
        ("DEC", 12),
        ("BTB", 1),
    ];
    for (group, count) in groups {
        for number in 1..=count {
            let id = format!("ITA-{group}-{number:03}");
            assert!(registry.get(&id).is_some(), "{id}");
        }
    }
    assert_eq!(registry.clauses.len(), groups.iter().map(|(_, count)| count).sum::<usize>());
}

#[test]
fn every_case_of_itanium_pmu_keeps_the_rules() {
    let files = check::<ItaniumPmu>(&suites(), &clauses())
        .unwrap_or_else(|errors| panic!("{} errors:{}", errors.len(), report(&errors)));
    assert!(!files.is_empty());
}
