//! Value change dumps: signals are sampled just before the rising edges of the clock.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read};

use vcd::{Command, IdCode, Parser, Value};

use super::{Column, Rows, Sample, Wrong, column, number};
use crate::Device;
use crate::row::{BLOCK, HEAD};

/// Deepest nesting of scopes.
const DEEPEST: usize = 256;

/// A signal, or a part of it; or a number.
#[derive(Clone, Copy, Debug)]
enum Source {
    Constant(u64),
    /// The code, the lowest bit and how many bits.
    Signal(IdCode, usize, usize),
}

/// The values of the signals that are needed, lowest bit first.
type Values = HashMap<IdCode, Vec<bool>>;

/// Reads the clocks of a dump by the map of `dut.toml`. Bits that are X or Z are 0.
pub(super) fn read(input: &mut dyn BufRead, device: &Device, rows: &mut Rows<'_>) -> Result<(), Wrong> {
    if device.dump.is_empty() {
        return Err((1, String::from("`[dump]` of the device does not say where the signals are")));
    }
    let mut parser = Parser::new(BufReader::new(input));
    let names = header(&mut parser)?;
    let find = |name: &str| source(name, &names).ok_or_else(|| (1, format!("it has no signal `{name}`")));
    let Source::Signal(clock, clock_bit, _) = find(&device.dump.clock)? else {
        return Err((1, String::from("`clock` must be a signal")));
    };
    let mut columns = Vec::new();
    for (name, signal) in &device.dump.signals {
        if let Some(column) = column(name, device.blocks()) {
            columns.push((column, find(signal)?));
        }
    }
    for name in ["iaddr", "itype", "iretire"] {
        let wanted = column(name, device.blocks());
        if !columns.iter().any(|(column, _)| Some(*column) == wanted) {
            return Err((1, format!("`[dump.signals]` names no signal for {name}")));
        }
    }
    let sources = columns.iter().map(|(_, source)| *source).chain([Source::Signal(clock, clock_bit, 1)]);
    let mut values: Values = sources
        .filter_map(|source| match source {
            Source::Signal(code, ..) => Some((code, Vec::new())),
            Source::Constant(_) => None,
        })
        .collect();
    let clock = Source::Signal(clock, clock_bit, 1);
    let count = HEAD.len() + device.blocks() * BLOCK.len();
    let mut changes: Values = HashMap::new();
    loop {
        let command = parser.next().transpose();
        let line = usize::try_from(parser.line()).unwrap_or(usize::MAX);
        let command = command.map_err(|error| (line, error.to_string()))?;
        match command {
            Some(Command::ChangeScalar(code, value)) if values.contains_key(&code) => {
                changes.insert(code, vec![value == Value::V1]);
            }
            Some(Command::ChangeVector(code, vector)) if values.contains_key(&code) => {
                let mut bits: Vec<bool> = vector.iter().map(|value| value == Value::V1).collect();
                bits.reverse();
                changes.insert(code, bits);
            }
            Some(Command::Timestamp(_)) | None => {
                // The values before the edge are those that registers of this clock sample.
                let before = clock.value(&values);
                let sampled = (before == 0).then(|| sample(&columns, &values, count));
                values.extend(changes.drain());
                if let Some(sample) = sampled.filter(|_| clock.value(&values) == 1) {
                    rows.clock(&sample).map_err(|message| (line, message))?;
                }
                if command.is_none() {
                    return Ok(());
                }
            }
            _ => {}
        }
    }
}

fn sample(columns: &[(Column, Source)], values: &Values, count: usize) -> Sample {
    let mut sample = Sample { values: vec![0; count], valid: true, enable: true };
    for (column, source) in columns {
        let value = source.value(values);
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
    sample
}

impl Source {
    fn value(self, values: &Values) -> u64 {
        match self {
            Self::Constant(value) => value,
            Self::Signal(code, lowest, width) => {
                let bits = values.get(&code).map_or(&[][..], Vec::as_slice);
                let bits = bits.iter().skip(lowest).take(width.min(64));
                (0..).zip(bits).fold(0, |value, (at, bit)| value | u64::from(*bit) << at)
            }
        }
    }
}

/// Signals by their full names: the code and the number of its lowest bit.
type Names = HashMap<String, (IdCode, i32)>;

/// Reads declarations without recursion, whatever the file nests.
fn header<R: Read>(parser: &mut Parser<BufReader<R>>) -> Result<Names, Wrong> {
    let (mut names, mut scopes) = (Names::new(), Vec::new());
    loop {
        let command = parser.next().transpose();
        let line = usize::try_from(parser.line()).unwrap_or(usize::MAX);
        match command.map_err(|error| (line, error.to_string()))? {
            Some(Command::ScopeDef(_, name)) if scopes.len() < DEEPEST => scopes.push(name),
            Some(Command::ScopeDef(..)) => {
                return Err((line, format!("more than {DEEPEST} scopes in each other")));
            }
            Some(Command::Upscope) => {
                scopes.pop();
            }
            Some(Command::VarDef(_, _, code, name, index)) => {
                let lowest = match index {
                    Some(vcd::ReferenceIndex::Range(high, low)) => high.min(low),
                    Some(vcd::ReferenceIndex::BitSelect(bit)) => bit,
                    None => 0,
                };
                let name: Vec<&str> = scopes.iter().map(String::as_str).chain([name.as_str()]).collect();
                names.insert(name.join("."), (code, lowest));
            }
            Some(Command::Enddefinitions) => return Ok(names),
            Some(_) => {}
            None => return Err((line, String::from("it ends before `$enddefinitions`"))),
        }
    }
}

/// The source with this name: a number, a signal, or a part of one.
fn source(name: &str, names: &Names) -> Option<Source> {
    if let Some(value) = number(name) {
        return Some(Source::Constant(value));
    }
    if let Some((code, _)) = names.get(name) {
        return Some(Source::Signal(*code, 0, 64));
    }
    let (whole, part) = name.strip_suffix(']')?.rsplit_once('[')?;
    let (code, lowest) = *names.get(whole)?;
    let (high, low): (i32, i32) = match part.split_once(':') {
        Some((high, low)) => (high.parse().ok()?, low.parse().ok()?),
        None => (part.parse().ok()?, part.parse().ok()?),
    };
    let first = usize::try_from(low.checked_sub(lowest)?).ok()?;
    let width = usize::try_from(high.checked_sub(low)?.checked_add(1)?).ok()?;
    Some(Source::Signal(code, first, width))
}
