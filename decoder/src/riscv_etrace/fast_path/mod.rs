//! Fast path: code that only saves time. Without it a decoder reports the same: see
//! [`Decoder::without_fast_path`](super::Decoder::without_fast_path).
//!
//! | instead of | here |
//! |---|---|
//! | building a unit from the wire | `contents`: passing what it carries |
//! | reading formats 1 and 2 field by field | `short_packets`: from a register, with masks |
//! | building a packet and following it | `reports`: following what was read |
//! | walking instruction by instruction | `block_walk`: by `blocks` of straight code, their ends known; elsewhere by straight `runs` |
//! | walking the same way again | `known_walks`: passing what was passed the last time |

pub(super) mod block_walk;
mod blocks;
mod contents;
mod known_walks;
mod reports;
mod runs;
pub(super) mod short_packets;

pub use contents::Receiver;
