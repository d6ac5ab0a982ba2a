//! Signals of the ingress port that a simulation wrote down, one clock in a row, as stimulus.

use std::io::{BufRead, Read};

use traceproof_vectors::Address;
use traceproof_vectors::riscv_etrace::{Block, Cycle, Itype, Parameters, Stimulus};

use super::rows::number;
use crate::family::{ExecutionError, FileSummary};

/// The most clocks of an idle row, so that one row cannot take for ever.
const MOST_IDLE: u64 = 1 << 24;

/// The longest line that is read; longer ones are an error, not an allocation.
const LONGEST_LINE: u64 = 65_536;

/// The columns that all blocks share.
const SHARED: [&str; 12] =
    ["row", "op", "priv", "ctype", "trigger", "status", "cause", "tval", "context", "time", "epc", "handler"];

/// The columns of a block.
const OF_BLOCK: [&str; 5] = ["iaddr", "itype", "ilastsize", "flags", "iretire"];

/// What an `op` orders; the numbers are those of packs.
const CASE: u64 = 1;
const CYCLE: u64 = 2;
const IDLE: u64 = 3;
const FIELD: u64 = 4;
const READY: u64 = 5;

/// The fields of which the policy has the value, or that do not matter.
const SETTINGS: [u64; 5] = [0x01, 0x02, 0x04, 0x05, 0x0c];
const INST_TRACING: u64 = 0x03;
const NO_ADDR_DIFF: u64 = 0x06;

/// Reads comma-separated rows with a header line that names columns of packs (docs/pack.md): `iaddr`, `itype` and
/// `iretire`, those of further blocks with `_1`, `_2`, and any of the others, which are 0 if they are not there. Numbers
/// are decimal or begin with `0x`. Without the column `op` every row is a clock, and tracing is on from the first to the
/// last.
///
/// # Errors
///
/// A row or column that cannot be read, with its line.
pub(super) fn drive(
    input: &mut dyn BufRead,
    parameters: &Parameters,
    each: &mut dyn FnMut(&Stimulus),
) -> Result<FileSummary, ExecutionError> {
    let mut lines = LineReader { input, number: 0 };
    let columns = Columns::read(&mut lines)?;
    let mut modes = parameters.modes;
    let (mut cases, mut summary) = (0, FileSummary::default());
    if !columns.orders {
        each(&Stimulus::Enable(true));
    }
    while let Some(line) = lines.next_line()? {
        if line.trim().is_empty() {
            continue;
        }
        let number = lines.number;
        let wrong = |message: String| ExecutionError::Record { number, message };
        let row = columns.row(&line).map_err(wrong)?;
        let op = if columns.orders { row.shared("op") } else { CYCLE };
        let (a, b) = (row.shared("cause"), row.shared("tval"));
        match op {
            CYCLE => each(&Stimulus::Cycle(row.cycle().map_err(wrong)?)),
            IDLE if a > MOST_IDLE => {
                return Err(wrong(format!("column cause: {a} idle clocks are too many")));
            }
            IDLE => (0..a).for_each(|_| each(&Stimulus::Cycle(row.idle()))),
            FIELD if a == INST_TRACING => each(&Stimulus::Enable(b != 0)),
            FIELD if a == NO_ADDR_DIFF => {
                modes.full_address = b != 0;
                each(&Stimulus::Modes(modes));
            }
            FIELD if SETTINGS.contains(&a) => {}
            FIELD => return Err(wrong(format!("column cause: the control field {a:#04x} is not supported"))),
            READY => each(&Stimulus::Transport(a != 0)),
            CASE if cases > 0 => return Err(wrong(String::from("column op: a file holds one case"))),
            CASE => cases += 1,
            _ => {}
        }
        summary.steps += u64::from(op == CYCLE);
    }
    if !columns.orders {
        each(&Stimulus::Enable(false));
    }
    Ok(summary)
}

/// Lines of a file, without their ends.
struct LineReader<'a> {
    input: &'a mut dyn BufRead,
    number: u64,
}

impl LineReader<'_> {
    fn next_line(&mut self) -> Result<Option<String>, ExecutionError> {
        let mut line = Vec::new();
        self.number += 1;
        (&mut *self.input).take(LONGEST_LINE).read_until(b'\n', &mut line)?;
        let wrong =
            |message: &str| ExecutionError::Record { number: self.number, message: message.to_owned() };
        if line.is_empty() {
            return Ok(None);
        }
        if line.len() as u64 == LONGEST_LINE {
            return Err(wrong("the line is too long"));
        }
        let text = String::from_utf8(line).map_err(|_| wrong("the line is no text"))?;
        Ok(Some(text.trim_end_matches(['\r', '\n']).to_owned()))
    }
}

