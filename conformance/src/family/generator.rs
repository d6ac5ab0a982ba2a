//! Random executions, and the oracle that confirms what comes back of them.

use traceproof_vectors::Program;
use traceproof_vectors::case::CaseProtocol;

/// A scenario, and what the reference encoder model makes of it.
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

/// The part of a family that generates executions. There is no generator without an oracle: the output of the reference alone is no
/// expectation.
#[derive(Debug)]
pub struct Generator<P: CaseProtocol> {
    /// The scenario that these bytes stand for, and what the reference encoder model makes of it; `None` if they stand for none.
    pub generate: fn(&[u8]) -> Option<Generated<P>>,
    /// Sends the same scenario through both reference models and holds what comes back against an oracle that knows the scenario and
    /// nothing of packets. The error is what does not come back, or that the bytes stand for no scenario.
    pub confirm: fn(&[u8]) -> Result<(), String>,
}
