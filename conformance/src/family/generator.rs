//! Random executions, and the oracle that confirms their round trips.

use traceproof_vectors::Program;
use traceproof_vectors::case::CaseProtocol;

/// A scenario, and the output of the reference encoder model for it.
#[derive(Clone, Debug)]
pub struct Generated<P: CaseProtocol> {
    /// What encoder and decoder know.
    pub parameters: P::Parameters,
    /// The encoder's choices.
    pub policy: P::Policy,
    /// The code; empty where nothing refers to code.
    pub program: Program,
    /// What the hardware sees.
    pub execution: P::Execution,
    /// What travels.
    pub wire: Vec<u8>,
}

/// The part of a family that generates executions. There is no generator without an oracle: the output of the reference
/// alone is no expectation.
#[derive(Debug)]
pub struct Generator<P: CaseProtocol> {
    /// The scenario of these bytes, and the output of the reference encoder model for it; `None` if the bytes have
    /// none.
    pub generate: fn(&[u8]) -> Option<Generated<P>>,
    /// Runs the same scenario through both reference models and compares the result with an oracle that knows the
    /// scenario but no packets. The error is the difference, or that the bytes have no scenario.
    pub confirm: fn(&[u8]) -> Result<(), String>,
    /// Judges by the same bytes what only the reference models show, and no case: which packets their writers refuse,
    /// which executions are refused, periods and limits. Not needed for an expectation, so it is called only where the
    /// reference models are the subject.
    pub examine: fn(&[u8]) -> Result<(), String>,
    /// As `examine`, of what is the same for every execution. It belongs to number 0.
    pub examine_once: fn() -> Result<(), String>,
}
