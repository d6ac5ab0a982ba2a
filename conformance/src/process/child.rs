//! How is a process started, watched and killed with all that it started?
//!
//! It is the leader of a new process group, and the group is killed as one, always before the leader is reaped: until
//! then the number of the group cannot belong to anybody else. A descendant that creates its own group is not killed.

use std::collections::VecDeque;
use std::io::{self, BufReader, Read};
use std::process::{self, ChildStderr, ChildStdin, ChildStdout, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::guard;
use super::stderr::Lines;
use super::{Command, Ending, Limits, SubjectError};

/// How much of the standard error is kept, in bytes.
const RING: usize = 64 << 10;

/// How much of it a verdict shows, in bytes.
const TAIL: usize = 2 << 10;

/// How long a process that closed a pipe may take to end by itself, so that it is known how.
const GRACE: Duration = Duration::from_millis(500);

/// A process, killed with its group when dropped.
#[derive(Debug)]
pub(crate) struct Child {
    /// `None` once it is reaped.
    leader: Option<process::Child>,
    stderr: Arc<Mutex<VecDeque<u8>>>,
    stderr_ended: Receiver<()>,
    /// How it ended, if it did so by itself.
    ending: Option<Ending>,
}

/// The ends of a process's pipes.
#[derive(Debug)]
pub(crate) struct Pipes {
    /// Where requests go.
    pub(crate) input: ChildStdin,
    /// Where answers come from.
    pub(crate) output: BufReader<ChildStdout>,
}

/// How a process left by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Parting {
    /// How it ended.
    pub(crate) ending: Ending,
    /// How many of its process group did not end with it; 0 where the system does not report it (other than Linux).
    pub(crate) left: usize,
}

