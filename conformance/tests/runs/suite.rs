//! Every shipped case through the reference decoder, encoder model and packet writer.

use traceproof_conformance::report::text;
use traceproof_conformance::{Options, Subject, Verdict, run};

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
