//! The report for people: failures with both sides, then totals.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use traceproof_vectors::case::{Level, Polarity};

use super::causes::{Cause, Judged, causes};
use super::table::{render, table};
use crate::run::{CaseResult, Check, ProgramRun, Run, Tally};
use crate::verdict::{Divergence, Kind, Verdict};
use crate::visible;

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

    pub(super) fn good(self, text: &str) -> String {
        self.paint("32", text)
    }

    pub(super) fn bad(self, text: &str) -> String {
        self.paint("31;1", text)
    }

    pub(super) fn faint(self, text: &str) -> String {
        self.paint("2", text)
    }
}

/// Most columns of a side-by-side comparison; longer lines are put below each other.
const WIDTH: usize = 150;

/// Up to so many failing checks are shown one by one.
const SHOWN_SINGLY: usize = 12;

/// So many causes are shown with an example.
const WITH_EXAMPLE: usize = 4;

/// So many more causes are named.
const NAMED: usize = 12;

/// So many checks of a cause are named.
const NAMES: usize = 6;

/// The whole report. Many failures are put together by cause, with an example each, so that a first run fits on two
/// screens; see [`report_of_every_failure`].
#[must_use]
pub fn report(run: &Run, style: Style) -> String {
    let causes = causes(run);
    if causes.iter().map(|cause| cause.failures.len()).sum::<usize>() <= SHOWN_SINGLY {
        return report_of_every_failure(run, style);
    }
    let mut out = String::new();
    for cause in causes.iter().take(WITH_EXAMPLE) {
        out.push_str(&cause_with_example(run, cause, style));
        out.push('\n');
    }
    let others = causes.get(WITH_EXAMPLE..).unwrap_or_default();
    for cause in others.iter().take(NAMED) {
        out.push_str(&cause_heading(cause, style));
    }
    if let Some(more) = others.len().checked_sub(NAMED).filter(|more| *more > 0) {
        let _ = writeln!(out, "and {}", counted(more, "other cause"));
    }
    let _ = writeln!(out, "each failure: the same command with --every-failure");
    out.push_str(&summary(run, style));
    out
}

/// What failing checks have in common, how many they are, and the first of them.
fn cause_heading(cause: &Cause<'_>, style: Style) -> String {
    let first = cause.failures.first().map(|first| first.of.name()).unwrap_or_default();
    let first = visible::line(&first);
    let count = counted(cause.failures.len(), "check");
    format!("{} {count}  {}  ({first})\n", style.bad("FAIL"), cause.kind)
}

fn cause_with_example(run: &Run, cause: &Cause<'_>, style: Style) -> String {
    let mut out = cause_heading(cause, style);
    let Some(example) = cause.failures.first() else { return out };
    out.push_str(&failed_verdict(example.direction.name(), example.verdict, style));
    let command = match example.of {
        Judged::Case(case) => command_for_case(run, case),
        Judged::Program(program) => command_for_program(run, program),
    };
    let _ = writeln!(out, "  reproduce: {command}");
    let mut names: Vec<String> = Vec::new();
    for name in cause.failures.iter().map(|failure| failure.of.name()) {
        if names.last() != Some(&name) {
            names.push(name);
        }
    }
    let named = names.iter().take(NAMES).map(|name| visible::line(name)).collect::<Vec<_>>().join(", ");
    match names.len().checked_sub(NAMES).filter(|more| *more > 0) {
        Some(more) => {
            let _ = writeln!(out, "  in {named} and {more} more");
        }
        None => {
            let _ = writeln!(out, "  in {named}");
        }
    }
    out
}

/// As [`report`], with every failure shown.
#[must_use]
pub fn report_of_every_failure(run: &Run, style: Style) -> String {
    let mut out = String::new();
    for case in run.failed() {
        out.push_str(&failed_case(Some(run), case, style));
        out.push('\n');
    }
    for program in run.failed_programs() {
        out.push_str(&failed_program(run, program, style));
        out.push('\n');
    }
    out.push_str(&summary(run, style));
    out
}

