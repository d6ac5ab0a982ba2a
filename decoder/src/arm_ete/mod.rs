//! ARM ETE and ETMv4: bytes to packets.
mod dissect;
mod headers;
mod layout;
mod listener;
mod packet;
mod parse;

#[cfg(test)]
mod tests;

pub use dissect::dissect;
pub use listener::Listener;
pub use packet::PacketReader;
