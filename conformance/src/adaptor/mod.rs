//! The protocol `tdut/2`, in which the runner talks to a subject in another process, and the subject's side of it.
//!
//! | question | place |
//! |---|---|
//! | Which messages are there? | [`message`] |
//! | How do they travel? | [`framing`], [`frame`] |
//! | How is a list short for repeated items? | [`backref`] |
//! | How does a Rust decoder or encoder speak it? | [`serve()`] |
//! | What does a new adaptor begin with? | [`kit`] |
//!
//! The runner's side is [`crate::process`]. The specification for authors is `docs/adaptors.md`.

pub mod backref;
pub mod frame;
pub mod framing;
pub mod kit;
pub mod message;
pub(crate) mod repeats;
mod serve;
mod session;

pub use serve::{ServeError, serve};

/// The version of the protocol that this build speaks.
pub const VERSION: u32 = 2;