/// The command, about the subject of the run.
fn about_subject(run: &Run, command: String) -> String {
    match &run.subject.argument {
        Some(subject) => format!("{command} --subject {subject}"),
        None => command,
    }
}

/// Judges this case again.
pub(crate) fn command_for_case(run: &Run, case: &CaseResult) -> String {
    let own = case.reproduce.clone();
    about_subject(run, own.unwrap_or_else(|| run.command(format!("conformance --filter {}", case.id))))
}

/// Judges this real program again.
pub(crate) fn command_for_program(run: &Run, program: &ProgramRun) -> String {
    let command = format!("conformance --real-programs --filter {}", program.name());
    about_subject(run, run.invocation.command(command))
}

/// One real program that failed the round trip.
pub(crate) fn failed_program(run: &Run, program: &ProgramRun, style: Style) -> String {
    let name = program.name();
    let mut out = format!("{} {name}  a real program and its parameter set\n", style.bad("FAIL"));
    out.push_str(&failed_verdict("round trip", &program.verdict, style));
    let _ = writeln!(out, "  reproduce: {}", command_for_program(run, program));
    out
}

/// One failed case, with no other command than the case's own [`reproduce`](CaseResult::reproduce).
#[must_use]
pub fn failure(case: &CaseResult, style: Style) -> String {
    failed_case(None, case, style)
}

/// `run` is what the case was judged in, if its commands are those of the program.
pub(crate) fn failed_case(run: Option<&Run>, case: &CaseResult, style: Style) -> String {
    let mut out = String::new();
    let title = format!("{}  {}", case.id, case.title);
    let _ = writeln!(out, "{} {}", style.bad("FAIL"), visible::line(&title));
    let _ = writeln!(out, "  {}", style.faint(&visible::line(&case.path)));
    for check in case.failures() {
        out.push_str(&failed_verdict(check.direction.name(), &check.verdict, style));
    }
    for clause in &case.clauses {
        let _ = writeln!(out, "  clause {}  {}", clause.id, visible::line(&clause.summary));
    }
    if !case.provisional.is_empty() {
        let _ = writeln!(out, "  provisional: no primary source confirms {}", case.provisional.join(", "));
    }
    let catches = visible::line(&case.catches);
    let _ = writeln!(out, "  {}, {}; catches: {catches}", level(case.level), polarity(case.polarity));
    let Some(run) = run else {
        let own = case.reproduce.as_ref();
        out.extend(own.map(|command| format!("  reproduce: {command}\n")));
        return out;
    };
    let _ = writeln!(out, "  reproduce: {}", command_for_case(run, case));
    // A piece of a capture, `source/buffer/piece`, is nothing that `explain` finds.
    if !case.id.contains('/') {
        let explain = about_subject(run, run.command(format!("explain {}", case.id)));
        let _ = writeln!(out, "             {explain}");
    }
    out
}

/// The failure of one direction, without colours: for reports in other formats.
#[must_use]
pub fn details(check: &Check) -> String {
    failed_verdict(check.direction.name(), &check.verdict, Style::default())
}

fn failed_verdict(direction: &str, verdict: &Verdict, style: Style) -> String {
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
            out.push_str(&sides(divergence, ["expected", "got"], style));
            out
        }
        Verdict::Flaky { seen } => {
            let all: usize = seen.iter().map(|seen| seen.times).sum();
            let mut out = format!("  {direction}: {}: of {all} times\n", style.bad(Kind::Flaky.name()));
            for seen in seen {
                let _ = writeln!(out, "    {} {}", counted(seen.times, "time"), seen.example);
            }
            out
        }
        other => {
            let message = other.to_string();
            let kind = style.bad(other.kind().name());
            format!("  {direction}: {kind}: {}\n", visible::lines(&message))
        }
    }
}

