//! Captures of real hardware.

use traceproof_vectors::Protocol;

use crate::snapshot::{Stream, StreamError, TraceProtocol};

/// The part of a family whose trace is found in snapshots.
#[derive(Debug)]
pub struct Captures<P: Protocol> {
    /// The protocols of its trace sources.
    pub protocols: &'static [TraceProtocol],
    /// The trace configuration in the registers of a source with one of these protocols. The error is a missing
    /// register, an impossible value, or an unsupported source.
    pub parameters: fn(&Stream<'_>) -> Result<P::Parameters, StreamError>,
}
