//! How cases of the trace unit of ARM ETE are written, and its logs as text.
//!
//! A line has items separated by `;`. `#` begins a comment, ` x 3` after an item repeats it. Values of registers are
//! hexadecimal with or without `0x`, other numbers decimal.
//!
//! | item | record | wire | stimulus |
//! |---|---|---|---|
//! | `sw R=v`, `sr R->v` | a System instruction writes or reads a register | yes | `sr R` |
//! | `xw R=v`, `xr R->v` | the external debug interface does | yes | `xr R` |
//! | `mw R=v`, `mr R->v` | the memory-mapped interface of ETMv4 does | yes | `mr R` |
//! | `xw64`, `xr64`, `mw64`, `mr64` | an access of 64 bits | yes | yes |
//! | `R` or `R=?` or `R->?` | the value is not known | yes | |
//! | `ERR`, `UNDEF`, `TRAP`, `?` after an access | its outcome; absent = it completed, `?` = not known | yes | `TRAP` |
//! | `@secure`, `@non-secure`, `@root`, `@realm` after an external access | its address space | yes | yes |
//! | `poll s IDLE=1`, `poll x PMSTABLE=1`, `poll m IDLE=0 timeout` | TRCSTATR is read until the bit has the value, or until the reader gives up | yes | without `timeout` |
//! | `isb`, `dsb`, `tsb`, `eret`, `exc` | barriers, exception return and entry | yes | yes |
//! | `oslk 1`, `xoslk 0`, `moslk 0` | OS Lock by MSR, by the debug component, by memory | yes | yes |
//! | `trf P`, `trf A` | TRFCR_ELx prohibits or allows tracing | yes | yes |
//! | `tb 1` | TRBLIMITR_EL1.E | yes | yes |
//! | `pe debug`, `pe run`, `pe el1 secure`, `pe prohibited`, `pe allowed`, `pe low-power`, `pe awake` | an event of the processor | yes | yes |
//! | `rst`, `cold`, `warm`, `pw 0`, `pw 1`, `pw ret` | resets; Core power off, on, retention | yes | yes |
//! | `sink trbu 0`, `sink if0 1`, `sink trbu stop` | a sink is blocked, accepts, is stopped | yes | yes |
//! | `ifc 0` | the interfaces are disabled by their own mechanism | yes | yes |
//! | `etad 2` | MDCR_EL3.{ETADE, ETAD} | yes | yes |
//! | `ev 0`, `flush`, `wait 100` | an ETEEvent, a flush request, time | yes | yes |
//! | `see barriers 0` | from here on the log does not show barriers (`system`, `external`, `states`, `events`) | yes | yes |
//! | `gap`, `end` | records are missing; the end of a log | yes | yes |
//! | `out if0 12`, `out trbu 4` | bytes leave to a sink | yes | |
//! | `st Running` | the state, where it can be seen | yes | |
//! | `sig enabled 1`, `operative`, `viewinst`, `overflow`, `stall`; `sig ack`; `sig resources paused` | a signal, where it can be seen | yes | |
//! | `hex 00 01` | bytes as they are: malformed records | yes | |
//! | `gen 16`, `vi 0`, `go`, `drain 8`, `drain` | inner progress of a model ([`Stimulus`]) | | yes |

mod entry;
mod import;
mod line;
mod record;
mod show;
mod words;

#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

pub use entry::StimulusEntry;
pub use import::{ImportOptions, ImportedLog, LogForm, import_log};
use line::Item;
use words::NotationError;

use super::{Assembly, CaseError, CaseProtocol, Expected, ExpectedFault, Problem, check_wire};
use crate::arm_ete_unit::wire::{Kind, RECORD};
use crate::arm_ete_unit::{
    ArmEteUnit, Errata, Event, Interpretation, OutputSet, Packet, Parameters, Register, Rule, Shown,
    StateSet, Stimulus,
};

/// The most bytes that one line may stand for with `x`.
const MOST_BYTES: usize = 1 << 20;

/// One line of `events`: an event as the vocabulary has it, or a fault.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum EventEntry {
    /// The states that the unit may be in.
    State(StateSet),
    /// A trace session begins.
    SessionBegin,
    /// A trace session ends.
    SessionEnd,
    /// Where bytes may go.
    Outputs(OutputSet),
    /// A requirement is broken, or a recommendation is not followed.
    Finding {
        /// Which.
        rule: Rule,
        /// The register that it is about.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        register: Option<Register>,
    },
    /// A fault.
    Fault(ExpectedFault),
}

