//! Signals of the ingress port that a simulation of a core wrote down, as the rows of one case.

mod csv;
mod vcd;

use std::collections::BTreeMap;
use std::io::BufRead;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::generate::settings;
use crate::row::{BLOCK, HEAD};
use crate::{Control, Device, Op, Problem, Row, Slot};

/// Most clocks of a dump.
const MOST_CLOCKS: usize = 16_000_000;

/// Columns that rows do not have: the port has something, and tracing is switched on.
const EXTRA: [&str; 2] = ["valid", "enable"];

/// `[dump]` of `dut.toml`: where the signals are in the waveforms of the user's simulation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct DumpMap {
    /// The clock; signals are sampled just before its rising edges.
    pub clock: String,
    /// For each column its signal, `top.core.trace_iaddr` or with a part of it `[63:32]`; or a number.
    pub signals: BTreeMap<String, String>,
}

impl DumpMap {
    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// A column that does not exist.
    pub(crate) fn check(&self, blocks: usize) -> Result<(), (&'static str, String)> {
        match self.signals.keys().find(|name| column(name, blocks).is_none()) {
            Some(name) => Err(("signals", format!("has no column `{name}`"))),
            None => Ok(()),
        }
    }
}

/// What a column of a dump is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Column {
    /// A column of a row, by its index among all.
    Of(usize),
    Valid,
    Enable,
}

/// The column with this name: those of blocks are `iaddr_0`, `iaddr_1`, …; without a number it is block 0.
fn column(name: &str, blocks: usize) -> Option<Column> {
    if let Some(extra) = EXTRA.iter().position(|extra| *extra == name) {
        return Some(if extra == 0 { Column::Valid } else { Column::Enable });
    }
    if let Some(at) = HEAD.iter().position(|(head, _)| *head == name) {
        return Some(Column::Of(at));
    }
    let (base, block) = match name.rsplit_once('_') {
        Some((base, block)) => (base, block.parse().ok().filter(|block| *block < blocks)?),
        None => (name, 0),
    };
    let at = BLOCK.iter().position(|(of_block, _)| *of_block == base)?;
    Some(Column::Of(HEAD.len() + block * BLOCK.len() + at))
}

/// Reads a dump: comma-separated values, or a value change dump if its name ends with `.vcd`.
///
/// # Errors
///
/// What cannot be read, with its line.
pub fn read(file: &Path, device: &Device, input: &mut dyn BufRead) -> Result<Vec<Row>, Problem> {
    let name = file.display().to_string();
    let mut rows = Rows::new(device);
    let is_vcd = file.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("vcd"));
    let done = if is_vcd { vcd::read(input, device, &mut rows) } else { csv::read(input, device, &mut rows) };
    done.map_err(|(line, message)| Problem::at(&name, line, 1, message))?;
    rows.finish().map_err(|message| Problem::whole(name, message))
}

/// A line, and what is wrong with it.
type Wrong = (usize, String);

/// The rows of a case, from the clocks of a dump.
struct Rows<'a> {
    device: &'a Device,
    rows: Vec<Row>,
    enabled: bool,
    /// Rows are orders, not clocks.
    ordered: bool,
}

/// What is written down of one clock.
struct Sample {
    /// The values of all columns of a row.
    values: Vec<u64>,
    valid: bool,
    enable: bool,
}

impl<'a> Rows<'a> {
    fn new(device: &'a Device) -> Self {
        let blocks = device.blocks();
        let field = |(field, value): (u64, u64)| Row::order(Op::Field, field, value, blocks);
        let mut rows = vec![Row::order(Op::Case, 0, 0, blocks)];
        rows.extend(settings(device, &device.policy.filters).into_iter().map(field));
        Self { device, rows, enabled: false, ordered: false }
    }

    fn order(&mut self, op: Op, a: u64, b: u64) {
        self.rows.push(Row::order(op, a, b, self.device.blocks()));
    }

    fn switch(&mut self, on: bool) {
        if self.enabled == on {
            return;
        }
        let fields = [Control::Enable, Control::InstTracing];
        let fields = if on { fields } else { [Control::InstTracing, Control::Enable] };
        for field in fields {
            self.order(Op::Field, field as u64, on.into());
        }
        self.enabled = on;
    }

    /// Adds a clock.
    fn clock(&mut self, sample: &Sample) -> Result<(), String> {
        if self.rows.len() >= MOST_CLOCKS {
            return Err(format!("more than {MOST_CLOCKS} clocks"));
        }
        self.switch(sample.enable);
        let wide = Row::columns(self.device.blocks())
            .zip(&sample.values)
            .find(|((_, digits), value)| *digits < 16 && **value >> (4 * digits) != 0);
        if let Some(((name, _), value)) = wide {
            return Err(format!("column {name}: {value:#x} is too large"));
        }
        let mut row = Row::from_values(&sample.values).ok_or("the opcode is unknown")?;
        if !sample.valid {
            row.blocks = vec![Slot::default(); self.device.blocks()];
        }
        row.op = Op::Cycle;
        if row.blocks.iter().all(Slot::is_empty) && row.trigger == 0 {
            let status = row.status;
            match self.rows.last_mut() {
                Some(last) if last.op == Op::Idle && last.status == status => last.cause += 1,
                _ => self.rows.push(Row { status, ..Row::order(Op::Idle, 1, 0, self.device.blocks()) }),
            }
        } else {
            self.rows.push(row);
        }
        Ok(())
    }

    /// An order of a pack: a dump with the column `op` may have them.
    fn ordered(&mut self, mut row: Row) -> Result<(), String> {
        match row.op {
            Op::Case | Op::End | Op::Drain => return Ok(()),
            Op::Field if row.cause == Control::InstTracing as u64 => self.enabled = row.tval != 0,
            _ => {}
        }
        if self.rows.len() >= MOST_CLOCKS || (row.op == Op::Idle && row.cause > MOST_CLOCKS as u64) {
            return Err(format!("more than {MOST_CLOCKS} clocks"));
        }
        row.number = 0;
        self.ordered = true;
        self.rows.push(row);
        Ok(())
    }

    fn finish(mut self) -> Result<Vec<Row>, String> {
        if !self.ordered && !self.rows.iter().any(|row| row.op == Op::Cycle) {
            return Err(String::from("nothing retires in it"));
        }
        self.switch(false);
        self.order(Op::Drain, 4096, 64);
        Ok(self.rows)
    }
}

/// A decimal number, or a hexadecimal one that begins with `0x`.
fn number(text: &str) -> Option<u64> {
    let (digits, radix) = text.strip_prefix("0x").map_or((text, 10), |digits| (digits, 16));
    if digits.starts_with('+') {
        return None;
    }
    u64::from_str_radix(digits, radix).ok()
}
