//! Captures of real hardware.

use traceproof_vectors::Protocol;

use crate::snapshot::{Stream, StreamError, TraceProtocol};

/// The part of a family whose trace is found in snapshots.
#[derive(Debug)]
pub struct Captures<P: Protocol> {
    /// What its trace sources speak.
    pub protocols: &'static [TraceProtocol],
    /// What the registers of a source that speaks one of them say about its trace. The error is that a register is missing or says
    /// what cannot be, or that the source is one that is not decoded.
    pub parameters: fn(&Stream<'_>) -> Result<P::Parameters, StreamError>,
}
