//! Known failures of a subject, so that a run reports only new ones. Stale entries are detected.
//!
//! A baseline is a TOML file:
//!
//! ```toml
//! schema = 1
//! subject = "acme"
//!
//! [[known]]
//! reason = "takes the second of two conditional branches for the first"
//! finding = "docs/findings/acme.md#a-3"
//! expires = 2027-06-30        # optional: the last day on which it holds
//! checks = [
//!   "etr-0042 decode: fail events 3 at 2/12.0",
//!   "etr-0043 chunks: crash",
//! ]
//! kinds = ["packets: branch / branch (address)"]     # for fuzzing; see docs/fuzz-your-decoder.md
//! ```
//!
//! Every listed check runs. Its outcome must be that of its line: id of the case, direction, verdict, and of a failure
//! what differs, at which item, and at which packet/byte.bit. A check that passes, has another outcome, does not exist
//! or has expired makes the baseline stale.

mod apply;
mod signature;
mod update;

use std::fmt;

use serde::{Deserialize, Serialize};
use toml::value::Datetime;

pub use apply::{Stale, Staleness, apply, expect};
pub(crate) use signature::outcome;
pub use signature::{Signature, UnknownSignature};
pub use update::{NewCause, UNEXPLAINED, Update, update};

/// The format's version; files of another one are refused.
pub const SCHEMA: u32 = 1;

/// What a subject is known to get wrong.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Baseline {
    /// Version of the format: 1.
    pub schema: u32,
    /// Name of the subject that it is about.
    pub subject: String,
    /// What is known, by reason.
    #[serde(default)]
    pub known: Vec<Known>,
}

/// Checks that fail for one reason.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Known {
    /// Why, in a sentence.
    pub reason: String,
    /// Where it is written down: a path in the repository with anchor, or a link.
    pub finding: String,
    /// The last day on which it holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<Datetime>,
    /// The checks and how they come out.
    #[serde(default)]
    pub checks: Vec<Signature>,
    /// Kinds of findings that a [fuzz project](crate::fuzz_project) does not report.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kinds: Vec<String>,
}

/// Why a text is no baseline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BaselineError {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for BaselineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.message)
    }
}

impl std::error::Error for BaselineError {}

impl Baseline {
    /// Reads a baseline.
    ///
    /// # Errors
    ///
    /// With line and column: unknown or missing fields, wrong types, another version of the format, an empty reason or
    /// finding, an expiry that is not a date, a check that is listed twice.
    pub fn parse(text: &str) -> Result<Self, BaselineError> {
        let baseline: Self = toml::from_str(text).map_err(|error| {
            let start = error.span().map_or(0, |span| span.start);
            at(text, start, error.message().lines().next().unwrap_or_default())
        })?;
        // The place of a value that is right for TOML but not for a baseline: that of its text.
        let found = |what: &str, message: String| at(text, text.find(what).unwrap_or(0), &message);
        if baseline.schema != SCHEMA {
            return Err(found("schema", format!("this program reads schema {SCHEMA}")));
        }
        let mut seen = std::collections::BTreeSet::new();
        for known in &baseline.known {
            if known.reason.trim().is_empty() || known.finding.trim().is_empty() {
                return Err(found("[[known]]", String::from("reason and finding must say something")));
            }
            if let Some(expires) = &known.expires
                && (expires.date.is_none() || expires.time.is_some())
            {
                return Err(found(&expires.to_string(), String::from("expected a date such as 2027-06-30")));
            }
            for check in &known.checks {
                if !seen.insert((&check.id, check.direction)) {
                    let message = format!("{} {} is listed twice", check.id, check.direction);
                    return Err(found(&check.to_string(), message));
                }
            }
        }
        Ok(baseline)
    }
}

fn at(text: &str, offset: usize, message: &str) -> BaselineError {
    let before = text.get(..offset).unwrap_or(text);
    BaselineError {
        line: before.matches('\n').count() + 1,
        column: before.rsplit('\n').next().unwrap_or_default().chars().count() + 1,
        message: message.to_owned(),
    }
}
