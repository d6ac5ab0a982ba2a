//! Code shared by the ARM families: instructions at a trace unit's core interface, fields on the wire, and the
//! formatter.
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
mod fifo;
mod formatter;
mod instruction;
mod timestamp;

#[cfg(test)]
mod tests;

pub use byte_field::ByteField;
pub(crate) use fifo::Fifo;
pub use formatter::{Formatter, NotASource};
pub use instruction::{classify, instruction_size};
pub use timestamp::{SentTimestamp, TimestampWriter};
