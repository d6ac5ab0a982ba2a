//! Why no mutant could be judged.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// Why no mutant could be judged.
#[derive(Debug)]
pub enum Error {
    /// A file cannot be read or written.
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// A file is not what it should be.
    Content {
        /// Which.
        path: PathBuf,
        /// What is wrong with it.
        message: String,
    },
    /// The mutated crates cannot be compiled, for a reason that no mutant has.
    Build(String),
    /// The program that judges them does not work.
    Driver(String),
    /// The arguments name nothing.
    Usage(String),
}

impl Error {
    pub(crate) fn file(path: &Path, error: io::Error) -> Self {
        Self::File { path: path.to_owned(), error }
    }

    pub(crate) fn content(path: &Path, message: impl fmt::Display) -> Self {
        Self::Content { path: path.to_owned(), message: message.to_string() }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File { path, error } => write!(f, "{}: {error}", path.display()),
            Self::Content { path, message } => write!(f, "{}: {message}", path.display()),
            Self::Build(message) | Self::Driver(message) | Self::Usage(message) => f.write_str(message),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::File { error, .. } => Some(error),
            _ => None,
        }
    }
}
