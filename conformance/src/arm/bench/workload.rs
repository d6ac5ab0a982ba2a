//! A trace with its code.

use std::fmt;

use traceproof_vectors::{EncoderSink, Program, Protocol, Refusal};

use crate::snapshot::{SnapshotError, StreamError};

/// A trace with its code.
#[derive(Clone, Debug)]
pub(crate) struct Workload<P: Protocol> {
    pub(crate) name: &'static str,
    pub(crate) program: Program,
    pub(crate) parameters: P::Parameters,
    pub(crate) wire: Vec<u8>,
}

/// Why a trace cannot be prepared.
#[derive(Debug)]
#[non_exhaustive]
pub(crate) enum WorkloadError {
    /// The capture cannot be read.
    Snapshot(SnapshotError),
    /// Nor its stream.
    Stream(StreamError),
    /// There is nothing in the capture.
    Empty,
    /// The encoder model refuses the parameters.
    Refused(Refusal),
}

impl fmt::Display for WorkloadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Snapshot(error) => error.fmt(f),
            Self::Stream(error) => error.fmt(f),
            Self::Empty => f.write_str("nothing is in the capture"),
            Self::Refused(refusal) => refusal.fmt(f),
        }
    }
}

impl std::error::Error for WorkloadError {}

/// A trace from its first A-sync on, of at least so many zeros, repeated, `bytes` bytes or a little more.
pub(crate) fn repeated(trace: &[u8], zeros: usize, bytes: usize) -> Result<Vec<u8>, WorkloadError> {
    let is_alignment = |bytes: &[u8]| {
        bytes.split_last().is_some_and(|(last, zeros)| *last == 0x80 && zeros.iter().all(|it| *it == 0))
    };
    let start = trace.windows(zeros + 1).position(is_alignment);
    let once = start.and_then(|start| trace.get(start..)).ok_or(WorkloadError::Empty)?;
    Ok(once.repeat(bytes.div_ceil(once.len())))
}

/// Keeps what travels.
pub(crate) struct Sent(pub(crate) Vec<u8>);

impl<P: Protocol> EncoderSink<P> for Sent {
    fn packet(&mut self, _: &P::Packet) {}

    fn wire(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }
}
