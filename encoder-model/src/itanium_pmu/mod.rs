//! Itanium event qualification.
//!
//! | question | place |
//! |---|---|
//! | What does the performance monitor do with what happens? | [`Encoder`] |
//! | Which bits does a register keep? | [`kept`] |
//! | Where do its fields lie? | [`contents_of`], [`value_of`] |
//! | How do tags, counts and captures follow from each other? | `monitor` |
//! | Which addresses are tagged? | `range` |
//! | Which syllables are tagged? | `opcode` |
//! | What has occurred in this cycle? | `occurrences` |
//! | What do the counters make of it? | `counters` |
//! | Which misses are captured? | `ears` |
//! | What are the bytes of a record? | [`record_of`] |
//! | Which register values does a measurement need? | [`settings`] |

mod contents;
mod counters;
mod ears;
mod encoder;
mod monitor;
mod occurrences;
mod opcode;
mod range;
mod record;
mod registers;
pub mod settings;
mod unencodable;

pub use contents::{Modes, contents_of, value_of};
pub use encoder::Encoder;
pub use record::{Record, record_of};
pub use registers::kept;
pub use unencodable::UnencodablePacket;

#[cfg(test)]
mod tests;
