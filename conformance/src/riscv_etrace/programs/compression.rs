//! How few bits does an instruction cost?

use std::fmt::Write as _;

use super::{ParameterSet, ProgramResult, RoundTrip};

/// Bits on the wire per instruction, as a Markdown table: a row per parameter set, a column per program.
///
/// A round trip that failed has no number: what travelled was not all of the execution.
#[must_use]
pub fn compression_table(results: &[ProgramResult]) -> String {
    let mut programs: Vec<&str> = Vec::new();
    for result in results {
        if !programs.contains(&result.program.as_str()) {
            programs.push(&result.program);
        }
    }
    let mut table = format!("| parameter set | {} | |\n|---|", programs.join(" | "));
    table.push_str(&"--:|".repeat(programs.len()));
    table.push_str("---|\n");
    for set in ParameterSet::ALL {
        let cells: Vec<String> = programs
            .iter()
            .map(|program| {
                let result =
                    results.iter().find(|result| result.program == *program && result.set == set.name);
                cell(result)
            })
            .collect();
        // Writing to a string does not fail.
        let _ = writeln!(table, "| `{}` | {} | {} |", set.name, cells.join(" | "), set.about);
    }
    table
}

fn cell(result: Option<&ProgramResult>) -> String {
    match result.map(|result| &result.outcome) {
        Some(Ok(trip @ RoundTrip { divergence: None, .. })) => format!("{:.3}", trip.bits_per_instruction()),
        Some(_) => String::from("failed"),
        None => String::from("–"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn numbers_stand_where_they_belong() {
        let trip = RoundTrip { instructions: 16, traps: 0, packets: 2, bytes: 3, divergence: None };
        let result = ProgramResult {
            program: String::from("tiny"),
            set: "delta",
            outcome: Ok(trip),
            duration: Duration::ZERO,
        };
        let table = compression_table(&[result]);
        let rows: Vec<&str> = table.lines().take(4).collect();
        let expected = [
            "| parameter set | tiny | |",
            "|---|--:|---|",
            "| `delta` | 1.500 | the mandatory minimum: differential addresses |",
            "| `full_address` | – | absolute addresses |",
        ];
        assert_eq!(rows, expected);
    }
}
