//! How is the tool run, and what does its end mean?

use std::io::{Read, Write};
use std::process::ChildStdout;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;
use traceproof_vectors::{Entry, Fault, Place, Program, Refusal};

use super::file::Exec;
use super::output::{self, Unread};
use super::render::Stream;
use crate::family::FamilyRules;
use crate::process::child::{Child, Pipes};
use crate::process::limits::Pace;
use crate::process::{Command, Ending, Limits, SubjectError};

/// Interval of the check whether a silent process is still running: its children may hold its pipes open.
const LOOK: Duration = Duration::from_millis(100);

/// A tool, and how fast it was so far.
#[derive(Debug)]
pub(super) struct Tool {
    exec: Arc<Exec>,
    command: Command,
    limits: Limits,
    pace: Pace,
}

/// The output of a run and how it ended.
struct Ended {
    output: Vec<u8>,
    ending: Ending,
    stderr: String,
}

impl Tool {
    pub(super) fn new(exec: Arc<Exec>, command: Command, limits: Limits) -> Self {
        Self { exec, command, limits, pace: Pace::default() }
    }

    pub(super) fn exec(&self) -> &Exec {
        &self.exec
    }

    /// Readings of the subject file.
    pub(super) fn readings(&self) -> &[String] {
        &self.command.readings
    }

    /// Lets the tool decode a whole stream.
    pub(super) fn decode<P: FamilyRules>(
        &self,
        parameters: &Value,
        program: &Program,
        wire: &[u8],
    ) -> Result<Vec<(Place, Entry<P>)>, SubjectError> {
        let here = |message: String| SubjectError::Start { message };
        let directory = TempDir::with_prefix("traceproof-").map_err(|error| here(error.to_string()))?;
        let directory = directory.path();
        let stream = Stream { exec: &self.exec, directory, parameters, program, wire };
        stream.write_files().map_err(here)?;
        let arguments = stream.arguments().map_err(here)?;
        let command =
            Command { arguments: arguments.into_iter().map(Into::into).collect(), ..self.command.clone() };
        let since = Instant::now();
        let ended = self.run(&command, wire)?;
        self.pace.took(since.elapsed());
        self.meaning(ended)
    }

    fn run(&self, command: &Command, wire: &[u8]) -> Result<Ended, SubjectError> {
        let (mut child, Pipes { mut input, output }) = Child::start(command, &self.limits)?;
        if self.exec.stdin {
            let wire = wire.to_vec();
            // A tool need not read all of its input.
            thread::spawn(move || input.write_all(&wire));
        } else {
            drop(input);
        }
        let read = read(output.into_inner(), self.limits.message);
        let deadline = self.limits.deadline(&self.pace, wire.len());
        let output = wait(&mut child, &read, deadline)?;
        if output.len() as u64 > self.limits.message {
            return Err(SubjectError::TooMuch { limit: self.limits.message });
        }
        let ending = child.end();
        let stderr = child.last_words();
        match ending {
            Some(ending) => Ok(Ended { output, ending, stderr }),
            None => {
                let message = String::from("it closed its standard output and did not end");
                Err(SubjectError::Protocol { message, stderr })
            }
        }
    }

    fn meaning<P: FamilyRules>(&self, ended: Ended) -> Result<Vec<(Place, Entry<P>)>, SubjectError> {
        let Ended { output, ending, stderr } = ended;
        let exit = &self.exec.exit;
        let status = match ending {
            Ending::Status(status) => status,
            ending => return Err(SubjectError::Ended { ending, stderr }),
        };
        if exit.unsupported.contains(&status) {
            let said = if stderr.is_empty() { format!("exit status {status}") } else { stderr };
            return Err(SubjectError::Refused(Refusal::unsupported(said)));
        }
        let rejected = exit.reject.contains(&status);
        if !rejected && !exit.ok.contains(&status) {
            return Err(SubjectError::Ended { ending, stderr });
        }
        let mut results = output::results::<P>(&self.exec, &output).map_err(|unread| match unread {
            Unread::Wrong(message) => SubjectError::Protocol { message, stderr },
            Unread::Untold(what) => SubjectError::Unclaimed { needs: vec![what] },
        })?;
        if rejected && !results.iter().any(|(_, entry)| matches!(entry, Entry::Fault(_))) {
            let place = results.last().map_or_else(Place::default, |(place, _)| *place);
            results.push((place, Entry::Fault(Fault::new(exit.fault, place))));
        }
        Ok(results)
    }
}

/// Reads the output on a separate thread, one byte more than allowed.
fn read(output: ChildStdout, limit: u64) -> Receiver<Vec<u8>> {
    let (sender, read) = channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        // A broken pipe ends; the exit status of the process shows the reason.
        let _ = output.take(limit.saturating_add(1)).read_to_end(&mut bytes);
        // The receiver is gone if the process was abandoned.
        let _ = sender.send(bytes);
    });
    read
}

/// Waits for the end of the output.
fn wait(child: &mut Child, read: &Receiver<Vec<u8>>, deadline: Duration) -> Result<Vec<u8>, SubjectError> {
    let end = Instant::now().checked_add(deadline);
    loop {
        let left = end.map_or(LOOK, |end| end.saturating_duration_since(Instant::now()));
        match read.recv_timeout(left.min(LOOK)) {
            Ok(output) => return Ok(output),
            Err(RecvTimeoutError::Timeout) if !left.is_zero() => {
                // If it has ended, what is left of its group is killed, and the pipe ends.
                child.has_ended();
            }
            Err(_) => {
                child.kill();
                return Err(SubjectError::Late { deadline });
            }
        }
    }
}
