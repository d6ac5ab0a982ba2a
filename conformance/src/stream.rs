//! Lets a decoder read a stream of any length with constant memory.

use std::io::{self, Read};

use traceproof_vectors::{Decoder, Protocol, Sink};

/// How much is read at once.
const CHUNK: usize = 64 * 1024;

/// A sink of a stream that is read from a file.
pub trait StreamSink<P: Protocol>: Sink<P> {
    /// Whether it must know where packets end. Then the stream is pushed byte by byte, so that the latest byte is the
    /// last one of the packet that is delivered.
    fn follows_bytes(&self) -> bool;

    /// These bytes are pushed next.
    fn bytes(&mut self, bytes: &[u8]);

    /// Whether nothing more is wanted, for instance because the output cannot be written any more.
    fn is_done(&self) -> bool;
}

/// Feeds everything from `input` to a decoder that has begun, and finishes it. Stops early when the sink wants nothing
/// more.
///
/// # Errors
///
/// When the input cannot be read. Errors of the output stay in the sink.
pub fn decode<P: Protocol, S: StreamSink<P>>(
    decoder: &mut dyn Decoder<P>,
    input: &mut dyn Read,
    sink: &mut S,
) -> io::Result<()> {
    let mut buffer = vec![0; CHUNK];
    let piece = if sink.follows_bytes() { 1 } else { CHUNK };
    loop {
        let length = match input.read(&mut buffer) {
            Ok(0) => break,
            Ok(length) => length,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        for piece in buffer.get(..length).unwrap_or_default().chunks(piece) {
            sink.bytes(piece);
            decoder.push(piece, sink);
            if sink.is_done() {
                return Ok(());
            }
        }
    }
    decoder.finish(sink);
    Ok(())
}
