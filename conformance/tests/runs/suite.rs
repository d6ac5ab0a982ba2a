//! Every shipped case through the reference decoder, encoder model and packet writer.

use std::sync::Arc;

use traceproof_conformance::report::text;
use traceproof_conformance::{Options, Selection, Subject, Verdict, run};
use traceproof_vectors::{DecoderLimits, Family};

#[test]
fn the_reference_passes_every_shipped_case() {
    let run = run(&Subject::reference(), &Options::default(), &|_| {}).unwrap_or_else(|errors| {
        let lines: Vec<String> = errors.iter().map(ToString::to_string).collect();
        panic!("the suite is invalid:\n{}", lines.join("\n"));
    });
    assert!(!run.cases.is_empty(), "there are no cases");
    assert!(run.is_success(), "{}", text::report(&run, text::Style::default()));
    // No case may need a feature that the reference does not claim.
    for case in &run.cases {
        for check in &case.checks {
            assert_eq!(check.verdict, Verdict::Pass, "{} {}", case.id, check.direction);
        }
    }
}

#[test]
fn a_run_that_fails_fast_ends_with_the_first_failing_case() {
    // A limit for which no case is written.
    let subject = Subject::reference().with_limits(DecoderLimits::DEFAULT.with_steps(0));
    let selection = Selection { families: vec![Family::RiscvEtrace], ..Selection::default() };
    let options = |fail_fast| Options {
        selection: selection.clone(),
        jobs: Some(1),
        fail_fast,
        // A run that ends early sets it.
        stop: Arc::default(),
        ..Options::default()
    };
    let judged = |fail_fast| run(&subject, &options(fail_fast), &|_| {}).expect("sound suites");
    let (whole, fast) = (judged(false), judged(true));
    assert!(whole.failed().count() > 1 && !whole.incomplete);
    assert!(fast.incomplete && !fast.is_success());
    let failed: Vec<&str> = fast.failed().map(|case| case.id.as_str()).collect();
    let last = fast.cases.last().map(|case| case.id.as_str());
    assert_eq!(failed, whole.failed().take(1).map(|case| case.id.as_str()).collect::<Vec<_>>());
    assert_eq!(last, failed.first().copied(), "no case after it");
}
