//! Why a snapshot directory cannot be read, and where.

use std::fmt;
use std::path::PathBuf;

use traceproof_vectors::ProgramError;

/// An error in a snapshot directory, with the line of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SnapshotError {
    /// The file, relative to nothing: the path that was opened.
    pub file: PathBuf,
    /// The line, counted from 1; 0 for the file as a whole.
    pub line: usize,
    /// What is wrong.
    pub problem: SnapshotProblem,
}

/// What can be wrong with a snapshot directory.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SnapshotProblem {
    /// The file cannot be read: the error of the system.
    Unreadable(String),
    /// The file is longer than a reader takes.
    TooLarge {
        /// Its length in bytes.
        bytes: u64,
        /// The longest one taken.
        limit: u64,
    },
    /// A directory, a pipe or something else that is no plain file.
    NotAFile,
    /// The text is not UTF-8.
    NotText,
    /// The line is neither a section header nor `key=value`.
    Syntax,
    /// A `key=value` line before the first section header.
    OutsideSection,
    /// The section is missing.
    MissingSection(String),
    /// The section has no such key.
    MissingKey {
        /// The section.
        section: String,
        /// The key.
        key: String,
    },
    /// The value is not the number that it must be.
    NotANumber(String),
    /// The format of the snapshot or of a buffer is not known.
    UnknownFormat(String),
    /// The memory space is not known.
    UnknownSpace(String),
    /// Nothing has this name.
    UnknownName(String),
    /// Two devices or buffers have the same name.
    Duplicate(String),
    /// The path leads out of the directory.
    OutsideDirectory(String),
    /// A dump asks for bytes that its file does not have.
    ShortFile {
        /// How many bytes from the start of the file the dump needs.
        wanted: u64,
        /// How many there are.
        bytes: u64,
    },
    /// Memory dumps contradict each other, or run past the address space.
    Memory(ProgramError),
    /// More devices, buffers, dumps or lines than a reader takes.
    TooMany(usize),
}

impl fmt::Display for SnapshotError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file.display())?;
        if self.line > 0 {
            write!(f, ":{}", self.line)?;
        }
        write!(f, ": {}", self.problem)
    }
}

impl fmt::Display for SnapshotProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable(reason) => f.write_str(reason),
            Self::TooLarge { bytes, limit } => write!(f, "{bytes} bytes, more than the {limit} allowed"),
            Self::NotAFile => f.write_str("no plain file"),
            Self::NotText => f.write_str("not UTF-8"),
            Self::Syntax => f.write_str("neither [section] nor key=value"),
            Self::OutsideSection => f.write_str("key=value before the first section"),
            Self::MissingSection(section) => write!(f, "section [{section}] is missing"),
            Self::MissingKey { section, key } => write!(f, "[{section}] has no `{key}`"),
            Self::NotANumber(text) => write!(f, "`{text}` is no number that fits"),
            Self::UnknownFormat(text) => write!(f, "format `{text}` is not known"),
            Self::UnknownSpace(text) => write!(f, "memory space `{text}` is not known"),
            Self::UnknownName(name) => write!(f, "nothing is named `{name}`"),
            Self::Duplicate(name) => write!(f, "`{name}` is there twice"),
            Self::OutsideDirectory(path) => write!(f, "`{path}` leads out of the snapshot"),
            Self::ShortFile { wanted, bytes } => write!(f, "{wanted} bytes wanted of a file of {bytes}"),
            Self::Memory(error) => error.fmt(f),
            Self::TooMany(limit) => write!(f, "more than {limit} of them"),
        }
    }
}

impl std::error::Error for SnapshotError {}
