//! Encoders that make other choices than the cases, and one that is wrong: how far each agrees.

use traceproof_conformance::verdict::Kind;
use traceproof_conformance::{Agreement, Direction, Options, Run, Selection, Subject, run};
use traceproof_encoder_model::riscv_etrace::Encoder as Model;
use traceproof_vectors::riscv_etrace::{
    Compression, InterruptReport, Itype, Parameters, Policy, RiscvEtrace, Stimulus, SyncMode,
};
use traceproof_vectors::{Capabilities, Encoder, EncoderSink, Family, Refusal};

/// The encoder model with other choices, or with another stimulus.
struct Other {
    model: Model,
    choose: fn(&mut Policy),
    see: fn(&mut Stimulus),
}

impl Encoder<RiscvEtrace> for Other {
    fn capabilities(&self) -> Capabilities {
        Encoder::<RiscvEtrace>::capabilities(&self.model)
    }

    fn begin(&mut self, parameters: &Parameters, policy: &Policy) -> Result<(), Refusal> {
        let mut policy = policy.clone();
        (self.choose)(&mut policy);
        self.model.begin(parameters, &policy)
    }

    fn step(&mut self, stimulus: &Stimulus, sink: &mut dyn EncoderSink<RiscvEtrace>) {
        let mut stimulus = stimulus.clone();
        (self.see)(&mut stimulus);
        self.model.step(&stimulus, sink);
    }

    fn finish(&mut self, sink: &mut dyn EncoderSink<RiscvEtrace>) {
        self.model.finish(sink);
    }
}

fn other(choose: fn(&mut Policy), see: fn(&mut Stimulus)) -> Subject {
    Subject::new("acme", "1")
        .with_encoder::<RiscvEtrace>(move || Box::new(Other { model: Model::default(), choose, see }))
}

fn chooses(choose: fn(&mut Policy)) -> Subject {
    other(choose, |_| {})
}

fn judged(subject: &Subject, folder: &str, require: Agreement) -> Run {
    let filters = vec![format!("riscv_etrace/{folder}/*")];
    let selection = Selection { families: vec![Family::RiscvEtrace], filters, ..Selection::default() };
    let options = Options { selection, directions: vec![Direction::Encode], require, ..Options::default() };
    run(subject, &options, &|_| {}).expect("sound suites")
}

/// Passes, and would not if exact bytes were required: as many checks as are legal then fail.
fn is_legal(choose: fn(&mut Policy), folder: &str) {
    let subject = chooses(choose);
    let run = judged(&subject, folder, Agreement::Legal);
    let legal = run.tally().of(Kind::Legal);
    assert!(run.is_success(), "{folder}: {:?}", run.failed().next());
    assert!(legal > 0, "{folder}: {:?}", run.tally());
    let exact = judged(&subject, folder, Agreement::Exact).tally();
    assert_eq!((exact.of(Kind::Fail), exact.of(Kind::Legal)), (legal, 0), "{folder}");
    assert_eq!(exact.of(Kind::Pass), run.tally().of(Kind::Pass), "{folder}");
}

fn synchronises_often(policy: &mut Policy) {
    if policy.sync_mode == SyncMode::Off {
        (policy.sync_mode, policy.sync_max) = (SyncMode::HalfWords, 0);
    }
}

fn keeps_full_length(policy: &mut Policy) {
    policy.compression = Compression::Mandatory;
}

fn reports_interrupts_separately(policy: &mut Policy) {
    policy.interrupt_report = InterruptReport::Separate;
}

#[test]
fn another_resynchronisation_is_legal() {
    is_legal(synchronises_often, "branches");
}

#[test]
fn full_length_is_legal() {
    is_legal(keeps_full_length, "branches");
}

#[test]
fn another_form_of_interrupts_is_legal() {
    is_legal(reports_interrupts_separately, "traps");
}

#[test]
fn another_form_of_the_end_is_legal() {
    is_legal(|policy| policy.updiscon_at_end = true, "loop_labels");
}

#[test]
fn several_choices_at_once_are_legal() {
    let all = |policy: &mut Policy| {
        synchronises_often(policy);
        keeps_full_length(policy);
        reports_interrupts_separately(policy);
        policy.support_at_disable = true;
    };
    is_legal(all, "traps");
}

#[test]
fn the_same_execution_alone_passes_on_request_only() {
    // `flow` belongs to the transport, which is configured.
    let subject = chooses(|policy| policy.flow ^= 1);
    let run = judged(&subject, "branches", Agreement::Legal);
    let failed = run.tally().of(Kind::Fail);
    assert!(failed > 0 && run.tally().of(Kind::Legal) == 0, "{:?}", run.tally());
    let named = |check: &run::Check| check.verdict.to_string().contains("(decodes to the same execution)");
    let semantic = judged(&subject, "branches", Agreement::Semantic);
    assert!(semantic.tally().of(Kind::Semantic) > 0, "{:?}", semantic.tally());
    let distinguished = run.cases.iter().flat_map(|case| &case.checks).filter(|check| named(check)).count();
    assert_eq!(distinguished, semantic.tally().of(Kind::Semantic));
}

#[test]
fn another_execution_passes_only_where_the_difference_is_unseen() {
    let subject = other(
        |_| {},
        |stimulus| {
            if let Stimulus::Cycle(cycle) = stimulus {
                for block in &mut cycle.blocks {
                    block.itype = match block.itype {
                        Itype::BranchTaken => Itype::BranchNotTaken,
                        Itype::BranchNotTaken => Itype::BranchTaken,
                        other => other,
                    };
                }
            }
        },
    );
    for require in Agreement::ALL {
        let run = judged(&subject, "branches", require);
        let tally = run.tally();
        assert!(tally.of(Kind::Fail) > 0 && tally.of(Kind::Legal) == 0, "{require}: {tally:?}");
        let same = run
            .cases
            .iter()
            .filter(|case| case.checks.iter().any(|check| check.verdict.kind() == Kind::Semantic));
        let same: Vec<&str> = same.filter_map(|case| case.path.rsplit('/').next()).collect();
        if require == Agreement::Semantic {
            assert_eq!(same, OUTCOME_UNSEEN);
        } else {
            assert!(same.is_empty(), "{require}: {same:?}");
        }
    }
}

/// Branches whose outcome changes no instruction that retires: nothing comes after the one, and the target of the other
/// is its fall-through address.
const OUTCOME_UNSEEN: [&str; 2] = ["final_branch.toml", "taken_to_fall_through.toml"];
