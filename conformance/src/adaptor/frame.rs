//! How messages travel: a line each, or with their length in front.
//!
//! `jsonl`: a message is a JSON object on a line. `bin1`: a frame is its length without the length itself (4 bytes), a
//! kind (1 byte), the id of the request (4 bytes) and a body; numbers are little-endian. Kind 0 is a JSON message, kind
//! 1 a `run` request:
//!
//! | bytes | |
//! |---|---|
//! | 1 | start: 0 begin, 1 reset, 2 continue |
//! | 1 | finish: 0 or 1 |
//! | 4 | key of the parameters |
//! | 4 | key of the image |
//! | 4 | number of chunks |
//! | 4 for each chunk | its length |
//! | the rest | the chunks |

use std::borrow::Cow;
use std::fmt;
use std::io::{self, BufRead, Read, Write};

pub use super::framing::Framing;
use super::message::{HexBytes, Run, Start};

/// The frame of a JSON message.
pub const JSON: u8 = 0;
/// The frame of a `run` request.
pub const RUN: u8 = 1;

/// Bytes of a frame between its length and its body.
const HEAD: usize = 5;

/// A message as it came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Frame {
    /// A JSON object; the id only where it stands outside of it.
    Json(Option<u32>, Vec<u8>),
    /// The body of a `run` request and its id.
    Run(u32, Vec<u8>),
}

/// Why there is no message.
#[derive(Debug)]
pub enum FrameError {
    /// The pipe broke.
    Io(io::Error),
    /// It is longer than allowed.
    TooLong {
        /// What is allowed, in bytes.
        limit: u64,
    },
    /// The stream ends within a message.
    Truncated,
    /// No frame is of this kind, or it is too short for it.
    Kind(u8),
}

/// Reads a message of at most `limit` bytes; `None` at the end of the stream.
///
/// # Errors
///
/// When there is none.
pub fn read(input: &mut impl BufRead, framing: Framing, limit: u64) -> Result<Option<Frame>, FrameError> {
    match framing {
        Framing::JsonLines => Ok(read_line(input, limit)?.map(|line| Frame::Json(None, line))),
        Framing::Bin1 => read_frame(input, limit),
    }
}

/// Empty lines are passed over; together they are no longer than a message.
fn read_line(input: &mut impl BufRead, limit: u64) -> Result<Option<Vec<u8>>, FrameError> {
    let mut passed = 0;
    loop {
        let mut line = Vec::new();
        input.by_ref().take(limit.saturating_add(1)).read_until(b'\n', &mut line).map_err(FrameError::Io)?;
        match line.last() {
            None => return Ok(None),
            Some(b'\n') if line.trim_ascii().is_empty() => passed += line.len() as u64,
            Some(b'\n') => return Ok(Some(line)),
            Some(_) if line.len() as u64 > limit => return Err(FrameError::TooLong { limit }),
            Some(_) => return Err(FrameError::Truncated),
        }
        if passed > limit {
            return Err(FrameError::TooLong { limit });
        }
    }
}

fn read_frame(input: &mut impl BufRead, limit: u64) -> Result<Option<Frame>, FrameError> {
    if input.fill_buf().map_err(FrameError::Io)?.is_empty() {
        return Ok(None);
    }
    let mut length = [0; 4];
    exactly(input, &mut length)?;
    let length = u32::from_le_bytes(length);
    if u64::from(length) > limit {
        return Err(FrameError::TooLong { limit });
    }
    let mut head = [0; HEAD];
    let body = (length as usize).checked_sub(HEAD).ok_or(FrameError::Truncated)?;
    exactly(input, &mut head)?;
    let [kind, a, b, c, d] = head;
    let id = u32::from_le_bytes([a, b, c, d]);
    // Grows with what is really there.
    let mut bytes = Vec::new();
    input.by_ref().take(body as u64).read_to_end(&mut bytes).map_err(FrameError::Io)?;
    if bytes.len() < body {
        return Err(FrameError::Truncated);
    }
    match kind {
        JSON => Ok(Some(Frame::Json(Some(id), bytes))),
        RUN => Ok(Some(Frame::Run(id, bytes))),
        _ => Err(FrameError::Kind(kind)),
    }
}

fn exactly(input: &mut impl Read, bytes: &mut [u8]) -> Result<(), FrameError> {
    input.read_exact(bytes).map_err(|error| match error.kind() {
        io::ErrorKind::UnexpectedEof => FrameError::Truncated,
        _ => FrameError::Io(error),
    })
}

/// A JSON message, ready to be written.
#[must_use]
pub fn json(framing: Framing, id: u32, mut body: Vec<u8>) -> Vec<u8> {
    match framing {
        Framing::JsonLines => {
            body.push(b'\n');
            body
        }
        Framing::Bin1 => frame(JSON, id, &body),
    }
}

fn frame(kind: u8, id: u32, body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(body.len() + HEAD).unwrap_or(u32::MAX);
    [&length.to_le_bytes()[..], &[kind], &id.to_le_bytes(), body].concat()
}

