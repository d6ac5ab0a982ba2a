//! Comma-separated values: one clock in a line, columns as in packs.

use std::io::{BufRead, Read as _};

use super::{Column, Rows, Sample, Wrong, column};
use crate::row::HEAD;
use crate::{Device, Op, Row};

/// The longest line that is read; longer ones are an error, not an allocation.
const LONGEST_LINE: u64 = 65_536;

/// Reads a header line with the names of columns, then clocks. Numbers are decimal or begin with `0x`. With the column
/// `op` the lines are rows of a pack.
pub(super) fn read(input: &mut dyn BufRead, device: &Device, rows: &mut Rows<'_>) -> Result<(), Wrong> {
    let mut number = 0;
    let header = line(input, &mut number)?.unwrap_or_default();
    let columns = columns(&header, device.blocks()).map_err(|message| (1, message))?;
    let ordered = columns.contains(&Column::Of(1));
    while let Some(text) = line(input, &mut number)? {
        if text.trim().is_empty() {
            continue;
        }
        let wrong = |message: String| (number, message);
        let sample = sample(&text, &columns, device.blocks()).map_err(wrong)?;
        match sample.values.get(1).copied().and_then(Op::from_number).filter(|_| ordered) {
            Some(_) => {
                let row = Row::from_values(&sample.values).ok_or_else(|| wrong("no row".to_owned()))?;
                rows.ordered(row).map_err(wrong)?;
            }
            None if ordered => return Err(wrong(String::from("column op: the opcode is unknown"))),
            None => rows.clock(&sample).map_err(wrong)?,
        }
    }
    Ok(())
}

fn columns(header: &str, blocks: usize) -> Result<Vec<Column>, String> {
    let mut columns = Vec::new();
    for name in header.split(',').map(str::trim) {
        let column = column(name, blocks).ok_or_else(|| format!("no column is called `{name}`"))?;
        if columns.contains(&column) {
            return Err(format!("column {name}: it is named twice"));
        }
        columns.push(column);
    }
    for name in ["iaddr", "itype", "iretire"] {
        if !column(name, blocks).is_some_and(|column| columns.contains(&column)) {
            return Err(format!("the header line names no column {name}_0"));
        }
    }
    Ok(columns)
}

fn sample(text: &str, columns: &[Column], blocks: usize) -> Result<Sample, String> {
    let fields: Vec<&str> = text.split(',').map(str::trim).collect();
    if fields.len() != columns.len() {
        return Err(format!("{} fields, but {} columns", fields.len(), columns.len()));
    }
    let count = HEAD.len() + blocks * crate::row::BLOCK.len();
    let mut sample = Sample { values: vec![0; count], valid: true, enable: true };
    for (column, field) in columns.iter().zip(fields) {
        let value = super::number(field).ok_or_else(|| format!("`{field}` is no number"))?;
        match column {
            Column::Valid => sample.valid = value != 0,
            Column::Enable => sample.enable = value != 0,
            Column::Of(at) => {
                if let Some(slot) = sample.values.get_mut(*at) {
                    *slot = value;
                }
            }
        }
    }
    Ok(sample)
}

fn line(input: &mut dyn BufRead, number: &mut usize) -> Result<Option<String>, Wrong> {
    let mut line = Vec::new();
    *number += 1;
    let read = (&mut *input).take(LONGEST_LINE).read_until(b'\n', &mut line);
    read.map_err(|error| (*number, error.to_string()))?;
    if line.len() as u64 == LONGEST_LINE {
        return Err((*number, String::from("the line is too long")));
    }
    let text = String::from_utf8(line).map_err(|_| (*number, String::from("the line is no text")))?;
    Ok(Some(text).filter(|text| !text.is_empty()))
}
