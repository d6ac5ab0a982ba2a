//! Charts: bars with labels. The geometry is here, the drawing in `chart.svg.html`.

use serde::Serialize;

use crate::causes::Cause;
use crate::kills::{Matrices, Matrix};
use crate::mutants::{ModuleRow, Mutants};
use crate::performance::Performance;
use crate::results::Run;
use crate::tally::{self, Tally};

/// Width of the labels, of the longest bar, and of the text after a bar.
const COLUMNS: (u64, u64, u64) = (300, 200, 220);

/// Height of one bar with the space after it.
const STEP: u64 = 20;

/// Largest number of bars of a chart, of those for causes, and of letters of a label.
const BARS: usize = 60;
const CAUSES: usize = 24;
const LETTERS: usize = 44;

/// A chart of horizontal bars.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Chart {
    title: String,
    note: String,
    width: u64,
    height: u64,
    bars: Vec<Bar>,
}

/// A bar: parts from left to right.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct Bar {
    label: String,
    full: String,
    y: u64,
    parts: Vec<Part>,
    end: u64,
    text: String,
}

/// A part of a bar, in tenths of a unit of the drawing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct Part {
    class: &'static str,
    x: u64,
    width: u64,
    title: String,
}

/// A bar before it is drawn: label, parts with class and value, text after it.
struct Row {
    label: String,
    parts: Vec<(&'static str, u64)>,
    text: String,
}

/// The pass rate by scope, a chart for each subject.
pub(super) fn scopes(runs: &[Run], labels: &[String]) -> Vec<Chart> {
    let chart = |(run, label): (&Run, &String)| {
        let tallies = tally::by_scope(run);
        let judged = tallies.into_iter().filter(|(_, tally)| tally.judged() > 0);
        let rows: Vec<Row> = judged
            .map(|((family, scope), tally)| Row {
                label: format!("{family}: {scope}"),
                text: format!("{} of {}", tally.rate().unwrap_or_default(), tally.judged()),
                parts: shares(tally),
            })
            .collect();
        (!rows.is_empty())
            .then(|| drawn(format!("Pass rate by scope: {label}"), "checks that were judged", rows))
    };
    runs.iter().zip(labels).filter_map(chart).collect()
}

/// The same length for every bar: shares of what was judged, in a thousandth.
fn shares(tally: Tally) -> Vec<(&'static str, u64)> {
    let share = |count: u64| (count * 1000).checked_div(tally.judged()).unwrap_or(0);
    // What failed is visible, however little it is.
    let visible = |count: u64| if count > 0 { share(count).max(8) } else { 0 };
    let (fail, known) = (visible(tally.fail), visible(tally.known));
    vec![("pass", 1000_u64.saturating_sub(fail + known)), ("known", known), ("fail", fail)]
}

/// How many checks fail for which cause.
pub(super) fn kinds(causes: &[Cause<'_>], labels: &[String]) -> Option<Chart> {
    let row = |cause: &Cause<'_>| Row {
        label: cause.kind.strip_prefix("fail: ").unwrap_or(&cause.kind).to_owned(),
        parts: vec![("fail", cause.failures.len() as u64)],
        text: shortened(&format!(
            "{} {}, {}",
            cause.failures.len(),
            cause.protocol,
            labels.get(cause.run).map_or("", String::as_str)
        )),
    };
    let rows: Vec<Row> = causes.iter().take(CAUSES).map(row).collect();
    let note = match causes.len().saturating_sub(CAUSES) {
        0 => String::from("failing checks, by what differs"),
        more => format!("failing checks, by what differs; {more} rarer kinds are not shown"),
    };
    (!rows.is_empty()).then(|| drawn("Kinds of divergence".into(), &note, rows))
}

/// Bits of trace for each instruction of the real programs.
pub(super) fn bits(runs: &[Run], labels: &[String]) -> Vec<Chart> {
    let chart = |(run, label): (&Run, &String)| {
        let rows: Vec<Row> = run
            .programs
            .iter()
            .filter(|program| program.instructions > 0)
            .map(|program| {
                let milli = program.bytes.saturating_mul(8000) / program.instructions;
                Row {
                    label: program.name(),
                    parts: vec![("value", milli)],
                    text: format!("{}.{:03} bits", milli / 1000, milli % 1000),
                }
            })
            .collect();
        (!rows.is_empty()).then(|| {
            drawn(format!("Bits per instruction: {label}"), "real programs and parameter sets", rows)
        })
    };
    runs.iter().zip(labels).filter_map(chart).collect()
}

/// How many saboteurs of each protocol the cases detect.
pub(super) fn kills(kills: &Matrices) -> Chart {
    let row = |matrix: &Matrix| {
        let all = matrix.saboteurs.len() as u64;
        let survived = matrix.saboteurs.iter().filter(|it| it.killers.is_empty()).count() as u64;
        let detected = all.saturating_sub(survived);
        let tally = Tally { pass: detected, fail: survived, ..Tally::default() };
        let text = format!("{detected} of {all}");
        Row { label: matrix.protocol().to_owned(), parts: shares(tally), text }
    };
    let rows = kills.families.iter().filter(|matrix| !matrix.saboteurs.is_empty()).map(row).collect();
    drawn(String::from("Saboteurs that are detected"), "deliberate bugs, by protocol", rows)
}

/// How many executed mutants of each module the suite detects.
pub(super) fn mutants(mutants: &Mutants) -> Chart {
    let row = |row: &ModuleRow| {
        let detected = row.killed.saturating_add(row.timed_out);
        let tally = Tally { pass: detected, known: row.equivalent, fail: row.survived, ..Tally::default() };
        let rate = row.of_executed().unwrap_or_default();
        let idle =
            if row.not_executed > 0 { format!(", {} not executed", row.not_executed) } else { String::new() };
        let text = format!("{rate} of {}{idle}", detected.saturating_add(row.survived));
        Row { label: format!("{}: {}", row.package, row.module), parts: shares(tally), text }
    };
    let rows = mutants.rows.iter().filter(|row| row.judged > 0).map(row).collect();
    drawn(
        String::from("Mutants that are detected"),
        "executed ones, by module; known: no change of behaviour",
        rows,
    )
}

/// Throughput of the reference and of a peer.
pub(super) fn throughput(performance: &Performance) -> Chart {
    let mut rows = Vec::new();
    for measured in &performance.measurements {
        let unit = &measured.task.unit;
        let mut row = |side: &str, class, value: f64, ratio: String| {
            rows.push(Row {
                label: format!("{} {} {side}", measured.workload, measured.task.title).trim_end().to_owned(),
                parts: vec![(class, rounded(value / 1e3))],
                text: format!("{:.1} M {unit}/s{ratio}", value / 1e6),
            });
        };
        let ratio = measured.ratio.map(|ratio| format!(", {ratio:.1}x")).unwrap_or_default();
        row("", "value", measured.reference, ratio);
        if let Some(peer) = measured.peer {
            row("(peer)", "peer", peer, String::new());
        }
    }
    let peer = performance.peer.as_deref().unwrap_or("no peer");
    let note = format!("medians of {} rounds; peer: {peer}", performance.rounds);
    drawn(format!("Throughput: {}", performance.family), &note, rows)
}

/// Not negative, and no more than a chart can draw.
fn rounded(value: f64) -> u64 {
    // A conversion of a float saturates.
    value.round() as u64
}

fn drawn(title: String, note: &str, mut rows: Vec<Row>) -> Chart {
    let left_out = rows.len().saturating_sub(BARS);
    rows.truncate(BARS);
    let note =
        if left_out > 0 { format!("{note}; {left_out} more bars are not shown") } else { note.to_owned() };
    let sum = |row: &Row| row.parts.iter().fold(0_u64, |sum, (_, value)| sum.saturating_add(*value));
    let most = rows.iter().map(sum).max().unwrap_or(0).max(1);
    let bar = |(index, row): (usize, Row)| {
        let mut x = 0;
        let mut parts = Vec::new();
        for (class, value) in row.parts.into_iter().filter(|(_, value)| *value > 0) {
            let length = u128::from(value) * u128::from(COLUMNS.1 * 10) / u128::from(most);
            let width = u64::try_from(length).unwrap_or(0).max(10);
            parts.push(Part {
                class,
                x: COLUMNS.0 * 10 + x,
                width,
                title: format!("{}: {class}", row.label),
            });
            x += width;
        }
        let end = COLUMNS.0 + x / 10 + 6;
        Bar {
            label: shortened(&row.label),
            full: row.label,
            y: index as u64 * STEP,
            parts,
            end,
            text: row.text,
        }
    };
    let bars: Vec<Bar> = rows.into_iter().enumerate().map(bar).collect();
    let width = COLUMNS.0 + COLUMNS.1 + COLUMNS.2;
    Chart { title, note, width, height: bars.len() as u64 * STEP, bars }
}

/// The end is left out of what is too long.
fn shortened(label: &str) -> String {
    if label.chars().count() <= LETTERS {
        return label.to_owned();
    }
    let short: String = label.chars().take(LETTERS - 1).collect();
    format!("{short}…")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::causes::causes;
    use crate::sample;

    #[test]
    fn bars_are_as_long_as_their_values() {
        let runs = [sample::small("acme")];
        let chart = kinds(&causes(&runs), &[String::from("acme 2.0")]).expect("failures");
        let widths: Vec<u64> = chart.bars.iter().map(|bar| bar.parts[0].width).collect();
        assert_eq!(widths, [2000, 1000]);
        assert_eq!(chart.bars[0].text, "2 riscv_etrace, acme 2.0");
        assert_eq!(chart.bars[0].full, "events: retire / fault missing-outcome");
        assert_eq!(shortened(&"x".repeat(50)).chars().count(), LETTERS);
        let bits = bits(&runs, &[String::from("acme 2.0")]);
        assert_eq!(bits[0].bars[0].text, "1.000 bits");
    }

    #[test]
    fn one_failure_in_thousands_is_visible() {
        let parts = shares(Tally { pass: 9999, fail: 1, known: 0, skip: 0 });
        assert_eq!(parts, [("pass", 992), ("known", 0), ("fail", 8)]);
        assert_eq!(shares(Tally::default()).iter().map(|(_, share)| share).sum::<u64>(), 1000);
    }

    #[test]
    fn numbers_that_are_none_draw_nothing() {
        assert_eq!([rounded(f64::NAN), rounded(-1.0), rounded(2.5)], [0, 0, 3]);
        assert_eq!(rounded(f64::INFINITY), u64::MAX);
    }
}