/// A decimal number, or a hexadecimal one that begins with `0x`.
fn value_of(field: &str) -> Option<u64> {
    let radix = if field.starts_with("0x") { 16 } else { 10 };
    number(field, radix)
}

/// What a column holds: its name, and the block if it is of one.
type Column = (&'static str, Option<usize>);

struct Columns {
    all: Vec<Column>,
    blocks: usize,
    /// There is a column `op`.
    orders: bool,
}

impl Columns {
    fn read(lines: &mut LineReader<'_>) -> Result<Self, ExecutionError> {
        let header = lines.next_line()?.unwrap_or_default();
        let wrong = |message: String| ExecutionError::Record { number: 1, message };
        let mut all: Vec<Column> = Vec::new();
        for name in header.split(',').map(str::trim) {
            let column = column_of(name).ok_or_else(|| wrong(format!("no column is called `{name}`")))?;
            if all.contains(&column) {
                return Err(wrong(format!("column {name}: it is named twice")));
            }
            all.push(column);
        }
        let blocks = all.iter().filter_map(|(_, block)| *block).max().map_or(0, |last| last + 1);
        for block in 0..blocks.max(1) {
            for name in ["iaddr", "itype", "iretire"] {
                if !all.contains(&(name, Some(block))) {
                    return Err(wrong(format!("the header line names no column {name}_{block}")));
                }
            }
        }
        let orders = all.contains(&("op", None));
        Ok(Self { all, blocks, orders })
    }

    fn row(&self, line: &str) -> Result<Row<'_>, String> {
        let fields: Vec<&str> = line.split(',').map(str::trim).collect();
        if fields.len() != self.all.len() {
            return Err(format!("{} fields, but {} columns", fields.len(), self.all.len()));
        }
        let values = self.all.iter().zip(fields).map(|((name, _), field)| {
            value_of(field).ok_or_else(|| format!("column {name}: `{field}` is no number"))
        });
        Ok(Row { columns: self, values: values.collect::<Result<_, _>>()? })
    }
}

/// The column with a name; `iaddr` is `iaddr_0`.
fn column_of(name: &str) -> Option<Column> {
    if let Some(shared) = SHARED.iter().find(|shared| **shared == name) {
        return Some((shared, None));
    }
    let (base, block) = match name.rsplit_once('_') {
        Some((base, number)) => (base, number.parse().ok().filter(|block| *block < 64)?),
        None => (name, 0),
    };
    OF_BLOCK.iter().find(|of_block| **of_block == base).map(|of_block| (*of_block, Some(block)))
}

struct Row<'a> {
    columns: &'a Columns,
    values: Vec<u64>,
}

impl Row<'_> {
    fn value(&self, column: Column) -> u64 {
        let index = self.columns.all.iter().position(|known| *known == column);
        index.and_then(|index| self.values.get(index)).copied().unwrap_or(0)
    }

    fn shared(&self, name: &'static str) -> u64 {
        self.value((name, None))
    }

    /// A value that has to fit the signal.
    fn narrow<T: TryFrom<u64>>(&self, column: Column) -> Result<T, String> {
        let value = self.value(column);
        T::try_from(value).map_err(|_| format!("column {}: {value:#x} is too large", column.0))
    }

    fn cycle(&self) -> Result<Cycle, String> {
        let (trigger, status) = (self.shared("trigger"), self.shared("status"));
        let mut cycle = Cycle {
            cause: self.shared("cause"),
            tval: self.shared("tval"),
            privilege: self.narrow(("priv", None))?,
            context: self.shared("context"),
            time: self.shared("time"),
            ctype: self.narrow(("ctype", None))?,
            trace_on: trigger & 1 != 0,
            trace_off: trigger & 2 != 0,
            halted: status & 1 != 0,
            reset: status & 2 != 0,
            ..Cycle::default()
        };
        for block in 0..self.columns.blocks {
            cycle.blocks.extend(self.block(block)?);
        }
        Ok(cycle)
    }

    /// A block; `None` if it is empty.
    fn block(&self, block: usize) -> Result<Option<Block>, String> {
        let of = |name| (name, Some(block));
        let (itype, flags) = (self.value(of("itype")), self.value(of("flags")));
        let itype = usize::try_from(itype).ok().and_then(|itype| Itype::ALL.get(itype).copied());
        let itype = itype.ok_or("column itype: it has 4 bits")?;
        let block = Block {
            itype,
            iaddr: Address(self.value(of("iaddr"))),
            iretire: self.narrow(of("iretire"))?,
            ilastsize: self.narrow(of("ilastsize"))?,
            sijump: flags & 1 != 0,
            notify: flags & 2 != 0,
        };
        Ok(Some(block).filter(|block| itype != Itype::Nothing || block.iretire > 0))
    }

    /// A clock with an empty port.
    fn idle(&self) -> Cycle {
        let status = self.shared("status");
        Cycle { halted: status & 1 != 0, reset: status & 2 != 0, ..Cycle::default() }
    }
}

