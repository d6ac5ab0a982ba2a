//! Is a subject fit to be judged? A few questions that take less than two seconds, before a run over all cases.
//!
//! A subject in another process is asked in the words of its protocol, and nothing that it says is believed; then every subject is asked
//! about a few shipped streams. Each [`Probe`] is one [`Question`] with what came of it, in an order that never changes.
//!
//! | question | place |
//! |---|---|
//! | What is asked, what is right, what is to be done? | `questions` |
//! | Does it keep to the protocol? | `protocol` |
//! | Are the names in its claims known? | `claims` |
//! | How are things said that the runner would never say? | `conversation` |
//! | Does it do what it claims with streams, and nothing else? | `streams` |
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
    /// Who was asked; empty if it did not say.
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

/// Asks a program: in the words of the protocol, then about streams. A tool that speaks none is asked about streams only.
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
