//! The text of Linux's ftrace: accesses of device memory, and of System registers where a probe shows them.
//!
//! Lines are `task-pid [cpu] flags seconds: event: caller width=32 val=0x1 addr=0x…`, as `trace`, `trace_pipe` and
//! trace-cmd print them.

use std::collections::BTreeMap;

use super::super::words::{NotationError, Word, Words};
use super::csv::register_at;
use super::{ImportOptions, Records, on_line};
use crate::arm_ete_unit::{Access, Agent, Input, Operation, Outcome, Packet, Register};
use crate::case::CaseError;

/// Events of a trace unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Event {
    /// Directly before a write or read of device memory.
    Begins(Operation),
    /// Directly after it.
    Ends(Operation),
    /// A System register accessor of the driver coresight-etm4x.
    Accessor(Operation),
}

const EVENTS: [(&str, Event); 8] = [
    ("rwmmio_write:", Event::Begins(Operation::Write)),
    ("rwmmio_post_write:", Event::Ends(Operation::Write)),
    ("rwmmio_read:", Event::Begins(Operation::Read)),
    ("rwmmio_post_read:", Event::Ends(Operation::Read)),
    ("ete_sysreg_write:", Event::Accessor(Operation::Write)),
    ("ete_sysreg_read:", Event::Accessor(Operation::Read)),
    ("etm4x_sysreg_write:", Event::Accessor(Operation::Write)),
    ("etm4x_sysreg_read:", Event::Accessor(Operation::Read)),
];

/// Reads every line; those of other events are passed over.
pub(super) fn read(text: &str, options: &ImportOptions, records: &mut Records) -> Result<(), CaseError> {
    let mut reader = Reader { options, records, begun: BTreeMap::new() };
    for (number, line) in text.lines().enumerate() {
        if is_loss(line) {
            reader.begun.clear();
            reader.records.add(number, &Packet::Input(Input::Gap));
        } else if line.contains("rwmmio_") || line.contains("_sysreg_") {
            reader.line(number, line).map_err(on_line(number))?;
        }
    }
    Ok(())
}

/// `CPU:1 [LOST 12 EVENTS]`, of trace-cmd `CPU:1 [12 EVENTS DROPPED]`, `##### CPU 1 buffer started ####`.
fn is_loss(line: &str) -> bool {
    let line = line.trim();
    let lost = line.starts_with("CPU:") && line.ends_with(']') && line.contains("EVENTS");
    (lost && (line.contains("LOST") || line.contains("DROPPED")))
        || (line.starts_with("#####") && line.contains("buffer started"))
}

/// An access of which the event before it was seen.
struct Begun {
    /// Its record.
    index: usize,
    access: Access,
}

struct Reader<'a> {
    options: &'a ImportOptions,
    records: &'a mut Records,
    /// By the number of the CPU, where the line has one.
    begun: BTreeMap<Option<u32>, Begun>,
}

impl Reader<'_> {
    fn line(&mut self, number: usize, line: &str) -> Result<(), NotationError> {
        let words = Words::new(line, 1).rest();
        let event_of = |word: &Word<'_>| EVENTS.into_iter().find(|(name, _)| *name == word.text);
        let found = words.iter().enumerate().find_map(|(at, word)| Some((at, event_of(word)?.1)));
        let Some((at, event)) = found else { return Ok(()) };
        let (before, fields) = words.split_at(at);
        let [name, fields @ ..] = fields else { return Ok(()) };
        let fields = Fields { event: *name, fields };
        let Some(access) = self.access(event, &fields)? else { return Ok(()) };
        if self.options.time
            && let Some(time) = before.iter().rev().find_map(|word| microseconds(word.text))
        {
            self.records.pass(number, time);
        }
        let cpu = before.iter().find_map(|word| cpu(word.text));
        self.record(number, event, access, cpu);
        Ok(())
    }

    /// The access of a line; none if it is at the address of something else.
    fn access(&mut self, event: Event, fields: &Fields<'_, '_>) -> Result<Option<Access>, NotationError> {
        let (agent, operation) = match event {
            Event::Accessor(operation) => (Agent::System, operation),
            Event::Begins(operation) | Event::Ends(operation) => (Agent::Memory, operation),
        };
        let (register, double) = if agent.is_direct() {
            let word = fields.need("offset=")?;
            let offset =
                u16::try_from(word.value()?).ok().filter(|offset| *offset < 0x1000 && offset % 4 == 0);
            let offset =
                offset.ok_or_else(|| word.wrong(format!("`{}` is no offset of a register", word.text)))?;
            (Register(offset), false)
        } else {
            let word = fields.need("addr=")?;
            let address = word.value()?;
            let Some(register) = register_at(word, address, self.options.base)? else {
                self.records.elsewhere(address);
                return Ok(None);
            };
            (register, fields.need("width=")?.named(&[("32", false), ("64", true)])?)
        };
        let mut access = Access {
            agent,
            space: None,
            operation,
            register,
            double,
            value: None,
            outcome: Outcome::Unknown,
        };
        if event != Event::Begins(Operation::Read) {
            let word = fields.need("val=")?;
            let value = word.value()?;
            if access.value_bits() == 32 && value >> 32 != 0 {
                return Err(word.wrong(format!("`{}` has more than 32 bits", word.text)));
            }
            access.value = Some(value);
        }
        Ok(Some(access))
    }

    /// Adds the record of an access, or completes the one of the event before it.
    fn record(&mut self, line: usize, event: Event, access: Access, cpu: Option<u32>) {
        if let Event::Ends(_) = event
            && let Some(begun) = self.begun.remove(&cpu)
            && is_same(&begun.access, &access)
        {
            self.records.replace(begun.index, &Packet::Access(access));
            return;
        }
        let index = self.records.add(line, &Packet::Access(access));
        if let Event::Begins(_) = event {
            self.begun.insert(cpu, Begun { index, access });
        }
    }
}

/// Whether the second access, after which the event is, may be the first one.
fn is_same(begun: &Access, ended: &Access) -> bool {
    *begun == Access { value: begun.value, ..*ended } && (begun.value.is_none() || begun.value == ended.value)
}

/// The words after the name of an event.
struct Fields<'a, 'b> {
    event: Word<'a>,
    fields: &'b [Word<'a>],
}

impl<'a> Fields<'a, '_> {
    /// What follows `key`, which ends with `=`.
    fn need(&self, key: &str) -> Result<Word<'a>, NotationError> {
        let found = self.fields.iter().find_map(|word| {
            let text = word.text.strip_prefix(key)?;
            Some(Word { column: word.column + key.len(), text })
        });
        found.ok_or_else(|| self.event.wrong(format!("`{} …` without `{key}…`", self.event.text)))
    }
}

/// `[003]`.
fn cpu(text: &str) -> Option<u32> {
    let digits = text.strip_prefix('[')?.strip_suffix(']')?;
    digits.bytes().all(|digit| digit.is_ascii_digit()).then(|| digits.parse().ok()).flatten()
}

/// `12.345678:` in microseconds; further digits are dropped.
fn microseconds(text: &str) -> Option<u64> {
    let (seconds, fraction) = text.strip_suffix(':')?.split_once('.')?;
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|digit| digit.is_ascii_digit());
    if !is_number(seconds) || !is_number(fraction) {
        return None;
    }
    let micros: u64 = format!("{:0<6}", fraction.get(..6).unwrap_or(fraction)).parse().ok()?;
    seconds.parse::<u64>().ok()?.checked_mul(1_000_000)?.checked_add(micros)
}
