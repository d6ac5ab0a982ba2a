//! The outcome of one check, as data for reports.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

pub use traceproof_differential::{Divergence, Row};

/// The direction in which a case is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// Wire to packets, events and faults.
    Decode,
    /// The same, split into pieces, after a reset, and repeated.
    Chunks,
    /// The same from a synchronisation point on.
    Join,
    /// The same with foreign bytes in it.
    Garbage,
    /// Stimulus to wire and packets.
    Encode,
    /// Packets to wire: the reference packet writer, not the subject.
    Write,
    /// The execution of a real program to wire and back; not of cases.
    RoundTrip,
}

impl Direction {
    /// Every direction, in the order of reports.
    pub const ALL: [Self; 7] =
        [Self::Decode, Self::Chunks, Self::Join, Self::Garbage, Self::Encode, Self::Write, Self::RoundTrip];

    /// The name in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Decode => "decode",
            Self::Chunks => "chunks",
            Self::Join => "join",
            Self::Garbage => "garbage",
            Self::Encode => "encode",
            Self::Write => "write",
            Self::RoundTrip => "round-trip",
        }
    }

    /// Whether it only holds a decoder against itself, so that empty output meets it trivially.
    #[must_use]
    pub const fn is_relation(self) -> bool {
        matches!(self, Self::Chunks | Self::Join | Self::Garbage)
    }
}

impl FromStr for Direction {
    type Err = UnknownDirection;

    fn from_str(text: &str) -> Result<Self, UnknownDirection> {
        Self::ALL.into_iter().find(|direction| direction.name() == text).ok_or(UnknownDirection)
    }
}

/// The text names no direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownDirection;

impl fmt::Display for UnknownDirection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("expected one of ")?;
        let names = Direction::ALL.map(Direction::name);
        f.write_str(&names.join(", "))
    }
}

impl std::error::Error for UnknownDirection {}

impl fmt::Display for Direction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// What came out of one check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "verdict")]
pub enum Verdict {
    /// Everything that is judged agrees.
    Pass,
    /// The bytes of an encoder differ, by a choice that the specification leaves to encoders.
    Legal(Divergence),
    /// The bytes of an encoder differ, and the reference decoder reports the same execution.
    Semantic(Divergence),
    /// Something differs.
    Fail(Divergence),
    /// The subject panicked, or its process ended.
    Crash {
        /// Its last words, or how it ended.
        message: String,
        /// The end of what its process wrote to its standard error.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        stderr: Option<String>,
    },
    /// The subject did not return within the deadline.
    Timeout {
        /// The deadline in milliseconds.
        milliseconds: u64,
    },
    /// The subject's process answered more than allowed.
    Overflow {
        /// What is allowed in one message, in bytes.
        limit: u64,
    },
    /// The subject's process violated the protocol.
    ProtocolError {
        /// What.
        message: String,
        /// The end of what it wrote to its standard error.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        stderr: Option<String>,
    },
    /// The subject passes in a new process, but not in one that ran other cases before.
    StateLeak {
        /// What came out there.
        message: String,
    },
    /// It was judged several times and did not come out the same each time.
    Flaky {
        /// How it came out, in the order in which that was first seen; at least two.
        seen: Vec<Seen>,
    },
    /// The subject does not claim what the case needs; neither good nor bad.
    Unsupported {
        /// Names of the features and readings that it does not claim.
        needs: Vec<String>,
    },
    /// The subject claims what the case needs but refused the parameters.
    Undeclared {
        /// The refusal.
        refusal: String,
    },
    /// The outcome is a known failure of the subject's [baseline](crate::baseline).
    ExpectedFailure {
        /// The verdict, and of a failure where the first difference is.
        outcome: String,
        /// Why.
        reason: String,
        /// Where that is written down.
        finding: String,
    },
    /// It passes although it is a known failure of the subject's baseline.
    UnexpectedPass {
        /// Why it should.
        reason: String,
    },
}

impl Verdict {
    /// What kind of verdict.
    #[must_use]
    pub const fn kind(&self) -> Kind {
        match self {
            Self::Pass => Kind::Pass,
            Self::Legal(_) => Kind::Legal,
            Self::Semantic(_) => Kind::Semantic,
            Self::Fail(_) => Kind::Fail,
            Self::Crash { .. } => Kind::Crash,
            Self::Timeout { .. } => Kind::Timeout,
            Self::Overflow { .. } => Kind::Overflow,
            Self::ProtocolError { .. } => Kind::ProtocolError,
            Self::StateLeak { .. } => Kind::StateLeak,
            Self::Flaky { .. } => Kind::Flaky,
            Self::Unsupported { .. } => Kind::Unsupported,
            Self::Undeclared { .. } => Kind::Undeclared,
            Self::ExpectedFailure { .. } => Kind::ExpectedFailure,
            Self::UnexpectedPass { .. } => Kind::UnexpectedPass,
        }
    }
}

