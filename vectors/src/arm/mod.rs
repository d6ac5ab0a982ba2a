//! What the ARM families have in common: the words for processor state and code, and for the way from a trace unit to the tool.
//!
//! | question | place |
//! |---|---|
//! | In which instruction set, at which address? | [`InstructionSet`], [`CodeAddress`] |
//! | In which state does the processor execute? | [`Context`], [`ExceptionLevel`], [`SecurityState`] |
//! | What is an instruction to the flow of the program? | [`FlowInstruction`], [`InstructionClass`] |
//! | Which profile of the architecture, which code for timestamps? | [`Profile`], [`TimestampEncoding`] |
//! | How do several trace sources share one stream? | [`Framing`], [`TraceId`], [`FRAME_BYTES`] |
//! | Which legal choices does a formatter have? | [`FormatterPolicy`] |
//!
//! Sources: ARM DDI 0314 (CoreSight Components), chapters 8 and 9, requirements `ARM-FMT-nnn`; ARM DDI 0406 (`ARMv7`-A/R), ARM DDI 0403
//! (`ARMv7`-M) and ARM DDI 0487 (A-profile) for instructions and processor state.

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
