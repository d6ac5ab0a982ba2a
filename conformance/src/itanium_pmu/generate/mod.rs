//! Random programming of the performance monitor and what then happens at it, for agreement of model and oracle.
//!
//! Addresses, encodings and register values come from a small world, so that ranges match, opcodes match and counters
//! overflow often.

mod agreement;
mod generator;
mod scenario;
mod settings;
mod world;

pub use agreement::{Agreement, Cause, Disagreement, Written, agree, log};
pub(super) use generator::GENERATOR;
pub use scenario::{MAX_STEPS, Scenario, scenario};