/// A `run` request as a frame of `bin1`.
#[must_use]
pub fn run(id: u32, run: &Run<'_>) -> Vec<u8> {
    let start = match run.start {
        Start::Begin => 0,
        Start::Reset => 1,
        Start::Continue => 2,
    };
    let number = |number: usize| u32::try_from(number).unwrap_or(u32::MAX).to_le_bytes();
    let mut body = vec![start, u8::from(run.finish)];
    body.extend(run.parameters.to_le_bytes());
    body.extend(run.image.to_le_bytes());
    body.extend(number(run.chunks.len()));
    run.chunks.iter().for_each(|chunk| body.extend(number(chunk.0.len())));
    run.chunks.iter().for_each(|chunk| body.extend_from_slice(&chunk.0));
    frame(RUN, id, &body)
}

/// Reads the body of a frame of kind 1.
///
/// # Errors
///
/// When lengths and bytes do not fit each other.
pub fn read_run(mut body: &[u8]) -> Result<Run<'_>, FrameError> {
    let short = || FrameError::Kind(RUN);
    let byte = |body: &mut &[u8]| {
        let (&first, rest) = body.split_first().ok_or_else(short)?;
        *body = rest;
        Ok::<u8, FrameError>(first)
    };
    let start = match byte(&mut body)? {
        0 => Start::Begin,
        1 => Start::Reset,
        2 => Start::Continue,
        _ => return Err(short()),
    };
    let finish = byte(&mut body)? != 0;
    let number = |body: &mut &[u8]| {
        let (first, rest) = body.split_first_chunk::<4>().ok_or_else(short)?;
        *body = rest;
        Ok::<u32, FrameError>(u32::from_le_bytes(*first))
    };
    let (parameters, image, count) = (number(&mut body)?, number(&mut body)?, number(&mut body)?);
    let (mut lengths, mut bytes) = body.split_at_checked(count as usize * 4).ok_or_else(short)?;
    let mut chunks = Vec::new();
    while !lengths.is_empty() {
        let length = number(&mut lengths)?;
        let (chunk, rest) = bytes.split_at_checked(length as usize).ok_or_else(short)?;
        chunks.push(HexBytes(Cow::Borrowed(chunk)));
        bytes = rest;
    }
    if bytes.is_empty() { Ok(Run { start, parameters, image, chunks, finish }) } else { Err(short()) }
}

/// Writes a message and pushes it out.
///
/// # Errors
///
/// Those of the output.
pub fn write(output: &mut impl Write, message: &[u8]) -> io::Result<()> {
    output.write_all(message)?;
    output.flush()
}

impl fmt::Display for FrameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => write!(f, "the pipe broke: {error}"),
            Self::TooLong { limit } => write!(f, "a message is longer than {limit} bytes"),
            Self::Truncated => f.write_str("the stream ends within a message"),
            Self::Kind(kind) => write!(f, "a frame of kind {kind} cannot be read"),
        }
    }
}

impl std::error::Error for FrameError {}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(bytes: &[u8]) -> HexBytes<'_> {
        HexBytes(Cow::Borrowed(bytes))
    }

    #[test]
    fn a_run_has_the_documented_bytes() {
        let request = Run {
            start: Start::Reset,
            parameters: 2,
            image: 0x0103,
            chunks: vec![of(b"ab"), of(b"")],
            finish: true,
        };
        let bytes = run(7, &request);
        #[rustfmt::skip]
        let expected = [
            29, 0, 0, 0,  1,  7, 0, 0, 0,
            1,  1,  2, 0, 0, 0,  3, 1, 0, 0,  2, 0, 0, 0,  2, 0, 0, 0,  0, 0, 0, 0,  b'a', b'b',
        ];
        assert_eq!(bytes, expected);
        let Ok(Some(Frame::Run(7, body))) = read(&mut &bytes[..], Framing::Bin1, 100) else {
            panic!("a run")
        };
        assert_eq!(read_run(&body).expect("fits"), request);
        for length in 0..body.len() {
            assert!(read_run(body.get(..length).unwrap_or_default()).is_err(), "{length}");
        }
    }

    #[test]
    fn lengths_are_held_to_the_limit() {
        let long = read(&mut &[0xff; 4][..], Framing::Bin1, 1000);
        assert!(matches!(long, Err(FrameError::TooLong { limit: 1000 })));
        let long = read(&mut &[b'x'; 12][..], Framing::JsonLines, 11);
        assert!(matches!(long, Err(FrameError::TooLong { limit: 11 })));
        assert!(matches!(read(&mut &b"{}"[..], Framing::JsonLines, 11), Err(FrameError::Truncated)));
        assert!(matches!(read(&mut &[4, 0, 0, 0][..], Framing::Bin1, 11), Err(FrameError::Truncated)));
        assert!(matches!(read(&mut &[9, 0, 0][..], Framing::Bin1, 11), Err(FrameError::Truncated)));
        assert!(matches!(
            read(&mut &[5, 0, 0, 0, 9, 0, 0, 0, 0][..], Framing::Bin1, 11),
            Err(FrameError::Kind(9))
        ));
        let line = read(&mut &b"\n \n{}\n"[..], Framing::JsonLines, 11).expect("a line");
        assert_eq!(line, Some(Frame::Json(None, b"{}\n".to_vec())));
        assert!(matches!(read(&mut &b""[..], Framing::Bin1, 11), Ok(None)));
    }
}
