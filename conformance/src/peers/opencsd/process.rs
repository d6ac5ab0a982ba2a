//! How is the host process started and held back?

use std::env;
use std::fmt;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::OnceLock;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use traceproof_opencsd_host::{Answer, Question};

/// The environment variable with the path of the host process.
const VARIABLE: &str = "TRACEPROOF_OPENCSD";

/// The name of the host process that this crate builds.
const PROGRAM: &str = "traceproof-opencsd";

/// The longest answer taken, in bytes. A packet that never ends is as long as the trace.
const MAX_LINE: u64 = 256 << 20;

static COMMAND: OnceLock<HostCommand> = OnceLock::new();

/// How the host process is started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostCommand {
    /// The executable.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<String>,
}

impl HostCommand {
    /// What [`set_command`] set; else the path in `TRACEPROOF_OPENCSD`; else `traceproof-opencsd` in the directory of
    /// this executable or the one above; else, by name, on the search path.
    #[must_use]
    pub fn found() -> Self {
        if let Some(command) = COMMAND.get() {
            return command.clone();
        }
        let name = format!("{PROGRAM}{}", env::consts::EXE_SUFFIX);
        let beside = env::current_exe().ok().and_then(|executable| {
            executable
                .ancestors()
                .skip(1)
                .take(2)
                .map(|parent| parent.join(&name))
                .find(|path| path.is_file())
        });
        let program = env::var_os(VARIABLE).map(PathBuf::from).or(beside).unwrap_or_else(|| name.into());
        Self { program, arguments: Vec::new() }
    }
}

/// Sets the command for host processes; only the first call has an effect. An executable that calls
/// [`serve`](super::serve) for some argument can name itself.
pub fn set_command(command: HostCommand) {
    // A second call is documented to do nothing.
    let _ = COMMAND.set(command);
}

/// What a host process may use for one question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Time until the last answer.
    pub deadline: Duration,
    /// Address space in bytes; enforced on Linux.
    pub memory: u64,
    /// Length of all answers in bytes.
    pub answers: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { deadline: Duration::from_secs(20), memory: 2 << 30, answers: 4 << 30 }
    }
}

/// Why there is no answer.
#[derive(Debug)]
pub enum HostError {
    /// The process cannot be started.
    Start(PathBuf, io::Error),
    /// It ended in the middle: its status, with the signal that ended it.
    Died(String),
    /// It did not answer in time and was killed.
    Deadline(Duration),
    /// It answered more than allowed and was killed.
    TooMuch,
    /// It answered something that is no answer and was killed.
    Garbled,
    /// The trace or a memory section has 4 GiB or more.
    TooLong,
    /// The library refuses the configuration: its error number (`ocsd_err_t`), and what was asked of it.
    Refused {
        /// The error number.
        error: u32,
        /// What was asked.
        step: String,
    },
}

/// A host process, started when it is needed, and again after it had to be killed.
#[derive(Debug)]
pub struct Host {
    command: HostCommand,
    limits: Limits,
    running: Option<Running>,
}

impl Default for Host {
    fn default() -> Self {
        Self::new(HostCommand::found(), Limits::default())
    }
}

impl Host {
    /// A host process that is started so, under these limits.
    #[must_use]
    pub const fn new(command: HostCommand, limits: Limits) -> Self {
        Self { command, limits, running: None }
    }

    /// Asks a question. `payload` is what the question announces. Records go to `sink`; the last answer is returned.
    ///
    /// # Errors
    ///
    /// When there is no last answer. The process is gone then; the next question starts another.
    pub fn ask(
        &mut self,
        question: &Question,
        payload: &[&[u8]],
        sink: &mut dyn FnMut(Answer),
    ) -> Result<Answer, HostError> {
        let mut running = match self.running.take() {
            Some(running) => running,
            None => Running::start(&self.command, self.limits)?,
        };
        let last = running.ask(question, payload, self.limits, sink)?;
        self.running = Some(running);
        Ok(last)
    }
}

/// A process; killed with everything that it started when this is dropped.
#[derive(Debug)]
struct Running {
    child: Child,
    lines: Receiver<Vec<u8>>,
}

impl Running {
    fn start(command: &HostCommand, limits: Limits) -> Result<Self, HostError> {
        let failed = |error| HostError::Start(command.program.clone(), error);
        let mut start = Command::new(&command.program);
        start.args(&command.arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut start, 0);
        let mut child = start.spawn().map_err(failed)?;
        let (sender, lines) = sync_channel(256);
        if let Some(output) = child.stdout.take() {
            thread::spawn(move || read_lines(output, &sender));
        }
        let running = Self { child, lines };
        // It waits for a question, so it has not used much yet.
        hold_back(&running.child, limits).map_err(failed)?;
        Ok(running)
    }

