//! What is wrong with a file, and where.

use std::fmt;

/// An error in a file. Lines and columns count from 1; 0 stands for the file as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The file, as it was named.
    pub file: String,
    /// The line.
    pub line: usize,
    /// The column, in characters.
    pub column: usize,
    /// What is wrong.
    pub message: String,
}

impl Problem {
    /// A problem with the file as a whole.
    #[must_use]
    pub fn whole(file: impl Into<String>, message: impl Into<String>) -> Self {
        Self { file: file.into(), line: 0, column: 0, message: message.into() }
    }

    /// A problem at a line and column.
    #[must_use]
    pub fn at(file: impl Into<String>, line: usize, column: usize, message: impl Into<String>) -> Self {
        Self { file: file.into(), line, column, message: message.into() }
    }

    /// A problem at a byte offset of `text`.
    #[must_use]
    pub fn at_offset(file: impl Into<String>, text: &str, offset: usize, message: impl Into<String>) -> Self {
        let before = text.get(..offset.min(text.len())).unwrap_or(text);
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        Self::at(file, line, column, message)
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line == 0 {
            write!(f, "{}: {}", self.file, self.message)
        } else {
            write!(f, "{}:{}:{}: {}", self.file, self.line, self.column, self.message)
        }
    }
}

impl std::error::Error for Problem {}