impl Child {
    /// Starts a process.
    pub(crate) fn start(command: &Command, limits: &Limits) -> Result<(Self, Pipes), SubjectError> {
        let failed = |error: io::Error| SubjectError::Start {
            message: format!("{}: {error}", command.program.display()),
        };
        let mut start = process::Command::new(&command.program);
        start.args(&command.arguments).env_clear();
        for name in Command::INHERITED {
            if let Some(value) = std::env::var_os(name) {
                start.env(name, value);
            }
        }
        start.envs(Command::FIXED).envs(&command.environment);
        if let Some(directory) = &command.directory {
            start.current_dir(directory);
        }
        start.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut start, 0);
        guard::ready();
        let mut leader = start.spawn().map_err(failed)?;
        guard::begun(leader.id());
        let (input, output, error) = (leader.stdin.take(), leader.stdout.take(), leader.stderr.take());
        let stderr = Arc::default();
        let (sender, stderr_ended) = channel();
        if let Some(pipe) = error {
            let ring = Arc::clone(&stderr);
            let mut copy = command.stderr.clone().map(|copy| Lines::new(copy, leader.id()));
            thread::spawn(move || {
                keep_tail(pipe, &ring, copy.as_mut());
                // Writes a last line that has no line end.
                drop(copy);
                // The receiver is gone if its last output is not needed.
                let _ = sender.send(());
            });
        }
        // From here on it is killed whatever happens.
        let child = Self { leader: Some(leader), stderr, stderr_ended, ending: None };
        let (Some(input), Some(output)) = (input, output) else {
            return Err(SubjectError::Start { message: String::from("it has no pipes") });
        };
        // It waits for `hello`, so it has not used much yet.
        if let (Some(leader), Some(memory)) = (&child.leader, limits.memory) {
            hold_back(leader, memory).map_err(failed)?;
        }
        Ok((child, Pipes { input, output: BufReader::with_capacity(1 << 16, output) }))
    }

    /// Waits a little for the process to end by itself, then kills what is left of its group. `None` if it had to be
    /// killed.
    pub(crate) fn end(&mut self) -> Option<Ending> {
        let limit = Instant::now() + GRACE;
        while !self.has_ended() && Instant::now() < limit {
            thread::sleep(Duration::from_millis(1));
        }
        self.kill();
        self.ending
    }

    /// Whether it has ended. What is left of its group is killed then, so that its pipes end, too.
    pub(crate) fn has_ended(&mut self) -> bool {
        let Some(leader) = &mut self.leader else { return true };
        self.ending = peek(leader);
        if self.ending.is_some() {
            self.kill();
        }
        self.ending.is_some()
    }

    /// Waits until it ends by itself. Remaining processes of its group are counted, then killed. `None` if it is still
    /// there at the deadline; it is killed then.
    pub(crate) fn part(&mut self, deadline: Duration) -> Option<Parting> {
        let limit = Instant::now() + deadline;
        let leader = self.leader.as_mut()?;
        let mut ending = peek(leader);
        while ending.is_none() && Instant::now() < limit {
            thread::sleep(Duration::from_millis(1));
            ending = peek(leader);
        }
        let left = others_in_group(leader);
        self.kill();
        ending.map(|ending| Parting { ending, left })
    }

    /// Kills the group and reaps its leader.
    pub(crate) fn kill(&mut self) {
        let Some(mut leader) = self.leader.take() else { return };
        #[cfg(unix)]
        if let Some(group) = pid(&leader) {
            // An error means that the group has no process left.
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        }
        // Both fail only if it is gone.
        let _ = leader.kill();
        let _ = leader.wait();
        guard::ended(leader.id());
    }

    /// The end of what it wrote to its standard error. Complete only once it is killed.
    pub(crate) fn last_words(&self) -> String {
        // A process that left the group may still hold the pipe.
        let _ = self.stderr_ended.recv_timeout(GRACE);
        let ring = self.stderr.lock().unwrap_or_else(PoisonError::into_inner);
        let tail: Vec<u8> = ring.iter().skip(ring.len().saturating_sub(TAIL)).copied().collect();
        String::from_utf8_lossy(&tail).trim().to_owned()
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Reads until the pipe ends, keeps the last of it, and copies all of it.
fn keep_tail(mut pipe: ChildStderr, ring: &Mutex<VecDeque<u8>>, mut copy: Option<&mut Lines>) {
    let mut buffer = [0; 4096];
    while let Ok(length) = pipe.read(&mut buffer)
        && length > 0
    {
        let read = buffer.get(..length).unwrap_or_default();
        if let Some(copy) = &mut copy {
            copy.push(read);
        }
        let mut ring = ring.lock().unwrap_or_else(PoisonError::into_inner);
        ring.extend(read);
        let surplus = ring.len().saturating_sub(RING);
        ring.drain(..surplus);
    }
}

#[cfg(unix)]
fn pid(process: &process::Child) -> Option<rustix::process::Pid> {
    i32::try_from(process.id()).ok().and_then(rustix::process::Pid::from_raw)
}

/// How it ended, if it has; without reaping it.
#[cfg(unix)]
fn peek(process: &mut process::Child) -> Option<Ending> {
    use rustix::process::{WaitId, WaitIdOptions, waitid};
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    let status = waitid(WaitId::Pid(pid(process)?), options).ok()??;
    let signal = || status.terminating_signal().map(Ending::Signal);
    Some(status.exit_status().map(Ending::Status).or_else(signal).unwrap_or(Ending::Unknown))
}

/// How it ended, if it has.
#[cfg(not(unix))]
fn peek(process: &mut process::Child) -> Option<Ending> {
    let status = process.try_wait().ok()??;
    Some(status.code().map_or(Ending::Unknown, Ending::Status))
}

/// How many processes of its group live besides itself.
#[cfg(target_os = "linux")]
fn others_in_group(leader: &process::Child) -> usize {
    let Ok(entries) = std::fs::read_dir("/proc") else { return 0 };
    let group = leader.id().to_string();
    let lives_in_group = |entry: std::fs::DirEntry| {
        if entry.file_name() == *group {
            return None;
        }
        let stat = std::fs::read_to_string(entry.path().join("stat")).ok()?;
        // "pid (name) state parent group"; names may have blanks and parentheses.
        let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
        let state = fields.next()?;
        Some(state != "Z" && fields.nth(1)? == group)
    };
    entries.flatten().filter_map(lives_in_group).filter(|lives| *lives).count()
}

#[cfg(not(target_os = "linux"))]
fn others_in_group(_: &process::Child) -> usize {
    0
}

#[cfg(target_os = "linux")]
fn hold_back(process: &process::Child, memory: u64) -> io::Result<()> {
    use rustix::process::{Resource, Rlimit, getrlimit, prlimit};
    // Without a process `prlimit` would be about this one.
    let process = pid(process).ok_or(io::ErrorKind::NotFound)?;
    // Without privileges no process has more than this one may have.
    let memory = getrlimit(Resource::As).maximum.map_or(memory, |most| most.min(memory));
    prlimit(Some(process), Resource::As, Rlimit { current: Some(memory), maximum: Some(memory) })?;
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn hold_back(_: &process::Child, _: u64) -> io::Result<()> {
    Ok(())
}
