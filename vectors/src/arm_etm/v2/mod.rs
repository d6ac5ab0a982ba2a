//! Architecture 2: one record per trace clock, PIPESTAT and TRACEPKT; see [`Cycle`].

mod wire;

pub use wire::{Cycle, MalformedCycle, Pipestat, UPPER_NIBBLE, UnknownPipestat};
