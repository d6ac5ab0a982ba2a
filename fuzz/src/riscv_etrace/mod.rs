//! Properties of the RISC-V E-Trace codecs.

pub mod data;
pub mod encapsulation;
pub mod flow;
pub mod packets;
pub mod presets;
pub mod round_trip;
