//! What judging a protocol needs beyond its vocabulary.

use traceproof_vectors::case::CaseProtocol;
use traceproof_vectors::{Decoder, Dissection, Program};

/// The reference decoder of a protocol, and how results are compared.
pub trait JudgedProtocol: CaseProtocol {
    /// A new reference decoder.
    fn reference_decoder() -> Box<dyn Decoder<Self>>;

    /// Takes a stream apart, unit by unit and bit by bit, with the reference reader.
    fn dissect(wire: &[u8], parameters: &Self::Parameters, program: &Program) -> Vec<Dissection<Self>>;

    /// As [`dissect`](Self::dissect), one unit after the other. Families with long streams override it, so that memory
    /// does not grow with the stream.
    fn dissect_each(
        wire: &[u8],
        parameters: &Self::Parameters,
        program: &Program,
        each: &mut dyn FnMut(Dissection<Self>),
    ) {
        Self::dissect(wire, parameters, program).into_iter().for_each(each);
    }

    /// Whether events and faults wait until what carried them is committed, so that they follow later packets.
    const RESOLVES_SPECULATION: bool;

    /// Whether `event` directly before a `limit` fault is not judged, because how far a decoder walks before
    /// its work budget is spent is its own choice.
    fn is_open_at_limit(event: &Self::Event) -> bool;

    /// The events that are still in force after `events`, so that repeating one adds nothing even where a fault lies
    /// in between. None of them makes another one redundant.
    fn in_force(events: &[Self::Event]) -> Vec<Self::Event>;
}
