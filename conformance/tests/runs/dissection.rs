//! What every shipped case means, bit by bit, as snapshots: a change of a reader shows which cases it touches.

use traceproof_conformance::family::FamilyRules;
use traceproof_conformance::report::explain;
use traceproof_vectors::arm_etm::ArmEtm;
use traceproof_vectors::case::Case;
use traceproof_vectors::itanium_pmu::ItaniumPmu;
use traceproof_vectors::riscv_etrace::RiscvEtrace;

#[test]
fn every_riscv_etrace_case_dissects_as_before() {
    dissect_all::<RiscvEtrace>("riscv_etrace/**/*.toml");
}

#[test]
fn every_arm_etm_case_dissects_as_before() {
    dissect_all::<ArmEtm>("arm_etm/**/*.toml");
}

#[test]
fn every_itanium_pmu_case_dissects_as_before() {
    dissect_all::<ItaniumPmu>("itanium_pmu/**/*.toml");
}

fn dissect_all<P: FamilyRules>(pattern: &str) {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../vectors/suites");
    let mut settings = insta::Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_snapshot_path(format!("snapshots/dissection/{}", P::FAMILY));
    settings.set_omit_expression(true);
    settings.bind(|| {
        insta::glob!(root, pattern, |path| {
            let text = std::fs::read_to_string(path).expect("readable");
            let case = Case::<P>::parse(&text).unwrap_or_else(|error| panic!("{error}"));
            let resolved = case.resolve().unwrap_or_else(|problem| panic!("{problem}"));
            let shown = explain::stream::<P>(&resolved.wire, &case.parameters, &resolved.program)
                .unwrap_or_else(|refusal| format!("refused: {refusal}\n"));
            insta::assert_snapshot!("case", format!("{}  {}\n{shown}", case.id, case.title));
        });
    });
}
