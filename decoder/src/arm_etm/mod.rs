//! ARM Embedded Trace Macrocell, by architecture: [`v1`], [`v2`], [`v3`]. [`Decoder`] takes the one that the parameters
//! name.
//!
//! Source references are those of [`traceproof_vectors::arm_etm`].

mod decoder;
mod dissect;
mod misses;
mod records;
mod units;
pub mod v1;
pub mod v2;
pub mod v3;
mod vectors;

pub use decoder::Decoder;
pub use dissect::dissect;
