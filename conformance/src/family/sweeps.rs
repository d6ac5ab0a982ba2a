//! Sweeps of opcodes: an execution for each encoding of a table.

use traceproof_vectors::case::{CaseProtocol, Expected};

use super::generator::Generated;

/// Executions of the encodings of a table, with what a decoder must report of them.
#[derive(Clone, Debug)]
pub struct Sweep<P: CaseProtocol> {
    /// The executions, one after the other, and the output of the reference encoder model for them.
    pub generated: Generated<P>,
    /// The packets of that output.
    pub packets: Vec<P::Packet>,
    /// The events, from the classes of the table alone.
    pub events: Vec<Expected<P>>,
    /// Named readings on which they depend.
    pub readings: Vec<&'static str>,
    /// How many encodings are executed.
    pub rows: usize,
}

/// The part of a family whose decoders classify instructions: tables by an independent disassembler as executions.
#[derive(Debug)]
pub struct Sweeps<P: CaseProtocol> {
    /// Names of all sweeps: instruction set, class, number; `rv32/branch-1`.
    pub names: fn() -> Vec<String>,
    /// The sweep of a name; `None` if there is none.
    pub make: fn(&str) -> Option<Made<P>>,
}

/// A sweep. The error is that the reference encoder model does not encode it.
pub(crate) type Made<P> = Result<Sweep<P>, String>;
