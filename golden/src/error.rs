//! What can be wrong with a call.

use std::fmt;

use traceproof_vectors::Refusal;

/// Why a call did nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum GoldenError {
    /// Parameters or policy cannot be read.
    Unreadable {
        /// Which of them.
        what: &'static str,
        /// What is wrong, with line and column if it is a text.
        reason: String,
    },
    /// No encoder has these parameters and this policy.
    Refused(String),
    /// A signal has a value that it cannot have.
    Signal {
        /// Its name.
        name: &'static str,
        /// Its value.
        value: u64,
    },
    /// A control field that the model does not have.
    Field(u8),
    /// The timer cannot be set while tracing is on.
    Tracing,
    /// Payloads are known in the default encapsulation and without null packets only.
    Encapsulated,
    /// The buffer has fewer bytes than are needed.
    Room {
        /// How many are needed.
        needed: usize,
    },
}

impl fmt::Display for GoldenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable { what, reason } => write!(f, "{what}: {reason}"),
            Self::Refused(reason) => f.write_str(reason),
            Self::Signal { name, value } => write!(f, "`{name}` cannot be {value}"),
            Self::Field(number) => write!(f, "there is no control field {number:#04x}"),
            Self::Tracing => f.write_str("the timer cannot be set while tracing is on"),
            Self::Encapsulated => {
                f.write_str("payloads need the default encapsulation and a policy without null packets")
            }
            Self::Room { needed } => write!(f, "the buffer needs {needed} bytes"),
        }
    }
}

impl std::error::Error for GoldenError {}

impl From<Refusal> for GoldenError {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal.to_string())
    }
}
