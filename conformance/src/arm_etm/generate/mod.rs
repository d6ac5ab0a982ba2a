//! Random ARM and Thumb programs and runs of them, for round trips through ETM macrocells and decoders.
//!
//! One stream of stimulus serves ETMv2 and ETMv3; ETMv1 has its own, in [`v1`]. The programs are small, so that the
//! rare situations (a filter edge under an LSM, an overflow between a load miss and its data, a branch between
//! instruction sets) come often.

mod dissected;
mod exceptions;
mod generator;
mod instruction;
pub mod oracle;
mod program;
mod round_trip;
mod run;
mod scenario;
pub mod v1;

pub(super) use generator::GENERATOR;
pub use instruction::{Instruction, Kind};
pub use program::GeneratedProgram;
pub use round_trip::{Cause, Failure, Sent, Success, decode, encode, round_trip};
pub use scenario::{Scenario, scenario};