#[cfg(test)]
mod tests {
    use traceproof_encoder_model::riscv_etrace::Encoder;
    use traceproof_vectors::riscv_etrace::{Policy, RiscvEtrace};
    use traceproof_vectors::{Encoder as _, Log};

    use super::*;

    fn wire(text: &str) -> Result<Vec<u8>, String> {
        let (mut encoder, mut log) = (Encoder::default(), Log::<RiscvEtrace>::default());
        let parameters = Parameters::default();
        encoder.begin(&parameters, &Policy::default()).expect("default parameters");
        let each = &mut |stimulus: &Stimulus| encoder.step(stimulus, &mut log);
        drive(&mut text.as_bytes(), &parameters, each).map_err(|error| error.to_string())?;
        Ok(log.wire)
    }

    /// Support; start at 0x1000; a difference of +4; support with `ended_rep`: by hand from ET 7.
    const EXPECTED: [u8; 10] = [1, 0x1f, 3, 0x73, 0x00, 0x04, 1, 0x0a, 1, 0x4f];

    #[test]
    fn signals_become_packets() {
        let ienable_is_0 = wire("iaddr,itype,iretire,priv\n0x1000,0,1,3\n0x1004,0,1,3\n");
        assert_eq!(ienable_is_0, Ok(EXPECTED.to_vec()));
        let ordered = "op,cause,tval,iaddr_0,itype_0,iretire_0,ilastsize_0,priv\n1,0,0,0,0,0,0,0\n4,3,1,0,0,0,0,0\n\
                       2,0,0,0x1000,0,1,1,3\n3,5,0,0,0,0,0,0\n2,0,0,4100,0,1,1,3\n4,3,0,0,0,0,0,0\n6,9,9,0,0,0,0,0\n";
        assert_eq!(wire(ordered), Ok(EXPECTED.to_vec()));
    }

    #[test]
    fn every_column_is_a_signal() {
        let header = "iaddr,itype,iretire,ilastsize,flags,iaddr_1,itype_1,iretire_1,priv,ctype,trigger,status,cause,\
                      tval,context,time,epc,handler";
        let cycle = |row: &str| {
            let mut cycles = Vec::new();
            let each = &mut |stimulus: &Stimulus| {
                if let Stimulus::Cycle(cycle) = stimulus {
                    cycles.push(cycle.clone());
                }
            };
            let text = format!("{header}\n{row}\n");
            drive(&mut text.as_bytes(), &Parameters::default(), each).expect(row);
            cycles.remove(0)
        };
        let (first, second) = (Address(0x10), Address(0x20));
        let blocks = vec![
            Block {
                itype: Itype::Return,
                iaddr: first,
                iretire: 3,
                ilastsize: 1,
                sijump: true,
                notify: false,
            },
            Block {
                itype: Itype::Interrupt,
                iaddr: second,
                iretire: 2,
                ilastsize: 0,
                sijump: false,
                notify: false,
            },
        ];
        let expected = Cycle {
            blocks: blocks.into(),
            cause: 5,
            tval: 6,
            privilege: 1,
            context: 7,
            time: 8,
            ctype: 2,
            trace_on: true,
            halted: true,
            ..Cycle::default()
        };
        assert_eq!(cycle("0x10,13,3,1,1,0x20,2,2,1,2,1,1,5,6,7,8,9,10"), expected);
        let Cycle { blocks, trace_on, trace_off, halted, reset, .. } =
            cycle("0x10,0,1,0,2,0,0,0,1,2,2,2,5,6,7,8,9,10");
        assert_eq!((trace_on, trace_off, halted, reset), (false, true, false, true));
        assert!(matches!(blocks[..], [Block { sijump: false, notify: true, .. }]), "{blocks:?}");
    }

    #[test]
    fn errors_name_line_and_column() {
        for (text, message) in [
            ("iaddr,itype\n", "record 1: the header line names no column iretire_0"),
            ("iaddr,itype,iretire,pc\n", "record 1: no column is called `pc`"),
            ("iaddr,itype,iretire,iaddr_0\n", "record 1: column iaddr_0: it is named twice"),
            ("iaddr,itype,iretire\n1,2\n", "record 2: 2 fields, but 3 columns"),
            ("iaddr,itype,iretire\n0,16,1\n", "record 2: column itype: it has 4 bits"),
            ("iaddr,itype,iretire\n0,x,1\n", "record 2: column itype: `x` is no number"),
            ("op,cause,iaddr,itype,iretire\n4,9,0,0,0\n", "the control field 0x09 is not supported"),
        ] {
            let error = wire(text).expect_err(text);
            assert!(error.ends_with(message), "{error}");
        }
    }
}
