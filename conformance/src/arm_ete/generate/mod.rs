//! Random programs of A64, A32 and T32 code and executions of them, for round trips through trace units and decoders.
//!
//! The programs are small, so that the rare situations (a cancel across a synchronization, an exception at the target
//! of a return, a transaction that fails while it is speculated) come often.

mod dissected;
mod execution;
mod generator;
mod happenings;
mod impossible;
mod instruction;
mod limits;
mod m_profile;
pub mod oracle;
mod periods;
mod program;
mod round_trip;
mod run;
mod scenario;
mod shown;
mod signalled;
mod writing;

pub(super) use generator::{GENERATOR, readings};
pub use instruction::{Instruction, Kind};
pub use program::GeneratedProgram;
pub use round_trip::{Cause, Failure, Success, decode, encode, round_trip};
pub use scenario::{Scenario, scenario};
