//! Random accesses and events at a trace unit, for agreement of model and checker.
//!
//! Registers and values come from a small world and procedures are often begun, so that every state is reached often
//! and registers are read back.

mod agreement;
mod dissected;
mod generator;
mod procedures;
mod scenario;
mod settings;
mod world;
mod writing;

pub use agreement::{Agreement, Cause, Disagreement, Written, agree, agree_on, log};
pub(super) use generator::GENERATOR;
pub use scenario::{MAX_STEPS, Scenario, scenario};
