//! Vocabulary shared by the ARM families: processor state, code, and the formatter between trace unit and tool.
//!
//! | purpose | place |
//! |---|---|
//! | Instruction set and address | [`InstructionSet`], [`CodeAddress`] |
//! | State of the processor | [`Context`], [`ExceptionLevel`], [`SecurityState`] |
//! | Class of an instruction in the flow of the program | [`FlowInstruction`], [`InstructionClass`] |
//! | Profile of the architecture, code of timestamps | [`Profile`], [`TimestampEncoding`] |
//! | Several trace sources in one stream | [`Framing`], [`TraceId`], [`FRAME_BYTES`] |
//! | Legal choices of a formatter | [`FormatterPolicy`] |
//!
//! Sources: ARM DDI 0314 (CoreSight Components), chapters 8 and 9, requirements `ARM-FMT-nnn`; ARM DDI 0406
//! (`ARMv7`-A/R), ARM DDI 0403 (`ARMv7`-M) and ARM DDI 0487 (A-profile) for instructions and processor state.

mod context;
mod formatter;
mod instruction;
mod instruction_set;

pub use context::{Context, ExceptionLevel, Profile, SecurityState, TimestampEncoding};
pub use formatter::{
    FRAME_BYTES, FRAME_DATA_BYTES, FULL_SYNC, FormatterPolicy, Framing, HALF_SYNC, TraceId, TraceIdKind,
};
pub use instruction::{
    Barrier, ExceptionCall, FlowInstruction, InstructionClass, ReturnSource, TargetSource, WaitFor,
};
pub use instruction_set::{CodeAddress, InstructionSet, ParseCodeAddressError};
