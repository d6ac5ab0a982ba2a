//! Files of executions that a family reads.

use std::fmt;
use std::io::{self, BufRead};

use traceproof_vectors::{Program, Protocol};

/// A format of execution files: one row for each that a family reads.
#[derive(Debug)]
pub struct ExecutionFormat<P: Protocol> {
    /// Its name on the command line.
    pub name: &'static str,
    /// Reads it.
    pub drive: DriveFile<P>,
}

/// Reads an execution from a file and turns it into stimulus for an encoder with these parameters and this policy,
/// while reading; memory does not grow with it. The error names the record that cannot be read, or that the program
/// cannot execute.
pub type DriveFile<P> = fn(
    &mut dyn BufRead,
    &Program,
    &<P as Protocol>::Parameters,
    &<P as Protocol>::Policy,
    &mut dyn FnMut(&<P as Protocol>::Stimulus),
) -> Result<FileSummary, ExecutionError>;

/// What was read from an execution file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileSummary {
    /// Steps that became stimulus.
    pub steps: u64,
    /// Steps before the first one that the program has code for; they cannot be traced.
    pub skipped: u64,
}

/// Why an execution file cannot be used.
#[derive(Debug)]
pub enum ExecutionError {
    /// It cannot be read.
    Io(io::Error),
    /// The family has no such format.
    UnknownFormat {
        /// What was asked for.
        format: String,
        /// What there is.
        known: Vec<&'static str>,
    },
    /// A record is malformed.
    Record {
        /// Line of a text file, record of a binary one, from 1.
        number: u64,
        /// What is wrong.
        message: String,
    },
    /// The program cannot execute like that.
    Impossible(String),
}

impl From<io::Error> for ExecutionError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl fmt::Display for ExecutionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => error.fmt(f),
            Self::UnknownFormat { known, .. } if known.is_empty() => {
                f.write_str("executions of this family cannot be read from files; see its cases")
            }
            Self::UnknownFormat { format, known } => {
                write!(f, "unknown execution format `{format}`; known are {}", known.join(", "))
            }
            Self::Record { number, message } => write!(f, "record {number}: {message}"),
            Self::Impossible(message) => f.write_str(message),
        }
    }
}

impl std::error::Error for ExecutionError {}
