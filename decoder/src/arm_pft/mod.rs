//! ARM Program Flow Trace: bytes to packets to events.

mod dissect;
mod headers;
mod layout;
mod listener;
mod notes;
mod packet;
mod parse;

#[cfg(test)]
mod tests;

pub use dissect::dissect;
pub use listener::Listener;
pub use packet::PacketReader;
