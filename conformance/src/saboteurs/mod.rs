//! Subjects that are wrong on purpose: whether the suite notices.
//!
//! A saboteur is a reference decoder or encoder model with one bug of a kind seen in real implementations. The suite
//! must kill every one of them; the kill matrix shows the cases that do. Null subjects ignore the meaning of their
//! input; no positive case may pass with one of them.
//!
//! | question | place |
//! |---|---|
//! | What is a saboteur? | [`Saboteur`], [`Side`] |
//! | How is a decoder made wrong? | [`decoders`] |
//! | How is an encoder made wrong? | [`encoders`] |
//! | Which bugs does a family have? | the family's module `saboteurs`, its table `SABOTEURS` |
//! | Which bugs can every decoder have? | `every_family` |
//! | What can a reset or another `begin` forget to clear? | `forgetful` |
//! | What are null subjects? | [`nulls`] |
//! | Which cases kill which saboteur? | [`matrix`](mod@matrix) |
//!
//! To add one: a row in the table of its family, and one small function that makes the reference wrong. The references
//! themselves have no switches for bugs.

pub mod decoders;
pub mod encoders;
mod every_family;
mod forgetful;
pub mod matrix;
pub mod nulls;

use crate::Subject;
use crate::family::FamilyRules;
pub use crate::family::{Saboteur, Saboteurs, Side, SideName};

impl<P: FamilyRules> Saboteur<P> {
    /// It, to be judged.
    #[must_use]
    pub fn subject(&self) -> Subject {
        made(self.name, &self.side)
    }
}

/// The subject with this decoder or encoder alone.
fn made<P: FamilyRules>(name: &str, side: &Side<P>) -> Subject {
    let subject = Subject::new(name, env!("CARGO_PKG_VERSION"));
    match *side {
        Side::Decoder(make) => subject.with_decoder::<P>(make),
        Side::Encoder(make) => subject.with_encoder::<P>(make),
    }
}

/// Every saboteur of the family: its own, then those that every family has.
#[must_use]
pub fn of<P: FamilyRules>() -> Vec<&'static Saboteur<P>> {
    let own = P::SABOTEURS.map(|saboteurs| saboteurs.table).unwrap_or_default();
    let warns = P::reference_decoder().capabilities().warnings;
    let warnings = if warns { every_family::of_warnings::<P>() } else { &[] };
    own.iter().chain(every_family::saboteurs::<P>()).chain(warnings).collect()
}

/// What the saboteurs of the family are made of, without a bug.
#[must_use]
pub fn harmless<P: FamilyRules>() -> Vec<Subject> {
    let harmless = P::SABOTEURS.map(|saboteurs| saboteurs.harmless).unwrap_or_default();
    harmless.iter().map(|side| made("harmless", side)).collect()
}
