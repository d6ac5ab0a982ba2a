//! ARM Program Flow Trace: the packets of a PTM.

mod address;
mod check;
mod packet;
mod unencodable;

#[cfg(test)]
mod tests;

pub use packet::write_packet;
pub use unencodable::UnencodablePacket;
