//! Register traces in CSV: one row for each access or event.

use super::super::line::{self, Item};
use super::super::words::{NotationError, SPACES, Word};
use super::{ImportOptions, MAP, Records, on_line};
use crate::arm_ete_unit::{Access, Agent, Operation, Outcome, Packet, Register, Space};
use crate::case::CaseError;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Column {
    Time,
    Interface,
    Direction,
    Register,
    Address,
    Width,
    Value,
    Response,
    Space,
    Event,
}

const COLUMNS: [(&str, Column); 10] = [
    ("time", Column::Time),
    ("interface", Column::Interface),
    ("direction", Column::Direction),
    ("register", Column::Register),
    ("address", Column::Address),
    ("width", Column::Width),
    ("value", Column::Value),
    ("response", Column::Response),
    ("space", Column::Space),
    ("event", Column::Event),
];

const INTERFACES: [(&str, Agent); 6] = [
    ("system", Agent::System),
    ("external", Agent::External),
    ("memory", Agent::Memory),
    ("s", Agent::System),
    ("x", Agent::External),
    ("m", Agent::Memory),
];

const DIRECTIONS: [(&str, Operation); 4] =
    [("read", Operation::Read), ("write", Operation::Write), ("r", Operation::Read), ("w", Operation::Write)];

const RESPONSES: [(&str, Outcome); 5] = [
    ("ok", Outcome::Ok),
    ("error", Outcome::Error),
    ("undefined", Outcome::Undefined),
    ("trapped", Outcome::Trapped),
    ("unknown", Outcome::Unknown),
];

/// Reads every row. Blank lines and those that begin with `#` are passed over.
pub(super) fn read(text: &str, options: &ImportOptions, records: &mut Records) -> Result<(), CaseError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lines = text.lines().enumerate().filter(|(_, line)| {
        let line = line.trim_start();
        !line.is_empty() && !line.starts_with('#')
    });
    let Some((number, header)) = lines.next() else {
        let message = "a header line that names the columns is missing".to_owned();
        return Err(on_line(0)(NotationError { column: 1, message }));
    };
    let columns = columns(header).map_err(on_line(number))?;
    for (number, line) in lines {
        let row = Row::new(&columns, line).map_err(on_line(number))?;
        row.records(number, options, records).map_err(on_line(number))?;
    }
    Ok(())
}

fn columns(header: &str) -> Result<Vec<Column>, NotationError> {
    let mut columns = Vec::new();
    for word in fields(header) {
        let column = one_of(word, &COLUMNS)?;
        if columns.contains(&column) {
            return Err(word.wrong(format!("column `{}` is named twice", word.text)));
        }
        columns.push(column);
    }
    let has = |column| columns.contains(&column);
    let message = if has(Column::Register) && has(Column::Address) {
        "the columns `register` and `address` exclude each other"
    } else if has(Column::Interface)
        && has(Column::Direction)
        && (has(Column::Register) || has(Column::Address))
        || has(Column::Event)
    {
        return Ok(columns);
    } else {
        "the columns `interface`, `direction` and `register` (or `address`), or `event`, are needed"
    };
    Err(NotationError { column: 1, message: message.to_owned() })
}

/// The fields of a line, without the blanks around them.
fn fields(line: &str) -> impl Iterator<Item = Word<'_>> {
    let mut begin = 1;
    line.split(',').map(move |field| {
        let text = field.trim();
        let blanks = field.len() - field.trim_start().len();
        let column = begin + field.get(..blanks).unwrap_or_default().chars().count();
        begin += field.chars().count() + 1;
        Word { column, text }
    })
}

/// The value of a name, in any case.
fn one_of<T: Copy>(word: Word<'_>, names: &[(&str, T)]) -> Result<T, NotationError> {
    let found = names.iter().find(|(name, _)| name.eq_ignore_ascii_case(word.text));
    found.map(|(_, value)| *value).ok_or_else(|| {
        let names: Vec<&str> = names.iter().map(|(name, _)| *name).collect();
        word.wrong(format!("`{}` is none of {}", word.text, names.join(", ")))
    })
}

/// A row: its fields that are not empty.
struct Row<'a>(Vec<(Column, Word<'a>)>);

impl<'a> Row<'a> {
    fn new(columns: &[Column], line: &'a str) -> Result<Self, NotationError> {
        let mut found = Vec::new();
        let mut rest = fields(line);
        for (index, column) in columns.iter().enumerate() {
            let Some(word) = rest.next() else {
                let end = line.chars().count() + 1;
                let message = format!("the row has {index} fields, the header {}", columns.len());
                return Err(NotationError { column: end, message });
            };
            if word.text.contains('"') {
                return Err(word.wrong("fields are not quoted"));
            }
            if !word.text.is_empty() {
                found.push((*column, word));
            }
        }
        match rest.next() {
            None => Ok(Self(found)),
            Some(word) => Err(word.wrong(format!("the header has {} fields only", columns.len()))),
        }
    }

