//! Subjects that are wrong on purpose: whether the suite notices.
//!
//! A saboteur is a reference decoder or encoder model with one bug of a kind seen in the wild. The suite must kill every one
//! of them, and the kill matrix says which case does it. Null subjects know nothing at all; no case that shows a rule
//! kept may pass with one of them.
//!
//! | question | place |
//! |---|---|
//! | What is a saboteur? | [`Saboteur`], [`Side`] |
//! | How is a decoder made wrong? | [`decoders`] |
//! | How is an encoder made wrong? | [`encoders`] |
//! | Which bugs does a family have? | the family's module `saboteurs`, its table `SABOTEURS` |
//! | Which bugs can every decoder have? | `every_family` |
//! | Who knows nothing? | [`nulls`] |
//! | Who is killed by what? | [`matrix`](mod@matrix) |
//!
//! To add one: a row in the table of its family, and one small function that makes the reference wrong. The references
//! themselves have no switches for bugs.

pub mod decoders;
pub mod encoders;
mod every_family;
pub mod matrix;
pub mod nulls;

use serde::Serialize;
use traceproof_vectors::{Decoder, Encoder};

use crate::Subject;
use crate::family::FamilyRules;

/// A subject with one bug.
#[derive(Debug)]
pub struct Saboteur<P: FamilyRules> {
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
pub enum Side<P: FamilyRules> {
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

impl<P: FamilyRules> Saboteur<P> {
    /// It, to be judged.
    #[must_use]
    pub fn subject(&self) -> Subject {
        let subject = Subject::new(self.name, env!("CARGO_PKG_VERSION"));
        match self.side {
            Side::Decoder(make) => subject.with_decoder::<P>(make),
            Side::Encoder(make) => subject.with_encoder::<P>(make),
        }
    }

    /// Whether it is a decoder or an encoder.
    #[must_use]
    pub const fn side_name(&self) -> SideName {
        match self.side {
            Side::Decoder(_) => SideName::Decoder,
            Side::Encoder(_) => SideName::Encoder,
        }
    }
}

/// Every saboteur of the family: its own, then those that every family has.
#[must_use]
pub fn of<P: FamilyRules>() -> Vec<&'static Saboteur<P>> {
    P::SABOTEURS.iter().chain(every_family::saboteurs::<P>()).collect()
}
