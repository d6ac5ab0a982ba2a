//! Itanium event qualification: register values taken apart, and what they make of instructions, accesses and misses.
//!
//! Source references are those of [`traceproof_vectors::itanium_pmu`].
//!
//! | question | place |
//! |---|---|
//! | What does a log mean? | [`Decoder`] |
//! | What is each bit of a log called? | [`dissect`] |
//! | What does a value of a register mean? | [`registers`] |
//! | What is tagged, counted, captured? | [`qualification`] |
//! | Why is something not tagged? | [`explain`] |
//! | Which syllables does a bundle of code hold? | [`bundle`] |
//!
//! How a log is decoded:
//!
//! | layer | answers |
//! |---|---|
//! | `record` | Where do records begin and end, which fields do they have? |
//! | [`registers`] | Which fields does the value of a register have, which bits are wrong? |
//! | `follower` | What does a record mean after those before it, what contradicts them? |
//! | `known` → [`qualification`] → `cycle` | What do the registers hold, which tags follow, what does the end of a cycle count and capture? |
//! | `readback` | Which record do event address registers hold that were read one by one? |
//! | `notices` | What should the author of a configuration know? |

pub mod bundle;
mod cycle;
mod decoder;
mod dissect;
pub mod explain;
mod file;
mod follower;
mod known;
mod notices;
pub mod qualification;
mod readback;
mod record;
pub mod registers;
mod report;
mod slice;
#[cfg(test)]
mod tests;

pub use decoder::Decoder;
pub use dissect::dissect;
pub use file::Registers;
pub use registers::{decode_register, decode_write, encode_register};
