//! Lets a decoder read a stream of any length with constant memory.

use std::io::{self, Read, Write};

use traceproof_vectors::Decoder;

use crate::family::FamilyRules;
use crate::listing::Listing;

/// How much is read at once.
const CHUNK: usize = 64 * 1024;

/// Feeds everything from `input` to a decoder that has begun, and finishes it. Stops early when the listing
/// cannot be written any more.
///
/// # Errors
///
/// When the input cannot be read. Errors of the output stay in the listing.
pub fn decode<P: FamilyRules, W: Write>(
    decoder: &mut dyn Decoder<P>,
    input: &mut dyn Read,
    listing: &mut Listing<W>,
) -> io::Result<()> {
    let mut buffer = vec![0; CHUNK];
    loop {
        let length = match input.read(&mut buffer) {
            Ok(0) => break,
            Ok(length) => length,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        decoder.push(buffer.get(..length).unwrap_or_default(), listing);
        if listing.error().is_some() {
            return Ok(());
        }
    }
    decoder.finish(listing);
    Ok(())
}
