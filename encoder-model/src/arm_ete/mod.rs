//! ARM FEAT_ETE and ETMv4: what a trace unit sees of its processing element -> packets -> bytes.

mod check;
mod packet;
mod unencodable;

#[cfg(test)]
mod tests;

pub use packet::write_packet;
pub use unencodable::UnencodablePacket;