/// One of the ways in which a check came out that is judged several times.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seen {
    /// The verdict, and of a failure where the first difference is, as in a line of a [baseline](crate::baseline).
    pub outcome: String,
    /// How often.
    pub times: usize,
    /// The first of these verdicts, as a sentence.
    pub example: String,
}

/// A verdict without its details.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// See [`Verdict::Pass`].
    Pass,
    /// See [`Verdict::Legal`].
    Legal,
    /// See [`Verdict::Semantic`].
    Semantic,
    /// See [`Verdict::Fail`].
    Fail,
    /// See [`Verdict::Crash`].
    Crash,
    /// See [`Verdict::Timeout`].
    Timeout,
    /// See [`Verdict::Overflow`].
    Overflow,
    /// See [`Verdict::ProtocolError`].
    ProtocolError,
    /// See [`Verdict::StateLeak`].
    StateLeak,
    /// See [`Verdict::Flaky`].
    Flaky,
    /// See [`Verdict::Undeclared`].
    Undeclared,
    /// See [`Verdict::UnexpectedPass`].
    UnexpectedPass,
    /// See [`Verdict::ExpectedFailure`].
    ExpectedFailure,
    /// See [`Verdict::Unsupported`].
    Unsupported,
}

impl Kind {
    /// Every kind, in the order of reports.
    pub const ALL: [Self; 14] = [
        Self::Pass,
        Self::Legal,
        Self::Semantic,
        Self::Fail,
        Self::Crash,
        Self::Timeout,
        Self::Overflow,
        Self::ProtocolError,
        Self::StateLeak,
        Self::Flaky,
        Self::Undeclared,
        Self::UnexpectedPass,
        Self::ExpectedFailure,
        Self::Unsupported,
    ];

    /// The name in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Legal => "legal",
            Self::Semantic => "semantic",
            Self::Fail => "fail",
            Self::Crash => "crash",
            Self::Timeout => "timeout",
            Self::Overflow => "overflow",
            Self::ProtocolError => "protocol-error",
            Self::StateLeak => "state-leak",
            Self::Flaky => "flaky",
            Self::Undeclared => "undeclared",
            Self::UnexpectedPass => "unexpected-pass",
            Self::ExpectedFailure => "expected-failure",
            Self::Unsupported => "unsupported",
        }
    }

    /// Whether a run with such a verdict has failed.
    #[must_use]
    pub const fn is_failure(self) -> bool {
        !(self.is_pass() || matches!(self, Self::ExpectedFailure | Self::Unsupported))
    }

    /// Whether what was judged agrees as far as required.
    #[must_use]
    pub const fn is_pass(self) -> bool {
        matches!(self, Self::Pass | Self::Legal | Self::Semantic)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A line of one sentence: what went wrong.
impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pass => f.write_str("pass"),
            Self::Legal(divergence) => write!(f, "legal: {divergence}"),
            Self::Semantic(divergence) => write!(f, "the same execution: {divergence}"),
            Self::Fail(divergence) => divergence.fmt(f),
            Self::Crash { message, stderr: None } => write!(f, "the subject crashed: {message}"),
            Self::Crash { message, stderr: Some(stderr) } => {
                write!(f, "the subject crashed: {message}; its standard error ends with: {stderr}")
            }
            Self::Timeout { milliseconds } => {
                write!(f, "the subject did not return within {milliseconds} ms")
            }
            Self::Overflow { limit } => write!(f, "the subject answered more than {limit} bytes at once"),
            Self::ProtocolError { message, stderr: None } => write!(f, "no way to answer: {message}"),
            Self::ProtocolError { message, stderr: Some(stderr) } => {
                write!(f, "no way to answer: {message}; its standard error ends with: {stderr}")
            }
            Self::StateLeak { message } => {
                write!(f, "right in a new process, but not after other cases: {message}")
            }
            Self::Flaky { seen } => {
                let all: usize = seen.iter().map(|seen| seen.times).sum();
                let counts =
                    seen.iter().map(|seen| format!("{} of {all} times {}", seen.times, seen.outcome));
                write!(f, "not the same each time: {}", counts.collect::<Vec<_>>().join(", "))
            }
            Self::Unsupported { needs } => write!(f, "needs {}", needs.join(", ")),
            Self::Undeclared { refusal } => write!(f, "claimed, but refused: {refusal}"),
            Self::ExpectedFailure { outcome, reason, finding } => {
                write!(f, "{outcome}, as known: {reason} ({finding})")
            }
            Self::UnexpectedPass { reason } => write!(f, "passes, but is known to fail: {reason}"),
        }
    }
}
