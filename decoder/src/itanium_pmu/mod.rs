//! Itanium event qualification: register values by field, and the instructions, accesses and misses that they select.
//!
//! Source references are those of [`traceproof_vectors::itanium_pmu`].
//!
//! | purpose | place |
//! |---|---|
//! | Meaning of a log | [`Decoder`] |
//! | Names of the bits of a log | [`dissect`] |
//! | Meaning of a register value | [`registers`] |
//! | What is tagged, counted and captured | [`qualification`] |
//! | Why something is not tagged | [`explain`] |
//! | Syllables of a bundle of code | [`bundle`] |
//!
//! How a log is decoded:
//!
//! | layer | answers |
//! |---|---|
//! | `record` | Boundaries and fields of records |
//! | [`registers`] | Fields of a register value, and its wrong bits |
//! | `follower` | Meaning of a record given those before it, and contradictions with them |
//! | `known` → [`qualification`] → `cycle` | Contents of registers, the tags that follow, and what the end of a cycle counts and captures |
//! | `readback` | The record in event address registers that were read one by one |
//! | `notices` | Warnings for the author of a configuration |

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
