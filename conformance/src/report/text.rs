//! The report for people: failures with both sides, then totals.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use traceproof_vectors::case::{Level, Polarity};

use super::table::{render, table};
use crate::run::{CaseResult, Check, Run, Tally};
use crate::verdict::{Divergence, Kind, Verdict};

/// Paints words if the reader's terminal can.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Style {
    /// Use ANSI colours.
    pub colour: bool,
}

impl Style {
    fn paint(self, code: &str, text: &str) -> String {
        if self.colour { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }

    fn good(self, text: &str) -> String {
        self.paint("32", text)
    }

    fn bad(self, text: &str) -> String {
        self.paint("31;1", text)
    }

    fn faint(self, text: &str) -> String {
        self.paint("2", text)
    }
}

/// Most columns of a side-by-side comparison; longer lines are put below each other.
const WIDTH: usize = 150;

/// The whole report.
#[must_use]
pub fn report(run: &Run, style: Style) -> String {
    let mut out = String::new();
    for case in run.failed() {
        out.push_str(&failure(case, style));
        out.push('\n');
    }
    out.push_str(&summary(run, style));
    out
}

/// One failed case.
#[must_use]
pub fn failure(case: &CaseResult, style: Style) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "{} {}  {}", style.bad("FAIL"), case.id, case.title);
    let _ = writeln!(out, "  {}", style.faint(&case.path));
    for check in case.failures() {
        out.push_str(&failed_check(check, style));
    }
    for clause in &case.clauses {
        let _ = writeln!(out, "  clause {}  {}", clause.id, clause.summary);
    }
    let _ = writeln!(out, "  {}, {}; catches: {}", level(case.level), polarity(case.polarity), case.catches);
    let _ = writeln!(out, "  reproduce: cargo xtask conformance --filter {}", case.id);
    let _ = writeln!(out, "             cargo xtask explain {}", case.id);
    out
}

/// The failure of one direction, without colours: for reports in other formats.
#[must_use]
pub fn details(check: &Check) -> String {
    failed_check(check, Style::default())
}

fn failed_check(check: &Check, style: Style) -> String {
    let Check { direction, verdict } = check;
    match verdict {
        Verdict::Fail(divergence) => {
            let mut out = format!("  {direction}: {} differ at item {}", divergence.what, divergence.index);
            if let Some(place) = divergence.place {
                let _ = write!(out, " ({place})");
            }
            out.push('\n');
            if let Some(packet) = &divergence.packet {
                let _ = writeln!(out, "    packet: {packet}");
            }
            out.push_str(&sides(divergence, style));
            out
        }
        other => format!("  {direction}: {}: {other}\n", style.bad(other.kind().name())),
    }
}

/// Both sides of a comparison. The first difference is marked with `>`, what agrees with `=`.
fn sides(divergence: &Divergence, style: Style) -> String {
    const NOTHING: &str = "-";
    let rows: Vec<(bool, &str, &str)> = divergence
        .rows
        .iter()
        .map(|row| {
            (row.same, row.expected.as_deref().unwrap_or(NOTHING), row.got.as_deref().unwrap_or(NOTHING))
        })
        .collect();
    let widest = |pick: fn(&(bool, &str, &str)) -> usize| rows.iter().map(pick).max().unwrap_or(0);
    let left = widest(|(_, expected, _)| expected.chars().count()).max("expected".len());
    let right = widest(|(_, _, got)| got.chars().count());
    let mut out = String::new();
    let first = rows.iter().position(|(same, ..)| !same);
    let mark = |index: usize, same: bool| match same {
        true => '=',
        false if first == Some(index) => '>',
        false => '!',
    };
    if left + right + 9 <= WIDTH {
        let _ = writeln!(out, "      {:left$} | got", "expected");
        for (index, &(same, expected, got)) in rows.iter().enumerate() {
            let text = format!("    {} {expected:left$} | {got}", mark(index, same));
            let _ = writeln!(out, "{}", if first == Some(index) { style.bad(&text) } else { text });
        }
    } else {
        for (index, &(same, expected, got)) in rows.iter().enumerate() {
            if same {
                let _ = writeln!(out, "    = {expected}");
            } else {
                let _ = writeln!(out, "    {} expected {expected}", mark(index, same));
                let text = format!("           got {got}");
                let _ = writeln!(out, "{}", if first == Some(index) { style.bad(&text) } else { text });
            }
        }
    }
    out
}

