//! A verdict as text, JSON and JUnit XML.

use std::fmt::Write as _;

use quick_junit::{NonSuccessKind, Report, SerializeError, TestCase, TestCaseStatus, TestSuite};

use crate::judge::{CaseVerdict, Group, LEVELS, Outcome, Verdict};

/// Groups that a text shows at most.
const MOST_GROUPS: usize = 40;

/// The verdict for readers.
#[must_use]
pub fn text(verdict: &Verdict) -> String {
    let mut text = String::new();
    let _ = writeln!(text, "{}: {} cases", verdict.device, verdict.cases.len());
    for problem in &verdict.run {
        let _ = writeln!(text, "run: {problem}");
    }
    let _ = writeln!(
        text,
        "\n{:<10} {:>6} {:>6} {:>11} {:>10}",
        "level", "pass", "fail", "of that tail", "not judged"
    );
    for (name, level) in LEVELS {
        let [pass, fail, not_judged] = verdict.counts(level);
        let tail =
            verdict.cases.iter().filter(|case| matches!(level(case), Outcome::Fail { tail_only: true, .. }));
        let _ = writeln!(text, "{name:<10} {pass:>6} {fail:>6} {:>12} {not_judged:>10}", tail.count());
    }
    for finding in &verdict.layout {
        let _ = writeln!(
            text,
            "\n{} layout of `{}`: {} packets in {} cases\n  expected {}\n  got      {}",
            finding.clause,
            finding.format.name(),
            finding.packets,
            finding.cases,
            finding.expected,
            finding.got
        );
    }
    freedoms(&mut text, verdict);
    groups(&mut text, &verdict.groups);
    others(&mut text, verdict);
    let _ = writeln!(text, "\n{}", if verdict.passes() { "PASS" } else { "FAIL" });
    text
}

/// Why the bytes of legal cases are others.
fn freedoms(text: &mut String, verdict: &Verdict) {
    let mut sums = std::collections::BTreeMap::new();
    for (why, count) in verdict.cases.iter().flat_map(|case| &case.freedoms) {
        *sums.entry(why).or_insert(0) += count;
    }
    if !sums.is_empty() {
        let _ = writeln!(text, "\nOther bytes than those of the policy, all of them legal:");
    }
    for (why, count) in sums {
        let _ = writeln!(text, "  {count:>6} {why}");
    }
}

fn groups(text: &mut String, groups: &[Group]) {
    let (first, later): (Vec<&Group>, Vec<&Group>) = groups.iter().partition(|group| group.first_in > 0);
    if !first.is_empty() {
        let _ = writeln!(text, "\nFindings by first differing field and clause:");
    }
    for group in first.iter().take(MOST_GROUPS) {
        let reason = group.reason.as_deref().unwrap_or("nothing due");
        let tail = if group.tail { ", tail" } else { "" };
        let _ = writeln!(
            text,
            "  {} `{}` ({reason}{tail}): {} findings in {} cases, first in {}",
            group.clause, group.field, group.findings, group.cases, group.first_in
        );
        let (case, finding) = &group.example;
        let _ = writeln!(
            text,
            "      {case}, row {:#x}, packet {}: expected {}, got {}",
            finding.row, finding.packet, finding.expected, finding.got
        );
    }
    if first.len() > MOST_GROUPS {
        let _ = writeln!(text, "  and {} more groups", first.len() - MOST_GROUPS);
    }
    if !later.is_empty() {
        let findings: usize = later.iter().map(|group| group.findings).sum();
        let names: std::collections::BTreeSet<String> =
            later.iter().map(|group| format!("{} `{}`", group.clause, group.field)).collect();
        let names: Vec<String> = names.into_iter().collect();
        let _ = writeln!(
            text,
            "\nNever the first finding of a case, so they may have the same root as those above: {findings} findings in \
             {} groups:\n  {}",
            later.len(),
            names.join(", ")
        );
    }
}

/// One example of every level that findings do not explain, and what wrappers reported.
fn others(text: &mut String, verdict: &Verdict) {
    for (name, level) in LEVELS.iter().filter(|(name, _)| *name != "legal") {
        let first = verdict.cases.iter().find_map(|case| match level(case) {
            Outcome::Fail { message, .. } => Some((case, message)),
            _ => None,
        });
        if let Some((case, message)) = first {
            let _ = writeln!(text, "\nfirst `{name}` failure: {}: {message}", case.id);
        }
    }
    for case in verdict.cases.iter().filter(|case| !case.reports.is_empty()) {
        let _ = writeln!(text, "{}: {}", case.id, case.reports.join("; "));
    }
}

/// The verdict as JSON.
///
/// # Errors
///
/// Those of the writer.
pub fn json(verdict: &Verdict) -> serde_json::Result<String> {
    serde_json::to_string_pretty(verdict).map(|text| text + "\n")
}

/// The verdict as JUnit XML: a suite per level, a test per case; the run as a whole is a suite of its own.
///
/// # Errors
///
/// Those of the XML writer.
pub fn junit(verdict: &Verdict) -> Result<String, SerializeError> {
    let mut report = Report::new(format!("traceproof: {}", verdict.device));
    let mut run = TestSuite::new("run");
    let mut status = TestCaseStatus::success();
    if !verdict.run.is_empty() {
        status = TestCaseStatus::non_success(NonSuccessKind::Error);
        status.set_message(verdict.run.join("; "));
    }
    run.add_test_case(TestCase::new("rows, checksum, end", status));
    report.add_test_suite(run);
    if !verdict.layout.is_empty() {
        let mut suite = TestSuite::new("layout");
        for finding in &verdict.layout {
            let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
            let (clause, expected, got) = (&finding.clause, &finding.expected, &finding.got);
            status.set_message(format!("{clause}: expected {expected}, got {got}"));
            suite.add_test_case(TestCase::new(finding.format.name(), status));
        }
        report.add_test_suite(suite);
    }
    for (name, level) in LEVELS {
        let mut suite = TestSuite::new(name);
        for case in &verdict.cases {
            suite.add_test_case(test_case(name, case, level(case)));
        }
        report.add_test_suite(suite);
    }
    report.to_string()
}

/// Levels that no specification demands are skipped where they differ, not failed.
fn test_case(level: &str, case: &CaseVerdict, outcome: &Outcome) -> TestCase {
    let demanded = !matches!(level, "exact" | "fields");
    let status = match outcome {
        Outcome::Pass => TestCaseStatus::success(),
        Outcome::Fail { message, .. } if demanded => {
            let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
            status.set_message(message.as_str());
            status
        }
        Outcome::Fail { message, .. } | Outcome::NotJudged(message) => {
            let mut status = TestCaseStatus::skipped();
            status.set_message(message.as_str());
            status
        }
    };
    TestCase::new(case.id.as_str(), status)
}
