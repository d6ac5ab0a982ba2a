//! Which case kills which saboteur, for people and for machines.

use std::fmt::Write as _;

use super::table::{render, table};
use crate::saboteurs::matrix::{Killer, Matrices, Matrix, NullRow, SaboteurRow};

/// How many killers of each saboteur the table names.
const NAMED: usize = 3;

/// Every family: its saboteurs and the cases that killed them, its null subjects, and errors. `cases`: also which
/// saboteurs each case kills.
#[must_use]
pub fn text(matrices: &Matrices, cases: bool) -> String {
    let mut text = String::new();
    for matrix in &matrices.families {
        family(&mut text, matrix);
        if cases {
            text.push_str(&by_case(matrix));
        }
        text.push('\n');
    }
    text
}

/// The same as indented JSON with a line break at the end.
///
/// # Errors
///
/// Those of the serializer; the types have no value that it refuses.
pub fn json(matrices: &Matrices) -> Result<String, serde_json::Error> {
    let mut text = serde_json::to_string_pretty(matrices)?;
    text.push('\n');
    Ok(text)
}

fn family(text: &mut String, matrix: &Matrix) {
    let _ = writeln!(text, "{}, {} cases", matrix.protocol, matrix.cases);
    let mut rows = table(&[">", "saboteur", "side", ">killed by", ">judged by", "first killers", "bug"]);
    for (index, row) in matrix.saboteurs.iter().enumerate() {
        rows.add_row([
            (index + 1).to_string(),
            row.name.clone(),
            row.side.name().to_owned(),
            if row.is_killed() { row.killers.len().to_string() } else { "SURVIVED".to_owned() },
            row.judged.to_string(),
            named(&row.killers),
            row.bug.clone(),
        ]);
    }
    text.push_str(&render(&rows, "  "));

    let mut rows = table(&["null subject", ">passed", ">of must cases", "which"]);
    for NullRow { name, judged, passed } in &matrix.nulls {
        rows.add_row([name.clone(), passed.len().to_string(), judged.to_string(), named(passed)]);
    }
    let _ = writeln!(text);
    text.push_str(&render(&rows, "  "));
    let _ = writeln!(text);

    let survivors: Vec<&str> = matrix.survivors().map(|row| row.name.as_str()).collect();
    let killed = matrix.saboteurs.len() - survivors.len();
    let _ = writeln!(text, "  {killed} of {} saboteurs killed", matrix.saboteurs.len());
    if !survivors.is_empty() {
        let _ = writeln!(text, "  survivors: {}", survivors.join(", "));
    }
    let fragile: Vec<&str> = matrix.fragile().map(|row| row.name.as_str()).collect();
    if !fragile.is_empty() {
        let _ =
            writeln!(text, "  fragile, killed by one case alone: {} ({})", fragile.len(), fragile.join(", "));
    }
    let irreplaceable = matrix.irreplaceable();
    if !irreplaceable.is_empty() {
        let cases: Vec<&str> = irreplaceable.keys().copied().collect();
        let _ = writeln!(text, "  cases that alone kill a saboteur: {}", cases.join(" "));
    }
}

fn named(killers: &[Killer]) -> String {
    let mut named: Vec<&str> = killers.iter().take(NAMED).map(|killer| killer.case.as_str()).collect();
    if killers.len() > NAMED {
        named.push("…");
    }
    named.join(" ")
}

/// One line for each case that kills anybody: the numbers of the saboteurs, those that it alone kills in brackets.
fn by_case(matrix: &Matrix) -> String {
    let alone =
        |index: usize| matrix.saboteurs.get(index).map(|row: &SaboteurRow| row.killers.len()) == Some(1);
    let mut text = String::from(
        "\n  case: numbers of the saboteurs that it kills, in brackets those that it alone kills\n",
    );
    for (case, killed) in matrix.by_case() {
        let numbers: Vec<String> = killed
            .into_iter()
            .map(|index| if alone(index) { format!("[{}]", index + 1) } else { (index + 1).to_string() })
            .collect();
        let _ = writeln!(text, "  {case}: {}", numbers.join(" "));
    }
    text
}