    fn get(&self, column: Column) -> Option<Word<'a>> {
        self.0.iter().find(|(other, _)| *other == column).map(|(_, word)| *word)
    }

    fn need(&self, column: Column) -> Result<Word<'a>, NotationError> {
        let name = COLUMNS.iter().find(|(_, other)| *other == column).map_or("", |(name, _)| name);
        let message = || NotationError { column: 1, message: format!("`{name}` is empty") };
        self.get(column).ok_or_else(message)
    }

    /// Adds the records of the row.
    fn records(
        &self,
        line: usize,
        options: &ImportOptions,
        records: &mut Records,
    ) -> Result<(), NotationError> {
        if let Some(word) = self.get(Column::Time) {
            let time = word.number(64)?;
            if records.time.is_some_and(|before| time < before) {
                return Err(word.wrong("time goes backwards"));
            }
            if options.time {
                records.pass(line, time);
            } else {
                records.time = Some(time);
            }
        }
        if let Some(event) = self.get(Column::Event) {
            if let Some((_, other)) =
                self.0.iter().find(|(column, _)| !matches!(column, Column::Time | Column::Event))
            {
                return Err(other.wrong("a row is an access or an event, not both"));
            }
            return add_items(event, line, records);
        }
        if let Some(access) = self.access(options, records)? {
            records.add(line, &Packet::Access(access));
        }
        Ok(())
    }

    /// The access of the row; none if it is at the address of something else.
    fn access(
        &self,
        options: &ImportOptions,
        records: &mut Records,
    ) -> Result<Option<Access>, NotationError> {
        let interface = self.need(Column::Interface)?;
        let agent = one_of(interface, &INTERFACES)?;
        let operation = one_of(self.need(Column::Direction)?, &DIRECTIONS)?;
        let register = match self.get(Column::Address) {
            Some(address) if agent.is_direct() => {
                return Err(address.wrong("a System instruction has no address"));
            }
            Some(word) => {
                let address = word.value()?;
                match register_at(word, address, options.base)? {
                    Some(register) => register,
                    None => {
                        records.elsewhere(address);
                        return Ok(None);
                    }
                }
            }
            None => {
                let word = self.need(Column::Register)?;
                word.text.parse().map_err(|error| word.wrong(format!("`{}` is {error}", word.text)))?
            }
        };
        let double = match self.get(Column::Width) {
            None => false,
            Some(word) => word.named(&[("32", false), ("64", true)])? && !agent.is_direct(),
        };
        let outcome = self.get(Column::Response).map(|word| one_of(word, &RESPONSES)).transpose()?;
        let outcome = outcome.unwrap_or(Outcome::Unknown);
        let space = self.space(agent)?;
        let mut access = Access { agent, space, operation, register, double, value: None, outcome };
        if let Some(word) = self.get(Column::Value).filter(|word| word.text != "?") {
            let value = word.value()?;
            if access.value_bits() == 32 && value >> 32 != 0 {
                return Err(word.wrong(format!("`{}` has more than 32 bits", word.text)));
            }
            access.value = Some(value);
        }
        Ok(Some(access))
    }

    fn space(&self, agent: Agent) -> Result<Option<Space>, NotationError> {
        let Some(word) = self.get(Column::Space) else { return Ok(None) };
        if agent.is_direct() {
            return Err(word.wrong("a System instruction has no address space"));
        }
        one_of(word, &SPACES).map(Some)
    }
}

/// The register at an address; none if it is not one of the trace unit.
pub(super) fn register_at(
    word: Word<'_>,
    address: u64,
    base: Option<u64>,
) -> Result<Option<Register>, NotationError> {
    let Some(base) = base else {
        let page = address & !(MAP - 1);
        let message =
            format!("the base address of the trace unit is not given; this one is in page {page:#x}");
        return Err(word.wrong(message));
    };
    let Some(offset) = address.checked_sub(base).filter(|offset| *offset < MAP) else { return Ok(None) };
    if offset % 4 != 0 {
        return Err(word.wrong(format!("`{}` is inside a register", word.text)));
    }
    Ok(Some(Register(offset as u16)))
}

/// Adds the items of the notation of cases that are in a field.
fn add_items(word: Word<'_>, line: usize, records: &mut Records) -> Result<(), NotationError> {
    let items = line::read(word.text).map_err(|NotationError { column, message }| NotationError {
        column: word.column + column - 1,
        message,
    })?;
    for (column, item, times) in items {
        let wrong =
            |message: &str| NotationError { column: word.column + column - 1, message: message.to_owned() };
        let packet = match item {
            Item::Packet(Packet::Output { bytes: 0, .. }) => return Err(wrong("0 bytes are no output")),
            Item::Packet(packet) => packet,
            Item::Step(_) | Item::Hex(_) => return Err(wrong("an event is a record of a log")),
        };
        // One field cannot stand for more records than it has characters.
        if times != 1 {
            return Err(wrong("events are not repeated with `x`; write a row for each"));
        }
        records.add(line, &packet);
    }
    Ok(())
}
