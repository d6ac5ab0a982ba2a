//! Properties of a decoder that need no expected value.

use std::fmt;

use traceproof_vectors::{Decoder, Entry, Log, Program, Protocol, Refusal};

use crate::{Divergence, JudgedProtocol, judge};

/// Why a relation does not hold, or cannot be tried.
#[derive(Clone, Debug)]
pub enum Broken {
    /// The first difference.
    Divergence(Box<Divergence>),
    /// The decoder refuses the parameters or the program.
    Refused(Refusal),
    /// The subject has no decoder of the family.
    NoDecoder,
}

impl From<Box<Divergence>> for Broken {
    fn from(divergence: Box<Divergence>) -> Self {
        Self::Divergence(divergence)
    }
}

impl From<Refusal> for Broken {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Divergence(divergence) => write!(f, "{divergence:#?}"),
            Self::Refused(refusal) => refusal.fmt(f),
            Self::NoDecoder => f.write_str("the subject has no decoder of the family"),
        }
    }
}

/// Lengths of odd and empty pieces; cut nowhere in particular. The last two are longer than what a decoder reads at
/// once, after bytes that it still holds.
const PIECES: [usize; 9] = [3, 1, 0, 7, 2, 5, 4, 21, 37];

fn pieces(mut wire: &[u8]) -> Vec<&[u8]> {
    let mut pieces = Vec::new();
    for length in PIECES.into_iter().cycle() {
        if wire.is_empty() {
            break;
        }
        let (piece, rest) = wire.split_at(length.min(wire.len()));
        pieces.push(piece);
        wire = rest;
    }
    pieces
}

/// The results of a decoder that has begun, for chunks and the end of the stream.
pub fn push_all<'a, P: Protocol>(
    decoder: &mut dyn Decoder<P>,
    chunks: impl IntoIterator<Item = &'a [u8]>,
) -> Log<P> {
    let mut log = Log::default();
    for chunk in chunks {
        decoder.push(chunk, &mut log);
    }
    decoder.finish(&mut log);
    log
}

/// Another stream, which a decoder gets first and must forget.
#[derive(Clone, Copy, Debug)]
pub struct Earlier<'a, P: Protocol> {
    /// Its name in a divergence.
    pub name: &'a str,
    /// Its parameters, which should be others than those of the stream that is judged.
    pub parameters: &'a P::Parameters,
    /// Its code.
    pub program: &'a Program,
    /// Its bytes.
    pub wire: &'a [u8],
}

/// Any split into chunks gives the same results, and so does another run after finish, reset or begin, whatever was
/// decoded before: the same stream, its first half, or the `earlier` one. A second half that has results of its own
/// begins at byte `second_half`; without one, at the first packet at or after the middle.
///
/// # Errors
///
/// The first difference.
pub fn repeats<P: JudgedProtocol>(
    make: &dyn Fn() -> Option<Box<dyn Decoder<P>>>,
    parameters: &P::Parameters,
    program: &Program,
    wire: &[u8],
    second_half: Option<usize>,
    earlier: Option<&Earlier<'_, P>>,
) -> Result<(), Broken> {
    let begun = || {
        let mut decoder = make().ok_or(Broken::NoDecoder)?;
        decoder.begin(parameters, program)?;
        Ok::<_, Broken>(decoder)
    };
    let mut decoder = begun()?;
    let claims = decoder.capabilities();
    let whole = push_all(decoder.as_mut(), [wire]);
    let log = push_all(begun()?.as_mut(), wire.chunks(1));
    judge::repetition("byte by byte", &whole, &log, &claims)?;
    let log = push_all(begun()?.as_mut(), pieces(wire));
    judge::repetition("in odd pieces", &whole, &log, &claims)?;

    decoder.reset();
    let log = push_all(decoder.as_mut(), [wire]);
    judge::repetition("after finish and reset", &whole, &log, &claims)?;
    decoder.reset();
    // What the first half establishes, the second half may use but does not establish again.
    decoder.push(wire.get(..wire.len() / 2).unwrap_or_default(), &mut ());
    decoder.reset();
    let from = second_half.unwrap_or_else(|| packet_after_the_middle(&whole, wire.len()));
    let second = wire.get(from..).unwrap_or_default();
    let log = push_all(decoder.as_mut(), [second]);
    let what = "of the second half, after the first half and a reset";
    judge::repetition(what, &push_all(begun()?.as_mut(), [second]), &log, &claims)?;
    decoder.begin(parameters, program)?;
    let log = push_all(decoder.as_mut(), [wire]);
    judge::repetition("after another begin", &whole, &log, &claims)?;

    let Some(earlier) = earlier else { return Ok(()) };
    let mut decoder = make().ok_or(Broken::NoDecoder)?;
    if decoder.begin(earlier.parameters, earlier.program).is_ok() {
        decoder.push(earlier.wire, &mut ());
    }
    decoder.begin(parameters, program)?;
    decoder.push(earlier.wire, &mut ());
    decoder.reset();
    let log = push_all(decoder.as_mut(), [wire]);
    let what = format!("after {}, another begin, {0} and a reset", earlier.name);
    Ok(judge::repetition(&what, &whole, &log, &claims)?)
}

/// The first byte of the first packet at or after the middle of so many bytes; the middle without such a packet.
fn packet_after_the_middle<P: Protocol>(whole: &Log<P>, bytes: usize) -> usize {
    let packets = whole.entries.iter().filter(|(_, entry)| matches!(entry, Entry::Packet(_)));
    let mut starts = packets.filter_map(|(place, _)| usize::try_from(place.byte).ok());
    starts.find(|start| (bytes / 2..bytes).contains(start)).unwrap_or(bytes / 2)
}
