//! Architecture 3: bytes to packets to events.
//!
//! | question | place |
//! |---|---|
//! | Where do packets begin and end, and what are their fields? | [`PacketReader`], [`Listener`]; for people: [`dissect`] |
//!
//! Source references are those of [`traceproof_vectors::arm_etm`].

mod address_bytes;
mod alignment;
mod dissect;
mod exception_bytes;
mod fields;
mod headers;
mod listener;
mod packet;
mod records;
mod value_bytes;

#[cfg(test)]
mod tests;

pub use dissect::dissect;
pub use listener::Listener;
pub use packet::PacketReader;
