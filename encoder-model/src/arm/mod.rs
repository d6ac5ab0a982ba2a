//! What the ARM families share: instructions as a trace unit sees them, fields as they travel, and the way from trace unit to tool.
//!
//! | purpose | place |
//! |---|---|
//! | Class of an instruction in the flow of the program | [`classify`], [`instruction_size`] |
//! | Fields of variable length | [`ByteField`] |
//! | The bytes of a timestamp | [`TimestampWriter`] |
//! | The bytes of several sources in one stream | [`Formatter`] |
//!
//! Source references are those of [`traceproof_vectors::arm`].

mod byte_field;
mod formatter;
mod instruction;
mod timestamp;

pub use byte_field::ByteField;
pub use formatter::{Formatter, NotASource};
pub use instruction::{classify, instruction_size};
pub use timestamp::{SentTimestamp, TimestampWriter};
