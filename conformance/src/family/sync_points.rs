//! Where a decoder may start, and what it reports from there on.

use traceproof_vectors::{Log, Program, Protocol};

/// The index of the first wrong event: those that are expected, those that a decoder reported, what it can know.
pub type FirstWrong<Event> = fn(&[Event], &[Event], PriorState) -> Option<usize>;

/// The part of a family whose streams can be decoded from other places than their beginning.
#[derive(Debug)]
pub struct SyncPoints<P: Protocol> {
    /// Bytes of a stream at which a decoder may start, ascending, as the reference reads it.
    pub points: fn(wire: &[u8], &P::Parameters, &Program) -> Vec<usize>,
    /// What a log reports from the sync point at byte `from` on, in words that do not depend on what is before it.
    pub tail: fn(&Log<P>, from: usize, &P::Parameters) -> Tail<P>,
    /// The index of the first event that a decoder which starts late must not report like this: expected events, then
    /// those that it reported. [`first_difference`](Self::first_difference) where it knows all that it must.
    pub first_wrong: FirstWrong<P::Event>,
    /// Garbage in such streams; `None` where every byte has a meaning.
    pub garbage: Option<Garbage<P>>,
}

impl<P: Protocol> SyncPoints<P> {
    /// The index of the first event that is another one, whatever a late decoder may know.
    #[must_use]
    pub fn first_difference(expected: &[P::Event], got: &[P::Event], _: PriorState) -> Option<usize> {
        let length = expected.len().max(got.len());
        (0..length).find(|&index| expected.get(index) != got.get(index))
    }
}

/// Bytes that belong to no stream.
#[derive(Debug)]
pub struct Garbage<P: Protocol> {
    /// Garbage of the `index`-th kind; empty where there is none that a decoder must get over.
    pub bytes: fn(&P::Parameters, index: usize) -> Vec<u8>,
    /// Whether a packet that garbage begins may take the bytes of the next sync point for its own.
    pub takes_a_point: fn(&P::Parameters) -> bool,
}

/// What a log reports from a sync point on.
#[derive(Clone, Debug)]
pub struct Tail<P: Protocol> {
    /// Packets.
    pub packets: Vec<P::Packet>,
    /// Events.
    pub events: Vec<P::Event>,
    /// How many faults are errors.
    pub errors: usize,
    /// Events from before that are still in force, so that repeating one adds nothing. Only a decoder that started
    /// earlier knows them; it need not report them again.
    pub in_force: Vec<P::Event>,
    /// The sync point contradicts what the decoder has from before. What that costs is a choice of the decoder, and
    /// nothing is compared.
    pub contradicted: bool,
}

impl<P: Protocol> Default for Tail<P> {
    fn default() -> Self {
        Self { packets: Vec::new(), events: Vec::new(), errors: 0, in_force: Vec::new(), contradicted: false }
    }
}

impl<P: Protocol> Tail<P> {
    /// Nothing is reported, so nothing can be compared.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.packets.is_empty() && self.events.is_empty()
    }
}

/// How much a late decoder may know of what was before its first sync point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PriorState {
    /// Nothing that is wrong.
    Less,
    /// Anything: it may come from garbage.
    Garbled,
}
