//! What holds for any stream through any decoder: the same bounded results in order, however it is cut.

use traceproof_vectors::{Decoder, Entry, Log, Place, Protocol};

/// Decodes a stream whole, after a reset and byte by byte. The decoder has begun.
///
/// # Panics
///
/// When the results depend on how the bytes are cut, are out of order, or more than the bytes can carry.
pub fn is_the_same_in_pieces<P: Protocol + PartialEq>(decoder: &mut dyn Decoder<P>, stream: &[u8]) -> Log<P> {
    let whole = decode(decoder, std::iter::once(stream));
    decoder.reset();
    let again = decode(decoder, std::iter::once(stream));
    assert_eq!(whole.entries, again.entries, "reset and replay differ");
    decoder.reset();
    let cut = decode(decoder, stream.chunks(1));
    assert_eq!(whole.entries, cut.entries, "cutting the stream changes the results");
    for (place, entry) in &whole.entries {
        assert!(place.byte <= stream.len() as u64, "{entry:?} is beyond the end of the stream");
    }
    let packets: Vec<Place> = whole
        .entries
        .iter()
        .filter(|(_, entry)| matches!(entry, Entry::Packet(_)))
        .map(|(place, _)| *place)
        .collect();
    assert!(packets.is_sorted(), "packets are out of order");
    assert!(packets.len() <= 2 * stream.len() + 1, "more packets than bytes can hold");
    whole
}

/// Instructions of one walk through the code, for targets that hold [`work_is_bounded`].
pub const STEPS: u64 = 1 << 10;

/// Holds the stated bound of work (SECURITY.md): each of the `outcomes` of a byte leads over [`STEPS`] instructions and
/// over the code once, at most. `instructions` says how many an event stands for.
///
/// # Panics
///
/// When the stream stands for more instructions.
pub fn work_is_bounded<P: Protocol>(
    log: &Log<P>,
    stream: &[u8],
    code: &[u8],
    outcomes: u64,
    instructions: impl Fn(&P::Event) -> u64,
) {
    let instructions: u64 = log.events().map(instructions).sum();
    let walk = STEPS + code.len() as u64 / 2 + 1;
    let most = stream.len() as u64 * outcomes * walk;
    assert!(instructions <= most, "{instructions} instructions, at most {most} are in the bytes");
}

fn decode<'a, P: Protocol>(decoder: &mut dyn Decoder<P>, chunks: impl Iterator<Item = &'a [u8]>) -> Log<P> {
    let mut log = Log::default();
    for chunk in chunks {
        decoder.push(chunk, &mut log);
    }
    decoder.finish(&mut log);
    log
}