    fn ask(
        &mut self,
        question: &Question,
        payload: &[&[u8]],
        limits: Limits,
        sink: &mut dyn FnMut(Answer),
    ) -> Result<Answer, HostError> {
        let end = Instant::now() + limits.deadline;
        let Some(mut input) = self.child.stdin.take() else { return Err(HostError::Garbled) };
        let mut head = serde_json::to_vec(question).map_err(|_| HostError::Garbled)?;
        head.push(b'\n');
        thread::scope(|scope| {
            // A process that does not read would hold up a writer.
            let writer = scope.spawn(move || {
                let whole = [head.as_slice()].into_iter().chain(payload.iter().copied());
                for bytes in whole {
                    input.write_all(bytes)?;
                }
                input.flush().map(|()| input)
            });
            let last = self.read(end, limits, sink);
            if last.is_err() {
                self.kill();
            }
            // Its own error is the reader's, too: the process is gone.
            self.child.stdin = writer.join().ok().and_then(Result::ok);
            last
        })
    }

    fn read(
        &mut self,
        end: Instant,
        limits: Limits,
        sink: &mut dyn FnMut(Answer),
    ) -> Result<Answer, HostError> {
        let mut left = limits.answers;
        loop {
            let line = match self.lines.recv_timeout(end.saturating_duration_since(Instant::now())) {
                Ok(line) => line,
                Err(RecvTimeoutError::Timeout) => return Err(HostError::Deadline(limits.deadline)),
                Err(RecvTimeoutError::Disconnected) => return Err(self.died(end)),
            };
            left = left.checked_sub(line.len() as u64).ok_or(HostError::TooMuch)?;
            match serde_json::from_slice(&line) {
                Ok(last @ (Answer::Done { .. } | Answer::Refused { .. })) => return Ok(last),
                Ok(record) => sink(record),
                Err(_) => return Err(HostError::Garbled),
            }
        }
    }

    /// Its output is closed; why?
    fn died(&mut self, end: Instant) -> HostError {
        while Instant::now() < end {
            match self.child.try_wait() {
                Ok(Some(status)) => return HostError::Died(status.to_string()),
                Ok(None) => thread::sleep(Duration::from_millis(1)),
                Err(error) => return HostError::Died(error.to_string()),
            }
        }
        HostError::Died(String::from("it closed its output"))
    }

    fn kill(&mut self) {
        #[cfg(unix)]
        if let Ok(None) = self.child.try_wait()
            && let Some(group) = i32::try_from(self.child.id()).ok().and_then(rustix::process::Pid::from_raw)
        {
            // If it is gone in the meantime, there is nothing to kill.
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        }
        // Both fail only if it is gone.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Passes on lines until the output ends or the receiver is gone.
fn read_lines(output: ChildStdout, sender: &SyncSender<Vec<u8>>) {
    let mut output = BufReader::with_capacity(1 << 16, output);
    loop {
        let mut line = Vec::new();
        let got = output.by_ref().take(MAX_LINE).read_until(b'\n', &mut line);
        if !matches!(got, Ok(length) if length > 0) || sender.send(line).is_err() {
            return;
        }
    }
}

#[cfg(target_os = "linux")]
fn hold_back(child: &Child, limits: Limits) -> io::Result<()> {
    use rustix::process::{Pid, Resource, Rlimit, prlimit};
    // Without a process `prlimit` would be about this one.
    let process = i32::try_from(child.id()).ok().and_then(Pid::from_raw).ok_or(io::ErrorKind::NotFound)?;
    for (resource, limit) in [(Resource::As, limits.memory), (Resource::Core, 0)] {
        prlimit(Some(process), resource, Rlimit { current: Some(limit), maximum: Some(limit) })?;
    }
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn hold_back(_: &Child, _: Limits) -> io::Result<()> {
    Ok(())
}

impl fmt::Display for HostError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Start(program, error) => write!(f, "{} cannot be started: {error}", program.display()),
            Self::Died(status) => write!(f, "the OpenCSD process died: {status}"),
            Self::Deadline(deadline) => write!(f, "OpenCSD did not return within {deadline:?}"),
            Self::TooMuch => f.write_str("OpenCSD answered more than allowed"),
            Self::Garbled => f.write_str("the OpenCSD process answered something that is no answer"),
            Self::TooLong => f.write_str("the trace or a section of memory has 4 GiB or more"),
            Self::Refused { error, step } => write!(f, "OpenCSD refuses to {step} (error {error})"),
        }
    }
}

impl std::error::Error for HostError {}
