//! What travels, record by record.

use super::{Access, Contents, Instruction, Miss, Occurrence, Register};

/// One record of a log (see [`wire`](super::wire)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case", deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Packet {
    /// The processor is reset.
    Reset,
    /// Software writes a register: what the register holds of it, ignored bits dropped.
    Write(Contents),
    /// Software reads a register.
    Read(Contents),
    /// Software reads a register that holds nothing defined.
    ReadUndefined(Register),
    /// An instruction is fetched.
    Instruction(Instruction),
    /// It accesses memory.
    Access(Access),
    /// A miss.
    Miss(Miss),
    /// An event occurs.
    Occurrence(Occurrence),
    /// The cycle ends.
    Cycle,
    /// The tags of the latest instruction, as the log's author computed them.
    Tags(Tags),
    /// DBRRangeTag of the latest access, as the log's author computed it.
    DataTag(bool),
    /// The performance monitor interrupts, at the end of the cycle that ended.
    Interrupt,
}

/// The tags that an instruction carries down the pipeline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Tags {
    /// IBRRangeTag.
    #[cfg_attr(feature = "serde", serde(default))]
    pub range: bool,
    /// Tag(PMC\[8\]).
    #[cfg_attr(feature = "serde", serde(default))]
    pub pmc8: bool,
    /// Tag(PMC\[9\]).
    #[cfg_attr(feature = "serde", serde(default))]
    pub pmc9: bool,
}
