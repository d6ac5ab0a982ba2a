//! What the ARM families share on the way from captured bytes to executed instructions.
//!
//! | question | place |
//! |---|---|
//! | Which bytes of a formatted stream are whose? | [`Deformatter`], [`FrameListener`], [`Run`] |
//! | What does an instruction do to the flow, and which data does it transfer? | [`InstructionSet`], [`Instruction`], [`Destination`], [`Transfers`] |
//! | How is a field read that has as many bytes as it needs? | [`FieldReader`], [`FieldLayout`] |
//! | Which time is a timestamp that says only what changed? | [`TimestampReader`] |
//! | The same for a whole program, block by block? | [`ProgramMap`], [`Block`], [`Stops`] |
//!
//! Source references are those of [`traceproof_vectors::arm`].

pub(crate) mod alignment;
mod byte_field;
mod deformatter;
mod frame;
mod instruction;
mod program_map;
mod run;
mod timestamp;

#[cfg(test)]
mod tests;

pub use byte_field::{FieldLayout, FieldReader};
pub use deformatter::Deformatter;
pub use instruction::{Access, Destination, Instruction, InstructionSet, Transfers};
pub(crate) use program_map::contiguous;
pub use program_map::{Block, ProgramMap, Stops};
pub use run::{Discontinuity, FrameListener, Origin, Run};
pub use timestamp::TimestampReader;
