//! A summary in Markdown, for job summaries and comments.

use std::fmt::Write as _;

use crate::causes::{Cause, causes};
use crate::changes::{self, Change};
use crate::error::Error;
use crate::page::Inputs;
use crate::results::Run;
use crate::tally::{self, Tally};

/// Largest number of causes, and of changes of a kind.
const CAUSES: usize = 10;
const CHANGES: usize = 20;

/// Largest number of characters of a name or a sentence.
const LETTERS: usize = 300;

/// Totals by family, the most frequent causes with an example each, and new failures since the earlier run.
///
/// # Errors
///
/// Without results.
pub fn markdown(inputs: Inputs<'_>) -> Result<String, Error> {
    if inputs.runs.is_empty() {
        return Err(Error::Nothing);
    }
    let mut text = String::from("## Traceproof\n\n");
    for run in inputs.runs {
        text.push_str(&headline(run));
    }
    text.push_str(&totals(inputs.runs));
    text.push_str(&failures(inputs.runs));
    if let (Some(before), Some(after)) = (inputs.earlier, inputs.later()) {
        text.push_str(&differences(before, after));
    }
    Ok(text)
}

fn headline(run: &Run) -> String {
    let tally = tally::of_run(run);
    let (sign, outcome) = match (tally.judged(), tally.fail) {
        (0, _) => ("❔", String::from("no check applies to this subject")),
        (judged, 0) => ("✅", format!("{} of {judged} checks pass{}", tally.pass, known(tally))),
        (judged, fail) => ("❌", format!("{fail} of {judged} checks fail{}", known(tally))),
    };
    let stopped = if run.incomplete { "; the run was stopped, cases are missing" } else { "" };
    format!("{sign} {}: {outcome}{stopped} (suite {})\n\n", code(&run.label()), code(&run.harness))
}

fn known(tally: Tally) -> String {
    if tally.known > 0 { format!(", {} known failures", tally.known) } else { String::new() }
}

fn totals(runs: &[Run]) -> String {
    let mut text = String::from(
        "| subject | family | direction | pass | fail | known | not judged |\n|---|---|---|--:|--:|--:|--:|\n",
    );
    for run in runs {
        for ((protocol, direction), tally) in tally::by_direction(run) {
            let Tally { pass, fail, known, skip } = tally;
            let (subject, protocol) = (code(&run.label()), code(&protocol));
            let _ = writeln!(
                text,
                "| {subject} | {protocol} | {} | {pass} | {fail} | {known} | {skip} |",
                code(&direction)
            );
        }
    }
    text
}

fn failures(runs: &[Run]) -> String {
    let causes = causes(runs);
    let mut text = String::new();
    if !causes.is_empty() {
        text.push_str("\n### Failures by cause\n\n");
    }
    for cause in causes.iter().take(CAUSES) {
        text.push_str(&failure(runs, cause));
    }
    if let Some(more) = causes.len().checked_sub(CAUSES).filter(|more| *more > 0) {
        let _ = writeln!(text, "- and {more} other causes");
    }
    text
}

fn failure(runs: &[Run], cause: &Cause<'_>) -> String {
    let (Some(run), Some(first)) = (runs.get(cause.run), cause.failures.first()) else {
        return String::new();
    };
    let case = run.cases.iter().find(|case| case.id == first.name);
    let program = run.programs.iter().find(|program| program.name() == first.name);
    let command = match (case, program) {
        (Some(case), _) => run.reproduce(case),
        (None, Some(program)) => run.reproduce_program(program),
        (None, None) => String::new(),
    };
    format!(
        "- **{}** {} ({}, {}), for example {} {}: {}\n\n  {}\n\n",
        cause.failures.len(),
        code(&cause.kind),
        code(cause.protocol),
        code(&run.label()),
        code(&first.name),
        code(first.direction),
        code(&first.outcome.sentence()),
        code(&command),
    )
}

fn differences(before: &Run, after: &Run) -> String {
    let all = changes::changes(before, after);
    let mut text = format!("\n### Since {} (suite {})\n\n", code(&before.label()), code(&before.harness));
    if all.is_empty() {
        text.push_str("No check has another outcome.\n");
    }
    for change in Change::ALL {
        let of_kind: Vec<_> = all.iter().filter(|changed| changed.change == change).collect();
        if of_kind.is_empty() {
            continue;
        }
        let _ = writeln!(text, "- **{}** {}", of_kind.len(), change.title());
        for changed in of_kind.iter().take(CHANGES) {
            let check = format!("{} {}", changed.name, changed.direction);
            let _ = writeln!(text, "  - {}: {}", code(&check), code(&changed.outcomes()));
        }
        if let Some(more) = of_kind.len().checked_sub(CHANGES).filter(|more| *more > 0) {
            let _ = writeln!(text, "  - and {more} more");
        }
    }
    text
}

/// Text from results as a code span, in which nothing has a meaning: on one line, with more backticks around it than
/// in it, and no bar that would end a cell of a table.
fn code(text: &str) -> String {
    let is_shown = |c: char| !c.is_control() && !matches!(c, '\u{2028}' | '\u{2029}');
    let mut line: String = text
        .chars()
        .take(LETTERS)
        .map(|c| if is_shown(c) { c } else { ' ' })
        .collect::<String>()
        .replace('|', "¦");
    if text.chars().nth(LETTERS).is_some() {
        line.push('…');
    }
    let longest = line.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    let space = if line.starts_with('`') || line.ends_with('`') || line.trim().is_empty() { " " } else { "" };
    format!("{fence}{space}{line}{space}{fence}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn a_summary_has_totals_causes_and_differences() {
        let runs = [sample::small("acme")];
        let mut before = runs[0].clone();
        before.cases[1].checks[0].outcome = runs[0].cases[0].checks[0].outcome.clone();
        let text =
            markdown(Inputs { runs: &runs, earlier: Some(&before), ..Inputs::default() }).expect("renders");
        for expected in [
            "❌ `acme 2.0`: 3 of 6 checks fail, 1 known failures (suite `0.1.0`)\n",
            "| `acme 2.0` | `riscv_etrace` | `decode` | 1 | 2 | 0 | 0 |\n",
            "- **2** `fail: events: retire / fault missing-outcome` (`riscv_etrace`, `acme 2.0`), for example ",
            "  `traceproof conformance --filter etr-0002 --subject acme.toml`\n",
            "- **1** new failures\n  - `etr-0002 decode`: `pass → fail events 3 at 2/12.0`\n",
        ] {
            assert!(text.contains(expected), "no {expected:?} in\n{text}");
        }
    }

    #[test]
    fn names_from_results_stay_in_their_code_span() {
        assert_eq!(code("a|b\nc"), "`a¦b c`");
        assert_eq!(code("`x``"), "``` `x`` ```");
        assert_eq!(code(""), "`  `");
        assert_eq!(code(&"y".repeat(400)).chars().count(), LETTERS + 3);
        let runs = [sample::small(sample::HOSTILE)];
        let text = markdown(Inputs { runs: &runs, ..Inputs::default() }).expect("renders");
        for line in text.lines().filter(|line| line.starts_with('|')) {
            assert_eq!(line.matches('|').count(), 8, "{line}");
        }
    }

    #[test]
    fn nothing_is_no_summary() {
        assert_eq!(markdown(Inputs::default()), Err(Error::Nothing));
    }
}
