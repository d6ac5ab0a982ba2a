//! Plain tables: aligned columns, no borders, no trailing blanks.

use comfy_table::{CellAlignment, Table, presets};

/// A table with these headings; those that start with `>` are aligned to the right.
pub(crate) fn table(headings: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(headings.iter().map(|heading| heading.trim_start_matches('>')));
    for (index, heading) in headings.iter().enumerate() {
        if let Some(column) = table.column_mut(index) {
            let left = if index == 0 { 0 } else { 1 };
            column.set_padding((left, 1));
            if heading.starts_with('>') {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
    }
    table
}

/// The lines of the table, each with the prefix `indent`.
pub(crate) fn render(table: &Table, indent: &str) -> String {
    table.lines().map(|line| format!("{indent}{}\n", line.trim_end())).collect()
}
