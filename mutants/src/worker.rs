//! A process that has loaded the suite of a family and judges one mutant after the other.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::outcome::Options;

/// Seconds that a check may take; without a mutant it takes milliseconds.
pub(crate) const CHECK_DEADLINE: u32 = 5;

/// A check that failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// Id of the case.
    pub case: String,
    /// Direction of the check.
    pub direction: String,
    /// The verdict: `fail`, `crash`, `timeout` and so on.
    pub kind: String,
    /// The verdict as a sentence.
    pub message: String,
}

/// What a process is asked.
#[derive(Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Request {
    /// Judge everything without a mutant, and say which are executed.
    Record {},
    Judge {
        mutant: usize,
        /// Goes on after the first failure.
        every: bool,
        /// Indices, with the deadline in milliseconds.
        parts: Vec<(usize, u64)>,
    },
}

/// What came of a mutant.
#[derive(Debug, Deserialize)]
pub(crate) struct Answer {
    pub(crate) failures: Vec<Failure>,
    /// The part with the first failure.
    pub(crate) part: Option<usize>,
    /// How many checks were judged.
    pub(crate) applicable: usize,
    /// The process ends.
    pub(crate) ends: bool,
    /// What failed also fails without the mutant, in this process.
    pub(crate) unsound: bool,
}

/// What the process did.
#[derive(Debug)]
pub(crate) enum Heard {
    Line(String),
    /// It was ended by a signal.
    Crashed,
    /// It was stopped at the deadline.
    TimedOut,
}

/// The process; it is stopped when this is dropped.
#[derive(Debug)]
pub(crate) struct Worker {
    child: Child,
    stdin: ChildStdin,
    lines: Receiver<String>,
    stderr: Option<JoinHandle<String>>,
}

impl Worker {
    pub(crate) fn start(driver: &Path, family: &str, options: &Options) -> Result<Self, Error> {
        let error = |error| Error::file(driver, error);
        let mut child = Command::new(driver)
            .args(["serve", family, &format!("deadline={CHECK_DEADLINE}")])
            .args(options.real_programs.then_some("real-programs"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(error)?;
        let (Some(stdin), Some(stdout), stderr) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(Error::Driver(String::from("the driver has no pipes")));
        };
        let (sender, lines) = mpsc::channel();
        // Both are read while the process runs, because a full pipe would stop it. They end with the process.
        thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        let stderr = thread::spawn(move || {
            let mut bytes = Vec::new();
            if let Some(mut pipe) = stderr {
                // What could be read is enough.
                let _ = pipe.read_to_end(&mut bytes);
            }
            String::from_utf8_lossy(&bytes).into_owned()
        });
        Ok(Self { child, stdin, lines, stderr: Some(stderr) })
    }

    /// Asks; what comes is to be [heard](Self::hear).
    pub(crate) fn ask(&mut self, request: &Request) -> Result<(), Error> {
        let text = serde_json::to_string(request).map_err(|error| Error::Driver(error.to_string()))?;
        // A process that has ended is noticed when its answer is missing.
        let _ = writeln!(self.stdin, "{text}").and_then(|()| self.stdin.flush());
        Ok(())
    }

    /// Waits for the next line; at the deadline the process is ended. Time in which this program is suspended does not
    /// count.
    pub(crate) fn hear(&mut self, deadline: Duration) -> Result<Heard, Error> {
        const STEP: Duration = Duration::from_secs(1);
        let mut waited = Duration::ZERO;
        loop {
            let before = Instant::now();
            match self.lines.recv_timeout(STEP.min(deadline - waited)) {
                Ok(line) => return Ok(Heard::Line(line)),
                Err(RecvTimeoutError::Timeout) => waited += before.elapsed().min(STEP),
                Err(RecvTimeoutError::Disconnected) => return self.ended(),
            }
            if waited >= deadline {
                self.stop();
                return Ok(Heard::TimedOut);
            }
        }
    }

    /// Why there are no more lines.
    fn ended(&mut self) -> Result<Heard, Error> {
        let status = self.child.wait().map_err(|error| Error::Driver(error.to_string()))?;
        if status.code().is_none() {
            return Ok(Heard::Crashed);
        }
        let stderr = self.stderr.take().and_then(|thread| thread.join().ok()).unwrap_or_default();
        Err(Error::Driver(format!("the driver ended with {status}: {}", stderr.trim())))
    }

    fn stop(&mut self) {
        // It may have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.stop();
    }
}

/// The processes that one thread has started, by family.
pub(crate) struct Workers<'a> {
    driver: &'a Path,
    options: &'a Options,
    started: BTreeMap<String, Worker>,
}

impl<'a> Workers<'a> {
    pub(crate) fn new(driver: &'a Path, options: &'a Options) -> Self {
        Self { driver, options, started: BTreeMap::new() }
    }

    /// Asks the process of the family, which is started if there is none; its next line, or how it ended.
    pub(crate) fn ask(
        &mut self,
        family: &str,
        request: &Request,
        deadline: Duration,
    ) -> Result<Heard, Error> {
        let mut worker = match self.started.remove(family) {
            Some(worker) => worker,
            None => Worker::start(self.driver, family, self.options)?,
        };
        worker.ask(request)?;
        let heard = worker.hear(deadline)?;
        if matches!(heard, Heard::Line(_)) {
            self.started.insert(family.to_owned(), worker);
        }
        Ok(heard)
    }

    /// Ends the process of the family; the next request starts another one.
    pub(crate) fn end(&mut self, family: &str) {
        self.started.remove(family);
    }
}

/// The families that the driver knows.
pub(crate) fn families(driver: &Path) -> Result<Vec<String>, Error> {
    let output = Command::new(driver).arg("families").output().map_err(|error| Error::file(driver, error))?;
    Ok(String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect())
}
