//! ARM Embedded Trace Macrocell, by architecture: [`v1`], [`v2`], [`v3`]. [`Encoder`] is the macrocell that the
//! parameters name.

mod compression;
mod encoder;
mod misses;
mod ss;
mod unencodable;
pub mod v1;
pub mod v2;
pub mod v3;

#[cfg(test)]
mod tests;

pub use encoder::Encoder;
pub use unencodable::UnencodablePacket;
