//! Files of executions that a family reads.

use std::fmt;
use std::io::{self, BufRead, Read as _};

use serde::Deserialize;
use traceproof_vectors::case::{Assembly, CaseProtocol};
use traceproof_vectors::{Program, Protocol, bounded};

use super::rules::{FamilyRules, toml_error};

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

/// The format that every family reads: `stimulus` of a case, with its `program` unless the code is given otherwise, as
/// TOML. It is read whole.
pub const STIMULUS: &str = "stimulus";

/// A file of that format.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, bound = "")]
struct StimulusFile<P: CaseProtocol> {
    #[serde(default)]
    program: Option<String>,
    stimulus: Vec<P::StimulusEntry>,
}

/// Reads a file of the format [`STIMULUS`].
///
/// # Errors
///
/// When it cannot be read, is longer than [`bounded::TOML`], or its lines are no stimulus that the program can have.
pub fn drive_stimulus<P: FamilyRules>(
    input: &mut dyn BufRead,
    program: &Program,
    parameters: &P::Parameters,
    policy: &P::Policy,
    each: &mut dyn FnMut(&P::Stimulus),
) -> Result<FileSummary, ExecutionError> {
    let mut text = String::new();
    input.take(bounded::TOML.saturating_add(1)).read_to_string(&mut text)?;
    if text.len() as u64 > bounded::TOML {
        return Err(ExecutionError::Impossible(format!("larger than the limit of {} bytes", bounded::TOML)));
    }
    let impossible = |problem: &dyn fmt::Display| ExecutionError::Impossible(problem.to_string());
    let file: StimulusFile<P> =
        toml::from_str(&text).map_err(|error| ExecutionError::Impossible(toml_error(&text, &error)))?;
    let mut assembly = match &file.program {
        Some(code) => P::assemble(code, parameters).map_err(|problem| impossible(&problem))?,
        None => Assembly::default(),
    };
    for section in program.sections() {
        assembly.program.insert(section.clone()).map_err(|error| impossible(&error))?;
    }
    let execution = P::execution(&file.stimulus, &assembly).map_err(|problem| impossible(&problem))?;
    let mut steps = 0;
    P::drive(&execution, &assembly.program, parameters, policy, &mut |stimulus| {
        steps += 1;
        each(stimulus);
    })
    .map_err(ExecutionError::Impossible)?;
    Ok(FileSummary { steps, skipped: 0 })
}

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
            Self::UnknownFormat { format, known } => {
                write!(f, "unknown execution format `{format}`; known are {}", known.join(", "))
            }
            Self::Record { number, message } => write!(f, "record {number}: {message}"),
            Self::Impossible(message) => f.write_str(message),
        }
    }
}

impl std::error::Error for ExecutionError {}
