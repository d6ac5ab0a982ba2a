//! How cases of the CoreSight formatter are written.
//!
//! Lines of `wire` are pairs of hexadecimal digits. `stimulus` and `events` are those of the vocabulary, or faults.

use serde::{Deserialize, Serialize};

use super::arm::stream::read_line;
use super::{Assembly, CaseProtocol, Expected, ExpectedFault, Problem};
use crate::arm::FRAME_BYTES;
use crate::arm_etm_formatter::{ArmEtmFormatter, Event, Parameters, SourceBytes, Stimulus};
use crate::notation::show_bytes;

/// One line of `events`: an event as the vocabulary has it, or a fault.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum EventEntry {
    /// Bytes of an ID.
    Data {
        /// Whose they are.
        id: u8,
        /// The bytes as the source sent them.
        bytes: SourceBytes,
    },
    /// What comes now does not follow on what was reported.
    Gap,
    /// A fault.
    Fault(ExpectedFault),
}

impl CaseProtocol for ArmEtmFormatter {
    type StimulusEntry = Stimulus;
    type EventEntry = EventEntry;
    type Execution = Vec<Stimulus>;

    /// A formatter has no code.
    fn assemble(text: &str, _: &Parameters) -> Result<Assembly, Problem> {
        if text.trim().is_empty() {
            return Ok(Assembly::default());
        }
        Err(Problem::new("program", "a formatted stream has no program"))
    }

    fn execution(entries: &[Stimulus], _: &Assembly) -> Result<Vec<Stimulus>, Problem> {
        Ok(entries.to_vec())
    }

    fn expected(entries: &[EventEntry], _: &Assembly) -> Result<Vec<Expected<Self>>, Problem> {
        let expected = |entry: &EventEntry| match entry {
            EventEntry::Data { id, bytes } => Expected::Event(Event::Data { id: *id, bytes: bytes.clone() }),
            EventEntry::Gap => Expected::Event(Event::Gap),
            EventEntry::Fault(fault) => Expected::Fault(*fault),
        };
        Ok(entries.iter().map(expected).collect())
    }

    fn wire(lines: &[String], _: &Parameters) -> Result<Vec<u8>, Problem> {
        let mut bytes = Vec::new();
        for (index, line) in lines.iter().enumerate() {
            let read = read_line(line).map_err(|message| Problem::new(format!("wire[{index}]"), message))?;
            bytes.extend(read);
        }
        Ok(bytes)
    }

    fn show_wire(bytes: &[u8], _: &Parameters) -> Vec<String> {
        bytes.chunks(FRAME_BYTES).map(show_bytes).collect()
    }

    fn required_features(_: &Parameters, _: &[u8]) -> Vec<&'static str> {
        Vec::new()
    }
}
