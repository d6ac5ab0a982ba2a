//! Subjects by name or by subject file.

use std::fs::File;
use std::io::stderr;
use std::path::{Path, PathBuf};

use clap::Args;
use traceproof_conformance::process::{self, StderrCopy, SubjectFile};
use traceproof_conformance::{Subject, peers};

use crate::exit::{Exit, Failure};
use crate::program::invocation;

/// The subject that a name or file refers to.
pub(crate) enum Named {
    /// A program that has not been started yet.
    Program(SubjectFile),
    /// A subject in this process.
    Here(Subject),
}

/// Options for starting a program, in addition to its file.
#[derive(Debug, Default, Args)]
pub(crate) struct Starting {
    /// Multiplies the deadlines of a program, for emulators and busy machines.
    #[arg(long, value_name = "FACTOR")]
    timeout_scale: Option<f64>,
    /// Copy the standard error of a program to this file; `-` is the standard error of this command. Each line begins
    /// with the id of its process.
    #[arg(long, value_name = "FILE")]
    adaptor_stderr: Option<PathBuf>,
}

impl Starting {
    /// The file that it writes, with its option; verbs compare it with their inputs.
    pub(crate) fn output(&self) -> (&'static str, Option<&Path>) {
        ("--adaptor-stderr", self.adaptor_stderr.as_deref())
    }

    /// Where the standard error of programs is copied to.
    fn stderr(&self) -> Result<Option<StderrCopy>, Failure> {
        let Some(path) = &self.adaptor_stderr else { return Ok(None) };
        if path.as_os_str() == "-" {
            return Ok(Some(StderrCopy::new(stderr())));
        }
        let file = File::create(path).map_err(|error| Failure::file(path, error))?;
        Ok(Some(StderrCopy::new(file)))
    }
}

/// The files of a subject: the one that describes it, and those that its command names.
pub(crate) fn files_of(name: &str) -> Vec<PathBuf> {
    if !name.ends_with(".toml") {
        return Vec::new();
    }
    let mut files = vec![PathBuf::from(name)];
    // What is wrong with it is reported when it is started.
    if let Ok(SubjectFile { command, .. }) = SubjectFile::read(Path::new(name)) {
        let directory = command.directory.unwrap_or_default();
        files.push(directory.join(&command.program));
        files.extend(command.arguments.iter().map(|argument| directory.join(argument)));
    }
    files
}

/// The subject that a name or file refers to.
pub(crate) fn find(name: &str, starting: &Starting) -> Result<Named, Failure> {
    if name.ends_with(".toml") {
        let mut file =
            SubjectFile::read(Path::new(name)).map_err(|error| Failure::usage(error.to_string()))?;
        if let Some(factor) = starting.timeout_scale {
            if !(factor.is_finite() && factor > 0.0) {
                return Err(Failure::usage(format!("--timeout-scale: `{factor}` is no factor")));
            }
            file.limits.scale *= factor;
        }
        file.command.stderr = starting.stderr()?;
        return Ok(Named::Program(file));
    }
    if name == "reference" {
        return Ok(Named::Here(Subject::reference()));
    }
    peers::named(name).map(Named::Here).ok_or_else(|| {
        let known: Vec<&str> = peers::KNOWN.iter().map(|(name, _)| *name).collect();
        Failure::usage(if known.contains(&name) {
            format!("this build does not have {name}; in a checkout, `cargo install --path xtask --features peers` builds one that has")
        } else {
            format!("no subject is called `{name}`; known are reference, {}", known.join(", "))
        })
    })
}

/// The subject of a name or file, started.
pub(crate) fn named(name: &str, starting: &Starting) -> Result<Subject, Failure> {
    let subject = match find(name, starting)? {
        Named::Here(subject) => Ok(subject),
        Named::Program(file) => process::subject(&file.command, &file.limits).map_err(|error| {
            let smoke = invocation().command(format!("smoke --subject {name}"));
            let message = format!("{name}: the subject cannot be started: {error}\n`{smoke}` shows more");
            Failure::Message { exit: Exit::Broken, message }
        }),
    }?;
    // The default subject needs no name.
    Ok(if subject.is_reference() { subject } else { subject.named_by(name) })
}
