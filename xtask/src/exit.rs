//! How a verb ends.

use std::fmt::Display;
use std::io;
use std::path::Path;
use std::process::ExitCode;

use traceproof_vectors::ProtocolId;
use traceproof_vectors::case::SuiteError;

use crate::program::invocation;

/// The exit codes; they are part of the interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Exit {
    Ok = 0,
    /// A check failed, or the trace has errors.
    Failed = 1,
    /// Wrong arguments, an unreadable file, impossible parameters.
    Usage = 2,
    /// The subject cannot be started, or an internal error occurred.
    Broken = 3,
    /// A baseline is stale.
    Stale = 4,
    /// The suite itself is invalid.
    SuiteInvalid = 5,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// Why a verb stopped.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The reader of the output closed it; not an error.
    Closed,
    /// A message for the user.
    Message { exit: Exit, message: String },
}

pub(crate) type Outcome = Result<Exit, Failure>;

impl Failure {
    /// The user asked for something impossible.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::Message { exit: Exit::Usage, message: message.into() }
    }

    /// Nothing was found; the verb lists what exists.
    pub(crate) fn not_found(what: impl Display, verb: &str) -> Self {
        Self::usage(format!("{what}; see `{}`", invocation().command(verb)))
    }

    /// A file cannot be used.
    pub(crate) fn file(path: &Path, error: impl Display) -> Self {
        Self::usage(format!("{}: {error}", path.display()))
    }

    /// All errors of the suites, one line each.
    pub(crate) fn suite(errors: &[SuiteError]) -> Self {
        let lines: Vec<String> = errors.iter().map(ToString::to_string).collect();
        Self::Message {
            exit: Exit::SuiteInvalid,
            message: format!("the suite is invalid\n{}", lines.join("\n")),
        }
    }

    pub(crate) fn no_such_family(family: impl Into<ProtocolId>) -> Self {
        let family = family.into();
        Self::usage(format!("this build does not have the family {family}"))
    }
}

/// Errors of the output.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            Self::Closed
        } else {
            Self::usage(format!("the output cannot be written: {error}"))
        }
    }
}
