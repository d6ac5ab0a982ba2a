//! Results for continuous integration: JUnit XML. A test suite is a directory of cases, a test is a case.

use std::collections::BTreeMap;

use quick_junit::{NonSuccessKind, Report, SerializeError, TestCase, TestCaseStatus, TestSuite};

use super::text::{counted, details};
use crate::run::{CaseResult, Check, ProgramRun, Run};
use crate::verdict::{Kind, Verdict};

/// The run as JUnit XML.
///
/// `failure` is a difference, `error` a crash, a missed deadline or a refusal of something claimed, `skipped` what the
/// subject does not claim or offer: the cases of a directory of which nothing is judged are one such test with their
/// number.
///
/// # Errors
///
/// Those of the XML writer.
pub fn report(run: &Run) -> Result<String, SerializeError> {
    let mut report = Report::new(format!("traceproof: {} {}", run.subject.name, run.subject.version));
    let mut folders: BTreeMap<&str, TestSuite> = BTreeMap::new();
    let mut left_out: BTreeMap<&str, usize> = BTreeMap::new();
    for case in &run.cases {
        let folder = case.folder();
        let suite = folders.entry(folder).or_insert_with(|| TestSuite::new(folder));
        if case.checks.iter().all(|check| check.verdict.kind() == Kind::Unsupported) {
            *left_out.entry(folder).or_default() += 1;
        } else {
            suite.add_test_case(test_case(run, case));
        }
    }
    for (folder, count) in left_out {
        if let Some(suite) = folders.get_mut(folder) {
            suite.add_test_case(not_judged(count));
        }
    }
    report.add_test_suites(folders.into_values());
    let mut programs: BTreeMap<String, TestSuite> = BTreeMap::new();
    for program in &run.programs {
        let folder = format!("{}/programs/{}", program.protocol, program.program);
        let suite = programs.entry(folder.clone()).or_insert_with(|| TestSuite::new(folder));
        suite.add_test_case(round_trip(program));
    }
    report.add_test_suites(programs.into_values());
    report.to_string()
}

/// The cases of a directory of which the subject claims nothing: one skipped test, not thousands.
fn not_judged(count: usize) -> TestCase {
    let mut status = TestCaseStatus::skipped();
    status.set_type(Kind::Unsupported.name());
    status.set_message(format!(
        "{} not judged: the subject does not claim what they need",
        counted(count, "case")
    ));
    TestCase::new("not judged", status)
}

fn round_trip(run: &ProgramRun) -> TestCase {
    let kind = run.verdict.kind();
    let mut status = match kind {
        Kind::Pass => return TestCase::new(run.set.as_str(), TestCaseStatus::success()),
        Kind::Unsupported | Kind::ExpectedFailure => TestCaseStatus::skipped(),
        Kind::Fail => TestCaseStatus::non_success(NonSuccessKind::Failure),
        _ => TestCaseStatus::non_success(NonSuccessKind::Error),
    };
    status.set_type(kind.name());
    status.set_message(run.verdict.to_string());
    TestCase::new(run.set.as_str(), status)
}

fn test_case(run: &Run, case: &CaseResult) -> TestCase {
    let mut test = TestCase::new(case.id.as_str(), status(run, case));
    test.set_classname(case.folder());
    test.add_property(("title", case.title.as_str()));
    for clause in &case.clauses {
        test.add_property(("clause", clause.id.as_str()));
    }
    for reading in &case.provisional {
        test.add_property(("provisional", reading.as_str()));
    }
    test
}

fn status(run: &Run, case: &CaseResult) -> TestCaseStatus {
    let failures: Vec<&Check> = case.failures().collect();
    let Some(first) = failures.first() else {
        return skipped(case).unwrap_or_else(TestCaseStatus::success);
    };
    let differs = failures.iter().all(|check| check.verdict.kind() == Kind::Fail);
    let kind = if differs { NonSuccessKind::Failure } else { NonSuccessKind::Error };
    let worst = failures.iter().find(|check| check.verdict.kind() != Kind::Fail).unwrap_or(first);
    let mut status = TestCaseStatus::non_success(kind);
    status.set_type(worst.verdict.kind().name());
    status.set_message(format!("{}: {}", worst.direction, worst.verdict));
    let mut text = format!("{}\ncatches: {}\n", case.title, case.catches);
    for check in failures {
        text.push_str(&details(check));
    }
    let usual = run.command(format!("explain {}", case.id));
    text.push_str(&format!("reproduce: {}\n", case.reproduce.as_deref().unwrap_or(&usual)));
    status.set_description(text);
    status
}

/// Skipped is a case of which nothing was judged.
fn skipped(case: &CaseResult) -> Option<TestCaseStatus> {
    if case.checks.iter().any(|check| check.verdict.kind().is_pass()) {
        return None;
    }
    let reason = case.checks.iter().find_map(|check| match &check.verdict {
        Verdict::Unsupported { .. } | Verdict::ExpectedFailure { .. } => Some(check.verdict.to_string()),
        _ => None,
    });
    let mut status = TestCaseStatus::skipped();
    status.set_message(reason.unwrap_or_else(|| String::from("the subject offers nothing for this case")));
    Some(status)
}
