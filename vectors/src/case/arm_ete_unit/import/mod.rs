//! Logs of simulators and drivers that are not in the notation of cases.
//!
//! | question | place |
//! |---|---|
//! | Which records do the rows of a register trace stand for? | `csv` |
//! | Which records do the lines of an ftrace log stand for? | `ftrace` |
//!
//! A form that cannot show something hides it: what it does not show is not held against software or the unit.

mod csv;
mod ftrace;

#[cfg(test)]
mod tests;

use super::record;
use super::words::NotationError;
use crate::arm_ete_unit::wire::RECORD;
use crate::arm_ete_unit::{Access, Agent, Input, Packet, Poll, Visible};
use crate::case::CaseError;

/// Bytes from the base address of a trace unit that are its own.
const MAP: u64 = 0x1000;

/// A form of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogForm {
    /// A register trace with a header line that names its columns: `time`, `interface`, `direction`, `register` or
    /// `address`, `width`, `value`, `response`, `space`, `event`. A row is an access, or an item of the notation of
    /// cases in the column `event`.
    ///
    /// What no row shows is taken to be hidden: barriers, System instructions, external accesses.
    Csv,
    /// The text of Linux's ftrace: the events `rwmmio_write`, `rwmmio_post_write`, `rwmmio_read` and
    /// `rwmmio_post_read` at the base address of the trace unit, and probes of the System register accessors of the
    /// driver coresight-etm4x. Other lines are passed over; lost events are a gap.
    ///
    /// Barriers and System instructions are taken to be hidden, external accesses where no line shows one.
    Ftrace,
}

/// How a log is read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ImportOptions {
    /// The address of the trace unit, where the log has addresses.
    pub base: Option<u64>,
    /// What the log shows or hides, whatever its form says; the last one of each counts.
    pub see: Vec<(Visible, bool)>,
    /// Times become `wait` records: the trace unit has a time bound.
    pub time: bool,
}

/// A log as records.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ImportedLog {
    /// The records. The first ones say what the log hides.
    pub wire: Vec<u8>,
    /// The line of each record, from 1.
    pub lines: Vec<u32>,
    /// What is taken to be hidden because of the form of the log.
    pub hidden: Vec<Visible>,
    /// The number of accesses at other addresses, which are left out.
    pub others: u64,
    /// The page of the first of them.
    pub first_other: Option<u64>,
}

/// Reads a log.
///
/// # Errors
///
/// What is wrong, with line and column.
///
/// ```
/// use traceproof_vectors::case::arm_ete_unit::{ImportOptions, LogForm, import_log};
///
/// let text = "interface,direction,register,value\nexternal,write,TRCPRGCTLR,1\n";
/// let log = import_log(LogForm::Csv, text, &ImportOptions::default())?;
/// // Barriers and System instructions are hidden: two records, and one for the row.
/// assert_eq!((log.wire.len(), log.lines), (3 * 16, vec![1, 1, 2]));
/// # Ok::<(), traceproof_vectors::case::CaseError>(())
/// ```
pub fn import_log(form: LogForm, text: &str, options: &ImportOptions) -> Result<ImportedLog, CaseError> {
    let mut records = Records::default();
    match form {
        LogForm::Csv => csv::read(text, options, &mut records)?,
        LogForm::Ftrace => {
            ftrace::read(text, options, &mut records)?;
            (records.barriers, records.system) = (false, false);
        }
    }
    Ok(records.finish(&options.see))
}

/// The records so far.
#[derive(Debug, Default)]
struct Records {
    log: ImportedLog,
    /// A barrier, an access or another act by a System instruction, an external access was among them.
    barriers: bool,
    system: bool,
    external: bool,
    /// The time of the latest line that has one.
    time: Option<u64>,
}

impl Records {
    /// Adds a record of this line, counted from 0, and returns its index.
    fn add(&mut self, line: usize, packet: &Packet) -> usize {
        match shown_by(packet) {
            Some(Visible::Barriers) => self.barriers = true,
            Some(Visible::System) => self.system = true,
            Some(Visible::External) => self.external = true,
            _ => {}
        }
        self.log.wire.extend(record::pack(packet));
        self.log.lines.push(u32::try_from(line + 1).unwrap_or(u32::MAX));
        self.log.lines.len() - 1
    }

    /// Replaces the record with this index.
    fn replace(&mut self, index: usize, packet: &Packet) {
        let place = index * RECORD..(index + 1) * RECORD;
        if let Some(old) = self.log.wire.get_mut(place) {
            old.copy_from_slice(&record::pack(packet));
        }
    }

    /// Something happens at this time, on this line. Time that goes backwards is no time.
    fn pass(&mut self, line: usize, time: u64) {
        let passed = self.time.and_then(|before| time.checked_sub(before)).unwrap_or(0);
        if passed > 0 {
            self.add(line, &Packet::Input(Input::Wait(passed)));
        }
        self.time = Some(time);
    }

    /// An access at an address that is none of the trace unit.
    fn elsewhere(&mut self, address: u64) {
        self.log.others += 1;
        self.log.first_other.get_or_insert(address & !(MAP - 1));
    }

    /// Puts what is hidden before the first record.
    fn finish(self, see: &[(Visible, bool)]) -> ImportedLog {
        let Self { mut log, barriers, system, external, .. } = self;
        let by_form = |what| match what {
            Visible::Barriers => !barriers,
            Visible::System => !system,
            Visible::External => !external,
            Visible::States | Visible::Events => false,
        };
        let mut first = Vec::new();
        for what in Visible::ALL {
            let said = see.iter().rev().find(|(other, _)| *other == what);
            let shown = match said {
                Some((_, shown)) => *shown,
                None if by_form(what) => {
                    log.hidden.push(what);
                    false
                }
                None => continue,
            };
            first.extend(record::pack(&Packet::Input(Input::Visibility { what, shown })));
        }
        log.lines.splice(0..0, std::iter::repeat_n(1, first.len() / RECORD));
        log.wire.splice(0..0, first);
        log
    }
}

/// What a log shows that has this record; nothing for what any log may have.
const fn shown_by(packet: &Packet) -> Option<Visible> {
    let agent = match packet {
        Packet::Access(Access { agent, .. }) | Packet::Poll(Poll { agent, .. }) => *agent,
        Packet::Input(Input::OsLock { agent, .. }) => *agent,
        Packet::Input(Input::TraceFilter { .. } | Input::TraceBuffer { .. }) => Agent::System,
        Packet::Input(Input::Barrier(_)) => return Some(Visible::Barriers),
        _ => return None,
    };
    Some(if agent.is_direct() { Visible::System } else { Visible::External })
}

/// The error of a line, counted from 0.
fn on_line(line: usize) -> impl Fn(NotationError) -> CaseError {
    move |NotationError { column, message }| CaseError { message, line: line + 1, column }
}
