//! How can a subject in another process fail?

use std::fmt;
use std::panic::resume_unwind;
use std::time::Duration;

use traceproof_vectors::Refusal;

use crate::verdict::Verdict;

/// Why a subject in another process does not answer as it should.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SubjectError {
    /// It cannot be started.
    Start {
        /// Why.
        message: String,
    },
    /// It ended before it answered.
    Ended {
        /// How.
        ending: Ending,
        /// The end of what it wrote to its standard error.
        stderr: String,
    },
    /// It reported an internal error.
    Broke {
        /// Its message.
        message: String,
    },
    /// It did not answer in time and was killed.
    Late {
        /// How long was waited.
        deadline: Duration,
    },
    /// It answered more than allowed and was killed.
    TooMuch {
        /// How much is allowed in one message, in bytes.
        limit: u64,
    },
    /// It violated the protocol, and was killed.
    Protocol {
        /// What.
        message: String,
        /// The end of what it wrote to its standard error.
        stderr: String,
    },
    /// It claims what is asked for and refuses it late.
    Refused(Refusal),
    /// It was not asked, because it does not claim to take these parameters.
    Unclaimed {
        /// The parameters.
        needs: Vec<String>,
    },
}

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// With a status of its own.
    Status(i32),
    /// By a signal.
    Signal(i32),
    /// It is not known.
    Unknown,
}

impl SubjectError {
    /// A breach of the protocol about which there is nothing more to be known.
    pub(crate) fn protocol(message: impl Into<String>) -> Self {
        Self::Protocol { message: message.into(), stderr: String::new() }
    }

    /// Takes the way that a panic takes, without its message.
    pub(crate) fn unwind(self) -> ! {
        resume_unwind(Box::new(self))
    }
}

impl From<SubjectError> for Verdict {
    fn from(error: SubjectError) -> Self {
        let said = |stderr: String| Some(stderr).filter(|text| !text.is_empty());
        match error {
            SubjectError::Start { .. } | SubjectError::Broke { .. } => {
                Self::Crash { message: error.to_string(), stderr: None }
            }
            SubjectError::Ended { ending, stderr } => {
                Self::Crash { message: ending.to_string(), stderr: said(stderr) }
            }
            SubjectError::Late { deadline } => {
                Self::Timeout { milliseconds: u64::try_from(deadline.as_millis()).unwrap_or(u64::MAX) }
            }
            SubjectError::TooMuch { limit } => Self::Overflow { limit },
            SubjectError::Protocol { message, stderr } => {
                Self::ProtocolError { message, stderr: said(stderr) }
            }
            SubjectError::Refused(refusal) => Self::Undeclared { refusal: refusal.to_string() },
            SubjectError::Unclaimed { needs } => Self::Unsupported { needs },
        }
    }
}

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Status(status) => write!(f, "it exited with status {status} instead of an answer"),
            Self::Signal(signal) => match name_of(*signal) {
                Some(name) => write!(f, "signal {signal} ({name}) ended it"),
                None => write!(f, "signal {signal} ended it"),
            },
            Self::Unknown => f.write_str("it ended"),
        }
    }
}

/// The signals by which programs end; these numbers are the same on every Unix system that matters here.
const fn name_of(signal: i32) -> Option<&'static str> {
    Some(match signal {
        3 => "SIGQUIT",
        4 => "SIGILL",
        5 => "SIGTRAP",
        6 => "SIGABRT",
        8 => "SIGFPE",
        9 => "SIGKILL",
        11 => "SIGSEGV",
        13 => "SIGPIPE",
        15 => "SIGTERM",
        _ => return None,
    })
}

impl fmt::Display for SubjectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Start { message } => write!(f, "it cannot be started: {message}"),
            Self::Ended { ending, stderr } => with_stderr(f, ending, stderr),
            Self::Broke { message } => write!(f, "it says that it broke: {message}"),
            Self::Late { deadline } => write!(f, "it did not answer within {deadline:?}"),
            Self::TooMuch { limit } => write!(f, "it answered more than {limit} bytes at once"),
            Self::Protocol { message, stderr } => with_stderr(f, message, stderr),
            Self::Refused(refusal) => refusal.fmt(f),
            Self::Unclaimed { needs } => write!(f, "it does not claim {}", needs.join(", ")),
        }
    }
}

fn with_stderr(f: &mut fmt::Formatter<'_>, what: &dyn fmt::Display, stderr: &str) -> fmt::Result {
    what.fmt(f)?;
    if stderr.is_empty() { Ok(()) } else { write!(f, "; its standard error ends with:\n{stderr}") }
}

impl std::error::Error for SubjectError {}