/// Both sides of a comparison under their names. The first difference is marked with `>`, what agrees with `=`.
pub(super) fn sides(divergence: &Divergence, names: [&str; 2], style: Style) -> String {
    const NOTHING: &str = "-";
    let rows: Vec<(bool, &str, &str)> = divergence
        .rows
        .iter()
        .map(|row| {
            (row.same, row.expected.as_deref().unwrap_or(NOTHING), row.got.as_deref().unwrap_or(NOTHING))
        })
        .collect();
    let widest = |pick: fn(&(bool, &str, &str)) -> usize| rows.iter().map(pick).max().unwrap_or(0);
    let [one, other] = names;
    let left = widest(|(_, expected, _)| expected.chars().count()).max(one.chars().count());
    let right = widest(|(_, _, got)| got.chars().count());
    let mut out = String::new();
    let first = rows.iter().position(|(same, ..)| !same);
    let mark = |index: usize, same: bool| match same {
        true => '=',
        false if first == Some(index) => '>',
        false => '!',
    };
    if left + right + 9 <= WIDTH {
        let _ = writeln!(out, "      {one:left$} | {other}");
        for (index, &(same, expected, got)) in rows.iter().enumerate() {
            let text = format!("    {} {expected:left$} | {got}", mark(index, same));
            let _ = writeln!(out, "{}", if first == Some(index) { style.bad(&text) } else { text });
        }
    } else {
        for (index, &(same, expected, got)) in rows.iter().enumerate() {
            if same {
                let _ = writeln!(out, "    = {expected}");
            } else {
                let wide = one.chars().count().max(other.chars().count());
                let _ = writeln!(out, "    {} {one:>wide$} {expected}", mark(index, same));
                let text = format!("      {other:>wide$} {got}");
                let _ = writeln!(out, "{}", if first == Some(index) { style.bad(&text) } else { text });
            }
        }
    }
    out
}

/// Totals, what is not supported, and the last word.
#[must_use]
pub fn summary(run: &Run, style: Style) -> String {
    let mut out = format!("subject {} {}, suite {}\n", run.subject.name, run.subject.version, run.harness);
    out.push_str(&directions(run));
    out.push_str(&programs(run));
    out.push_str(&unsupported(run));
    out.push_str(&provisional(run));
    out.push_str(&foreign_sources(run));
    out.push('\n');
    out.push_str(&last_word(run, style));
    out
}

/// Verdicts by protocol and direction.
fn directions(run: &Run) -> String {
    let tallies = run.tallies();
    if tallies.is_empty() {
        return String::new();
    }
    // Pass and fail are always shown, the other verdicts where they happened.
    let shown: Vec<Kind> = Kind::ALL
        .into_iter()
        .filter(|kind| matches!(kind, Kind::Pass | Kind::Fail) || run.tally().of(*kind) > 0)
        .collect();
    let mut headings = vec![String::from("family"), String::from("direction"), String::from(">checks")];
    headings.extend(shown.iter().map(|kind| format!(">{kind}")));
    let headings: Vec<&str> = headings.iter().map(String::as_str).collect();
    let mut totals = table(&headings);
    let row = |protocol: &str, direction: &str, tally: &Tally| {
        let counts = shown.iter().map(|&kind| tally.of(kind).to_string());
        [protocol.to_owned(), direction.to_owned(), tally.total().to_string()]
            .into_iter()
            .chain(counts)
            .collect::<Vec<_>>()
    };
    for ((protocol, direction), tally) in &tallies {
        totals.add_row(row(protocol.name(), direction.name(), tally));
    }
    totals.add_row(row("all", "", &run.tally()));
    format!("\n{}", render(&totals, ""))
}

/// The real programs, summed over their parameter sets.
fn programs(run: &Run) -> String {
    if run.programs.is_empty() {
        return String::new();
    }
    let mut lines = table(&[
        "real program",
        ">sets",
        ">pass",
        ">fail",
        ">known",
        ">unsupported",
        ">instructions",
        ">traps",
        ">packets",
        ">bytes",
    ]);
    let mut names: Vec<&str> = run.programs.iter().map(|run| run.program.as_str()).collect();
    names.dedup();
    for name in names {
        let sets: Vec<&ProgramRun> = run.programs.iter().filter(|run| run.program == name).collect();
        let tally: Tally = sets.iter().map(|run| run.verdict.kind()).collect();
        let sum = |of: fn(&ProgramRun) -> u64| sets.iter().map(|run| of(run)).sum::<u64>().to_string();
        let failed = tally.failures();
        lines.add_row([
            name.to_owned(),
            tally.total().to_string(),
            tally.of(Kind::Pass).to_string(),
            failed.to_string(),
            tally.of(Kind::ExpectedFailure).to_string(),
            tally.of(Kind::Unsupported).to_string(),
            sum(|run| run.instructions),
            sum(|run| run.traps),
            sum(|run| run.packets),
            sum(|run| run.bytes),
        ]);
    }
    format!("\n{}", render(&lines, ""))
}