/// Totals, what is not supported, and the last word.
#[must_use]
pub fn summary(run: &Run, style: Style) -> String {
    let mut out = format!("subject {} {}, suite {}\n\n", run.subject.name, run.subject.version, run.harness);
    let tallies = run.tallies();
    // Pass and fail are always shown, the other verdicts where they happened.
    let shown: Vec<Kind> = Kind::ALL
        .into_iter()
        .filter(|kind| matches!(kind, Kind::Pass | Kind::Fail) || run.tally().of(*kind) > 0)
        .collect();
    let mut headings = vec![String::from("family"), String::from("direction"), String::from(">checks")];
    headings.extend(shown.iter().map(|kind| format!(">{kind}")));
    let headings: Vec<&str> = headings.iter().map(String::as_str).collect();
    let mut totals = table(&headings);
    let row = |family: &str, direction: &str, tally: &Tally| {
        let counts = shown.iter().map(|&kind| tally.of(kind).to_string());
        [family.to_owned(), direction.to_owned(), tally.total().to_string()]
            .into_iter()
            .chain(counts)
            .collect::<Vec<_>>()
    };
    for ((family, direction), tally) in &tallies {
        totals.add_row(row(family.name(), direction.name(), tally));
    }
    totals.add_row(row("all", "", &run.tally()));
    out.push_str(&render(&totals, ""));
    out.push_str(&unsupported(run));
    out.push('\n');
    out.push_str(&last_word(run, style));
    out
}

/// What the subject does not claim, and how much that leaves out.
fn unsupported(run: &Run) -> String {
    let mut needs: BTreeMap<String, usize> = BTreeMap::new();
    for check in run.cases.iter().flat_map(|case| &case.checks) {
        if let Verdict::Unsupported { needs: missing } = &check.verdict {
            *needs.entry(missing.join(", ")).or_default() += 1;
        }
    }
    if needs.is_empty() {
        return String::new();
    }
    let mut out = String::from("\nnot judged, because the subject does not claim it:\n");
    for (need, count) in needs {
        let _ = writeln!(out, "  {need}: {}", counted(count, "check"));
    }
    out
}

fn last_word(run: &Run, style: Style) -> String {
    let tally = run.tally();
    let judged = format!("{} of {}", counted(tally.applicable(), "check"), counted(run.cases.len(), "case"));
    let failed: usize =
        Kind::ALL.into_iter().filter(|kind| kind.is_failure()).map(|kind| tally.of(kind)).sum();
    if tally.applicable() == 0 {
        format!("{}: no check applies to this subject\n", style.bad("NOTHING"))
    } else if failed == 0 {
        format!("{}: {judged}\n", style.good("PASS"))
    } else {
        let cases = counted(run.failed().count(), "case");
        format!("{}: {failed} of {judged}; {cases} failed\n", style.bad("FAIL"))
    }
}

/// `1 case`, `2 cases`.
#[must_use]
pub fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// The name in case files.
#[must_use]
pub const fn level(level: Level) -> &'static str {
    match level {
        Level::Must => "must",
        Level::Should => "should",
        Level::May => "may",
        Level::Robust => "robust",
    }
}

/// The name in case files.
#[must_use]
pub const fn polarity(polarity: Polarity) -> &'static str {
    match polarity {
        Polarity::Positive => "positive",
        Polarity::Negative => "negative",
    }
}
