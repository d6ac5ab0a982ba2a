//! What the ARM families share: instructions as a trace unit sees them, fields as they travel, and the way from trace unit to tool.
//!
//! | question | place |
//! |---|---|
//! | What is an instruction to the flow of the program? | [`classify`], [`instruction_size`] |
//! | How does a field travel that has as many bytes as it needs? | [`ByteField`] |
//! | What does a timestamp send? | [`TimestampWriter`] |
//! | How do the bytes of several sources become one stream? | [`Formatter`] |
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
