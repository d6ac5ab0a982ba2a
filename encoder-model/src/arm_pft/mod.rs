//! ARM Program Flow Trace: the waypoint interface of a PTM -> packets -> bytes.

mod address;
mod atoms;
mod check;
mod encoder;
mod fifo;
mod last_state;
mod packet;
mod processor;
mod ptm;
mod returns;
mod schedule;
mod sync;
mod timestamps;
mod trace;
mod unencodable;

#[cfg(test)]
mod tests;

pub use encoder::Encoder;
pub use packet::write_packet;
pub use processor::{Core, ExecutionError, ExecutionProblem};
pub use unencodable::UnencodablePacket;
