//! Random programs of A32, T32 and T32EE code and executions of them, for round trips through PTMs and
//! decoders.
//!
//! The programs are small, so that the rare situations (an exception at a branch target, an overflow between
//! a waypoint and its atom, a return over a change of instruction set) come often.

mod dissected;
mod encoding;
mod generator;
mod happenings;
mod impossible;
mod instruction;
mod limits;
pub mod oracle;
mod periods;
mod program;
mod round_trip;
mod run;
mod scenario;
mod shown;
mod writing;

pub(super) use generator::{GENERATOR, readings};
pub use instruction::{Instruction, Kind, Reach};
pub use program::{GeneratedProgram, Place};
pub use round_trip::{Cause, Failure, Success, decode, encode, round_trip};
pub use scenario::{Scenario, scenario};
