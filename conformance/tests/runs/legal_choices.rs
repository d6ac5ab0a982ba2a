//! Every choice that counts as legal is: an encoder that makes it passes, and the report names it.

use std::time::Instant;

use traceproof_conformance::family::{FamilyRules, IMPLEMENTED, Visitor, visit};
use traceproof_conformance::verdict::Kind;
use traceproof_conformance::{Agreement, Direction, Options, Selection, Subject, run};
use traceproof_vectors::{Capabilities, Encoder, EncoderSink, Refusal};

/// Which other value of a choice is made.
#[derive(Clone, Copy, Debug)]
enum Which {
    First,
    Second,
    Last,
}

/// The encoder model with another value of a choice, where the case states none.
struct Choosing<P: FamilyRules> {
    model: Box<dyn Encoder<P>>,
    choice: usize,
    which: Which,
}

impl<P: FamilyRules> Encoder<P> for Choosing<P> {
    fn capabilities(&self) -> Capabilities {
        self.model.capabilities()
    }

    fn begin(&mut self, parameters: &P::Parameters, policy: &P::Policy) -> Result<(), Refusal> {
        let others = P::LEGAL_CHOICES[self.choice].others(policy, policy);
        let other = match self.which {
            Which::First => others.first(),
            Which::Second => others.get(1),
            Which::Last => others.last(),
        };
        // Some choices are for other parameters.
        let other = other.filter(|other| self.model.begin(parameters, other).is_ok());
        self.model.begin(parameters, other.unwrap_or(policy))
    }

    fn step(&mut self, stimulus: &P::Stimulus, sink: &mut dyn EncoderSink<P>) {
        self.model.step(stimulus, sink);
    }

    fn finish(&mut self, sink: &mut dyn EncoderSink<P>) {
        self.model.finish(sink);
    }
}

/// How many cases encoders with another value of a choice agree with legally, and whether the choice is named. No case
/// may fail.
fn legal<P: FamilyRules>(choice: usize, which: Which) -> (usize, bool) {
    let subject = Subject::new("acme", "1")
        .with_encoder::<P>(move || Box::new(Choosing::<P> { model: P::reference_encoder(), choice, which }));
    let selection = Selection { families: vec![P::ID.family()], ..Selection::default() };
    let options = Options {
        selection,
        require: Agreement::Legal,
        directions: vec![Direction::Encode],
        ..Options::default()
    };
    let began = Instant::now();
    let run = run(&subject, &options, &|_| {}).expect("the suite is sound");
    let (key, tally) = (P::LEGAL_CHOICES[choice].key, run.tally());
    eprintln!("{} {key} {which:?}: {tally:?} {:?}", P::ID, began.elapsed());
    let failed = run.failed().flat_map(|case| case.failures().map(move |check| (&case.id, &check.verdict)));
    let failed: Vec<String> = failed.map(|(id, verdict)| format!("{id}: {verdict}")).collect();
    assert!(failed.is_empty(), "{} {key} {which:?}: {} {failed:#?}", P::ID, failed.len());
    let mut checks = run.cases.iter().flat_map(|case| &case.checks);
    let named = checks.any(|check| check.verdict.to_string().contains(&format!("{key} = ")));
    (tally.of(Kind::Legal), named)
}

/// Judges encoders for each choice of a protocol; the choices that show in no case.
struct EveryChoice;

impl Visitor for EveryChoice {
    type Output = Vec<String>;

    fn visit<P: FamilyRules>(self) -> Vec<String> {
        let unseen = (0..P::LEGAL_CHOICES.len()).filter(|&choice| {
            let all = [Which::First, Which::Second, Which::Last].map(|which| legal::<P>(choice, which));
            !all.into_iter().any(|(legal, named)| legal > 0 && named)
        });
        unseen.map(|choice| format!("{} {}", P::ID, P::LEGAL_CHOICES[choice].key)).collect()
    }
}

/// Choices that change no case which leaves them open: those that show them state them.
const SHOW_IN_NO_CASE: [&str; 2] = ["arm_ete sync_period", "arm_ete cancel_empties_return_stack"];

#[test]
fn every_legal_choice_passes_and_is_named() {
    let unseen: Vec<String> = IMPLEMENTED
        .into_iter()
        .flat_map(|protocol| visit(protocol, EveryChoice).expect("implemented"))
        .collect();
    assert_eq!(unseen, SHOW_IN_NO_CASE);
}
