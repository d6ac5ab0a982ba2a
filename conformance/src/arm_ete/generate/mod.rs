//! Random programs of A64, A32 and T32 code and executions of them, for round trips through trace units and decoders.
//!
//! The programs are small, so that the rare situations (a cancel across a synchronization, an exception at the target of
//! a return, a transaction that fails while it is speculated) come often.

mod happenings;
mod instruction;
pub mod oracle;
mod program;
mod run;
mod scenario;

pub use instruction::{Instruction, Kind};
pub use program::GeneratedProgram;
pub use scenario::{Scenario, scenario};
