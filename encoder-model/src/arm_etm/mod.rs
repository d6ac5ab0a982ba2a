//! ARM Embedded Trace Macrocell, by architecture: [`v2`]. [`Encoder`] is the macrocell that the parameters name.

mod encoder;
pub mod v2;

pub use encoder::Encoder;
