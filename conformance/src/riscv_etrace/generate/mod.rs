//! Random RISC-V programs and executions of them, for round trips.
//!
//! The programs are small and have few labels, so that the rare situations (a loop label reached twice in one packet's
//! span, a trap after an updiscon, a filter edge on a branch) are frequent.

mod accesses;
pub mod data_oracle;
mod dissected;
mod execution;
mod generator;
mod instruction;
mod nesting;
pub mod oracle;
mod program;
mod qualification;
mod round_trip;
mod scenario;

pub(super) use generator::GENERATOR;
pub use instruction::{Instruction, Kind};
pub use program::GeneratedProgram;
pub use qualification::Qualification;
pub use round_trip::{Cause, Failure, Success, decode, encode, retirement, round_trip};
pub use scenario::{Scenario, Scope, scenario};
