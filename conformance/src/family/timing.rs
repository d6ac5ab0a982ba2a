//! Context and time of a stimulus: what changes while everything else of it is repeated.

use traceproof_vectors::Protocol;

/// Context and time of a stimulus.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timing {
    /// Its `context`.
    pub context: u64,
    /// Its `time`.
    pub time: u64,
}

/// The part of a family whose stimulus has context and time.
#[derive(Debug)]
pub struct TimingOf<P: Protocol> {
    /// The timing of a stimulus; `None` if this one has none.
    pub get: fn(&P::Stimulus) -> Option<Timing>,
    /// Gives another timing to a stimulus that has one.
    pub set: fn(&mut P::Stimulus, Timing),
}
