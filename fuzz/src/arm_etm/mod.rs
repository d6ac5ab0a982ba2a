//! Properties of the ARM ETM codecs.

pub mod cycles;
pub mod presets;
pub mod v1_cycles;
pub mod v3_flow;
pub mod v3_packets;
