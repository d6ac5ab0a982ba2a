//! What the ARM families share on the way from trace unit to tool.
//!
//! | question | place |
//! |---|---|
//! | How do the bytes of several sources become one stream? | [`Formatter`] |
//!
//! Source references are those of [`traceproof_vectors::arm`].

mod formatter;

#[cfg(test)]
mod tests;

pub use formatter::{Formatter, NotASource};
