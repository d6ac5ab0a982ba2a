//! ARM ETE and ETMv4: bytes to packets.
mod analyzer;
mod decoder;
mod dissect;
mod element;
mod flow;
mod headers;
mod history;
mod layout;
mod listener;
mod oddities;
mod packet;
mod parse;
mod resolution;
mod speculation;
mod transaction;

#[cfg(test)]
mod tests;

pub use analyzer::Analyzer;
pub use decoder::Decoder;
pub use dissect::dissect;
pub use listener::Listener;
pub use packet::PacketReader;
