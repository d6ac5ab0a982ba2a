//! Itanium event qualification.
//!
//! | purpose | place |
//! |---|---|
//! | The performance monitor as an encoder | [`Encoder`] |
//! | Bits that a register keeps | [`kept`] |
//! | Places of its fields | [`contents_of`], [`value_of`] |
//! | Tags, counts and captures | `monitor` |
//! | Addresses that are tagged | `range` |
//! | Syllables that are tagged | `opcode` |
//! | Occurrences of this cycle | `occurrences` |
//! | Counting of occurrences | `counters` |
//! | Misses that are captured | `ears` |
//! | Bytes of a record | [`record_of`] |
//! | Register values for a measurement | [`settings`] |

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
