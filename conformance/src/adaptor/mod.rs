//! The protocol `tdut/2`, in which the runner talks to a subject in another process, and the subject's side of it.
//!
//! | question | place |
//! |---|---|
//! | Which messages are there? | [`message`] |
//! | How are they transmitted? | [`framing`], [`frame`] |
//! | How are repeated items encoded? | [`backref`] |
//! | How does a Rust decoder or encoder serve it? | [`serve()`] |
//! | What does a new adaptor start from? | [`kit`] |
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

/// The protocol version of this build.
pub const VERSION: u32 = 2;
