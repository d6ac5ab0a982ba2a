//! Encoders in other processes that make other choices than the cases: legal, and not exact, with the reason.

use traceproof_conformance::process::{self, Command, Limits};
use traceproof_conformance::verdict::Kind;
use traceproof_conformance::{Agreement, Direction, Options, Run, Selection, run};
use traceproof_vectors::ProtocolId;

fn judged(protocol: ProtocolId, choices: &str, require: Agreement) -> Run {
    let arguments = ["choosing", protocol.name(), choices];
    let command = Command::new(env!("CARGO_BIN_EXE_traceproof-test-subject"), arguments);
    // The machine may have other things to do.
    let limits = Limits { scale: 60.0, ..Limits::default() };
    let subject = process::subject(&command, &limits).expect("it says hello");
    let selection = Selection { families: vec![protocol.family()], ..Selection::default() };
    let options = Options { selection, require, directions: vec![Direction::Encode], ..Options::default() };
    run(&subject, &options, &|_| {}).expect("the suite is sound")
}

/// Passes as legal and as semantic; where exact bytes are demanded, what is legal fails and names the choices.
fn is_legal_and_not_exact(protocol: ProtocolId, choices: &str, reasons: &[&str]) {
    let legal = judged(protocol, choices, Agreement::Legal);
    assert!(legal.is_success(), "{choices}: {:?}", legal.failed().next());
    assert!(judged(protocol, choices, Agreement::Semantic).is_success(), "{choices}");
    let exact = judged(protocol, choices, Agreement::Exact);
    let (different, failed) = (legal.tally().of(Kind::Legal), exact.tally().of(Kind::Fail));
    assert!(different > 0 && failed == different, "{choices}: {different} legal, {failed} not exact");
    let failures = exact.failed().flat_map(|case| case.failures());
    let said: Vec<String> = failures.map(|check| check.verdict.to_string()).collect();
    for reason in reasons {
        assert!(said.iter().any(|text| text.contains(reason)), "{choices}: {reason}: {:?}", said.first());
    }
}

#[test]
fn other_choices_of_a_ptm_are_legal() {
    let choices = r#"{"always_exception_information":true,"atoms_per_packet":3,"vmid_after_sync":false}"#;
    let reasons = ["as legal as with atoms_per_packet = 3)", "vmid_after_sync = false"];
    is_legal_and_not_exact(ProtocolId::ArmPft, choices, &reasons);
}

#[test]
fn other_choices_of_a_trace_unit_are_legal() {
    let choices = r#"{"addresses":"bits_32","sync_zeros":12,"atoms_per_packet":3}"#;
    let reasons = ["sync_zeros = 12)", "addresses = \"bits_32\""];
    is_legal_and_not_exact(ProtocolId::ArmEte, choices, &reasons);
}

#[test]
fn other_choices_of_a_macrocell_are_legal() {
    let choices = r#"{"pack_atoms":false,"minimal_values":false}"#;
    let reasons = ["as legal as with pack_atoms = false)", "minimal_values = false"];
    is_legal_and_not_exact(ProtocolId::ArmEtm, choices, &reasons);
}
