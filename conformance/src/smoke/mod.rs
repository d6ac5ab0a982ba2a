//! Is a subject fit to be judged? A few questions that take less than two seconds, before a run over all cases.
//!
//! A subject in another process is probed with raw messages of its protocol, without trust in its answers; then every
//! subject gets a few shipped streams. Each [`Probe`] is one [`Question`] with its outcome, in a fixed order.
//!
//! | question | place |
//! |---|---|
//! | Which probes are there? | `questions` |
//! | Does it keep to the protocol? | `protocol` |
//! | Are the names in its claims known? | `claims` |
//! | How are unusual messages sent? | `conversation` |
//! | Does it support exactly what it claims? | `streams` |
//! | Which streams? | `pick` |

mod claims;
mod conversation;
mod pick;
mod protocol;
pub mod questions;
mod streams;

use std::time::{Duration, Instant};

use traceproof_vectors::ProtocolId;
use traceproof_vectors::case::SuiteError;

use crate::Subject;
use crate::process::{self, Command, Limits};
use crate::suite::Directories;

pub use questions::Question;

/// One question, and what came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Probe {
    /// What was asked.
    pub question: &'static Question,
    /// About which protocol; `None` if it is about none.
    pub protocol: Option<ProtocolId>,
    /// What came of it.
    pub outcome: Outcome,
}

/// What came of a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The right thing; with what else is to be known.
    Pass(Option<String>),
    /// Something else.
    Fail(Finding),
    /// The question does not apply to this subject, and why.
    NotApplicable(String),
}

/// What was sent, and what came instead of the right thing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What was sent, or done.
    pub sent: String,
    /// What came.
    pub came: String,
}

/// Everything that was asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// The subject; empty if it did not give its name.
    pub name: String,
    /// Which version of it.
    pub version: String,
    /// The probes in order.
    pub probes: Vec<Probe>,
    /// How long it took.
    pub time: Duration,
}

impl Report {
    /// The probes that failed.
    pub fn failures(&self) -> impl Iterator<Item = &Probe> {
        self.probes.iter().filter(|probe| matches!(probe.outcome, Outcome::Fail(_)))
    }

    /// Whether no probe failed and one passed.
    #[must_use]
    pub fn is_success(&self) -> bool {
        let passed = self.probes.iter().any(|probe| matches!(probe.outcome, Outcome::Pass(_)));
        passed && self.failures().next().is_none()
    }
}

impl Outcome {
    pub(crate) fn fail(sent: impl Into<String>, came: impl Into<String>) -> Self {
        Self::Fail(Finding { sent: sent.into(), came: came.into() })
    }

    pub(crate) fn not_applicable(reason: impl Into<String>) -> Self {
        Self::NotApplicable(reason.into())
    }
}

/// Probes a program: first the protocol, then streams. A tool without the protocol is probed with streams only.
///
/// # Errors
///
/// Everything that is wrong with the suites, from which the streams are taken.
pub fn of_program(
    command: &Command,
    limits: &Limits,
    directories: &Directories,
) -> Result<Report, Vec<SuiteError>> {
    let begin = Instant::now();
    let (mut probes, name, version) = if command.exec.is_some() {
        (protocol::not_spoken("a tool that is started for every stream speaks no protocol"), None, None)
    } else {
        let heard = protocol::hear(command, limits, directories)?;
        (heard.probes, Some(heard.name), Some(heard.version))
    };
    let failed = probes.iter().any(|probe| matches!(probe.outcome, Outcome::Fail(_)));
    let subject = process::subject(command, limits);
    let (its_name, its_version) = match &subject {
        Ok(subject) => {
            if command.exec.is_some() {
                probes.push(claims::of_subject(subject));
            }
            probes.extend(streams::probes(subject, directories)?);
            (subject.name().to_owned(), subject.version().to_owned())
        }
        Err(error) if failed => {
            let reason = format!("the runner cannot work with it before the above is right: {error}");
            probes.extend(streams::not_asked(&reason));
            (String::new(), String::new())
        }
        Err(error) => {
            let outcome = Outcome::fail("its start, as by the runner", error.to_string());
            probes.push(Probe { question: &questions::START, protocol: None, outcome });
            (String::new(), String::new())
        }
    };
    // What it calls itself, if the runner does not know it.
    let either =
        |here: String, heard: Option<String>| if here.is_empty() { heard.unwrap_or_default() } else { here };
    Ok(Report {
        name: either(its_name, name),
        version: either(its_version, version),
        probes,
        time: begin.elapsed(),
    })
}

/// Asks a subject in this process about streams.
///
/// # Errors
///
/// Everything that is wrong with the suites, from which the streams are taken.
pub fn of_subject(subject: &Subject, directories: &Directories) -> Result<Report, Vec<SuiteError>> {
    let begin = Instant::now();
    let mut probes = protocol::not_spoken("it is asked without a protocol, as a library");
    probes.push(claims::of_subject(subject));
    probes.extend(streams::probes(subject, directories)?);
    Ok(Report {
        name: subject.name().to_owned(),
        version: subject.version().to_owned(),
        probes,
        time: begin.elapsed(),
    })
}
