//! The command that starts the harness. Commands in reports are spelt with it, so that they can be copied.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What a person types before a verb: `traceproof`, or `cargo xtask` in a checkout of Traceproof.
///
/// The caller of the library knows it. The default is the name of the installed program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Invocation(String);

impl Invocation {
    /// An invocation by these words.
    #[must_use]
    pub fn new(words: impl Into<String>) -> Self {
        Self(words.into())
    }

    /// The whole command with these arguments.
    #[must_use]
    pub fn command(&self, arguments: impl fmt::Display) -> String {
        format!("{self} {arguments}")
    }
}

impl Default for Invocation {
    fn default() -> Self {
        Self::new("traceproof")
    }
}

impl fmt::Display for Invocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
