//! How Itanium cases are written.

mod bundles;
mod entry;
mod line;
mod record;

use serde::{Deserialize, Serialize};

use super::{Assembly, CaseProtocol, Expected, ExpectedFault, Problem, assemble, check_wire};
use crate::itanium_pmu::wire::{Kind, RECORD};
use crate::itanium_pmu::{
    DataMiss, Event, InstructionMiss, ItaniumPmu, Notice, Parameters, Register, Stimulus, Tags,
};

pub use entry::StimulusEntry;

/// One line of `events`: an event as the vocabulary has it, or a fault.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum EventEntry {
    /// Tags of an instruction.
    Tags(Tags),
    /// Tag of an access.
    DataTag {
        /// DBRRangeMatch; `false` if absent.
        #[serde(default)]
        matched: bool,
        /// DBRRangeTag; `false` if absent.
        #[serde(default)]
        tag: bool,
    },
    /// A counter changed at the end of a cycle.
    Count {
        /// n of PMD\[n\], 4 to 7.
        counter: u8,
        /// By how much.
        increment: u16,
        /// To what.
        #[serde(with = "crate::notation::hex32")]
        #[cfg_attr(feature = "schema", schemars(with = "crate::notation::Hex"))]
        count: u32,
    },
    /// PMD\[n\] overflowed: n.
    Overflow(u8),
    /// Hardware set PMC\[0\].fr.
    Freeze,
    /// An interrupt is due.
    Interrupt,
    /// This was written into the instruction event address registers.
    InstructionMiss(InstructionMiss),
    /// This was written into the data event address registers.
    DataMiss(DataMiss),
    /// What was read back from the instruction event address registers; `{}` if PMD\[0\].v = 0.
    InstructionEar(RecordOf<InstructionMiss>),
    /// What was read back from the data event address registers; `{}` if PMD\[17\].v = 0.
    DataEar(RecordOf<DataMiss>),
    /// A warning about a configuration for its author.
    Notice {
        /// Where.
        register: Register,
        /// What.
        notice: Notice,
    },
    /// A fault.
    Fault(ExpectedFault),
}

/// What event address registers hold: `{ record = { … } }`, or `{}` for no record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, bound(deserialize = "T: Deserialize<'de>"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "RecordOf{T}"))]
pub struct RecordOf<T> {
    /// The record; absent if none was captured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub record: Option<T>,
}

impl EventEntry {
    fn expected(&self) -> Expected<ItaniumPmu> {
        Expected::Event(match self {
            Self::Fault(fault) => return Expected::Fault(*fault),
            Self::Tags(tags) => Event::Tags(*tags),
            Self::DataTag { matched, tag } => Event::DataTag { matched: *matched, tag: *tag },
            Self::Count { counter, increment, count } => {
                Event::Count { counter: *counter, increment: *increment, count: *count }
            }
            Self::Overflow(counter) => Event::Overflow { counter: *counter },
            Self::Freeze => Event::Freeze,
            Self::Interrupt => Event::Interrupt,
            Self::InstructionMiss(miss) => Event::InstructionMiss(*miss),
            Self::DataMiss(miss) => Event::DataMiss(*miss),
            Self::InstructionEar(held) => Event::InstructionEar(held.record),
            Self::DataEar(held) => Event::DataEar(held.record),
            Self::Notice { register, notice } => Event::Notice { register: *register, notice: *notice },
        })
    }
}

impl CaseProtocol for ItaniumPmu {
    type StimulusEntry = StimulusEntry;
    type EventEntry = EventEntry;
    type Execution = Vec<Stimulus>;

    fn assemble(text: &str, _: &Parameters) -> Result<Assembly, Problem> {
        assemble(text, &bundles::Bundles)
    }

    fn execution(entries: &[StimulusEntry], assembly: &Assembly) -> Result<Vec<Stimulus>, Problem> {
        entry::execution(entries, assembly)
    }

    fn expected(entries: &[EventEntry], _: &Assembly) -> Result<Vec<Expected<Self>>, Problem> {
        Ok(entries.iter().map(EventEntry::expected).collect())
    }

    fn wire(lines: &[String], _: &Parameters) -> Result<Vec<u8>, Problem> {
        let mut bytes = Vec::new();
        for (index, line) in lines.iter().enumerate() {
            record::append(line, &mut bytes)
                .map_err(|message| Problem::new(format!("wire[{index}]"), message))?;
            check_wire(index, &bytes)?;
        }
        Ok(bytes)
    }

    fn show_wire(bytes: &[u8], _: &Parameters) -> Vec<String> {
        bytes.chunks(RECORD).map(record::show).collect()
    }

    /// Registers that are only read and written need no feature beyond splitting them into fields.
    fn required_features(parameters: &Parameters, wire: &[u8]) -> Vec<&'static str> {
        let is_access = |kind: Kind| matches!(kind, Kind::Write | Kind::Read | Kind::ReadUndefined);
        let happens = wire
            .chunks_exact(RECORD)
            .filter_map(|record| record.first())
            .any(|code| Kind::ALL.into_iter().any(|kind| kind as u8 == *code && !is_access(kind)));
        let plain = Parameters { strict: parameters.strict, ..Parameters::default() };
        [("qualification", happens), ("lenient", !parameters.strict), ("options", *parameters != plain)]
            .into_iter()
            .filter_map(|(feature, needed)| needed.then_some(feature))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::itanium_pmu::{FEATURES, IbrLowBits};

    fn wire(text: &str) -> Vec<u8> {
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        ItaniumPmu::wire(&lines, &Parameters::default()).expect("a wire")
    }

    #[test]
    fn features_follow_from_parameters_and_wire() {
        let default = Parameters::default();
        let dump = wire("PMC4 = 0x1228\nPMD0 = X\nPMC0 <- 0");
        assert_eq!(ItaniumPmu::required_features(&default, &dump), Vec::<&str>::new());
        let everything =
            Parameters { strict: false, ibr_low_bits: IbrLowBits::Ignored, ..Parameters::default() };
        let needed = ItaniumPmu::required_features(&everything, &wire("PMC0 = 0\ncycle"));
        assert_eq!(needed, crate::Feature::names(&FEATURES).collect::<Vec<_>>());
        // Neither a kind that does not exist nor the value of a register is something that happens.
        let unknown = wire("hex ff 00 00 00 00 00 00 00 04 00 00 00 00 00 00 00");
        assert_eq!(ItaniumPmu::required_features(&default, &unknown), Vec::<&str>::new());
    }

    #[test]
    fn wire_problems_name_the_line() {
        let lines = ["reset", "PMC4 = 0x1g"].map(str::to_owned);
        let problem = ItaniumPmu::wire(&lines, &Parameters::default()).expect_err("no number");
        assert_eq!(problem.to_string(), "wire[1]: `0x1g` is no number of 64 bits; write e.g. 0x1228");
    }
}
