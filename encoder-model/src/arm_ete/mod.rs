//! ARM FEAT_ETE and ETMv4: what a trace unit sees of its processing element -> packets -> buffer -> bytes.

mod atoms;
mod check;
mod contexts;
mod cycles;
mod encoder;
mod field;
mod flush;
mod gates;
mod held;
mod history;
mod packet;
mod pipeline;
mod processor;
mod q;
mod returns;
mod speculation;
mod sync;
mod timestamps;
mod trace;
mod transactions;
mod unencodable;
mod unit;
mod window;

#[cfg(test)]
mod tests;

pub use encoder::Encoder;
pub use packet::write_packet;
pub use processor::{Core, ExecutionError, ExecutionProblem};
pub use unencodable::UnencodablePacket;
