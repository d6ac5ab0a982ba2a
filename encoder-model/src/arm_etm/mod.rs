//! ARM Embedded Trace Macrocell, by architecture: [`v2`], [`v3`]. [`Encoder`] is the macrocell that the parameters name.

mod encoder;
mod misses;
mod unencodable;
pub mod v2;
pub mod v3;

pub use encoder::Encoder;
pub use unencodable::UnencodablePacket;