impl EventEntry {
    fn expected(&self) -> Expected<ArmEteUnit> {
        Expected::Event(match self {
            Self::Fault(fault) => return Expected::Fault(*fault),
            Self::State(states) => Event::State(*states),
            Self::SessionBegin => Event::SessionBegin,
            Self::SessionEnd => Event::SessionEnd,
            Self::Outputs(outputs) => Event::Outputs(*outputs),
            Self::Finding { rule, register } => Event::Finding { rule: *rule, register: *register },
        })
    }
}

/// Reads a log as text.
///
/// # Errors
///
/// What is wrong, with line and column.
///
/// ```
/// use traceproof_vectors::case::arm_ete_unit::read_log;
///
/// let bytes = read_log("oslk 0; isb\nsw TRCPRGCTLR=1 # enable\n")?;
/// assert_eq!(bytes.len(), 3 * 16);
/// let error = read_log("isb\nisb; sw TRCNONE=1\n").expect_err("no register");
/// assert_eq!((error.line, error.column), (2, 9));
/// # Ok::<(), traceproof_vectors::case::CaseError>(())
/// ```
pub fn read_log(text: &str) -> Result<Vec<u8>, CaseError> {
    let mut bytes = Vec::new();
    for (index, line) in text.lines().enumerate() {
        append(line, &mut bytes).map_err(|NotationError { column, message }| CaseError {
            message,
            line: index + 1,
            column,
        })?;
    }
    Ok(bytes)
}

/// The item that stands for a record.
#[must_use]
pub fn show_packet(packet: &Packet) -> String {
    show::packet(packet)
}

/// Appends the records of a line.
fn append(line: &str, bytes: &mut Vec<u8>) -> Result<(), NotationError> {
    let begin = bytes.len();
    for (column, item, times) in line::read(line)? {
        let wrong = |message: String| NotationError { column, message };
        let record = match item {
            Item::Packet(packet @ Packet::Output { bytes: 0, .. }) => {
                return Err(wrong(format!("`{}` is no output", show_packet(&packet))));
            }
            Item::Packet(packet) => record::pack(&packet).to_vec(),
            Item::Hex(bytes) => bytes,
            Item::Step(_) => {
                return Err(wrong("`gen`, `vi`, `go` and `drain` are for `stimulus`".to_owned()));
            }
        };
        let length = (times as usize).saturating_mul(record.len());
        if length.saturating_add(bytes.len() - begin) > MOST_BYTES {
            return Err(wrong(format!("{times} times is too often")));
        }
        for _ in 0..times {
            bytes.extend(&record);
        }
    }
    Ok(())
}

/// The item that stands for these bytes.
fn show(bytes: &[u8]) -> String {
    match record::unpack(bytes) {
        Some(packet) => show::packet(&packet),
        None => format!("hex {}", crate::notation::show_bytes(bytes)),
    }
}

impl CaseProtocol for ArmEteUnit {
    type StimulusEntry = StimulusEntry;
    type EventEntry = EventEntry;
    type Execution = Vec<Stimulus>;

    /// A trace unit has no code.
    fn assemble(text: &str, _: &Parameters) -> Result<Assembly, Problem> {
        if text.trim().is_empty() {
            return Ok(Assembly::default());
        }
        Err(Problem::new("program", "the log of a trace unit has no program"))
    }

    fn execution(entries: &[StimulusEntry], _: &Assembly) -> Result<Vec<Stimulus>, Problem> {
        Ok(entries.iter().flat_map(StimulusEntry::steps).copied().collect())
    }

    fn expected(entries: &[EventEntry], _: &Assembly) -> Result<Vec<Expected<Self>>, Problem> {
        Ok(entries.iter().map(EventEntry::expected).collect())
    }

    fn wire(lines: &[String], _: &Parameters) -> Result<Vec<u8>, Problem> {
        let mut bytes = Vec::new();
        for (index, line) in lines.iter().enumerate() {
            append(line, &mut bytes).map_err(|NotationError { column, message }| {
                Problem::new(format!("wire[{index}]"), format!("column {column}: {message}"))
            })?;
            check_wire(index, &bytes)?;
        }
        Ok(bytes)
    }

    fn show_wire(bytes: &[u8], _: &Parameters) -> Vec<String> {
        bytes.chunks(RECORD).map(show).collect()
    }

    fn required_features(parameters: &Parameters, wire: &[u8]) -> Vec<&'static str> {
        let changes_visibility =
            wire.chunks_exact(RECORD).any(|record| record.first() == Some(&(Kind::Visibility as u8)));
        [
            ("etmv4", !parameters.version.is_ete()),
            ("hidden", changes_visibility || parameters.shown != Shown::default()),
            ("bound", parameters.bound.is_some()),
            ("errata", parameters.errata != Errata::default()),
            ("interpretations", parameters.interpretation != Interpretation::default()),
        ]
        .into_iter()
        .filter_map(|(feature, needed)| needed.then_some(feature))
        .collect()
    }
}
