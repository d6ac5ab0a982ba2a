//! Subjects of a family that are wrong on purpose.

use serde::Serialize;
use traceproof_vectors::{Decoder, Encoder, Protocol};

/// The saboteurs of a family.
#[derive(Debug)]
pub struct Saboteurs<P: Protocol> {
    /// The table.
    pub table: &'static [Saboteur<P>],
    /// The hooks of the saboteurs with separate layers, without a bug: they pass every case.
    pub harmless: &'static [Side<P>],
}

/// A subject with one bug.
#[derive(Debug)]
pub struct Saboteur<P: Protocol> {
    /// Its name, in small letters with hyphens; it belongs to one family alone.
    pub name: &'static str,
    /// How to make it.
    pub side: Side<P>,
    /// The bug in one sentence.
    pub bug: &'static str,
    /// The clause that it breaks, and where such a bug was seen or why it is likely.
    pub source: &'static str,
}

/// Which side of the contract is wrong, and how to make it.
#[derive(Debug)]
pub enum Side<P: Protocol> {
    /// A decoder.
    Decoder(fn() -> Box<dyn Decoder<P>>),
    /// An encoder.
    Encoder(fn() -> Box<dyn Encoder<P>>),
}

/// [`Side`] without what makes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SideName {
    /// A decoder.
    Decoder,
    /// An encoder.
    Encoder,
}

impl SideName {
    /// The name in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Decoder => "decoder",
            Self::Encoder => "encoder",
        }
    }
}

impl<P: Protocol> Saboteur<P> {
    /// Whether it is a decoder or an encoder.
    #[must_use]
    pub const fn side_name(&self) -> SideName {
        match self.side {
            Side::Decoder(_) => SideName::Decoder,
            Side::Encoder(_) => SideName::Encoder,
        }
    }
}
