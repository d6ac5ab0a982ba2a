//! How a scenario fails the round trip through an encoder and a decoder.

use std::fmt;

use traceproof_vectors::notation::show_bytes;
use traceproof_vectors::{Log, Protocol, Refusal};

/// How a round trip failed. `M` is the difference that the family's oracle found.
#[derive(Clone, Debug)]
pub struct Failure<M> {
    /// What went wrong.
    pub cause: Cause<M>,
    /// The encoder's bytes so far.
    pub wire: Vec<u8>,
}

/// What went wrong in a round trip.
#[derive(Clone, Debug)]
pub enum Cause<M> {
    /// The generator made a program that cannot be, or an execution that its own program cannot have.
    Generator(String),
    /// The encoder model refused the parameters or the policy.
    Encoder(Refusal),
    /// The decoder refused the parameters.
    Decoder(Refusal),
    /// The decoder read other packets than the encoder made.
    Packets {
        /// Index of the first packet that differs.
        index: usize,
        /// The packet of the encoder.
        made: String,
        /// The packet that the decoder read.
        read: String,
    },
    /// The execution failed the round trip.
    Execution(M),
    /// The data accesses failed the round trip.
    Data(M),
}

impl<M: fmt::Display> fmt::Display for Failure<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.cause {
            Cause::Generator(error) => write!(f, "generator: {error}")?,
            Cause::Encoder(refusal) => write!(f, "encoder refused: {refusal}")?,
            Cause::Decoder(refusal) => write!(f, "decoder refused: {refusal}")?,
            Cause::Packets { index, made, read } => {
                write!(f, "packet {index}: made {made}, read {read}")?;
            }
            Cause::Execution(mismatch) => write!(f, "{mismatch}")?,
            Cause::Data(mismatch) => write!(f, "data trace: {mismatch}")?,
        }
        write!(f, "; wire: {}", show_bytes(&self.wire))
    }
}

impl<M: fmt::Debug + fmt::Display> std::error::Error for Failure<M> {}

/// Whether the decoder read the packets that the encoder made.
///
/// # Errors
///
/// [`Cause::Packets`], the first one that differs.
pub(crate) fn compare_packets<P: Protocol, M>(sent: &Log<P>, received: &Log<P>) -> Result<(), Cause<M>> {
    let (mut made, mut read) = (sent.packets(), received.packets());
    for index in 0.. {
        match (made.next(), read.next()) {
            (None, None) => break,
            (made, read) if made == read => {}
            (made, read) => {
                return Err(Cause::Packets { index, made: format!("{made:x?}"), read: format!("{read:x?}") });
            }
        }
    }
    Ok(())
}
