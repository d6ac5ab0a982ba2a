//! What is wrong with an input.

use std::fmt;

/// Why a report cannot be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// The text is not the JSON of these data.
    Json {
        /// The data that were expected.
        expected: &'static str,
        /// Line and column, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
        /// What is wrong there.
        message: String,
    },
    /// Results of another version of the format.
    Schema {
        /// The version of the text.
        found: u64,
        /// The version that can be read.
        known: u64,
    },
    /// Parts of a run that do not belong together.
    Parts {
        /// Index of the part that does not fit, from 0.
        part: usize,
        /// What does not fit.
        message: String,
    },
    /// No results were given.
    Nothing,
    /// An error of the template engine.
    Template(String),
}

impl Error {
    pub(crate) fn json(expected: &'static str, error: &serde_json::Error) -> Self {
        let text = error.to_string();
        let message = text.rsplit_once(" at line ").map_or(text.as_str(), |(message, _)| message).to_owned();
        Self::Json { expected, line: error.line(), column: error.column(), message }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Json { expected, line, column, message } => {
                write!(f, "{line}:{column}: expected {expected}: {message}")
            }
            Self::Schema { found, known } => {
                write!(f, "these are results of schema {found}; this program reads schema {known}")
            }
            Self::Parts { part, message } => write!(f, "part {}: {message}", part + 1),
            Self::Nothing => f.write_str("no results"),
            Self::Template(message) => write!(f, "the template: {message}"),
        }
    }
}

impl std::error::Error for Error {}

impl From<minijinja::Error> for Error {
    fn from(error: minijinja::Error) -> Self {
        Self::Template(format!("{error:#}"))
    }
}
