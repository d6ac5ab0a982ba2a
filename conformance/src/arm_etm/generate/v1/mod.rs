//! The same for ETMv1: programs for cores of its time, runs of them, and an exact oracle.
//!
//! ETMv1 has its own generator: its decoder needs code to separate data items, Thumb instructions are half-words, all
//! transfers of an instruction are in one cycle, nothing misses or is folded, and the processor refills its pipeline
//! for two cycles after every taken branch.

pub mod oracle;
mod program;
mod round_trip;
mod run;
mod scenario;

pub use program::{GeneratedProgram, Instruction, Kind};
pub use round_trip::{Success, encode, judge, round_trip};
pub use scenario::{Scenario, scenario};
