//! Code shared by the ARM families, from captured bytes to executed instructions.
//!
//! | purpose | place |
//! |---|---|
//! | Bytes of a formatted stream by source | [`Deformatter`], [`FrameListener`], [`Run`] |
//! | Effect of an instruction on the flow, and the data that it transfers | [`InstructionSet`], [`Instruction`], [`Destination`], [`Transfers`] |
//! | Fields of variable length | [`FieldReader`], [`FieldLayout`] |
//! | The value of a timestamp that carries only changed bits | [`TimestampReader`] |
//! | The same for a whole program, block by block | [`ProgramMap`], [`Block`], [`Stops`] |
//!
//! Source references are those of [`traceproof_vectors::arm`].

pub(crate) mod alignment;
mod byte_field;
mod deformatter;
mod frame;
mod instruction;
pub(crate) mod notes;
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