/// What the subject does not claim, and how much that leaves out.
fn unsupported(run: &Run) -> String {
    let mut needs: BTreeMap<String, usize> = BTreeMap::new();
    let checks = run.cases.iter().flat_map(|case| &case.checks).map(|check| &check.verdict);
    for verdict in checks.chain(run.programs.iter().map(|run| &run.verdict)) {
        if let Verdict::Unsupported { needs: missing } = verdict {
            *needs.entry(missing.join(", ")).or_default() += 1;
        }
    }
    if needs.is_empty() {
        return String::new();
    }
    let mut out = String::from("\nnot judged, for want of:\n");
    for (need, count) in needs {
        let _ = writeln!(out, "  {need}: {}", counted(count, "check"));
    }
    out
}

/// How many judged checks depend on readings that no primary source confirms.
fn provisional(run: &Run) -> String {
    let (readings, all) = run.provisional();
    if all == 0 {
        return String::new();
    }
    let mut out = format!(
        "\nprovisional: {} on readings that no primary source confirms\n",
        if all == 1 { "1 check depends".to_owned() } else { format!("{all} checks depend") }
    );
    for (reading, count) in readings {
        let _ = writeln!(out, "  {reading}: {}", counted(count, "check"));
    }
    out
}

/// Trace sources of a snapshot that no family decodes.
fn foreign_sources(run: &Run) -> String {
    match run.foreign_sources.as_slice() {
        [] => String::new(),
        names => {
            let names = names.join(", ");
            format!("\nnot judged, sources of no family: {}\n", visible::line(&names))
        }
    }
}

fn last_word(run: &Run, style: Style) -> String {
    let (checks, programs) = (run.tally(), run.program_tally());
    let mut judged = Vec::new();
    if checks.total() > 0 {
        let cases = counted(run.cases.len(), "case");
        let all = checks.total();
        judged.push(match checks.applicable() {
            every if every == all => format!("{} of {cases}", counted(every, "check")),
            some => format!("{some} of {} of {cases}", counted(all, "check")),
        });
    }
    if programs.total() > 0 {
        judged.push(counted(programs.applicable(), "round trip"));
    }
    let begin = if run.incomplete {
        format!("{}: the run was stopped, cases are missing\n", style.bad("INCOMPLETE"))
    } else {
        String::new()
    };
    let mut judged = judged.join(" and ");
    let known = checks.of(Kind::ExpectedFailure) + programs.of(Kind::ExpectedFailure);
    if known > 0 {
        let _ = write!(judged, ", {} of them", counted(known, "known failure"));
    }
    let failed = Tally::failures;
    if checks.applicable() + programs.applicable() == 0 {
        return format!("{begin}{}: no check applies to this subject\n", style.bad("NOTHING"));
    }
    let mut bad = Vec::new();
    if failed(&checks) > 0 {
        let cases = counted(run.failed().count(), "case");
        bad.push(format!("{} in {cases}", counted(failed(&checks), "check")));
    }
    if failed(&programs) > 0 {
        bad.push(counted(failed(&programs), "round trip"));
    }
    if bad.is_empty() && run.incomplete {
        format!("{begin}nothing failed so far; judged were {judged}\n")
    } else if bad.is_empty() {
        format!("{begin}{}: {judged}\n", style.good("PASS"))
    } else {
        format!("{begin}{}: {} failed; judged were {judged}\n", style.bad("FAIL"), bad.join(" and "))
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
